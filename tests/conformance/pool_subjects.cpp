// Pools of several slot sizes and alignments.
#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/hardened_multi_pool.hpp>
#include <acre/pools/hardened_object_pool.hpp>
#include <acre/pools/hardened_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <acre/pools/wait_free_object_pool.hpp>
#include <acre/pools/wait_free_pool.hpp>

#include "conformance/worlds.hpp"

namespace acre_test {
namespace {

// Has the pages that it reserved, and no upstream.
constexpr subject_traits in_pages{.bounded = true};

struct alignas(32) wide_object {
    double values[12];
};

// Takes all its memory at construction, so the tests do not check its upstream calls.
template <class Pool>
struct chunk_pool_reserved {
    static constexpr subject_traits traits{.bounded = true};
    checking_upstream below;
    Pool tested{below};
    Pool& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

// required_bytes() is for slots only, but the resource serves other sizes, too.
struct chunks_and_upstream : acre::chunk_pool<60, 24, 100, 1000> {
    using chunk_pool::chunk_pool;
    void capacity() const = delete;
    void used() const = delete;
};

struct chunk_pool_falling_back {
    static constexpr subject_traits traits{};
    checking_upstream below;
    chunks_and_upstream tested{acre::chunk_pool_options{.when_full = acre::exhaustion::fall_back}, below};
    chunks_and_upstream& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

// The same for a pool of `Slots` slots.
template <class Pool, std::size_t Slots>
struct wait_free_pool_reserved {
    static constexpr subject_traits traits{.bounded = true};
    checking_upstream below;
    Pool tested{acre::wait_free_pool_options{.slots = Slots}, below};
    Pool& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

struct wait_free_pool_on_pmr {
    static constexpr subject_traits traits{.bounded = true};
    checking_upstream below;
    acre::pmr<checking_upstream&> face{below};
    acre::wait_free_pool<48, 16> tested{{.slots = 300}, &face};
    auto& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

// Over a buffer of exactly the required bytes.
struct wait_free_pool_on_buffer {
    using pool = acre::wait_free_pool<64, 64>;
    static constexpr subject_traits traits{.bounded = true};
    raw_storage storage{pool::required_bytes({.slots = 500})};
    acre::buffer below{storage.span()};
    pool tested{{.slots = 500}, below};
    pool& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

struct group_of_the_suite;

// A static_pool without the members that concern its slots only: the heap serves larger requests.
template <class Pool>
struct static_pool_face {
    void* allocate(std::size_t bytes, std::size_t alignment) { return Pool::allocate(bytes, alignment); }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        return Pool::try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        Pool::deallocate(p, bytes, alignment);
    }
};

// A pool whose upstream is a static_pool.
template <class R>
struct over_static_pool {
    static constexpr subject_traits traits{};
    R tested{acre::static_pool<16384>{}};
    R& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

}  // namespace

std::vector<subject_case> pool_subjects() {
    using acre::concurrent_pool;
    using acre::multi_pool;
    using acre::pool;
    using acre::pool_options;
    using acre::wait_free_pool;
    return {
        make_case<over_checking<pool<1>>>("pool_1"),
        make_case<over_checking<pool<8>>>("pool_8"),
        make_case<over_checking<pool<24, 4>>>("pool_24_4"),
        make_case<over_checking<pool<64, 64>>>("pool_64_64"),
        make_case<over_checking<pool<1000>>>("pool_1000"),
        make_case<over_checking<pool<4096, 4096>>>("pool_4096_4096"),
        make_case<over_checking<pool<20000>>>("pool_20000"),
        make_case<over_checking_with<pool<64>, pool_options{.limit_bytes = 50'000},
                                     subject_traits{.bounded = true, .direct = true}>>("pool_limited"),
        make_case<over_pmr<pool<48>>>("pool_48_pmr"),
        make_case<over_buffer<pool<64>, 200'000>>("pool_64_buffer"),
        make_case<over_checking<acre::object_pool<wide_object>>>("object_pool"),
        make_case<alone<multi_pool>>("multi_pool_heap"),
        make_case<over_checking<pool<64, 16, acre::double_free_check::none>>>("pool_64_unchecked"),
        make_case<over_checking<acre::basic_multi_pool<acre::default_size_classes, acre::double_free_check::none>>>(
            "multi_pool_unchecked"),
        make_case<over_checking<multi_pool>>("multi_pool"),
        make_case<over_checking_with<multi_pool, pool_options{.limit_bytes = 100'000},
                                     subject_traits{.bounded = true, .direct = true}>>("multi_pool_limited"),
        make_case<over_pmr<multi_pool>>("multi_pool_pmr"),
        make_case<over_checking<acre::basic_multi_pool<acre::size_class_list<24, 40, 1000>>>>("multi_pool_few_classes"),
        make_case<over_buffer<multi_pool, 500'000>>("multi_pool_buffer"),
        make_case<chunk_pool_reserved<acre::chunk_pool<500, 16, 64, 256, 1024, 8192>>>("chunk_pool"),
        make_case<chunk_pool_reserved<acre::chunk_pool<70, 10, 20, 40, 777, 3000>>>("chunk_pool_odd_sizes"),
        make_case<chunk_pool_falling_back>("chunk_pool_fall_back"),
        make_case<over_checking<concurrent_pool<1>>>("concurrent_pool_1"),
        make_case<over_checking<concurrent_pool<24, 4>>>("concurrent_pool_24_4"),
        make_case<over_checking<concurrent_pool<64, 64>>>("concurrent_pool_64_64"),
        make_case<over_checking<concurrent_pool<1000>>>("concurrent_pool_1000"),
        make_case<over_checking<concurrent_pool<4096, 4096>>>("concurrent_pool_4096_4096"),
        make_case<over_checking<concurrent_pool<20000>>>("concurrent_pool_20000"),
        make_case<over_checking<concurrent_pool<64, 16, acre::double_free_check::none>>>(
            "concurrent_pool_64_unchecked"),
        make_case<over_checking_with<concurrent_pool<64>, acre::concurrent_pool_options{.limit_bytes = 50'000},
                                     subject_traits{.bounded = true, .direct = true}>>("concurrent_pool_limited"),
        make_case<over_checking_with<concurrent_pool<64>, acre::concurrent_pool_options{.limit_bytes = 4096},
                                     subject_traits{.bounded = true, .direct = true}>>("concurrent_pool_of_one_slab"),
        make_case<over_pmr<concurrent_pool<48>>>("concurrent_pool_48_pmr"),
        make_case<over_buffer<concurrent_pool<64>, 200'000>>("concurrent_pool_64_buffer"),
        make_case<over_checking<acre::concurrent_object_pool<wide_object>>>("concurrent_pool_of_objects"),
        make_case<wait_free_pool_reserved<wait_free_pool<8, 1>, 1000>>("wait_free_pool_8"),
        make_case<wait_free_pool_reserved<wait_free_pool<24, 4>, 64>>("wait_free_pool_24_4"),
        make_case<wait_free_pool_reserved<wait_free_pool<64, 64>, 5000>>("wait_free_pool_64_64"),
        make_case<wait_free_pool_reserved<wait_free_pool<1000, 8>, 100>>("wait_free_pool_1000"),
        make_case<wait_free_pool_reserved<wait_free_pool<4096, 4096>, 200>>("wait_free_pool_4096_4096"),
        make_case<wait_free_pool_reserved<acre::wait_free_object_pool<wide_object>, 333>>("wait_free_pool_of_objects"),
        make_case<wait_free_pool_on_pmr>("wait_free_pool_pmr"),
        make_case<wait_free_pool_on_buffer>("wait_free_pool_buffer"),
        make_case<over_checking<acre::concurrent_multi_pool>>("concurrent_multi_pool"),
        make_case<over_checking_with<acre::concurrent_multi_pool, acre::concurrent_pool_options{.limit_bytes = 100'000},
                                     subject_traits{.bounded = true, .direct = true}>>("concurrent_multi_pool_limited"),
        make_case<over_pmr<acre::concurrent_multi_pool>>("concurrent_multi_pool_pmr"),
        make_case<over_buffer<acre::concurrent_multi_pool, 700'000>>("concurrent_multi_pool_buffer"),
        make_case<alone<acre::hardened_pool<1>, in_pages>>("hardened_pool_1"),
        make_case<alone<acre::hardened_pool<24, 4>, in_pages>>("hardened_pool_24_4"),
        make_case<alone<acre::hardened_pool<1000>, in_pages>>("hardened_pool_1000"),
        make_case<alone<acre::hardened_pool<4096, 4096>, in_pages>>("hardened_pool_4096_4096"),
        make_case<alone<acre::hardened_object_pool<wide_object>, in_pages>>("hardened_pool_of_objects"),
        make_case<alone<acre::hardened_multi_pool, in_pages>>("hardened_multi_pool"),
        make_case<alone<static_pool_face<acre::static_pool<64>>>>("static_pool_64"),
        make_case<alone<static_pool_face<acre::static_pool<1000>>>>("static_pool_1000"),
        make_case<alone<static_pool_face<acre::static_pool<24, group_of_the_suite>>>>("static_pool_24_of_a_group"),
        make_case<over_static_pool<multi_pool>>("multi_pool_over_static_pool"),
        make_case<over_static_pool<concurrent_pool<64>>>("concurrent_pool_over_static_pool"),
    };
}

}  // namespace acre_test
