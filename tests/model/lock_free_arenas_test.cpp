// lock_free_arenas under every schedule: threads with and without an arena of their own, own and remote frees, threads
// that end.
//
// Each scenario checks that no byte has two owners: the owner writes every granule and verifies it at the free, and
// unsynchronised accesses are races. When everything is freed and the threads have detached, one thread can take every
// arena whole: none is lost or listed twice.
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
    static constexpr std::size_t granules() noexcept { return Arenas * Granules; }
    // Not of model::atomic: the marks order nothing, and would only add schedules.
    acre::detail::allocation_mark& mark_at(std::uintptr_t position) const noexcept {
        return const_cast<acre::detail::allocation_mark&>(
            marks_[(position - acre::detail::position_of(bytes_)) / granule]);
    }
    void clear_marks() noexcept {
        for (acre::detail::allocation_mark& each : marks_) each = acre::detail::marked::nothing;
    }

private:
    alignas(granule) std::byte bytes_[Arenas * Granules * granule];
    acre::detail::allocation_mark marks_[Arenas * Granules] = {};
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
            check(each == 0, "it is free");
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

    // For the end of a scenario, when one thread runs.
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

// A thread frees one of its blocks and detaches; another thread frees the rest.
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

// Three threads free the last allocations of a closed arena.
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

// The thread that takes the arena sees what all freeing threads did, not just the last.
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

// The same when closing the arena makes it free, after others freed everything.
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

// The owner needs room while another thread empties its arena: the owner reuses it or takes the next.
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

// Two attached threads exchange arenas through the free list.
TEST(concurrent_multi_arena_model, arenas_go_from_thread_to_thread) {
    model::expect_holds([] {
        arenas_under_test<3, 1, 2> tested;
        auto* one = tested.attach();
        auto* other = tested.attach();
        const auto filled = tested.take(one, 1);
        model::threads(
            [&] {
                // Its arena is full: it takes the next and closes one of the two.
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

// One shared arena: every request with room for it is served, whatever other threads do.
TEST(concurrent_multi_arena_model, threads_without_an_arena_share_the_only_one) {
    model::expect_holds([] {
        arenas_under_test<1, 2, 0> tested;
        // Once the front block is freed, there may be room only in front of the other one.
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

// The shared arena is full: each thread tries to replace it while its blocks are freed.
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

// An arena is shared, closed and shared again, while another thread may compare the count of the first time with the
// second.
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

// The last free rewinds the shared arena, while another thread allocates in it or frees, too.
TEST(concurrent_multi_arena_model, the_shared_arena_emptied_from_the_front_is_whole_again) {
    model::expect_holds([] {
        arenas_under_test<1, 2, 0> tested;
        const auto first = tested.take(nullptr, 1);
        const auto second = tested.take(nullptr, 1);
        model::threads(
            [&] {
                tested.give(nullptr, first);
                tested.give(nullptr, tested.take(nullptr, 1));
            },
            [&] { tested.give(nullptr, second); });
        const auto whole = tested.take(nullptr, 2);
        check(bool(whole), "nothing is live in it");
        tested.give(nullptr, whole);
        tested.expect_all_free();
    });
}

// No other arena is free: the owner takes the frees by another thread over while that frees on.
TEST(concurrent_multi_arena_model, frees_by_another_are_taken_over_by_the_owner) {
    model::expect_holds([] {
        arenas_under_test<2, 3, 1> tested;
        const auto shared = tested.take(nullptr, 3);
        auto* mine = tested.attach();
        const std::array sent{tested.take(mine, 1), tested.take(mine, 1)};
        const auto kept = tested.take(mine, 1);
        model::threads(
            [&] {
                check(!tested.take(mine, 1), "it is full, and so is the other one");
                tested.give(mine, kept);
                const auto more = tested.take(mine, 1);
                check(bool(more), "the last block's room at least");
                tested.give(mine, more);
                tested.detach(mine);
            },
            [&] {
                tested.give(nullptr, sent[0]);
                tested.give(nullptr, sent[1]);
            });
        tested.give(nullptr, shared);
        tested.expect_all_free();
    });
}

// The shared arena is replaced, freed and taken whole by a thread with another one, while a thread that found it full
// compares its count.
TEST(concurrent_multi_arena_model, what_was_shared_is_taken_by_a_thread_with_another_arena) {
    model::expect_holds([] {
        arenas_under_test<3, 2, 1> tested;
        using block = decltype(tested)::block;
        const block first = tested.take(nullptr, 2);
        auto* mine = tested.attach();
        const block kept = tested.take(mine, 1);
        block whole;
        block other;
        block late;
        model::threads(
            [&] {
                whole = tested.take(nullptr, 2);
                tested.give(nullptr, first);
                other = tested.take(mine, 2);
            },
            [&] { late = tested.take(nullptr, 1); });
        for (const block& each : {whole, other, late}) tested.give(nullptr, each);
        tested.give(mine, kept);
        tested.detach(mine);
        tested.expect_all_free();
    });
}

// A thread with an arena of its own, and one without that frees blocks of the first.
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
