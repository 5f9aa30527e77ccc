// The program's functions as its stacks show them: which place in the source allocates, and which function owns what.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model.hpp"

namespace acre::tool {

/// A place in the source that asks for memory; site 0 is "unknown".
struct site_info {
    std::uint32_t function = 0;
    std::string file;                // empty when unknown
    std::uint32_t line = 0;          // 0 when unknown
    std::uint32_t stack = no_stack;  // a call node at that place, of which there may be more
};

/// A function; function 0 is "unknown".
struct function_info {
    std::string name;  // demangled, or module+0xoffset
    std::string short_name;
    bool passes_memory_on = false;
    bool in_runtime_library = false;
    bool only_allocates = false;
};

/// A node of the tree of functions: calls from different lines of a function are one, and recursion is folded into the
/// first entry of the function.
struct function_node {
    std::uint32_t parent = 0;
    std::uint32_t function = 0;
    std::uint32_t depth = 0;
    bool recursive = false;
};

/// Far above what a recording has. A small file can name many stacks with many functions each, so the number of their
/// functions is limited before they are gone through, and the number of their paths while they are.
struct call_path_limits {
    std::uint64_t calls = std::uint64_t{1} << 26;  // of functions, inlined calls included, on all stacks
    std::uint64_t paths = std::uint64_t{1} << 23;  // of functions, those that recursion folds included
};

class call_paths {
public:
    /// The tables must live longer. Throws tool_error when their stacks are larger than the limits.
    explicit call_paths(const trace_tables& tables, const call_path_limits& limits = {});

    const std::vector<site_info>& sites() const noexcept { return sites_; }
    const std::vector<function_info>& functions() const noexcept { return functions_; }
    const std::vector<function_node>& nodes() const noexcept { return nodes_; }

    /// How many call nodes there are, "no stack" included.
    std::uint32_t stacks() const noexcept { return static_cast<std::uint32_t>(node_of_stack_.size()); }

    /// The innermost place on the stack that is not only passing memory on; where there is none, the outermost of the
    /// program and its libraries; where all is the run-time libraries' own, the innermost that does not only allocate.
    std::uint32_t site(std::uint32_t stack) const noexcept { return site_of_stack_[stack]; }

    /// The functions at a frame, innermost inlined call first; never empty.
    const std::vector<std::uint32_t>& functions_at(std::uint32_t frame) const noexcept {
        return functions_of_frame_[frame];
    }

    /// Where a stack stands in the tree of functions.
    std::uint32_t node(std::uint32_t stack) const noexcept { return node_of_stack_[stack]; }

    /// Where a free stands: at its end a function often jumps to free, and its own frame is gone from the stack. The
    /// call that the stack ends with is then one that other stacks show to be a call of that function.
    std::uint32_t free_node(std::uint32_t stack) const noexcept { return free_node_of_stack_[stack]; }

    /// The deepest node above or at both.
    std::uint32_t common(std::uint32_t a, std::uint32_t b) const noexcept;

    /// The node itself, or the first above it, whose function is the program's own; 0 when there is none.
    std::uint32_t own_code(std::uint32_t node) const noexcept;

    /// True when the node's function was called again, directly or through others, before it returned: its calls on a
    /// stack are one node.
    bool is_recursive(std::uint32_t node) const noexcept { return nodes_[node].recursive; }

    /// True when `above` is `node` or above it.
    bool is_above(std::uint32_t above, std::uint32_t node) const noexcept;

    /// Short names from the site outwards, at most `most` of them: "parse < load < main".
    std::string path_text(std::uint32_t stack, std::size_t most) const;

    /// Where the innermost call of `function` on the stack stands in its source; line 0 when that is not known.
    source_location place_in(std::uint32_t stack, std::uint32_t function) const;

    /// "function (file:line)", as much of it as is known.
    std::string site_text(std::uint32_t site) const;

private:
    void number_functions();
    void check_calls() const;
    void number_sites();
    std::uint32_t number_site(std::uint32_t stack, std::size_t inlined);
    void build_nodes();
    void mark_recursive(std::uint32_t caller, std::uint32_t called);
    void build_free_nodes();
    std::span<const std::uint32_t> entered_functions(std::uint32_t frame) const;
    std::vector<std::span<const std::uint32_t>> called_functions() const;
    std::uint32_t function_number(const std::string& recorded, bool in_runtime_library);
    std::uint32_t child(std::uint32_t parent, std::uint32_t function);
    std::uint32_t find_or_add_child(std::uint32_t parent, std::uint32_t function);

    const trace_tables& tables_;
    call_path_limits limits_;
    std::vector<function_info> functions_;
    std::vector<std::vector<std::uint32_t>> functions_of_frame_;  // innermost first
    std::vector<site_info> sites_;
    std::vector<function_node> nodes_;
    std::vector<std::uint32_t> site_of_stack_;
    std::vector<std::uint32_t> node_of_stack_;
    std::vector<std::uint32_t> free_node_of_stack_;
    std::unordered_map<std::string, std::uint32_t> function_numbers_;
    std::map<std::tuple<std::uint32_t, std::string, std::uint64_t>, std::uint32_t> site_numbers_;  // by place
    std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and function
};

/// The last part of a path.
std::string file_name(const std::string& path);

}  // namespace acre::tool
