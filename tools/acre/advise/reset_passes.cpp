#include "reset_passes.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace acre::tool {

namespace {

class reset_study {
public:
    reset_study(const history& run, const call_paths& paths, std::uint32_t function, const context_set& set,
                std::span<const std::uint32_t> last_frees)
        : run_{run},
          paths_{paths},
          function_{function},
          is_member_(run.contexts().size()),
          lived_on_(run.contexts().size()),
          threads_(run.threads()) {
        for (const std::uint32_t context : set) is_member_[context] = true;
        for (const std::uint32_t stack : last_frees) {
            const position at = position_of(stack, paths.free_node(stack));
            if (at.call != no_stack) reset_frames_.insert(paths.frame_of(at.call));
            resets_at_end_ = resets_at_end_ || at.is_at_end;
        }
    }

    void pass(const recorded_event& each) {
        const allocation_context& context = run_.contexts()[each.context];
        // Where a free happened that may be another thread's is not known.
        const bool is_known = each.allocates || !context.crosses_threads;
        thread_state& thread = threads_[each.thread];
        if (is_known) {
            const std::uint32_t stack = each.allocates ? context.stack : each.stack;
            move(thread, known_position(stack, each.allocates ? context.node : paths_.free_node(stack)));
        }
        if (!is_member_[each.context]) return;
        pass_reset(thread, each.allocates);
        count(thread, each);
    }

    reset_passes finish() {
        for (std::uint32_t i = 0; i < lived_on_.size(); ++i) {
            if (lived_on_[i]) passes_.lived_on.push_back(i);
        }
        return std::move(passes_);
    }

private:
    /// Where in the function a thread is.
    struct position {
        std::uint32_t call = no_stack;    // the function's own, in the trace's tree
        std::uint32_t caller = no_stack;  // the call of the function
        bool is_at_end = false;           // the function jumped to free as its last step

        bool is_inside() const noexcept { return call != no_stack || is_at_end; }
        friend bool operator==(const position&, const position&) = default;
    };

    struct thread_state {
        position now;
        std::optional<position> freed_at;                     // where a reset follows that was not passed yet
        std::uint64_t live = 0;                               // of the group
        std::uint64_t live_known = 0;                         // of contexts that are known to live on
        std::unordered_map<std::uint32_t, std::uint64_t> of;  // live objects by context
    };

    position position_of(std::uint32_t stack, std::uint32_t node) const {
        const std::uint32_t call = paths_.call_in(stack, function_);
        if (call != no_stack) return {call, paths_.caller_of(call), false};
        // The stack lacks the frame of a function that jumped to free.
        for (; node != 0; node = paths_.nodes()[node].parent) {
            if (paths_.nodes()[node].function == function_) return {no_stack, stack, true};
        }
        return {};
    }

    const position& known_position(std::uint32_t stack, std::uint32_t node) {
        if (stack >= positions_.size()) positions_.resize(std::size_t{stack} + 1);
        std::optional<position>& known = positions_[stack];
        if (!known) known = position_of(stack, node);
        return *known;
    }

    /// Whether two positions that follow each other are of one run of the function.
    static bool in_one_run(const position& before, const position& now) {
        return now.is_inside() && !before.is_at_end && now.caller == before.caller;
    }

    bool is_at_reset(const position& here) const {
        return here.is_at_end ? resets_at_end_
                              : here.call != no_stack && reset_frames_.contains(paths_.frame_of(here.call));
    }

    void move(thread_state& thread, const position& to) {
        const bool ended = thread.now.is_inside() && !in_one_run(thread.now, to);
        thread.now = to;
        if (ended) add_pass(thread);
    }

    /// A member is allocated or freed where the thread is now.
    void pass_reset(thread_state& thread, bool allocates) {
        if (!allocates) {
            if (is_at_reset(thread.now)) thread.freed_at = thread.now;
        } else if (thread.freed_at && *thread.freed_at != thread.now) {
            add_pass(thread);
        }
    }

    void add_pass(thread_state& thread) {
        ++passes_.count;
        thread.freed_at.reset();
        if (thread.live == 0) return;
        ++passes_.occupied;
        if (thread.live == thread.live_known) return;
        for (const auto& [context, live] : thread.of) {
            if (live == 0 || lived_on_[context]) continue;
            lived_on_[context] = true;
            for (thread_state& each : threads_) {
                if (const auto found = each.of.find(context); found != each.of.end()) each.live_known += found->second;
            }
        }
    }

    void count(thread_state& thread, const recorded_event& each) {
        const std::uint64_t change = each.allocates ? 1 : ~std::uint64_t{0};
        thread.live += change;
        thread.of[each.context] += change;
        if (lived_on_[each.context]) thread.live_known += change;
    }

    const history& run_;
    const call_paths& paths_;
    std::uint32_t function_;
    std::set<std::uint32_t> reset_frames_;  // of the calls in the function
    bool resets_at_end_ = false;
    std::vector<bool> is_member_;  // by context
    std::vector<bool> lived_on_;   // by context
    std::vector<thread_state> threads_;
    std::vector<std::optional<position>> positions_;  // by stack
    reset_passes passes_;
};

}  // namespace

reset_passes study_resets(const history& run, const call_paths& paths, std::uint32_t function, const context_set& set,
                          std::span<const std::uint32_t> last_frees) {
    reset_study study{run, paths, function, set, last_frees};
    run.for_each([&](const recorded_event& each) { study.pass(each); });
    return study.finish();
}

}  // namespace acre::tool
