#include "raw_events.hpp"

#include <algorithm>

namespace acre::tool {

namespace {

constexpr std::uint64_t pointer_of(const raw::row& row) {
    return row.pointer_and_kind & ((std::uint64_t{1} << raw::pointer_bits) - 1);
}
constexpr raw::row_kind kind_of(const raw::row& row) {
    return static_cast<raw::row_kind>((row.pointer_and_kind >> raw::pointer_bits) & 0xff);
}
constexpr std::uint8_t alignment_of(const raw::row& row) {
    return static_cast<std::uint8_t>(std::min<std::uint64_t>(row.pointer_and_kind >> (raw::pointer_bits + 8), 47));
}

}  // namespace

/// The next whole row; a row without a time was never written to its end.
const raw::row* raw_events::thread_position::peek() {
    while (segment < segments->size()) {
        const raw_rows rows = (*segments)[segment];
        for (; row < rows.size(); ++row) {
            if (rows[row].ticks != 0) return &rows[row];
        }
        ++segment;
        row = 0;
    }
    return nullptr;
}

void raw_events::begin() {
    threads_.assign(log_.threads().size(), {});
    queue_ = {};
    live_ = {};
    held_back_.reset();
    objects_ = events_ = unmatched_ = unrecorded_ = missed_ = last_time_ = 0;
    pauses_passed_ = pauses_ = 0;
    paused_ = false;
    thread_numbers_ = 0;
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
        threads_[i].segments = &log_.threads()[i];
        enqueue(i);
    }
}

void raw_events::enqueue(std::uint32_t thread) {
    thread_position& position = threads_[thread];
    const raw::row* row = position.peek();
    if (row == nullptr) return;
    position.ticks = std::max(position.ticks, row->ticks);
    queue_.push({position.ticks, thread});
}

std::optional<event> raw_events::next_event() {
    std::optional<event> made;
    if (held_back_) {
        made.swap(held_back_);
    }
    while (!made && !queue_.empty()) {
        const std::uint32_t thread = queue_.top().thread;
        queue_.pop();
        thread_position& position = threads_[thread];
        // While no other thread has an earlier row, this one goes on without the queue.
        do {
            const raw::row& row = *position.peek();
            position.ticks = std::max(position.ticks, row.ticks);
            position.advance();
            made = take_row(position, row);
        } while (!made && position.peek() != nullptr && queue_.empty());
        enqueue(thread);
    }
    if (made) {
        ++events_;
        last_time_ = made->time = std::max(last_time_, made->time);
    }
    return made;
}

/// The next mark that belongs before an event at that time.
std::optional<mark> raw_events::next_mark(std::uint64_t time) {
    while (pauses_passed_ < log_.pauses().size()) {
        const raw::pause_record& record = log_.pauses()[pauses_passed_];
        mark made;
        made.time = clock_.nanoseconds(record.ticks);
        if (made.time > time) return std::nullopt;
        ++pauses_passed_;
        const bool paused = record.paused != 0;
        if (paused == paused_) continue;  // two threads at a time
        paused_ = paused;
        if (paused) ++pauses_;
        made.kind = paused ? mark_kind::recording_paused : mark_kind::recording_resumed;
        if (record.thread_plus_one != 0 && record.thread_plus_one <= threads_.size())
            made.thread = number_of(threads_[record.thread_plus_one - 1]);
        return made;
    }
    return std::nullopt;
}

/// Whether an object that is freed then may have been allocated in a pause.
bool raw_events::paused_before(std::uint64_t ticks) const {
    return !log_.pauses().empty() && log_.pauses().front().ticks <= ticks;
}

std::uint32_t raw_events::number_of(thread_position& thread) {
    if (!thread.has_number) {
        thread.number = thread_numbers_++;
        thread.has_number = true;
    }
    return thread.number;
}

std::optional<event> raw_events::take_row(thread_position& thread, const raw::row& row) {
    using raw::row_kind;
    const row_kind kind = kind_of(row);
    if (kind <= row_kind::new_array) return acquire(thread, row, static_cast<operation>(kind));
    if (kind <= row_kind::delete_array) return release(thread, row, static_cast<operation>(kind));
    if (kind != row_kind::realloc_release) return std::nullopt;
    if (const raw::row* next = thread.peek(); next != nullptr && kind_of(*next) == row_kind::realloc_refused) {
        thread.advance();
        return std::nullopt;
    }
    return release(thread, row, operation::realloc);
}

event raw_events::make_event(thread_position& thread, const raw::row& row, operation op) {
    event made;
    made.time = clock_.nanoseconds(thread.ticks);
    made.thread = number_of(thread);
    made.stack = row.node < log_.nodes().size() ? row.node : no_stack;
    made.op = op;
    return made;
}

std::optional<event> raw_events::acquire(thread_position& thread, const raw::row& row, operation op) {
    event made = make_event(thread, row, op);
    made.size = row.size;
    if (row.size == raw::size_follows) {
        const raw::row* next = thread.peek();
        if (next != nullptr && kind_of(*next) == raw::row_kind::size_before) {
            made.size = pointer_of(*next);
            thread.advance();
        }
    }
    made.alignment_log2 = alignment_of(row);
    made.allocates = true;
    made.object = objects_++;
    live_object before;
    const bool was_live = live_.take(pointer_of(row), before);
    live_.insert(pointer_of(row), {made.object, made.size});
    if (!was_live) return made;
    // Its free was not seen, say in a signal handler: it must have been before this.
    ++missed_;
    held_back_ = made;
    event freed = made;
    freed.allocates = false;
    freed.object = before.number;
    freed.size = before.size;
    freed.alignment_log2 = 0;
    freed.op = operation::free;
    freed.stack = no_stack;
    return freed;
}

std::optional<event> raw_events::release(thread_position& thread, const raw::row& row, operation op) {
    live_object object;
    if (!live_.take(pointer_of(row), object)) {
        ++(paused_before(thread.ticks) ? unrecorded_ : unmatched_);
        return std::nullopt;
    }
    event made = make_event(thread, row, op);
    made.allocates = false;
    made.object = object.number;
    made.size = object.size;
    return made;
}

}  // namespace acre::tool
