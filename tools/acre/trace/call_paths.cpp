#include "call_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "function_name.hpp"

namespace acre::tool {

namespace {

// Deeper calls are taken for their caller, so that a stack made to do harm costs no more than this.
constexpr std::uint32_t deepest = 256;

std::string unknown_function(const trace_tables& tables, const frame_info& frame) {
    if (frame.module == frame_info::no_module) return fmt::format("{:#x}", frame.module_offset);
    return fmt::format("{}+{:#x}", file_name(tables.modules[frame.module].path), frame.module_offset);
}

}  // namespace

std::string file_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

call_paths::call_paths(const trace_tables& tables) : tables_{tables} {
    number_functions();
    number_sites();
    build_nodes();
    build_free_nodes();
}

std::uint32_t call_paths::function_number(const std::string& name, bool in_runtime_library) {
    const auto [place, added] = function_numbers_.try_emplace(name, static_cast<std::uint32_t>(functions_.size()));
    if (added)
        functions_.push_back(
            {name, short_name(name), in_runtime_library || passes_memory_on(name), in_runtime_library});
    return place->second;
}

void call_paths::number_functions() {
    functions_.push_back({"unknown", "unknown"});
    std::vector<bool> runtime;
    for (const module_info& module : tables_.modules) runtime.push_back(is_runtime_library(module.path));
    for (const frame_info& frame : tables_.frames) {
        const bool in_runtime = frame.module != frame_info::no_module && runtime[frame.module];
        std::vector<std::uint32_t>& numbers = functions_of_frame_.emplace_back();
        for (const source_location& location : frame.locations) {
            const bool known = !location.function.empty();
            numbers.push_back(
                function_number(known ? location.function : unknown_function(tables_, frame), in_runtime));
        }
        if (numbers.empty()) numbers.push_back(function_number(unknown_function(tables_, frame), in_runtime));
    }
}

void call_paths::number_sites() {
    std::map<std::tuple<std::uint32_t, std::string, std::uint64_t>, std::uint32_t> numbers;
    sites_.emplace_back();
    site_of_stack_.push_back(0);
    for (std::uint32_t stack = 1; stack < tables_.call_tree.size(); ++stack) {
        const frame_info& frame = tables_.frames[tables_.call_tree[stack].frame];
        const auto& functions = functions_of_frame_[tables_.call_tree[stack].frame];
        auto own = std::find_if(functions.begin(), functions.end(),
                                [&](std::uint32_t f) { return !functions_[f].passes_memory_on; });
        if (own == functions.end()) {
            const std::uint32_t outside = site_of_stack_[tables_.call_tree[stack].parent];
            if (outside != 0 || functions_[functions.back()].in_runtime_library) {
                site_of_stack_.push_back(outside);
                continue;
            }
            --own;
        }
        site_info site{.function = *own, .file = {}, .line = 0, .stack = stack};
        if (!frame.locations.empty()) {
            const source_location& location = frame.locations[static_cast<std::size_t>(own - functions.begin())];
            site.file = location.file;
            site.line = location.line;
        }
        const std::uint64_t where = site.line != 0 ? site.line : frame.module_offset;
        const auto [place, added] =
            numbers.try_emplace({site.function, site.file, where}, static_cast<std::uint32_t>(sites_.size()));
        if (added) sites_.push_back(std::move(site));
        site_of_stack_.push_back(place->second);
    }
}

void call_paths::build_nodes() {
    nodes_.emplace_back();
    node_of_stack_.push_back(0);
    for (std::size_t stack = 1; stack < tables_.call_tree.size(); ++stack) {
        const auto& functions = functions_of_frame_[tables_.call_tree[stack].frame];
        std::uint32_t node = node_of_stack_[tables_.call_tree[stack].parent];
        for (auto function = functions.rbegin(); function != functions.rend(); ++function)
            node = child(node, *function);
        node_of_stack_.push_back(node);
    }
}

/// By frame: the one function of the program that is called there; 0 when there is none, or more than one.
std::vector<std::uint32_t> call_paths::called_functions() const {
    constexpr std::uint32_t several = 0xffff'ffff;
    std::vector<std::uint32_t> called(tables_.frames.size());
    for (std::size_t stack = 1; stack < tables_.call_tree.size(); ++stack) {
        const call_node& node = tables_.call_tree[stack];
        const std::uint32_t function = functions_of_frame_[node.frame].back();
        if (node.parent == no_stack || functions_[function].passes_memory_on) continue;
        std::uint32_t& known = called[tables_.call_tree[node.parent].frame];
        known = known == 0 || known == function ? function : several;
    }
    std::replace(called.begin(), called.end(), several, 0U);
    return called;
}

void call_paths::build_free_nodes() {
    const std::vector<std::uint32_t> called = called_functions();
    free_node_of_stack_ = node_of_stack_;
    for (std::uint32_t stack = 1; stack < tables_.call_tree.size(); ++stack) {
        const call_node& node = tables_.call_tree[stack];
        const auto& functions = functions_of_frame_[node.frame];
        const bool passes_on = std::all_of(functions.begin(), functions.end(),
                                           [&](std::uint32_t f) { return functions_[f].passes_memory_on; });
        if (passes_on) {
            free_node_of_stack_[stack] = free_node_of_stack_[node.parent];
        } else if (called[node.frame] != 0) {
            free_node_of_stack_[stack] = child(node_of_stack_[stack], called[node.frame]);
        }
    }
}

std::uint32_t call_paths::child(std::uint32_t parent, std::uint32_t function) {
    for (std::uint32_t above = parent; above != 0; above = nodes_[above].parent) {
        if (nodes_[above].function == function) return above;
    }
    if (nodes_[parent].depth == deepest) return parent;
    const std::uint64_t key = std::uint64_t{parent} << 32 | function;
    const auto [place, added] = children_.try_emplace(key, static_cast<std::uint32_t>(nodes_.size()));
    if (added) nodes_.push_back({parent, function, nodes_[parent].depth + 1});
    return place->second;
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

std::string call_paths::path_text(std::uint32_t stack, std::size_t most) const {
    std::string text;
    std::size_t shown = 0;
    for (std::uint32_t node = own_code(node_of_stack_[stack]); node != 0 && shown < most; ++shown) {
        text += (shown == 0 ? "" : " < ") + functions_[nodes_[node].function].short_name;
        node = own_code(nodes_[node].parent);
    }
    return text;
}

source_location call_paths::place_in(std::uint32_t stack, std::uint32_t function) const {
    for (; stack != no_stack; stack = tables_.call_tree[stack].parent) {
        const std::uint32_t number = tables_.call_tree[stack].frame;
        const auto& functions = functions_of_frame_[number];
        const auto found = std::find(functions.begin(), functions.end(), function);
        if (found == functions.end()) continue;
        const auto& locations = tables_.frames[number].locations;
        if (!locations.empty()) return locations[static_cast<std::size_t>(found - functions.begin())];
        break;
    }
    return {};
}

std::string call_paths::site_text(std::uint32_t site) const {
    const site_info& info = sites_[site];
    const std::string& function = functions_[info.function].short_name;
    if (info.file.empty()) return function;
    if (info.line == 0) return fmt::format("{} ({})", function, file_name(info.file));
    return fmt::format("{} ({}:{})", function, file_name(info.file), info.line);
}

}  // namespace acre::tool
