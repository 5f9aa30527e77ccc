// Arrangements: each sets up a resource for a replay, over the counting upstream and with the requested parameters. The
// entries of resources() refer to them. The entries are constants because a process that plays a trial needs them
// before main. They are in several files because they take long to compile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <new>
#include <span>

#include "play_trial.hpp"
#include "resources.hpp"
#include "sequence.hpp"
#include "system_resource.hpp"
#include "trial.hpp"

namespace acre::tool {

inline constexpr std::uint64_t max_parameter = std::uint64_t{1} << 40;

/// Bytes of the largest block that the sequence asks for.
inline std::uint64_t largest_request(const sequence_view& sequence) {
    std::uint64_t largest = 1;
    for (const shape& each : sequence.shapes) largest = std::max(largest, each.bytes);
    return largest;
}

inline std::uint64_t largest_alignment(const sequence_view& sequence) {
    std::uint64_t largest = 1;
    for (const shape& each : sequence.shapes) largest = std::max(largest, each.alignment);
    return largest;
}

/// A resource without an upstream: malloc, or one that calls malloc itself.
template <typename Resource, thread_rule Threads>
struct plain {
    static constexpr bool takes_from_upstream = false;
    static constexpr thread_rule threads = Threads;
    plain(metered_upstream&, const resource_parameters&) {}
    Resource resource;
};

/// A resource that is constructed from its upstream alone.
template <typename Resource, thread_rule Threads>
struct over_upstream {
    static constexpr bool takes_from_upstream = true;
    static constexpr thread_rule threads = Threads;
    over_upstream(metered_upstream& upstream, const resource_parameters&) : resource{upstream} {}
    Resource resource;
};

/// A resource with options, which Make builds from the parameters.
template <typename Resource, thread_rule Threads, auto Make>
struct with_options {
    static constexpr bool takes_from_upstream = true;
    static constexpr thread_rule threads = Threads;
    with_options(metered_upstream& upstream, const resource_parameters& parameters)
        : resource{Make(parameters), upstream} {}
    Resource resource;
};

/// A standard memory resource, with null instead of an exception when it is out of memory.
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

/// RoundsUp: rounds sizes up to multiples of their alignment. The pools of libstdc++ before 15 need that to align (GCC
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
    constexpr auto make = [](metered_upstream& upstream, const resource_parameters& parameters) {
        return std::unique_ptr<played_resource>{std::make_unique<arranged_resource<Arrangement>>(upstream, parameters)};
    };
    return play_trial({make, Arrangement::threads, Arrangement::takes_from_upstream}, sequence, request);
}

}  // namespace acre::tool
