// What acre::checked knows of each allocation, and the checks. It does not depend on the type of the checked resource.
//
// Used by acre::checked, not directly. Cost: add and remove are inlined, because half of a call's cost would be in what
// is constant at the call; constant time but for the table's growth. Resets and rewinds are linear in the records.
// Thread rules: one thread at a time, or any with `shared`.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/sort.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/error.hpp>
#include <acre/core/locks.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/observe/checked_options.hpp>
#include <acre/observe/detail/call_stack.hpp>
#include <acre/observe/detail/checked_fences.hpp>
#include <acre/observe/detail/checked_quarantine.hpp>
#include <acre/observe/detail/checked_record.hpp>
#include <acre/observe/detail/checked_reports.hpp>
#include <acre/observe/detail/record_list.hpp>
#include <acre/pools/pool.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <source_location>
#include <utility>
#if ACRE_HAS_THREADS
#include <acre/core/detail/fork_guard.hpp>
#endif

namespace acre::detail {

class checked_records;

/// What a checked_ptr and a checked_scratch keep: it outlives the resource.
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
    using record = checked_record;
    using state = checked_record::state;

    // An object whose destructor a reset runs.
    struct due_object {
        void* first;
        std::size_t count;
        void (*destroy)(void* first, std::size_t count) noexcept;
        std::uint64_t number;
    };

    struct number_range {
        std::uint64_t first;
        std::uint64_t end;
    };

public:
    /// Storage that goes back to the resource.
    struct given_block {
        fenced_block block;
        bool others_follow = false;  // if next_given_back() has another
    };

    static constexpr const char* checked_name = "acre::checked";

    /// `reuses` where the resource hands out again what was freed: else a freed address stays known for good.
    checked_records(const checked_options& options, const char* resource, bool shared, bool reuses)
        : fill_bytes_(options.fill_bytes),
          max_quick_bytes_(poisoning || options.stack_frames != 0 ? 0 : options.fill_bytes),
          shared_(shared),
          reuses_(reuses),
          leaks_(options.leaks),
          memory_(options.records),
          own_(options.records),
          table_(options.records),
          quarantine_(options.records, options.quarantine_allocations, options.quarantine_bytes),
          reports_(options, resource),
          due_(options.records),
          kept_(options.records) {
        require_option(options.quarantine_allocations <= 65'536, checked_name, "quarantine_allocations",
                       options.quarantine_allocations, "0 to 65536");
        require_option(options.stack_frames <= call_stack::max_frames, checked_name, "stack_frames",
                       options.stack_frames, "0 to 16");
        guard_forks();
    }
    /// The records move with the storage.
    checked_records(checked_records&& other) noexcept
        : fill_bytes_(other.fill_bytes_),
          max_quick_bytes_(other.max_quick_bytes_),
          shared_(other.shared_),
          reuses_(other.reuses_),
          leaks_(other.leaks_),
          memory_(other.memory_),
          own_(std::move(other.own_)),
          table_(std::move(other.table_)),
          quarantine_(std::move(other.quarantine_)),
          reports_(std::move(other.reports_)),
          due_(std::move(other.due_)),
          kept_(std::move(other.kept_)),
          kept_from_(other.kept_from_),
          next_number_(other.next_number_),
          frees_(std::exchange(other.frees_, other.next_number_ - 1)),
          link_(std::exchange(other.link_, nullptr)) {
        if (link_ != nullptr) link_->records = this;
        guard_forks();
    }
    checked_records& operator=(checked_records&&) = delete;
    ~checked_records() {
        unguard_forks();
        if (link_ == nullptr) return;
        link_->records = nullptr;
        link_->drop_reference();
    }

    /// False for a request that no resource serves, which is passed on as it is.
    static constexpr bool fits(std::size_t bytes, std::size_t alignment) noexcept {
        return is_alignment(alignment) && alignment <= max_request / 4 && bytes <= max_request / 4;
    }

    /// Notes the allocation at `p`, which has fences around it. False, and nothing noted, when there is no memory for
    /// the record. `Shared` as in the constructor.
    template <bool Shared>
    [[gnu::always_inline]] bool add(std::byte* p, std::size_t bytes, std::size_t alignment, request_kind kind,
                                    std::source_location where) noexcept {
        const guard hold{*this, Shared};
        record* const* known = table_.find_at_home(key_of(p));
        record* added;
        if (known != nullptr) [[likely]] {
            added = *known;
        } else {
            added = record_for(p);
            if (added == nullptr) return false;
        }
        begin(*added, p, bytes, alignment, kind, where);
        return true;
    }

    /// Serves a request with what would leave the quarantine next, without a way through the resource, if it is alike:
    /// all arguments but `where` are constants. Returns its address, or null: then the resource serves it.
    template <bool Shared>
    [[gnu::always_inline]] void* reuse(std::size_t bytes, std::size_t alignment, request_kind kind,
                                       std::source_location where) noexcept {
        if (poisoning || !is_quick(bytes)) return nullptr;
        const guard hold{*this, Shared};
        record** const leaves = quarantine_.leaves_next();
        if (leaves == nullptr || *leaves == nullptr) return nullptr;
        record& oldest = **leaves;
        const checked_traits traits = checked_traits::of(alignment, kind, true).with(state::quarantined);
        if (!is_alike(oldest, traits, bytes) ||
            !is_zero(differs_from(oldest.p, bytes, freed_pattern) | fence_damage(oldest.p, bytes))) [[unlikely]] {
            return nullptr;
        }
        quarantine_.take_at(leaves, bytes);
        // What is_alike() compared stays as it is, and the fences are whole.
        oldest.traits = traits.with(state::live);
        note_request(oldest, kind, where);
        quick_fill(oldest.p, bytes, fresh_pattern);
        return oldest.p;
    }

    /// Checks that the allocation at `p` may be freed now; reports it and returns false when not.
    bool may_be_freed(const void* p, claimed_size claimed, std::source_location where) noexcept {
        const guard hold{*this};
        return freeable(p, claimed, where) != nullptr;
    }

    /// Frees the allocation at `p`, or reports why not. Returns what goes back to the resource now, if its storage is
    /// not null; then next_given_back() says what follows.
    [[gnu::noinline]] given_block remove(void* p, claimed_size claimed, std::source_location where) noexcept {
        const guard hold{*this};
        auto* first = static_cast<std::byte*>(p);
        record* const* known = table_.find_at_home(key_of(p));
        record* found = known == nullptr ? nullptr : *known;
        if (known == nullptr || !is_right(*found, claimed) || !fences_are_whole(first, found->bytes)) [[unlikely]] {
            found = freeable(p, claimed, where);
            if (found == nullptr) return {};
        }
        found->traits.status = state::quarantined;
        found->freed = where;
        found->freed_turn = static_cast<std::uint32_t>(++frees_);
        if (reports_.keeps_stacks()) [[unlikely]]
            found->freed_stack = reports_.stack_here();
        fill_freed(*found);
        poison(found->p, found->bytes);
        record* const oldest = quarantine_.exchange(*found);
        return oldest == nullptr ? given_block{} : give_back(*oldest);
    }

    /// The same where all arguments but `p` and `where` are constants, if all is as usual: the allocation at `p` is as
    /// they say, and the quarantine has room, or an allocation like it leaves: the address of its storage is set then.
    /// False, and nothing done, where remove() has to do it. `Shared` as in the constructor.
    template <bool Shared>
    [[gnu::always_inline]] bool remove_usual(void* p, std::size_t bytes, std::size_t alignment, request_kind kind,
                                             std::source_location where, void*& leaving) noexcept {
        if (poisoning || !is_quick(bytes)) return false;
        const checked_traits traits = checked_traits::of(alignment, kind, true);
        const guard hold{*this, Shared};
        auto* first = static_cast<std::byte*>(p);
        record* const* known = table_.find_at_home(key_of(p));
        if (known == nullptr || !is_alike(**known, traits, bytes) || !is_zero(fence_damage(first, bytes))) [[unlikely]]
            return false;
        record& freed = **known;
        record** const leaves = quarantine_.leaves_next();
        if (record* const oldest = *leaves) {
            if (!is_alike(*oldest, traits.with(state::quarantined), bytes) ||
                !is_zero(differs_from(oldest->p, bytes, freed_pattern) | fence_damage(oldest->p, bytes))) [[unlikely]] {
                return false;
            }
            quarantine_.exchange_at(leaves, freed);
            freed.traits = traits.with(state::quarantined);
            oldest->traits = traits.with(state::given_back);
            leaving = oldest->p - fenced_block::front(alignment);
        } else if (quarantine_.max_held() == 0) {
            freed.traits = traits.with(state::given_back);
            leaving = first - fenced_block::front(alignment);
        } else if (quarantine_.add(freed, bytes)) [[likely]] {
            freed.traits = traits.with(state::quarantined);
        } else {
            return false;
        }
        freed.freed = where;
        freed.freed_turn = static_cast<std::uint32_t>(++frees_);
        quick_fill(first, bytes, freed_pattern);
        return true;
    }

    /// Takes the longest held allocation out when more are held than the options allow, or any when `all`. The storage
    /// is null when there is none.
    [[gnu::noinline]] given_block next_given_back(bool all = false) noexcept {
        const guard hold{*this};
        if (all ? quarantine_.held() == 0 : !quarantine_.is_overfull()) return {};
        return give_back(quarantine_.take());
    }

    /// Checks before the resource resizes the allocation at `p` in place.
    bool may_be_resized(const void* p, std::size_t old_bytes, std::source_location where) noexcept {
        const guard hold{*this};
        const record* found = find(p);
        const std::size_t alignment = found == nullptr ? 1 : found->alignment();
        return freeable(p, {old_bytes, alignment}, where, true) != nullptr;
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
        found->traits.flags &= static_cast<std::uint8_t>(~checked_traits::quick);
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
        record_list<std::byte*> found{memory_};
        bool complete = true;
        for_each([&](const record& each) {
            if (each.is_live() && each.is_object()) complete = complete && found.push(each.p);
        });
        detail::sort(found.data(), found.size(), [](const std::byte* a, const std::byte* b) { return a < b; });
        destroying_ = true;
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (is_live(found[i])) destroy(static_cast<void*>(found[i]));
        }
        // Without memory for the list, in any order.
        while (!complete) {
            std::byte* any = nullptr;
            for_each([&](const record& each) {
                if (each.is_live() && each.is_object()) any = each.p;
            });
            complete = any == nullptr;
            if (!complete) destroy(static_cast<void*>(any));
        }
        destroying_ = false;
    }

    bool is_live(const void* p) noexcept {
        const guard hold{*this};
        const record* found = find(p);
        return found != nullptr && found->is_live();
    }
    bool is_live_object(const void* p) noexcept {
        const guard hold{*this};
        const record* found = find(p);
        return found != nullptr && found->is_live() && found->is_object();
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
        for_each([&](const record& each) {
            if (each.number < number) return;
            if (each.is_live() && !check_fences(each)) ++damaged;
            if (each.status() == state::quarantined && !check_freed(each)) ++damaged;
        });
        return damaged;
    }

    std::uint64_t next_number() const noexcept { return next_number_; }
    /// The newest allocation that no reset or rewind has taken back; 0 when there is none.
    std::uint64_t newest_kept() const noexcept {
        if (next_number_ > kept_from_) return next_number_ - 1;
        return kept_.size() == 0 ? 0 : kept_.back().end - 1;
    }
    /// True when no reset or rewind has taken back the allocation, or it is 0.
    bool is_kept(std::uint64_t number) const noexcept {
        if (number == 0 || (number >= kept_from_ && number < next_number_)) return true;
        for (std::size_t i = kept_.size(); i > 0; --i) {
            const number_range& each = kept_.data()[i - 1];
            if (number >= each.first) return number < each.end;
        }
        return false;
    }
    /// A reset or a rewind takes back what was allocated from `number` on.
    void take_back_from(std::uint64_t number) noexcept {
        // Without memory for the range, what was taken back of it passes as kept.
        if (number > kept_from_ && !kept_.push({kept_from_, number})) return;
        while (kept_.size() != 0 && kept_.back().first >= number) kept_.pop();
        if (kept_.size() != 0) kept_.back().end = detail::min(kept_.back().end, number);
        kept_from_ = next_number_;
    }
    std::size_t live() const noexcept {
        const guard hold{*this};
        return count_live();
    }
    std::size_t held() const noexcept {
        const guard hold{*this};
        return quarantine_.held();
    }

    /// The resource is about to take back what was allocated from `number` on: nothing of it stays poisoned, and with
    /// `fills` what is live gets the pattern of freed storage.
    void prepare_end_from(std::uint64_t number, bool fills = true) noexcept {
        const guard hold{*this};
        for_each([&](const record& each) {
            if (each.number < number || each.status() > state::quarantined) return;
            const fenced_block block = each.block();
            unpoison(block.storage, block.bytes);
            if (fills && each.is_live()) fill_freed(each);
        });
    }
    /// The resource took back what was allocated from `number` on. That stays known, so that a late free is named.
    void ended_from(std::uint64_t number, bool by_reset, std::source_location where) noexcept {
        const guard hold{*this};
        const std::uint32_t stack = reports_.keeps_stacks() ? reports_.stack_here() : 0;
        take_back_from(number);
        quarantine_.drop_from(number);
        // Erasing may show it a record twice, so it changes none.
        forget_if([&](const record& each) {
            return !each.is_live() && (each.status() != state::quarantined || each.number >= number);
        });
        for_each([&](record& each) {
            if (!each.is_live() || each.number < number) return;
            each.traits.status = by_reset ? state::reset : state::rewound;
            each.freed = where;
            each.freed_stack = stack;
            ++frees_;
        });
    }

    /// Reports what is live at the end of the resource.
    void report_leaks(bool report_by_type) noexcept {
        const bool wanted = leaks_ == leak_rule::report || (leaks_ == leak_rule::by_type && report_by_type);
        if (wanted && count_live() != 0) reports_.leaks(table_, count_live());
    }
    /// Reports a scratch that ended too early; `inner` is where one within it began, which goes on.
    void report_scratch(const void* scratch, std::source_location began, std::source_location inner,
                        std::source_location where) noexcept {
        reports_.scratch_order(scratch, began, inner, where);
    }
    void report_late_scratch(const void* scratch, std::source_location began, std::source_location where) noexcept {
        reports_.late_scratch(scratch, began, where);
    }
    void report_wrong_mark(const void* resource, bool is_foreign, std::source_location where) noexcept {
        reports_.wrong_mark(resource, is_foreign, where);
    }

    /// `what` is a mistake that the object at `p` makes with itself, or with its resource.
    void report_object(const char* what, const void* p, std::source_location where) noexcept {
        const guard hold{*this};
        reports_.wrong_by_object(what, find(p), p, where);
    }

    // For checked_ptr and checked_scratch.

    /// The number of the allocation that `p` points into, and in `base` its address; 0 when there is none.
    std::uint64_t number_at(const void* p, const std::byte*& base) noexcept {
        const guard hold{*this};
        const record* found = find(p);
        if (found == nullptr || !found->is_live()) found = checked_reports::containing(table_, p);
        base = found == nullptr ? static_cast<const std::byte*>(p) : found->p;
        return found == nullptr || !found->is_live() ? 0 : found->number;
    }
    /// True while the allocation with this address and number is live; reports its use when not.
    bool may_be_used(const std::byte* base, std::uint64_t number, std::source_location where) noexcept {
        const guard hold{*this};
        const record* found = find(base);
        const bool known = found != nullptr && found->number == number;
        if (known && found->is_live()) [[likely]]
            return true;
        reports_.late_use(base, known ? found : nullptr, where);
        return false;
    }
    void report_dead(const void* p, std::source_location where) noexcept {
        const guard hold{*this};
        reports_.not_live(p, find(p), where);
    }
    checked_link* link() noexcept {
        const guard hold{*this};
        if (link_ == nullptr) {
            void* storage = memory_.try_allocate(sizeof(checked_link), alignof(checked_link));
            if (storage == nullptr) return nullptr;
            link_ = ::new (storage) checked_link{this, 1, memory_};
        }
        link_->add_reference();
        return link_;
    }

private:
    // Holds the lock if threads share the records.
    struct guard {
#if ACRE_HAS_THREADS
        explicit guard(const checked_records& records) noexcept : guard(records, records.shared_) {}
        [[gnu::always_inline]] guard(const checked_records& records, bool shared) noexcept
            : held(shared ? &records.lock_ : nullptr) {
            if (held != nullptr) [[unlikely]]
                lock(records);
        }
        [[gnu::always_inline]] ~guard() {
            if (held != nullptr) [[unlikely]]
                held->unlock();
        }
        // A handler may use the resource whose misuse it was told of: then its thread has the lock.
        [[gnu::always_inline]] void lock(const checked_records& records) noexcept {
            if (!held->try_lock()) [[unlikely]]
                wait(records);
        }
        [[gnu::noinline]] void wait(const checked_records& records) noexcept {
            if (records.reports_.are_of_this_thread()) {
                held = nullptr;
            } else {
                held->lock();
            }
        }
        spin_lock* held;
#else
        explicit guard(const checked_records&, bool = false) noexcept {}
        ~guard() {}
#endif
        guard(const guard&) = delete;
        guard& operator=(const guard&) = delete;
    };

#if ACRE_HAS_THREADS
    void guard_forks() noexcept {
        if (shared_) forks_.guard(this, &lock_for_fork, &unlock_after_fork, [](void*) noexcept {});
    }
    void unguard_forks() noexcept {
        if (shared_) forks_.unguard();
    }
    // A handler that forks has the lock already.
    static void lock_for_fork(void* records) noexcept {
        auto& forked = *static_cast<checked_records*>(records);
        if (!forked.reports_.are_of_this_thread()) forked.lock_.lock();
    }
    static void unlock_after_fork(void* records) noexcept {
        auto& forked = *static_cast<checked_records*>(records);
        if (!forked.reports_.are_of_this_thread()) forked.lock_.unlock();
    }
#else
    void guard_forks() noexcept {}
    void unguard_forks() noexcept {}
#endif

    std::size_t count_live() const noexcept { return narrowed<std::size_t>(next_number_ - 1 - frees_); }
    std::size_t filled(std::size_t bytes) const noexcept { return detail::min(bytes, fill_bytes_); }

    template <class Function>
    void for_each(Function function) {
        table_.for_each([&](std::size_t, record* each) { function(*each); });
    }

    // A new allocation in the record of its address.
    [[gnu::always_inline]] void begin(record& of, std::byte* p, std::size_t bytes, std::size_t alignment,
                                      request_kind kind, std::source_location where) noexcept {
        of.bytes = bytes;
        note_request(of, kind, where);
        write_fences(p, bytes);
        if (is_quick(bytes) && bytes <= max_quick_bytes_) [[likely]] {
            of.traits = checked_traits::of(alignment, kind, true);
            quick_fill(p, bytes, fresh_pattern);
        } else {
            of.traits = checked_traits::of(alignment, kind, false);
            begin_slowly(of);
        }
    }
    // Who asked for it, and when.
    [[gnu::always_inline]] void note_request(record& of, request_kind kind, std::source_location where) noexcept {
        of.allocated = where;
        of.number = next_number_++;
        of.allocated_stack = 0;
        of.freed_stack = 0;
        if (kind.caller != nullptr && where.line() == 0 && !reports_.keeps_stacks())
            of.allocated_stack = reports_.stack_of(kind.caller);
    }
    [[gnu::noinline]] void begin_slowly(record& of) noexcept {
        fill(of.p, filled(of.bytes), fresh_pattern);
        if (reports_.keeps_stacks()) of.allocated_stack = reports_.stack_here();
    }
    // A quick record whose traits are `traits`. Slots are of one size.
    [[gnu::always_inline]] static bool is_alike(const record& of, checked_traits traits, std::size_t bytes) noexcept {
        return of.traits == traits && (traits.has(checked_traits::slot) || of.bytes == bytes);
    }
    // Of a live record, and with the size that was asked for.
    [[gnu::always_inline]] static bool is_right(const record& of, claimed_size claimed) noexcept {
        if (!of.is_live()) return false;
        return !claimed.known() || (claimed.bytes == of.bytes && claimed.alignment == of.alignment()) ||
               (of.traits.has(checked_traits::slot) && claimed.bytes <= of.bytes);
    }
    // The live record at `p` if a free of it, or with `resized` a resize, is right; null, and the mistake reported,
    // when not.
    [[gnu::noinline]] record* freeable(const void* p, claimed_size claimed, std::source_location where,
                                       bool resized = false) noexcept {
        record* found = find(p);
        if (found != nullptr && is_right(*found, claimed)) {
            check_fences(*found);
            return found;
        }
        if (found != nullptr && found->is_live()) {
            reports_.wrong_size(*found, claimed, where, resized);
        } else if (found == nullptr || !destroying_) {
            // While an object pool destroys its objects, their destructors may destroy others.
            reports_.wrong_free(table_, p, found, where, resized);
        }
        return nullptr;
    }

    bool check_fences(const record& each) noexcept {
        if (fences_are_whole(each.p, each.bytes)) [[likely]]
            return true;
        reports_.damaged_fence(each);
        write_fences(each.p, each.bytes);
        return false;
    }
    bool check_freed(const record& each) noexcept {
        const bool is_whole =
            each.traits.has(checked_traits::quick)
                ? is_zero(differs_from(each.p, each.bytes, freed_pattern) | fence_damage(each.p, each.bytes))
                : still_has(each.p, filled(each.bytes), freed_pattern) && fences_are_whole(each.p, each.bytes);
        if (is_whole) [[likely]]
            return true;
        report_late_write(each);
        return false;
    }
    [[gnu::noinline, gnu::cold]] void report_late_write(const record& each) noexcept {
        reports_.late_write(each, filled(each.bytes));
        unpoison(each.p, each.bytes);
        fill_freed(each);
        write_fences(each.p, each.bytes);
        poison(each.p, each.bytes);
    }
    [[gnu::always_inline]] void fill_freed(const record& each) const noexcept {
        if (each.traits.has(checked_traits::quick)) return quick_fill(each.p, each.bytes, freed_pattern);
        fill(each.p, filled(each.bytes), freed_pattern);
    }

    // A record that has left the quarantine.
    given_block give_back(record& oldest) noexcept {
        check_freed(oldest);
        oldest.traits.status = state::given_back;
        const given_block given{oldest.block(), quarantine_.is_overfull()};
        unpoison(given.block.storage, given.block.bytes);
        return given;
    }

    // The record at `p`: that of an allocation before it there, or a new one; null when there is no memory.
    [[gnu::noinline]] record* record_for(std::byte* p) noexcept {
        if (record* known = find(p)) return known;
        if (!quarantine_.prepare()) return nullptr;
        if (table_.is_full()) make_room();
        record** of = table_.insert(key_of(p));
        if (of == nullptr) return nullptr;
        void* storage = own_.try_allocate();
        if (storage == nullptr) {
            table_.erase(key_of(p));
            return nullptr;
        }
        *of = ::new (storage) record{};
        (*of)->p = p;
        return *of;
    }
    // Forgets what was given back long ago; grows the table when that is little.
    void make_room() noexcept {
        if (reuses_ && !destroying_) {
            const std::size_t remembered = 2 * quarantine_.max_held() + 16;
            forget_if([&](const record& each) {
                return each.status() == state::given_back &&
                       static_cast<std::uint32_t>(frees_) - each.freed_turn > remembered;
            });
        }
        if (table_.is_half_full()) table_.grow();
    }
    template <class Predicate>
    void forget_if(Predicate predicate) noexcept {
        table_.erase_if([&](record* each) {
            if (!predicate(std::as_const(*each))) return false;
            own_.deallocate(each);
            return true;
        });
    }
    [[gnu::noinline]] record* find(const void* p) const noexcept {
        record* const* found = table_.find(key_of(p));
        return found == nullptr ? nullptr : *found;
    }

    std::size_t fill_bytes_;
    std::size_t max_quick_bytes_;
    bool shared_;
    bool reuses_;
    bool destroying_ = false;
    leak_rule leaks_;
#if ACRE_HAS_THREADS
    mutable spin_lock lock_;
    fork_guard forks_;
#endif
    resource_ref memory_;
    pool<sizeof(record), alignof(record)> own_;
    checked_table table_;
    checked_quarantine quarantine_;
    checked_reports reports_;
    record_list<due_object> due_;
    // The numbers that no rewind has taken back: these ranges in ascending order, and kept_from_ and later.
    record_list<number_range> kept_;
    std::uint64_t kept_from_ = 1;
    std::uint64_t next_number_ = 1;
    std::uint64_t frees_ = 0;  // and what a reset or a rewind took back
    checked_link* link_ = nullptr;
};

}  // namespace acre::detail
