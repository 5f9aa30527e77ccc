// From an address in a file to function, source file and line, inlined calls included, by the file's debug information
// (its own or separate) or else its symbol table, or else where the function begins.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/model.hpp"

namespace acre::tool {

/// One file; opened once, asked often.
class symbol_source {
public:
    /// A file that cannot be read, or that is not the one with that build-id any more, knows nothing.
    symbol_source(const std::string& path, const std::string& build_id);
    ~symbol_source();
    symbol_source(const symbol_source&) = delete;
    symbol_source& operator=(const symbol_source&) = delete;

    /// Innermost inlined call first; empty: nothing known.
    std::vector<source_location> locate(std::uint64_t address);

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace acre::tool
