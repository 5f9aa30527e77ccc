// Reads steps that are in a file into memory before they are played, while no clock runs, and drops them afterwards.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sequence.hpp"

namespace acre::tool {

/// For a sequence in memory the only window is the whole, and nothing needs to be done.
class step_window {
public:
    static constexpr std::uint64_t usual_steps = std::uint64_t{1} << 20;  // in memory at a time

    explicit step_window(const sequence_view& sequence) : sequence_{sequence} {}

    bool is_whole() const noexcept { return sequence_.in_memory; }

    /// Reads in steps from `first` on, up to `last`; returns the end of the window.
    std::uint64_t bring_in(std::uint64_t first, std::uint64_t last) const noexcept {
        if (is_whole()) return last;
        const std::uint64_t end = std::min(last, first + usual_steps);
        // One more, which may be the second half of a reallocation.
        read(sequence_.steps, first, end + 1);
        read(sequence_.turns, first, end + 1);
        return end;
    }

    /// Drops the steps from `first` to `last`.
    void let_go(std::uint64_t first, std::uint64_t last) const noexcept {
        if (is_whole()) return;
        drop(sequence_.steps, first, last);
        drop(sequence_.turns, first, last);
    }

private:
    static constexpr std::uintptr_t page_bytes = 4096;

    /// The pages that contain a range of elements.
    struct pages {
        std::uintptr_t first = 0;
        std::uintptr_t last = 0;

        template <typename T>
        pages(std::span<const T> elements, std::uint64_t from, std::uint64_t to) {
            const auto size = static_cast<std::uint64_t>(elements.size());
            const auto address = [&](std::uint64_t at) {
                return reinterpret_cast<std::uintptr_t>(elements.data() + std::min(at, size));
            };
            first = address(from) / page_bytes * page_bytes;
            last = (address(to) + page_bytes - 1) / page_bytes * page_bytes;
        }

        void advise(int what) const noexcept {
            if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, what);
        }
    };

    template <typename T>
    static void read(std::span<const T> elements, std::uint64_t from, std::uint64_t to) noexcept {
        const pages wanted{elements, from, to};
        wanted.advise(MADV_WILLNEED);
        for (std::uintptr_t page = wanted.first; page < wanted.last; page += page_bytes) {
            static_cast<void>(*reinterpret_cast<const volatile char*>(page));
        }
    }

    template <typename T>
    static void drop(std::span<const T> elements, std::uint64_t from, std::uint64_t to) noexcept {
        pages{elements, from, to}.advise(MADV_DONTNEED);
    }

    const sequence_view& sequence_;
};

}  // namespace acre::tool
