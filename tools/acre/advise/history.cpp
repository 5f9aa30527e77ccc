#include "history.hpp"

#include <algorithm>

#include "trace/error.hpp"

namespace acre::tool {

namespace {

constexpr std::size_t most_events = 0x7fff'ffff;

}  // namespace

history::history(trace_reader& reader, const call_paths& paths) : paths_{paths} {
    reader.for_each([&](const event& e) {
        if (events_.size() == most_events)
            throw tool_error{"the trace has too many events for an advice: record a shorter run"};
        threads_ = std::max(threads_, e.thread + 1);
        if (e.allocates) {
            allocate(e);
        } else {
            release(e);
        }
    });
    finish_lives();
}

void history::allocate(const event& e) {
    const std::uint32_t context = context_of(e.stack);
    recorded_object object;
    object.size = e.size;
    object.born = static_cast<std::uint32_t>(events_.size());
    object.thread = e.thread;
    object.alignment_log2 = e.alignment_log2;
    object.reallocates = e.op == operation::realloc;
    ++contexts_[context].objects;
    objects_.push_back(object);
    object_context_.push_back(context);
    recorded_event recorded;
    recorded.object = static_cast<std::uint32_t>(e.object);
    recorded.context = context & 0x7fff'ffff;
    recorded.allocates = 1;
    recorded.stack = e.stack;
    events_.push_back(recorded);
}

void history::release(const event& e) {
    recorded_object& object = objects_[static_cast<std::size_t>(e.object)];
    const std::uint32_t number = object_context_[static_cast<std::size_t>(e.object)];
    allocation_context& context = contexts_[number];
    object.died = static_cast<std::uint32_t>(events_.size());
    object.reallocated = e.op == operation::realloc;
    object.freed_elsewhere = e.thread != object.thread;
    context.crosses_threads = context.crosses_threads || object.freed_elsewhere;
    context.longest_life = std::max<std::uint64_t>(context.longest_life, object.died - object.born);
    const std::uint32_t owner = owner_of(context.node, paths_.node(e.stack));
    context.owner = context.any_freed ? paths_.own_code(paths_.common(context.owner, owner)) : owner;
    context.any_freed = true;
    recorded_event recorded;
    recorded.object = static_cast<std::uint32_t>(e.object);
    recorded.context = number & 0x7fff'ffff;
    recorded.stack = e.stack;
    recorded.function = paths_.nodes()[owner].function;
    events_.push_back(recorded);
}

/// What was never freed lived until the end.
void history::finish_lives() {
    for (std::size_t i = 0; i < objects_.size(); ++i) {
        if (objects_[i].died != recorded_object::never) continue;
        allocation_context& context = contexts_[object_context_[i]];
        context.longest_life = std::max<std::uint64_t>(context.longest_life, events_.size() - objects_[i].born);
    }
}

std::uint32_t history::context_of(std::uint32_t stack) {
    const std::uint32_t node = paths_.node(stack);
    const std::uint32_t site = paths_.site(stack);
    const auto [place, added] =
        context_numbers_.try_emplace(std::uint64_t{node} << 32 | site, static_cast<std::uint32_t>(contexts_.size()));
    if (added) contexts_.push_back({.site = site, .node = node, .stack = stack});
    return place->second;
}

std::uint32_t history::owner_of(std::uint32_t allocation_node, std::uint32_t free_node) {
    const auto [place, added] = owners_.try_emplace(std::uint64_t{allocation_node} << 32 | free_node, 0);
    if (added) place->second = paths_.own_code(paths_.common(allocation_node, free_node));
    return place->second;
}

event history::original(const recorded_event& of) const {
    const recorded_object& object = objects_[of.object];
    event e;
    e.object = of.object;
    e.size = object.size;
    e.thread = object.thread;
    e.stack = of.stack;
    e.alignment_log2 = object.alignment_log2;
    e.allocates = of.allocates != 0;
    const bool by_realloc = e.allocates ? object.reallocates : object.reallocated;
    e.op = by_realloc ? operation::realloc : e.allocates ? operation::malloc : operation::free;
    return e;
}

}  // namespace acre::tool
