#include "raw_events.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>

namespace acre::tool {

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

/// Blocks that lie side by side have consecutive numbers, which live_table keeps together.
constexpr std::uint64_t number_of_address(std::uint64_t address) {
    return std::rotr(address, 4);
}

std::vector<live_object> in_order(std::vector<live_object> objects) {
    std::sort(objects.begin(), objects.end(),
              [](const live_object& a, const live_object& b) { return a.number < b.number; });
    return objects;
}

}  // namespace

/// The next complete row; in an incomplete one the time is 0.
const raw::row* raw_events::peek(thread_position& thread) {
    for (; thread.segment < thread.segments.size(); ++thread.segment) {
        row_segment& segment = thread.segments[thread.segment];
        if (segment.file >= 0) load(segment);
        for (; thread.row < segment.rows.size(); ++thread.row) {
            if (segment.rows[thread.row].ticks != 0) return &segment.rows[thread.row];
        }
        if (segment.own == nullptr && log_ != nullptr) log_->let_go(segment.rows);
        segment.own.reset();
        thread.row = 0;
    }
    thread.segments.clear();
    thread.segment = 0;
    return nullptr;
}

/// Whether a row follows the next one.
bool raw_events::has_another_row(const thread_position& thread) {
    return thread.segment + 1 < thread.segments.size() || thread.row + 1 < thread.segments[thread.segment].rows.size();
}

void raw_events::load(row_segment& segment) {
    segment.own = std::make_unique<raw::row[]>(segment.count);
    segment.rows = {segment.own.get(), segment.count};
    const auto bytes = static_cast<ssize_t>(segment.count * sizeof(raw::row));
    if (::pread(segment.file, segment.own.get(), static_cast<std::size_t>(bytes), static_cast<off_t>(segment.offset)) !=
        bytes)
        is_lacking_ = true;
    segment.file = -1;
}

void raw_events::take_log(const raw_reader& log) {
    log_ = &log;
    sampling_period_ = log.sampling_period();
}

void raw_events::append(std::uint32_t thread, row_segment segment) {
    if (thread >= threads_.size()) {
        threads_.resize(std::size_t{thread} + 1);
        numbers_.resize(std::max(numbers_.size(), threads_.size()), unnumbered);
    }
    thread_position& position = threads_[thread];
    position.appended += segment.count;
    position.segments.push_back(std::move(segment));
    if (!position.is_queued) enqueue(thread);
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
    threads_.resize(std::max(threads_.size(), log_->threads().size()));
    numbers_.resize(std::max(numbers_.size(), threads_.size()), unnumbered);
}

void raw_events::begin() {
    threads_.clear();
    queue_ = {};
    live_ = {};
    traced_ = {};
    held_back_.clear();
    scope_limit_ = {};
    objects_ = events_ = unmatched_ = unrecorded_ = missed_ = last_time_ = 0;
    pauses_passed_ = pauses_ = 0;
    threads_ended_ = 0;
    paused_ = false;
}

void raw_events::enqueue(std::uint32_t thread) {
    thread_position& position = threads_[thread];
    const raw::row* row = peek(position);
    position.is_queued = row != nullptr;
    if (row == nullptr) return;
    position.ticks = std::max(position.ticks, row->ticks);
    queue_.push({position.ticks, thread});
}

/// Whether the next row of a thread is early enough and, where it needs the row after it, that is there.
bool raw_events::may_take(std::uint32_t thread, std::uint64_t until) {
    if (has_all_rows_) return true;
    thread_position& position = threads_[thread];
    if (position.ticks > until) return false;
    const raw::row& row = *peek(position);
    const bool needs_another = kind_of(row) == raw::row_kind::realloc_release || row.size == raw::size_follows;
    return !needs_another || has_another_row(position);
}

std::optional<raw_events::item> raw_events::next_item(std::uint64_t until) {
    std::optional<item> made;
    if (!held_back_.empty()) {
        made = held_back_.back();
        held_back_.pop_back();
    }
    while (!made && !queue_.empty() && may_take(queue_.top().thread, until)) {
        const std::uint32_t thread = queue_.top().thread;
        queue_.pop();
        thread_position& position = threads_[thread];
        // The last thread with rows needs no queue.
        do {
            const raw::row row = *peek(position);
            position.ticks = std::max(position.ticks, row.ticks);
            ++position.row;
            made = take_row(thread, row);
        } while (!made && queue_.empty() && has_all_rows_ && peek(position) != nullptr);
        enqueue(thread);
    }
    if (!made && has_all_rows_) made = next_unended_scope();
    if (!made) return made;
    if (std::holds_alternative<event>(*made)) ++events_;
    std::visit([&](auto& each) { last_time_ = each.time = std::max(last_time_, each.time); }, *made);
    return made;
}

/// Ends, after all rows, a scope that its thread never left.
std::optional<mark> raw_events::next_unended_scope() {
    for (; threads_ended_ < threads_.size(); ++threads_ended_) {
        scope_nesting& scopes = threads_[threads_ended_].scopes;
        scopes.forget_dropped();
        if (const auto name = scopes.end(scope_limit_)) return make_mark(threads_ended_, *name, mark_kind::scope_end);
    }
    return std::nullopt;
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
    return log_ != nullptr && !log_->pauses().empty() && log_->pauses().front().ticks <= ticks;
}

void raw_events::number_threads_without_events() {
    for (std::uint32_t& number : numbers_) {
        if (number == unnumbered) number = thread_numbers_++;
    }
}

std::uint32_t raw_events::number_of(std::uint32_t thread) const {
    return numbers_[thread] == unnumbered ? 0 : numbers_[thread];
}

std::optional<raw_events::item> raw_events::take_row(std::uint32_t number, const raw::row& row) {
    using raw::row_kind;
    thread_position& thread = threads_[number];
    const row_kind kind = kind_of(row);
    if (kind <= row_kind::new_array) return acquire(number, row, static_cast<operation>(kind));
    if (kind <= row_kind::delete_array) return release(number, row, static_cast<operation>(kind));
    switch (kind) {
        case row_kind::realloc_release:
            if (const raw::row* next = peek(thread); next != nullptr && kind_of(*next) == row_kind::realloc_refused) {
                ++thread.row;
                return std::nullopt;
            }
            return release(number, row, operation::realloc);
        case row_kind::resource:
            thread.resource = pointer_of(row);
            return std::nullopt;
        case row_kind::resource_allocate:
            return acquire(number, row, operation::allocate);
        case row_kind::resource_deallocate:
            return release(number, row, operation::deallocate);
        case row_kind::resource_reset:
            return release_all(number, row, traced_.take_all(thread.resource));
        case row_kind::resource_rewind:
            return release_all(number, row, traced_.take_since(thread.resource, moment_of(row)));
        case row_kind::scope_begin:
            return begin_scope(number, row);
        case row_kind::scope_end:
            return end_scope(number);
        default:
            return std::nullopt;
    }
}

event raw_events::make_event(std::uint32_t thread, const raw::row& row, operation op) {
    if (numbers_[thread] == unnumbered) numbers_[thread] = thread_numbers_++;
    event made;
    made.time = clock_.nanoseconds(threads_[thread].ticks);
    made.thread = numbers_[thread];
    node_bound_ = std::max<std::uint64_t>(node_bound_, std::uint64_t{row.node} + 1);
    made.stack = log_ == nullptr || row.node < log_->nodes().size() ? row.node : no_stack;
    made.op = op;
    return made;
}

mark raw_events::make_mark(std::uint32_t thread, std::uint32_t name, mark_kind kind) const {
    return {.time = clock_.nanoseconds(threads_[thread].ticks),
            .event = events_,
            .thread = number_of(thread),
            .name = name,
            .kind = kind};
}

std::uint64_t raw_events::size_of(thread_position& thread, const raw::row& row) {
    if (row.size != raw::size_follows) return row.size;
    const raw::row* next = peek(thread);
    if (next == nullptr || kind_of(*next) != raw::row_kind::size_before) return row.size;
    ++thread.row;
    return pointer_of(*next);
}

bool raw_events::take_live(const thread_position& thread, const raw::row& row, operation op, live_object& taken) {
    const bool of_resource = op == operation::allocate || op == operation::deallocate;
    return of_resource ? traced_.take(thread.resource, pointer_of(row), taken)
                       : live_.take(number_of_address(pointer_of(row)), taken);
}

void raw_events::insert_live(const thread_position& thread, const raw::row& row, operation op, live_object object) {
    if (op == operation::allocate) {
        traced_.insert(thread.resource, pointer_of(row), object, row.ticks);
    } else {
        live_.insert(number_of_address(pointer_of(row)), object);
    }
}

std::optional<raw_events::item> raw_events::acquire(std::uint32_t number, const raw::row& row, operation op) {
    thread_position& thread = threads_[number];
    const bool seen = (row.pointer_and_kind & raw::inside_resource_bit) == 0;
    const std::uint64_t size = size_of(thread, row);
    live_object before;
    const bool was_live = take_live(thread, row, op, before) && before.number != live_object::unseen;
    insert_live(thread, row, op, {seen ? objects_ : live_object::unseen, size});
    if (seen) {
        event made = make_event(number, row, op);
        made.size = size;
        made.alignment_log2 = alignment_of(row);
        made.object = objects_++;
        if (!was_live) return made;
        held_back_.push_back(made);
    }
    if (!was_live) return std::nullopt;
    // Its free was not recorded, for example in a signal handler; it must have come before this allocation.
    ++missed_;
    event freed = make_event(number, row, op == operation::allocate ? operation::deallocate : operation::free);
    freed.allocates = false;
    freed.object = before.number;
    freed.size = before.size;
    freed.stack = no_stack;
    return freed;
}

std::optional<raw_events::item> raw_events::release(std::uint32_t number, const raw::row& row, operation op) {
    const thread_position& thread = threads_[number];
    live_object object;
    if (!take_live(thread, row, op, object)) {
        const bool may_be_left_out =
            paused_before(thread.ticks) || (op == operation::deallocate && sampling_period_ > 1);
        ++(may_be_left_out ? unrecorded_ : unmatched_);
        return std::nullopt;
    }
    if (object.number == live_object::unseen) return std::nullopt;
    event made = make_event(number, row, op);
    made.allocates = false;
    made.object = object.number;
    made.size = object.size;
    return made;
}

std::optional<raw_events::item> raw_events::release_all(std::uint32_t number, const raw::row& row,
                                                        std::vector<live_object> objects) {
    for (auto object = objects.rbegin(); object != objects.rend(); ++object) {
        if (object->number == live_object::unseen) continue;
        event& made = held_back_.emplace_back(make_event(number, row, operation::deallocate));
        made.allocates = false;
        made.object = object->number;
        made.size = object->size;
    }
    if (held_back_.empty()) return std::nullopt;
    const event first = held_back_.back();
    held_back_.pop_back();
    return first;
}

std::optional<raw_events::item> raw_events::begin_scope(std::uint32_t thread, const raw::row& row) {
    has_marks_ = true;
    if (log_ == nullptr) return std::nullopt;
    const std::size_t names = log_->scope_names().size();
    if (names == 0 || !threads_[thread].scopes.begin(row.size < names ? row.size : 0, scope_limit_))
        return std::nullopt;
    return make_mark(thread, row.size < names ? row.size : 0, mark_kind::scope_begin);
}

std::optional<raw_events::item> raw_events::end_scope(std::uint32_t thread) {
    const auto name = threads_[thread].scopes.end(scope_limit_);
    if (!name) return std::nullopt;
    return make_mark(thread, *name, mark_kind::scope_end);
}

bool traced_objects::take(std::uint64_t resource, std::uint64_t address, live_object& taken) {
    const auto of = resources_.find(resource);
    if (of == resources_.end()) return false;
    const auto found = of->second.find(address);
    if (found == of->second.end()) return false;
    taken = found->second.object;
    of->second.erase(found);
    return true;
}

std::vector<live_object> traced_objects::take_since(std::uint64_t resource, std::uint64_t ticks) {
    std::vector<live_object> taken;
    const auto of = resources_.find(resource);
    if (of == resources_.end()) return taken;
    std::erase_if(of->second, [&](const auto& each) {
        if (each.second.ticks <= ticks) return false;
        taken.push_back(each.second.object);
        return true;
    });
    return in_order(std::move(taken));
}

std::vector<live_object> traced_objects::take_all(std::uint64_t resource) {
    std::vector<live_object> taken;
    const auto of = resources_.extract(resource);
    if (of.empty()) return taken;
    for (const auto& each : of.mapped()) taken.push_back(each.second.object);
    return in_order(std::move(taken));
}

}  // namespace acre::tool
