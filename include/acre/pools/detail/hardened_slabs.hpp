// The mechanism under the hardened pools: slots in slabs between guard pages, with their headers elsewhere.
//
// All slabs lie in one reserved range (acre::virtual_memory), each at the start of a stride of it: the distance of a
// pointer from the range's start is the number of its slab in a table. So a free reads nothing at the address that it
// is given, and a pointer of another resource cannot lead it to memory that an attacker wrote. Headers, the table and
// the quarantine are allocations of the same range, each between guard pages of its own: no overflow of a slot reaches
// them. The last slot of a slab ends where its guard page begins.
//
// A header has a number for each free slot. An allocation takes one of them at random; a freed slot goes to the
// quarantine, a ring for all sizes together, and comes back to its slab when as many more were freed as the ring is
// long. Free slots are filled with a pattern, which is checked when a slot leaves the quarantine, when it is handed
// out, when its memory is taken back (reset, release, a slab given back) and at the end. Each header carries a cookie,
// a hash of its address, its owner and a secret of the process's own, which each free checks.
//
// Cost: allocate and deallocate are constant time except for a new slab, and linear in the slot's size where freed
// slots are filled. Not thread-safe.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/error.hpp>
#include <acre/core/literals.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/detail/system_random.hpp>
#include <acre/memory/virtual_memory.hpp>
#include <acre/pools/hardened_options.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace acre::detail {

/// Fast random numbers from a seed, for orders that are hard to guess; no cryptography.
class order_generator {
public:
    void seed(std::uint64_t number) noexcept { state_ = number; }

    std::uint64_t next() noexcept {  // splitmix64
        std::uint64_t mixed = state_ += 0x9E37'79B9'7F4A'7C15;
        mixed = (mixed ^ mixed >> 30) * 0xBF58'476D'1CE4'E5B9;
        mixed = (mixed ^ mixed >> 27) * 0x94D0'49BB'1331'11EB;
        return mixed ^ mixed >> 31;
    }
    /// A number less than `limit`.
    std::uint32_t below(std::uint32_t limit) noexcept {
        return static_cast<std::uint32_t>((next() >> 32) * limit >> 32);
    }

private:
    std::uint64_t state_ = 0;
};

/// Slabs of `Classes` sizes of slots. Slot sizes are multiples of 8.
template <std::size_t Classes>
class hardened_slabs {
public:
    static constexpr std::size_t max_slot_bytes = 32_KiB;
    /// Alignment in bytes of slots whose size is a multiple of it.
    static constexpr std::size_t max_slot_alignment = 4_KiB;

    hardened_slabs(const char* name, const hardened_options& options)
        : pages_(name, {.reserve_bytes = options.reserve_bytes, .guard_pages = 1}), options_(options) {
        require_option(options.quarantine_slots <= max_quarantine, name, "quarantine_slots", options.quarantine_slots,
                       "at most 1048576");
        if (!system_random(secret_)) fail_construction(name);
        random_.seed(options.seed != 0 ? options.seed : secret_ ^ 0x5851'F42D'4C95'7F2D);
        origin_ = reinterpret_cast<std::uintptr_t>(pages_.start()) >> stride_shift;
    }
    hardened_slabs(const hardened_slabs&) = delete;
    hardened_slabs& operator=(const hardened_slabs&) = delete;

    /// A free slot of class `index` for `bytes` bytes; null when the system has no memory.
    [[gnu::always_inline]] void* take(std::size_t index, std::size_t slot_bytes, std::size_t bytes,
                                      const char* name) noexcept {
        slab* from = classes_[index].current;
        if (from == nullptr || from->free == 0) [[unlikely]] {
            from = refill(index, slot_bytes);
            if (from == nullptr) return nullptr;
        }
        std::uint16_t* numbers = from->numbers();
        const std::size_t slot = numbers[from->chosen];
        numbers[from->chosen] = numbers[--from->free];
        // The next slot is chosen now, so that it can be in the cache by then.
        from->chosen = random_.below(from->free);
        __builtin_prefetch(from->first_slot + numbers[from->chosen] * slot_bytes, 1);
        std::uint8_t& state = from->states()[slot];
        void* p = from->first_slot + slot * slot_bytes;
        check_fill(name, p, slot_bytes);
        state = live;
        ++classes_[index].live;
        unpoison(p, bytes);
        return p;
    }

    /// Frees a slot of class `index`. Aborts with a sentence when `p` is not a live one.
    [[gnu::always_inline]] void give_back(std::size_t index, std::size_t slot_bytes, const char* name,
                                          void* p) noexcept {
        const found at = find_live(index, slot_bytes, name, p);
        if (options_.check_writes && !poisoning) std::memset(p, fill, slot_bytes);
        poison(p, slot_bytes);
        --classes_[index].live;
        at.home->states()[at.slot] = waiting;
        if (ring_ == nullptr) return settle(name, p, slot_bytes);
        void*& place = ring_[ring_next_];
        ring_next_ = ring_next_ + 1 == options_.quarantine_slots ? 0 : ring_next_ + 1;
        void* oldest = place;
        place = p;
        if (oldest != nullptr) settle(name, oldest, slot_bytes);
    }

    /// Marks the live slot at `p` of class `index`, whose object's destructor is about to run: until mark_live a free
    /// of it is a mistake. Aborts with a sentence when it is not live.
    void mark_ending(std::size_t index, std::size_t slot_bytes, const char* name, const void* p) noexcept {
        const found at = find_live(index, slot_bytes, name, p);
        at.home->states()[at.slot] = ending;
    }
    void mark_live(std::size_t slot_bytes, const void* p) noexcept { state_at(slot_bytes, p) = live; }
    bool is_ending(std::size_t slot_bytes, const void* p) const noexcept { return state_at(slot_bytes, p) == ending; }
    /// True when `p` is a slot of class `index` and free.
    bool is_free(std::size_t index, std::size_t slot_bytes, const void* p) const noexcept {
        const slab* home = slab_at(p);
        if (home == nullptr || home->class_index != index) return false;
        const std::size_t slot = (reinterpret_cast<std::uintptr_t>(p) - home->start()) / slot_bytes;
        return slot < home->slots && home->states()[slot] != live && home->states()[slot] != ending;
    }

    /// Storage of its own, between guard pages; null when the system has no memory.
    void* try_allocate_large(std::size_t bytes, std::size_t alignment) noexcept {
        void* p = pages_.try_allocate(bytes, alignment);
        if (p != nullptr) ++large_count_;
        return p;
    }
    void deallocate_large(const char* name, void* p, std::size_t bytes) noexcept {
        const slab* home = slab_at(p);
        if (home != nullptr && reinterpret_cast<std::uintptr_t>(p) - home->start() < home->slot_range()) {
            abort_on_misuse(name, mistake::wrong_size, p);
        }
        pages_.deallocate_of(name, p, bytes);
        --large_count_;
    }

    /// Gives slabs without a live slot back, and the quarantine's slots to their slabs. Linear in the slabs held, and
    /// in the bytes of those given back, whose slots are checked.
    std::size_t release_unused(const char* name) noexcept {
        const std::size_t before = pages_.capacity();
        empty_quarantine(name);
        for (size_class& each : classes_) {
            each.current = each.available = nullptr;
            for (slab** link = &each.first; *link != nullptr;) {
                slab* one = *link;
                if (one->free == one->slots) {
                    check_free_slots(name, one);
                    *link = one->next;
                    drop(one);
                    --each.slabs;
                } else {
                    list(each, one, one->free != 0);
                    link = &one->next;
                }
            }
        }
        pages_.release_unused();
        return before > pages_.capacity() ? before - pages_.capacity() : 0;
    }

    /// Gives everything back to the system, live slots included, after check_free_slots().
    void release(const char* name) noexcept {
        check_free_slots(name);
        pages_.release();
        forget();
    }
    /// Takes every slot back, after check_free_slots(); pages up to virtual_memory's mark are kept.
    void reset(const char* name) noexcept {
        check_free_slots(name);
        pages_.reset();
        forget();
    }

    /// Calls `visit(p)` for each live slot of class `index`. `visit` may free slots.
    template <class Visit>
    void for_each_live(std::size_t index, std::size_t slot_bytes, Visit visit) noexcept {
        for (slab* each = classes_[index].first; each != nullptr; each = each->next) {
            for (std::size_t slot = 0; slot < each->slots; ++slot) {
                const std::uint8_t state = each->states()[slot];
                if (state == live || state == ending) visit(static_cast<void*>(each->first_slot + slot * slot_bytes));
            }
        }
    }

    /// The header of the slab that `p` lies in, for tests.
    void* header_of(const void* p) const noexcept { return slab_at(p); }

    /// Aborts with a sentence when a slot was written to that is free, or was never handed out. Linear in the bytes of
    /// those.
    void check_free_slots(const char* name) const noexcept {
        for (const size_class& each : classes_) {
            for (const slab* one = each.first; one != nullptr; one = one->next) check_free_slots(name, one);
        }
    }

    std::size_t live_slots(std::size_t index) const noexcept { return classes_[index].live; }
    std::size_t large_count() const noexcept { return large_count_; }
    std::size_t large_bytes() const noexcept { return pages_.used() - own_bytes_; }
    std::size_t capacity() const noexcept { return pages_.capacity(); }
    bool owns(const void* p) const noexcept { return pages_.owns(p); }

    /// Raises the error of a request that was refused.
    [[gnu::noinline, gnu::cold]] void* fail(const char* name, std::size_t bytes, std::size_t alignment) const {
        if (!detail::can_be_honoured(alignment)) return raise<bad_alignment>(name, alignment);
        if (bytes > pages_.reserved() || alignment > pages_.reserved()) {
            const std::size_t page = pages_.page_bytes();
            const std::size_t needed = with_padding(bytes, alignment > page ? alignment - page : 0);
            return raise<request_too_large>(name, bytes, alignment, needed, pages_.reserved());
        }
        if (pages_.last_refusal().operation != nullptr) {
            return raise<system_refused>(name, bytes, alignment, pages_.last_refusal());
        }
        return raise<limit_exceeded>(name, bytes, pages_.used(), pages_.reserved());
    }

private:
    [[gnu::noinline, gnu::cold]] static void fail_construction(const char* name) {
        const system_refusal refusal{"drawn at random", 0, "this system has no source of random numbers"};
        raise<system_refused>(name, sizeof secret_, std::size_t{1}, refusal);
        abort_with(system_refused{name, sizeof secret_, 1, refusal});
    }

    static constexpr std::size_t max_slab_bytes = 256_KiB;
    static constexpr int stride_shift = 19;  // twice the largest slab, with room for its guards
    static constexpr std::size_t stride = std::size_t{1} << stride_shift;
    static constexpr std::size_t max_quarantine = std::size_t{1} << 20;
    static constexpr unsigned char fill = 0xDF;  // as a pointer, no address of a 64-bit processor

    // ending: live, its destructor runs; waiting: in the quarantine; free: also one that was never handed out.
    enum slot_state : std::uint8_t { live, ending, waiting, free };

    // Behind it: a std::uint16_t for each slot, of which the first `free` are the numbers of the free ones, and a
    // slot_state for each slot.
    struct slab {
        std::uint64_t cookie;
        std::byte* first_slot;
        slab* next;
        slab* next_available;
        std::uint64_t reciprocal;  // 2^32 / slot size, rounded up
        std::uint32_t slots;
        std::uint32_t free;
        std::uint32_t class_index;
        std::uint32_t slot_bytes;
        std::uint32_t bytes;
        std::uint32_t chosen;  // of the free slots: the one to hand out next
        std::uint32_t listed;  // 1: in its class's list of those with free slots, or allocated from

        std::uint16_t* numbers() noexcept { return reinterpret_cast<std::uint16_t*>(this + 1); }
        std::uint8_t* states() noexcept { return reinterpret_cast<std::uint8_t*>(numbers() + slots); }
        const std::uint8_t* states() const noexcept { return const_cast<slab*>(this)->states(); }
        std::uintptr_t start() const noexcept { return reinterpret_cast<std::uintptr_t>(first_slot); }
        std::size_t slot_range() const noexcept { return std::size_t{slots} * slot_bytes; }
    };

    struct size_class {
        slab* current = nullptr;    // allocated from; in no list
        slab* available = nullptr;  // others with free slots
        slab* first = nullptr;      // all
        std::size_t slabs = 0;
        std::size_t live = 0;
    };

    struct found {
        slab* home;
        std::size_t slot;
    };

    static constexpr const char* overwritten = "the header of a slab was overwritten";
    static constexpr const char* written_while_free = "a free slot was written to";
    static constexpr const char* no_slot = "a pointer was freed that is no slot of this pool";

    std::uint64_t cookie_of(const slab* of) const noexcept {
        const std::uint64_t address = reinterpret_cast<std::uintptr_t>(of) ^ secret_;
        const std::uint64_t mixed = address * 0x9FB2'1C65'1E98'DF25;
        return (mixed ^ mixed >> 29 ^ reinterpret_cast<std::uintptr_t>(this)) * 0xD6E8'FEB8'6659'FD93;
    }

    // The slab whose stride `p` lies in; null when there is none.
    slab* slab_at(const void* p) const noexcept {
        const std::uintptr_t index = (reinterpret_cast<std::uintptr_t>(p) >> stride_shift) - origin_;
        return index < table_size_ ? table_[index] : nullptr;
    }

    // As slab_at, of a slot.
    slab* slab_of(const void* p) const noexcept {
        return table_[(reinterpret_cast<std::uintptr_t>(p) >> stride_shift) - origin_];
    }

    // Not inlined, or both would be in each free.
    [[noreturn, gnu::noinline, gnu::cold]] void refuse(const char* name, const void* p) const noexcept {
        abort_on_misuse(name, pages_.owns(p) ? no_slot : mistake::foreign_pointer, p);
    }

    [[gnu::always_inline]] found find_live(std::size_t index, std::size_t slot_bytes, const char* name,
                                           const void* p) const noexcept {
        slab* home = slab_at(p);
        if (home == nullptr) [[unlikely]]
            refuse(name, p);
        if (home->cookie != cookie_of(home)) [[unlikely]]
            abort_on_misuse(name, overwritten, p);
        const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(p) - home->start();
        if (offset >= home->slot_range()) [[unlikely]]
            refuse(name, p);
        if (home->class_index != index) [[unlikely]]
            abort_on_misuse(name, mistake::wrong_size, p);
        const auto slot = static_cast<std::size_t>(offset * home->reciprocal >> 32);
        if (slot * slot_bytes != offset) [[unlikely]]
            abort_on_misuse(name, mistake::inside_a_slot, p);
        if (home->states()[slot] != live) [[unlikely]]
            abort_on_misuse(name, home->states()[slot] == ending ? mistake::ended_by_itself : mistake::double_free, p);
        return {home, slot};
    }
    // Of a slot.
    std::uint8_t& state_at(std::size_t slot_bytes, const void* p) const noexcept {
        slab* home = slab_of(p);
        return home->states()[(reinterpret_cast<std::uintptr_t>(p) - home->start()) / slot_bytes];
    }

    [[gnu::always_inline]] void check_fill(const char* name, const void* p, std::size_t bytes) const noexcept {
        if (!options_.check_writes || poisoning) return;
        std::uint64_t changed = 0;
        for (std::size_t at = 0; at < bytes; at += sizeof changed) {
            std::uint64_t word;
            std::memcpy(&word, static_cast<const std::byte*>(p) + at, sizeof word);
            changed |= word ^ fill * (~std::uint64_t{0} / 0xFF);
        }
        if (changed != 0) [[unlikely]]
            abort_on_misuse(name, written_while_free, p);
    }

    void check_free_slots(const char* name, const slab* of) const noexcept {
        if (!options_.check_writes || poisoning) return;
        for (std::size_t slot = 0; slot < of->slots; ++slot) {
            if (of->states()[slot] < waiting) continue;
            check_fill(name, of->first_slot + slot * of->slot_bytes, of->slot_bytes);
        }
    }

    // A slot leaves the quarantine. Where there is one size, it is `slot_bytes`, a constant.
    [[gnu::always_inline]] void settle(const char* name, void* p, std::size_t slot_bytes) noexcept {
        slab* home = slab_of(p);
        if (home->cookie != cookie_of(home)) [[unlikely]]
            abort_on_misuse(name, overwritten, p);
        check_fill(name, p, Classes == 1 ? slot_bytes : home->slot_bytes);
        const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(p) - home->start();
        const auto slot = static_cast<std::size_t>(offset * home->reciprocal >> 32);
        home->states()[slot] = free;
        home->numbers()[home->free++] = static_cast<std::uint16_t>(slot);
        if (home->listed == 0) list(classes_[home->class_index], home, true);
    }

    std::size_t ring_bytes() const noexcept { return options_.quarantine_slots * sizeof(void*); }

    [[gnu::noinline]] void empty_quarantine(const char* name) noexcept {
        if (ring_ == nullptr) return;
        for (std::size_t i = 0; i < options_.quarantine_slots; ++i) {
            if (void* p = std::exchange(ring_[i], nullptr)) settle(name, p, slab_of(p)->slot_bytes);
        }
    }

    static void list(size_class& of, slab* added, bool available) noexcept {
        added->listed = available;
        if (!available) return;
        added->next_available = of.available;
        of.available = added;
    }

    // Out of line: the slab in use has no free slot.
    [[gnu::noinline]] slab* refill(std::size_t index, std::size_t slot_bytes) noexcept {
        size_class& of = classes_[index];
        if (of.current != nullptr) of.current->listed = 0;
        of.current = nullptr;
        if (of.available == nullptr && !add_slab(index, slot_bytes)) return nullptr;
        of.current = of.available;
        of.available = of.current->next_available;
        of.current->chosen = random_.below(of.current->free);
        return of.current;
    }

    // Slabs double from a page, so that a small pool holds few; large pools take large slabs, as a process has a
    // limited number of mappings (on Linux 65,530, of which a slab and its header take four).
    std::size_t next_slab_bytes(std::size_t slabs, std::size_t slot_bytes) const noexcept {
        const std::size_t usual = slabs < 64 ? 4_KiB << detail::min<std::size_t>(slabs, 4) : max_slab_bytes;
        return align_up(detail::max(usual, std::bit_ceil(4 * slot_bytes)), pages_.page_bytes());
    }

    bool add_slab(std::size_t index, std::size_t slot_bytes) noexcept {
        size_class& of = classes_[index];
        if (!add_quarantine()) return false;
        const std::size_t bytes = next_slab_bytes(of.slabs, slot_bytes);
        const std::size_t slots = bytes / slot_bytes;
        const std::size_t header_bytes = sizeof(slab) + slots * (sizeof(std::uint16_t) + 1);
        auto* storage = static_cast<std::byte*>(own(bytes, stride));
        if (storage == nullptr) return false;
        const std::size_t number = (reinterpret_cast<std::uintptr_t>(storage) >> stride_shift) - origin_;
        auto* added = reach(number) ? static_cast<slab*>(own(header_bytes)) : nullptr;
        if (added == nullptr) {
            disown(storage, bytes);
            return false;
        }
        *added = {.cookie = cookie_of(added),
                  .first_slot = storage + bytes - slots * slot_bytes,
                  .next = of.first,
                  .next_available = nullptr,
                  .reciprocal = ((std::uint64_t{1} << 32) + slot_bytes - 1) / slot_bytes,
                  .slots = static_cast<std::uint32_t>(slots),
                  .free = static_cast<std::uint32_t>(slots),
                  .class_index = static_cast<std::uint32_t>(index),
                  .slot_bytes = static_cast<std::uint32_t>(slot_bytes),
                  .bytes = static_cast<std::uint32_t>(bytes),
                  .chosen = 0,
                  .listed = 0};
        for (std::size_t slot = 0; slot < slots; ++slot) added->numbers()[slot] = static_cast<std::uint16_t>(slot);
        std::memset(added->states(), free, slots);
        if (options_.check_writes && !poisoning) std::memset(added->first_slot, fill, slots * slot_bytes);
        poison(storage, bytes);
        of.first = added;
        ++of.slabs;
        list(of, added, true);
        table_[number] = added;
        return true;
    }

    bool add_quarantine() noexcept {
        if (options_.quarantine_slots == 0 || ring_ != nullptr) return true;
        ring_ = static_cast<void**>(own_zeroed(ring_bytes()));
        return ring_ != nullptr;
    }

    // Makes the table reach stride `number`.
    bool reach(std::size_t number) noexcept {
        if (number < table_size_) return true;
        const std::size_t size = std::bit_ceil(detail::max(number + 1, pages_.page_bytes() / sizeof(slab*)));
        auto** larger = static_cast<slab**>(own_zeroed(size * sizeof(slab*)));
        if (larger == nullptr) return false;
        if (table_ != nullptr) {
            std::memcpy(static_cast<void*>(larger), static_cast<void*>(table_), table_size_ * sizeof(slab*));
            disown(table_, table_size_ * sizeof(slab*));
        }
        table_ = larger;
        table_size_ = size;
        return true;
    }

    // Pages of zeros, which take no memory until they are written to.
    void* own_zeroed(std::size_t bytes) noexcept {
        void* p = own(bytes);
        const std::size_t whole = align_up(bytes, pages_.page_bytes());
        if (p != nullptr && !pages_.discard(p, whole)) std::memset(p, 0, bytes);
        return p;
    }

    void drop(slab* dropped) noexcept {
        const std::size_t header_bytes = sizeof(slab) + dropped->slots * (sizeof(std::uint16_t) + 1);
        const std::size_t bytes = dropped->bytes;
        auto* storage = reinterpret_cast<std::byte*>(align_down(dropped->start(), stride));
        table_[(dropped->start() >> stride_shift) - origin_] = nullptr;
        dropped->cookie = 0;
        disown(dropped, header_bytes);
        disown(storage, bytes);
    }

    // Pages for the mechanism itself, which large_bytes() leaves out.
    void* own(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        const std::size_t before = pages_.used();
        void* p = pages_.try_allocate(bytes, alignment);
        own_bytes_ += pages_.used() - before;
        return p;
    }
    void disown(void* p, std::size_t bytes) noexcept {
        const std::size_t before = pages_.used();
        pages_.deallocate(p, bytes);
        own_bytes_ -= before - pages_.used();
    }

    void forget() noexcept {
        for (size_class& each : classes_) each = {};
        table_ = nullptr;
        table_size_ = 0;
        ring_ = nullptr;
        ring_next_ = 0;
        large_count_ = 0;
        own_bytes_ = 0;
    }

    virtual_memory pages_;
    hardened_options options_;
    std::uint64_t secret_ = 0;
    order_generator random_;
    std::uintptr_t origin_ = 0;  // number of the range's first stride
    slab** table_ = nullptr;     // the slab of each stride
    std::size_t table_size_ = 0;
    void** ring_ = nullptr;  // freed slots, of which the oldest is at ring_next_
    std::size_t ring_next_ = 0;
    std::size_t large_count_ = 0;
    std::size_t own_bytes_ = 0;
    size_class classes_[Classes];
};

}  // namespace acre::detail
