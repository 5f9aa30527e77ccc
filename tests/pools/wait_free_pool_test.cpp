// acre::wait_free_object_pool and acre::wait_free_pool.
#include <acre/pools/wait_free_object_pool.hpp>

#include <gtest/gtest.h>

#include <acre/core/sanitizer.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/pools/wait_free_pool.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "conformance/refusal.hpp"
#include "threads/in_threads.hpp"

namespace {

using acre_test::checking_upstream;
using acre_test::in_threads;
using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::patterned_block;
using acre_test::refused_as;

template <std::size_t Slot, std::size_t Align = acre::natural_alignment(Slot)>
using slots_for = acre::wait_free_pool<Slot, Align>;
template <class T>
using objects_of = acre::wait_free_object_pool<T>;

const char* const long_text = "a text that is too long to lie in the string itself";

TEST(wait_free_pool, example) {
    objects_of<std::string> messages{{.slots = 100}};
    std::string* sent = messages.try_create("hello");
    std::thread{[&] { messages.destroy(sent); }}.join();
    EXPECT_EQ(messages.live(), 0u);

    slots_for<256, 64> frames{{.slots = 512}};
    void* p = frames.try_allocate();
    frames.deallocate(p);
}

template <class Pool>
std::set<void*> take_all(Pool& pool) {
    std::set<void*> taken;
    while (void* p = pool.try_allocate()) {
        EXPECT_TRUE(taken.insert(p).second) << "handed out twice";
        EXPECT_TRUE(pool.owns(p));
    }
    return taken;
}

// Hazard C2.
TEST(wait_free_pool, every_slot_is_used_and_used_again) {
    for (const std::size_t slots : {1u, 2u, 63u, 64u, 65u, 130u, 4096u, 4097u}) {
        SCOPED_TRACE(slots);
        slots_for<40> tested{{.slots = slots}};
        EXPECT_EQ(tested.capacity(), slots * 40);
        EXPECT_EQ(tested.live(), 0u);
        const std::set<void*> all = take_all(tested);
        EXPECT_EQ(all.size(), slots);
        EXPECT_EQ(tested.live(), slots);
        EXPECT_EQ(tested.used(), tested.capacity());
        EXPECT_EQ(outcome_of([&] { return tested.allocate(); }), refused_as(outcome::limit_exceeded));
        std::vector<void*> shuffled(all.begin(), all.end());
        std::shuffle(shuffled.begin(), shuffled.end(), std::minstd_rand{1});
        for (void* each : shuffled) {
            tested.deallocate(each);
            EXPECT_EQ(tested.allocate(), each) << "the only one that is free";
        }
        for (std::size_t i = 0; i < slots; ++i) {
            tested.deallocate(shuffled[i]);
            ASSERT_EQ(tested.live(), slots - i - 1);
        }
        EXPECT_EQ(take_all(tested), all);
        tested.reset();
        EXPECT_EQ(tested.live(), 0u);
        EXPECT_EQ(take_all(tested), all);
    }
}

TEST(wait_free_pool, what_came_back_goes_first) {
    slots_for<64> tested{{.slots = 200}};
    std::vector<void*> taken;
    for (int i = 0; i < 64; ++i) taken.push_back(tested.allocate());
    tested.deallocate(taken[7]);
    tested.deallocate(taken[3]);
    EXPECT_EQ(tested.allocate(), taken[3]);
    EXPECT_EQ(tested.allocate(), taken[7]);
}

TEST(wait_free_pool, matches_a_model) {
    slots_for<24, 4> tested{{.slots = 300}};
    std::minstd_rand random{1};
    std::vector<patterned_block> live;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        const bool more = random() % 1000 < (i / 5000 % 2 == 0 ? 600u : 400u);
        if (more) {
            void* p = tested.try_allocate();
            ASSERT_EQ(p == nullptr, live.size() == 300);
            if (p == nullptr) continue;
            live.push_back({p, 24, i});
            live.back().fill();
        } else if (!live.empty()) {
            std::swap(live[random() % live.size()], live.back());
            ASSERT_TRUE(live.back().is_whole());
            tested.deallocate(live.back().p);
            live.pop_back();
        }
        if (i % 1000 == 0) {
            ASSERT_EQ(tested.live(), live.size());
        }
    }
}

template <class Pool>
void expect_aligned(std::size_t alignment) {
    checking_upstream upstream;
    Pool tested{{.slots = 70}, upstream};
    EXPECT_GE(Pool::max_alignment, alignment);
    for (void* each : take_all(tested)) EXPECT_TRUE(acre::is_aligned(each, alignment)) << alignment;
}

// Hazards B3, N1.
// Hazards B3, N1.
TEST(wait_free_pool, alignments_are_honoured) {
    expect_aligned<slots_for<1>>(8);
    expect_aligned<slots_for<24, 4>>(8);
    expect_aligned<slots_for<48>>(16);
    expect_aligned<slots_for<64>>(64);
    expect_aligned<slots_for<100, 64>>(128);
    expect_aligned<slots_for<10, 4096>>(4096);
    expect_aligned<slots_for<8192, 8192>>(8192);
    struct alignas(128) wide {
        char bytes[128] = {};
    };
    expect_aligned<objects_of<wide>>(128);
}

TEST(wait_free_pool, what_no_slot_can_serve_is_refused) {
    checking_upstream upstream;
    slots_for<100, 4> tested{{.slots = 10}, upstream};
    std::string sentence;
    EXPECT_EQ(outcome_of([&] { return tested.allocate(101, 4); }, &sentence), refused_as(outcome::request_too_large));
    if (acre::exceptions_enabled) {
        EXPECT_EQ(sentence,
                  "acre::wait_free_pool: request too large: 101 bytes were asked for, at most 100 can be "
                  "served");
    }
    EXPECT_EQ(outcome_of([&] { return tested.allocate(8, 64); }), refused_as(outcome::bad_alignment));
    EXPECT_EQ(outcome_of([&] { return tested.allocate(8, 3); }), refused_as(outcome::bad_alignment));
    EXPECT_EQ(tested.try_allocate(101, 4), nullptr);
    EXPECT_EQ(tested.try_allocate(8, 64), nullptr);
    EXPECT_EQ(tested.live(), 0u);
    EXPECT_EQ(upstream.requests(), 1u);
}

TEST(wait_free_pool, the_error_says_what_is_full) {
    if (!acre::exceptions_enabled) GTEST_SKIP() << "nothing is thrown in this build";
    objects_of<std::array<char, 64>> tested{{.slots = 3}};
    take_all(tested);
    std::string sentence;
    EXPECT_EQ(outcome_of([&] { return tested.create(); }, &sentence), outcome::limit_exceeded);
    EXPECT_EQ(sentence,
              "acre::wait_free_object_pool: limit exceeded: 64 bytes more were needed, 192 of the limit of "
              "192 bytes "
              "are held");
}

TEST(wait_free_pool, required_bytes_are_exact) {
    using tested_type = slots_for<200, 8>;
    for (const std::size_t slots : {1u, 64u, 65u, 1000u, 4097u}) {
        checking_upstream upstream;
        {
            const tested_type tested{{.slots = slots}, upstream};
            EXPECT_EQ(upstream.sizes(), std::vector<std::size_t>{tested_type::required_bytes({.slots = slots})});
        }
        EXPECT_EQ(upstream.live_blocks(), 0u);
    }
    // The slots, two leaf words and one above, and one kept word: each on cache lines of its own.
    static_assert(acre::poisoning || slots_for<64>::required_bytes({.slots = 64}) == 64 * 64 + 64 + 8);
    static_assert(acre::poisoning || slots_for<64>::required_bytes({.slots = 1000}) == 1000 * 64 + 192 + 16 * 8);
    static acre::inline_buffer<tested_type::required_bytes({.slots = 100}), tested_type::required_alignment> storage;
    tested_type here{{.slots = 100}, storage};
    for (void* each : take_all(here)) EXPECT_TRUE(storage.owns(each));
    EXPECT_EQ(here.live(), 100u);
}

TEST(wait_free_pool, upstream_is_not_called_after_construction) {
    checking_upstream upstream;
    {
        slots_for<64> tested{{.slots = 500}, upstream};
        EXPECT_EQ(upstream.requests(), 1u);
        for (int round = 0; round < 3; ++round) {
            const std::set<void*> taken = take_all(tested);
            EXPECT_EQ(outcome_of([&] { return tested.allocate(); }), refused_as(outcome::limit_exceeded));
            EXPECT_NE(outcome_of([&] { return tested.allocate(10'000, 8); }), outcome::served);
            for (void* each : taken) tested.deallocate(each);
            tested.reset();
        }
        EXPECT_EQ(upstream.requests(), 1u);
        EXPECT_EQ(upstream.live_blocks(), 1u);
    }
    EXPECT_EQ(upstream.live_blocks(), 0u);
}

// Hazard B9.
TEST(wait_free_pool, construction_without_memory) {
    checking_upstream upstream;
    upstream.fail_at(1);
#if defined(__cpp_exceptions)
    EXPECT_THROW((slots_for<64>{{.slots = 10}, upstream}), acre::out_of_memory);
#else
    slots_for<64> tested{{.slots = 10}, upstream};
    EXPECT_EQ(tested.allocate(), nullptr);
    EXPECT_EQ(tested.try_allocate(64, 8), nullptr);
    EXPECT_EQ(tested.capacity() + tested.live() + tested.used(), 0u);
    EXPECT_FALSE(tested.owns(nullptr));
    EXPECT_FALSE(tested.owns(&tested));
    tested.deallocate(nullptr);
    tested.reset();
#endif
}

TEST(wait_free_pool, the_number_of_slots_must_be_one_that_can_be) {
    for (const std::size_t slots : {std::size_t{0}, slots_for<8>::max_slots + 1, SIZE_MAX}) {
#if defined(__cpp_exceptions)
        EXPECT_THROW((slots_for<8>{{.slots = slots}}), acre::bad_option);
#else
        EXPECT_DEATH((slots_for<8>{{.slots = slots}}), "bad option: .slots");
#endif
    }
    static_assert(slots_for<8>::max_slots == 16'777'216);
    static_assert(slots_for<acre::max_request / 1024, 8>::max_slots == 255);
}

// Hazard P4.
TEST(wait_free_pool, null_is_a_no_op) {
    slots_for<64> tested{{.slots = 1}};
    tested.deallocate(nullptr);
    tested.deallocate(nullptr, 100'000, 4096);
    objects_of<std::string> objects{{.slots = 1}};
    objects.destroy(nullptr);
    EXPECT_EQ(tested.live() + objects.live(), 0u);
}

// Hazards M8, N3: at once, wherever the slot is by then.
// Hazards M8, N3, P2.
TEST(wait_free_pool_misuse, a_double_free_is_reported_at_once) {
    constexpr const char* sentence = "acre::wait_free_pool: double free";
    slots_for<64> tested{{.slots = 200}};
    std::vector<void*> taken;
    for (int i = 0; i < 100; ++i) taken.push_back(tested.allocate());
    for (int i = 0; i < 64; ++i) tested.deallocate(taken[static_cast<std::size_t>(i)]);
    EXPECT_DEATH(tested.deallocate(taken[0]), sentence) << "came back";
    EXPECT_DEATH(tested.deallocate(taken[63]), sentence) << "came back";
    EXPECT_DEATH(std::thread([&] { tested.deallocate(taken[0]); }).join(), sentence) << "in another thread";
    // The rest of the current word, then the freed ones.
    for (int i = 0; i < 28; ++i) (void)tested.allocate();
    ASSERT_EQ(tested.allocate(), taken[0]);
    EXPECT_DEATH(tested.deallocate(taken[1]), sentence) << "the owner's by now";
    tested.deallocate(taken[0]);
    EXPECT_DEATH(tested.deallocate(taken[0]), sentence) << "came back again";
    auto* never = static_cast<std::byte*>(taken[0]) + 150 * 64;
    EXPECT_DEATH(tested.deallocate(never), "double free");
}

// Hazards C6, P2.
TEST(wait_free_pool_misuse, what_is_no_slot_of_the_pool_is_reported) {
    slots_for<64> one{{.slots = 10}};
    slots_for<64> other{{.slots = 10}};
    void* p = one.allocate();
    int elsewhere = 0;
    EXPECT_DEATH(other.deallocate(p), "acre::wait_free_pool: a pointer of another resource was freed");
    EXPECT_DEATH(other.deallocate(&elsewhere), "a pointer of another resource was freed");
    EXPECT_DEATH(one.deallocate(static_cast<std::byte*>(p) + 8), "a pointer into the middle of a slot was freed");
    EXPECT_DEATH(one.deallocate(static_cast<std::byte*>(p) + 640), "a pointer of another resource was freed")
        << "just past the slots";
    EXPECT_DEATH(one.deallocate(p, 65, 8), "freed with another size or alignment");
    one.deallocate(p);
}

// A destructor that ran would free the string's storage a second time.
// Hazards M8, C6.
TEST(wait_free_pool_misuse, no_destructor_runs_before_misuse_is_noticed) {
    objects_of<std::string> tested{{.slots = 10}};
    objects_of<std::string> other{{.slots = 10}};
    std::string* foreign = other.create(long_text);
    std::string* twice = tested.create(long_text);
    tested.destroy(twice);
    EXPECT_DEATH(tested.destroy(twice), "acre::wait_free_object_pool: double free");
    EXPECT_DEATH(tested.destroy(foreign), "acre::wait_free_object_pool: a pointer of another resource was freed");
}

#if defined(__cpp_exceptions)
// Hazard M10.
TEST(wait_free_pool, a_constructor_that_throws_keeps_nothing) {
    struct picky {
        explicit picky(bool refuse) {
            if (refuse) throw std::runtime_error{"no"};
        }
        std::string name = long_text;
    };
    objects_of<picky> tested{{.slots = 1}};
    EXPECT_THROW(tested.create(true), std::runtime_error);
    EXPECT_THROW(tested.try_create(true), std::runtime_error);
    EXPECT_EQ(tested.live(), 0u);
    EXPECT_NE(tested.try_create(false), nullptr);
    EXPECT_EQ(tested.try_create(true), nullptr) << "no slot, no constructor";
}
#endif

struct counted {
    explicit counted(int& count) : living(&count) { ++*living; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --*living; }
    int* living;
};

// Hazards X6, P11: what lives is destroyed once, what is free is not.
// Hazards X6, P11.
TEST(wait_free_pool, only_what_lives_is_destroyed) {
    int living = 0;
    {
        objects_of<counted> tested{{.slots = 1000}};
        std::vector<counted*> made;
        for (int i = 0; i < 900; ++i) made.push_back(tested.create(living));
        for (std::size_t i = 0; i < made.size(); i += 2) tested.destroy(made[i]);
        EXPECT_EQ(living, 450);
        tested.reset();
        EXPECT_EQ(living, 0);
        EXPECT_EQ(tested.live(), 0u);
        for (int i = 0; i < 300; ++i) tested.destroy(tested.create(living));
        for (int i = 0; i < 777; ++i) tested.create(living);
    }
    EXPECT_EQ(living, 0);
}

// A tree whose nodes destroy their children, in the pool that is ending.
struct node {
    node(objects_of<node>& pool, int depth, int& count) : home(pool), living(count) {
        ++living;
        for (auto& each : children) each = depth == 0 ? nullptr : home.create(home, depth - 1, count);
    }
    node(const node&) = delete;
    node& operator=(const node&) = delete;
    ~node() {
        --living;
        for (node* each : children) home.destroy(each);
    }
    objects_of<node>& home;
    int& living;
    std::array<node*, 3> children{};
};

// Hazard X6.
TEST(wait_free_pool, objects_may_destroy_others_at_the_end) {
    int living = 0;
    {
        objects_of<node> tested{{.slots = 500}};
        tested.create(tested, 5, living);
        tested.create(tested, 3, living);
        EXPECT_EQ(living, 364 + 40);
        tested.reset();
        EXPECT_EQ(living, 0);
        tested.create(tested, 4, living);
    }
    EXPECT_EQ(living, 0);
}

TEST(wait_free_pool, report_live_says_how_much) {
    testing::internal::CaptureStderr();
    {
        objects_of<std::string> tested{{.slots = 10, .report_live = true}};
        for (int i = 0; i < 3; ++i) tested.create(long_text);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "acre::wait_free_object_pool: 3 still live when it ended\n");
}

// Hazards N14, X7: what the owner writes lies in no cache line that others read.
// Hazards N14, X7.
TEST(wait_free_pool, owner_and_others_share_no_cache_line) {
    using tested = slots_for<24, 8>;
    static_assert(alignof(tested) == 64 && tested::required_alignment == 64);
    // 100 slots of 24 bytes end in the middle of a cache line.
    static_assert(acre::poisoning || tested::required_bytes({.slots = 100}) == 2432 + 64 + 16);
}

class wait_free_pool_threads : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(with, wait_free_pool_threads, testing::Values(1, 3, 15));

// Where the owner publishes slots for others to free.
class mailbox {
public:
    void put(const patterned_block& block) {
        const std::lock_guard lock{mutex_};
        blocks_.push_back(block);
    }
    bool take(patterned_block& block) {
        const std::lock_guard lock{mutex_};
        if (blocks_.empty()) return false;
        block = blocks_.front();
        blocks_.pop_front();
        return true;
    }

private:
    std::mutex mutex_;
    std::deque<patterned_block> blocks_;
};

// Hazard M20. One thread allocates, and frees now and then; others free, each what they find. What is free must be
// there for the owner as soon as it knows of it: they count what they gave back, and it relies on that count. Hazard
// M20.
TEST_P(wait_free_pool_threads, one_allocates_others_free) {
    constexpr std::size_t slots = 150;
    constexpr std::uint64_t count = 40'000;
    const std::size_t frees = GetParam();
    checking_upstream upstream;
    slots_for<40> tested{{.slots = slots}, upstream};
    std::vector<mailbox> mail(frees);
    std::atomic<std::uint64_t> freed{0};
    std::atomic<bool> over{false};
    in_threads(frees + 1, [&](std::size_t self) {
        patterned_block block{};
        if (self < frees) {
            const auto give_back_one = [&] {
                if (!mail[self].take(block)) return false;
                EXPECT_TRUE(block.is_whole()) << "another thread wrote here";
                tested.deallocate(block.p);
                freed.fetch_add(1, std::memory_order_release);
                return true;
            };
            while (!over.load(std::memory_order_acquire)) {
                if (!give_back_one()) std::this_thread::yield();
            }
            while (give_back_one()) {
            }
            return;
        }
        std::minstd_rand random{1};
        for (std::uint64_t taken = 0; taken < count;) {
            const std::uint64_t known_free = freed.load(std::memory_order_acquire);
            void* p = tested.try_allocate();
            if (p == nullptr) {
                // More if slots were freed and handed out again that are not counted yet.
                EXPECT_GE(taken - known_free, slots) << "a slot that was given back is not there";
                std::this_thread::yield();
                continue;
            }
            block = {p, 40, ++taken};
            block.fill();
            if (random() % 8 == 0) {
                EXPECT_TRUE(block.is_whole());
                tested.deallocate(p);
                freed.fetch_add(1, std::memory_order_release);
            } else {
                mail[random() % frees].put(block);
            }
        }
        over.store(true, std::memory_order_release);
    });
    EXPECT_EQ(freed, count);
    EXPECT_EQ(tested.live(), 0u);
    EXPECT_EQ(take_all(tested).size(), slots) << "a slot was lost";
    EXPECT_EQ(upstream.requests(), 1u);
}

// All slots, in three levels of words, freed by all threads at once, repeatedly.
// Hazard M20.
TEST_P(wait_free_pool_threads, all_slots_come_back) {
    constexpr std::size_t slots = 5000;
    slots_for<16> tested{{.slots = slots}};
    for (int round = 0; round < 10; ++round) {
        const std::set<void*> all = take_all(tested);
        ASSERT_EQ(all.size(), slots);
        std::vector<void*> shuffled(all.begin(), all.end());
        std::shuffle(shuffled.begin(), shuffled.end(), std::minstd_rand{static_cast<unsigned>(round) + 1});
        // Meanwhile the owner collects what it can.
        std::vector<std::set<void*>> taken(GetParam() + 1);
        in_threads(GetParam() + 1, [&](std::size_t self) {
            if (self == GetParam()) {
                for (int i = 0; i < 3000; ++i) {
                    if (void* p = tested.try_allocate()) taken[self].insert(p);
                }
                return;
            }
            for (std::size_t i = self; i < slots; i += GetParam()) tested.deallocate(shuffled[i]);
        });
        EXPECT_EQ(tested.live(), taken.back().size());
        for (void* each : taken.back()) tested.deallocate(each);
    }
    EXPECT_EQ(tested.live(), 0u);
}

// The threads are the owner one after the other.
TEST_P(wait_free_pool_threads, another_thread_may_go_on_allocating) {
    slots_for<64> tested{{.slots = 100}};
    std::vector<void*> taken;
    for (std::size_t thread = 0; thread < GetParam() + 1; ++thread) {
        std::thread{[&] {
            for (void* each : taken) tested.deallocate(each);
            taken.clear();
            while (void* p = tested.try_allocate()) taken.push_back(p);
        }}.join();
        EXPECT_EQ(taken.size(), 100u);
    }
}

// Hazard M21: what is asked while others go on is near the truth, and races with nobody.
TEST_P(wait_free_pool_threads, questions_beside_allocations) {
    slots_for<64> tested{{.slots = 300}};
    std::atomic<bool> over{false};
    std::thread asks{[&] {
        while (!over) {
            EXPECT_LE(tested.live(), 300u);
            EXPECT_EQ(tested.used() % 64, 0u);
            EXPECT_EQ(tested.capacity(), 300u * 64);
            EXPECT_FALSE(tested.owns(&over));
        }
    }};
    mailbox mail;
    std::atomic<bool> sent_all{false};
    in_threads(GetParam() + 1, [&](std::size_t self) {
        if (self == 0) {
            for (int i = 0; i < 20'000; ++i) {
                if (void* p = tested.try_allocate()) mail.put({p, 64, 0});
            }
            sent_all = true;
        }
        patterned_block block{};
        for (bool last = false; !last;) {
            last = sent_all;
            while (mail.take(block)) tested.deallocate(block.p);
        }
    });
    over = true;
    asks.join();
    EXPECT_EQ(tested.live(), 0u);
}

TEST(wait_free_pool_fork, the_child_goes_on) {
    slots_for<64> tested{{.slots = 100}};
    void* of_the_parent = tested.allocate();
    EXPECT_EQ(acre_test::in_child([&] {
                  tested.deallocate(of_the_parent);
                  return take_all(tested).size() == 100 && tested.live() == 100 ? 0 : 1;
              }),
              0);
    EXPECT_EQ(tested.live(), 1u);
    tested.deallocate(of_the_parent);
}

#if defined(ACRE_HAS_ADDRESS_SANITIZER)

void touch(const void* p) {
    (void)*static_cast<const volatile char*>(p);
}

// Hazard X11.
TEST(wait_free_pool_poison, freed_slots_and_slots_not_handed_out) {
    slots_for<60, 8> tested{{.slots = 100}};
    auto* p = static_cast<char*>(tested.allocate());
    touch(p + 59);
    EXPECT_DEATH(touch(p + 60), "use-after-poison") << "past its end";
    EXPECT_DEATH(touch(p + 64), "use-after-poison") << "the next slot";
    tested.deallocate(p);
    EXPECT_DEATH(touch(p), "use-after-poison");
    (void)tested.allocate();
    tested.reset();
    EXPECT_DEATH(touch(p + 64), "use-after-poison");
    ASSERT_EQ(tested.allocate(), p);
    touch(p + 59);
}

#endif

}  // namespace
