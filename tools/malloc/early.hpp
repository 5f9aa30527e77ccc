// Requests that come before the dynamic linker is done with the library: it calls the resolvers of indirect functions
// (ifunc) while it puts addresses in place, those of this library and its thread-local storage perhaps not yet. Such a
// resolver may allocate. It gets memory of a small array.
//
// What is here reads no address that the dynamic linker puts in place, and calls no function of another library. Only
// one thread runs then, or uses the library.
#pragma once

#include <acre/core/alignment.hpp>
#include <cstddef>
#include <cstdint>

#include "heap.hpp"

// A common symbol: it lies behind all other data, so that no page has a part of it beside what is used.
asm(".hidden acre_early_place\n.comm acre_early_place, 0x40000, 64");
extern "C" [[gnu::visibility("hidden")]] std::byte acre_early_place[0x40000];

namespace acre::preload {

/// Whether this library's addresses and the thread's own memory are in place.
[[gnu::noinline, gnu::cold]] inline bool is_in_place() noexcept {
    // Volatile: the compiler knows the value that it will have.
    static const volatile void* const volatile own_address = &own_address;
    return own_address == &own_address && the_heap.has_threads_memory();
}

inline bool comes_too_early() noexcept {
    return !the_heap.has_begun() && !is_in_place();
}

/// The array, of which a pointer moves forward. The block that was taken last can be given back.
class early_memory {
public:
    static constexpr std::size_t bytes = sizeof acre_early_place;

    bool owns(const void* p) const noexcept {
        return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(place()) < bytes;
    }

    /// Zeroes; null when there is not enough.
    [[gnu::noinline, gnu::cold]] void* take(std::size_t wanted, std::size_t alignment = min_alignment) noexcept {
        if (wanted > bytes || alignment > bytes) return nullptr;
        if (alignment < min_alignment) alignment = min_alignment;
        const auto start = reinterpret_cast<std::uintptr_t>(place());
        const std::size_t at = align_up(start + taken_ + sizeof(head), alignment) - start;
        const std::size_t size = align_up(wanted == 0 ? 1 : wanted, min_alignment);
        if (at > bytes || size > bytes - at) return nullptr;
        head& of = head_of(place() + at);
        of.bytes = size;
        of.taken_before = taken_;
        taken_ = at + size;
        return place() + at;
    }

    /// Later nothing is used again: threads may give blocks back at once.
    [[gnu::noinline, gnu::cold]] void give(void* p) noexcept {
        const head of = head_of(p);
        auto* const start = static_cast<std::byte*>(p);
        if (!comes_too_early() || start + of.bytes != place() + taken_) return;
        for (std::size_t i = 0; i < of.bytes; ++i) const_cast<volatile std::byte&>(start[i]) = std::byte{};
        head_of(p) = {};
        taken_ = of.taken_before;
    }

    std::size_t bytes_of(const void* p) const noexcept { return head_of(p).bytes; }

    /// memcpy may not be in place.
    static void copy(void* to, const void* from, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count; ++i)
            static_cast<volatile std::byte*>(to)[i] = static_cast<const std::byte*>(from)[i];
    }

private:
    static constexpr std::size_t min_alignment = 16;

    struct head {
        std::size_t bytes;
        std::size_t taken_before;
    };
    static_assert(sizeof(head) <= min_alignment);

    static head& head_of(void* p) noexcept { return *(static_cast<head*>(p) - 1); }
    static const head& head_of(const void* p) noexcept { return *(static_cast<const head*>(p) - 1); }

    std::size_t taken_ = 0;
    static std::byte* place() noexcept { return acre_early_place; }
};
inline constinit early_memory early;

}  // namespace acre::preload
