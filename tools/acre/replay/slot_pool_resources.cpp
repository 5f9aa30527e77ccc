#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <acre/pools/wait_free_pool.hpp>
#include <algorithm>
#include <array>
#include <utility>

#include "arrangement.hpp"
#include "resource_lists.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t largest_slot = 4096;

constexpr auto slot_parameters = std::to_array<parameter_entry>({
    {"slot", "slot size of a single pool, rounded up; by default one pool for each multiple of 16 bytes up to 512",
     &resource_parameters::bytes, 1, largest_slot},
});

constexpr auto wait_free_parameters = std::to_array<parameter_entry>({
    {"count", "slots; by default the peak number of live objects", &resource_parameters::count, 1, 16'777'216},
    {"slot", "bytes of a slot, rounded up; by default the largest size", &resource_parameters::bytes, 1, largest_slot},
});

/// A single pool. Slots: constructed from (metered_upstream&), with take() and give(void*), for slots of `bytes` bytes.
/// Requests that do not fit go to upstream.
template <typename Slots>
class single_pool {
public:
    explicit single_pool(metered_upstream& upstream) : upstream_{upstream}, slots_{upstream} {}

    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        return serves(bytes, alignment) ? slots_.take() : upstream_.try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (serves(bytes, alignment)) return slots_.give(p);
        upstream_.deallocate(p, bytes, alignment);
    }

private:
    static bool serves(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= Slots::bytes && alignment <= malloc_alignment;
    }

    metered_upstream& upstream_;
    Slots slots_;
};

/// A pool for each multiple of 16 bytes up to 512, as in a program with a pool per type. Larger requests go to
/// upstream.
template <template <std::size_t> class Slots>
class pool_set {
public:
    explicit pool_set(metered_upstream& upstream) : upstream_{upstream}, pools_{upstream} {}

    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        if (!has_pool(bytes, alignment)) return upstream_.try_allocate(bytes, alignment);
        void* p = nullptr;
        with_pool(bytes, [&](auto& pool) { p = pool.take(); });
        return p;
    }

    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (!has_pool(bytes, alignment)) return upstream_.deallocate(p, bytes, alignment);
        with_pool(bytes, [&](auto& pool) { pool.give(p); });
    }

private:
    static constexpr std::size_t step = 16;
    static constexpr std::size_t pools = 32;
    using pool_numbers = std::make_index_sequence<pools>;

    /// Makes each pool a distinct base class, so that all can be constructed from the upstream.
    template <std::size_t Number>
    struct numbered {
        Slots<(Number + 1) * step> pool;
    };
    template <typename Numbers>
    struct all_pools;
    template <std::size_t... Number>
    struct all_pools<std::index_sequence<Number...>> : numbered<Number>... {
        explicit all_pools(metered_upstream& upstream) : numbered<Number>{Slots<(Number + 1) * step>{upstream}}... {}
    };

    static bool has_pool(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= step * pools && alignment <= step;
    }

    template <typename Use>
    [[gnu::always_inline]] void with_pool(std::size_t bytes, Use use) noexcept {
        with_pool_of<0, pools>(bytes == 0 ? 0 : (bytes - 1) / step, use);
    }

    /// Binary search for the pool: few branches, which are well predicted in a program with few sizes.
    template <std::size_t First, std::size_t Count, typename Use>
    [[gnu::always_inline]] void with_pool_of(std::size_t wanted, Use& use) noexcept {
        if constexpr (Count == 1) {
            use(static_cast<numbered<First>&>(pools_).pool);
        } else if (wanted < First + Count / 2) {
            with_pool_of<First, Count / 2>(wanted, use);
        } else {
            with_pool_of<First + Count / 2, Count - Count / 2>(wanted, use);
        }
    }

    metered_upstream& upstream_;
    all_pools<pool_numbers> pools_;
};

// The families of pools, as pool_set and single_pool use them.

template <std::size_t Bytes>
struct pool_slots {
    static constexpr std::size_t bytes = Bytes;
    explicit pool_slots(metered_upstream& upstream) : pool{acre::resource_ref{upstream}} {}
    void* take() noexcept { return pool.try_allocate(); }
    void give(void* p) noexcept { pool.deallocate(p); }
    acre::pool<Bytes> pool;
};

template <std::size_t Bytes>
struct object_slots {
    /// Does not initialise its bytes.
    struct object {
        object() noexcept {}
        alignas(malloc_alignment) std::byte bytes[Bytes];
    };
    static constexpr std::size_t bytes = Bytes;
    explicit object_slots(metered_upstream& upstream) : pool{acre::resource_ref{upstream}} {}
    void* take() noexcept { return pool.try_create(); }
    void give(void* p) noexcept { pool.destroy(static_cast<object*>(p)); }
    acre::object_pool<object> pool;
};

template <std::size_t Bytes>
struct concurrent_slots {
    static constexpr std::size_t bytes = Bytes;
    explicit concurrent_slots(metered_upstream& upstream) : pool{acre::resource_ref{upstream}} {}
    void* take() noexcept { return pool.try_allocate(); }
    void give(void* p) noexcept { pool.deallocate(p); }
    acre::concurrent_pool<Bytes> pool;
};

template <std::size_t Bytes>
struct static_slots {
    static constexpr std::size_t bytes = Bytes;
    explicit static_slots(metered_upstream&) {}
    void* take() noexcept { return acre::static_pool<Bytes>::try_allocate(); }
    void give(void* p) noexcept { acre::static_pool<Bytes>::deallocate(p); }
};

/// Static pools always take their memory from the heap.
template <typename Resource>
struct over_heap : over_upstream<Resource, thread_rule::any> {
    static constexpr bool takes_from_upstream = false;
    using over_upstream<Resource, thread_rule::any>::over_upstream;
};

template <typename Resource>
using for_one = over_upstream<Resource, thread_rule::one>;
template <typename Resource>
using for_any = over_upstream<Resource, thread_rule::any>;

/// Calls use.operator()<Slot>() with the smallest slot size for a number of bytes.
template <typename Use>
void with_slot(std::uint64_t bytes, Use use) {
    [&]<std::size_t... Slot>(std::index_sequence<Slot...>) {
        (void)((bytes <= Slot && (use.template operator()<Slot>(), true)) || ...);
    }(std::index_sequence<16, 32, 48, 64, 80, 96, 128, 192, 256, 512, 1024, 4096>{});
}

/// With the parameter `slot` a single pool, else a set of pools.
template <template <std::size_t> class Slots, template <typename> class Arrangement>
trial_result play_pool(const sequence_view& sequence, const trial_request& request) {
    if (request.parameters.bytes == 0) return play<Arrangement<pool_set<Slots>>>(sequence, request);
    trial_result result;
    with_slot(request.parameters.bytes,
              [&]<std::size_t Slot>() { result = play<Arrangement<single_pool<Slots<Slot>>>>(sequence, request); });
    return result;
}

acre::wait_free_pool_options wait_free_options_of(const resource_parameters& parameters) {
    return {.slots = static_cast<std::size_t>(parameters.count)};
}

template <std::size_t Slot>
using wait_free_over =
    with_options<acre::wait_free_pool<Slot, malloc_alignment>, thread_rule::one, wait_free_options_of>;

trial_result play_wait_free(const sequence_view& sequence, const trial_request& request) {
    trial_result result;
    with_slot(request.parameters.bytes,
              [&]<std::size_t Slot>() { result = play<wait_free_over<Slot>>(sequence, request); });
    return result;
}

resource_parameters complete_wait_free(const resource_parameters& given, const sequence_view& sequence, unsigned) {
    resource_parameters all = given;
    if (all.count == 0) all.count = std::max<std::uint64_t>(sequence.slots, 1);
    if (all.bytes == 0) all.bytes = largest_request(sequence);
    return all;
}

std::string refuse_wait_free(const resource_parameters& parameters, const sequence_view& sequence) {
    const std::uint64_t slot = parameters.bytes == 0 ? largest_slot : parameters.bytes;
    if (largest_request(sequence) > slot) {
        return "its slots hold at most " + bytes_text(slot) + ", and the trace has an allocation of " +
               bytes_text(largest_request(sequence));
    }
    if (largest_alignment(sequence) > malloc_alignment) {
        return "its slots are aligned to 16 bytes, and the trace has a stricter alignment";
    }
    return {};
}

constexpr auto slot_pool_entries = std::to_array<resource_entry>({
    {.name = "pool",
     .description = "acre::pool, one for each multiple of 16 bytes up to 512; larger ones from malloc",
     .parameters = slot_parameters,
     .play = play_pool<pool_slots, for_one>},
    {.name = "object_pool",
     .description = "acre::object_pool, as pool",
     .parameters = slot_parameters,
     .play = play_pool<object_slots, for_one>},
    {.name = "static_pool",
     .description = "acre::static_pool, as pool; its memory stays from one replay to the next",
     .threads = thread_rule::any,
     .parameters = slot_parameters,
     .play = play_pool<static_slots, over_heap>},
    {.name = "concurrent_pool",
     .description = "acre::concurrent_pool, as pool",
     .threads = thread_rule::any,
     .parameters = slot_parameters,
     .play = play_pool<concurrent_slots, for_any>},
    {.name = "wait_free_pool",
     .description = "acre::wait_free_pool: slots of one size",
     .parameters = wait_free_parameters,
     .play = play_wait_free,
     .complete = complete_wait_free,
     .refuse = refuse_wait_free},
});

}  // namespace

std::span<const resource_entry> slot_pool_resources() {
    return slot_pool_entries;
}

}  // namespace acre::tool
