#include "history.hpp"

#include <algorithm>
#include <tuple>

#include "replay/sequence.hpp"
#include "replay/touched_bytes.hpp"
#include "trace/event_relay.hpp"

namespace acre::tool {

event recorded_event::original() const {
    event e;
    e.object = object;
    e.size = size;
    e.thread = thread;
    e.alignment_log2 = alignment_log2;
    e.allocates = allocates;
    const operation plain = by_new ? operation::new_single : operation::malloc;
    e.op = by_realloc ? operation::realloc : allocates ? plain : operation::free;
    return e;
}

history::history(trace_reader& reader, const call_paths& paths, std::size_t memory_for_events)
    : history{[&](const auto& visit) { event_relay::run([&](const auto& relay) { reader.for_each(relay); }, visit); },
              paths, memory_for_events} {}

history::history(const event_reading& read, const call_paths& paths, std::size_t memory_for_events)
    : paths_{paths}, events_{memory_for_events}, freed_in_(paths.functions().size()) {
    reading state;
    read([&](const event& e) {
        threads_ = std::max(threads_, e.thread + 1);
        of_resource_ = of_resource_ || e.op == operation::allocate;
        if (e.allocates) {
            allocate(e, state);
        } else {
            release(e, state);
        }
    });
    finish_lives(state);
    sort_sizes(state);
}

void history::allocate(const event& e, reading& state) {
    const std::uint32_t number = context_of(e.stack, state);
    slots_ = std::max(slots_, e.place + 1);
    state.living.insert(e.place, {events_.size(), number, e.thread});
    allocation_context& context = contexts_[number];
    ++context.objects;
    context.by_new = is_new(e.op);
    context.by_realloc = context.by_realloc || e.op == operation::realloc;
    context.by_calloc = context.by_calloc || e.op == operation::calloc;
    context.any_aligned = context.any_aligned || e.alignment_log2 != 0;
    context.bytes += e.size;
    context.smallest = std::min(context.smallest, e.size);
    context.largest = std::max(context.largest, e.size);
    count_size({number, e.size}, state);
    ++objects_;
    replay_cost_ += acre::tool::replay_cost(e.size);
    first_pages_ += std::min(e.size, touched_bytes::least);
    peak_first_pages_ = std::max(peak_first_pages_, first_pages_);
    events_.push({.slot = e.place & stored_event::last_slot,
                  .allocates = 1,
                  .by_realloc = e.op == operation::realloc ? 1U : 0U,
                  .context_or_stack = number,
                  .shape_or_function = shapes_.number_of({e.size, e.alignment_log2, is_new(e.op)}),
                  .thread_of_allocation = e.thread});
}

void history::count_size(const context_and_size& sized, reading& state) {
    if (state.last_size == nullptr || state.last_size->first != sized) {
        auto found = state.sizes.find(sized);
        if (found == state.sizes.end()) {
            if (state.sizes.size() >= max_size_counts) return;
            found = state.sizes.emplace(sized, 0).first;
        }
        state.last_size = &*found;
    }
    ++state.last_size->second;
}

void history::release(const event& e, reading& state) {
    read_object object;
    if (!state.living.take(e.place, object)) return;
    ++replay_cost_;
    first_pages_ -= std::min(e.size, touched_bytes::least);
    allocation_context& context = contexts_[object.context];
    const bool elsewhere = e.thread != object.thread;
    context.crosses_threads = context.crosses_threads || elsewhere;
    context.by_realloc = context.by_realloc || e.op == operation::realloc;
    context.freed_elsewhere += elsewhere ? 1 : 0;
    context.longest_life = std::max(context.longest_life, events_.size() - object.born);
    note_freeing({object.context, e.stack, 1}, state);
    const std::uint32_t owner = owner_of(context.node, paths_.free_node(e.stack), state);
    context.owner = context.any_freed ? paths_.own_code(paths_.common(context.owner, owner)) : owner;
    context.any_freed = true;
    vote_for_owner(context, owner);
    const std::uint32_t function = paths_.nodes()[owner].function;
    ++freed_in_[function];
    events_.push({.slot = e.place & stored_event::last_slot,
                  .allocates = 0,
                  .by_realloc = e.op == operation::realloc ? 1U : 0U,
                  .context_or_stack = e.stack,
                  .shape_or_function = function,
                  .thread_of_allocation = object.thread});
}

/// Finds the majority in one pass, by the votes of Boyer and Moore (MJRTY, 1981).
void history::vote_for_owner(allocation_context& context, std::uint32_t owner) noexcept {
    if (context.lead_of_usual == 0) context.usual_owner = owner;
    context.lead_of_usual += context.usual_owner == owner ? 1 : ~std::uint64_t{0};
}

void history::note_freeing(freeing each, reading& state) {
    constexpr std::uint32_t none = ~std::uint32_t{0};
    if (each.context >= state.last_freeing.size()) state.last_freeing.resize(contexts_.size(), none);
    std::uint32_t& last = state.last_freeing[each.context];
    if (last == none || freeings_[last].stack != each.stack) {
        const std::uint64_t key = std::uint64_t{each.context} << 32 | each.stack;
        const auto known = state.freeings.find(key);
        if (known == state.freeings.end()) {
            if (freeings_.size() >= max_freeings) return;
            last = static_cast<std::uint32_t>(freeings_.size());
            state.freeings.emplace(key, last);
            freeings_.push_back(each);
            return;
        }
        last = known->second;
    }
    ++freeings_[last].objects;
}

/// Objects that were never freed lived until the end.
void history::finish_lives(reading& state) {
    state.living.for_each([&](std::size_t, const read_object& object) {
        allocation_context& context = contexts_[object.context];
        ++context.never_freed;
        context.longest_life = std::max(context.longest_life, events_.size() - object.born);
    });
}

void history::sort_sizes(const reading& state) {
    sizes_.reserve(state.sizes.size());
    for (const auto& [key, objects] : state.sizes) sizes_.push_back({key.context, key.size, objects});
    std::sort(sizes_.begin(), sizes_.end(), [](const size_count& a, const size_count& b) {
        return std::tie(a.context, a.size) < std::tie(b.context, b.size);
    });
}

std::uint32_t history::context_of(std::uint32_t stack, reading& state) {
    if (stack == state.last_context.stack) return state.last_context.context;
    const std::uint32_t node = paths_.node(stack);
    const std::uint32_t site = paths_.site(stack);
    const auto [entry, added] = state.context_numbers.try_emplace(std::uint64_t{node} << 32 | site,
                                                                  static_cast<std::uint32_t>(contexts_.size()));
    if (added) {
        allocation_context& made = contexts_.emplace_back();
        made.site = site;
        made.node = node;
        made.stack = stack;
    }
    state.last_context = {stack, entry->second};
    return entry->second;
}

std::uint32_t history::owner_of(std::uint32_t allocation_node, std::uint32_t free_node, reading& state) const {
    const std::uint64_t nodes = std::uint64_t{allocation_node} << 32 | free_node;
    if (nodes == state.last_owner.nodes) return state.last_owner.owner;
    if (state.owners.size() == max_owners) state.owners.clear();
    const auto [entry, added] = state.owners.try_emplace(nodes, 0);
    if (added) entry->second = paths_.own_code(paths_.common(allocation_node, free_node));
    state.last_owner = {nodes, entry->second};
    return entry->second;
}

}  // namespace acre::tool
