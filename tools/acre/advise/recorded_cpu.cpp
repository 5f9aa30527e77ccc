#include "recorded_cpu.hpp"

#include <algorithm>
#include <string>

namespace acre::tool {

namespace {

bool is_whole_run(trace_reader& reader) {
    if (!reader.missing().empty() || !reader.header().end_is_known()) return false;
    bool paused = false;
    reader.for_each_mark([&](const mark& each) { paused = paused || each.kind == mark_kind::recording_paused; });
    return !paused && std::ranges::none_of(reader.header().notes, [](const std::string& note) {
        return note.starts_with(trace_header::stopped_note);
    });
}

}  // namespace

std::uint64_t recorded_cpu_nanoseconds(trace_reader& reader) {
    return is_whole_run(reader) ? reader.header().program_microseconds() * 1000 : 0;
}

}  // namespace acre::tool
