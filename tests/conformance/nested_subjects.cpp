// Resources over resources.
#include <acre/adapt/ambient.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/memory/heap.hpp>
#include <acre/memory/pmr_upstream.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>

#include "conformance/worlds.hpp"

namespace acre_test {
namespace {

struct node {
    node* next;
    int value;
};

struct pool_on_arena_on_buffer {
    static constexpr subject_traits traits{.bounded = true};
    raw_storage storage{400'000};
    acre::buffer lowest{storage.span()};
    acre::arena middle{lowest};
    acre::multi_pool tested{middle};
    acre::multi_pool& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

struct counted_pmr {
    static constexpr subject_traits traits{.std_pmr = true};
    acre::statistics<acre::pmr_upstream> tested{std::pmr::new_delete_resource()};
    acre::statistics<acre::pmr_upstream>& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

// acre::ambient, allocating in a scope and freeing outside of it.
class ambient_in_scopes {
public:
    explicit ambient_in_scopes(acre::multi_pool& below) noexcept : below_(below) {}
    void* allocate(std::size_t bytes, std::size_t alignment) {
        const acre::use_resource use{below_};
        return acre::ambient{}.allocate(bytes, alignment);
    }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        const acre::use_resource use{below_};
        return acre::ambient{}.try_allocate(bytes, alignment);
    }
    static void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        acre::ambient{}.deallocate(p, bytes, alignment);
    }

private:
    acre::multi_pool& below_;
};

// Its errors are those of the pool: they name the bytes with the header.
struct ambient_pool {
    static constexpr subject_traits traits{.std_pmr = true};
    checking_upstream below;
    acre::multi_pool slots{below};
    ambient_in_scopes tested{slots};
    ambient_in_scopes& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return &below; }
};

}  // namespace

std::vector<subject_case> nested_subjects() {
    using acre::arena;
    using acre::multi_pool;
    using acre::statistics;
    return {
        make_case<pool_on_arena_on_buffer>("multi_pool_arena_buffer"),
        make_case<alone<acre::ambient, subject_traits{.std_pmr = true, .shrinks = false}>>("ambient_outside_of_scopes"),
        make_case<ambient_pool>("ambient"),
        make_case<over_resource<multi_pool, multi_pool>>("multi_pool_multi_pool"),
        make_case<over_resource<arena, multi_pool>>("arena_multi_pool"),
        make_case<over_resource<acre::object_pool<node>, acre::inline_arena<4096>>>("object_pool_inline_arena"),
        make_case<alone<statistics<acre::heap>>>("statistics_heap"),
        make_case<counted_pmr>("statistics_pmr_upstream"),
        make_case<over_checking<statistics<arena>>>("statistics_arena"),
        make_case<over_checking<statistics<acre::inline_arena<512>>>>("statistics_inline_arena"),
        make_case<over_checking<statistics<acre::pool<32>>>>("statistics_pool"),
        make_case<over_checking<statistics<acre::object_pool<node>>>>("statistics_object_pool"),
        make_case<over_checking<statistics<multi_pool>>>("statistics_multi_pool"),
    };
}

}  // namespace acre_test
