// The heap of libacre-plan, and the sites of the program whose requests the plan routes.
#pragma once

#include <acre/heaps/detail/process_heap.hpp>
#include <cstddef>
#include <cstdint>

#include "below.hpp"
#include "site_table.hpp"

namespace acre::preload {

inline constexpr std::size_t private_class_count = 182;  // with the size classes, and counted blocks: 256

inline constinit acre::detail::basic_process_heap<private_class_count> the_heap;
inline constinit site_table the_sites;

/// The group that the plan puts requests from a return address into; 0: none.
[[gnu::always_inline]] inline unsigned group_of(const void* caller) noexcept {
    return the_sites.group_of(caller);
}

/// What a group's requests get.
struct alignas(64) group_state {
    plan_policy policy = plan_policy::leave;
    std::uint8_t counted = 0;  // number among the counted groups
    // Of a wrapper:
    std::uint8_t otherwise = 0;
    std::uint16_t frame_words = 0;
    std::uintptr_t address = 0;  // its return address
    /// The classes that slots come from; 0: none yet, or a group without slots. By size class, and again by the entries
    /// of small requests, which need one look less.
    std::uint8_t by_class[acre::detail::heap_classes::count] = {};
    std::uint8_t by_small_entry[acre::detail::heap_classes::fine_entries] = {};
};
inline constinit group_state the_groups[plan_table::max_groups + 1];

/// The malloc that serves what is not planned; null: the heap.
inline constinit const malloc_below* the_rest = nullptr;
inline const malloc_below* serves_the_rest() noexcept {
    return the_rest;
}

/// Whether this group is a wrapper, whose callers have groups.
[[gnu::always_inline]] inline bool is_wrapper(unsigned group) noexcept {
    return the_groups[group].policy == plan_policy::caller;
}

/// The group of a request through a wrapper, whose return address lies at `slot`; 0: none.
[[gnu::always_inline]] inline unsigned group_of_caller(unsigned wrapper, void* const* slot) noexcept {
    unsigned group = wrapper;
    for (std::uint32_t frames = 1; frames < plan_table::max_frames; ++frames) {
        const group_state& of = the_groups[group];
        // A hash collision: a different return address, whose frame size differs.
        if (reinterpret_cast<std::uintptr_t>(*slot) != __atomic_load_n(&of.address, __ATOMIC_RELAXED)) return 0;
        slot += of.frame_words;
        const std::uintptr_t caller = site_table::caller_key(reinterpret_cast<std::uintptr_t>(*slot), group);
        const unsigned found = the_sites.group_of(reinterpret_cast<const void*>(caller));
        if (found == 0) return of.otherwise;
        if (!is_wrapper(found)) return found;
        group = found;
    }
    return 0;
}

/// A request of a group that is no wrapper, where the calling thread has memory for it at hand; null: to be followed by
/// take_planned().
[[gnu::always_inline]] inline void* take_planned_at_once(unsigned group, std::size_t bytes) noexcept {
    using acre::detail::heap_classes;
    const group_state& of = the_groups[group];
    if (of.policy == plan_policy::counted)
        return bytes <= acre::detail::counted_block::largest ? the_heap.take_counted_at_once(of.counted, bytes)
                                                             : nullptr;
    if (bytes > heap_classes::finely_looked_up) [[unlikely]]
        return nullptr;
    // Of class 0 a thread never has a slot.
    return the_heap.take_of_at_once(
        __atomic_load_n(of.by_small_entry + heap_classes::entry_of_small(bytes), __ATOMIC_RELAXED));
}

/// The same; null when the group does not serve it.
void* take_planned(unsigned group, std::size_t bytes) noexcept;

/// Resolves the sites of modules that were loaded since, now and then.
void before_slow_request() noexcept;

}  // namespace acre::preload
