// Small malicious traces whose tables expand to far more than the file: to be refused, or read in bounded memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "trace/model.hpp"
#include "trace/writer.hpp"

namespace acre::test {

using namespace acre::tool;

class hostile_trace {
public:
    hostile_trace() {
        tables.modules.push_back({"/usr/bin/hostile", "0123abcd", 0});
        tables.call_tree.emplace_back();
    }

    /// A frame of `count` inlined functions, all different from those of other frames.
    std::uint32_t frame(std::uint32_t functions) {
        frame_info& made = tables.frames.emplace_back();
        made.module = 0;
        made.module_offset = tables.frames.size();
        for (std::uint32_t i = 0; i < functions; ++i) {
            made.locations.push_back({"f" + std::to_string(functions_++), "a.cpp", 1});
        }
        return static_cast<std::uint32_t>(tables.frames.size() - 1);
    }

    std::uint32_t call(std::uint32_t parent, std::uint32_t frame) {
        tables.call_tree.push_back({parent, frame});
        return static_cast<std::uint32_t>(tables.call_tree.size() - 1);
    }

    /// Many callers of one frame: as many paths as there are callers times functions in the frame.
    void add_fans(std::uint32_t callers, std::uint32_t functions) {
        const std::uint32_t shared = frame(functions);
        for (std::uint32_t i = 0; i < callers; ++i) call(call(0, frame(1)), shared);
    }

    /// Calls in calls, of so many different frames in turn.
    void add_chain(std::uint32_t calls, std::uint32_t frames) {
        const auto first = static_cast<std::uint32_t>(tables.frames.size());
        for (std::uint32_t i = 0; i < frames; ++i) frame(1);
        std::uint32_t at = 0;
        for (std::uint32_t i = 0; i < calls; ++i) at = call(at, first + i % frames);
    }

    /// With an allocation from each of the last so many stacks.
    void write(const std::filesystem::path& path, std::uint32_t allocations = 1) const {
        trace_writer writer{path, header_, tables};
        for (std::uint32_t i = 0; i < allocations; ++i) {
            event e;
            e.object = i;
            e.size = 16;
            e.allocates = true;
            e.stack = static_cast<std::uint32_t>(tables.call_tree.size() - 1 - i);
            writer.add(e);
        }
        writer.finish();
    }

    trace_tables tables;

private:
    trace_header header_;
    std::uint64_t functions_ = 0;
};

}  // namespace acre::test
