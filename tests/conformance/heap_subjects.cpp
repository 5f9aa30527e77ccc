// The resources of include/acre/heaps.
#include <acre/core/detail/target.hpp>
#include <acre/heaps/realtime_heap.hpp>
#if ACRE_HAS_GENERAL_HEAP
#include <acre/heaps/general_heap.hpp>
#endif

#include "conformance/worlds.hpp"

namespace acre_test {
namespace {

// Takes all its memory at construction, so the tests do not check its upstream calls.
template <acre::realtime_heap_options Options>
struct realtime_heap_reserved {
    static constexpr subject_traits traits{.bounded = true};
    checking_upstream below;
    acre::realtime_heap tested{Options, below};
    acre::realtime_heap& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

// Over a buffer of exactly the required bytes.
struct realtime_heap_on_buffer {
    static constexpr subject_traits traits{.bounded = true};
    static constexpr acre::realtime_heap_options options{.arenas = 100, .bytes = 4096};
    raw_storage storage{acre::realtime_heap::required_bytes(options)};
    acre::buffer below{storage.span()};
    acre::realtime_heap tested{options, below};
    acre::realtime_heap& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

}  // namespace

std::vector<subject_case> heap_subjects() {
    return {
#if ACRE_HAS_GENERAL_HEAP
        make_case<alone<acre::general_heap>>("general_heap"),
#endif
        make_case<realtime_heap_reserved<{.arenas = 500, .bytes = 1024}>>("realtime_heap_1k"),
        make_case<realtime_heap_reserved<{.arenas = 64, .bytes = 65536}>>("realtime_heap_64k"),
        make_case<realtime_heap_reserved<{.arenas = 300, .bytes = 4096, .join = false}>>("realtime_heap_constant_time"),
        make_case<realtime_heap_on_buffer>("realtime_heap_buffer"),
    };
}

}  // namespace acre_test
