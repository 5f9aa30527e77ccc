// The events of an advice's allocations: as steps to replay, and as a source for the engine of `acre fit`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "advice.hpp"
#include "fit/event_source.hpp"
#include "history.hpp"
#include "replay/sequence_builder.hpp"

namespace acre::tool {

/// Containers that grow: as they were recorded, or with the last buffer from the beginning, as after reserve().
enum class growth_as : std::uint8_t { recorded, reserved };

/// The steps of an advice's allocations, thread after thread, as each thread would have its own arena or pool. Arenas
/// and scratches are reset as verdict_traits::reset says. Of more events than the window has, or of more live bytes,
/// takes a sample: stretches of allocations from the whole run, with their frees.
sequence advised_sequence(const history& run, const advice& of, const replay_window& window = {},
                          growth_as growth = growth_as::recorded);

/// The steps of a run, of all threads; likewise.
sequence steps_of(const history& run, const replay_window& window = {});

/// The share of a run's `events` that the steps were made of.
double replayed_share(const sequence& steps, std::uint64_t events);

/// The thread with the highest peak of live bytes, if each thread gets its own resource. Nothing where one resource
/// serves all threads.
std::optional<std::uint32_t> neediest_thread(const advice& of, const history& run);

/// Memory for a copy of an advice's events, which is read many times, and faster than the run. Others are in a file.
inline constexpr std::size_t memory_for_advised_events = std::size_t{96} << 20;

/// All events of the advice, or those of the objects that one thread allocated; each has a stack of its site. The run
/// must outlive the source.
event_source advised_source(const advice& of, const history& run, std::optional<std::uint32_t> thread = {});

}  // namespace acre::tool
