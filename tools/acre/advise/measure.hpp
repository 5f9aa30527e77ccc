// Measures advices: replays only their allocations, with malloc and with the candidate, and decides which ones pay.
#pragma once

#include <cstdint>
#include <functional>

#include "advice.hpp"
#include "history.hpp"
#include "replay/comparison.hpp"
#include "replay/replay_host.hpp"
#include "replay/sequence_builder.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

/// CPU time of the recorded run without the recording, in nanoseconds. 0 where it is not known, or where only a part of
/// the run was recorded: it was paused, it stopped early, or the trace is cut off.
std::uint64_t recorded_cpu_nanoseconds(trace_reader& reader);

/// What the program itself shows goes before what a replay shows. A plan's pool is the one that is advised; its counted
/// blocks cost more than an arena, so that they cannot show that an arena is not worth it.
void decide_by_runs(advice& each, std::uint64_t cpu_nanoseconds);

/// Puts the measured heap for C in the place of the arenas among its sites, and of what else it serves. It has no reset
/// that another input could pass while an object lives, it takes a change of a few functions, and a run tells what it
/// saves; so arenas stay only where they, with what else it serves, save half as much again in a replay
/// (bench/results/advice.md). What is advised tells of the other change.
void choose_arenas_or_heap(advice_list& list, advice heap, const call_paths& paths);

/// Where all advices together take longer with malloc, each replayed alone, than all allocations of the run do: gives
/// each its share of what these take.
void bound_by_run(advice_list& list);

/// The part of the usual time that measurements of a run take: less if it takes long to read.
double patience(std::uint64_t events, std::uint64_t live_objects) noexcept;

/// How long the measuring of a run takes, about: in proportion to its events, as reading does.
double seconds_to_measure(std::uint64_t events, std::uint64_t live_objects) noexcept;

/// A window of which so many plays take these seconds.
replay_window timed_window(double seconds, double plays) noexcept;

/// What replays an advice's allocations as it advises.
contender contender_of(const advice& each);

/// The window of the whole run's replays with so many mallocs besides the system's.
replay_window window_of_whole_run(const history& run, std::size_t mallocs) noexcept;

/// Fills in `saving` and sets the decision of every advice. Those that save too little each may become one advice
/// together. What each malloc saves of the whole run is taken from replays unless the program was run. `tell` hears the
/// progress, from 0 to 1.
void measure_advices(replay_host& host, const history& run, const call_paths& paths, advice_list& list,
                     const std::function<void(double)>& tell);

}  // namespace acre::tool
