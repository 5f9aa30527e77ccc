// One execution of a scenario: its threads, which take turns as the search decides, and the memory model between them.
//
// Every atomic keeps all of its stores. A load may read any store that coherence and happens-before allow. An acquire
// gets the knowledge that the store released. Read-modify-writes read the newest store and continue its release
// sequence. Plain data are checked for races by vector clocks.
//
// Simplifications of the C++ memory model: the modification order of an atomic is the order in which its stores are
// executed, and no load reads a later store (no load buffering). Outcomes that need either are not found. The total
// order of seq_cst operations is the order of execution: such an operation sees at least what the last seq_cst
// operation on its object saw or wrote, and fences follow [atomics.order]. consume counts as acquire.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/fiber.hpp"
#include "model/knowledge.hpp"
#include "model/limits.hpp"
#include "model/operation.hpp"
#include "model/options.hpp"
#include "model/search.hpp"
#include "model/text.hpp"

namespace model {

constexpr bool acquires(std::memory_order order) noexcept {
    return order != std::memory_order_relaxed && order != std::memory_order_release;
}
constexpr bool releases(std::memory_order order) noexcept {
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}

/// The state behind model::atomic, model::plain and the functions of explore.hpp.
class execution {
public:
    using stacks = std::array<fiber, max_threads>;

    execution(search& schedules, const options& limits, stacks& fibers, bool traced)
        : search_(schedules), limits_(limits), fibers_(fibers), traced_(traced) {
        threads_[0].alive = true;
        threads_[0].known.time[0] = 1;
    }
    execution(const execution&) = delete;
    execution& operator=(const execution&) = delete;

    /// The running execution; null outside of explore().
    static execution* current() noexcept { return current_; }

    /// Runs the scenario until it ends or fails. After a failure its threads are abandoned and their resources leak,
    /// since noexcept code cannot be unwound.
    void run(const std::function<void()>& scenario) {
        scenario_ = &scenario;
        current_ = this;
        fibers_[0].prepare(run_scenario);
        caller_.switch_to(fibers_[0]);
        current_ = nullptr;
    }

    const std::string& failure() const noexcept { return failure_; }
    const std::string& final_state() const noexcept { return final_state_; }
    std::size_t steps() const noexcept { return steps_; }

    // Called by the scenario.

    /// Runs `bodies` as threads 1, 2, ... and returns when all have ended.
    void run_threads(std::vector<std::function<void()>> bodies) {
        if (!bodies_.empty() || active_ != 0) fail("model::threads was called twice");
        if (bodies.empty() || bodies.size() >= max_threads) fail("a scenario has 1 to 4 threads");
        bodies_ = std::move(bodies);
        for (std::size_t i = 1; i <= bodies_.size(); ++i) {
            threads_[i].alive = true;
            threads_[i].known = threads_[0].known;
            threads_[i].known.time[i] = 1;
            fibers_[i].prepare(run_thread);
        }
        hand_over(next());
        for (std::size_t i = 1; i <= bodies_.size(); ++i) threads_[0].known.join(threads_[i].known);
        note_final_state();
    }

    /// Ends the execution.
    [[noreturn]] void fail(const std::string& why) {
        failure_ = why + " (thread " + std::to_string(active_) + ")";
        if (traced_) failure_ += "\n" + trace_;
        fiber abandoned;
        abandoned.switch_to(caller_);
        std::terminate();
    }

    bool traced() const noexcept { return traced_; }
    void trace(const std::string& line) {
        trace_ += "  " + std::to_string(steps_) + "\tthread " + std::to_string(active_) + "  " + line + "\n";
    }

    /// Adds `text` to the final state.
    void add_outcome(const std::string& text) {
        threads_[active_].outcome += text + " ";
        if (traced_) trace("outcome " + text);
    }

    // Called by atomics.

    struct description {
        const void* value;
        std::string (*text)(const void*);
        bool in_final_state;
    };

    object_id add_object(const char* name, const description& how) {
        if (objects_.size() == max_objects) fail("too many atomics and plain objects in one execution");
        const auto id = static_cast<object_id>(objects_.size());
        objects_.push_back({.name = name, .how = how, .maker = active_, .made = own_time()});
        return id;
    }

    void remove_object(object_id id) {
        object& removed = objects_[id];
        const std::size_t user = threads_[active_].known.time.first_unknown_of(removed.used);
        if (user != max_threads)
            fail(name_of(id) + " is destroyed, and what thread " + std::to_string(user) +
                 " did with it does not happen before");
        removed.alive = false;
    }

    /// Waits until it is this thread's turn for the operation.
    void take_turn(const operation& coming) {
        if (coming.object != no_object) use(coming.object);
        if (active_ == 0) return;
        threads_[active_].pending = coming;
        hand_over(next());
        if (++steps_ > limits_.max_steps) fail("an endless loop? The execution has too many steps");
    }

    /// The oldest store that the thread may read.
    std::size_t oldest_readable(object_id id, std::memory_order order) const noexcept {
        std::size_t oldest = threads_[active_].known.readable[id];
        if (order == std::memory_order_seq_cst) oldest = std::max(oldest, total_order_[id]);
        const std::size_t newest = objects_[id].stores.size() - 1;
        if (newest > limits_.stale_stores) oldest = std::max(oldest, newest - limits_.stale_stores);
        return oldest;
    }

    /// Chooses one of `ways` continuations; the search tries each.
    std::size_t choose(std::size_t ways) {
        const std::size_t way = ways == 1 || active_ == 0 ? 0 : search_.choose_way(ways);
        if (search_.diverged()) fail("the scenario is not the same each time");
        return way;
    }

    bool may_fail_spuriously() const noexcept { return spurious_failures_ < limits_.spurious_failures; }
    void count_spurious_failure() noexcept { ++spurious_failures_; }

    /// Records that the thread read this store.
    void read(object_id id, std::size_t position, std::memory_order order) {
        thread& own = threads_[active_];
        own.known.readable.raise(id, position);
        const knowledge& released = objects_[id].stores[position].released;
        (acquires(order) ? own.known : own.acquirable).join(released);
        if (order == std::memory_order_seq_cst) total_order_.raise(id, position);
        watch(id, position);
    }

    /// Records a store. `changes`: the value differs from the one before.
    void add_store(object_id id, std::memory_order order, bool changes) { add(id, order, changes, nullptr); }
    /// The same for a read-modify-write, which continues the release sequence.
    void add_replacement(object_id id, std::memory_order order, bool changes) {
        add(id, order, changes, &objects_[id].stores.back().released);
    }

    void fence(std::memory_order order) {
        thread& own = threads_[active_];
        if (order == std::memory_order_seq_cst) take_turn({.what = kind::fence, .order = order});
        if (acquires(order)) own.known.join(own.acquirable);
        if (order == std::memory_order_seq_cst) {
            own.known.readable.join(total_order_);
            total_order_.join(own.known.readable);
        }
        if (releases(order)) {
            own.released = own.known;
            ++own.known.time[active_];
        }
        if (traced_) trace(std::string("fence ") + text_of(order));
    }

    // Waiting.

    /// Returns when a load made since the last yield could return another value, and makes one such load do so.
    void yield() {
        thread& own = threads_[active_];
        operation coming{.what = kind::yield};
        for (const watched& each : own.watching) coming.watched.set(each.object);
        take_turn(coming);
        std::vector<watched> changed;
        for (const watched& each : own.watching) {
            const std::size_t other = first_change_after(each);
            if (other != 0) changed.push_back({each.object, other});
        }
        if (changed.empty()) fail("model::yield outside of a thread");
        const watched& seen = changed[choose(changed.size())];
        own.known.readable.raise(seen.object, seen.position);
        own.watching.clear();
        if (traced_) trace("yields, will see " + name_of(seen.object));
    }

    /// Suspends the thread until it is notified.
    void sleep(object_id id) {
        if (active_ == 0) fail("deadlock: nobody is left who could wake the scenario");
        threads_[active_].sleeps_on = id;
    }

    void notify(object_id id, bool all) {
        std::vector<std::size_t> sleepers;
        for (std::size_t i = 1; i < max_threads; ++i) {
            if (threads_[i].sleeps_on == id) sleepers.push_back(i);
        }
        if (!all && !sleepers.empty()) sleepers = {sleepers[choose(sleepers.size())]};
        for (const std::size_t each : sleepers) threads_[each].sleeps_on = no_object;
        if (traced_) {
            std::string line = all ? "notify_all " : "notify_one ";
            line += name_of(id) + ", wakes";
            for (const std::size_t each : sleepers) line += " thread " + std::to_string(each);
            trace(sleepers.empty() ? line + " nobody" : line);
        }
    }

    // Called by plain objects.

    struct plain_log {
        clock reads, writes;
    };

    void check_plain(object_id id, plain_log& log, bool writes) {
        use(id);
        const clock& known = threads_[active_].known.time;
        check_race(id, writes, known.first_unknown_of(log.writes), "wrote");
        if (writes) check_race(id, writes, known.first_unknown_of(log.reads), "read");
        (writes ? log.writes : log.reads)[active_] = own_time();
    }

    std::string name_of(object_id id) const {
        const object& named = objects_[id];
        return named.name != nullptr ? named.name : "object " + std::to_string(id);
    }

private:
    struct store {
        knowledge released;  // what an acquire of it learns
        bool changes;        // the value differs from the one before
    };

    struct object {
        const char* name = nullptr;
        description how;
        std::size_t maker = 0;
        std::uint32_t made = 0;
        clock used{};
        std::vector<store> stores{};
        bool alive = true;
    };

    struct watched {
        object_id object;
        std::size_t position;
    };

    struct thread {
        bool alive = false;
        bool started = false;
        operation pending;
        knowledge known;
        knowledge acquirable;  // what relaxed loads have read, for an acquire fence
        knowledge released;    // at the last release fence, for relaxed stores
        object_id sleeps_on = no_object;
        std::vector<watched> watching;  // reads since the last yield
        std::string outcome;
    };

    static void run_scenario() { current_->run_body(*current_->scenario_); }

    static void run_thread() {
        execution& all = *current_;
        all.run_body(all.bodies_[all.active_ - 1]);
    }

    void run_body(const std::function<void()>& body) {
        try {
            body();
        } catch (const std::exception& thrown) {
            fail(std::string("exception: ") + thrown.what());
        } catch (...) {
            fail("exception");
        }
        threads_[active_].alive = false;
        if (active_ == 0) {
            for (const thread& each : threads_) final_state_ += each.outcome;
            fibers_[0].switch_to(caller_);
        }
        hand_over(next());
    }

    void hand_over(std::size_t to) {
        if (to == active_) return;
        fiber& from = fibers_[active_];
        active_ = to;
        from.switch_to(fibers_[to]);
    }

    // The next thread; thread 0, the scenario, when all have ended.
    std::size_t next() {
        bool ended = true;
        thread_set enabled = 0;
        for (std::size_t i = 1; i <= bodies_.size(); ++i) {
            thread& each = threads_[i];
            if (!std::exchange(each.started, true)) return i;
            ended &= !each.alive;
            if (each.alive && can_go_on(each)) enabled |= only(i);
            pending_[i] = each.pending;
        }
        if (ended) return 0;
        if (enabled == 0) fail("deadlock: every thread waits for another one");
        const std::size_t chosen = search_.choose_thread(enabled, pending_);
        if (search_.diverged()) fail("the scenario is not the same each time");
        return chosen;
    }

    bool can_go_on(const thread& one) const noexcept {
        if (one.sleeps_on != no_object) return false;
        if (one.pending.what != kind::yield) return true;
        return std::any_of(one.watching.begin(), one.watching.end(),
                           [this](const watched& each) { return first_change_after(each) != 0; });
    }

    std::size_t first_change_after(const watched& seen) const noexcept {
        const std::vector<store>& stores = objects_[seen.object].stores;
        for (std::size_t i = seen.position + 1; i < stores.size(); ++i) {
            if (stores[i].changes) return i;
        }
        return 0;
    }

    void watch(object_id id, std::size_t position) {
        std::vector<watched>& watching = threads_[active_].watching;
        const auto found =
            std::find_if(watching.begin(), watching.end(), [id](const watched& each) { return each.object == id; });
        if (found == watching.end())
            watching.push_back({id, position});
        else
            found->position = position;
    }

    void add(object_id id, std::memory_order order, bool changes, const knowledge* replaced) {
        thread& own = threads_[active_];
        object& changed = objects_[id];
        const std::size_t position = changed.stores.size();
        own.known.readable.raise(id, position);
        if (order == std::memory_order_seq_cst) total_order_.raise(id, position);
        store added{releases(order) ? own.known : own.released, changes};
        if (replaced != nullptr) added.released.join(*replaced);
        changed.stores.push_back(std::move(added));
        // Later actions of the thread are not part of the release.
        ++own.known.time[active_];
        watch(id, position);
    }

    std::uint32_t own_time() const noexcept { return threads_[active_].known.time[active_]; }

    void use(object_id id) {
        object& used = objects_[id];
        if (threads_[active_].known.time[used.maker] < used.made)
            fail(name_of(id) + " is used, and its construction by thread " + std::to_string(used.maker) +
                 " does not happen before");
        used.used[active_] = own_time();
    }

    void check_race(object_id id, bool writes, std::size_t other, const char* did) {
        if (other == max_threads) return;
        fail("data race: " + name_of(id) + (writes ? " is written" : " is read") + ", and that thread " +
             std::to_string(other) + " " + did + " it does not happen before");
    }

    void note_final_state() {
        for (const object& each : objects_) {
            if (each.alive && each.how.in_final_state) final_state_ += each.how.text(each.how.value) + " ";
        }
    }

    static inline execution* current_ = nullptr;

    search& search_;
    const options& limits_;
    stacks& fibers_;
    const bool traced_;
    fiber caller_;
    const std::function<void()>* scenario_ = nullptr;
    std::vector<std::function<void()>> bodies_;
    std::array<thread, max_threads> threads_{};
    pending_operations pending_{};
    std::size_t active_ = 0;
    std::vector<object> objects_;
    floors total_order_;
    std::size_t steps_ = 0;
    std::size_t spurious_failures_ = 0;
    std::string failure_, trace_, final_state_;
};

}  // namespace model
