// Turns the rows of a raw log into the events of a trace: merges threads by time, numbers objects and matches frees.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <vector>

#include "live_addresses.hpp"
#include "raw_reader.hpp"
#include "trace/format.hpp"
#include "trace/live_table.hpp"
#include "trace/model.hpp"
#include "trace/seeded_hash.hpp"

namespace acre::tool {

/// Limits the number of open scopes in all threads together.
class scope_limit {
public:
    bool take() {
        if (open_ >= format::max_open_scopes) return false;
        ++open_;
        return true;
    }
    void give_back() { --open_; }

private:
    std::uint64_t open_ = 0;
};

/// The open scopes of one thread. An end without a beginning is dropped, as in a forked child; so are scopes beyond the
/// limit.
class scope_nesting {
public:
    /// False: beyond the limit, so the scope is dropped.
    bool begin(std::uint32_t name, scope_limit& limit) {
        if (too_deep_ == 0 && limit.take()) {
            open_.push_back(name);
            return true;
        }
        ++too_deep_;
        return false;
    }

    /// The name of the scope that ends; nothing if it was dropped.
    std::optional<std::uint32_t> end(scope_limit& limit) {
        if (too_deep_ != 0) {
            --too_deep_;
            return std::nullopt;
        }
        if (open_.empty()) return std::nullopt;
        const std::uint32_t name = open_.back();
        open_.pop_back();
        limit.give_back();
        return name;
    }

    /// To be called when no more rows come: dropped scopes need no end.
    void forget_dropped() { too_deep_ = 0; }

private:
    std::vector<std::uint32_t> open_;  // innermost last
    std::uint64_t too_deep_ = 0;       // begun within, and dropped
};

/// An event and the place of its object, as of event_sections. A free's object and size are those of the object there.
struct placed_event {
    event what;
    std::uint32_t place = 0;
};

/// An object of a resource.
struct traced_object {
    /// Place of an object that a resource allocated for itself, which is not in the trace.
    static constexpr std::uint32_t unseen = linked_objects::max_places;

    std::uint64_t number = 0;
    std::uint32_t place = 0;
};

/// The live objects of the resources that a program traces. Several resources may have an object at the same address: a
/// pool's slab is an object of the arena below, and its first slot may begin there.
class traced_objects {
public:
    /// The resource must have no live object at that address.
    void insert(std::uint64_t resource, std::uint64_t address, traced_object object, std::uint64_t ticks) {
        resources_[resource].try_emplace(address, entry{object, ticks});
    }

    /// Removes the object at an address into `taken`; false if the resource has none there.
    bool take(std::uint64_t resource, std::uint64_t address, traced_object& taken);

    /// Removes the objects of a resource that were allocated after a moment; in the order of their numbers.
    std::vector<traced_object> take_since(std::uint64_t resource, std::uint64_t ticks);

    /// Removes all objects of a resource; in the order of their numbers.
    std::vector<traced_object> take_all(std::uint64_t resource);

private:
    struct entry {
        traced_object object;
        std::uint64_t ticks = 0;  // of its allocation
    };

    using by_address = std::unordered_map<std::uint64_t, entry, seeded_hash>;

    std::unordered_map<std::uint64_t, by_address, seeded_hash> resources_;  // by number
};

/// The clocks now. A moment later than every row of a log is needed to convert the log's ticks to nanoseconds.
raw::clock_pair read_clocks();

/// Converts time stamp counter ticks to nanoseconds since the start.
class tick_clock {
public:
    explicit tick_clock(raw::clock_pair start) : known_{start}, start_{start} {}
    tick_clock(raw::clock_pair start, raw::clock_pair end) : tick_clock{start} { extend(end); }

    /// The clocks at a later moment. Ticks up to there may be converted; those before the previous moment no more, or
    /// not exactly.
    void extend(raw::clock_pair later) {
        if (later.ticks <= until_.ticks || later.nanoseconds <= until_.nanoseconds) return;
        if (until_.ticks > known_.ticks) known_ = until_;
        before_known_ = static_cast<double>(known_.nanoseconds - start_.nanoseconds);
        until_ = later;
        rate_ = static_cast<double>(later.nanoseconds - known_.nanoseconds) /
                static_cast<double>(later.ticks - known_.ticks);
    }

    std::uint64_t nanoseconds(std::uint64_t ticks) const {
        const auto since = static_cast<double>(static_cast<std::int64_t>(ticks - known_.ticks));
        // A damaged log may contain any number. Signed numbers are converted by one instruction.
        return static_cast<std::uint64_t>(
            static_cast<std::int64_t>(std::clamp(before_known_ + since * rate_, 0.0, latest)));
    }

    std::uint64_t nanoseconds_in(std::uint64_t ticks) const {
        return static_cast<std::uint64_t>(std::min(static_cast<double>(ticks) * rate_, latest));
    }

private:
    static constexpr double latest = 9e18;

    raw::clock_pair known_;
    raw::clock_pair start_;
    raw::clock_pair until_ = known_;
    double before_known_ = 0;  // nanoseconds
    double rate_ = 1;
};

/// Consecutive rows of a thread: in a mapped log, in memory of their own, or in a file that is read when they are
/// needed.
struct row_segment {
    raw_rows rows;
    std::unique_ptr<raw::row[]> own;
    std::size_t count = rows.size();
    int file = -1;  // the descriptor, while they are there only; a chunk's rows at most
    std::uint64_t offset = 0;
    bool was_loaded = false;  // from the file
};

/// Turns rows into events. The rows are those of a log, or come in parts while the log is written: append() and
/// drain() take turns then, and take_log() gives it the whole log for the rest.
class raw_events {
public:
    raw_events(const raw_reader& log, tick_clock clock) : clock_{clock} { take_log(log); }
    raw_events(tick_clock clock, std::uint32_t sampling_period) : clock_{clock}, sampling_period_{sampling_period} {}

    /// Calls `visit(const placed_event&)` for each event and `visit_mark(const mark&)` for each mark, in order, from
    /// the start of the log. Threads get their numbers from their first events, so only a second pass knows the numbers
    /// of all marks.
    template <typename Visit, typename VisitMark>
    void for_each(Visit&& visit, VisitMark&& visit_mark) {
        begin();
        finish(visit, visit_mark);
    }

    /// Rows of a thread, which follow those it has had.
    void append(std::uint32_t thread, row_segment segment);

    /// The clocks now, before drain().
    void extend_clock(raw::clock_pair now) { clock_.extend(now); }

    /// Calls `visit` for the next events up to a moment, some hundreds at most. All rows that were counted before that
    /// moment must have been appended. False when there are no more.
    template <typename Visit>
    bool drain(std::uint64_t until, Visit&& visit) {
        if (!fill_batch(until)) return false;
        for (const placed_event& each : batch_) visit(each);
        return true;
    }

    /// Calls `expect(place)` for the places that the next events but a few of the batch need.
    template <typename Encoder>
    [[gnu::always_inline]] void prepare(const placed_event& now, const Encoder& encoder) const noexcept {
        const auto left = static_cast<std::size_t>(&batch_.back() - &now);
        if (left >= 16) encoder.expect((&now)[16].place);
        if (left >= 8 && !(&now)[8].what.allocates) encoder.expect_removal((&now)[8].place);
    }

    /// Whether rows could not be read from their file.
    bool is_lacking() const noexcept { return is_lacking_; }

    /// The log of the rows so far. finish() takes the others from there.
    void take_log(const raw_reader& log);

    /// Whether the rows so far need what only the whole log tells: the numbers of threads in marks.
    bool has_marks() const noexcept { return has_marks_; }

    /// One more than the largest node of a row so far.
    std::uint64_t node_bound() const noexcept { return node_bound_; }

    /// Calls `visit` and `visit_mark` for the rest.
    template <typename Visit, typename VisitMark>
    void finish(Visit&& visit, VisitMark&& visit_mark) {
        append_rest();
        const auto pass_pauses = [&](std::uint64_t time) {
            if (!has_pauses()) return;
            while (std::optional<mark> before = next_pause(time)) visit_mark(*before);
        };
        while (fill_batch(~std::uint64_t{0})) {
            auto next_mark = batch_marks_.begin();
            for (std::size_t i = 0; i <= batch_.size(); ++i) {
                for (; next_mark != batch_marks_.end() && next_mark->before == i; ++next_mark) {
                    pass_pauses(next_mark->what.time);
                    visit_mark(next_mark->what);
                }
                if (i == batch_.size()) break;
                pass_pauses(batch_[i].what.time);
                visit(batch_[i]);
            }
        }
        pass_pauses(~std::uint64_t{0});
        number_threads_without_events();
    }

    // Of the last for_each.
    std::uint64_t events() const noexcept { return events_; }
    std::uint64_t unmatched_frees() const noexcept { return unmatched_; }
    std::uint64_t unrecorded_frees() const noexcept {
        return unrecorded_;
    }  // of objects that may have been allocated in a pause
    std::uint64_t pauses() const noexcept { return pauses_; }
    std::uint64_t missed_frees() const noexcept { return missed_; }  // noticed when the address was allocated again
    std::uint64_t last_time() const noexcept { return last_time_; }

private:
    /// A thread's rows that were not taken yet.
    struct thread_position {
        std::vector<row_segment> segments;
        std::size_t segment = 0;         // the first with rows that were not taken
        const raw::row* next = nullptr;  // in that segment; null: its rows must be loaded first
        const raw::row* end = nullptr;
        std::uint64_t appended = 0;  // rows, in all
        std::uint64_t ticks = 0;     // of the row, never less than before
        std::uint64_t resource = 0;  // of the following resource rows
        std::uint32_t thread = 0;    // its number in the log
        bool is_queued = false;
        scope_nesting scopes;
    };

    /// A mark before an event of the batch.
    struct placed_mark {
        std::size_t before;
        mark what;
    };

    static constexpr std::size_t batch_size = 256;  // stays in a processor's first cache

    /// A thread in the queue, by the time of its next row.
    struct waiting {
        std::uint64_t ticks;
        std::uint32_t thread;
        bool operator>(const waiting& other) const {
            return ticks != other.ticks ? ticks > other.ticks : thread > other.thread;
        }
    };

    void begin();
    void enqueue(thread_position& thread);
    void resize_threads(std::size_t count);
    void append_rest();
    const raw::row* peek(thread_position& thread) {
        const bool is_there = thread.next != thread.end && thread.next->ticks != 0;
        return is_there ? thread.next : find_row(thread);
    }
    const raw::row* find_row(thread_position& thread);
    void load(row_segment& segment);
    static bool has_another_row(const thread_position& thread);
    static bool may_take(const thread_position& thread, const raw::row& next, std::uint64_t until);
    bool fill_batch(std::uint64_t until);
    bool is_batch_full() const noexcept { return batch_.size() + batch_marks_.size() >= batch_size; }
    void take_run(thread_position& thread, std::uint64_t until);
    void take_row(thread_position& thread, const raw::row& row);
    void take_rare_row(thread_position& thread, const raw::row& row, raw::row_kind kind);
    bool has_pauses() const noexcept { return log_ != nullptr && !log_->pauses().empty(); }
    std::optional<mark> next_pause(std::uint64_t time);
    void end_scopes();
    bool paused_before(std::uint64_t ticks) const;

    void number_threads_without_events();
    std::uint32_t number_of(std::uint32_t thread) const;
    event& add_event(const thread_position& thread, std::uint32_t node, operation op, std::uint32_t place,
                     bool allocates);
    void add_free(const thread_position& thread, std::uint32_t node, operation op, std::uint32_t place);
    void add_mark(const thread_position& thread, std::uint32_t name, mark_kind kind);

    /// Who has made the object of a row.
    enum class owner : std::uint8_t { malloc, resource };

    template <owner Owner>
    void acquire(thread_position& thread, const raw::row& row, operation op);
    template <owner Owner>
    void release(const thread_position& thread, const raw::row& row, operation op);
    void release_all(const thread_position& thread, const raw::row& row, const std::vector<traced_object>& objects);
    void begin_scope(thread_position& thread, const raw::row& row);
    void end_scope(thread_position& thread);
    std::uint64_t size_of(thread_position& thread, const raw::row& row);
    template <owner Owner>
    std::uint32_t take_live(const thread_position& thread, const raw::row& row);
    template <owner Owner>
    std::uint32_t replace_live(const thread_position& thread, const raw::row& row, std::uint32_t place);

    static constexpr std::uint32_t unnumbered = ~std::uint32_t{0};

    const raw_reader* log_ = nullptr;
    bool has_all_rows_ = false;
    bool has_marks_ = false;
    bool is_lacking_ = false;
    std::uint64_t node_bound_ = 0;
    std::uint64_t max_nodes_ = ~std::uint64_t{0};  // of the log, once it is known
    tick_clock clock_;
    std::uint32_t sampling_period_ = 1;
    std::vector<thread_position> threads_;
    std::priority_queue<waiting, std::vector<waiting>, std::greater<>> queue_;
    live_addresses live_;  // of malloc: the places of the objects, plus one
    traced_objects traced_;
    free_places places_;
    std::vector<placed_event> batch_;  // of the last fill_batch()
    std::vector<placed_mark> batch_marks_;
    std::unique_ptr<raw::row[]> spare_;  // for the rows of a chunk
    scope_limit scope_limit_;
    std::uint32_t threads_ended_ = 0;     // their scopes are closed
    std::vector<std::uint32_t> numbers_;  // by thread of the log: its number in the trace
    std::uint64_t objects_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t unmatched_ = 0;
    std::uint64_t unrecorded_ = 0;
    std::uint64_t missed_ = 0;
    std::size_t pauses_passed_ = 0;
    std::uint64_t pauses_ = 0;
    bool paused_ = false;
    std::uint64_t last_time_ = 0;
    std::uint32_t thread_numbers_ = 0;
};

}  // namespace acre::tool
