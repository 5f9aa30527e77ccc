// Runs a scenario under every schedule, with every value that each load may return, and reports the first failure.
//
//     const model::result found = model::explore([] {
//         model::atomic<int> ready{0, "ready"};
//         model::plain<int> payload{0, "payload"};
//         model::threads([&] { payload = 1; ready.store(1, std::memory_order_release); },
//                        [&] { if (ready.load(std::memory_order_acquire) == 1) model::check(payload == 1, "seen"); });
//     });
//
// The scenario makes its objects, runs its threads once, and checks the result. It is repeated for each schedule, so it
// must be deterministic: no clock, no random numbers, no dependence on addresses or earlier runs. All threads are
// fibers of one system thread: they share thread_local data, and must not hold a system lock across an operation of a
// model::atomic.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>

#include "model/atomic.hpp"
#include "model/execution.hpp"
#include "model/options.hpp"
#include "model/plain.hpp"
#include "model/search.hpp"

namespace model {

/// The result of a search.
struct result {
    std::string failure;                 // empty, or the first failure and its schedule
    std::size_t executions = 0;          // distinct ones
    std::size_t redundant = 0;           // abandoned as equivalent to another
    std::size_t steps = 0;               // of all executions
    std::set<std::string> final_states;  // values of all objects, and the outcomes
};

/// Runs the functions in parallel as threads 1, 2, ...; returns when all have ended. Once in a scenario.
template <class... Bodies>
void threads(Bodies... bodies) {
    execution::current()->run_threads({std::function<void()>(bodies)...});
}

/// Unless `holds`, the search ends and reports the text.
inline void check(bool holds, const char* text) {
    if (!holds) execution::current()->fail(std::string("check: ") + text);
}

/// For loops that wait for a store of another thread. When it returns, a value loaded since the last yield has changed.
inline void yield() {
    execution::current()->yield();
}

/// std::atomic_thread_fence.
inline void fence(std::memory_order order) {
    execution::current()->fence(order);
}

/// Adds a value to the final state, for result::final_states.
template <class T>
void outcome(const T& value) {
    execution::current()->add_outcome(text_of(value));
}

inline result explore(const std::function<void()>& scenario, const options& limits = {}) {
    search schedules{limits};
    execution::stacks fibers;
    result found;
    do {
        schedules.restart();
        execution one{schedules, limits, fibers, false};
        one.run(scenario);
        found.steps += one.steps();
        ++(schedules.redundant() ? found.redundant : found.executions);
        if (!one.failure().empty()) {
            // Repeated for the trace.
            schedules.restart();
            execution traced{schedules, limits, fibers, true};
            traced.run(scenario);
            found.failure = traced.failure().empty() ? "the scenario is not the same each time" : traced.failure();
            return found;
        }
        found.final_states.insert(one.final_state());
        if (found.executions + found.redundant >= limits.max_executions) {
            found.failure = "gave up: too many executions";
            return found;
        }
    } while (schedules.advance());
    return found;
}

}  // namespace model
