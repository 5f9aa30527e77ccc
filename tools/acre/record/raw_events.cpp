#include "raw_events.hpp"

#include <algorithm>

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

std::vector<live_object> in_order(std::vector<live_object> objects) {
    std::sort(objects.begin(), objects.end(),
              [](const live_object& a, const live_object& b) { return a.number < b.number; });
    return objects;
}

}  // namespace

/// The next complete row; in an incomplete one the time is 0.
const raw::row* raw_events::thread_position::peek() {
    while (segment < segments->size()) {
        const raw_rows rows = (*segments)[segment];
        for (; row < rows.size(); ++row) {
            if (rows[row].ticks != 0) return &rows[row];
        }
        log->let_go(rows);
        ++segment;
        row = 0;
    }
    return nullptr;
}

void raw_events::begin() {
    threads_.assign(log_.threads().size(), {});
    numbers_.resize(threads_.size(), unnumbered);
    queue_ = {};
    live_ = {};
    traced_ = {};
    held_back_.clear();
    scope_limit_ = {};
    objects_ = events_ = unmatched_ = unrecorded_ = missed_ = last_time_ = 0;
    pauses_passed_ = pauses_ = 0;
    threads_ended_ = 0;
    paused_ = false;
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
        threads_[i].log = &log_;
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

std::optional<raw_events::item> raw_events::next_item() {
    std::optional<item> made;
    if (!held_back_.empty()) {
        made = held_back_.back();
        held_back_.pop_back();
    }
    while (!made && !queue_.empty()) {
        const std::uint32_t thread = queue_.top().thread;
        queue_.pop();
        thread_position& position = threads_[thread];
        // The last thread with rows needs no queue.
        do {
            const raw::row& row = *position.peek();
            position.ticks = std::max(position.ticks, row.ticks);
            position.advance();
            made = take_row(thread, row);
        } while (!made && position.peek() != nullptr && queue_.empty());
        enqueue(thread);
    }
    if (!made) made = next_unended_scope();
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
    while (pauses_passed_ < log_.pauses().size()) {
        const raw::pause_record& record = log_.pauses()[pauses_passed_];
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
    return !log_.pauses().empty() && log_.pauses().front().ticks <= ticks;
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
            if (const raw::row* next = thread.peek(); next != nullptr && kind_of(*next) == row_kind::realloc_refused) {
                thread.advance();
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
    made.stack = row.node < log_.nodes().size() ? row.node : no_stack;
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
    const raw::row* next = thread.peek();
    if (next == nullptr || kind_of(*next) != raw::row_kind::size_before) return row.size;
    thread.advance();
    return pointer_of(*next);
}

bool raw_events::take_live(const thread_position& thread, const raw::row& row, operation op, live_object& taken) {
    const bool of_resource = op == operation::allocate || op == operation::deallocate;
    return of_resource ? traced_.take(thread.resource, pointer_of(row), taken) : live_.take(pointer_of(row), taken);
}

void raw_events::insert_live(const thread_position& thread, const raw::row& row, operation op, live_object object) {
    if (op == operation::allocate) {
        traced_.insert(thread.resource, pointer_of(row), object, row.ticks);
    } else {
        live_.insert(pointer_of(row), object);
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
            paused_before(thread.ticks) || (op == operation::deallocate && log_.sampling_period() > 1);
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
    const std::size_t names = log_.scope_names().size();
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
