// The mark in a free slot that a magazine keeps: a word of the slot that holds a value made of its address and its
// pool's. A second free finds it, without anything that other threads write.
//
// A byte for each slot in the slab's header would need no room in the slot, and no write to a free slot would hide it.
// But slots of several threads share the header's cache lines: with two threads that inherit blocks of 16 to 512 bytes
// each allocation and free then waited for the other thread, and took 1.6 times as long. glibc's malloc marks the
// blocks that a thread keeps in the same way (tcache_entry::key, 2018).
//
// The word is the second one of the slot where there is one: a destructor that runs twice writes the first, the pointer
// to a class's virtual functions. The accesses are volatile: to the compiler a slot has no contents before its object
// is constructed, and it would drop the store that clears the mark. The pool is part of the value, since the slabs of
// one pool may be slots of another: then both have a slot at the same address.
//
// Cost: an instruction to clear and seven to look and set; three more where the slot's size is known at run time only.
// For the thread that allocates or frees the slot.
#pragma once

#include <acre/core/sanitizer.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

/// Sets, finds and clears the mark of a slot.
class free_mark {
public:
    /// Where the mark of a slot lies in it, in bytes. A slot has 8 bytes or more.
    static constexpr std::size_t offset(std::size_t slot_bytes) noexcept {
        return slot_bytes >= 2 * sizeof(word) ? sizeof(word) : 0;
    }

    /// Whether the slot of the pool `owner` is marked. Under AddressSanitizer: whether it is poisoned, which the
    /// program cannot overwrite.
    [[gnu::always_inline]] static bool is_set(void* slot, [[maybe_unused]] std::size_t offset,
                                              [[maybe_unused]] const void* owner) noexcept {
#if defined(ACRE_HAS_ADDRESS_SANITIZER)
        return is_poisoned(slot);
#else
        make_defined(slot, offset);
        const word value = value_for(slot, owner);
        // One byte first: whatever part of the word the program wrote last, the processor has it at hand. A word of
        // which it wrote a part just before would wait for that store (AMD Zen 4: 4 ns).
        if (*byte_at(slot, offset) != static_cast<std::uint8_t>(value)) [[likely]]
            return false;
        return *at(slot, offset) == value;
#endif
    }
    [[gnu::always_inline]] static void set(void* slot, std::size_t offset, const void* owner) noexcept {
        store(slot, offset, value_for(slot, owner));
    }
    [[gnu::always_inline]] static void clear(void* slot, std::size_t offset) noexcept { store(slot, offset, 0); }

private:
    using word = std::uint64_t;
    using stored_word [[gnu::may_alias, gnu::aligned(1)]] = word;

    // Any number with many ones and zeros, so that no address and no small number is a mark.
    static constexpr word no_address = 0xa5c3'69f0'1e87'd24b;

    static word value_for(const void* slot, const void* owner) noexcept {
        return reinterpret_cast<std::uintptr_t>(slot) ^ reinterpret_cast<std::uintptr_t>(owner) ^ no_address;
    }
    // The lowest byte of the word.
    static volatile std::uint8_t* byte_at(void* slot, std::size_t offset) noexcept {
        constexpr std::size_t lowest = std::endian::native == std::endian::big ? sizeof(word) - 1 : 0;
        return static_cast<volatile std::uint8_t*>(slot) + offset + lowest;
    }
    static volatile stored_word* at(void* slot, std::size_t offset) noexcept {
        return reinterpret_cast<volatile stored_word*>(static_cast<std::byte*>(slot) + offset);
    }

#if defined(ACRE_HAS_ADDRESS_SANITIZER)
    // The slot may be poisoned, or live with fewer bytes.
    [[gnu::noinline, gnu::no_sanitize_address]] static void store(void* slot, std::size_t offset, word value) noexcept {
        *at(slot, offset) = value;
    }
#else
    [[gnu::always_inline]] static void store(void* slot, std::size_t offset, word value) noexcept {
        make_defined(slot, offset);
        *at(slot, offset) = value;
        if constexpr (poisoning) poison(static_cast<std::byte*>(slot) + offset, sizeof(word));
    }
    // Valgrind would report a look at what the program left undefined, or did not ask for.
    static void make_defined(void* slot, std::size_t offset) noexcept {
        if constexpr (poisoning) unpoison_defined(static_cast<std::byte*>(slot) + offset, sizeof(word));
    }
#endif
};

}  // namespace acre::detail
