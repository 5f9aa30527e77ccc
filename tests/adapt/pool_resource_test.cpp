// acre's drop-ins for the standard's pool resources, against the standard's rules. `scripts/foreign-tests` runs the
// tests that libstdc++ and libc++ have for theirs.
#include <acre/adapt/pool_resource.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <list>
#include <map>
#include <memory_resource>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "conformance/refusal.hpp"

namespace {

using acre::unsynchronized_pool_resource;

/// Counts requests, remembers the largest one, and throws what it is told to.
class recording_resource final : public std::pmr::memory_resource {
public:
    struct refused : std::bad_alloc {};

    std::size_t live = 0;
    std::size_t calls = 0;
    std::size_t largest = 0;
    bool refuses = false;

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        ++calls;
        if (refuses) throw refused{};
        void* p = std::pmr::new_delete_resource()->allocate(bytes, alignment);
        largest = std::max(largest, bytes);
        live += bytes;
        return p;
    }
    void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
        std::pmr::new_delete_resource()->deallocate(p, bytes, alignment);
        live -= bytes;
    }
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

// Compilers warn of requests that they see to be impossible.
std::size_t unseen(std::size_t bytes) {
    const volatile std::size_t hidden = bytes;
    return hidden;
}

TEST(pool_resource, example) {
    acre::unsynchronized_pool_resource nodes;
    std::pmr::map<int, int> m{&nodes};
    m[1] = 2;
    EXPECT_EQ(nodes.pool().live(), 1u);
    m.clear();
    EXPECT_EQ(nodes.pool().live(), 0u);
}

TEST(pool_resource, constructs_as_the_standards_does) {
    recording_resource below;
    recording_resource by_default;
    std::pmr::memory_resource* before = std::pmr::set_default_resource(&by_default);
    const std::pmr::pool_options options{1024, 128};
    EXPECT_EQ(unsynchronized_pool_resource{}.upstream_resource(), &by_default);
    EXPECT_EQ(unsynchronized_pool_resource{options}.upstream_resource(), &by_default);
    EXPECT_EQ(unsynchronized_pool_resource{&below}.upstream_resource(), &below);
    EXPECT_EQ((unsynchronized_pool_resource{options, &below}.upstream_resource()), &below);
    std::pmr::set_default_resource(before);
    EXPECT_EQ(below.calls + by_default.calls, 0u);
    static_assert(!std::is_copy_constructible_v<unsynchronized_pool_resource>);
    static_assert(!std::is_convertible_v<std::pmr::memory_resource*, unsynchronized_pool_resource>);
    static_assert(std::has_virtual_destructor_v<unsynchronized_pool_resource>);
}

TEST(pool_resource, says_which_options_it_uses) {
    const auto used = [](std::size_t blocks, std::size_t largest) {
        return unsynchronized_pool_resource{std::pmr::pool_options{blocks, largest}}.options();
    };
    EXPECT_EQ(used(0, 0).max_blocks_per_chunk, 32768u);
    EXPECT_EQ(used(0, 0).largest_required_pool_block, 8192u);
    EXPECT_EQ(used(1, 0).max_blocks_per_chunk, 512u);
    EXPECT_EQ(used(SIZE_MAX, 0).max_blocks_per_chunk, 32768u);
    EXPECT_EQ(used(2000, 0).max_blocks_per_chunk, 2000u);
    EXPECT_EQ(used(0, 1).largest_required_pool_block, 8u);
    EXPECT_EQ(used(0, 100).largest_required_pool_block, 104u);
    EXPECT_EQ(used(0, 129).largest_required_pool_block, 144u);
    EXPECT_EQ(used(0, SIZE_MAX).largest_required_pool_block, 8192u);
}

TEST(pool_resource, blocks_larger_than_the_largest_go_to_upstream_one_by_one) {
    recording_resource below;
    unsynchronized_pool_resource tested{{0, 128}, &below};
    void* pooled = tested.allocate(128, 8);
    EXPECT_EQ(below.calls, 1u);
    const std::size_t slabs = below.live;
    void* p = tested.allocate(129, 8);
    void* q = tested.allocate(8, 256);
    EXPECT_EQ(below.calls, 3u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(q) % 256, 0u);
    tested.deallocate(p, 129, 8);
    tested.deallocate(q, 8, 256);
    EXPECT_EQ(below.live, slabs);
    tested.deallocate(pooled, 128, 8);
    EXPECT_EQ(below.live, slabs);
    (void)tested.allocate(1000, 8);
    tested.release();
    EXPECT_EQ(below.live, 0u);
    EXPECT_EQ(tested.upstream_resource(), &below);
}

TEST(pool_resource, blocks_of_a_chunk_are_at_most_as_many_as_was_said) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}, std::size_t{512}, std::size_t{8192}}) {
        recording_resource below;
        unsynchronized_pool_resource tested{{600, 0}, &below};
        for (int i = 0; i < 20'000; ++i) (void)tested.allocate(bytes, 8);
        EXPECT_LE(below.largest / bytes, 600u) << bytes;
        recording_resource unlimited;
        unsynchronized_pool_resource other{&unlimited};
        for (int i = 0; i < 20'000; ++i) (void)other.allocate(bytes, 8);
        EXPECT_LE(unlimited.largest / bytes, other.options().max_blocks_per_chunk);
        EXPECT_GE(unlimited.largest, below.largest) << bytes;
        if (bytes == 8) {
            EXPECT_LT(unlimited.calls, below.calls);
        }
    }
}

TEST(pool_resource, zero_bytes_are_an_address_of_their_own) {
    recording_resource below;
    unsynchronized_pool_resource tested{{0, 64}, &below};
    void* one = tested.allocate(0, 8);
    void* other = tested.allocate(0, 8);
    void* aligned = tested.allocate(0, 1024);
    EXPECT_NE(one, other);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned) % 1024, 0u);
    tested.deallocate(one, 0, 8);
    tested.deallocate(other, 0, 8);
    tested.deallocate(aligned, 0, 1024);
    EXPECT_EQ(tested.pool().live(), 0u);
}

#if defined(__cpp_exceptions)
TEST(pool_resource, throws_what_upstream_throws) {
    recording_resource below;
    unsynchronized_pool_resource tested{{0, 256}, &below};
    below.refuses = true;
    EXPECT_THROW((void)tested.allocate(8, 8), recording_resource::refused);
    EXPECT_THROW((void)tested.allocate(1000, 8), recording_resource::refused);
    EXPECT_THROW((void)tested.allocate(unseen(SIZE_MAX - 1), 8), recording_resource::refused);
    EXPECT_THROW((void)tested.allocate(unseen(SIZE_MAX), 1024), recording_resource::refused);
    below.refuses = false;
    void* p = tested.allocate(8, 8);
    below.refuses = true;
    // The earlier exception is not thrown again.
    for (int i = 0; i < 100; ++i) EXPECT_NO_THROW(tested.deallocate(tested.allocate(8, 8), 8, 8));
    tested.deallocate(p, 8, 8);
}

// When upstream refuses a region, a single slab replaces it, and the exception of the refusal must not surface.
TEST(pool_resource, throws_nothing_that_upstream_threw_before) {
    struct refuses_much : std::pmr::memory_resource {
        struct too_much : std::exception {};
        std::size_t most = SIZE_MAX;
        void* do_allocate(std::size_t bytes, std::size_t alignment) override {
            if (bytes > most && bytes != SIZE_MAX) throw too_much{};
            if (bytes > most) throw std::bad_alloc{};
            return std::pmr::new_delete_resource()->allocate(bytes, alignment);
        }
        void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
            std::pmr::new_delete_resource()->deallocate(p, bytes, alignment);
        }
        bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
    } below;
    below.most = 16384;
    unsynchronized_pool_resource tested{&below};
    for (int i = 0; i < 30'000; ++i) (void)tested.allocate(64);
    EXPECT_EQ(tested.pool().try_allocate(5000), nullptr);
    EXPECT_THROW((void)tested.allocate(unseen(SIZE_MAX)), std::bad_alloc);
    EXPECT_THROW((void)tested.allocate(20'000), refuses_much::too_much);
}

TEST(pool_resource, an_alignment_that_is_none_is_refused_by_name) {
    unsynchronized_pool_resource tested;
    EXPECT_THROW((void)tested.allocate(8, unseen(24)), acre::bad_alignment);
    EXPECT_THROW((void)tested.allocate(8, unseen(0)), acre::bad_alignment);
}
#endif

// libstdc++'s pools align a block larger than its alignment only as far as its size is a multiple.
TEST(pool_resource, is_aligned_over_a_pool_that_is_not) {
    std::pmr::unsynchronized_pool_resource below;
    unsynchronized_pool_resource tested{{.largest_required_pool_block = 64}, &below};
    for (int i = 0; i < 8; ++i) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tested.allocate(30, 128)) % 128, 0u);
}

// Hazard X13.
TEST(pool_resource, what_it_holds_is_what_upstream_gave) {
    recording_resource below;
    acre::multi_pool tested{&below};
    (void)tested.allocate(8200, 65'536);
    (void)tested.allocate(100'001, 16);
    (void)tested.allocate(33, 8);
    EXPECT_EQ(tested.capacity(), below.live);
}

TEST(pool_resource, may_be_derived_from_as_the_standards) {
    struct counting : unsynchronized_pool_resource {
        using unsynchronized_pool_resource::unsynchronized_pool_resource;
        int calls = 0;
        void* do_allocate(std::size_t bytes, std::size_t alignment) override {
            ++calls;
            return unsynchronized_pool_resource::do_allocate(bytes, alignment);
        }
        void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
            ++calls;
            unsynchronized_pool_resource::do_deallocate(p, bytes, alignment);
        }
    } tested;
    std::pmr::memory_resource& face = tested;
    face.deallocate(face.allocate(0, 8), 0, 8);
    face.deallocate(face.allocate(24, 8), 24, 8);
    face.deallocate(face.allocate(100'000, 8), 100'000, 8);
    EXPECT_EQ(tested.calls, 6);
    EXPECT_EQ(tested.pool().live(), 0u);
}

TEST(synchronized_pool_resource, serves_threads_and_keeps_the_rules) {
    recording_resource below;
    {
        acre::synchronized_pool_resource tested{{600, 500}, &below};
        EXPECT_EQ(tested.options().largest_required_pool_block, 512u);
        EXPECT_EQ(tested.upstream_resource(), &below);
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&tested] {
                std::pmr::list<std::pmr::string> texts{&tested};
                for (std::size_t k = 0; k < 2000; ++k) {
                    texts.emplace_back(k % 800, 'x');
                    if (k % 3 == 0) texts.pop_front();
                }
                for (const auto& each : texts) EXPECT_EQ(each.find_first_not_of('x'), each.npos);
            });
        }
        for (std::thread& each : threads) each.join();
        EXPECT_EQ(tested.pool().live(), 0u);
        const std::size_t pooled = below.live;
        void* p = tested.allocate(513, 8);
        EXPECT_GT(below.live, pooled);
        tested.deallocate(p, 513, 8);
        EXPECT_EQ(below.live, pooled);
#if defined(__cpp_exceptions)
        below.refuses = true;
        EXPECT_THROW((void)tested.allocate(1000, 8), recording_resource::refused);
        below.refuses = false;
#endif
        tested.release();
        EXPECT_EQ(below.live, 0u);
        (void)tested.allocate(100, 8);
    }
    EXPECT_EQ(below.live, 0u);
}

TEST(pool_resource, serves_the_containers_of_std_pmr) {
    unsynchronized_pool_resource memory;
    std::pmr::unordered_map<int, std::pmr::string> names{&memory};
    std::pmr::list<std::pmr::vector<int>> lists{&memory};
    for (int i = 0; i < 2000; ++i) {
        names[i] = std::pmr::string(static_cast<std::size_t>(i % 100), 'x');
        lists.emplace_back(static_cast<std::size_t>(i % 300), i);
    }
    for (int i = 0; i < 2000; i += 2) names.erase(i);
    for (const auto& [key, name] : names) EXPECT_EQ(name.size(), static_cast<std::size_t>(key % 100));
    lists.clear();
    names.clear();
}

// Contents and alignment, over many sizes and alignments, with the options that make a difference.
TEST(pool_resource, blocks_are_apart_aligned_and_keep_what_is_written) {
    struct block {
        unsigned char* p;
        std::size_t bytes;
        std::size_t alignment;
        unsigned char mark;
    };
    for (const std::pmr::pool_options options : {std::pmr::pool_options{}, {512, 64}, {700, 1000}}) {
        recording_resource below;
        {
            unsynchronized_pool_resource tested{options, &below};
            std::mt19937 random{7};
            std::vector<block> live;
            for (int step = 0; step < 20'000; ++step) {
                if (live.size() < 200 || random() % 2 == 0) {
                    const std::size_t bytes = random() % (random() % 8 == 0 ? 20'000 : 300);
                    const std::size_t alignment = std::size_t{1} << random() % 9;
                    auto* p = static_cast<unsigned char*>(tested.allocate(bytes, alignment));
                    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignment, 0u);
                    live.push_back({p, bytes, alignment, static_cast<unsigned char>(random())});
                    std::memset(p, live.back().mark, bytes);
                } else {
                    std::swap(live[random() % live.size()], live.back());
                    const block& gone = live.back();
                    for (std::size_t i = 0; i < gone.bytes; ++i) ASSERT_EQ(gone.p[i], gone.mark);
                    tested.deallocate(gone.p, gone.bytes, gone.alignment);
                    live.pop_back();
                }
            }
        }
        EXPECT_EQ(below.live, 0u);
    }
}

// Hazard N3.
TEST(pool_resource_misuse, a_double_free_and_a_stranger_are_said_in_a_sentence) {
    unsynchronized_pool_resource tested;
    unsynchronized_pool_resource other;
    void* p = tested.allocate(24, 8);
    EXPECT_DEATH(other.deallocate(p, 24, 8), "another resource");
    tested.deallocate(p, 24, 8);
    EXPECT_DEATH(tested.deallocate(p, 24, 8), "double free");
    void* large = tested.allocate(10'000, 8);
    EXPECT_DEATH(tested.deallocate(large, 10'001, 8), "another size");
    tested.deallocate(large, 10'000, 8);
}

// Upstream keeps freed memory, so that it is still mapped.
// Hazard N3.
TEST(pool_resource_misuse, a_free_after_release_is_said) {
    std::pmr::monotonic_buffer_resource keeps;
    unsynchronized_pool_resource tested{&keeps};
    void* p = tested.allocate(64, 8);
    tested.release();
    EXPECT_DEATH(tested.deallocate(p, 64, 8), "another resource");
}

}  // namespace
