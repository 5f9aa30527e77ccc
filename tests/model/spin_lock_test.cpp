// acre::spin_lock under every schedule: mutual exclusion, synchronisation, and no lost wake-up.
#include <acre/core/locks.hpp>

#include "model/expect.hpp"

namespace {

// Two forms: one that spins before it sleeps, and one that sleeps at once.
template <int Looks>
using lock_that_looks = acre::detail::sleeping_lock<model::atomic, Looks>;

template <int Looks>
struct counted {
    lock_that_looks<Looks> lock;
    model::plain<int> count{0, "count"};

    void enter() {
        lock.lock();
        count = count + 1;
        lock.unlock();
    }
};

TEST(model_spin_lock, two_threads_that_spin_before_they_sleep) {
    model::expect_holds([] {
        counted<2> shared;
        const auto twice = [&] {
            shared.enter();
            shared.enter();
        };
        model::threads([&] { shared.enter(); }, twice);
        model::check(shared.count == 3, "all entered");
    });
}

// With three threads one may sleep while another, which has slept, too, unlocks.
TEST(model_spin_lock, three_threads_that_sleep) {
    model::expect_holds([] {
        counted<0> shared;
        const auto enter = [&] { shared.enter(); };
        model::threads(enter, enter, enter);
        model::check(shared.count == 3, "all entered");
    });
}

TEST(model_spin_lock, a_try_beside_threads_that_sleep) {
    const model::result found = model::expect_holds([] {
        counted<0> shared;
        bool tried = false;
        model::threads([&] { shared.enter(); }, [&] { shared.enter(); },
                       [&] {
                           tried = shared.lock.try_lock();
                           if (!tried) return;
                           shared.count = shared.count + 1;
                           shared.lock.unlock();
                       });
        model::check(shared.count == (tried ? 3 : 2), "all that got the lock entered");
        model::check(shared.lock.try_lock(), "the lock is free");
    });
    EXPECT_EQ(found.final_states.size(), 2U);
}

}  // namespace
