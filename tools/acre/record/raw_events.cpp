#include "raw_events.hpp"

#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>

#include "raw_memory.hpp"

namespace acre::tool {

raw::clock_pair read_clocks() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return {__rdtsc(),
            static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec)};
}

namespace {

constexpr std::uint64_t pointer_of(const raw::row& row) {
    return row.pointer_and_kind & ((std::uint64_t{1} << raw::pointer_bits) - 1);
}
constexpr raw::row_kind kind_of(const raw::row& row) {
    return static_cast<raw::row_kind>((row.pointer_and_kind & ~raw::inside_resource_bit) >> raw::pointer_bits & 0xff);
}
constexpr std::uint8_t alignment_of(const raw::row& row) {
    return static_cast<std::uint8_t>(std::min<std::uint64_t>(row.pointer_and_kind >> (raw::pointer_bits + 8), 47));
}

/// The full moment whose low bits are in a row; it is at most some hours before the row.
constexpr std::uint64_t moment_of(const raw::row& row) {
    const std::uint64_t wrap = std::uint64_t{1} << raw::pointer_bits;
    return row.ticks - ((row.ticks - pointer_of(row)) & (wrap - 1));
}

std::vector<traced_object> in_order(std::vector<traced_object> objects) {
    std::ranges::sort(objects, {}, &traced_object::number);
    return objects;
}

}  // namespace

/// The next complete row, if it is not the next one; in an incomplete one the time is 0.
const raw::row* raw_events::find_row(thread_position& thread) {
    for (; thread.segment < thread.segments.size(); ++thread.segment) {
        row_segment& segment = thread.segments[thread.segment];
        if (thread.next == nullptr) {
            if (segment.file >= 0) load(segment);
            thread.next = segment.rows.data();
            thread.end = thread.next + segment.rows.size();
        }
        for (; thread.next != thread.end; ++thread.next) {
            if (thread.next->ticks != 0) return thread.next;
        }
        if (segment.own == nullptr && log_ != nullptr) log_->let_go(segment.rows);
        if (segment.was_loaded) spare_ = std::move(segment.own);
        segment.own.reset();
        thread.next = thread.end = nullptr;
    }
    thread.segments.clear();
    thread.segment = 0;
    return nullptr;
}

/// Whether a row follows the next one.
bool raw_events::has_another_row(const thread_position& thread) {
    return thread.segment + 1 < thread.segments.size() || thread.end - thread.next > 1;
}

void raw_events::load(row_segment& segment) {
    segment.own = spare_ != nullptr ? std::move(spare_) : std::make_unique<raw::row[]>(raw::rows_in_chunk);
    segment.was_loaded = true;
    segment.rows = {segment.own.get(), segment.count};
    const auto bytes = static_cast<ssize_t>(segment.count * sizeof(raw::row));
    if (::pread(segment.file, segment.own.get(), static_cast<std::size_t>(bytes), static_cast<off_t>(segment.offset)) !=
        bytes)
        is_lacking_ = true;
    segment.file = -1;
}

void raw_events::take_log(const raw_reader& log) {
    log_ = &log;
    max_nodes_ = log.nodes().size();
    sampling_period_ = log.sampling_period();
}

void raw_events::resize_threads(std::size_t count) {
    for (std::size_t i = threads_.size(); i < count; ++i)
        threads_.emplace_back().thread = static_cast<std::uint32_t>(i);
    numbers_.resize(std::max(numbers_.size(), threads_.size()), unnumbered);
}

void raw_events::append(std::uint32_t thread, row_segment segment) {
    resize_threads(std::size_t{thread} + 1);
    thread_position& position = threads_[thread];
    position.appended += segment.count;
    position.segments.push_back(std::move(segment));
    if (!position.is_queued) enqueue(position);
}

/// The rows of the log that were not appended before.
void raw_events::append_rest() {
    has_all_rows_ = true;
    for (std::uint32_t i = 0; i < log_->threads().size(); ++i) {
        std::uint64_t passed = i < threads_.size() ? threads_[i].appended : 0;
        for (const raw_rows rows : log_->threads()[i]) {
            const std::size_t skipped = static_cast<std::size_t>(std::min<std::uint64_t>(passed, rows.size()));
            passed -= skipped;
            if (skipped < rows.size()) append(i, {.rows = rows.subspan(skipped), .own = nullptr});
        }
    }
    resize_threads(log_->threads().size());
}

void raw_events::begin() {
    threads_.clear();
    queue_ = {};
    live_ = {};
    traced_ = {};
    places_ = {};
    batch_.clear();
    batch_marks_.clear();
    scope_limit_ = {};
    objects_ = events_ = unmatched_ = unrecorded_ = missed_ = last_time_ = 0;
    pauses_passed_ = pauses_ = 0;
    threads_ended_ = 0;
    paused_ = false;
}

void raw_events::enqueue(thread_position& thread) {
    const raw::row* row = peek(thread);
    thread.is_queued = row != nullptr;
    if (row == nullptr) return;
    thread.ticks = std::max(thread.ticks, row->ticks);
    queue_.push({thread.ticks, thread.thread});
}

/// Whether the next row of a thread is early enough and, where it needs the row after it, that is there.
bool raw_events::may_take(const thread_position& thread, const raw::row& next, std::uint64_t until) {
    if (thread.ticks > until) return false;
    const bool needs_another = kind_of(next) == raw::row_kind::realloc_release || next.size == raw::size_follows;
    return !needs_another || has_another_row(thread);
}

inline event& raw_events::add_event(const thread_position& thread, std::uint32_t node, operation op,
                                    std::uint32_t place, bool allocates) {
    std::uint32_t& number = numbers_[thread.thread];
    if (number == unnumbered) [[unlikely]]
        number = thread_numbers_++;
    last_time_ = std::max(last_time_, clock_.nanoseconds(thread.ticks));
    node_bound_ = std::max(node_bound_, std::uint64_t{node} + 1);
    ++events_;
    return batch_
        .emplace_back(placed_event{.what = {.time = last_time_,
                                            .thread = number,
                                            .stack = node < max_nodes_ ? node : no_stack,
                                            .op = op,
                                            .allocates = allocates},
                                   .place = place})
        .what;
}

inline void raw_events::add_free(const thread_position& thread, std::uint32_t node, operation op, std::uint32_t place) {
    add_event(thread, node, op, place, false);
    places_.give_back(place);
}

void raw_events::add_mark(const thread_position& thread, std::uint32_t name, mark_kind kind) {
    last_time_ = std::max(last_time_, clock_.nanoseconds(thread.ticks));
    batch_marks_.push_back(
        {batch_.size(),
         {.time = last_time_, .event = events_, .thread = number_of(thread.thread), .name = name, .kind = kind}});
}

inline std::uint64_t raw_events::size_of(thread_position& thread, const raw::row& row) {
    if (row.size != raw::size_follows) [[likely]]
        return row.size;
    const raw::row* next = peek(thread);
    if (next == nullptr || kind_of(*next) != raw::row_kind::size_before) return row.size;
    ++thread.next;
    return pointer_of(*next);
}

/// Removes the object at the address of a row, and returns its place plus one; 0 if there was none.
template <raw_events::owner Owner>
inline std::uint32_t raw_events::take_live(const thread_position& thread, const raw::row& row) {
    if constexpr (Owner == owner::malloc) {
        return live_.take(pointer_of(row));
    } else {
        traced_object taken;
        return traced_.take(thread.resource, pointer_of(row), taken) ? taken.place + 1 : 0;
    }
}

/// Puts an object at the address of a row, and returns the place of the one before plus one; 0 if there was none.
template <raw_events::owner Owner>
inline std::uint32_t raw_events::replace_live(const thread_position& thread, const raw::row& row, std::uint32_t place) {
    if constexpr (Owner == owner::malloc) {
        return live_.exchange(pointer_of(row), place + 1);
    } else {
        const std::uint32_t before = take_live<Owner>(thread, row);
        traced_.insert(thread.resource, pointer_of(row), {objects_, place}, row.ticks);
        return before;
    }
}

template <raw_events::owner Owner>
inline void raw_events::acquire(thread_position& thread, const raw::row& row, operation op) {
    const bool seen = (row.pointer_and_kind & raw::inside_resource_bit) == 0;
    const std::uint64_t size = size_of(thread, row);
    const std::uint32_t place = seen ? places_.take() : traced_object::unseen;
    const std::uint32_t before = replace_live<Owner>(thread, row, place);
    if (before != 0 && before - 1 != traced_object::unseen) [[unlikely]] {
        // Its free was not recorded, for example in a signal handler; it must have come before this allocation.
        ++missed_;
        add_free(thread, no_stack, Owner == owner::malloc ? operation::free : operation::deallocate, before - 1);
    }
    if (!seen) return;
    event& made = add_event(thread, row.node, op, place, true);
    made.size = size;
    made.alignment_log2 = alignment_of(row);
    made.object = objects_++;
}

template <raw_events::owner Owner>
inline void raw_events::release(const thread_position& thread, const raw::row& row, operation op) {
    const std::uint32_t found = take_live<Owner>(thread, row);
    if (found == 0) [[unlikely]] {
        const bool may_be_left_out = paused_before(thread.ticks) || (Owner == owner::resource && sampling_period_ > 1);
        ++(may_be_left_out ? unrecorded_ : unmatched_);
    } else if (found - 1 != traced_object::unseen) {
        add_free(thread, row.node, op, found - 1);
    }
}

inline void raw_events::take_row(thread_position& thread, const raw::row& row) {
    using raw::row_kind;
    const row_kind kind = kind_of(row);
    if (kind <= row_kind::new_array) return acquire<owner::malloc>(thread, row, static_cast<operation>(kind));
    if (kind <= row_kind::delete_array) return release<owner::malloc>(thread, row, static_cast<operation>(kind));
    take_rare_row(thread, row, kind);
}

void raw_events::take_rare_row(thread_position& thread, const raw::row& row, raw::row_kind kind) {
    using raw::row_kind;
    switch (kind) {
        case row_kind::realloc_release:
            if (const raw::row* next = peek(thread); next != nullptr && kind_of(*next) == row_kind::realloc_refused) {
                ++thread.next;
            } else {
                release<owner::malloc>(thread, row, operation::realloc);
            }
            break;
        case row_kind::resource:
            thread.resource = pointer_of(row);
            break;
        case row_kind::resource_allocate:
            acquire<owner::resource>(thread, row, operation::allocate);
            break;
        case row_kind::resource_deallocate:
            release<owner::resource>(thread, row, operation::deallocate);
            break;
        case row_kind::resource_reset:
            release_all(thread, row, traced_.take_all(thread.resource));
            break;
        case row_kind::resource_rewind:
            release_all(thread, row, traced_.take_since(thread.resource, moment_of(row)));
            break;
        case row_kind::scope_begin:
            begin_scope(thread, row);
            break;
        case row_kind::scope_end:
            end_scope(thread);
            break;
        default:
            break;
    }
}

/// Takes rows of a thread that is not queued until it is another one's turn, about a batch of them at most.
void raw_events::take_run(thread_position& thread, std::uint64_t until) {
    const bool is_alone = queue_.empty();
    for (std::size_t i = 0; i < batch_size; ++i) {
        const raw::row* next = peek(thread);
        if (next == nullptr) return;
        thread.ticks = std::max(thread.ticks, next->ticks);
        if (!is_alone && waiting{thread.ticks, thread.thread} > queue_.top()) return;
        if (!has_all_rows_ && !may_take(thread, *next, until)) return;
        ++thread.next;
        if (thread.end - thread.next > 16) [[likely]] {
            live_.prefetch(pointer_of(thread.next[16]));
            live_.prefetch_value(pointer_of(thread.next[8]));
        }
        // A copy, since the memory of the rows may be let go when one after it is looked at.
        take_row(thread, raw::row{*next});
    }
}

/// Takes rows up to a moment. False if there are none.
bool raw_events::fill_batch(std::uint64_t until) {
    batch_.clear();
    batch_marks_.clear();
    while (!is_batch_full() && !queue_.empty()) {
        thread_position& thread = threads_[queue_.top().thread];
        if (!has_all_rows_ && !may_take(thread, *peek(thread), until)) break;
        queue_.pop();
        take_run(thread, until);
        enqueue(thread);
    }
    if (has_all_rows_ && queue_.empty()) end_scopes();
    return !batch_.empty() || !batch_marks_.empty();
}

/// Ends, after all rows, the scopes that their threads never left.
void raw_events::end_scopes() {
    for (; threads_ended_ < threads_.size(); ++threads_ended_) {
        scope_nesting& scopes = threads_[threads_ended_].scopes;
        scopes.forget_dropped();
        while (const auto name = scopes.end(scope_limit_)) {
            if (is_batch_full()) return;
            add_mark(threads_[threads_ended_], *name, mark_kind::scope_end);
        }
    }
}

/// The next pause or resumption up to that time.
std::optional<mark> raw_events::next_pause(std::uint64_t time) {
    while (pauses_passed_ < log_->pauses().size()) {
        const raw::pause_record& record = log_->pauses()[pauses_passed_];
        mark made;
        made.time = clock_.nanoseconds(record.ticks);
        if (made.time > time) return std::nullopt;
        ++pauses_passed_;
        const bool paused = record.paused != 0;
        if (paused == paused_) continue;  // two threads did the same
        paused_ = paused;
        if (paused) ++pauses_;
        made.kind = paused ? mark_kind::recording_paused : mark_kind::recording_resumed;
        if (record.thread_plus_one != 0 && record.thread_plus_one <= threads_.size())
            made.thread = number_of(record.thread_plus_one - 1);
        return made;
    }
    return std::nullopt;
}

/// Whether an object that is freed at that moment may have been allocated in a pause.
bool raw_events::paused_before(std::uint64_t ticks) const {
    return has_pauses() && log_->pauses().front().ticks <= ticks;
}

void raw_events::number_threads_without_events() {
    for (std::uint32_t& number : numbers_) {
        if (number == unnumbered) number = thread_numbers_++;
    }
}

std::uint32_t raw_events::number_of(std::uint32_t thread) const {
    return numbers_[thread] == unnumbered ? 0 : numbers_[thread];
}

void raw_events::release_all(const thread_position& thread, const raw::row& row,
                             const std::vector<traced_object>& objects) {
    for (const traced_object& each : objects) {
        if (each.place != traced_object::unseen) add_free(thread, row.node, operation::deallocate, each.place);
    }
}

void raw_events::begin_scope(thread_position& thread, const raw::row& row) {
    has_marks_ = true;
    if (log_ == nullptr) return;
    const std::size_t names = log_->scope_names().size();
    if (names == 0 || !thread.scopes.begin(row.size < names ? row.size : 0, scope_limit_)) return;
    add_mark(thread, row.size < names ? row.size : 0, mark_kind::scope_begin);
}

void raw_events::end_scope(thread_position& thread) {
    if (const auto name = thread.scopes.end(scope_limit_)) add_mark(thread, *name, mark_kind::scope_end);
}

bool traced_objects::take(std::uint64_t resource, std::uint64_t address, traced_object& taken) {
    const auto of = resources_.find(resource);
    if (of == resources_.end()) return false;
    const auto found = of->second.find(address);
    if (found == of->second.end()) return false;
    taken = found->second.object;
    of->second.erase(found);
    return true;
}

std::vector<traced_object> traced_objects::take_since(std::uint64_t resource, std::uint64_t ticks) {
    std::vector<traced_object> taken;
    const auto of = resources_.find(resource);
    if (of == resources_.end()) return taken;
    std::erase_if(of->second, [&](const auto& each) {
        if (each.second.ticks <= ticks) return false;
        taken.push_back(each.second.object);
        return true;
    });
    return in_order(std::move(taken));
}

std::vector<traced_object> traced_objects::take_all(std::uint64_t resource) {
    std::vector<traced_object> taken;
    const auto of = resources_.extract(resource);
    if (of.empty()) return taken;
    for (const auto& each : of.mapped()) taken.push_back(each.second.object);
    return in_order(std::move(taken));
}

}  // namespace acre::tool
