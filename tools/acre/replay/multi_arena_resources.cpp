#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/combine/fallback.hpp>
#include <acre/combine/synchronized.hpp>
#include <algorithm>
#include <array>
#include <bit>

#include "arrangement.hpp"
#include "resource_lists.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t fast_path_max_bytes = 64 << 10;
constexpr std::uint64_t max_arenas = 16'777'213;

constexpr auto arenas_parameters = std::to_array<parameter_entry>({
    {"count", "number of arenas; by default doubled until the trace fits", &resource_parameters::count, 1, max_arenas},
    {"bytes", "bytes of each arena; default 64K", &resource_parameters::bytes, 1, max_parameter},
});

constexpr auto inline_arenas_parameters = std::to_array<parameter_entry>({
    {"count", "number of arenas, rounded up to 16, 64, 256 or 1024; by default what the trace needs",
     &resource_parameters::count, 1, 1024},
    {"bytes", "bytes of each arena, rounded up to 4K or 64K; default 64K", &resource_parameters::bytes, 1, 64 << 10},
});

acre::multi_arena_options multi_arena_options_of(const resource_parameters& parameters) {
    return {.arenas = static_cast<std::size_t>(parameters.count),
            .bytes = static_cast<std::size_t>(parameters.bytes),
            .open = 0,
            .large = acre::large_requests::take_run};
}

acre::concurrent_multi_arena_options concurrent_options_of(const resource_parameters& parameters) {
    return {.arenas = static_cast<std::size_t>(parameters.count), .bytes = static_cast<std::size_t>(parameters.bytes)};
}

std::uint64_t first_count(const sequence_view& sequence, std::uint64_t bytes) {
    return std::max<std::uint64_t>(sequence.peak_bytes + sequence.peak_bytes / 4, 1) / bytes + 4;
}

resource_parameters completed(const resource_parameters& given, const sequence_view& sequence, unsigned attempt,
                              std::uint64_t bytes) {
    resource_parameters all = given;
    if (all.bytes == 0) all.bytes = bytes;
    if (all.count == 0) all.count = std::min(first_count(sequence, all.bytes) << attempt, max_arenas);
    return all;
}

/// Requests larger than an arena take several.
resource_parameters complete_multi(const resource_parameters& given, const sequence_view& sequence, unsigned attempt) {
    return completed(given, sequence, attempt, fast_path_max_bytes);
}

/// Requests larger than an arena are refused.
resource_parameters complete_concurrent(const resource_parameters& given, const sequence_view& sequence,
                                        unsigned attempt) {
    const std::uint64_t largest = std::min(largest_request(sequence) + largest_alignment(sequence), max_parameter);
    return completed(given, sequence, attempt, std::max(fast_path_max_bytes, std::bit_ceil(largest)));
}

/// Requests that do not fit go to malloc, so the first count suffices.
resource_parameters complete_fallback(const resource_parameters& given, const sequence_view& sequence, unsigned) {
    return completed(given, sequence, 0, fast_path_max_bytes);
}

struct fallback_over {
    static constexpr bool takes_from_upstream = true;
    static constexpr thread_rule threads = thread_rule::one;
    fallback_over(metered_upstream& upstream, const resource_parameters& parameters)
        : arenas{multi_arena_options_of(parameters), upstream}, resource{arenas, upstream} {}
    acre::multi_arena arenas;
    acre::fallback<acre::multi_arena&, metered_upstream&> resource;
};

using multi_over = with_options<acre::multi_arena, thread_rule::one, multi_arena_options_of>;
using synchronized_arenas =
    with_options<acre::synchronized<acre::multi_arena>, thread_rule::any, multi_arena_options_of>;
using concurrent_arenas = with_options<acre::concurrent_multi_arena, thread_rule::any, concurrent_options_of>;

constexpr std::array<std::uint64_t, 2> inline_bytes{4 << 10, 64 << 10};
constexpr std::array<std::uint64_t, 4> inline_counts{16, 64, 256, 1024};

template <std::size_t Size>
std::uint64_t rounded_up(const std::array<std::uint64_t, Size>& steps, std::uint64_t value) {
    const auto step = std::lower_bound(steps.begin(), steps.end(), value);
    return step == steps.end() ? steps.back() : *step;
}

resource_parameters complete_inline_arenas(const resource_parameters& given, const sequence_view& sequence,
                                           unsigned attempt) {
    const resource_parameters all = completed(given, sequence, attempt, fast_path_max_bytes);
    return {.count = rounded_up(inline_counts, all.count), .bytes = rounded_up(inline_bytes, all.bytes)};
}

std::string refuse_inline(const resource_parameters&, const sequence_view& sequence) {
    if (largest_request(sequence) <= inline_bytes.back()) return {};
    return "its arenas hold at most " + bytes_text(inline_bytes.back()) + ", and the trace has an allocation of " +
           bytes_text(largest_request(sequence));
}

/// Arenas: the template of an inline arena.
template <template <std::size_t, std::size_t> class Arenas, thread_rule Threads>
trial_result play_inline_arenas(const sequence_view& sequence, const trial_request& request) {
    trial_result result;
    const auto fits = [&]<std::size_t Count, std::size_t Bytes>() {
        if (request.parameters != resource_parameters{.count = Count, .bytes = Bytes}) return false;
        result = play<plain<Arenas<Count, Bytes>, Threads>>(sequence, request);
        return true;
    };
    const auto of_bytes = [&]<std::size_t Bytes>() {
        return fits.template operator()<16, Bytes>() || fits.template operator()<64, Bytes>() ||
               fits.template operator()<256, Bytes>() || fits.template operator()<1024, Bytes>();
    };
    (void)(of_bytes.template operator()<4 << 10>() || of_bytes.template operator()<64 << 10>());
    return result;
}

template <std::size_t Count, std::size_t Bytes>
using inline_arenas = acre::inline_multi_arena<Count, Bytes>;

constexpr auto multi_arena_entries = std::to_array<resource_entry>({
    {.name = "multi_arena",
     .description = "acre::multi_arena; a request larger than an arena takes several",
     .parameters = arenas_parameters,
     .play = play<multi_over>,
     .complete = complete_multi},
    {.name = "inline_multi_arena",
     .description = "acre::inline_multi_arena, sized when the program is compiled",
     .parameters = inline_arenas_parameters,
     .play = play_inline_arenas<inline_arenas, thread_rule::one>,
     .complete = complete_inline_arenas,
     .refuse = refuse_inline},
    {.name = "fallback",
     .description = "acre::fallback<acre::multi_arena, ...>: malloc when no arena is free",
     .parameters = arenas_parameters,
     .play = play<fallback_over>,
     .complete = complete_fallback},
    {.name = "concurrent_multi_arena",
     .description = "acre::concurrent_multi_arena",
     .threads = thread_rule::any,
     .parameters = arenas_parameters,
     .play = play<concurrent_arenas>,
     .complete = complete_concurrent},
    {.name = "inline_concurrent_multi_arena",
     .description = "acre::inline_concurrent_multi_arena, sized when the program is compiled",
     .threads = thread_rule::any,
     .parameters = inline_arenas_parameters,
     .play = play_inline_arenas<acre::inline_concurrent_multi_arena, thread_rule::any>,
     .complete = complete_inline_arenas,
     .refuse = refuse_inline},
    {.name = "synchronized_multi_arena",
     .description = "acre::synchronized<acre::multi_arena>",
     .threads = thread_rule::any,
     .parameters = arenas_parameters,
     .play = play<synchronized_arenas>,
     .complete = complete_multi},
});

}  // namespace

std::span<const resource_entry> multi_arena_resources() {
    return multi_arena_entries;
}

}  // namespace acre::tool
