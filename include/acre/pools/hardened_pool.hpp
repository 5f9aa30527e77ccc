// A growing pool of raw slots of one size that finds memory errors and makes them hard to exploit.
//
// Use it for storage that holds what an attacker may send or steal: messages, keys, sessions. Use acre::pool where
// speed matters more, acre::hardened_multi_pool where sizes vary, acre::hardened_object_pool<T> for objects, and
// AddressSanitizer to find errors before they are shipped.
//
//   - Slots come out in random order, which is another in each run.
//   - Each slab lies between guard pages: an overflow out of a slab ends the program.
//   - What the pool knows of its slots lies elsewhere, behind guard pages of its own, and carries a cookie that each
//     free checks.
//   - A freed slot waits in a quarantine before it is handed out again. Free slots are filled, and a write to one is
//     reported.
//   - A double free, a pointer into the middle of a slot, of another resource, or of another size aborts with a
//     sentence. A free reads nothing at the address that it is given.
//
// Secrets come from the system (getrandom). The generator of the order is fast and no cryptography: it keeps slots from
// being guessed, not from being computed by someone who sees many addresses.
//
// Cost: 3.7 to 5.8 times acre::pool for a thousand live slots, 2.3 to 3.5 times without .check_writes; 9.7 times for
// 100,000 in random order, which are not in the cache (docs/hardened.md). Memory: 3 bytes a slot and 72 a slab, in
// pages of their own, and the slots in quarantine. Larger requests take pages of their own between guard pages. Takes
// memory from the system alone (acre::virtual_memory), not from an upstream. Not thread-safe. Not movable.
//
//     acre::hardened_pool<64> sessions;
//     void* p = sessions.allocate();
//     sessions.deallocate(p);
#pragma once

#include <acre/core/detail/target.hpp>
#if !ACRE_HAS_VIRTUAL_MEMORY
static_assert(false, "acre::hardened_pool needs mmap or VirtualAlloc, and this target has neither: use acre::pool");
#else

#include <acre/core/alignment.hpp>
#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/live_report.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/pools/detail/hardened_slabs.hpp>
#include <acre/pools/detail/slot_face.hpp>
#include <acre/pools/hardened_options.hpp>
#include <cstddef>

namespace acre {

/// Slots of `Slot` bytes aligned to `Align`.
template <std::size_t Slot, std::size_t Align>
    requires true  // acre/core/detail/left_out.hpp
class hardened_pool<Slot, Align> : public detail::slot_face<hardened_pool<Slot, Align>, Slot, Align> {
    using face = detail::slot_face<hardened_pool, Slot, Align>;
    friend face;
    using slabs = detail::hardened_slabs<1>;
    static constexpr std::size_t slot_bytes =
        align_up(detail::max<std::size_t>(Slot, 8) + redzone_bytes, detail::max<std::size_t>(Align, 8));
    static_assert(Slot <= slabs::max_slot_bytes && Align <= slabs::max_slot_alignment,
                  "acre::hardened_pool: a slot has at most 32 KiB, aligned to 4 KiB: use acre::virtual_memory with "
                  ".guard_pages for larger ones");

public:
    static constexpr const char* name = "acre::hardened_pool";
    using options_type = hardened_options;
    /// Alignment of every slot in bytes; stricter requests get pages of their own.
    static constexpr std::size_t max_alignment = detail::min(slot_bytes & (0 - slot_bytes), slabs::max_slot_alignment);

    /// Reserves addresses and takes no memory. Throws as virtual_memory.
    hardened_pool() : hardened_pool(hardened_options{}) {}
    explicit hardened_pool(const hardened_options& options) : hardened_pool(options, name) {}

    hardened_pool(const hardened_pool&) = delete;
    hardened_pool& operator=(const hardened_pool&) = delete;

    /// Gives everything back to the system, live slots included.
    ~hardened_pool() {
        report_live();
        slabs_.check_free_slots(name_);
    }

    /// Returns a slot of Slot bytes aligned to Align, contents undefined. Throws as virtual_memory.
    void* allocate() {
        if (void* p = try_allocate()) [[likely]]
            return p;
        return slabs_.fail(name_, Slot, Align);
    }
    /// As allocate, but null when there is no memory.
    [[gnu::always_inline]] void* try_allocate() noexcept { return slabs_.take(0, slot_bytes, Slot, name_); }
    /// Frees a slot; null is a no-op.
    void deallocate(void* p) noexcept {
        if (p != nullptr) give_back(name_, p);
    }

    using face::allocate;
    using face::deallocate;
    using face::try_allocate;

    /// Gives slabs without a live slot back to the system and returns their bytes; ends the quarantine of all slots.
    std::size_t release_unused() noexcept { return slabs_.release_unused(name_); }
    /// Gives all memory back to the system; every slot handed out becomes invalid.
    void release() noexcept { slabs_.release(name_); }
    /// Frees everything at once and keeps up to 16 MiB. Here and in release(), free slots are checked first: linear in
    /// their bytes.
    void reset() noexcept { slabs_.reset(name_); }

    /// Bytes that the system was asked for.
    std::size_t capacity() const noexcept { return slabs_.capacity(); }
    /// Bytes of the live slots and of larger requests.
    std::size_t used() const noexcept { return slabs_.live_slots(0) * slot_bytes + slabs_.large_bytes(); }
    /// Number of live allocations, larger requests included.
    std::size_t live() const noexcept { return slabs_.live_slots(0) + slabs_.large_count(); }
    /// True when `p` lies in the addresses of this pool. Constant time.
    bool owns(const void* p) const noexcept { return slabs_.owns(p); }

protected:
    // For derived pools: errors and misuse are reported under `derived`.
    hardened_pool(const hardened_options& options, const char* derived)
        : slabs_(derived, options), report_(options.report_live), name_(derived) {}

    void report_live() noexcept {
        report_.write(name_, [this] { return live(); });
    }
    void give_back(const char* derived, void* slot) noexcept { slabs_.give_back(0, slot_bytes, derived, slot); }
    static constexpr bool checks_frees = true;
    static constexpr bool marks_destroying = true;
    void begin_destroying(const char* derived, void* slot) noexcept {
        slabs_.mark_ending(0, slot_bytes, derived, slot);
    }
    void end_destroying(const char* derived, void* slot) noexcept {
        slabs_.mark_live(slot_bytes, slot);
        give_back(derived, slot);
    }
    bool is_destroying(const void* slot) const noexcept { return slabs_.is_ending(slot_bytes, slot); }
    bool is_free(const void* slot) const noexcept { return slabs_.is_free(0, slot_bytes, slot); }
    template <class Visit>
    void for_each_live(Visit visit) noexcept {
        visiting_ = true;
        slabs_.for_each_live(0, slot_bytes, visit);
        visiting_ = false;
    }
    bool visiting() const noexcept { return visiting_; }

private:
    void* allocate_large(std::size_t bytes, std::size_t alignment) {
        if (void* p = try_allocate_large(bytes, alignment)) return p;
        return slabs_.fail(name_, bytes, alignment);
    }
    void* try_allocate_large(std::size_t bytes, std::size_t alignment) noexcept {
        return slabs_.try_allocate_large(bytes, alignment);
    }
    void deallocate_large(void* p, std::size_t bytes, std::size_t) noexcept {
        if (p != nullptr) slabs_.deallocate_large(name_, p, bytes);
    }

    slabs slabs_;
    detail::live_report report_;
    bool visiting_ = false;  // while the destructors of live objects run, which may destroy other objects
    const char* name_;
};

}  // namespace acre

#endif  // ACRE_HAS_VIRTUAL_MEMORY
