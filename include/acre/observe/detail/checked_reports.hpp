// The reports of acre::checked: the sentence of each mistake, and its details with the places that did it. The call
// stacks of allocations and frees are kept here, each once.
//
// Used by acre::checked, not directly. Cost: a report is rare, and may look at each record. It takes no memory. A
// handler may return, and may have used the resource before. Not thread-safe.
#pragma once

#include <acre/core/detail/target.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/observe/checked_options.hpp>
#include <acre/observe/detail/call_stack.hpp>
#include <acre/observe/detail/checked_fences.hpp>
#include <acre/observe/detail/checked_record.hpp>
#include <acre/observe/detail/record_table.hpp>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <utility>

namespace acre::detail {

/// The sentences for the mistakes that only acre::checked notices.
namespace checked_mistake {
inline constexpr const char* overflow = "written past the end of an allocation";
inline constexpr const char* underflow = "written in front of an allocation";
inline constexpr const char* freed_after_reset = "freed after a reset had taken it back";
inline constexpr const char* freed_after_rewind = "freed after a rewind had taken it back";
inline constexpr const char* used_after_reset = "used after a reset had taken it back";
inline constexpr const char* used_after_rewind = "used after a rewind had taken it back";
inline constexpr const char* used_after_end = "used after its resource had ended";
inline constexpr const char* not_live = "a checked_ptr was made to what is not a live allocation";
inline constexpr const char* scratch_order = "a scratch ended before one that began after it";
inline constexpr const char* late_scratch = "a scratch was used after it ended";
inline constexpr const char* leak = "allocations were not freed before their resource ended";
}  // namespace checked_mistake

/// Where something happened: a place in the source, and the key of a call stack, 0 for none.
struct checked_place {
    std::source_location source;
    std::uint32_t stack = 0;
};

/// An address that no other living thread has.
[[gnu::noinline]] inline const void* address_of_this_thread() noexcept {
    asm volatile("");  // a fiber may change threads between two calls
#if ACRE_HAS_THREADS
    thread_local constinit char in_this_thread = 0;
#else
    static constinit char in_this_thread = 0;
#endif
    return &in_this_thread;
}

class checked_reports {
    using state = checked_record::state;

public:
    checked_reports(const checked_options& options, const char* resource)
        : resource_(resource),
          handler_(options.handler),
          stack_frames_(options.stack_frames),
          stacks_(options.records) {}

    // Call stacks.

    bool keeps_stacks() const noexcept { return stack_frames_ != 0; }
    /// The key of the call stack of this moment; 0 when none are kept.
    [[gnu::noinline]] std::uint32_t stack_here() noexcept { return key_of_stack(capture_stack(stack_frames_, 1)); }
    /// The key of a stack of one frame.
    [[gnu::noinline]] std::uint32_t stack_of(const void* caller) noexcept {
        call_stack one;
        if constexpr (ACRE_HAS_CALL_STACKS) one.frames[one.count++] = caller;
        return key_of_stack(one);
    }

    // Reports; a null record is one that is not known.

    /// A free, or with `resized` a resize, of what is no live allocation.
    [[gnu::noinline, gnu::cold]] void wrong_free(const checked_table& table, const void* p, const checked_record* found,
                                                 std::source_location where, bool resized) noexcept {
        report_text text;
        const char* what = resized ? mistake::foreign_resized : mistake::foreign_pointer;
        if (found == nullptr) {
            if (const checked_record* around = containing(table, p)) {
                what = resized ? mistake::inside_resized : mistake::inside_an_allocation;
                const word words[] = {static_cast<const void*>(around->p)};
                text.add("  the allocation begins at %\n", words);
                add_history(text, *around);
            }
        } else {
            what = resized                             ? sentence_of_use(*found)
                   : found->status() == state::reset   ? checked_mistake::freed_after_reset
                   : found->status() == state::rewound ? checked_mistake::freed_after_rewind
                                                       : mistake::double_free;
            add_history(text, *found);
        }
        add_now(text, resized ? "resized" : found == nullptr ? "freed" : "freed again", where);
        report(what, p, text);
    }
    [[gnu::noinline, gnu::cold]] void wrong_size(const checked_record& found, claimed_size claimed,
                                                 std::source_location where, bool resized) noexcept {
        report_text text;
        add_history(text, found);
        const char* what = resized ? "resized" : "freed";
        const word words[] = {what, claimed.bytes, claimed.alignment};
        text.add("  % as % bytes aligned to %\n", words);
        add_now(text, what, where);
        report(resized ? mistake::wrong_size_resized : mistake::wrong_size, found.p, text);
    }
    /// A fence that is not whole.
    [[gnu::noinline, gnu::cold]] void damaged_fence(const checked_record& each) noexcept {
        const std::byte* p = each.p;
        const bool front_is_whole = still_has(p - fence_bytes, fence_bytes, fence_pattern);
        const std::byte* fence = front_is_whole ? p + each.bytes : p - fence_bytes;
        if constexpr (poisoning) unpoison_defined(fence, fence_bytes);
        const std::byte* written = first_other(fence, fence_bytes, fence_pattern);
        report_text text;
        if (written == nullptr) written = fence;
        const std::size_t distance = front_is_whole ? numeric_address(written) - numeric_address(p + each.bytes) + 1
                                                    : numeric_address(p) - numeric_address(written);
        const word words[] = {static_cast<const void*>(written), distance,
                              front_is_whole ? "behind its last byte" : "in front of its first byte"};
        text.add("  the byte at % was written, % bytes %\n", words);
        add_history(text, each);
        add_stack_of_finding(text);
        report(front_is_whole ? checked_mistake::overflow : checked_mistake::underflow, p, text);
    }
    /// A freed allocation, the first `filled` bytes of which had the pattern.
    [[gnu::noinline, gnu::cold]] void late_write(const checked_record& each, std::size_t filled) noexcept {
        if constexpr (poisoning) unpoison_defined(each.p - fence_bytes, each.bytes + 2 * fence_bytes);
        report_text text;
        if (const std::byte* found = first_other(each.p, filled, freed_pattern)) {
            const word words[] = {static_cast<const void*>(found), static_cast<std::size_t>(found - each.p)};
            text.add("  the byte at % was written, % bytes from its first byte\n", words);
        }
        add_history(text, each);
        add_stack_of_finding(text);
        report(mistake::written_after_free, each.p, text);
    }
    [[gnu::noinline, gnu::cold]] void late_use(const std::byte* p, const checked_record* found,
                                               std::source_location where) noexcept {
        report_text text;
        if (found == nullptr) {
            text.add("  its storage has served other allocations since\n");
        } else {
            add_history(text, *found);
        }
        add_now(text, "used", where);
        report(found == nullptr ? mistake::used_after_free : sentence_of_use(*found), p, text);
    }
    [[gnu::noinline, gnu::cold]] void not_live(const void* p, const checked_record* found,
                                               std::source_location where) noexcept {
        report_text text;
        if (found != nullptr) add_history(text, *found);
        add_now(text, "made", where);
        report(checked_mistake::not_live, p, text);
    }
    /// A scratch that ended too early; `inner` is where one within it began, which goes on.
    [[gnu::noinline, gnu::cold]] void scratch_order(const void* ended, std::source_location began,
                                                    std::source_location inner, std::source_location where) noexcept {
        report_text text;
        add_place(text, "this scratch began", {began, 0});
        add_place(text, "one within it began", {inner, 0});
        add_now(text, "ended", where);
        report(checked_mistake::scratch_order, ended, text);
    }
    [[gnu::noinline, gnu::cold]] void late_scratch(const void* ended, std::source_location began,
                                                   std::source_location where) noexcept {
        report_text text;
        add_place(text, "this scratch began", {began, 0});
        add_now(text, "used", where);
        report(checked_mistake::late_scratch, ended, text);
    }
    [[gnu::noinline, gnu::cold]] void wrong_mark(const void* resource, bool is_foreign,
                                                 std::source_location where) noexcept {
        report_text text;
        add_now(text, "rewound", where);
        report(is_foreign ? mistake::foreign_mark : mistake::void_mark, resource, text);
    }
    /// What an object does to itself, or to its resource.
    [[gnu::noinline, gnu::cold]] void wrong_by_object(const char* what, const checked_record* object, const void* p,
                                                      std::source_location where) noexcept {
        report_text text;
        if (object != nullptr) add_history(text, *object);
        add_now(text, "noticed", where);
        report(what, p, text);
    }
    /// The `live` allocations of the table.
    [[gnu::noinline, gnu::cold]] void leaks(const checked_table& table, std::size_t live) noexcept {
        report_text text;
        std::size_t bytes = 0;
        table.for_each([&](std::size_t, const checked_record* found) {
            const checked_record& each = *found;
            if (each.is_live()) bytes += each.bytes;
        });
        const word words[] = {live, bytes};
        text.add("  % allocations of % bytes in all, oldest first:\n", words);
        const std::byte* oldest = nullptr;
        std::uint64_t after = 0;
        constexpr std::size_t max_listed = 10;
        for (std::size_t i = 0; i < max_listed && i < live; ++i) {
            const checked_record& next = *oldest_after(table, after);
            const word place[] = {static_cast<const void*>(next.p)};
            text.add("  at %\n", place);
            add_history(text, next);
            after = next.number;
            if (oldest == nullptr) oldest = next.p;
        }
        if (live > max_listed) {
            const word more[] = {live - max_listed};
            text.add("  and % more\n", more);
        }
        report(checked_mistake::leak, oldest, text);
    }

    /// The record of the allocation that `p` lies in, with its fences; live ones are preferred. Linear.
    [[gnu::noinline, gnu::cold]] static const checked_record* containing(const checked_table& table,
                                                                         const void* p) noexcept {
        const checked_record* result = nullptr;
        table.for_each([&](std::size_t, const checked_record* found) {
            const checked_record& each = *found;
            if (numeric_address(p) - (numeric_address(each.p) - fence_bytes) >= each.bytes + 2 * fence_bytes) return;
            if (result == nullptr || each.status() < result->status()) result = &each;
        });
        return result;
    }

    /// True while a handler runs in this thread.
    bool are_of_this_thread() const noexcept { return reporting_thread() == address_of_this_thread(); }

private:
    // The address_of_this_thread() in which a handler runs; null when none does.
    const void* reporting_thread() const noexcept { return __atomic_load_n(&reporting_thread_, __ATOMIC_RELAXED); }

    static const char* sentence_of_use(const checked_record& gone) noexcept {
        return gone.status() == state::reset     ? checked_mistake::used_after_reset
               : gone.status() == state::rewound ? checked_mistake::used_after_rewind
                                                 : mistake::used_after_free;
    }

    // Equal stacks are kept once.
    std::uint32_t key_of_stack(const call_stack& here) noexcept {
        if (here.count == 0) return 0;
        std::uint64_t hash = 0;
        for (std::size_t i = 0; i < here.count; ++i)
            hash = (hash ^ reinterpret_cast<std::uintptr_t>(here.frames[i])) * 0x9E3779B97F4A7C15u;
        for (auto key = static_cast<std::uint32_t>(hash >> 33) | 1u;; key += 2) {
            call_stack* kept = stacks_.insert(key);
            if (kept == nullptr) return 0;
            if (kept->count == 0) *kept = here;
            if (*kept == here) return key;
        }
    }

    // The oldest live allocation whose number is greater than `after`; there must be one.
    static const checked_record* oldest_after(const checked_table& table, std::uint64_t after) noexcept {
        const checked_record* chosen = nullptr;
        table.for_each([&](std::size_t, const checked_record* found) {
            const checked_record& each = *found;
            if (!each.is_live() || each.number <= after) return;
            if (chosen == nullptr || each.number < chosen->number) chosen = &each;
        });
        return chosen;
    }

    void add_place(report_text& text, const char* what, const checked_place& place, bool known_stack = false) noexcept {
        if (place.source.line() != 0) {
            const word words[] = {what, place.source.file_name(), std::size_t{place.source.line()},
                                  place.source.function_name()};
            text.add("  % at %:% in %\n", words);
        } else {
            const word words[] = {what, known_stack || place.stack != 0 ? "by the call" : "at an unknown place"};
            text.add("  % %\n", words);
        }
        if (const call_stack* stack = place.stack == 0 ? nullptr : stacks_.find(place.stack)) add_stack(text, *stack);
    }
    // What happens now: its call stack costs nothing before.
    void add_now(report_text& text, const char* what, std::source_location where) noexcept {
        add_place(text, what, {where, 0}, ACRE_HAS_CALL_STACKS);
        add_stack(text, capture_stack(10, 1));
    }
    void add_stack_of_finding(report_text& text) noexcept {
        text.add("  found by the call\n");
        add_stack(text, capture_stack(10, 1));
    }
    void add_history(report_text& text, const checked_record& each) noexcept {
        const word words[] = {each.bytes, each.alignment(), static_cast<std::size_t>(each.number)};
        text.add("  % bytes aligned to %, allocation number %\n", words);
        add_place(text, "allocated", {each.allocated, each.allocated_stack});
        if (each.is_live()) return;
        const char* what = each.status() == state::reset     ? "taken back by a reset"
                           : each.status() == state::rewound ? "taken back by a rewind or the end of a scratch"
                                                             : "freed";
        add_place(text, what, {each.freed, each.freed_stack});
    }

    void report(const char* what, const void* p, const report_text& text) const noexcept {
        const misuse noticed{resource_, what, p, text.c_str()};
        const void* const outer = reporting_thread();
        __atomic_store_n(&reporting_thread_, address_of_this_thread(), __ATOMIC_RELAXED);
        if (handler_ == nullptr) abort_on_misuse(noticed);
        handler_(noticed);
        __atomic_store_n(&reporting_thread_, outer, __ATOMIC_RELAXED);
    }

    const char* resource_;
    misuse_handler handler_;
    std::size_t stack_frames_;
    record_table<call_stack> stacks_;
    mutable const void* reporting_thread_ = nullptr;
};

}  // namespace acre::detail
