#include "call_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "function_name.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

// Deeper calls are merged into their caller, which bounds the cost of a malicious stack.
constexpr std::uint32_t deepest = 256;

/// Of a file, so that a long path does not make long names of all its functions.
constexpr std::size_t longest_module_name = 255;

std::vector<std::string> module_names(const trace_tables& tables) {
    std::vector<std::string> names;
    names.reserve(tables.modules.size());
    for (const module_info& module : tables.modules) {
        names.push_back(file_name(module.path).substr(0, longest_module_name));
    }
    return names;
}

std::string unknown_function(const std::vector<std::string>& modules, const frame_info& frame) {
    if (frame.module == frame_info::no_module) return fmt::format("{:#x}", frame.module_offset);
    return fmt::format("{}+{:#x}", modules[frame.module], frame.module_offset);
}

/// A key for tables by two numbers.
constexpr std::uint64_t pair_key(std::uint32_t first, std::uint32_t second) {
    return std::uint64_t{first} << 32 | second;
}

}  // namespace

std::string file_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

call_paths::call_paths(const trace_tables& tables, const call_path_limits& limits) : tables_{tables}, limits_{limits} {
    number_functions();
    number_sites();
    build_nodes();
    build_free_nodes();
}

std::uint32_t call_paths::function_number(const std::string& recorded, bool in_runtime_library) {
    const std::string name = printable(recorded);
    const auto [entry, added] = function_numbers_.try_emplace(name, static_cast<std::uint32_t>(functions_.size()));
    if (added)
        functions_.push_back({name, short_name(name), in_runtime_library || passes_memory_on(name), in_runtime_library,
                              only_allocates(name)});
    return entry->second;
}

void call_paths::number_functions() {
    functions_.push_back({"unknown", "unknown"});
    std::vector<bool> runtime;
    runtime.reserve(tables_.modules.size());
    for (const module_info& module : tables_.modules) runtime.push_back(is_runtime_library(module.path));
    const std::vector<std::string> modules = module_names(tables_);
    for (const frame_info& frame : tables_.frames) {
        const bool in_runtime = frame.module != frame_info::no_module && runtime[frame.module];
        std::vector<std::uint32_t>& numbers = functions_of_frame_.emplace_back();
        for (const source_location& location : frame.locations) {
            const bool known = !location.function.empty();
            numbers.push_back(
                function_number(known ? location.function : unknown_function(modules, frame), in_runtime));
        }
        if (numbers.empty()) numbers.push_back(function_number(unknown_function(modules, frame), in_runtime));
    }
}

void call_paths::number_sites() {
    sites_.emplace_back();
    site_of_stack_.reserve(tables_.call_tree.size());
    site_of_stack_.push_back(0);
    std::vector<bool> in_program{false};  // whether the site of a stack is not the run-time libraries' own
    for (std::uint32_t stack = 1; stack < tables_.call_tree.size(); ++stack) {
        const call_node& call = tables_.call_tree[stack];
        const auto& functions = functions_of_frame_[call.frame];
        auto chosen = std::find_if(functions.begin(), functions.end(),
                                   [&](std::uint32_t f) { return !functions_[f].passes_memory_on; });
        bool own = true;
        if (chosen == functions.end() && !in_program[call.parent]) {
            own = !functions_[functions.back()].in_runtime_library;
            chosen = own ? functions.end() - 1 : std::find_if(functions.begin(), functions.end(), [&](std::uint32_t f) {
                return !functions_[f].only_allocates;
            });
        }
        in_program.push_back(own);
        site_of_stack_.push_back(chosen == functions.end()
                                     ? site_of_stack_[call.parent]
                                     : number_site(stack, static_cast<std::size_t>(chosen - functions.begin())));
    }
}

/// The number of the site in the function at that index of the stack's innermost frame.
std::uint32_t call_paths::number_site(std::uint32_t stack, std::size_t inlined) {
    const std::uint64_t key = pair_key(tables_.call_tree[stack].frame, static_cast<std::uint32_t>(inlined));
    if (const std::uint32_t* known = site_of_call_.find(key)) return *known;
    return site_of_call_.insert(key, find_or_add_site(stack, inlined));
}

std::uint32_t call_paths::find_or_add_site(std::uint32_t stack, std::size_t inlined) {
    const std::uint32_t number = tables_.call_tree[stack].frame;
    const frame_info& frame = tables_.frames[number];
    const std::uint32_t function = functions_of_frame_[number][inlined];
    site_info site{.function = function, .file = {}, .line = 0, .stack = stack};
    if (!frame.locations.empty()) {
        site.file = printable(frame.locations[inlined].file);
        site.line = frame.locations[inlined].line;
    }
    const std::uint64_t where = site.line != 0 ? site.line : frame.module_offset;
    const auto [entry, added] =
        site_numbers_.try_emplace({function, site.file, where}, static_cast<std::uint32_t>(sites_.size()));
    if (added) sites_.push_back(std::move(site));
    return entry->second;
}

void call_paths::build_nodes() {
    nodes_.emplace_back();
    node_of_stack_.reserve(tables_.call_tree.size());
    node_of_stack_.push_back(0);
    for (std::size_t stack = 1; stack < tables_.call_tree.size(); ++stack) {
        const auto& functions = functions_of_frame_[tables_.call_tree[stack].frame];
        std::uint32_t node = node_of_stack_[tables_.call_tree[stack].parent];
        for (auto function = functions.rbegin(); function != functions.rend(); ++function) {
            const std::uint32_t caller = node;
            node = child(caller, *function);
            mark_recursive(caller, node);
        }
        node_of_stack_.push_back(node);
    }
}

/// Marks the nodes from the caller up to the called node, which a recursive call leads back to.
void call_paths::mark_recursive(std::uint32_t caller, std::uint32_t called) {
    if (nodes_[caller].depth < nodes_[called].depth || nodes_[caller].depth == deepest) return;
    for (std::uint32_t node = caller; node != called; node = nodes_[node].parent) nodes_[node].recursive = true;
    nodes_[called].recursive = true;
}

/// The outermost function of the program at a frame, with the functions around it through which std::function and the
/// like call it; empty if all pass memory on.
std::span<const std::uint32_t> call_paths::entered_functions(std::uint32_t frame) const {
    const std::vector<std::uint32_t>& functions = functions_of_frame_[frame];
    const auto own = std::find_if(functions.rbegin(), functions.rend(),
                                  [&](std::uint32_t f) { return !functions_[f].passes_memory_on; });
    const auto around = static_cast<std::size_t>(own - functions.rbegin());
    return own == functions.rend() ? std::span<const std::uint32_t>{} : std::span{functions}.last(around + 1);
}

/// By frame: the functions of the program that are called there; empty if there is none or more than one.
std::vector<std::span<const std::uint32_t>> call_paths::called_functions() const {
    std::vector<std::span<const std::uint32_t>> called(tables_.frames.size());
    std::vector<bool> several(tables_.frames.size());
    for (std::size_t stack = 1; stack < tables_.call_tree.size(); ++stack) {
        const call_node& node = tables_.call_tree[stack];
        const std::span<const std::uint32_t> entered = entered_functions(node.frame);
        if (node.parent == no_stack || entered.empty()) continue;
        const std::uint32_t caller = tables_.call_tree[node.parent].frame;
        several[caller] = several[caller] || (!called[caller].empty() && !std::ranges::equal(called[caller], entered));
        called[caller] = several[caller] ? std::span<const std::uint32_t>{} : entered;
    }
    return called;
}

void call_paths::build_free_nodes() {
    const std::vector<std::span<const std::uint32_t>> called = called_functions();
    free_node_of_stack_ = node_of_stack_;
    for (std::uint32_t stack = 1; stack < tables_.call_tree.size(); ++stack) {
        const call_node& node = tables_.call_tree[stack];
        const auto& functions = functions_of_frame_[node.frame];
        const bool passes_on = std::all_of(functions.begin(), functions.end(),
                                           [&](std::uint32_t f) { return functions_[f].passes_memory_on; });
        if (passes_on) {
            free_node_of_stack_[stack] = free_node_of_stack_[node.parent];
        } else {
            for (const std::uint32_t function : std::views::reverse(called[node.frame]))
                free_node_of_stack_[stack] = child(free_node_of_stack_[stack], function);
        }
    }
}

/// Caches the children, so that long paths are not searched repeatedly.
std::uint32_t call_paths::child(std::uint32_t parent, std::uint32_t function) {
    const std::uint64_t key = pair_key(parent, function);
    if (const std::uint32_t* known = children_.find(key)) return *known;
    if (children_.size() >= limits_.paths) return parent;
    return children_.insert(key, find_or_add_child(parent, function));
}

std::uint32_t call_paths::find_or_add_child(std::uint32_t parent, std::uint32_t function) {
    for (std::uint32_t above = parent; above != 0; above = nodes_[above].parent) {
        if (nodes_[above].function == function) return above;
    }
    if (nodes_[parent].depth == deepest) return parent;
    nodes_.push_back({parent, function, nodes_[parent].depth + 1});
    return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t call_paths::common(std::uint32_t a, std::uint32_t b) const noexcept {
    while (a != b) {
        if (nodes_[a].depth < nodes_[b].depth) {
            b = nodes_[b].parent;
        } else {
            a = nodes_[a].parent;
        }
    }
    return a;
}

std::uint32_t call_paths::own_code(std::uint32_t node) const noexcept {
    while (node != 0 && functions_[nodes_[node].function].passes_memory_on) node = nodes_[node].parent;
    return node;
}

bool call_paths::is_above(std::uint32_t above, std::uint32_t node) const noexcept {
    while (nodes_[node].depth > nodes_[above].depth) node = nodes_[node].parent;
    return node == above;
}

std::string call_paths::path_text(std::uint32_t stack, std::size_t max) const {
    std::string text;
    std::size_t shown = 0;
    for (std::uint32_t node = own_code(node_of_stack_[stack]); node != 0 && shown < max; ++shown) {
        text += (shown == 0 ? "" : " < ") + functions_[nodes_[node].function].short_name;
        node = own_code(nodes_[node].parent);
    }
    return text;
}

std::uint32_t call_paths::call_in(std::uint32_t stack, std::uint32_t function) const noexcept {
    for (; stack != no_stack; stack = tables_.call_tree[stack].parent) {
        const auto& functions = functions_of_frame_[tables_.call_tree[stack].frame];
        if (std::find(functions.begin(), functions.end(), function) != functions.end()) break;
    }
    return stack;
}

source_location call_paths::place_in(std::uint32_t stack, std::uint32_t function) const {
    const std::uint32_t call = call_in(stack, function);
    if (call == no_stack) return {};
    const std::uint32_t number = tables_.call_tree[call].frame;
    const auto& functions = functions_of_frame_[number];
    const auto& locations = tables_.frames[number].locations;
    if (locations.empty()) return {};
    const auto found = std::find(functions.begin(), functions.end(), function);
    source_location place = locations[static_cast<std::size_t>(found - functions.begin())];
    place.function = printable(place.function);
    place.file = printable(place.file);
    return place;
}

std::string call_paths::site_text(std::uint32_t site) const {
    const site_info& info = sites_[site];
    const std::string& function = functions_[info.function].short_name;
    if (info.file.empty()) return function;
    if (info.line == 0) return fmt::format("{} ({})", function, file_name(info.file));
    return fmt::format("{} ({}:{})", function, file_name(info.file), info.line);
}

}  // namespace acre::tool
