#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <acre/pools/wait_free_pool.hpp>
#include <array>

#include "arrangement.hpp"
#include "pool_set.hpp"
#include "resource_families.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t largest_slot = 4096;

constexpr auto slot_parameters = std::to_array<parameter_entry>({
    {"slot", "one pool of so large slots, rounded up; without it one for each multiple of 16 bytes up to 512",
     &resource_parameters::bytes, 1, largest_slot},
});

constexpr auto wait_free_parameters = std::to_array<parameter_entry>({
    {"count", "slots; without it as many as live at a time", &resource_parameters::count, 1, 16'777'216},
    {"slot", "bytes of a slot, rounded up; without it the largest size", &resource_parameters::bytes, 1, largest_slot},
});

constexpr std::uint64_t max_chunks = 1'000'000;
constexpr auto chunk_parameters = std::to_array<parameter_entry>({
    {"count", "slots of each size, rounded up to a power of ten; without it as many as live at a time",
     &resource_parameters::count, 1, max_chunks},
});

// What each family of pools is to pool_set and single_pool.

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
    /// Leaves its bytes as they are.
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

/// Static pools take their memory from the heap, whatever else is there.
template <typename Resource>
struct over_heap : over_upstream<Resource, thread_rule::any> {
    static constexpr bool takes_from_upstream = false;
    using over_upstream<Resource, thread_rule::any>::over_upstream;
};

template <typename Resource>
using for_one = over_upstream<Resource, thread_rule::one>;
template <typename Resource>
using for_any = over_upstream<Resource, thread_rule::any>;

/// Calls use.operator()<Slot>() with the first slot size that has room for so many bytes.
template <typename Use>
void with_slot(std::uint64_t bytes, Use use) {
    [&]<std::size_t... Slot>(std::index_sequence<Slot...>) {
        (void)((bytes <= Slot && (use.template operator()<Slot>(), true)) || ...);
    }(std::index_sequence<16, 32, 48, 64, 80, 96, 128, 192, 256, 512, 1024, 4096>{});
}

/// With a parameter one pool of that slot size, else a set of them.
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
        return "its slots have at most " + bytes_text(slot) + ", and the trace asks for " +
               bytes_text(largest_request(sequence)) + " at once";
    }
    if (largest_alignment(sequence) > malloc_alignment) {
        return "its slots are aligned to 16 bytes, and the trace asks for more";
    }
    return {};
}

acre::chunk_pool_options chunk_options_of(const resource_parameters&) {
    return {.when_full = acre::exhaustion::fall_back, .prefault = false};
}

template <std::size_t Count>
using chunk_over =
    with_options<acre::chunk_pool<Count, 16, 32, 48, 64, 96, 128, 256, 512>, thread_rule::one, chunk_options_of>;

template <std::size_t... Count>
trial_result play_chunks_of(const sequence_view& sequence, const trial_request& request) {
    trial_result result;
    const auto fits = [&]<std::size_t Each>() {
        if (request.parameters.count > Each) return false;
        result = play<chunk_over<Each>>(sequence, request);
        return true;
    };
    (void)(fits.template operator()<Count>() || ...);
    return result;
}

constexpr auto play_chunks = play_chunks_of<1'000, 10'000, 100'000, max_chunks>;

resource_parameters complete_chunks(const resource_parameters& given, const sequence_view& sequence, unsigned) {
    const std::uint64_t wanted = given.count == 0 ? sequence.slots : given.count;
    std::uint64_t count = 1'000;
    while (count < wanted && count < max_chunks) count *= 10;
    return {.count = count, .bytes = 0};
}

constexpr auto known = std::to_array<resource_entry>({
    {.name = "pool",
     .description = "acre::pool, one for each multiple of 16 bytes up to 512; larger ones from malloc",
     .parameters = slot_parameters,
     .play = play_pool<pool_slots, for_one>},
    {.name = "object_pool",
     .description = "acre::object_pool, as pool",
     .parameters = slot_parameters,
     .play = play_pool<object_slots, for_one>},
    {.name = "static_pool",
     .description = "acre::static_pool, as pool; what it holds stays from replay to replay",
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
    {.name = "chunk_pool",
     .description = "acre::chunk_pool of slots of 16 to 512 bytes; malloc for what finds none",
     .parameters = chunk_parameters,
     .play = play_chunks,
     .complete = complete_chunks},
});

}  // namespace

std::span<const resource_entry> sized_pool_resources() {
    return known;
}

}  // namespace acre::tool
