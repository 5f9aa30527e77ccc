// Smart pointers: objects and arrays are destroyed once, their storage is freed, and a throwing constructor leaks
// nothing.
#include <acre/adapt/smart_ptr.hpp>

#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/arenas/typed_arena.hpp>
#include <acre/combine/limited.hpp>
#include <acre/memory/heap.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arenas/tracked.hpp"
#include "conformance/checking_upstream.hpp"

namespace {

using acre_test::checking_upstream;
using acre_test::tracked;

class smart_ptr : public testing::Test {
protected:
    checking_upstream below_;

    void SetUp() override { tracked::start(); }
};

TEST_F(smart_ptr, example) {
    struct Orc {
        std::string name;
    };
    acre::multi_pool pool;
    {
        auto owned = acre::make_unique<Orc>(pool, "URG");
        auto several = acre::make_unique<Orc[]>(pool, 12);
        auto shared = acre::make_shared<Orc>(pool, "URG");
        EXPECT_EQ(owned->name, shared->name);
        EXPECT_EQ(pool.live(), 3u) << "object and counts are one allocation";
    }
    EXPECT_EQ(pool.live(), 0u);
}

TEST_F(smart_ptr, unique_destroys_and_gives_back) {
    {
        acre::unique_ptr<tracked, checking_upstream> p = acre::make_unique<tracked>(below_, 4);
        EXPECT_EQ(p->number(), 4);
        EXPECT_EQ(below_.live_bytes(), sizeof(tracked));
        auto moved = std::move(p);
        EXPECT_EQ(p, nullptr);
        EXPECT_EQ(tracked::live, 1);
        p = std::move(moved);
        p.reset();
        EXPECT_EQ(tracked::live, 0);
        EXPECT_EQ(below_.live_blocks(), 0u);
        p = acre::make_unique<tracked>(below_, 5);
    }
    EXPECT_EQ(tracked::destroyed, (std::vector<int>{4, 5}));
    EXPECT_EQ(below_.live_blocks(), 0u);
}

TEST_F(smart_ptr, may_be_empty_without_a_resource) {
    acre::unique_ptr<tracked, acre::arena> empty;
    EXPECT_EQ(empty, nullptr);
    acre::unique_ptr<tracked[], acre::arena> none;
    EXPECT_EQ(none, nullptr);
}

TEST_F(smart_ptr, is_two_pointers_wide_and_one_without_state) {
    static_assert(sizeof(acre::unique_ptr<int, acre::arena>) == 2 * sizeof(void*));
    static_assert(sizeof(acre::unique_ptr<int, acre::heap>) == sizeof(void*));
    acre::heap heap;
    EXPECT_EQ(*acre::make_unique<int>(heap, 7), 7);
}

// Hazards B2, A13: an array is as long as it was made, destroyed back to front, and its storage goes back whole.
TEST_F(smart_ptr, arrays) {
    {
        auto several = acre::make_unique<tracked[]>(below_, 5);
        EXPECT_EQ(several.get_deleter().size(), 5u);
        EXPECT_EQ(several[4].number(), 4);
        EXPECT_EQ(below_.live_bytes(), 5 * sizeof(tracked));
        auto numbers = acre::make_unique<int[]>(below_, 100);
        EXPECT_EQ(numbers[99], 0) << "value-initialised";
        auto none = acre::make_unique<int[]>(below_, 0);
    }
    EXPECT_EQ(tracked::destroyed, (std::vector<int>{4, 3, 2, 1, 0}));
    EXPECT_EQ(below_.live_blocks(), 0u);
}

// Hazard M10.
TEST_F(smart_ptr, a_constructor_that_throws_keeps_nothing) {
    acre::multi_pool pool{below_};
    tracked::throw_at = 1;
    EXPECT_THROW((void)acre::make_unique<tracked>(pool, 1), std::runtime_error);
    EXPECT_EQ(pool.live(), 0u);
    tracked::start();
    tracked::throw_at = 1;
    EXPECT_THROW((void)acre::make_shared<tracked>(pool, 1), std::runtime_error);
    EXPECT_EQ(pool.live(), 0u);
    tracked::start();
    tracked::throw_at = 4;
    EXPECT_THROW((void)acre::make_unique<tracked[]>(pool, 7), std::runtime_error);
    EXPECT_EQ(pool.live(), 0u);
    EXPECT_EQ(tracked::live, 0);
    EXPECT_EQ(tracked::destroyed.size(), 3u);
}

// Hazard B6.
TEST_F(smart_ptr, counts_that_wrap_are_refused) {
    for (const std::size_t count : {SIZE_MAX, SIZE_MAX / 8 + 2}) {
        EXPECT_THROW((void)acre::make_unique<std::uint64_t[]>(below_, count), acre::request_too_large);
    }
    EXPECT_EQ(below_.requests(), 0u);
}

// Hazard B3.
TEST_F(smart_ptr, types_of_every_alignment) {
    struct alignas(64) wide {
        char c = 0;
    };
    struct alignas(4096) page {
        char c = 0;
    };
    acre::multi_pool pool{below_};
    for (int i = 0; i < 20; ++i) {
        auto one = acre::make_unique<wide>(pool);
        auto several = acre::make_unique<page[]>(pool, 3);
        auto shared = acre::make_shared<page>(pool);
        EXPECT_TRUE(acre::is_aligned(one.get(), 64));
        EXPECT_TRUE(acre::is_aligned(several.get(), 4096));
        EXPECT_TRUE(acre::is_aligned(shared.get(), 4096));
    }
    EXPECT_EQ(pool.live(), 0u);
}

TEST_F(smart_ptr, to_const_objects) {
    auto one = acre::make_unique<const int>(below_, 3);
    auto several = acre::make_unique<const int[]>(below_, 3);
    EXPECT_EQ(*one + several[2], 3);
    acre::unique_ptr<const int[], checking_upstream> read_only = acre::make_unique<int[]>(below_, 4);
    EXPECT_EQ(read_only.get_deleter().size(), 4u);
    read_only = acre::make_unique<int[]>(below_, 5);
    EXPECT_EQ(read_only.get_deleter().size(), 5u);
    const auto shared = acre::make_shared<const std::string>(below_, "text");
    EXPECT_EQ(*shared, "text");
}

struct named {
    virtual ~named() = default;
    char text[40] = {};
};
struct monster {
    virtual ~monster() = default;
    int strength = 1;
};
struct orc : named, monster {
    tracked member{7};
};
struct alignas(64) troll final : orc {
    char club[100] = {};
};

struct counted_base {
    int* destroyed;
};
struct counted_derived : counted_base {
    explicit counted_derived(int& count) : counted_base{&count} {}
    ~counted_derived() { ++*destroyed; }
};

// A slot of the base's pool has room for the derived class, whose destructor is another.
TEST(smart_ptr_of_a_pool, destroys_an_object_of_a_derived_class_as_such) {
    int destroyed = 0;
    acre::object_pool<counted_base> pool;
    acre::make_unique<counted_derived>(pool, destroyed).reset();
    EXPECT_EQ(destroyed, 1);
}

struct first_base {
    virtual ~first_base() = default;
    long first = 0;
};
struct second_base {
    virtual ~second_base() = default;
    long second = 0;
};
struct of_both : first_base, second_base {
    long more[5] = {};
};

TEST(smart_ptr_of_a_pool, gives_the_whole_object_back_to_a_chunk_pool) {
    acre::chunk_pool<4, 32, 64, 128> pool;
    for (int i = 0; i < 20; ++i) {
        acre::unique_ptr<second_base, decltype(pool)> object = acre::make_unique<of_both>(pool);
        EXPECT_EQ(object->second, 0);
    }
}

// The bytes that a limit counts when an object is freed are those of the whole object.
TEST(smart_ptr_of_a_pool, counts_the_whole_object_where_bytes_are_counted) {
    acre::limited<acre::chunk_pool<4, 32, 128>> pool{{.limit_bytes = 1000}};
    for (int i = 0; i < 100; ++i) {
        acre::unique_ptr<first_base, decltype(pool)> object = acre::make_unique<of_both>(pool);
        EXPECT_EQ(pool.live_bytes(), sizeof(of_both));
    }
    EXPECT_EQ(pool.live_bytes(), 0u);
}

// The base lies behind another one, and the whole object is larger and stricter aligned.
TEST_F(smart_ptr, of_a_derived_class_converts_to_one_of_its_base) {
    {
        acre::unique_ptr<monster, checking_upstream> any = acre::make_unique<troll>(below_);
        EXPECT_EQ(below_.live_bytes(), sizeof(troll));
        any = acre::make_unique<orc>(below_);
        EXPECT_EQ(below_.live_bytes(), sizeof(orc));
        any = acre::make_unique<monster>(below_);
        EXPECT_EQ(any->strength, 1);
        // In two steps, and to const.
        acre::unique_ptr<orc, checking_upstream> middle = acre::make_unique<troll>(below_);
        acre::unique_ptr<const monster, checking_upstream> last = std::move(middle);
        any.reset();
        EXPECT_EQ(below_.live_bytes(), sizeof(troll));
        EXPECT_EQ(tracked::live, 1);
    }
    EXPECT_EQ(tracked::live, 0);
    EXPECT_EQ(below_.live_blocks(), 0u);
}

TEST_F(smart_ptr, of_a_derived_class_in_a_pool_of_its_class) {
    acre::object_pool<troll> pool;
    acre::multi_pool sizes;
    std::vector<acre::unique_ptr<monster, acre::multi_pool>> all;
    all.push_back(acre::make_unique<orc>(sizes));
    all.push_back(acre::make_unique<troll>(sizes));
    all.clear();
    EXPECT_EQ(sizes.live(), 0u);
    acre::unique_ptr<monster, acre::object_pool<troll>> one = acre::make_unique<troll>(pool);
    EXPECT_EQ(pool.live(), 1u);
    one.reset();
    EXPECT_EQ(pool.live(), 0u);
    EXPECT_EQ(tracked::live, 0);
}

TEST_F(smart_ptr, costs_a_word_more_where_a_derived_class_may_be_behind) {
    static_assert(sizeof(acre::unique_ptr<monster, acre::arena>) == 2 * sizeof(void*) + 8);
    static_assert(sizeof(acre::unique_ptr<troll, acre::arena>) == 2 * sizeof(void*));
    static_assert(sizeof(acre::unique_ptr<int, acre::arena>) == 2 * sizeof(void*));
}

TEST_F(smart_ptr, an_object_with_an_allocator_of_the_resource_gets_it) {
    using text = std::basic_string<char, std::char_traits<char>, acre::allocator<char, acre::arena>>;
    acre::arena level;
    const char* const words = "a text too long for the small buffer inside a string";
    auto one = acre::make_unique<text>(level, words);
    auto shared = acre::make_shared<text>(level, words);
    EXPECT_TRUE(level.owns(one->data()) && level.owns(shared->data()));
}

TEST_F(smart_ptr, shared_lives_with_its_last_owner) {
    std::weak_ptr<tracked> watching;
    {
        auto first = acre::make_shared<tracked>(below_, 1);
        watching = first;
        auto second = first;
        first.reset();
        EXPECT_EQ(tracked::live, 1);
        EXPECT_EQ(below_.live_blocks(), 1u);
    }
    EXPECT_EQ(tracked::live, 0);
    EXPECT_EQ(below_.live_blocks(), 1u) << "the counts stay while someone watches";
    watching.reset();
    EXPECT_EQ(below_.live_blocks(), 0u);
}

TEST_F(smart_ptr, work_over_an_object_pool_of_their_type) {
    acre::object_pool<tracked> pool{below_};
    {
        auto p = acre::make_unique<tracked>(pool, 3);
        EXPECT_EQ(pool.live(), 1u);
        EXPECT_TRUE(pool.owns(p.get()));
    }
    EXPECT_EQ(pool.live(), 0u);
    EXPECT_EQ(tracked::destroyed, std::vector<int>{3});
}

// Its create() refuses other classes; a unique_ptr to a base is correct, and destroys and frees the whole object.
TEST(smart_ptr_in_a_typed_arena, to_a_base) {
    struct beast {
        virtual ~beast() { ++ended(); }
        static int& ended() {
            static int count = 0;
            return count;
        }
    };
    struct warg : beast {
        ~warg() override { ended() += 10; }
        long axes[5] = {};
    };
    acre::typed_arena<warg, 4, acre::typed_arena_options{.reuse = true}> wargs;
    acre::unique_ptr<beast, decltype(wargs)> any = acre::make_unique<warg>(wargs);
    EXPECT_EQ(wargs.live(), 1u);
    any.reset();
    EXPECT_EQ(wargs.live(), 0u);
    EXPECT_EQ(beast::ended(), 11);
}

template <class R>
class shared_pool : public testing::Test {};
using shared_pools = testing::Types<acre::object_pool<tracked>, acre::concurrent_object_pool<tracked>,
                                    acre::statistics<acre::object_pool<tracked>>, acre::multi_pool,
                                    acre::concurrent_multi_pool, acre::chunk_pool<10, 16, 64, 128>, acre::arena>;
TYPED_TEST_SUITE(shared_pool, shared_pools);

TYPED_TEST(shared_pool, lives_with_the_last_pointer_into_it) {
    tracked::start();
    auto pool = std::make_shared<TypeParam>();
    const std::weak_ptr<TypeParam> watched = pool;
    std::shared_ptr<tracked> first = acre::make_shared<tracked>(pool, 7);
    std::shared_ptr<const tracked> other = acre::make_shared<const tracked>(pool, 8);
    pool.reset();
    EXPECT_FALSE(watched.expired());
    std::shared_ptr<tracked> copy = first;
    first.reset();
    EXPECT_EQ(copy->number() + other->number(), 15);
    other.reset();
    EXPECT_EQ(tracked::live, 1);
    EXPECT_FALSE(watched.expired());
    copy.reset();
    EXPECT_EQ(tracked::live, 0);
    EXPECT_TRUE(watched.expired());
    EXPECT_THROW(acre::make_shared<tracked>(std::shared_ptr<TypeParam>{}, 1), acre::bad_option);
}

TEST_F(smart_ptr, an_array_keeps_its_pool_alive) {
    auto pool = std::make_shared<acre::multi_pool>();
    const std::weak_ptr<acre::multi_pool> watched = pool;
    std::shared_ptr<int[]> numbers = acre::make_shared<int[]>(std::move(pool), std::size_t{100});
    EXPECT_EQ(numbers[99], 0);
    EXPECT_EQ(watched.lock()->live(), 1u);
    numbers.reset();
    EXPECT_TRUE(watched.expired());
}

}  // namespace
