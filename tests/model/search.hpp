// Depth-first search in the tree of all schedules: the decision at each step of the current execution, and the
// alternatives left there. The next execution repeats the steps up to the last one with an alternative.
//
// The reduction is dynamic partial-order reduction by source sets, with sleep sets (ideas: Flanagan and Godefroid 2005;
// Abdulla, Aronsson, Jonsson and Sagonas 2014). One of the schedules that differ only in the order of independent
// operations is explored. For each race (two dependent operations whose order nothing between them decides), a thread
// that leads to the reverse order is tried at the first of the two. A thread that was tried sleeps until an operation
// depends on its own.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <vector>

#include "model/clock.hpp"
#include "model/limits.hpp"
#include "model/operation.hpp"
#include "model/options.hpp"

namespace model {

/// The next operation of each thread.
using pending_operations = std::array<operation, max_threads>;

/// All schedules, and the current one.
class search {
public:
    explicit search(const options& wanted) noexcept
        : reduces_(wanted.reduce && wanted.preemptions == unlimited), max_preemptions_(wanted.preemptions) {}

    /// Starts the current schedule again.
    void restart() noexcept {
        depth_ = 0;
        last_ = 0;
        redundant_ = false;
        diverged_ = false;
    }

    /// The thread, out of the non-empty set `enabled`, that takes the next step.
    std::size_t choose_thread(thread_set enabled, const pending_operations& pending) {
        if (depth_ < steps_.size()) {
            diverged_ |= steps_[depth_].enabled != enabled;
            last_ = steps_[depth_++].thread;
            return diverged_ ? default_thread(enabled) : last_;
        }
        return redundant_ ? default_thread(enabled) : choose_new(enabled, pending);
    }

    /// One of `count` outcomes of the step.
    std::size_t choose_way(std::size_t count) noexcept {
        if (redundant_ || diverged_) return 0;
        step& now = steps_[depth_ - 1];
        if (now.way == 0) now.ways = count;
        diverged_ |= now.ways != count;
        return diverged_ ? 0 : now.way;
    }

    /// True when the schedule is equivalent to one explored before.
    bool redundant() const noexcept { return redundant_; }
    /// True when the scenario behaved differently under the same schedule.
    bool diverged() const noexcept { return diverged_; }

    /// Continues with the next schedule; false when there is none.
    bool advance() {
        for (; !steps_.empty(); steps_.pop_back()) {
            step& last = steps_.back();
            if (++last.way < last.ways) return true;
            last.done |= only(last.thread);
            const thread_set untried = last.wanted & ~last.done & ~last.asleep;
            if (untried != 0) {
                take(static_cast<std::size_t>(std::countr_zero(untried)));
                return true;
            }
        }
        return false;
    }

private:
    struct step {
        thread_set enabled = 0;
        thread_set wanted = 0;  // to be tried here
        thread_set done = 0;    // tried here
        thread_set asleep = 0;  // tried before, and nothing dependent happened since
        std::size_t thread = 0;
        std::size_t way = 0, ways = 1;
        std::size_t preemptions = 0;  // before this step
        pending_operations pending;
        clock before{};  // for each thread the last step, from 1, that this one depends on; includes this step

        const operation& operation_taken() const noexcept { return pending[thread]; }
    };

    std::size_t default_thread(thread_set enabled) noexcept {
        if (!contains(enabled, last_)) last_ = static_cast<std::size_t>(std::countr_zero(enabled));
        return last_;
    }

    std::size_t choose_new(thread_set enabled, const pending_operations& pending) {
        step now{.enabled = enabled, .asleep = sleepers(), .preemptions = preemptions(), .pending = pending};
        const thread_set awake = enabled & ~now.asleep;
        if (awake == 0) {
            redundant_ = true;
            return default_thread(enabled);
        }
        const bool must_go_on = now.preemptions == max_preemptions_ && contains(enabled, last_);
        default_thread(awake);
        now.wanted = reduces_ || must_go_on ? only(last_) : awake;
        steps_.push_back(now);
        take(last_);
        ++depth_;
        return last_;
    }

    thread_set sleepers() const noexcept {
        if (!reduces_ || steps_.empty()) return 0;
        const step& last = steps_.back();
        thread_set asleep = 0;
        for (std::size_t thread = 1; thread < max_threads; ++thread) {
            if (contains(last.asleep | last.done, thread) && !depends(last.pending[thread], last.operation_taken()))
                asleep |= only(thread);
        }
        return asleep;
    }

    std::size_t preemptions() const noexcept {
        if (steps_.size() < 2) return 0;
        const step& last = steps_.back();
        const std::size_t before = steps_[steps_.size() - 2].thread;
        return last.preemptions + (last.thread != before && contains(last.enabled, before) ? 1 : 0);
    }

    // Lets `thread` take the last step.
    void take(std::size_t thread) {
        const std::size_t position = steps_.size() - 1;
        step& last = steps_.back();
        last.thread = thread;
        last.way = 0;
        last.ways = 1;
        last.before = before(thread, position);
        racing_.clear();
        for (std::size_t i = position; i-- > 0;) {
            const step& earlier = steps_[i];
            if (last.before[earlier.thread] > i || !depends(earlier.operation_taken(), last.operation_taken()))
                continue;
            last.before.join(earlier.before);
            racing_.push_back(i);
        }
        last.before[thread] = static_cast<std::uint32_t>(position + 1);
        if (!reduces_) return;
        for (const std::size_t i : racing_) want_reversed(i);
    }

    // The clock of the thread's last step before `position`.
    clock before(std::size_t thread, std::size_t position) const noexcept {
        for (std::size_t i = position; i-- > 0;) {
            if (steps_[i].thread == thread) return steps_[i].before;
        }
        return {};
    }

    bool is_before(std::size_t first, std::size_t second) const noexcept {
        return steps_[second].before[steps_[first].thread] > first;
    }

    // The last step races with step `first`: it could also come before it, after the steps in between that do not
    // depend on `first`. Adds to `wanted` one of the threads that can begin with these.
    void want_reversed(std::size_t first) {
        const std::size_t last = steps_.size() - 1;
        thread_set leading = 0;
        thread_set found = 0;
        free_.clear();
        for (std::size_t i = first + 1; i <= last; ++i) {
            if (i != last && is_before(first, i)) continue;
            const thread_set own = only(steps_[i].thread);
            const bool follows =
                std::any_of(free_.begin(), free_.end(), [&](std::size_t other) { return is_before(other, i); });
            if ((found & own) == 0 && !follows) leading |= own;
            found |= own;
            free_.push_back(i);
        }
        step& reversed = steps_[first];
        // A thread that `first` has enabled cannot come before it, unless another step enables it.
        if ((leading & ~reversed.enabled) != 0)
            reversed.wanted |= reversed.enabled;
        else if ((leading & (reversed.wanted | reversed.asleep)) == 0)
            reversed.wanted |= leading & (0 - leading);
    }

    bool reduces_;
    std::size_t max_preemptions_;
    std::vector<step> steps_;
    std::vector<std::size_t> racing_, free_;  // used by take and want_reversed
    std::size_t depth_ = 0;
    std::size_t last_ = 0;  // the thread that took the last step
    bool redundant_ = false;
    bool diverged_ = false;
};

}  // namespace model
