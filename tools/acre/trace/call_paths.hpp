// The call stacks of a trace as paths of functions, and the sites: the places in the source that allocate.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "live_table.hpp"
#include "model.hpp"
#include "seeded_hash.hpp"

namespace acre::tool {

/// A place in the source that allocates; site 0 is "unknown".
struct site_info {
    std::uint32_t function = 0;
    std::string file;                // empty when unknown
    std::uint32_t line = 0;          // 0 when unknown
    std::uint32_t stack = no_stack;  // one of the call nodes at that place
};

/// A function; function 0 is "unknown".
struct function_info {
    std::string name;  // demangled, or module+0xoffset
    std::string short_name;
    bool passes_memory_on = false;
    bool in_runtime_library = false;
    bool only_allocates = false;
};

/// A node of the function tree. Calls from different lines of a function are one node, and recursion is folded into the
/// function's first node.
struct function_node {
    std::uint32_t parent = 0;
    std::uint32_t function = 0;
    std::uint32_t depth = 0;
    bool recursive = false;
};

/// Paths of functions beyond the limit end with their last function within it, which bounds time and memory.
struct call_path_limits {
    std::uint64_t paths = std::uint64_t{1} << 22;  // including those that recursion folds
};

class call_paths {
public:
    /// The tables must outlive this object.
    explicit call_paths(const trace_tables& tables, const call_path_limits& limits = {});

    const std::vector<site_info>& sites() const noexcept { return sites_; }
    const std::vector<function_info>& functions() const noexcept { return functions_; }
    const std::vector<function_node>& nodes() const noexcept { return nodes_; }

    /// Number of call nodes, including "no stack".
    std::uint32_t stacks() const noexcept { return static_cast<std::uint32_t>(node_of_stack_.size()); }

    /// The site of a stack: its innermost function that does not just pass memory on. Without one, the outermost
    /// function outside the run-time libraries; without that, the innermost function that does not only allocate.
    std::uint32_t site(std::uint32_t stack) const noexcept { return site_of_stack_[stack]; }

    /// The functions at a frame, innermost inlined call first; never empty.
    const std::vector<std::uint32_t>& functions_at(std::uint32_t frame) const noexcept {
        return functions_of_frame_[frame];
    }

    /// The node of a stack in the function tree.
    std::uint32_t node(std::uint32_t stack) const noexcept { return node_of_stack_[stack]; }

    /// The node of the stack of a free. A function often ends with a jump to free, so its own frame is missing from the
    /// stack. It is then inferred from other stacks, which show the function that the last call calls.
    std::uint32_t free_node(std::uint32_t stack) const noexcept { return free_node_of_stack_[stack]; }

    /// The deepest common ancestor of two nodes.
    std::uint32_t common(std::uint32_t a, std::uint32_t b) const noexcept;

    /// The node or its nearest ancestor whose function is the program's own; 0 if there is none.
    std::uint32_t own_code(std::uint32_t node) const noexcept;

    /// Whether the function was called again, directly or indirectly, before it returned.
    bool is_recursive(std::uint32_t node) const noexcept { return nodes_[node].recursive; }

    /// Whether `above` is `node` or an ancestor of it.
    bool is_above(std::uint32_t above, std::uint32_t node) const noexcept;

    /// Short names from the site outwards, at most `max`: "parse < load < main".
    std::string path_text(std::uint32_t stack, std::size_t max) const;

    /// The node of the trace's tree in which `function` is on the stack: its innermost call. `no_stack` if it is not.
    std::uint32_t call_in(std::uint32_t stack, std::uint32_t function) const noexcept;
    std::uint32_t caller_of(std::uint32_t call) const noexcept { return tables_.call_tree[call].parent; }
    std::uint32_t frame_of(std::uint32_t call) const noexcept { return tables_.call_tree[call].frame; }
    const frame_info& frame(std::uint32_t number) const noexcept { return tables_.frames[number]; }
    const module_info& module(std::uint32_t number) const noexcept { return tables_.modules[number]; }

    /// The source location within `function` of its innermost call on the stack; line 0 if not known.
    source_location place_in(std::uint32_t stack, std::uint32_t function) const;

    /// "function (file:line)", as much of it as is known.
    std::string site_text(std::uint32_t site) const;

private:
    void number_functions();
    void number_sites();
    std::uint32_t number_site(std::uint32_t stack, std::size_t inlined);
    std::uint32_t find_or_add_site(std::uint32_t stack, std::size_t inlined);
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
    std::unordered_map<std::string, std::uint32_t, seeded_hash, std::equal_to<>> function_numbers_;
    std::map<std::tuple<std::uint32_t, std::string, std::uint64_t>, std::uint32_t> site_numbers_;  // by place
    live_table<std::uint32_t> site_of_call_;  // by frame and position among its functions
    live_table<std::uint32_t> children_;      // by parent and function
};

/// The last part of a path.
std::string file_name(const std::string& path);

}  // namespace acre::tool
