#include "table_fit.hpp"

#include <algorithm>

#include "text/text.hpp"

namespace acre::tool {

table_fit::table_fit(const trace_tables& tables, const format::table_limits& limits)
    : tables_{tables}, limits_{limits} {
    count_texts();
    fit_modules();
    fit_scope_names();
    fit_frames();
    fit_nodes();
}

/// Different texts are told apart only if all of them together might be too many.
void table_fit::count_texts() {
    std::uint64_t uses = 1;
    std::uint64_t bytes = 0;
    const auto use = [&](const std::string& text) {
        ++uses;
        bytes += text.size();
    };
    for (const module_info& module : tables_.modules) {
        use(module.path);
        use(module.build_id);
    }
    for (const std::string& name : tables_.scope_names) use(name);
    for (const frame_info& frame : tables_.frames) {
        for (const source_location& location : frame.locations) {
            use(location.function);
            use(location.file);
        }
    }
    counts_texts_ = uses > limits_.texts || bytes > limits_.texts_bytes;
    if (counts_texts_) texts_.emplace();  // the empty text
}

/// The weight of the text; 0 if it is left out.
std::uint64_t table_fit::keep_text(std::string_view text) {
    bool fits = text.size() <= limits_.text_bytes;
    if (fits && counts_texts_ && !texts_.contains(text)) {
        fits = texts_.size() < limits_.texts && text.size() <= limits_.texts_bytes - texts_bytes_;
        if (fits) {
            texts_.insert(text);
            texts_bytes_ += text.size();
        }
    }
    whole_ = whole_ && fits;
    return fits ? format::text_weight(text.size()) : 0;
}

bool table_fit::is_kept(std::string_view text) const {
    return text.size() <= limits_.text_bytes && (!counts_texts_ || texts_.contains(text));
}

bool table_fit::add_weight(std::uint64_t weight, share of) {
    if (weight_ + weight > limits_.weight / 8 * static_cast<std::uint64_t>(of)) return false;
    weight_ += weight;
    return true;
}

void table_fit::fit_modules() {
    for (const module_info& module : tables_.modules) {
        const std::uint64_t weight = format::module_weight + keep_text(module.path) + keep_text(module.build_id);
        if (modules_ == limits_.modules || !add_weight(weight, share::modules)) break;
        ++modules_;
    }
    whole_ = whole_ && modules_ == tables_.modules.size();
}

void table_fit::fit_scope_names() {
    for (const std::string& name : tables_.scope_names) {
        const std::uint64_t weight = format::scope_weight + keep_text(name);
        if (scope_names_ == limits_.scope_names || !add_weight(weight, share::scopes)) break;
        ++scope_names_;
    }
    whole_ = whole_ && scope_names_ == tables_.scope_names.size();
}

void table_fit::fit_frames() {
    bool located = true;
    for (const frame_info& frame : tables_.frames) {
        if (frames_ == limits_.frames || !add_weight(format::frame_weight, share::frames)) break;
        ++frames_;
        located = located && fit_locations(frame);
        if (located) located_frames_ = frames_;
        whole_ = whole_ && (located || frame.locations.empty());
    }
    whole_ = whole_ && frames_ == tables_.frames.size();
}

bool table_fit::fit_locations(const frame_info& frame) {
    std::uint64_t weight = frame.locations.size() * format::location_weight;
    if (frame.locations.size() > limits_.locations - locations_) return false;
    for (const source_location& location : frame.locations) {
        weight += keep_text(location.function) + keep_text(location.file);
    }
    if (!frame.locations.empty() && !add_weight(weight, share::locations)) return false;
    locations_ += frame.locations.size();
    return true;
}

void table_fit::fit_nodes() {
    for (const call_node& node : tables_.call_tree) {
        if (nodes_ == limits_.nodes) break;
        if (nodes_ != 0) {
            if (node.frame >= frames_) break;
            const std::size_t locations =
                node.frame < located_frames_ ? tables_.frames[node.frame].locations.size() : 0;
            if (!add_weight(format::node_weight(locations), share::nodes)) break;
        }
        ++nodes_;
    }
    whole_ = whole_ && nodes_ == tables_.call_tree.size();
}

std::vector<std::string> table_fit::cut(trace_tables& tables) const {
    std::vector<std::string> notes;
    if (whole_) return notes;
    const auto left_out = [&](std::size_t all, std::size_t kept) { return count_text(all - std::min(all, kept)); };
    if (nodes_ < tables.call_tree.size()) {
        notes.push_back("There were more different stacks than a trace holds: " +
                        left_out(tables.call_tree.size(), nodes_) + " of " + count_text(tables.call_tree.size()) +
                        " places in them are missing here, and what was done there counts for their callers.");
        tables.call_tree.resize(nodes_);
        tables.call_tree.shrink_to_fit();
    }
    if (modules_ < tables.modules.size() || scope_names_ < tables.scope_names.size()) {
        notes.push_back("There were more than a trace holds: " + left_out(tables.modules.size(), modules_) +
                        " files of the program and " + left_out(tables.scope_names.size(), scope_names_) +
                        " names of scopes are missing here.");
    }
    std::uint64_t names = 0;
    cut_names(tables, names);
    if (names > 0) {
        notes.push_back("There were more names of functions and files than a trace holds: " + count_text(names) +
                        " of them are missing here.");
    }
    tables.modules.resize(modules_);
    tables.scope_names.resize(scope_names_);
    return notes;
}

void table_fit::cut_names(trace_tables& tables, std::uint64_t& cut) const {
    const auto keep = [&](std::string& text) {
        if (is_kept(text)) return;
        ++cut;
        text.clear();
    };
    for (std::size_t i = 0; i < modules_; ++i) {
        keep(tables.modules[i].path);
        keep(tables.modules[i].build_id);
    }
    for (std::size_t i = 0; i < scope_names_; ++i) keep(tables.scope_names[i]);
    tables.frames.resize(frames_);
    for (std::size_t i = 0; i < frames_; ++i) {
        frame_info& frame = tables.frames[i];
        if (frame.module != frame_info::no_module && frame.module >= modules_) frame.module = frame_info::no_module;
        if (i >= located_frames_ && !frame.locations.empty()) {
            cut += frame.locations.size();
            frame.locations = {};
        }
        for (source_location& location : frame.locations) {
            keep(location.function);
            keep(location.file);
        }
    }
}

bool fit_command(trace_header& header) {
    std::uint64_t bytes = 0;
    std::size_t kept = 0;
    for (; kept < header.command.size() && kept < format::max_header_texts; ++kept) {
        bytes += header.command[kept].size() + 1;
        if (bytes > format::max_command_bytes) break;
    }
    if (kept == header.command.size()) return false;
    header.command.resize(kept);
    return true;
}

}  // namespace acre::tool
