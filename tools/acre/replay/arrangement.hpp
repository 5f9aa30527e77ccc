// A resource as it is set up for a replay: over the upstream that counts, with the parameters that were asked for.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <new>
#include <type_traits>

#include "metered_upstream.hpp"
#include "play_trial.hpp"
#include "sequence.hpp"
#include "trial.hpp"

namespace acre::tool {

/// What needs no upstream: malloc, and what asks it by itself.
template <typename Resource, thread_rule Threads>
struct plain {
    static constexpr bool takes_from_upstream = false;
    static constexpr thread_rule threads = Threads;
    plain(metered_upstream&, const resource_parameters&) {}
    Resource resource;
};

/// What needs nothing but its upstream.
template <typename Resource, thread_rule Threads>
struct over_upstream {
    static constexpr bool takes_from_upstream = true;
    static constexpr thread_rule threads = Threads;
    over_upstream(metered_upstream& upstream, const resource_parameters&) : resource{upstream} {}
    Resource resource;
};

/// What is made with options: `make` makes them of the parameters.
template <typename Resource, thread_rule Threads, auto Make>
struct with_options {
    static constexpr bool takes_from_upstream = true;
    static constexpr thread_rule threads = Threads;
    with_options(metered_upstream& upstream, const resource_parameters& parameters)
        : resource{Make(parameters), upstream} {}
    Resource resource;
};

/// A standard memory resource as one that can say no without throwing.
template <typename Memory, bool RoundsUp>
class standard_resource {
public:
    explicit standard_resource(std::pmr::memory_resource* upstream) : memory_{upstream} {}

    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        try {
            return memory_.allocate(whole(bytes, alignment), alignment);
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        memory_.deallocate(p, whole(bytes, alignment), alignment);
    }
    void reset() noexcept { memory_.release(); }

private:
    static std::size_t whole(std::size_t bytes, std::size_t alignment) noexcept {
        return RoundsUp ? (bytes + alignment - 1) & ~(alignment - 1) : bytes;
    }

    Memory memory_;
};

/// RoundsUp: sizes to multiples of their alignment, without which the pools of libstdc++ before 15 do not align (GCC
/// bug 118681).
template <typename Memory, thread_rule Threads, bool RoundsUp = false>
struct standard {
    static constexpr bool takes_from_upstream = true;
    static constexpr thread_rule threads = Threads;
    standard(metered_upstream& upstream, const resource_parameters&) : resource{upstream.memory()} {}
    standard_resource<Memory, RoundsUp> resource;
};

/// A function for resource_entry::play.
template <typename Arrangement>
trial_result play(const sequence_view& sequence, const trial_request& request) {
    return trial<Arrangement>{sequence, request}.run();
}

}  // namespace acre::tool
