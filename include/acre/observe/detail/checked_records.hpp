// What acre::checked knows of each allocation, and the checks: a table from addresses to records, a queue of freed
// allocations, and the reports. It does not depend on the type of the checked resource, so it is compiled once.
//
// Used by acre::checked, not directly. Cost: constant time for each allocation and free but for the table's growth;
// resets and rewinds are linear in the records. Thread rules: one thread at a time, or any with `shared`.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/sort.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/locks.hpp>
#include <acre/core/misuse.hpp>
#include <acre/observe/checked_options.hpp>
#include <acre/observe/detail/call_stack.hpp>
#include <acre/observe/detail/checked_fences.hpp>
#include <acre/observe/detail/record_list.hpp>
#include <acre/observe/detail/record_table.hpp>
#include <acre/pools/pool.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <source_location>
#include <utility>

namespace acre::detail {

/// The sentences for the mistakes that only acre::checked notices.
namespace checked_mistake {
inline constexpr const char* overflow = "written past the end of an allocation";
inline constexpr const char* underflow = "written in front of an allocation";
inline constexpr const char* written_after_free = "an allocation was written to after it was freed";
inline constexpr const char* freed_after_reset = "freed after a reset had taken it back";
inline constexpr const char* freed_after_rewind = "freed after a rewind had taken it back";
inline constexpr const char* used_after_free = "used after it was freed";
inline constexpr const char* used_after_reset = "used after a reset had taken it back";
inline constexpr const char* used_after_rewind = "used after a rewind had taken it back";
inline constexpr const char* used_after_end = "used after its resource had ended";
inline constexpr const char* not_live = "a checked_ptr was made to what is not a live allocation";
inline constexpr const char* scratch_order = "a scratch ended before one that began after it";
inline constexpr const char* leak = "allocations were not freed before their resource ended";
}  // namespace checked_mistake

/// Where something happened: a place in the source, and the key of a call stack, 0 for none.
struct checked_place {
    std::source_location source;
    std::uint32_t stack = 0;
};

/// What a free says about the allocation.
struct claimed_size {
    std::size_t bytes = 0;
    std::size_t alignment = 0;  // 0 where the caller gives no size

    bool known() const noexcept { return alignment != 0; }
};

/// What was asked for.
struct request_kind {
    bool object = false;           // an object of an object pool, which destroys it
    bool slot = false;             // a slot of a pool, asked for without a size
    const void* caller = nullptr;  // the address that the call returns to, where there is no place in the source
};

class checked_records;

/// What a checked_ptr keeps: it outlives the resource.
struct checked_link {
    checked_records* records;  // null once the resource has ended
    std::size_t references;
    resource_ref memory;

    void add_reference() noexcept { __atomic_add_fetch(&references, 1, __ATOMIC_RELAXED); }
    void drop_reference() noexcept {
        if (__atomic_sub_fetch(&references, 1, __ATOMIC_ACQ_REL) != 0) return;
        const resource_ref from = memory;
        from.deallocate(this, sizeof(checked_link), alignof(checked_link));
    }
};

class checked_records {
    enum class state : std::uint8_t {
        live,
        quarantined,  // freed, and held back
        given_back,   // freed, and the resource may hand it out again
        reset,
        rewound,
    };

    struct record {
        std::byte* p;
        std::size_t bytes;
        std::source_location allocated;
        std::source_location freed;
        std::uint64_t number;  // the first is 1
        std::uint32_t allocated_stack;
        std::uint32_t freed_stack;
        state status;
        unsigned char alignment_power;
        bool object;  // as in request_kind
        bool slot;

        std::size_t alignment() const noexcept { return std::size_t{1} << alignment_power; }
    };

    // Of a record that may serve another allocation by now: then its number differs.
    struct freed_entry {
        record* of;
        std::uint64_t number;
    };

    // An object whose destructor a reset runs.
    struct due_object {
        void* first;
        std::size_t count;
        void (*destroy)(void* first, std::size_t count) noexcept;
        std::uint64_t number;
    };

public:
    static constexpr const char* checked_name = "acre::checked";

    checked_records(const checked_options& options, const char* resource, bool shared)
        : options_(options),
          resource_(resource),
          shared_(shared),
          own_(options.records),
          table_(options.records),
          stacks_(options.records),
          freed_(options.records),
          due_(options.records) {
        require_option(options.quarantine <= 65'536, checked_name, "quarantine", options.quarantine, "0 to 65536");
        require_option(options.stack_frames <= call_stack::max_frames, checked_name, "stack_frames",
                       options.stack_frames, "0 to 16");
    }
    /// The records move with the storage.
    checked_records(checked_records&& other) noexcept
        : options_(other.options_),
          resource_(other.resource_),
          shared_(other.shared_),
          own_(std::move(other.own_)),
          table_(std::move(other.table_)),
          stacks_(std::move(other.stacks_)),
          freed_(std::move(other.freed_)),
          due_(std::move(other.due_)),
          next_number_(other.next_number_),
          live_(std::exchange(other.live_, 0)),
          head_(std::exchange(other.head_, 0)),
          middle_(std::exchange(other.middle_, 0)),
          tail_(std::exchange(other.tail_, 0)),
          held_bytes_(std::exchange(other.held_bytes_, 0)),
          link_(std::exchange(other.link_, nullptr)) {
        if (link_ != nullptr) link_->records = this;
    }
    checked_records& operator=(checked_records&& other) noexcept {
        if (this == &other) return *this;
        detail::destroy_at(this);
        return *detail::construct_at(this, std::move(other));
    }
    ~checked_records() {
        if (link_ == nullptr) return;
        link_->records = nullptr;
        link_->drop_reference();
    }

    /// False for a request that no resource serves, which is passed on as it is.
    static constexpr bool fits(std::size_t bytes, std::size_t alignment) noexcept {
        return is_alignment(alignment) && alignment <= max_request / 4 && bytes <= max_request / 4;
    }

    /// Notes an allocation in `storage`, which has the bytes of fenced_block::of, and returns its address. Null, and
    /// nothing noted, when there is no memory for the record.
    void* add(void* storage, std::size_t bytes, std::size_t alignment, request_kind kind,
              std::source_location where) noexcept {
        auto* p = static_cast<std::byte*>(storage) + fenced_block::front(alignment);
        const guard hold{*this};
        record* added = record_for(p);
        if (added == nullptr) [[unlikely]]
            return nullptr;
        added->bytes = bytes;
        added->allocated = where;
        added->number = next_number_++;
        added->allocated_stack = 0;
        added->freed_stack = 0;
        added->status = state::live;
        added->alignment_power = static_cast<unsigned char>(std::countr_zero(alignment));
        added->object = kind.object;
        added->slot = kind.slot;
        if (options_.stack_frames != 0) [[unlikely]] {
            added->allocated_stack = stack_here();
        } else if (kind.caller != nullptr && where.line() == 0) {
            added->allocated_stack = stack_of(kind.caller);
        }
        ++live_;
        write_fences(p, bytes);
        fill(p, filled(bytes), fresh_pattern);
        return p;
    }

    /// Checks that the allocation at `p` may be freed now; reports it and returns false when not.
    bool may_be_freed(const void* p, claimed_size claimed, std::source_location where) noexcept {
        const guard hold{*this};
        return freeable(p, claimed, where) != nullptr;
    }

    /// Frees the allocation at `p`, or reports why not. True when `given` goes back to the resource now, and then what
    /// next_given_back() says.
    bool remove(void* p, claimed_size claimed, std::source_location where, fenced_block& given) noexcept {
        const guard hold{*this};
        record* found = freeable(p, claimed, where);
        if (found == nullptr) return false;
        auto* first = static_cast<std::byte*>(p);
        found->status = state::quarantined;
        found->freed = where;
        if (options_.stack_frames != 0) [[unlikely]]
            found->freed_stack = stack_here();
        --live_;
        fill(first, filled(found->bytes), freed_pattern);
        poison(first, found->bytes);
        enqueue(*found);
        return holds_too_much() && take_out(given);
    }

    /// Takes the longest held allocation out when more are held than the options allow, or any when `all`.
    bool next_given_back(fenced_block& given, bool all = false) noexcept {
        const guard hold{*this};
        return (all ? tail_ != middle_ : holds_too_much()) && take_out(given);
    }

    /// Checks before the resource resizes the allocation at `p` in place.
    bool may_be_resized(const void* p, std::size_t old_bytes, std::source_location where) noexcept {
        const guard hold{*this};
        const record* found = find(p);
        const std::size_t alignment = found == nullptr ? 1 : found->alignment();
        return freeable(p, {old_bytes, alignment}, where) != nullptr;
    }
    std::size_t alignment_at(const void* p) noexcept {
        const guard hold{*this};
        const record* found = find(p);
        return found == nullptr ? 1 : found->alignment();
    }
    void resized(void* p, std::size_t new_bytes) noexcept {
        const guard hold{*this};
        record* found = find(p);
        if (found == nullptr) return;
        auto* first = static_cast<std::byte*>(p);
        const std::size_t old_bytes = std::exchange(found->bytes, new_bytes);
        unpoison(first + detail::min(old_bytes, new_bytes),
                 detail::max(old_bytes, new_bytes) + fence_bytes - detail::min(old_bytes, new_bytes));
        if (filled(new_bytes) > old_bytes) std::memset(first + old_bytes, fresh_pattern, filled(new_bytes) - old_bytes);
        write_back_fence(first, new_bytes);
    }

    // Objects that a reset destroys.

    bool add_due_object(void* first, std::size_t count, void (*destroy)(void*, std::size_t) noexcept) noexcept {
        const record* found = find(first);
        return due_.push({first, count, destroy, found == nullptr ? 0 : found->number});
    }
    /// Destroys the objects whose number is at least `number`, newest first.
    void destroy_due_objects(std::uint64_t number) noexcept {
        while (due_.size() != 0 && due_.back().number >= number) {
            const due_object newest = due_.back();
            due_.pop();
            newest.destroy(newest.first, newest.count);
        }
    }

    /// Calls `destroy(p)` with the address of each live object of a pool, in ascending order. It may free others.
    template <class Destroy>
    void destroy_pool_objects(Destroy destroy) noexcept {
        record_list<std::byte*> found{options_.records};
        bool complete = true;
        for_each([&](std::byte* p, const record& each) {
            if (each.status == state::live && each.object) complete = complete && found.push(p);
        });
        detail::sort(found.data(), found.size(), [](const std::byte* a, const std::byte* b) { return a < b; });
        destroying_ = true;
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (is_live(found[i])) destroy(static_cast<void*>(found[i]));
        }
        // Without memory for the list, in any order.
        while (!complete) {
            std::byte* any = nullptr;
            for_each([&](std::byte* p, const record& each) {
                if (each.status == state::live && each.object) any = p;
            });
            complete = any == nullptr;
            if (!complete) destroy(static_cast<void*>(any));
        }
        destroying_ = false;
    }

    bool is_live(const void* p) noexcept {
        const guard hold{*this};
        const record* found = find(p);
        return found != nullptr && found->status == state::live;
    }
    bool is_live_object(const void* p) noexcept {
        const guard hold{*this};
        const record* found = find(p);
        return found != nullptr && found->status == state::live && found->object;
    }
    std::size_t bytes_at(const void* p) noexcept {
        const guard hold{*this};
        const record* found = find(p);
        return found == nullptr ? 0 : found->bytes;
    }

    /// Checks the fences of the allocation at `p`, and that it is live.
    bool check(const void* p, std::source_location where) noexcept {
        const guard hold{*this};
        return freeable(p, {}, where) != nullptr;
    }
    /// Checks the fences of all that was allocated from `number` on, and what was freed of it and is held back. Returns
    /// the number of allocations that are damaged.
    std::size_t check_from(std::uint64_t number) noexcept {
        const guard hold{*this};
        std::size_t damaged = 0;
        for_each([&](std::byte* p, const record& each) {
            if (each.number < number) return;
            if (each.status == state::live && !check_fences(p, each)) ++damaged;
            if (each.status == state::quarantined && !check_freed(p, each)) ++damaged;
        });
        return damaged;
    }

    std::uint64_t next_number() const noexcept { return next_number_; }
    std::size_t live() const noexcept {
        const guard hold{*this};
        return live_;
    }
    std::size_t held() const noexcept {
        const guard hold{*this};
        return static_cast<std::size_t>(tail_ - middle_);
    }

    /// The resource is about to take back what was allocated from `number` on: nothing of it stays poisoned, and with
    /// `fills` what is live gets the pattern of freed storage.
    void prepare_end_from(std::uint64_t number, bool fills = true) noexcept {
        const guard hold{*this};
        for_each([&](std::byte* p, const record& each) {
            if (each.number < number || each.status > state::quarantined) return;
            const fenced_block block = fenced_block::around(p, each.bytes, each.alignment());
            unpoison(block.storage, block.bytes);
            if (fills && each.status == state::live) fill(p, filled(each.bytes), freed_pattern);
        });
    }
    /// The resource took back what was allocated from `number` on. That stays known, so that a late free is named.
    void ended_from(std::uint64_t number, bool by_reset, std::source_location where) noexcept {
        const guard hold{*this};
        const std::uint32_t stack = options_.stack_frames == 0 ? 0 : stack_here();
        keep_held_before(number);
        // Erasing may show it a record twice, so it changes none.
        table_.erase_if([&](record* each) {
            if (each->status == state::live || (each->status == state::quarantined && each->number < number))
                return false;
            own_.deallocate(each);
            return true;
        });
        for_each([&](const std::byte*, record& each) {
            if (each.status != state::live || each.number < number) return;
            each.status = by_reset ? state::reset : state::rewound;
            each.freed = where;
            each.freed_stack = stack;
            --live_;
        });
    }

    /// Reports what is live at the end of the resource.
    void report_leaks(bool report_by_type) noexcept {
        const bool wanted =
            options_.leaks == leak_rule::report || (options_.leaks == leak_rule::by_type && report_by_type);
        if (wanted && live_ != 0) report_live();
    }

    /// Reports a scratch that ended too early; `began` is where one within it began, which goes on.
    void report_scratch(const void* scratch, std::source_location began, std::source_location inner,
                        std::source_location where) noexcept {
        report_text text;
        add_place(text, "this scratch began", {began, 0});
        add_place(text, "one within it began", {inner, 0});
        add_now(text, "ended", where);
        report(checked_mistake::scratch_order, scratch, text);
    }

    void report_void_mark(const void* resource, std::source_location where) noexcept {
        report_text text;
        add_now(text, "rewound", where);
        report(mistake::void_mark, resource, text);
    }

    // For checked_ptr.

    /// The number of the allocation that `p` points into, and in `base` its address; 0 when there is none.
    std::uint64_t number_at(const void* p, const std::byte*& base) noexcept {
        const guard hold{*this};
        base = static_cast<const std::byte*>(p);
        const record* found = find(p);
        if (found == nullptr || found->status != state::live) found = containing(p, base);
        return found == nullptr || found->status != state::live ? 0 : found->number;
    }
    /// True while the allocation with this address and number is live; reports its use when not.
    bool may_be_used(const std::byte* base, std::uint64_t number, std::source_location where) noexcept {
        const guard hold{*this};
        const record* found = find(base);
        const bool known = found != nullptr && found->number == number;
        if (known && found->status == state::live) [[likely]]
            return true;
        report_use(base, known ? found : nullptr, where);
        return false;
    }
    void report_dead(const void* p, std::source_location where) noexcept {
        const guard hold{*this};
        report_text text;
        if (const record* found = find(p)) add_history(text, *found);
        add_now(text, "made", where);
        report(checked_mistake::not_live, p, text);
    }
    checked_link* link() noexcept {
        const guard hold{*this};
        if (link_ == nullptr) {
            void* storage = options_.records.try_allocate(sizeof(checked_link), alignof(checked_link));
            if (storage == nullptr) return nullptr;
            link_ = ::new (storage) checked_link{this, 1, options_.records};
        }
        link_->add_reference();
        return link_;
    }

private:
    struct guard {
#if ACRE_HAS_THREADS
        explicit guard(const checked_records& records) noexcept : held(records) {
            if (held.shared_) [[unlikely]]
                held.lock_.lock();
        }
        ~guard() {
            if (held.shared_) [[unlikely]]
                held.lock_.unlock();
        }
        const checked_records& held;
#else
        explicit guard(const checked_records&) noexcept {}
        ~guard() {}
#endif
        guard(const guard&) = delete;
        guard& operator=(const guard&) = delete;
    };

    static std::size_t key_of(const void* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }
    std::size_t filled(std::size_t bytes) const noexcept { return detail::min(bytes, options_.fill_bytes); }

    template <class Function>
    void for_each(Function function) {
        table_.for_each([&](std::size_t, record* each) { function(each->p, *each); });
    }

    // The live record at `p` if a free of it is right; null, and the mistake reported, when not.
    record* freeable(const void* p, claimed_size claimed, std::source_location where) noexcept {
        record* found = find(p);
        if (found != nullptr && found->status == state::live) [[likely]] {
            const bool as_allocated = !claimed.known() ||
                                      (claimed.bytes == found->bytes && claimed.alignment == found->alignment()) ||
                                      (found->slot && claimed.bytes <= found->bytes);
            if (as_allocated) [[likely]] {
                check_fences(static_cast<const std::byte*>(p), *found);
                return found;
            }
            report_size(p, *found, claimed, where);
            return nullptr;
        }
        // As in an object pool: while it destroys its objects, their destructors may destroy others.
        if (found != nullptr && destroying_) return nullptr;
        report_free(p, found, where);
        return nullptr;
    }

    bool check_fences(const std::byte* p, const record& each) noexcept {
        if (fences_are_whole(p, each.bytes)) [[likely]]
            return true;
        report_fence(p, each);
        write_fences(const_cast<std::byte*>(p), each.bytes);
        return false;
    }
    bool check_freed(const std::byte* p, const record& each) noexcept {
        if (still_has(p, filled(each.bytes), freed_pattern) && fences_are_whole(p, each.bytes)) [[likely]]
            return true;
        report_written(p, each);
        repair_freed(const_cast<std::byte*>(p), each);
        return false;
    }
    [[gnu::noinline, gnu::cold]] void repair_freed(std::byte* p, const record& each) noexcept {
        unpoison(p, each.bytes);
        fill(p, filled(each.bytes), freed_pattern);
        write_fences(p, each.bytes);
        poison(p, each.bytes);
    }

    // The queue of freed allocations is a ring: from head_ to middle_ those that were given back and are still known,
    // from middle_ to tail_ those that are held back.

    freed_entry& entry(std::uint64_t index) noexcept {
        return freed_[static_cast<std::size_t>(index) & (freed_.size() - 1)];
    }
    void enqueue(record& added) noexcept {
        if (tail_ - head_ == freed_.size()) forget_oldest();
        entry(tail_++) = {&added, added.number};
        held_bytes_ += added.bytes;
    }
    bool holds_too_much() const noexcept {
        return tail_ - middle_ > options_.quarantine || held_bytes_ > options_.quarantine_bytes;
    }
    bool take_out(fenced_block& given) noexcept {
        record& oldest = *entry(middle_++).of;
        held_bytes_ -= oldest.bytes;
        check_freed(oldest.p, oldest);
        oldest.status = state::given_back;
        given = fenced_block::around(oldest.p, oldest.bytes, oldest.alignment());
        unpoison(given.storage, given.bytes);
        return true;
    }
    [[gnu::noinline]] bool make_ring() noexcept {
        const std::size_t entries = std::bit_ceil(2 * options_.quarantine + 2);
        if (!freed_.reserve(entries)) return false;
        while (freed_.size() != entries) freed_.push({nullptr, 0});
        return true;
    }
    void forget_oldest() noexcept {
        const freed_entry oldest = entry(head_++);
        if (oldest.of->number == oldest.number && oldest.of->status == state::given_back && !destroying_)
            forget(*oldest.of);
    }
    // What is held back of what was allocated before `number` stays.
    void keep_held_before(std::uint64_t number) noexcept {
        const std::uint64_t last = tail_;
        head_ = tail_ = middle_;
        held_bytes_ = 0;
        for (std::uint64_t at = middle_; at != last; ++at) {
            const freed_entry each = entry(at);
            if (each.number >= number) continue;
            entry(tail_++) = each;
            held_bytes_ += each.of->bytes;
        }
    }

    // The record at `p`: that of an allocation before it there, or a new one; null when there is no memory.
    record* record_for(std::byte* p) noexcept {
        record** found = table_.insert(key_of(p));
        if (found != nullptr && *found != nullptr) [[likely]]
            return *found;
        return found == nullptr ? nullptr : new_record(p, *found);
    }
    [[gnu::noinline]] record* new_record(std::byte* p, record*& of) noexcept {
        void* storage = freed_.size() == 0 && !make_ring() ? nullptr : own_.try_allocate();
        if (storage == nullptr) {
            table_.erase(key_of(p));
            return nullptr;
        }
        of = ::new (storage) record{};
        of->p = p;
        return of;
    }
    record* find(const void* p) const noexcept {
        record* const* found = table_.find(key_of(p));
        return found == nullptr ? nullptr : *found;
    }
    void forget(record& gone) noexcept {
        table_.erase(key_of(gone.p));
        own_.deallocate(&gone);
    }

    [[gnu::noinline]] std::uint32_t stack_here() noexcept {
        return key_of_stack(capture_stack(options_.stack_frames, 1));
    }
    [[gnu::noinline]] std::uint32_t stack_of(const void* caller) noexcept {
        call_stack one;
        if constexpr (ACRE_HAS_CALL_STACKS) one.frames[one.count++] = caller;
        return key_of_stack(one);
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

    // Reports. All below is rare.

    // The record of the allocation that `p` lies in, with its fences; live ones are preferred.
    [[gnu::noinline, gnu::cold]] const record* containing(const void* p, const std::byte*& base) noexcept {
        const auto address = key_of(p);
        const record* result = nullptr;
        for_each([&](std::byte* first, const record& each) {
            if (address - (key_of(first) - fence_bytes) >= each.bytes + 2 * fence_bytes) return;
            if (result != nullptr && result->status <= each.status) return;
            result = find(first);
            base = first;
        });
        return result;
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
    void add_size(report_text& text, const record& each) noexcept {
        const word words[] = {each.bytes, each.alignment(), static_cast<std::size_t>(each.number)};
        text.add("  % bytes aligned to %, allocation number %\n", words);
    }
    void add_history(report_text& text, const record& each) noexcept {
        add_size(text, each);
        add_place(text, "allocated", {each.allocated, each.allocated_stack});
        if (each.status == state::live) return;
        const char* what = each.status == state::reset     ? "taken back by a reset"
                           : each.status == state::rewound ? "taken back by a rewind or the end of a scratch"
                                                           : "freed";
        add_place(text, what, {each.freed, each.freed_stack});
    }

    [[gnu::noinline, gnu::cold]] void report(const char* what, const void* p, const report_text& text) noexcept {
        const misuse noticed{resource_, what, p, text.c_str()};
        if (options_.handler == nullptr) abort_on_misuse(noticed);
        options_.handler(noticed);
    }

    [[gnu::noinline, gnu::cold]] void report_free(const void* p, const record* found,
                                                  std::source_location where) noexcept {
        report_text text;
        const char* what = mistake::foreign_pointer;
        if (found == nullptr) {
            const std::byte* base = nullptr;
            if (const record* around = containing(p, base)) {
                what = mistake::inside_an_allocation;
                const word words[] = {static_cast<const void*>(base)};
                text.add("  the allocation begins at %\n", words);
                add_history(text, *around);
            }
        } else {
            what = found->status == state::reset     ? checked_mistake::freed_after_reset
                   : found->status == state::rewound ? checked_mistake::freed_after_rewind
                                                     : mistake::double_free;
            add_history(text, *found);
        }
        add_now(text, found == nullptr ? "freed" : "freed again", where);
        report(what, p, text);
    }
    [[gnu::noinline, gnu::cold]] void report_size(const void* p, const record& found, claimed_size claimed,
                                                  std::source_location where) noexcept {
        report_text text;
        add_history(text, found);
        const word words[] = {claimed.bytes, claimed.alignment};
        text.add("  freed as % bytes aligned to %\n", words);
        add_now(text, "freed", where);
        report(mistake::wrong_size, p, text);
    }
    [[gnu::noinline, gnu::cold]] void report_fence(const std::byte* p, const record& each) noexcept {
        const bool front_is_whole = still_has(p - fence_bytes, fence_bytes, fence_pattern);
        const std::byte* fence = front_is_whole ? p + each.bytes : p - fence_bytes;
        if constexpr (poisoning) unpoison_defined(fence, fence_bytes);
        const std::byte* written = first_other(fence, fence_bytes, fence_pattern);
        report_text text;
        if (written == nullptr) written = fence;
        const std::size_t distance =
            front_is_whole ? key_of(written) - key_of(p + each.bytes) + 1 : key_of(p) - key_of(written);
        const word words[] = {static_cast<const void*>(written), distance,
                              front_is_whole ? "behind its last byte" : "in front of its first byte"};
        text.add("  the byte at % was written, % bytes %\n", words);
        add_history(text, each);
        add_stack_of_finding(text);
        report(front_is_whole ? checked_mistake::overflow : checked_mistake::underflow, p, text);
    }
    [[gnu::noinline, gnu::cold]] void report_written(const std::byte* p, const record& each) noexcept {
        if constexpr (poisoning) unpoison_defined(p - fence_bytes, each.bytes + 2 * fence_bytes);
        report_text text;
        if (const std::byte* written = first_other(p, filled(each.bytes), freed_pattern)) {
            const word words[] = {static_cast<const void*>(written), static_cast<std::size_t>(written - p)};
            text.add("  the byte at % was written, % bytes from its first byte\n", words);
        }
        add_history(text, each);
        add_stack_of_finding(text);
        report(checked_mistake::written_after_free, p, text);
    }
    void add_stack_of_finding(report_text& text) noexcept {
        text.add("  found by the call\n");
        add_stack(text, capture_stack(10, 1));
    }
    [[gnu::noinline, gnu::cold]] void report_use(const std::byte* p, const record* found,
                                                 std::source_location where) noexcept {
        report_text text;
        const char* what = checked_mistake::used_after_free;
        if (found == nullptr) {
            text.add("  its storage has served other allocations since\n");
        } else {
            if (found->status == state::reset) what = checked_mistake::used_after_reset;
            if (found->status == state::rewound) what = checked_mistake::used_after_rewind;
            add_history(text, *found);
        }
        add_now(text, "used", where);
        report(what, p, text);
    }
    [[gnu::noinline, gnu::cold]] void report_live() noexcept {
        report_text text;
        std::size_t bytes = 0;
        for_each([&](std::byte*, const record& each) {
            if (each.status == state::live) bytes += each.bytes;
        });
        const word words[] = {live_, bytes};
        text.add("  % allocations of % bytes in all, oldest first:\n", words);
        const std::byte* oldest = nullptr;
        std::uint64_t after = 0;
        constexpr std::size_t max_listed = 10;
        for (std::size_t i = 0; i < max_listed && i < live_; ++i) after = add_live_after(text, after, oldest);
        if (live_ > max_listed) {
            const word more[] = {live_ - max_listed};
            text.add("  and % more\n", more);
        }
        report(checked_mistake::leak, oldest, text);
    }
    // Adds the oldest live allocation whose number is greater than `after`, and returns its number.
    std::uint64_t add_live_after(report_text& text, std::uint64_t after, const std::byte*& oldest) noexcept {
        const std::byte* chosen = nullptr;
        std::uint64_t number = UINT64_MAX;
        for_each([&](std::byte* p, const record& each) {
            if (each.status != state::live || each.number <= after || each.number >= number) return;
            chosen = p;
            number = each.number;
        });
        const word words[] = {static_cast<const void*>(chosen)};
        text.add("  at %\n", words);
        add_history(text, *find(chosen));
        if (oldest == nullptr) oldest = chosen;
        return number;
    }

    checked_options options_;
    const char* resource_;
    bool shared_;
    bool destroying_ = false;
#if ACRE_HAS_THREADS
    mutable spin_lock lock_;
#endif
    pool<sizeof(record), alignof(record)> own_;
    record_table<record*> table_;
    record_table<call_stack> stacks_;
    record_list<freed_entry> freed_;
    record_list<due_object> due_;
    std::uint64_t next_number_ = 1;
    std::size_t live_ = 0;
    std::uint64_t head_ = 0;
    std::uint64_t middle_ = 0;
    std::uint64_t tail_ = 0;
    std::size_t held_bytes_ = 0;
    checked_link* link_ = nullptr;
};

}  // namespace acre::detail
