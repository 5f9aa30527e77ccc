// A heap of bounded time and memory: any size, any order, and a size computed beforehand that never runs out.
//
// Use it in a control loop, an audio callback or a flight computer, where sizes are mixed, a deadline counts, and the
// program says how many blocks of each size it holds at most. Use acre::chunk_pool or acre::wait_free_pool where a few
// sizes are all there is, acre::general_heap where the mean time counts and not the longest, acre::arena where
// everything ends at one point.
//
// Construction takes equal arenas from upstream, and nothing later. An arena holds slots of one size while any of them
// is live: sizes are rounded up to multiples of 16 bytes, over 256 bytes by at most an eighth. A request of more than
// half an arena takes whole arenas side by side, their number rounded up over 16 by at most an eighth. A heap with
// acre::required_arenas(peaks) arenas never refuses a request while the program keeps to these peaks, whatever the
// order; with one arena fewer, some order makes it fail.
//
// Cost: allocate 56 instructions and deallocate 54, within the declared peaks at most 71 and 79, when an arena begins
// or ends its use, without a loop (bench/limits/realtime_heap.cpp counts each path). Allocations of whole arenas: at
// most 147 and 101. Beyond the peaks a request may split a longer run, 145 for a slot and 167 for arenas, and a request
// of several arenas can be linear in the arenas when the free ones lie scattered; `.join = false` refuses it at once.
// Memory: required_bytes(options): the arenas, a bit for each 16 bytes and 64 bytes for each arena; the object has
// 3.4 KiB. Construction touches every page unless `.prefault = false`. Not thread-safe:
// acre::synchronized<acre::realtime_heap, acre::priority_inheritance_mutex> is, and holds its lock for no longer than a
// call takes. Neither copied nor moved.
//
// A misuse in every build, each with a sentence of its own: a double free, a pointer into the middle of an allocation
// or of another resource, and a size of another class than the one allocated.
//
//     constexpr acre::allocation_peak peaks[] = {{.bytes = 64, .count = 200}, {.bytes = 1024, .count = 16}};
//     acre::realtime_heap control{{.arenas = acre::required_arenas(peaks), .bytes = 4096}};
//     void* p = control.try_allocate(60);     // never null while at most 200 of 49 to 64 bytes are live
//     control.deallocate(p, 60);
//
// Idea: half-fit and TLSF find a free block in constant time, but need several times the live bytes at worst (Robson,
// 1974). Arenas of one size each, given back when empty, bound both: a class never holds more arenas than its peak
// fills.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/live_report.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/no_clear.hpp>
#include <acre/core/detail/nonblocking.hpp>
#include <acre/core/error.hpp>
#include <acre/core/literals.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/heaps/detail/arena_runs.hpp>
#include <acre/heaps/detail/geometric_classes.hpp>
#include <acre/heaps/detail/heap_arena.hpp>
#include <acre/memory/heap.hpp>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>

namespace acre {

/// Number and size of the arenas of an acre::realtime_heap.
struct realtime_heap_options {
    std::size_t arenas = 0;    // 1 to 2^18
    std::size_t bytes = 4096;  // of each arena: a power of two, 1 KiB to 64 KiB
    bool join = true;          // a request of several arenas may join free neighbours, linear in the arenas
    bool prefault = true;      // touch every page at construction, so that no allocation waits for a page fault
    bool report_live = false;  // write a line to stderr when the heap ends with live allocations
};

/// The most allocations of one size that are ever live at once.
struct allocation_peak {
    std::size_t bytes = 0;                      ///< of each
    std::size_t count = 0;                      ///< of them
    std::size_t alignment = default_alignment;  ///< of each, in bytes
};

namespace detail {

/// How a realtime_heap lays slots out in arenas of a power of two of bytes.
struct realtime_layout {
    static constexpr std::size_t granule = 16;
    static constexpr std::size_t min_arena_bytes = 1024;
    // 64 words of 64 bits for the slots, and one word that says which of these are full.
    static constexpr std::size_t max_arena_bytes = 64 * 64 * granule;

    /// Slots of up to half an arena: larger requests take whole arenas.
    static constexpr std::size_t largest_slot(std::size_t arena_bytes) noexcept { return arena_bytes / 2; }
    static constexpr std::size_t classes = geometric_classes::class_of(max_arena_bytes / 2 / granule) + 1;

    /// The offset of the last byte of a request rounded up to a multiple of its alignment. SIZE_MAX for an alignment
    /// of 0.
    static constexpr std::size_t last_byte(std::size_t bytes, std::size_t alignment) noexcept {
        return (bytes - (bytes != 0)) | (alignment - 1);
    }
    static constexpr std::size_t class_of_last(std::size_t last_byte) noexcept {
        return geometric_classes::class_of_last(last_byte / granule);
    }
    static constexpr std::size_t slot_bytes(std::size_t index) noexcept {
        return geometric_classes::number_of(index) * granule;
    }
    static constexpr std::size_t slots(std::size_t index, std::size_t arena_bytes) noexcept {
        return arena_bytes / slot_bytes(index);
    }
    /// From one slot to the next: in builds that poison, with a redzone. A slot stays aligned to what divides its size.
    static constexpr std::size_t stride(std::size_t index) noexcept {
        const std::size_t bytes = slot_bytes(index);
        return align_up(bytes + redzone_bytes, bytes & (0 - bytes));
    }
    /// From one arena to the next: room for the redzones of the smallest slots.
    static constexpr std::size_t arena_stride(std::size_t arena_bytes) noexcept {
        return poisoning ? 2 * arena_bytes : arena_bytes;
    }
    /// The arenas of a request with this last byte.
    static constexpr std::size_t arenas_of(std::size_t last_byte, std::size_t arena_bytes) noexcept {
        return last_byte / arena_bytes + 1;
    }

    static constexpr bool is_arena_size(std::size_t bytes) noexcept {
        return is_alignment(bytes) && bytes >= min_arena_bytes && bytes <= max_arena_bytes;
    }
};

}  // namespace detail

/// The arenas of `arena_bytes` bytes with which an acre::realtime_heap refuses nothing, in whatever order requests
/// come, while no more is live at once than the peaks say: a request counts for the peak of the least class it fits.
/// SIZE_MAX if a heap cannot have that many arenas, or if an argument is invalid.
constexpr std::size_t required_arenas(std::span<const allocation_peak> peaks,
                                      std::size_t arena_bytes = 4_KiB) noexcept {
    using layout = detail::realtime_layout;
    constexpr std::size_t too_many = detail::arena_runs::max_arenas + 1;
    if (!layout::is_arena_size(arena_bytes)) return SIZE_MAX;
    std::size_t live[layout::classes] = {};
    std::size_t arenas = 0;
    for (const allocation_peak& each : peaks) {
        if (each.count == 0) continue;
        if (!is_alignment(each.alignment) || each.alignment > arena_bytes) return SIZE_MAX;
        const std::size_t last = layout::last_byte(each.bytes, each.alignment);
        if (last < layout::largest_slot(arena_bytes)) {
            std::size_t& slots = live[layout::class_of_last(last)];
            slots += detail::min(each.count, SIZE_MAX - slots);
            continue;
        }
        const std::size_t whole = layout::arenas_of(last, arena_bytes);
        if (whole >= too_many || each.count >= too_many) return SIZE_MAX;
        const std::size_t length = detail::arena_runs::run_length(whole);
        if (each.count > (too_many - arenas) / length) return SIZE_MAX;
        arenas += each.count * length;
    }
    for (std::size_t index = 0; index < layout::classes; ++index) {
        if (live[index] == 0) continue;
        const std::size_t slots = layout::slots(index, arena_bytes);
        const std::size_t needed = (live[index] - 1) / slots + 1;
        if (needed > too_many - arenas) return SIZE_MAX;
        arenas += needed;
    }
    return arenas < too_many ? arenas : SIZE_MAX;
}
constexpr std::size_t required_arenas(std::initializer_list<allocation_peak> peaks,
                                      std::size_t arena_bytes = 4_KiB) noexcept {
    return required_arenas(std::span{peaks.begin(), peaks.size()}, arena_bytes);
}

/// Slots of many sizes in equal arenas, in constant time.
class realtime_heap : public detail::no_clear<realtime_heap> {
    using layout = detail::realtime_layout;
    using record = detail::heap_arena;
    using use = detail::arena_use;

public:
    static constexpr const char* name = "acre::realtime_heap";
    using options_type = realtime_heap_options;
    /// Upper limit of the option `.arenas`.
    static constexpr std::size_t max_arenas = detail::arena_runs::max_arenas;

    /// Takes required_bytes(options) from upstream, all at once. Throws bad_option, and what upstream throws. Without
    /// exceptions and without memory it has no arena and refuses every request.
    explicit realtime_heap(const realtime_heap_options& options, resource_ref upstream = heap{})
        : joins_(options.join), report_(options.report_live), upstream_(upstream) {
        require_option(options.arenas >= 1 && options.arenas <= max_arenas, name, "arenas", options.arenas,
                       "1 to 262144");
        require_option(layout::is_arena_size(options.bytes), name, "bytes", options.bytes,
                       "a power of two, 1024 to 65536");
        require_option(required_bytes(options) != SIZE_MAX, name, "arenas", options.arenas,
                       "as many arenas as can be addressed");
        arena_bytes_ = options.bytes;
        arena_shift_ = static_cast<unsigned>(std::countr_zero(layout::arena_stride(options.bytes)));
        base_ = static_cast<std::byte*>(upstream_.allocate(required_bytes(options), required_alignment(options)));
        if (base_ == nullptr) return;
        largest_slot_ = layout::largest_slot(options.bytes);
        storage_bytes_ = options.arenas << arena_shift_;
        arenas_ = reinterpret_cast<record*>(base_ + storage_bytes_);
        words_ = reinterpret_cast<std::uint64_t*>(arenas_ + options.arenas);
        if (options.prefault) touch_pages();
        begin(options.arenas);
    }

    /// Refused by a sentence: no numbers, or numbers without their names.
    template <class... Numbers>
        requires(std::is_integral_v<Numbers> && ...)
    __attribute__((unavailable(
        "acre::realtime_heap: name the numbers, {{.arenas = 16, .bytes = 4096}}"))) explicit realtime_heap(Numbers...);

    realtime_heap(const realtime_heap&) = delete;
    realtime_heap& operator=(const realtime_heap&) = delete;

    /// Gives its memory back to upstream, live allocations included.
    ~realtime_heap() {
        report_.write(name, [this] { return live(); });
        if (base_ == nullptr) return;
        const realtime_heap_options options{.arenas = arenas(), .bytes = arena_bytes_};
        unpoison_defined(base_, required_bytes(options));
        upstream_.deallocate(base_, required_bytes(options), required_alignment(options));
    }

    /// Storage of `bytes` bytes aligned to `alignment`, a power of two up to the size of an arena. Throws
    /// out_of_arenas, request_too_large or bad_alignment. Constant time, but see `.join`.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        return take<true>(bytes, alignment);
    }

    /// As allocate, but null when it cannot.
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes,
                                              std::size_t alignment = default_alignment) noexcept ACRE_NONBLOCKING {
        return take<false>(bytes, alignment);
    }

    /// Frees what allocate returned for the same size and alignment; null is a no-op. Constant time.
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes,
                                           std::size_t alignment = default_alignment) noexcept ACRE_NONBLOCKING {
        if (p == nullptr) return;
        const std::size_t offset = offset_of(p);
        if (offset >= storage_bytes_) [[unlikely]]
            return deallocate_slow(p, 0);
        record& home = arenas_[offset >> arena_shift_];
        const std::size_t last = layout::last_byte(bytes, alignment);
        if (last - home.own->first_last >= home.own->lasts) [[unlikely]]
            return deallocate_slow(p, last);
        give_back(p, home);
    }

    /// Frees what allocate returned; the address tells the size. Null is a no-op. Constant time.
    void deallocate_unsized(void* p) noexcept ACRE_NONBLOCKING {
        if (p == nullptr) return;
        const std::size_t offset = offset_of(p);
        if (offset >= storage_bytes_) abort_on(p, detail::mistake::foreign_pointer);
        record& home = arenas_[offset >> arena_shift_];
        if (home.use == use::slots) return give_back(p, home);
        give_back_run(p);
    }

    /// Bytes of the slot or the arenas at `p`: at least as many as were asked for. A build that poisons
    /// reports the use of more than those.
    std::size_t usable_size(const void* p) const noexcept {
        using detail::mistake::in_a_question;
        if (!owns(p)) abort_on(p, in_a_question(detail::mistake::foreign_pointer));
        const record& home = home_of(p);
        if (home.use == use::slots) {
            if (const char* what = mistake_at(p, home)) abort_on(p, in_a_question(what));
            return slot_bytes_of(home);
        }
        if (!is_run(p, home)) abort_on(p, in_a_question(mistake_in_run(home)));
        return home.count * arena_bytes_;
    }

    /// Bytes that a request gets (acre::allocate_at_least).
    std::size_t bytes_given(std::size_t bytes, std::size_t alignment) const noexcept {
        if (!is_alignment(alignment) || bytes > max_bytes() || layout::last_byte(bytes, alignment) >= max_bytes())
            return bytes;
        const std::size_t last = layout::last_byte(bytes, alignment);
        return last < largest_slot_ ? layout::slot_bytes(layout::class_of_last(last))
                                    : layout::arenas_of(last, arena_bytes_) * arena_bytes_;
    }

    /// Takes everything back; everything handed out becomes invalid. Linear in the arenas.
    void reset() noexcept {
        if (base_ != nullptr) begin(arenas());
    }

    /// Number of arenas, and bytes of each.
    std::size_t arenas() const noexcept { return free_.all(); }
    std::size_t arena_bytes() const noexcept { return arena_bytes_; }
    /// Number of arenas in use, and the most that were since the construction or the last reset().
    std::size_t busy_arenas() const noexcept { return free_.taken(); }
    std::size_t most_busy_arenas() const noexcept { return free_.most_taken(); }

    /// Bytes of all arenas.
    std::size_t capacity() const noexcept { return arenas() * arena_bytes_; }
    /// Bytes of the largest request that an empty heap serves.
    std::size_t max_bytes() const noexcept {
        return arenas() == 0 ? 0 : detail::arena_runs::longest_run(arenas()) * arena_bytes_;
    }
    /// Bytes of the live slots and of the arenas of larger allocations. Linear in the arenas.
    std::size_t used() const noexcept {
        return sum([this](const record& each) {
            return each.count * (each.use == use::slots ? slot_bytes_of(each) : arena_bytes_);
        });
    }
    /// Number of live allocations. Linear in the arenas.
    std::size_t live() const noexcept {
        return sum([](const record& each) { return each.use == use::slots ? std::size_t{each.count} : 1; });
    }

    /// True when `p` lies in an arena. Constant time.
    bool owns(const void* p) const noexcept { return offset_of(p) < storage_bytes_; }

    /// What in the heap's own data does not agree, or null (acre::check_invariants). Linear in the slots of all arenas.
    const char* broken_invariant() const noexcept {
        if (!free_.is_valid()) return "the runs of arenas were overwritten";
        std::size_t open = 0;
        for (const record* each = arenas_; each != arenas_ + arenas(); ++each) {
            if (each->use != use::slots) continue;
            const auto own = static_cast<std::size_t>(each->own - classes_);
            if (own >= layout::classes || !has_valid_map(*each)) return "the map of an arena was overwritten";
            open += each->count < each->own->slots;
        }
        for (const detail::arena_class& each : classes_) {
            for (const record* home = each.open.first(); home != nullptr; home = home->next)
                if (open-- == 0 || home->own != &each || *home->link != home)
                    return "the list of arenas with a free slot was overwritten";
        }
        return open == 0 ? nullptr : "an arena with a free slot is not listed";
    }

    /// The resource that the memory comes from.
    resource_ref upstream() const noexcept { return upstream_; }

    /// Bytes that construction takes from upstream, aligned to required_alignment(options). SIZE_MAX when they exceed
    /// half of the address space.
    static constexpr std::size_t required_bytes(const realtime_heap_options& options) noexcept {
        const std::size_t each = layout::arena_stride(options.bytes) +
                                 words_of_an_arena(options.bytes) * sizeof(std::uint64_t) + sizeof(record);
        return options.arenas > max_request / each ? SIZE_MAX : options.arenas * each;
    }
    static constexpr std::size_t required_alignment(const realtime_heap_options& options) noexcept {
        return options.bytes;
    }

private:
    static constexpr std::size_t words_of_an_arena(std::size_t bytes) noexcept { return bytes / layout::granule / 64; }
    std::size_t offset_of(const void* p) const noexcept {
        return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(base_);
    }
    record& home_of(const void* p) const noexcept { return arenas_[offset_of(p) >> arena_shift_]; }
    std::size_t slot_bytes_of(const record& home) const noexcept {
        return layout::slot_bytes(static_cast<std::size_t>(home.own - classes_));
    }

    // As many bits as live slots, and the full words marked so.
    bool has_valid_map(const record& home) const noexcept {
        std::size_t live = 0;
        std::uint64_t full = 0;
        for (std::size_t word = 0; word < words_of_an_arena(arena_bytes_); ++word) {
            live += static_cast<std::size_t>(std::popcount(home.words[word]));
            full |= std::uint64_t{home.words[word] == ~std::uint64_t{0}} << word;
        }
        return live == home.count && full == home.full && live != 0 && live <= home.own->slots;
    }

    // A slot in an arena of its class that has a free one. What needs another arena, or cannot be served, is a call at
    // the end, so that this path saves no register.
    template <bool Throws>
    [[gnu::always_inline]] void* take(std::size_t bytes, std::size_t alignment) noexcept(!Throws) {
        const std::size_t last = layout::last_byte(bytes, alignment);
        if (last >= largest_slot_ || !is_alignment(alignment)) [[unlikely]]
            return take_arenas<Throws>(bytes, alignment);
        detail::arena_class& wanted = classes_[layout::class_of_last(last)];
        record* home = wanted.open.first();
        if (home == nullptr) [[unlikely]]
            return begin_use<Throws>(wanted, bytes, alignment);
        void* p = take_slot(wanted, *home);
        unpoison(p, detail::accessible_bytes(bytes));
        return p;
    }

    // A free slot of `home`, which has one. It is the lowest: all slots below the first free bit are live, so that bit
    // is one of a slot, and not of the rest of the last word.
    [[gnu::always_inline]] static void* take_slot(detail::arena_class& wanted, record& home) noexcept {
        assert(home.count < wanted.slots);
        // Unlike std::countr_one it has no case for a word without a free bit.
        const auto word = static_cast<unsigned>(__builtin_ctzll(~home.full));
        const std::uint64_t bits = home.words[word];
        const std::size_t slot = word * 64 + static_cast<unsigned>(__builtin_ctzll(~bits));
        home.words[word] = bits | (bits + 1);
        if ((bits | (bits + 1)) == ~std::uint64_t{0}) home.full |= home.full + 1;
        if (++home.count == wanted.slots) wanted.open.pop();
        return home.bytes + slot * wanted.stride;
    }

    [[gnu::always_inline]] void give_back(void* p, record& home) noexcept {
        detail::arena_class& own = *home.own;
        const auto place = static_cast<std::size_t>(static_cast<std::byte*>(p) - home.bytes);
        const auto slot = detail::narrowed<std::size_t>(std::uint64_t{place} * own.inverse >> 32);
        const std::uint64_t bits = home.words[slot / 64];
        if (slot * own.stride != place || (bits >> (slot % 64) & 1) == 0) [[unlikely]]
            return deallocate_slow(p, 0);
        poison(p, slot_bytes_of(home));
        home.words[slot / 64] = bits & ~(std::uint64_t{1} << (slot % 64));
        home.full &= ~(std::uint64_t{1} << (slot / 64));
        if (home.count == own.slots) own.open.push(home);
        if (--home.count == 0) [[unlikely]]
            end_use(home);
    }

    // Out of line: an arena becomes one of a class, and its first slot is taken; or its last slot is free.
    template <bool Throws>
    [[gnu::noinline]] void* begin_use(detail::arena_class& wanted, std::size_t bytes,
                                      std::size_t alignment) noexcept(!Throws) {
        record* home = free_.take_one();
        if (home == nullptr) [[unlikely]]
            return refuse<Throws>(bytes, alignment);
        home->own = &wanted;
        home->use = use::slots;
        home->count = 1;
        home->words[0] = 1;  // its other bits are clear
        wanted.open.push(*home);
        unpoison(home->bytes, detail::accessible_bytes(bytes));
        return home->bytes;
    }
    [[gnu::noinline]] void end_use(record& home) noexcept {
        home.own->open.remove(home);
        home.own = &none_;
        free_.give_back_one(home);
    }

    // Out of line: whole arenas, and what cannot be served.
    template <bool Throws>
    [[gnu::noinline]] void* take_arenas(std::size_t bytes, std::size_t alignment) noexcept(!Throws) {
        const std::size_t last = layout::last_byte(bytes, alignment);
        if (!is_alignment(alignment) || alignment > arena_bytes_ || last >= capacity()) [[unlikely]]
            return refuse<Throws>(bytes, alignment);
        const std::size_t wanted = layout::arenas_of(last, arena_bytes_);
        record* first = free_.take_run(detail::arena_runs::run_length(wanted), joins_);
        if (first == nullptr) [[unlikely]]
            return refuse<Throws>(bytes, alignment);
        unpoison(first->bytes, bytes);
        return first->bytes;
    }
    template <bool Throws>
    void* refuse(std::size_t bytes, std::size_t alignment) const noexcept(!Throws) {
        if constexpr (Throws) return fail(bytes, alignment);
        return nullptr;
    }

    // Out of line: whole arenas, or a misuse.
    [[gnu::noinline]] void deallocate_slow(void* p, std::size_t last) noexcept {
        if (!owns(p)) abort_on(p, detail::mistake::foreign_pointer);
        const record& home = home_of(p);
        if (home.use == use::slots) {
            const char* what = mistake_at(p, home);
            abort_on(p, what != nullptr ? what : detail::mistake::wrong_size);
        }
        if (is_run(p, home) && !takes_run(last, home.count)) abort_on(p, detail::mistake::wrong_size);
        give_back_run(p);
    }
    void give_back_run(void* p) noexcept {
        record& home = home_of(p);
        if (!is_run(p, home)) abort_on(p, mistake_in_run(home));
        poison(p, std::size_t{home.count} << arena_shift_);
        free_.give_back_run(home);
    }

    // Whether an allocation of whole arenas begins at `p`.
    static bool is_run(const void* p, const record& home) noexcept {
        return home.use == use::taken_run && p == home.bytes;
    }
    // Whether a request with this last byte takes `length` arenas.
    bool takes_run(std::size_t last, std::size_t length) const noexcept {
        return last >= largest_slot_ && last / arena_bytes_ < max_arenas &&
               detail::arena_runs::run_length(layout::arenas_of(last, arena_bytes_)) == length;
    }

    // What is wrong with a pointer into an arena of slots; null for a live slot.
    static const char* mistake_at(const void* p, const record& home) noexcept {
        const auto place = static_cast<std::size_t>(static_cast<const std::byte*>(p) - home.bytes);
        const std::size_t slot = place / home.own->stride;
        if (slot * home.own->stride != place || slot >= home.own->slots) return detail::mistake::inside_a_slot;
        return (home.words[slot / 64] >> (slot % 64) & 1) != 0 ? nullptr : detail::mistake::double_free;
    }
    // What is wrong with a pointer into an arena without slots that is not the beginning of a live allocation.
    const char* mistake_in_run(const record& home) const noexcept {
        return free_.beginning_of(&home)->use == use::taken_run ? detail::mistake::inside_an_allocation
                                                                : detail::mistake::double_free;
    }

    [[noreturn, gnu::noinline, gnu::cold]] static void abort_on(const void* p, const char* what) noexcept {
        abort_on_misuse(name, what, p);
    }
    [[gnu::noinline, gnu::cold]] void* fail(std::size_t bytes, std::size_t alignment) const {
        if (!is_alignment(alignment) || alignment > arena_bytes_) return raise<bad_alignment>(name, alignment);
        if (bytes > max_bytes() || layout::last_byte(bytes, alignment) >= max_bytes())
            return raise<request_too_large>(name, bytes, max_bytes());
        return raise<out_of_arenas>(name, bytes, arenas());
    }

    // All arenas are free.
    void begin(std::size_t count) noexcept {
        const std::size_t words = words_of_an_arena(arena_bytes_);
        for (std::size_t word = 0; word < count * words; ++word) ::new (words_ + word) std::uint64_t{0};
        for (std::size_t arena = 0; arena < count; ++arena)
            ::new (arenas_ + arena)
                record{.words = words_ + arena * words, .bytes = base_ + (arena << arena_shift_), .own = &none_};
        for (std::size_t index = 0; index < layout::classes; ++index) {
            const std::size_t smaller = index == 0 ? 0 : layout::slot_bytes(index - 1);
            detail::arena_class& each = classes_[index];
            each.open = {};
            each.first_last = static_cast<std::uint32_t>(smaller);
            each.lasts = static_cast<std::uint32_t>(layout::slot_bytes(index) - smaller);
            each.slots = static_cast<std::uint32_t>(layout::slots(index, arena_bytes_));
            each.stride = static_cast<std::uint32_t>(layout::stride(index));
            each.inverse = static_cast<std::uint32_t>((std::uint64_t{1} << 32) / layout::stride(index) + 1);
        }
        free_ = detail::arena_runs{arenas_, count};
        poison(base_, storage_bytes_);
    }
    void touch_pages() noexcept {
        constexpr std::size_t page_bytes = 4096;
        for (std::size_t at = 0; at < storage_bytes_; at += page_bytes) {
            static_cast<volatile std::byte&>(base_[at]) = std::byte{0};
        }
    }

    template <class Value>
    std::size_t sum(Value value) const noexcept {
        std::size_t result = 0;
        for (std::size_t arena = 0; arena < arenas(); ++arena) {
            if (arenas_[arena].use == use::slots || arenas_[arena].use == use::taken_run)
                result += value(arenas_[arena]);
        }
        return result;
    }

    std::size_t largest_slot_ = 0;  // 0: it serves nothing
    std::byte* base_ = nullptr;
    std::size_t storage_bytes_ = 0;
    record* arenas_ = nullptr;
    unsigned arena_shift_ = 0;
    bool joins_;
    detail::live_report report_;
    std::size_t arena_bytes_ = 0;
    std::uint64_t* words_ = nullptr;  // of all arenas
    resource_ref upstream_;
    detail::arena_class classes_[layout::classes];
    detail::arena_class none_;  // of the arenas without slots
    detail::arena_runs free_;
};

static_assert(owning_resource<realtime_heap> && resettable_resource<realtime_heap>);

}  // namespace acre
