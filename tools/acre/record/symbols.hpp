// Finds function, source file and line of an address in a file, with inlined calls. Uses the file's debug information
// (in it or separate), else its symbol table, else the start of the function.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/model.hpp"

namespace acre::tool {

/// The symbols of one file.
class symbol_source {
public:
    /// Without symbols if the file cannot be read or has another build-id.
    symbol_source(const std::string& path, const std::string& build_id);
    ~symbol_source();
    symbol_source(const symbol_source&) = delete;
    symbol_source& operator=(const symbol_source&) = delete;

    /// Innermost inlined call first; empty if nothing is known.
    const std::vector<source_location>& locate(std::uint64_t address);

private:
    struct state;

    std::vector<source_location> find(std::uint64_t address);

    std::unique_ptr<state> state_;
    std::unordered_map<std::uint64_t, std::vector<source_location>> known_;
};

/// The symbols of the files that the processes of a recording share, each read once.
class symbol_sources {
public:
    symbol_source& of(const std::string& path, const std::string& build_id);

private:
    static constexpr std::size_t max_open = 256;  // files

    std::map<std::pair<std::string, std::string>, std::unique_ptr<symbol_source>> sources_;
};

}  // namespace acre::tool
