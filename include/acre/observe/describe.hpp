// A line of text about any resource: its name, and the numbers that it publishes (used, capacity, live and so on). And
// whether its own data agree, which a program's write outside of its storage may break.
//
// Use it in a program's own log, status page or assertion. acre/observe/dump.hpp prints the line to a FILE. In GDB the
// printers of debuggers/gdb show more, without a call (docs/debugging.md). Use acre::statistics for peaks and counts.
//
// Cost: that of the numbers, most of which are linear in the blocks or slabs held. Takes no memory, and needs neither
// stdio nor a heap. Thread rules: those of the resource's members used() and live(). A synchronized resource is read
// under its lock; the sink is called after that.
//
//     acre::describe(level, [](std::string_view line) { show(line); });
//     // acre::arena: 5368 of 6176 bytes used, 4080 bytes wasted
//     assert(acre::check_invariants(level));
#pragma once

#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace acre {

namespace detail {

/// A line that grows by pieces, and is cut at its end.
class description {
public:
    /// A name in front of the numbers; several where a resource is in a wrapper.
    void name(const char* text) noexcept {
        const word words[] = {text};
        add("%: ", words);
        ends_with_name_ = true;
    }
    /// Between the parts of a resource that consists of two.
    void next_part() noexcept {
        end_name();
        add(", ", nullptr);
        has_numbers_ = false;
    }
    /// A piece of the line, with a number in place of each '%'.
    template <class... Numbers>
    void number(const char* pattern, Numbers... numbers) noexcept {
        const word words[] = {static_cast<std::size_t>(numbers)...};
        if (has_numbers_) add(", ", words);
        add(pattern, words);
        has_numbers_ = true;
        ends_with_name_ = false;
    }
    /// As number, without one.
    void remark(const char* text) noexcept { number(text, 0); }

    /// The line. A resource without numbers has its name alone.
    std::string_view text() noexcept {
        end_name();
        return {text_, length_};
    }

private:
    // Takes away what stands between a name and its numbers, where there are none.
    void end_name() noexcept {
        const std::size_t behind_the_name = 2;
        if (ends_with_name_ && length_ >= behind_the_name) length_ -= behind_the_name;
        ends_with_name_ = false;
    }

    void add(const char* pattern, const word* words) noexcept {
        sentence::write(text_ + length_, sizeof text_ - length_, pattern, words);
        length_ += std::strlen(text_ + length_);
    }

    char text_[512];
    std::size_t length_ = 0;
    bool has_numbers_ = false;
    bool ends_with_name_ = false;
};

/// A handle, or a face of a resource that it holds: unique_resource, pmr.
template <class R>
concept refers_to_another = requires(const R& r) { requires resource<std::remove_cvref_t<decltype(*r)>>; };

template <class R>
void add_bytes(description& to, const R& r) noexcept {
    constexpr bool knows_used = requires { r.used(); };
    constexpr bool knows_capacity = requires { r.capacity(); };
    if constexpr (knows_used && knows_capacity) {
        to.number("% of % bytes used", r.used(), r.capacity());
    } else if constexpr (knows_used) {
        to.number("% bytes used", r.used());
    } else if constexpr (knows_capacity) {
        to.number("% bytes held", r.capacity());
    }
    if constexpr (requires { r.wasted(); }) to.number("% bytes wasted", r.wasted());
    if constexpr (requires { r.reserved(); }) to.number("% bytes reserved", r.reserved());
}

template <class R>
void add_counts(description& to, const R& r) noexcept {
    if constexpr (requires { r.live(); }) {
        to.number("% live", r.live());
    } else if constexpr (requires { r.allocations(); }) {
        to.number("% live", r.allocations());
    }
    if constexpr (requires { r.slots(); }) to.number("% slots", r.slots());
    if constexpr (requires { r.busy_arenas(), r.arenas(); }) {
        to.number("% of % arenas of % bytes busy", r.busy_arenas(), r.arenas(), r.arena_bytes());
    }
}

/// What statistics, limited and the general heap know.
template <class R>
void add_records(description& to, const R& r) noexcept {
    if constexpr (requires { r.limit_bytes(), r.peak_bytes(); }) {
        to.number("limited to % bytes, % live in % allocations, % at the peak", r.limit_bytes(), r.live_bytes(),
                  r.live_count(), r.peak_bytes());
    }
    if constexpr (requires { r.counts().allocations.value; }) {
        const auto& counts = r.counts();
        to.number("counted % allocations of % bytes live, % bytes at the peak, % refused", counts.allocations.value,
                  counts.bytes.value, counts.bytes.peak, counts.failures);
    }
    if constexpr (requires { r.figures().free_slot_bytes; }) {
        const auto now = r.figures();
        to.number("% bytes in slots, % in large allocations, % in free slots, % in free runs", now.slot_bytes,
                  now.large_bytes, now.free_slot_bytes, now.free_run_bytes);
    }
}

/// Calls `visit` with the resource inside a wrapper, a handle or an active scratch, under its lock, and with both parts
/// of one that has two. False if `r` is none of these.
template <class R, class Visit>
bool visit_inside(const R& r, Visit visit) {
    if constexpr (requires { r.with([](const auto&) {}); }) {
        r.with([&visit](const auto& guarded) noexcept { visit(guarded); });
    } else if constexpr (requires { r.active(), r.parent(); }) {
        if (r.active()) visit(r.parent());
    } else if constexpr (refers_to_another<R>) {
        visit(*r);
    } else if constexpr (requires { r.primary(), r.secondary(); }) {  // fallback
        visit(r.primary());
        visit(r.secondary());
    } else if constexpr (requires { r.small(), r.large(); }) {  // segregate
        visit(r.small());
        visit(r.large());
    } else if constexpr (requires { requires resource<std::remove_cvref_t<decltype(r.referred())>>; }) {  // malloc_face
        visit(r.referred());
    } else if constexpr (requires { R::get().used(); }) {  // program_pools
        visit(R::get());
    } else if constexpr (requires { r.pool().used(); }) {  // a pool resource of the standard's kind
        visit(r.pool());
    } else {
        return false;
    }
    return true;
}

template <class R>
void add_description(description& to, const R& r) noexcept {
    if constexpr (requires { static_cast<const char*>(R::name); }) {
        to.name(R::name);
    } else if constexpr (!refers_to_another<R>) {
        to.name("resource");
    }
    bool is_described = false;
    const bool is_around = visit_inside(r, [&](const auto& inside) noexcept {
        if (is_described) to.next_part();
        add_description(to, inside);
        is_described = true;
    });
    if (!is_around) {
        add_bytes(to, r);
        add_counts(to, r);
        add_records(to, r);
    } else if (!is_described) {
        to.remark("ended");
    }
}

}  // namespace detail

/// Calls `sink` with a line of text about `r`, without a line end. The text lives as long as the call.
template <class R, class Sink>
void describe(const R& r, Sink&& sink) {
    detail::description line;
    detail::add_description(line, r);
    sink(line.text());
}

/// A sentence on what in the data of `r` does not agree: blocks and the bytes counted, the states of a map, what is in
/// a list. Null when all does, and for resources that cannot be looked at (docs/debugging.md). Linear in what `r`
/// holds. A pointer that was overwritten may end the program, as any use of the resource would. Idea:
/// o1heapDoInvariantsHold().
template <class R>
const char* broken_invariant(const R& r) noexcept {
    if constexpr (requires { r.broken_invariant(); }) {
        return r.broken_invariant();
    } else {
        const char* broken = nullptr;
        detail::visit_inside(r, [&broken](const auto& inside) noexcept {
            if (broken == nullptr) broken = acre::broken_invariant(inside);
        });
        return broken;
    }
}

/// Whether broken_invariant(r) is null: for an assertion after a phase that may have written outside of its storage.
template <class R>
bool check_invariants(const R& r) noexcept {
    return acre::broken_invariant(r) == nullptr;
}

}  // namespace acre
