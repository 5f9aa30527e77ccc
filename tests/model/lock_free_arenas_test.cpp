// The code of acre::concurrent_multi_arena under every schedule: threads with an arena of their own and without, frees
// by those who allocated and by others, threads that end.
//
// What is checked in each: no byte belongs to two (every granule of a block is written by its owner, seen whole at the
// free, and any access that no order of atomics covers is a race); when all is freed, and the threads have left, one
// thread can take every arena whole, each once: none is lost, none is listed twice.
#include <acre/arenas/detail/lock_free_arenas.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "model/expect.hpp"

namespace {

using model::check;

constexpr std::size_t granule = 16;

// `Arenas` arenas of `Granules` granules, and thread arenas for `Threads` threads.
template <std::size_t Arenas, std::size_t Granules, std::size_t Threads>
class model_storage {
protected:
    static constexpr const char* name = "model";
    static constexpr std::size_t max_alignment = granule;

public:
    static constexpr std::size_t arenas() noexcept { return Arenas; }
    static constexpr std::size_t arena_bytes() noexcept { return Granules * granule; }

protected:
    std::byte* bytes() const noexcept { return const_cast<std::byte*>(bytes_); }
    auto* records() const noexcept {
        return const_cast<acre::detail::shared_arena_record<model::atomic>*>(records_.data());
    }
    auto* thread_arenas() const noexcept {
        return const_cast<acre::detail::thread_arena<model::atomic>*>(thread_arenas_.data());
    }
    static constexpr std::size_t max_thread_arenas() noexcept { return Threads; }
    static constexpr std::size_t index_of(std::size_t offset) noexcept { return offset / arena_bytes(); }

private:
    alignas(granule) std::byte bytes_[Arenas * Granules * granule];
    std::array<acre::detail::shared_arena_record<model::atomic>, Arenas> records_;
    std::array<acre::detail::thread_arena<model::atomic>, Threads == 0 ? 1 : Threads> thread_arenas_;
};

template <std::size_t Arenas, std::size_t Granules, std::size_t Threads>
class arenas_under_test : acre::detail::lock_free_arenas<model_storage<Arenas, Granules, Threads>, model::atomic> {
    using base = acre::detail::lock_free_arenas<model_storage<Arenas, Granules, Threads>, model::atomic>;

public:
    using typename base::thread_arena;
    struct block {
        std::size_t first = SIZE_MAX;  // granule; SIZE_MAX: none
        std::size_t granules = 0;
        explicit operator bool() const noexcept { return first != SIZE_MAX; }
    };

    thread_arena* attach() { return base::attach(); }
    void detach(thread_arena* left) {
        if (left != nullptr) base::detach(*left);
    }

    block take(thread_arena* mine, std::size_t granules) {
        void* p = nullptr;
        if (mine == nullptr || !base::place_in_own(*mine, granules * granule, p)) {
            p = base::place_slow(mine, granules * granule, granule);
        }
        if (p == nullptr) return {};
        const block taken{static_cast<std::size_t>(static_cast<std::byte*>(p) - this->bytes()) / granule, granules};
        for (std::size_t i = 0; i < granules; ++i) {
            model::plain<int>& each = owned_[taken.first + i];
            check(each == 0, "it is nobody's");
            each = 1;
        }
        return taken;
    }
    void give(thread_arena* mine, const block& given) {
        if (!given) return;
        for (std::size_t i = 0; i < given.granules; ++i) {
            model::plain<int>& each = owned_[given.first + i];
            check(each == 1, "it is still its owner's");
            each = 0;
        }
        base::give_back(mine, this->bytes() + given.first * granule, given.granules * granule);
    }

    // For the thread that runs alone at the end.
    void expect_all_free() {
        check(this->allocations() == 0, "nothing lives");
        check(this->busy_arenas() == 0, "no arena is busy");
        thread_arena* mine = attach();
        std::size_t whole = 0;
        while (take(mine, Granules)) ++whole;
        check(whole == Arenas, "every arena is free");
    }

private:
    std::array<model::plain<int>, Arenas * Granules> owned_;
};

// One thread frees what it has in its open arena and ends; another frees the rest of it.
TEST(concurrent_multi_arena_model, a_thread_ends_while_another_frees_in_its_arena) {
    model::expect_holds([] {
        arenas_under_test<2, 2, 1> tested;
        auto* mine = tested.attach();
        const auto kept = tested.take(mine, 1);
        const auto sent = tested.take(mine, 1);
        model::threads(
            [&] {
                tested.give(mine, kept);
                tested.detach(mine);
            },
            [&] { tested.give(nullptr, sent); });
        tested.expect_all_free();
    });
}

// A closed arena, whose last allocations three threads free.
TEST(concurrent_multi_arena_model, three_threads_free_the_last_of_an_arena) {
    model::expect_holds([] {
        arenas_under_test<2, 3, 1> tested;
        auto* mine = tested.attach();
        const std::array sent{tested.take(mine, 1), tested.take(mine, 1), tested.take(mine, 1)};
        tested.detach(mine);
        const auto give = [&](std::size_t which) { return [&, which] { tested.give(nullptr, sent[which]); }; };
        model::threads(give(0), give(1), give(2));
        tested.expect_all_free();
    });
}

// Who takes the arena sees what all that freed in it did, not just the last.
TEST(concurrent_multi_arena_model, what_two_threads_free_a_third_takes) {
    model::expect_holds([] {
        arenas_under_test<2, 2, 1> tested;
        auto* mine = tested.attach();
        const std::array sent{tested.take(mine, 1), tested.take(mine, 1)};
        tested.detach(mine);
        const auto give = [&](std::size_t which) { return [&, which] { tested.give(nullptr, sent[which]); }; };
        model::threads(give(0), give(1), [&] {
            auto* part = tested.attach();
            const auto taken = tested.take(part, 2);
            check(bool(taken), "the other arena at least");
            tested.give(part, taken);
            tested.detach(part);
        });
        tested.expect_all_free();
    });
}

// The same where its thread closes it: after others freed what was left.
TEST(concurrent_multi_arena_model, what_is_closed_empty_another_thread_takes) {
    model::expect_holds([] {
        arenas_under_test<2, 2, 2> tested;
        auto* mine = tested.attach();
        const auto sent = tested.take(mine, 1);
        model::threads([&] { tested.detach(mine); }, [&] { tested.give(nullptr, sent); },
                       [&] {
                           auto* part = tested.attach();
                           const auto taken = tested.take(part, 2);
                           tested.give(part, taken);
                           tested.detach(part);
                       });
        tested.expect_all_free();
    });
}

// The owner needs room while another thread frees what fills its arena: it begins again, or takes the next.
TEST(concurrent_multi_arena_model, the_open_arena_is_freed_empty_while_its_thread_needs_room) {
    model::expect_holds([] {
        arenas_under_test<3, 2, 1> tested;
        auto* mine = tested.attach();
        const auto first = tested.take(mine, 1);
        const auto second = tested.take(mine, 1);
        model::threads(
            [&] {
                const auto more = tested.take(mine, 2);
                check(bool(more), "there are three arenas");
                tested.give(mine, more);
                tested.detach(mine);
            },
            [&] {
                tested.give(nullptr, first);
                tested.give(nullptr, second);
            });
        tested.expect_all_free();
    });
}

// Two threads with parts exchange arenas through the list: what one has freed, the other takes.
TEST(concurrent_multi_arena_model, arenas_go_from_thread_to_thread) {
    model::expect_holds([] {
        arenas_under_test<3, 1, 2> tested;
        auto* one = tested.attach();
        auto* other = tested.attach();
        const auto filled = tested.take(one, 1);
        model::threads(
            [&] {
                // Its arena is full: it takes the next, and closes one of them.
                const auto more = tested.take(one, 1);
                check(bool(more), "there are three arenas");
                tested.give(one, filled);
                tested.give(one, more);
            },
            [&] {
                const auto taken = tested.take(other, 1);
                tested.give(other, taken);
                tested.detach(other);
            });
        tested.detach(one);
        tested.expect_all_free();
    });
}

// One arena for all: every request that there is room for is served, whatever the others are about to do.
TEST(concurrent_multi_arena_model, threads_without_an_arena_share_the_only_one) {
    model::expect_holds([] {
        arenas_under_test<1, 2, 0> tested;
        // Beside the other's block there may be room at the front alone, once that is freed.
        const auto work = [&] { tested.give(nullptr, tested.take(nullptr, 1)); };
        model::threads(
            [&] {
                work();
                work();
            },
            work);
        tested.expect_all_free();
    });
}

TEST(concurrent_multi_arena_model, one_for_each_is_always_served) {
    model::expect_holds([] {
        arenas_under_test<1, 2, 0> tested;
        const auto work = [&] {
            const auto taken = tested.take(nullptr, 1);
            check(bool(taken), "there is room for both");
            tested.give(nullptr, taken);
        };
        model::threads(work, work);
        tested.expect_all_free();
    });
}

// The shared arena is full: each thread is about to put the next there, while what fills it is freed.
TEST(concurrent_multi_arena_model, the_shared_arena_is_replaced_by_one_of_several) {
    model::expect_holds([] {
        arenas_under_test<3, 1, 0> tested;
        using block = decltype(tested)::block;
        const block first = tested.take(nullptr, 1);
        block one;
        block other;
        model::threads(
            [&] {
                one = tested.take(nullptr, 1);
                tested.give(nullptr, first);
            },
            [&] { other = tested.take(nullptr, 1); });
        check(one && other, "there is an arena for each");
        tested.give(nullptr, one);
        tested.give(nullptr, other);
        tested.expect_all_free();
    });
}

// An arena is shared, closed, and shared again, beside a thread that might take the count of the first time for that of
// the second.
TEST(concurrent_multi_arena_model, what_was_freed_the_last_time_does_not_count) {
    model::expect_holds([] {
        arenas_under_test<2, 2, 0> tested;
        using block = decltype(tested)::block;
        const block first = tested.take(nullptr, 1);
        const block second = tested.take(nullptr, 1);
        tested.give(nullptr, first);
        block whole;
        block again;
        block other;
        model::threads(
            [&] {
                whole = tested.take(nullptr, 2);
                tested.give(nullptr, second);
                again = tested.take(nullptr, 1);
            },
            [&] { other = tested.take(nullptr, 2); });
        for (const block& each : {whole, again, other}) tested.give(nullptr, each);
        tested.expect_all_free();
    });
}

// A thread with an arena of its own beside one without, which frees what the first sends.
TEST(concurrent_multi_arena_model, own_and_shared_arenas_side_by_side) {
    model::expect_holds([] {
        arenas_under_test<2, 1, 1> tested;
        model::atomic<std::size_t> sent{SIZE_MAX, "sent"};
        model::threads(
            [&] {
                auto* mine = tested.attach();
                const auto taken = tested.take(mine, 1);
                if (taken) sent.store(taken.first, std::memory_order_release);
                tested.detach(mine);
            },
            [&] {
                const auto taken = tested.take(nullptr, 1);
                const auto more = tested.take(nullptr, 1);
                tested.give(nullptr, taken);
                tested.give(nullptr, more);
                const std::size_t received = sent.load(std::memory_order_acquire);
                if (received == SIZE_MAX) return;
                tested.give(nullptr, {received, 1});
                sent.store(SIZE_MAX, std::memory_order_relaxed);
            });
        if (sent.load(std::memory_order_relaxed) != SIZE_MAX) tested.give(nullptr, {sent, 1});
        tested.expect_all_free();
    });
}

}  // namespace
