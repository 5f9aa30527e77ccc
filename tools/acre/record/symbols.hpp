// Finds function, source file and line of an address in a file, with inlined calls. Uses the file's debug information
// (in it or separate), else its symbol table, else the start of the function.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "raw_reader.hpp"
#include "trace/model.hpp"

namespace acre::tool {

/// The symbols of one file.
class symbol_source {
public:
    /// Without symbols if the file cannot be read or is not the one that was loaded: if it has another build-id or,
    /// where the loaded file had none, another identity.
    symbol_source(const std::string& path, const std::string& build_id, const raw::file_identity& loaded);
    ~symbol_source();
    symbol_source(const symbol_source&) = delete;
    symbol_source& operator=(const symbol_source&) = delete;

    /// Whether the file that was loaded is gone, or another one has its path.
    bool is_replaced() const { return is_replaced_; }

    /// Innermost inlined call first; empty if nothing is known.
    const std::vector<source_location>& locate(std::uint64_t address);

    /// The functions that the call at an address leads to and that were left by a jump before memory was allocated or
    /// freed, innermost first. Only for the innermost address of a stack. Empty if there are none or it is not known.
    std::vector<source_location> locate_left(std::uint64_t address);

    /// Where the function begins, in the file, that is called directly before an address; nothing if none is known.
    std::optional<std::uint64_t> called_function(std::uint64_t address) const;

    /// Where the function that contains an address begins, by the unwind information.
    std::optional<std::uint64_t> function_around(std::uint64_t address) const;

    /// The function that begins at `called`, if it was left by a jump before what it was called for got to `reached`,
    /// an address in this file; 0: in another file. It is known that the function there, if any, begins elsewhere.
    std::vector<source_location> locate_left_before(std::uint64_t called, std::uint64_t reached);

private:
    struct state;

    std::vector<source_location> find(std::uint64_t address);

    std::unique_ptr<state> state_;
    bool is_replaced_ = false;
    std::unordered_map<std::uint64_t, std::vector<source_location>> known_;
};

/// The symbols of the files that the processes of a recording share, each read once.
class symbol_sources {
public:
    /// Of a file that was loaded as `module`.
    symbol_source& of(const raw_module& module);

private:
    static std::size_t max_open();

    /// Path, build-id, device and inode.
    using key = std::tuple<std::string, std::string, std::uint64_t, std::uint64_t>;
    std::map<key, std::unique_ptr<symbol_source>> sources_;
};

}  // namespace acre::tool
