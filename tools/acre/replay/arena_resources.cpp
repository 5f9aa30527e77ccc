#include <acre/arenas/arena.hpp>
#include <acre/arenas/concurrent_arena.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/combine/recycling.hpp>
#include <acre/combine/synchronized.hpp>
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "arrangement.hpp"
#include "resource_lists.hpp"

namespace acre::tool {

namespace {

constexpr auto block_parameters = std::to_array<parameter_entry>({
    {"block", "bytes of the first block; default 4K", &resource_parameters::bytes, 64, max_parameter},
});

constexpr auto inline_parameters = std::to_array<parameter_entry>({
    {"bytes", "bytes in the object, rounded up to 1K, 4K, 16K or 64K; default 4K", &resource_parameters::bytes, 1,
     64 << 10},
});

template <typename Options>
Options arena_options_of(const resource_parameters& parameters) {
    Options options;
    if (parameters.bytes == 0) return options;
    options.first_block_bytes = static_cast<std::size_t>(parameters.bytes);
    options.max_block_bytes = std::max(std::size_t{1} << 20, options.first_block_bytes);
    return options;
}

using arena_over = with_options<acre::arena, thread_rule::one, arena_options_of<acre::arena_options>>;
using concurrent_over =
    with_options<acre::concurrent_arena, thread_rule::any, arena_options_of<acre::concurrent_arena_options>>;
using recycling_over =
    with_options<acre::recycling<acre::arena>, thread_rule::one, arena_options_of<acre::arena_options>>;
using synchronized_over =
    with_options<acre::synchronized<acre::arena>, thread_rule::any, arena_options_of<acre::arena_options>>;

/// An inline_arena as a local variable: it ends with its last object, and the next call makes another one.
template <std::size_t Bytes>
class arena_of_calls {
public:
    explicit arena_of_calls(metered_upstream& upstream) : upstream_{upstream}, arena_{std::in_place, upstream} {}

    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        void* p = arena_->try_allocate(bytes, alignment);
        live_ += p != nullptr ? 1 : 0;
        return p;
    }
    void deallocate(void*, std::size_t, std::size_t) noexcept {
        if (--live_ == 0) arena_.emplace(upstream_);
    }

private:
    metered_upstream& upstream_;
    std::optional<acre::inline_arena<Bytes>> arena_;
    std::size_t live_ = 0;
};

trial_result play_stack_buffer(const sequence_view& sequence, const trial_request& request) {
    return play<over_upstream<arena_of_calls<4 << 10>, thread_rule::one>>(sequence, request);
}

template <std::size_t... Bytes>
trial_result play_inline_of(const sequence_view& sequence, const trial_request& request) {
    trial_result result;
    const auto fits = [&]<std::size_t Each>() {
        if (request.parameters.bytes > Each) return false;
        result = play<over_upstream<acre::inline_arena<Each>, thread_rule::one>>(sequence, request);
        return true;
    };
    (void)(fits.template operator()<Bytes>() || ...);
    return result;
}

constexpr auto play_inline = play_inline_of<1 << 10, 4 << 10, 16 << 10, 64 << 10>;

resource_parameters complete_inline(const resource_parameters& given, const sequence_view&, unsigned) {
    return {.count = 0, .bytes = given.bytes == 0 ? 4 << 10 : given.bytes};
}

constexpr auto arena_entries = std::to_array<resource_entry>({
    {.name = "arena",
     .description = "acre::arena, never reset: only the last allocation can be freed",
     .takes_all_back = true,
     .parameters = block_parameters,
     .play = play<arena_over>},
    {.name = "inline_arena",
     .description = "acre::inline_arena, whose first block is in the object",
     .takes_all_back = true,
     .parameters = inline_parameters,
     .play = play_inline,
     .complete = complete_inline},
    {.name = "stack_buffer",
     .description = "acre::inline_arena<4K> as a local variable: a new one whenever no object is live",
     .play = play_stack_buffer},
    {.name = "recycling_arena",
     .description = "acre::recycling<acre::arena>, which hands freed blocks out again",
     .parameters = block_parameters,
     .play = play<recycling_over>},
    {.name = "concurrent_arena",
     .description = "acre::concurrent_arena, never reset",
     .threads = thread_rule::any,
     .takes_all_back = true,
     .parameters = block_parameters,
     .play = play<concurrent_over>},
    {.name = "synchronized_arena",
     .description = "acre::synchronized<acre::arena>, never reset",
     .threads = thread_rule::any,
     .takes_all_back = true,
     .parameters = block_parameters,
     .play = play<synchronized_over>},
});

}  // namespace

std::span<const resource_entry> arena_resources() {
    return arena_entries;
}

}  // namespace acre::tool
