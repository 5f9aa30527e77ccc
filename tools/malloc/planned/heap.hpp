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
struct alignas(128) group_state {
    plan_policy policy = plan_policy::leave;
    std::uint8_t counted = 0;  // number among the counted groups
    // Of a wrapper:
    std::uint8_t otherwise = 0;
    std::uint16_t frame_words = 0;
    std::uintptr_t address = 0;  // its return address
    /// By size class: the class that its slots come from; 0: none yet, or a group without slots.
    std::uint8_t class_of_slots[acre::detail::heap_classes::count] = {};
};
inline constinit group_state the_groups[plan_table::most_groups + 1];

/// The malloc that serves what is not planned; null: the heap.
inline constinit const malloc_below* the_rest = nullptr;
inline const malloc_below* serves_the_rest() noexcept {
    return the_rest;
}

/// The group of a request through a wrapper, whose return address lies at `slot`; null: it is not planned.
group_state* group_of_caller(unsigned wrapper, void* const* slot) noexcept;

/// As below, where the calling thread has no slot at hand.
void* take_planned_slow(group_state& of, std::size_t bytes) noexcept;

/// A request of a group; null when the group does not serve it. `slot` is where the return address lies.
[[gnu::always_inline]] inline void* take_planned(unsigned group, std::size_t bytes, void* const* slot) noexcept {
    using acre::detail::heap_classes;
    group_state* found = the_groups + group;
    if (found->policy == plan_policy::caller) [[unlikely]] {
        found = group_of_caller(group, slot);
        if (found == nullptr) return nullptr;
    }
    group_state& of = *found;
    if (of.policy == plan_policy::counted) {
        if (bytes > acre::detail::counted_block::largest) [[unlikely]]
            return nullptr;
        return the_heap.take_counted(of.counted, bytes);
    }
    if (bytes <= heap_classes::finely_looked_up) [[likely]] {
        // Of class 0 a thread never has a slot.
        const std::size_t number =
            __atomic_load_n(of.class_of_slots + heap_classes::class_of_small(bytes), __ATOMIC_RELAXED);
        if (void* p = the_heap.take_of_at_once(number)) [[likely]]
            return p;
    }
    return take_planned_slow(of, bytes);
}

/// Resolves the sites of modules that were loaded since, now and then.
void before_slow_request() noexcept;

}  // namespace acre::preload
