// All analyses of the commands in one call, for untrusted traces.
#pragma once

#include <cstring>

#include "advise/advised_events.hpp"
#include "advise/candidates.hpp"
#include "advise/history.hpp"
#include "diff/run_difference.hpp"
#include "fuzz/sentences.hpp"
#include "info/trace_summary.hpp"
#include "replay/sequence_builder.hpp"
#include "trace/call_paths.hpp"
#include "trace/error.hpp"
#include "trace/reader.hpp"

namespace acre_test {

/// A refusal must be one sentence.
inline void check_sentence(const acre::tool::tool_error& error) {
    check(std::strlen(error.what()) >= 10 && std::strchr(error.what(), '\n') == nullptr);
}

/// Throws tool_error when the trace is refused; aborts when figures contradict each other.
inline void analyse(acre::tool::trace_reader& reader) {
    using namespace acre::tool;
    const call_paths paths{reader.tables()};
    const trace_summary summary = summarise(reader, paths);
    const compared_run compared{reader.tables(), paths, summary};
    check(compare_runs(compared, compared).nothing());

    sequence_builder builder;
    reader.for_each([&](const event& e) { builder.add(e); });
    check(builder.finish().steps.size() == summary.events);

    const history run{reader, paths};
    check(run.event_count() == summary.events);
    // The figures of a sample are scaled.
    check(reader.header().is_sampled() || run.object_count() == summary.allocated.count);
    if (run.object_count() == 0) return;
    std::uint64_t advised = 0;
    const advice_list list = find_candidates(run, paths);
    for (const advice& each : list.advices) {
        advised += each.figures.objects;
        check(!each.contexts.empty() && advised_sequence(run, each).steps.size() >= each.figures.events());
    }
    check(advised + list.small_objects == run.object_count());
}

}  // namespace acre_test
