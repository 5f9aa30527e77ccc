// Hazards Y1, Y2: arenas that free singly notice what does not belong to a live allocation, in every build, and say
// which mistake it is. Each refused call has a twin with the right arguments, which is served.
#include <gtest/gtest.h>

#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

// A type of arenas, made on the heap: 8 of 1 KiB.
template <class Arenas>
struct makes;
template <>
struct makes<acre::multi_arena> {
    static auto one() { return std::make_unique<acre::multi_arena>(acre::multi_arena_options{8, 1024}); }
};
template <>
struct makes<acre::concurrent_multi_arena> {
    static auto one() {
        return std::make_unique<acre::concurrent_multi_arena>(acre::concurrent_multi_arena_options{8, 1024});
    }
};
using inline_arenas = acre::inline_multi_arena<8, 1024>;
using inline_concurrent_arenas = acre::inline_concurrent_multi_arena<8, 1024>;
template <>
struct makes<inline_arenas> {
    static auto one() { return std::make_unique<inline_arenas>(); }
};
template <>
struct makes<inline_concurrent_arenas> {
    static auto one() { return std::make_unique<inline_concurrent_arenas>(); }
};

template <class Arenas>
class arenas_misuse : public testing::Test {
protected:
    // What is printed when `p` is freed.
    // Not written as a sum: g++ 12 warns of an overflow in std::string's own code.
    static std::string said(const char* mistake) {
        std::string sentence{Arenas::name};
        sentence += ": ";
        sentence += mistake;
        return sentence;
    }

    std::unique_ptr<Arenas> owner_ = makes<Arenas>::one();
    Arenas& tested_ = *owner_;
};
using all_arenas =
    testing::Types<acre::multi_arena, inline_arenas, acre::concurrent_multi_arena, inline_concurrent_arenas>;
TYPED_TEST_SUITE(arenas_misuse, all_arenas);

TYPED_TEST(arenas_misuse, freed_twice_with_another_free_between) {
    auto& tested = this->tested_;
    void* a = tested.allocate(64);
    void* b = tested.allocate(64);
    void* kept = tested.allocate(64);
    tested.deallocate(a, 64);
    tested.deallocate(b, 64);
    EXPECT_DEATH(tested.deallocate(a, 64), this->said("double free"));
    EXPECT_DEATH(tested.deallocate(b, 64), this->said("double free"));
    tested.deallocate(kept, 64);
    EXPECT_DEATH(tested.deallocate(a, 64), this->said("double free")) << "the arena is empty";
    EXPECT_EQ(tested.allocations(), 0u);
}

TYPED_TEST(arenas_misuse, freed_twice_by_another_thread) {
    auto& tested = this->tested_;
    void* a = tested.allocate(64);
    void* kept = tested.allocate(64);
    tested.deallocate(a, 64);
    EXPECT_DEATH(std::thread([&] { tested.deallocate(a, 64); }).join(), this->said("double free"));
    tested.deallocate(kept, 64);
}

TYPED_TEST(arenas_misuse, of_zero_bytes) {
    auto& tested = this->tested_;
    void* a = tested.allocate(0);
    void* kept = tested.allocate(0);
    tested.deallocate(a, 0);
    EXPECT_DEATH(tested.deallocate(a, 0), this->said("double free"));
    tested.deallocate(kept, 0);
    tested.deallocate(nullptr, 64);
}

TYPED_TEST(arenas_misuse, a_pointer_into_the_middle) {
    auto& tested = this->tested_;
    auto* p = static_cast<char*>(tested.allocate(256));
    void* kept = tested.allocate(64);
    for (const std::size_t offset : {1u, 8u, 16u, 32u, 128u, 255u}) {
        EXPECT_DEATH(tested.deallocate(p + offset, 256 - offset), this->said("a pointer into the middle")) << offset;
    }
    EXPECT_DEATH((void)tested.try_resize(p + 32, 64, 32),
                 this->said("a pointer into the middle of an allocation was resized"));
    tested.deallocate(p, 256);
    tested.deallocate(kept, 64);
}

TYPED_TEST(arenas_misuse, a_pointer_of_another_resource) {
    auto& tested = this->tested_;
    const auto other = makes<TypeParam>::one();
    void* mine = tested.allocate(64);
    void* foreign = other->allocate(64);
    int local = 0;
    EXPECT_DEATH(tested.deallocate(foreign, 64), this->said("a pointer of another resource was freed"));
    EXPECT_DEATH(tested.deallocate(&local, sizeof local), this->said("a pointer of another resource was freed"));
    EXPECT_DEATH((void)tested.try_resize(foreign, 64, 32), this->said("a pointer of another resource was resized"));
    tested.deallocate(mine, 64);
    other->deallocate(foreign, 64);
}

// With a larger size, the last allocation's free would take back those before it, too.
TYPED_TEST(arenas_misuse, another_size) {
    auto& tested = this->tested_;
    void* a = tested.allocate(64);
    void* b = tested.allocate(64);
    for (const std::size_t bytes : {16u, 48u, 65u, 128u, 1024u, 5000u}) {
        EXPECT_DEATH(tested.deallocate(a, bytes), this->said("freed with another size")) << bytes;
        EXPECT_DEATH(tested.deallocate(b, bytes), this->said("freed with another size")) << bytes;
    }
    EXPECT_DEATH((void)tested.try_resize(a, 128, 64), this->said("resized with another size"));
    tested.deallocate(b, 64);
    tested.deallocate(a, 64);
}

TYPED_TEST(arenas_misuse, resized_after_its_free) {
    auto& tested = this->tested_;
    void* a = tested.allocate(64);
    void* kept = tested.allocate(64);
    tested.deallocate(a, 64);
    EXPECT_DEATH((void)tested.try_resize(a, 64, 32), this->said("used after it was freed"));
    tested.deallocate(kept, 64);
    EXPECT_DEATH((void)tested.try_resize(kept, 64, 32), this->said("used after it was freed")) << "the arena is empty";
}

TYPED_TEST(arenas_misuse, the_size_before_a_resize) {
    auto& tested = this->tested_;
    void* shrunk = tested.allocate(128);
    EXPECT_TRUE(tested.try_resize(shrunk, 128, 32));
    EXPECT_DEATH(tested.deallocate(shrunk, 128), this->said("freed with another size"));
    EXPECT_TRUE(tested.try_resize(shrunk, 32, 256));
    EXPECT_DEATH(tested.deallocate(shrunk, 32), this->said("freed with another size"));
    void* behind = tested.allocate(16);
    EXPECT_TRUE(tested.try_resize(shrunk, 256, 64));
    EXPECT_DEATH(tested.deallocate(shrunk, 256), this->said("freed with another size"));
    tested.deallocate(shrunk, 64);
    tested.deallocate(behind, 16);
}

TYPED_TEST(arenas_misuse, freed_after_a_reset) {
    auto& tested = this->tested_;
    void* a = tested.allocate(64);
    void* b = tested.allocate(64);
    tested.reset();
    EXPECT_DEATH(tested.deallocate(a, 64), this->said("double free"));
    EXPECT_EQ(tested.allocate(64), a);
    EXPECT_DEATH(tested.deallocate(b, 64), this->said("a pointer into the middle of an allocation"));
    tested.deallocate(a, 64);
}

// Frees of all kinds in many orders are no misuse: marks of earlier allocations do not disturb later ones.
TYPED_TEST(arenas_misuse, no_misuse_is_seen_where_there_is_none) {
    auto& tested = this->tested_;
    std::vector<std::pair<void*, std::size_t>> live;
    std::size_t state = 1;
    for (int i = 0; i < 20'000; ++i) {
        state = state * 1664525 + 1013904223;
        const std::size_t bytes = state / 65536 % 300;
        const std::size_t alignment = std::size_t{1} << state / 7 % 8;
        if (void* p = tested.try_allocate(bytes, alignment)) live.emplace_back(p, bytes);
        while (live.size() > 20 || (i % 500 == 0 && !live.empty())) {
            std::swap(live[state / 3 % live.size()], live.back());
            tested.deallocate(live.back().first, live.back().second);
            live.pop_back();
        }
    }
    for (const auto& each : live) tested.deallocate(each.first, each.second);
    EXPECT_EQ(tested.allocations(), 0u);
}

TEST(multi_arena_misuse, of_a_run_of_arenas) {
    acre::multi_arena tested{{.arenas = 8, .bytes = 1024, .large = acre::large_requests::take_run}};
    auto* run = static_cast<char*>(tested.allocate(3000));
    EXPECT_DEATH(tested.deallocate(run, 100), "freed with another size");
    EXPECT_DEATH(tested.deallocate(run + 16, 2984), "a pointer into the middle");
    EXPECT_TRUE(tested.try_resize(run, 3000, 500));
    EXPECT_DEATH(tested.deallocate(run, 3000), "freed with another size");
    tested.deallocate(run, 500);
    run = static_cast<char*>(tested.allocate(3000));
    tested.deallocate(run, 3000);
    EXPECT_DEATH(tested.deallocate(run, 3000), "double free");
}

}  // namespace
