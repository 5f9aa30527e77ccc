// The mechanism under acre::multi_arena and acre::inline_multi_arena: equal arenas in one piece of storage, each with a
// refcount of its live allocations.
//
// Use those, not this. A `Storage` says where the bytes lie, and how many arenas of how many bytes there are, possibly
// as constants.
//
// Why it is constant time: allocating moves the bump pointer of the active arena; when that is full, an empty one comes
// from a list. Freeing finds its arena by a division, counts down, and lists the arena at zero. A mark beside the
// arenas says where live allocations begin and how long they are, so a pointer that does not belong to one is noticed.
// The last allocation of an arena is given back at once, so pairs of allocate and deallocate use up no room. The arena
// with more room left stays active, so a short-lived large block does not pin an arena for the small long-lived ones
// after it.
//
// Published multi-arenas have refcounted arenas. They lack the list of empty arenas, the choice of the active one and
// the 64-bit counts.
#pragma once

#include <acre/arenas/detail/bump_arithmetic.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/no_clear.hpp>
#include <acre/core/detail/nonblocking.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/sanitizer.hpp>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace acre::detail {

/// One arena. All zero before its first use.
struct arena_record {
    std::uintptr_t position;  // the bump pointer
    std::uintptr_t end;
    std::size_t live;     // allocations not yet freed
    std::uintptr_t link;  // in the list of empty arenas: address of the next, 0 at the end; else one of the two below

    static constexpr std::uintptr_t taken = 1;  // not in the list
    static constexpr std::uintptr_t kept = 2;   // not in the list, kept open for the room that it has left
};

/// Equal arenas in the storage of `Storage`.
template <class Storage>
class refcounted_arenas : protected Storage, public no_clear<Storage> {
    using fit = bump_arithmetic<Storage::max_alignment>;

public:
    /// Sizes, also of arenas, are rounded up to a multiple of this, so requests aligned to no more need no padding.
    static constexpr std::size_t granule = fit::granule;
    /// Upper limit of the arenas that can be kept open.
    static constexpr std::size_t max_open = 8;

    refcounted_arenas(const refcounted_arenas&) = delete;
    refcounted_arenas& operator=(const refcounted_arenas&) = delete;

    /// Storage of `bytes` bytes aligned to `alignment`. Throws request_too_large, out_of_arenas or bad_alignment.
    /// Constant time, except for a request that takes a run of arenas.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (!fit::is_ordinary(alignment)) [[unlikely]]
            return place_aligned<true>(bytes, alignment);
        void* p;
        if (place_in_active(bytes, p)) [[likely]]
            return p;
        return place_in_next<true>(bytes);
    }

    /// As allocate, but null when it cannot.
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes,
                                              std::size_t alignment = default_alignment) noexcept ACRE_NONBLOCKING {
        if (!fit::is_ordinary(alignment)) [[unlikely]]
            return place_aligned<false>(bytes, alignment);
        void* p;
        if (place_in_active(bytes, p)) [[likely]]
            return p;
        return place_in_next<false>(bytes);
    }

    /// Takes storage back; null is a no-op. Constant time. A misuse, in every build: a double free, a pointer into the
    /// middle of an allocation or of another resource, another size than the one allocated. Sizes are compared rounded
    /// up to 16 bytes, and modulo 2 KiB.
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes,
                                           std::size_t = default_alignment) noexcept ACRE_NONBLOCKING {
        if (!is_live(p, bytes)) [[unlikely]]
            return deallocate_slow(p, bytes);
        const std::uintptr_t start = position_of(p);
        set_mark(this->mark_at(start), marked::freed);
        poison(p, bytes);
        arena_record& home = home_of(p);
        if (--home.live == 0) return emptied(home);
        const std::uintptr_t end = start + fit::rounded(bytes);
        if (end < home.position) return;
        if (end > home.position) [[unlikely]]
            abort_on_misuse(Storage::name, mistake::wrong_size, p);
        home.position = start;
    }

    /// Resizes the allocation at `p` in place: possible for the last one of its arena while that has room, and for any
    /// that shrinks within an arena. False, and nothing changed, when it cannot. The misuses are those of deallocate.
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
        if (!is_live(p, old_bytes)) return resize_run(p, old_bytes, new_bytes);
        arena_record& home = home_of(p);
        const std::uintptr_t start = position_of(p);
        const bool last = start + fit::rounded(old_bytes) == home.position;
        if (last ? new_bytes > home.end - start : new_bytes > old_bytes) return false;
        if (last) home.position = start + fit::rounded(new_bytes);
        set_mark(this->mark_at(start), marked::live_of(fit::rounded(new_bytes)));
        poison_resized(p, old_bytes, new_bytes);
        return true;
    }

    /// Takes everything back. Linear in the number of arenas, and in a 16th of their bytes.
    void reset() noexcept {
        poison(this->bytes(), stretched(begun_ * this->arena_bytes()));
        this->clear_marks();
        active_ = nullptr;
        kept_count_ = 0;
        empty_ = nullptr;
        taken_ = 0;
        begun_ = 0;
        if constexpr (Storage::listed_at_once) list_all();
    }

    /// Number of arenas.
    using Storage::arenas;
    /// Bytes of each.
    using Storage::arena_bytes;

    /// Bytes of all arenas.
    std::size_t capacity() const noexcept { return this->arenas() * this->arena_bytes(); }

    /// Bytes handed out, with rounding, padding and storage freed in arenas that are still busy. Linear in the arenas
    /// ever used.
    std::size_t used() const noexcept {
        return sum([this](const arena_record& each) { return each.position + this->arena_bytes() - each.end; });
    }

    /// Number of live allocations. Linear in the arenas ever used.
    std::size_t allocations() const noexcept {
        return sum([](const arena_record& each) { return each.live; });
    }

    /// Number of arenas that hold a live allocation or a piece of one. Constant time.
    std::size_t busy_arenas() const noexcept {
        const auto is_vacant = [](const arena_record* each) { return each->live == 0; };
        std::size_t vacant = 0;
        for (std::size_t i = 0; i < kept_count_; ++i) vacant += is_vacant(kept_[i]);
        return taken_ - vacant - (active_ != nullptr && is_vacant(active_));
    }

    /// What in the arenas' own data does not agree, or null (acre::check_invariants). Linear in the arenas ever used.
    const char* broken_invariant() const noexcept {
        if (begun_ > this->arenas() || taken_ > begun_ || kept_count_ > max_open) return "arenas are counted wrongly";
        std::size_t outside_list = 0;
        for (const arena_record* each = this->records(); each != this->records() + begun_; ++each) {
            if (each->position > each->end || each->end - each->position > this->arena_bytes())
                return "the position is not in its arena";
            outside_list += each->link == arena_record::taken || each->link == arena_record::kept;
        }
        if (outside_list != taken_) return "arenas are counted wrongly";
        std::size_t listed = 0;
        for (const arena_record* each = empty_; each != nullptr; ++listed) {
            if (listed == begun_ - taken_ || number_of(*each) >= begun_ || each->live != 0)
                return "the list of empty arenas has another one";
            each = reinterpret_cast<const arena_record*>(each->link);
        }
        return listed == begun_ - taken_ ? nullptr : "the list of empty arenas lacks some";
    }

    /// True when `p` points into the storage. Constant time.
    bool owns(const void* p) const noexcept { return offset_of(p) < stretched(capacity()); }

    /// Refused requests so far.
    struct refusals_type {
        std::size_t largest_bytes = 0;  // of the largest request that no arena could have served
        std::size_t out_of_arenas = 0;  // requests that one more arena would have served
    };
    const refusals_type& refusals() const noexcept { return refusals_; }

    /// Arenas of `arena_bytes` bytes that hold `count` live allocations of `size` bytes aligned to `alignment`, if all
    /// are allocated before the first is freed. SIZE_MAX when an arena cannot hold even one.
    static constexpr std::size_t required_arenas(std::size_t arena_bytes, std::size_t count, std::size_t size,
                                                 std::size_t alignment = default_alignment) noexcept {
        return fit::required_arenas(arena_bytes, count, size, alignment);
    }

protected:
    constexpr refcounted_arenas() = default;
    template <class... Arguments>
    explicit refcounted_arenas(const Arguments&... storage) : Storage(storage...) {
        list_all();
    }
    ~refcounted_arenas() = default;

private:
    std::size_t offset_of(const void* p) const noexcept {
        return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(this->bytes());
    }

    std::size_t number_of(const arena_record& of) const noexcept {
        return static_cast<std::size_t>(&of - this->records());
    }

    // The record of the arena that `p` lies in.
    [[gnu::always_inline]] arena_record& home_of(const void* p) noexcept {
        return this->records()[this->index_of(offset_of(p) >> position_shift)];
    }

    // True when a live allocation of `bytes` bytes begins at `p`; false for runs of arenas, and for null.
    [[gnu::always_inline]] bool is_live(const void* p, std::size_t bytes) const noexcept {
        return granule_at(offset_of(p)) < this->granules() &&
               mark_of(this->mark_at(position_of(p))) == marked::live_of(fit::rounded(bytes));
    }

    template <class Function>
    std::size_t sum(Function of) const noexcept {
        std::size_t total = 0;
        for (std::size_t index = 0; index < begun_; ++index) total += of(this->records()[index]);
        return total;
    }

    // The hot path, for ordinary alignments and at least one byte. Positions and ends are multiples of the granule, so
    // if `bytes` fits, `bytes` rounded up fits, too.
    [[gnu::always_inline]] bool place_in_active(std::size_t bytes, void*& p) noexcept {
        if (active_ == nullptr) [[unlikely]]
            return false;
        arena_record& in = *active_;
        assert(in.position % granule == 0 && in.position <= in.end);
        const std::uintptr_t start = in.position;
        if (!fit::fits(bytes, in.end - start)) [[unlikely]]
            return false;
        in.position = start + fit::rounded_one_or_more(bytes);
        ++in.live;
        p = handed_out(start, bytes, fit::rounded_one_or_more(bytes));
        return true;
    }

    // Marks the allocation that begins at a position.
    [[gnu::always_inline]] void* handed_out(std::uintptr_t start, std::size_t bytes, std::size_t rounded) noexcept {
        set_mark(this->mark_at(start), marked::live_of(rounded));
        void* const p = address_of(start);
        unpoison(p, bytes);
        return p;
    }

    // As place_in_active, for any arena, any alignment and any number of bytes.
    [[gnu::always_inline]] bool place(arena_record& in, std::size_t bytes, std::size_t alignment, void*& p) noexcept {
        std::uintptr_t start = in.position;
        const std::size_t padding = padding_to(start, alignment);
        std::size_t needed;
        if (__builtin_add_overflow(bytes + (bytes == 0), padding, &needed) || needed > in.end - start) return false;
        start += padding;
        in.position = start + fit::rounded(bytes);
        ++in.live;
        p = handed_out(start, bytes, fit::rounded(bytes));
        return true;
    }

    void emptied(arena_record& empty) noexcept {
        empty.position = empty.end - this->arena_bytes();
        if (&empty == active_ || empty.link == arena_record::kept) return;
        --taken_;
        push_empty(empty);
    }

    void push_empty(arena_record& pushed) noexcept {
        pushed.link = reinterpret_cast<std::uintptr_t>(empty_);
        empty_ = &pushed;
    }

    arena_record* pop_empty() noexcept {
        arena_record* popped = empty_;
        empty_ = reinterpret_cast<arena_record*>(popped->link);
        return popped;
    }

    // Out of line: runs once an arena. The active arena has no room for the request.
    template <bool Throws>
    [[gnu::noinline]] void* place_in_next(std::size_t bytes) {
        return place_in_next<Throws>(bytes, granule, 0);
    }

    // Out of line: few requests have such alignments.
    template <bool Throws>
    [[gnu::noinline]] void* place_aligned(std::size_t bytes, std::size_t alignment) {
        if (!is_alignment(alignment)) [[unlikely]]
            return place_slow<Throws>(bytes, alignment);
        void* p;
        if (active_ != nullptr && place(*active_, bytes, alignment, p)) return p;
        return place_in_next<Throws>(bytes, alignment, fit::worst_padding(alignment, this->base_alignment()));
    }

    // The usual case: the request with `skipped` bytes of padding fits an arena, one is empty, and none is kept open.
    // The active arena was not empty, or it would have served the request; of the two, the one with more room left
    // becomes the active one.
    template <bool Throws>
    [[gnu::always_inline]] void* place_in_next(std::size_t bytes, std::size_t alignment, std::size_t skipped) {
        const std::size_t room_at_most = this->fast_path_max_bytes();
        if (skipped > room_at_most || !fit::fits(bytes, room_at_most - skipped)) [[unlikely]]
            return place_slow<Throws>(bytes, alignment);
        arena_record* const next = next_empty();
        if (next == nullptr) [[unlikely]]
            return place_slow<Throws>(bytes, alignment);
        // Arenas begin at multiples of the granule.
        const std::uintptr_t start = alignment <= granule ? next->position : align_up(next->position, alignment);
        next->position = start + fit::rounded_one_or_more(bytes);
        next->live = 1;
        next->link = arena_record::taken;
        ++taken_;
        if (active_ == nullptr || room(*next) >= room(*active_)) active_ = next;
        return handed_out(start, bytes, fit::rounded_one_or_more(bytes));
    }

    // Out of line: every other case.
    template <bool Throws>
    [[gnu::noinline]] void* place_slow(std::size_t bytes, std::size_t alignment) {
        void* const p = place_anywhere(bytes, alignment);
        if constexpr (Throws) {
            if (p == nullptr) return fail(bytes, alignment);
        }
        return p;
    }

    // Null when it cannot.
    void* place_anywhere(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment)) return nullptr;
        if (fit::worst_bytes(bytes, alignment, this->arena_bytes()) > this->arena_bytes())
            return allocate_run(bytes, alignment);
        void* p = nullptr;
        if (active_ != nullptr && place(*active_, bytes, alignment, p)) return p;
        for (std::size_t i = 0; i < kept_count_; ++i) {
            if (place(*kept_[i], bytes, alignment, p)) return p;
        }
        arena_record* next = next_empty();
        if (next == nullptr) {
            ++refusals_.out_of_arenas;
            return nullptr;
        }
        [[maybe_unused]] const bool fits = place(*next, bytes, alignment, p);
        assert(fits);
        use(*next);
        return p;
    }

    // An empty arena, out of the list; null when there is none.
    [[gnu::always_inline]] arena_record* next_empty() noexcept {
        if (empty_ != nullptr) [[likely]]
            return pop_empty();
        if (Storage::listed_at_once || begun_ == this->arenas()) return nullptr;
        return begin_next();
    }

    // Lists all arenas, so that taking one costs the same the first time as later.
    void list_all() noexcept {
        while (begun_ < this->arenas()) begin_next();
        list_empty_anew();
    }

    arena_record* begin_next() noexcept {
        std::byte* start = this->bytes() + stretched(begun_ * this->arena_bytes());
        poison(start, stretched(this->arena_bytes()));
        const std::uintptr_t position = position_of(start);
        return detail::construct_at(this->records() + begun_++,
                                    arena_record{position, position + this->arena_bytes(), 0, 0});
    }

    static std::size_t room(const arena_record& in) noexcept { return in.end - in.position; }

    // Of the active arena and `added`, the one with more room left becomes the active one. The other is kept open if it
    // has more room than one of those kept.
    void use(arena_record& added) noexcept {
        added.link = arena_record::taken;
        ++taken_;
        arena_record* other = active_;
        if (other == nullptr || room(added) >= room(*other)) {
            active_ = &added;
        } else {
            other = &added;
        }
        if (other != nullptr) keep(*other);
    }

    void keep(arena_record& candidate) noexcept {
        candidate.link = arena_record::kept;
        if (kept_count_ < this->open_limit()) {
            kept_[kept_count_++] = &candidate;
            return;
        }
        arena_record* fullest = &candidate;
        for (std::size_t i = 0; i < kept_count_; ++i) {
            if (room(*kept_[i]) < room(*fullest)) std::swap(kept_[i], fullest);
        }
        fullest->link = arena_record::taken;
        if (fullest->live == 0) emptied(*fullest);
    }

    std::size_t run_of(std::size_t bytes) const noexcept {
        return bytes / this->arena_bytes() + (bytes % this->arena_bytes() != 0);
    }

    // Runs of arenas are linear in the number of arenas, and have no state between calls.
    void* allocate_run(std::size_t bytes, std::size_t alignment) noexcept {
        const std::size_t count = run_of(bytes);
        if (!this->takes_runs() || count > this->arenas() || count < 2 || alignment > this->base_alignment()) {
            refusals_.largest_bytes =
                detail::max(refusals_.largest_bytes, fit::worst_bytes(bytes, alignment, this->arena_bytes()));
            return nullptr;
        }
        const std::size_t first = find_run(count);
        if (first == this->arenas()) {
            ++refusals_.out_of_arenas;
            return nullptr;
        }
        while (begun_ < first + count) push_empty(*begin_next());
        occupy_run(first, count);
        void* p = this->bytes() + stretched(first * this->arena_bytes());
        set_mark(this->mark_at(position_of(p)), marked::run);
        unpoison(p, bytes);
        return p;
    }

    // The first of `count` neighbouring empty arenas; arenas() when there is no such run.
    std::size_t find_run(std::size_t count) const noexcept {
        std::size_t found = 0;
        for (std::size_t index = 0; index < this->arenas(); ++index) {
            found = index >= begun_ || is_empty(this->records()[index]) ? found + 1 : 0;
            if (found == count) return index + 1 - count;
        }
        return this->arenas();
    }

    // In a run only the first arena counts an allocation; the others are not empty either.
    bool is_empty(const arena_record& asked) const noexcept {
        return asked.live == 0 && (asked.link != arena_record::taken || &asked == active_);
    }
    // True for arenas outside the list that the next request may use.
    bool is_open(const arena_record& asked) const noexcept {
        return asked.link == arena_record::kept || &asked == active_;
    }

    void occupy_run(std::size_t first, std::size_t count) noexcept {
        arena_record* const begin = this->records() + first;
        arena_record* const end = begin + count;
        for (arena_record* each = begin; each < end; ++each) {
            taken_ += !is_open(*each);
            each->link = arena_record::taken;
            each->position = each->end;
            each->live = each == begin ? 1 : 0;
        }
        const auto is_inside = [begin, end](const arena_record* each) { return each >= begin && each < end; };
        if (is_inside(active_)) active_ = nullptr;
        std::size_t outside = 0;
        for (std::size_t i = 0; i < kept_count_; ++i) {
            if (!is_inside(kept_[i])) kept_[outside++] = kept_[i];
        }
        kept_count_ = outside;
        list_empty_anew();
    }

    void list_empty_anew() noexcept {
        empty_ = nullptr;
        for (std::size_t index = begun_; index > 0; --index) {
            arena_record& each = this->records()[index - 1];
            if (is_empty(each) && !is_open(each)) push_empty(each);
        }
    }

    // Out of line: null, runs of arenas, and misuses.
    [[gnu::noinline]] void deallocate_slow(void* p, std::size_t bytes) noexcept {
        if (p == nullptr) return;
        arena_record& first = checked_run(p, bytes);
        set_mark(this->mark_at(position_of(p)), marked::freed);
        poison(p, stretched(run_of(bytes) * this->arena_bytes()));
        first.live = 0;
        give_back_run(first, 0, run_of(bytes));
    }

    // A run never grows by arenas; shrinking may leave a single arena.
    [[gnu::noinline]] bool resize_run(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
        arena_record& first = checked_run(p, old_bytes, true);
        const std::size_t count = detail::max<std::size_t>(run_of(new_bytes), 1);
        if (count > run_of(old_bytes)) return false;
        give_back_run(first, count, run_of(old_bytes));
        if (count == 1) {
            first.position = position_of(p) + fit::rounded(new_bytes);
            set_mark(this->mark_at(position_of(p)), marked::live_of(fit::rounded(new_bytes)));
        }
        poison(p, stretched(run_of(old_bytes) * this->arena_bytes()));
        unpoison_defined(p, new_bytes);
        return true;
    }

    // The first arena of the run of `bytes` bytes at `p`, where no smaller allocation begins.
    arena_record& checked_run(void* p, std::size_t bytes, bool resized = false) noexcept {
        const auto report = [p, resized](const char* what) {
            abort_on_misuse(Storage::name, resized ? mistake::in_a_resize(what) : what, p);
        };
        const std::size_t offset = offset_of(p);
        if (!owns(p)) report(mistake::foreign_pointer);
        if (!is_granule(p)) report(mistake::inside_an_allocation);
        const allocation_mark& mark = this->mark_at(position_of(p));
        arena_record& first = home_of(p);
        if (mark_of(mark) != marked::run || !is_run(first, run_of(bytes))) {
            const std::size_t before = offset % stretched(this->arena_bytes()) / stretched(granule);
            report(mistake_at(mark, before));
        }
        return first;
    }

    bool is_run(const arena_record& first, std::size_t count) const noexcept {
        const std::size_t end = number_of(first) + count;
        if (first.live != 1 || is_open(first) || end > begun_) return false;
        const auto goes_on = [this](const arena_record& each) { return each.live == 0 && !is_empty(each); };
        for (std::size_t i = 1; i < count; ++i) {
            if (!goes_on((&first)[i])) return false;
        }
        return end == begun_ || !goes_on(this->records()[end]);
    }

    void give_back_run(arena_record& first, std::size_t from, std::size_t to) noexcept {
        for (; to > from; --to) emptied((&first)[to - 1]);
    }

    [[gnu::cold]] void* fail(std::size_t bytes, std::size_t alignment) const {
        if (!detail::can_be_honoured(alignment)) return raise<bad_alignment>(Storage::name, alignment);
        const std::size_t worst = fit::worst_bytes(bytes, alignment, this->arena_bytes());
        const std::size_t available = this->takes_runs() ? capacity() : this->arena_bytes();
        if (worst > available) return raise<request_too_large>(Storage::name, bytes, alignment, worst, available);
        if (worst > this->arena_bytes() && alignment > this->base_alignment()) {
            return raise<bad_alignment>(Storage::name, alignment);
        }
        return raise<out_of_arenas>(Storage::name, bytes, this->arenas());
    }

    arena_record* active_ = nullptr;  // where the hot path allocates
    std::size_t taken_ = 0;           // begun arenas that are not in the list
    std::size_t begun_ = 0;           // arenas ever used; the records of others are not initialised
    arena_record* empty_ = nullptr;   // the list of empty arenas
    std::array<arena_record*, max_open> kept_{};
    std::size_t kept_count_ = 0;
    refusals_type refusals_;
};

}  // namespace acre::detail
