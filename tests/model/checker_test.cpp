// Tests of the checker: it finds planted errors, accepts correct code, and its reduction loses no final state.
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/expect.hpp"

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel;
constexpr auto seq_cst = std::memory_order_seq_cst;

using model::atomic;
using model::check;
using model::plain;

// Increments.

TEST(model_checker, finds_a_lost_update) {
    model::expect_fails(
        [] {
            atomic<int> count{0};
            const auto increment = [&] { count.store(count.load(seq_cst) + 1, seq_cst); };
            model::threads(increment, increment);
            check(count.load() == 2, "both count");
        },
        "check: both count");
}

TEST(model_checker, proves_fetch_add) {
    const model::result found = model::expect_holds([] {
        atomic<int> count{0};
        const auto increment = [&] { count.fetch_add(1, relaxed); };
        model::threads(increment, increment, increment);
        check(count.load(relaxed) == 3, "all count");
    });
    EXPECT_EQ(found.executions, 6U);
}

TEST(model_checker, proves_a_loop_of_compare_exchange) {
    model::expect_holds([] {
        atomic<int> count{0};
        const auto increment = [&] {
            int seen = count.load(relaxed);
            while (!count.compare_exchange_weak(seen, seen + 1, relaxed)) {
            }
        };
        model::threads(increment, increment, increment);
        check(count.load(relaxed) == 3, "all count");
    });
}

TEST(model_checker, compare_exchange_weak_fails_spuriously_if_told_to) {
    const auto once = [] {
        atomic<int> state{0};
        bool changed = false;
        model::threads([&] {
            int expected = 0;
            changed = state.compare_exchange_weak(expected, 1, relaxed);
        });
        check(changed, "changed");
    };
    model::expect_holds(once);
    model::expect_fails(once, "check: changed", {.spurious_failures = 1});
}

// Message passing: a payload and a flag.

std::function<void()> message(std::memory_order storing, std::memory_order loading) {
    return [=] {
        atomic<int> ready{0, "ready"};
        plain<int> payload{0, "payload"};
        model::threads(
            [&] {
                payload = 1;
                ready.store(1, storing);
            },
            [&] {
                if (ready.load(loading) == 1) check(payload == 1, "the payload is seen");
            });
    };
}

std::function<void()> atomic_message(std::memory_order storing, std::memory_order loading) {
    return [=] {
        atomic<int> ready{0, "ready"};
        atomic<int> payload{0, "payload"};
        model::threads(
            [&] {
                payload.store(1, relaxed);
                ready.store(1, storing);
            },
            [&] {
                if (ready.load(loading) == 1) check(payload.load(relaxed) == 1, "the payload is seen");
            });
    };
}

TEST(model_checker, proves_a_message) {
    for (const auto storing : {release, seq_cst}) {
        for (const auto loading : {acquire, seq_cst}) {
            model::expect_holds(message(storing, loading));
            model::expect_holds(atomic_message(storing, loading));
        }
    }
}

TEST(model_checker, finds_a_message_without_release_or_acquire) {
    for (const auto& [storing, loading] : {std::pair{relaxed, acquire}, {release, relaxed}, {relaxed, relaxed}}) {
        model::expect_fails(message(storing, loading), "data race: payload");
        model::expect_fails(atomic_message(storing, loading), "check: the payload is seen");
    }
}

TEST(model_checker, proves_a_message_by_fences) {
    const auto with = [](std::memory_order storing, std::memory_order loading) {
        return [=] {
            atomic<int> ready{0};
            plain<int> payload{0, "payload"};
            model::threads(
                [&] {
                    payload = 1;
                    model::fence(storing);
                    ready.store(1, relaxed);
                },
                [&] {
                    if (ready.load(relaxed) != 1) return;
                    model::fence(loading);
                    check(payload == 1, "the payload is seen");
                });
        };
    };
    model::expect_holds(with(release, acquire));
    model::expect_holds(with(seq_cst, seq_cst));
    model::expect_fails(with(acquire, acquire), "data race: payload");
    model::expect_fails(with(release, release), "data race: payload");
}

TEST(model_checker, finds_a_write_after_the_release) {
    model::expect_fails(
        [] {
            atomic<int> ready{0};
            plain<int> payload{0, "payload"};
            model::threads(
                [&] {
                    ready.store(1, release);
                    payload = 1;
                },
                [&] {
                    if (ready.load(acquire) == 1) payload = 2;
                });
        },
        "data race: payload is written");
}

TEST(model_checker, finds_a_read_that_is_overwritten) {
    model::expect_fails(
        [] {
            plain<int> payload{0, "payload"};
            atomic<int> step{0};
            model::threads(
                [&] {
                    step.load(acquire);
                    check(payload == 0, "nothing is written yet");
                    step.fetch_add(1, relaxed);
                },
                [&] {
                    if (step.load(acquire) == 1) payload = 1;
                });
        },
        "data race: payload is written");
}

// A relaxed read-modify-write continues a release sequence; a store does not.
std::function<void()> release_sequence(bool by_store) {
    return [=] {
        atomic<int> ready{0};
        plain<int> payload{0, "payload"};
        model::threads(
            [&] {
                payload = 1;
                ready.store(1, release);
            },
            [&] {
                if (!by_store)
                    ready.fetch_add(10, relaxed);
                else if (ready.load(relaxed) == 1)
                    ready.store(11, relaxed);
            },
            [&] {
                if (ready.load(acquire) == 11) check(payload == 1, "the payload is seen");
            });
    };
}

TEST(model_checker, accepts_a_release_sequence) {
    model::expect_holds(release_sequence(false));
    model::expect_fails(release_sequence(true), "data race: payload");
}

// Knowledge passes from thread to thread.
TEST(model_checker, happens_before_is_transitive) {
    model::expect_holds([] {
        atomic<int> first{0}, second{0};
        atomic<int> payload{0};
        model::threads(
            [&] {
                payload.store(1, relaxed);
                first.store(1, release);
            },
            [&] {
                if (first.load(acquire) == 1) second.store(1, release);
            },
            [&] {
                if (second.load(acquire) == 1) check(payload.load(relaxed) == 1, "the payload is seen");
            });
    });
}

// Coherence: no thread reads a store and then an older one.
TEST(model_checker, a_thread_never_goes_back) {
    const model::result found = model::expect_holds([] {
        atomic<int> value{0};
        model::threads(
            [&] {
                value.store(1, relaxed);
                value.store(2, relaxed);
            },
            [&] {
                const int before = value.load(relaxed);
                const int after = value.load(relaxed);
                check(before <= after, "not back");
                model::outcome(before * 10 + after);
            });
    });
    EXPECT_EQ(found.final_states.size(), 6U);  // 00 01 02 11 12 22
}

// The same for the load of a failed compare_exchange and of a wait.
TEST(model_checker, compare_exchange_and_wait_may_see_an_old_value) {
    const auto message_read_by = [](int (*read)(atomic<int>&)) {
        return [=] {
            atomic<int> ready{0}, payload{0};
            model::threads(
                [&] {
                    payload.store(1, relaxed);
                    payload.store(2, relaxed);
                    ready.store(1, relaxed);
                },
                [&] {
                    if (ready.load(relaxed) == 1) check(read(payload) == 2, "the payload is seen");
                });
        };
    };
    const auto fails = [](atomic<int>& payload) {
        int expected = 9;
        payload.compare_exchange_strong(expected, 10, relaxed);
        return expected;
    };
    const auto ends = [](atomic<int>& payload) {
        payload.wait(0, relaxed);
        return payload.load(relaxed);
    };
    model::expect_fails(message_read_by(fails), "check: the payload is seen");
    model::expect_fails(message_read_by(ends), "check: the payload is seen");
}

// Store buffering: each thread stores, then loads what the other stores.

enum class store_by { store, exchange };

std::function<void()> store_buffering(store_by how, std::memory_order storing, std::memory_order loading,
                                      bool fenced = false) {
    return [=] {
        atomic<int> x{0, "x"}, y{0, "y"};
        int seen_y = 0, seen_x = 0;
        const auto side = [=](atomic<int>& own, atomic<int>& other, int& seen) {
            if (how == store_by::store)
                own.store(1, storing);
            else
                own.exchange(1, storing);
            if (fenced) model::fence(seq_cst);
            seen = other.load(loading);
        };
        model::threads([&] { side(x, y, seen_y); }, [&] { side(y, x, seen_x); });
        check(seen_y + seen_x != 0, "one sees the other");
    };
}

TEST(model_checker, reaches_the_outcome_of_store_buffering) {
    model::expect_fails(store_buffering(store_by::store, relaxed, relaxed), "check: one sees the other");
    model::expect_fails(store_buffering(store_by::store, release, acquire), "check: one sees the other");
    model::expect_fails(store_buffering(store_by::exchange, acq_rel, acquire), "check: one sees the other");
    model::expect_fails(store_buffering(store_by::store, seq_cst, acquire), "check: one sees the other");
}

TEST(model_checker, seq_cst_orders_stores_and_loads) {
    model::expect_holds(store_buffering(store_by::store, seq_cst, seq_cst));
    model::expect_holds(store_buffering(store_by::exchange, seq_cst, seq_cst));
    model::expect_holds(store_buffering(store_by::store, relaxed, relaxed, true));
}

// Two threads may see two independent stores in different orders, unless all operations are seq_cst.
std::function<void()> independent_stores(std::memory_order storing, std::memory_order loading) {
    return [=] {
        atomic<int> x{0}, y{0};
        int first = 0, second = 0;
        model::threads([&] { x.store(1, storing); }, [&] { y.store(1, storing); },
                       [&] { first = x.load(loading) * 10 + y.load(loading); },
                       [&] { second = y.load(loading) * 10 + x.load(loading); });
        check(first != 10 || second != 10, "one order for all");
    };
}

TEST(model_checker, independent_stores_have_one_order_if_seq_cst) {
    model::expect_fails(independent_stores(release, acquire), "check: one order for all");
    model::expect_holds(independent_stores(seq_cst, seq_cst));
    model::expect_holds(independent_stores(release, seq_cst));
}

// A stack of indices: push and pop by compare_exchange on its head.

constexpr std::uint32_t none = 0xff;

struct tagged {
    std::uint32_t index;
    std::uint32_t tag;
    std::string text() const { return std::to_string(index) + "#" + std::to_string(tag); }
};

// With `Tags` other than 1 each change has a new tag.
template <std::uint32_t Tags>
class treiber_stack {
public:
    std::uint32_t pop() noexcept {
        tagged seen = head_.load(acquire);
        while (seen.index != none) {
            const std::uint32_t next = next_[seen.index].load(relaxed);
            if (head_.compare_exchange_weak(seen, {next, (seen.tag + 1) % Tags}, acquire, acquire)) return seen.index;
        }
        return none;
    }

    void push(std::uint32_t index) noexcept {
        tagged seen = head_.load(relaxed);
        do {
            next_[index].store(seen.index, relaxed);
        } while (!head_.compare_exchange_weak(seen, {index, (seen.tag + 1) % Tags}, release, relaxed));
    }

private:
    atomic<tagged> head_{{none, 0}, "head"};
    std::array<atomic<std::uint32_t>, 3> next_{};
};

template <std::uint32_t Tags>
void pop_beside_pop_and_push() {
    treiber_stack<Tags> stack;
    stack.push(1);
    stack.push(0);
    std::array<int, 2> owners{};
    std::uint32_t kept = none;
    model::threads([&] { kept = stack.pop(); },
                   [&] {
                       const std::uint32_t first = stack.pop();
                       const std::uint32_t second = stack.pop();
                       if (second != none) ++owners[second];
                       if (first != none) stack.push(first);
                   });
    if (kept != none) ++owners[kept];
    for (std::uint32_t left = stack.pop(); left != none; left = stack.pop()) ++owners[left];
    check(owners[0] == 1 && owners[1] == 1, "each index has one owner");
}

TEST(model_checker, finds_the_aba_of_a_stack_without_a_tag) {
    model::expect_fails(pop_beside_pop_and_push<1>, "check: each index has one owner");
}

TEST(model_checker, proves_a_stack_with_a_tag) {
    model::expect_holds(pop_beside_pop_and_push<1U << 31>);
}

// Waiting.

TEST(model_checker, proves_a_loop_that_yields) {
    model::expect_holds([] {
        atomic<int> ready{0};
        plain<int> payload{0};
        model::threads(
            [&] {
                payload = 1;
                ready.store(1, release);
            },
            [&] {
                while (ready.load(acquire) == 0) model::yield();
                check(payload == 1, "the payload is seen");
            });
    });
}

// A load after the wait may still be stale.
TEST(model_checker, a_yield_does_not_synchronise) {
    model::expect_fails(
        [] {
            atomic<int> ready{0}, payload{0};
            model::threads(
                [&] {
                    payload.store(1, relaxed);
                    ready.store(1, relaxed);
                },
                [&] {
                    while (ready.load(acquire) == 0) model::yield();
                    check(payload.load(relaxed) == 1, "the payload is seen");
                });
        },
        "check: the payload is seen");
}

TEST(model_checker, two_threads_that_spin_on_an_exchange_end) {
    model::expect_holds([] {
        atomic<int> held{0};
        plain<int> count{0};
        const auto enter = [&] {
            while (held.exchange(1, acquire) == 1) model::yield();
            count = count + 1;
            held.store(0, release);
        };
        model::threads(enter, enter, enter);
        check(count == 3, "all entered");
    });
}

TEST(model_checker, reports_a_deadlock) {
    model::expect_fails(
        [] {
            atomic<int> first{0}, second{0};
            const auto take = [](atomic<int>& lock) {
                while (lock.exchange(1, acquire) == 1) model::yield();
            };
            model::threads(
                [&] {
                    take(first);
                    take(second);
                    second.store(0, release);
                    first.store(0, release);
                },
                [&] {
                    take(second);
                    take(first);
                    first.store(0, release);
                    second.store(0, release);
                });
        },
        "deadlock");
}

// A flag with wait and notify.
std::function<void()> sleeper(bool told, bool to_all, int sleepers) {
    return [=] {
        atomic<int> ready{0};
        const auto sleep = [&] { ready.wait(0, acquire); };
        const auto wake = [&] {
            ready.store(1, release);
            if (told) to_all ? ready.notify_all() : ready.notify_one();
        };
        if (sleepers == 1)
            model::threads(sleep, wake);
        else
            model::threads(sleep, sleep, wake);
    };
}

TEST(model_checker, a_sleeper_must_be_notified) {
    model::expect_holds(sleeper(true, false, 1));
    model::expect_holds(sleeper(true, true, 2));
    model::expect_fails(sleeper(false, false, 1), "deadlock");
    model::expect_fails(sleeper(true, false, 2), "deadlock");
}

TEST(model_checker, a_notification_may_wake_any_one) {
    const model::result found = model::expect_holds([] {
        atomic<int> ready{0}, woken{0};
        const auto sleep = [&] {
            ready.wait(0, acquire);
            model::outcome(woken.fetch_add(1, relaxed));
            ready.notify_one();
        };
        model::threads(sleep, sleep, [&] {
            ready.store(1, release);
            ready.notify_one();
        });
    });
    EXPECT_EQ(found.final_states.size(), 2U);
}

TEST(model_checker, reports_an_endless_loop) {
    model::expect_fails(
        [] {
            atomic<int> ready{0};
            model::threads([&] { ready.store(1); },
                           [&] {
                               while (ready.load(acquire) == 0) {
                               }
                           });
        },
        "an endless loop?", {.max_steps = 200});
}

// Other failures.

TEST(model_checker, reports_exceptions) {
    model::expect_fails([] { model::threads([] { throw std::runtime_error("thrown"); }); }, "exception: thrown");
}

// A thread that is switched out while it handles an exception, or unwinds, keeps its own.
TEST(model_checker, exceptions_stay_in_their_threads) {
    model::expect_holds([] {
        atomic<int> count{0};
        const auto throwing = [&](const char* text) {
            struct counts {
                atomic<int>& count;
                ~counts() { count.fetch_add(1, relaxed); }
            };
            try {
                const counts one{count};
                throw std::runtime_error(text);
            } catch (const std::runtime_error& thrown) {
                count.fetch_add(1, relaxed);
                check(std::string(thrown.what()) == text && std::current_exception() != nullptr, "its own");
            }
            check(std::current_exception() == nullptr, "handled");
        };
        model::threads([=] { throwing("one"); }, [=] { throwing("other"); });
        check(count.load() == 4, "all counted");
    });
}

TEST(model_checker, finds_an_object_that_is_not_handed_over) {
    model::expect_fails(
        [] {
            atomic<atomic<int>*> made{nullptr, "made"};
            auto owner = std::make_unique<atomic<int>>(0, "inner");
            model::threads(
                [&] {
                    owner = std::make_unique<atomic<int>>(1, "inner");
                    made.store(owner.get(), relaxed);
                },
                [&] {
                    if (atomic<int>* const seen = made.load(relaxed)) seen->load(relaxed);
                });
        },
        "inner is used");
}

TEST(model_checker, finds_an_object_destroyed_too_early) {
    model::expect_fails(
        [] {
            atomic<int> done{0};
            auto shared = std::make_unique<atomic<int>>(0, "shared");
            model::threads(
                [&] {
                    shared->load(relaxed);
                    done.store(1, relaxed);
                },
                [&] {
                    if (done.load(relaxed) == 1) shared.reset();
                });
        },
        "shared is destroyed");
}

TEST(model_checker, reports_a_scenario_that_is_not_repeatable) {
    int runs = 0;
    const model::result found = model::explore([&] {
        atomic<int> value{0};
        const bool odd = runs++ % 2 != 0;
        model::threads([&] { value.store(1); },
                       [&] {
                           if (!odd) value.store(2);
                       });
    });
    EXPECT_EQ(found.failure.substr(0, 38), "the scenario is not the same each time");
}

TEST(model_checker, the_trace_tells_the_schedule) {
    const model::result found = model::explore(message(relaxed, acquire));
    EXPECT_NE(found.failure.find("thread 1  writes payload = 1"), std::string::npos) << found.failure;
    EXPECT_NE(found.failure.find("thread 1  store ready relaxed = 1"), std::string::npos) << found.failure;
    EXPECT_NE(found.failure.find("thread 2  load ready acquire gives 1"), std::string::npos) << found.failure;
}

TEST(model_checker, a_limit_of_executions_is_a_failure) {
    EXPECT_EQ(model::explore(release_sequence(false), {.max_executions = 3}).failure, "gave up: too many executions");
}

TEST(model_checker, preemptions_can_be_limited) {
    const auto lost_update = [] {
        atomic<int> count{0};
        const auto increment = [&] { count.store(count.load(seq_cst) + 1, seq_cst); };
        model::threads(increment, increment);
        check(count.load() == 2, "both count");
    };
    model::expect_holds(lost_update, {.preemptions = 0});
    model::expect_fails(lost_update, "check: both count", {.preemptions = 1});
}

// The reduction.

TEST(model_checker, independent_operations_are_explored_once) {
    const auto three_loads = [] {
        atomic<int> value{0};
        const auto load = [&] {
            for (int i = 0; i < 4; ++i) value.load(acquire);
        };
        model::threads(load, load, load);
    };
    EXPECT_EQ(model::expect_holds(three_loads).executions, 1U);
    const auto own_objects = [] {
        std::array<atomic<int>, 3> values;
        const auto count = [&](std::size_t own) {
            for (int i = 0; i < 4; ++i) values[own].fetch_add(1, acq_rel);
        };
        model::threads([&] { count(0); }, [&] { count(1); }, [&] { count(2); });
    };
    EXPECT_EQ(model::expect_holds(own_objects).executions, 1U);
}

// Random programs have the same final states, and fail or not alike, with and without the reduction.
class random_program {
public:
    explicit random_program(std::uint32_t seed) : random_(seed) {
        threads_.resize(2 + pick(2));
        for (auto& thread : threads_) {
            const std::uint32_t length = threads_.size() == 2 ? 2 + pick(3) : 1 + pick(2 + pick(2));
            for (std::uint32_t i = 0; i < length; ++i)
                thread.push_back({static_cast<action>(pick(8)), pick(2), 1 + pick(2), pick(3) == 0});
        }
    }

    void operator()() const {
        std::array<atomic<std::uint32_t>, 2> values;
        const auto run = [&](std::size_t thread) {
            return [&, thread] {
                for (const operation& each : threads_[thread]) perform(each, values[each.object]);
            };
        };
        if (threads_.size() == 2)
            model::threads(run(0), run(1));
        else
            model::threads(run(0), run(1), run(2));
    }

private:
    enum class action { load, store, add, exchange, compare, fence, wait, notify };

    struct operation {
        action what;
        std::uint32_t object;
        std::uint32_t value;
        bool total;
    };

    std::uint32_t pick(std::uint32_t count) { return static_cast<std::uint32_t>(random_()) % count; }

    static void perform(const operation& one, atomic<std::uint32_t>& value) {
        const auto order = [&](std::memory_order other) { return one.total ? seq_cst : other; };
        std::uint32_t expected = 0;
        switch (one.what) {
            case action::load:
                return model::outcome(value.load(order(acquire)));
            case action::store:
                return value.store(one.value, order(release));
            case action::add:
                return model::outcome(value.fetch_add(one.value, order(relaxed)));
            case action::exchange:
                return model::outcome(value.exchange(one.value, order(acq_rel)));
            case action::compare:
                value.compare_exchange_strong(expected, one.value, order(acq_rel));
                return model::outcome(expected);
            case action::fence:
                return model::fence(order(acq_rel));
            case action::wait:
                if (one.total) return value.wait(0, acquire);
                while (value.load(relaxed) == 0) model::yield();
                return;
            case action::notify:
                value.store(one.value, relaxed);
                return one.total ? value.notify_all() : value.notify_one();
        }
    }

    std::mt19937 random_;
    std::vector<std::vector<operation>> threads_;
};

TEST(model_checker, the_reduction_leaves_no_final_state_out) {
    constexpr std::uint32_t programs = 800;
    model::result reduced, unreduced;
    std::uint32_t failing = 0;
    std::uint32_t too_large = 0;
    for (std::uint32_t seed = 0; seed < programs; ++seed) {
        const random_program program{seed};
        const model::result all = model::explore(program, {.reduce = false, .max_executions = 5000});
        if (all.failure.starts_with("gave up")) {
            ++too_large;
            continue;
        }
        const model::result fewer = model::explore(program);
        ASSERT_EQ(fewer.failure.substr(0, 8), all.failure.substr(0, 8)) << "seed " << seed;
        if (all.failure.empty()) {
            ASSERT_EQ(fewer.final_states, all.final_states) << "seed " << seed;
        } else {
            ++failing;
        }
        reduced.executions += fewer.executions;
        reduced.redundant += fewer.redundant;
        unreduced.executions += all.executions;
    }
    std::printf(
        "model: %u random programs: %zu executions, %zu redundant, instead of %zu; %u deadlocks, %u too large\n",
        programs, reduced.executions, reduced.redundant, unreduced.executions, failing, too_large);
    EXPECT_LT((reduced.executions + reduced.redundant) * 4, unreduced.executions);
    EXPECT_GT(failing, 10U);
    EXPECT_LT(too_large, programs / 20);
}

}  // namespace
