#include "resources.hpp"

#include <acre/arenas/arena.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/pool.hpp>
#include <array>
#include <memory_resource>
#include <string>

#include "play_trial.hpp"
#include "pool_set.hpp"
#include "system_resource.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

/// What needs no upstream.
template <typename Resource>
struct plain {
    static constexpr bool takes_from_upstream = false;
    plain(metered_upstream&, const trial_request&) {}
    Resource resource;
};

/// A standard memory resource as one that can say no without throwing.
template <typename Memory>
class standard_resource {
public:
    explicit standard_resource(std::pmr::memory_resource* upstream) : memory_{upstream} {}

    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        try {
            return memory_.allocate(bytes, alignment);
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        memory_.deallocate(p, bytes, alignment);
    }
    void reset() noexcept { memory_.release(); }

private:
    Memory memory_;
};

template <typename Memory>
struct standard {
    static constexpr bool takes_from_upstream = true;
    standard(metered_upstream& upstream, const trial_request&) : resource{upstream.memory()} {}
    standard_resource<Memory> resource;
};

acre::arena_options arena_options_of(const trial_request& request) {
    acre::arena_options options;
    if (request.parameters.bytes == 0) return options;
    options.first_block_bytes = static_cast<std::size_t>(request.parameters.bytes);
    options.max_block_bytes = std::max(options.max_block_bytes, options.first_block_bytes);
    return options;
}

struct arena {
    static constexpr bool takes_from_upstream = true;
    arena(metered_upstream& upstream, const trial_request& request) : resource{arena_options_of(request), upstream} {}
    acre::arena resource;
};

template <typename Arrangement>
trial_result play(const sequence_view& sequence, const trial_request& request) {
    return trial<Arrangement>{sequence, request}.run();
}

/// What needs nothing but its upstream.
template <typename Resource>
struct over_upstream {
    static constexpr bool takes_from_upstream = true;
    over_upstream(metered_upstream& upstream, const trial_request&) : resource{upstream} {}
    Resource resource;
};

template <std::size_t... Slot>
trial_result play_single_pool(const sequence_view& sequence, const trial_request& request) {
    trial_result result;
    // The first that is large enough; without one each request goes to upstream anyway.
    const bool found = ((request.parameters.bytes <= Slot &&
                         (result = play<over_upstream<acre::pool<Slot>>>(sequence, request), true)) ||
                        ...);
    return found ? result : play<over_upstream<pool_set>>(sequence, request);
}

/// With a parameter one pool of that slot size, else a set of them.
trial_result play_pool(const sequence_view& sequence, const trial_request& request) {
    if (request.parameters.bytes == 0) return play<over_upstream<pool_set>>(sequence, request);
    return play_single_pool<16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 320, 384, 448,
                            512, 640, 768, 1024, 2048, 4096>(sequence, request);
}

constexpr auto known = std::to_array<resource_entry>({
    {"system", "the C library's malloc and free", play<plain<system_resource>>},
    {"loop", "no allocator at all: what the replay itself costs", play<plain<no_resource>>},
    {"new_delete", "operator new and delete", play<plain<new_delete_resource>>},
    {"arena", "acre::arena, never reset: only what is freed last first comes back", play<arena>},
    {"pool", "acre::pool, one for each multiple of 16 bytes up to 512; larger ones from malloc", play_pool},
    {"multi_pool", "acre::multi_pool", play<over_upstream<acre::multi_pool>>},
    {"std_pool", "std::pmr::unsynchronized_pool_resource", play<standard<std::pmr::unsynchronized_pool_resource>>},
    {"std_monotonic", "std::pmr::monotonic_buffer_resource, frees are ignored",
     play<standard<std::pmr::monotonic_buffer_resource>>},
});

}  // namespace

std::span<const resource_entry> resources() {
    return known;
}

std::uint32_t resource_number(std::string_view name) {
    std::string names;
    for (std::uint32_t i = 0; i < known.size(); ++i) {
        if (i == loop_number) continue;
        if (known[i].name == name) return i;
        names += (i == 0 ? "" : ", ") + std::string{known[i].name};
    }
    throw tool_error{"there is no resource '" + std::string{name} + "': known are " + names};
}

}  // namespace acre::tool
