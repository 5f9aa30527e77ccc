// A synthetic trace: a test specifies allocations, frees and their stacks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/model.hpp"
#include "trace/writer.hpp"

namespace acre::test {

using namespace acre::tool;

class made_trace {
public:
    made_trace() {
        header.command = {"made", "for a test"};
        header.date = "2026-01-02T03:04:05Z";
        header.machine = "no machine";
        header.user_time = 1'000'000;
        tables.modules.push_back({"/usr/bin/made", "0123abcd", 0});
        tables.call_tree.emplace_back();
    }

    /// The stack whose functions are named, outermost first; in "work:7" the 7 is the line of the call.
    std::uint32_t stack(std::initializer_list<std::string> functions) {
        std::uint32_t node = 0;
        for (const std::string& function : functions) node = child(node, frame(function));
        return node;
    }

    std::uint64_t allocate(std::uint32_t stack, std::uint64_t size, std::uint32_t thread = 0,
                           operation op = operation::malloc) {
        event e = next(stack, thread, op);
        e.object = sizes_.size();
        e.place = static_cast<std::uint32_t>(e.object);
        e.size = size;
        sizes_.push_back(size);
        events.push_back(e);
        return e.object;
    }

    void release(std::uint64_t object, std::uint32_t stack, std::uint32_t thread = 0, operation op = operation::free) {
        event e = next(stack, thread, op);
        e.object = object;
        e.place = static_cast<std::uint32_t>(object);
        e.size = sizes_.at(object);
        e.allocates = false;
        events.push_back(e);
    }

    /// Adds a mark after the last event.
    void mark_here(mark_kind kind, const std::string& scope = {}, std::uint32_t thread = 0) {
        mark m{.time = time_, .event = events.size(), .thread = thread, .kind = kind};
        if (m.is_scope()) m.name = scope_name(scope);
        marks.push_back(m);
    }

    std::filesystem::path write(std::filesystem::path path) const {
        trace_writer writer{path, header, tables};
        std::size_t next_mark = 0;
        for (std::size_t i = 0; i <= events.size(); ++i) {
            for (; next_mark < marks.size() && marks[next_mark].event == i; ++next_mark) writer.add(marks[next_mark]);
            if (i < events.size()) writer.add(events[i]);
        }
        writer.finish();
        return path;
    }

    trace_header header;
    trace_tables tables;
    std::vector<event> events;
    std::vector<mark> marks;

private:
    std::uint32_t scope_name(const std::string& scope) {
        auto& names = tables.scope_names;
        const auto found = std::find(names.begin(), names.end(), scope);
        if (found == names.end()) names.push_back(scope);
        return static_cast<std::uint32_t>(std::find(names.begin(), names.end(), scope) - names.begin());
    }

    event next(std::uint32_t stack, std::uint32_t thread, operation op) {
        event e;
        e.time = time_ += 1000;
        e.thread = thread;
        e.stack = stack;
        e.op = op;
        return e;
    }

    std::uint32_t frame(const std::string& name) {
        const auto [place, added] = frames_.try_emplace(name, static_cast<std::uint32_t>(tables.frames.size()));
        if (!added) return place->second;
        const std::size_t colon = name.rfind(':');
        const bool has_line = colon != std::string::npos && colon + 1 < name.size() && name[colon + 1] != ':' &&
                              (colon == 0 || name[colon - 1] != ':');
        source_location location{name, "made.cpp", 1};
        if (has_line) {
            location.function = name.substr(0, colon);
            location.line = static_cast<std::uint32_t>(std::stoul(name.substr(colon + 1)));
        }
        tables.frames.push_back({0, tables.frames.size() * 16, {location}});
        return place->second;
    }

    std::uint32_t child(std::uint32_t parent, std::uint32_t frame) {
        const auto [place, added] =
            nodes_.try_emplace({parent, frame}, static_cast<std::uint32_t>(tables.call_tree.size()));
        if (added) tables.call_tree.push_back({parent, frame});
        return place->second;
    }

    std::map<std::string, std::uint32_t> frames_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> nodes_;
    std::vector<std::uint64_t> sizes_;
    std::uint64_t time_ = 0;
};

}  // namespace acre::test
