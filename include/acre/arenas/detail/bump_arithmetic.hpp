// Equal arenas that begin at multiples of a granule of 16 bytes: how requests fit them (bump_arithmetic), and where
// they lie (upstream_storage, inline_storage).
//
// Used by acre::multi_arena and acre::concurrent_multi_arena, not directly. Cost: a handful of instructions each. The
// arithmetic is constexpr, and no sum wraps.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

/// The arithmetic of arenas in storage that is aligned to at most `MaxAlignment` bytes.
template <std::size_t MaxAlignment>
struct bump_arithmetic {
    /// Sizes, also of arenas, are rounded up to a multiple of this, so requests aligned to no more need no padding.
    static constexpr std::size_t granule = default_alignment;

    /// Bytes that a request takes without its padding.
    static constexpr std::size_t rounded(std::size_t bytes) noexcept { return align_up(bytes + (bytes == 0), granule); }
    /// As rounded(), for 1 <= bytes <= room.
    static constexpr std::size_t rounded_one_or_more(std::size_t bytes) noexcept {
        return ((bytes - 1) | (granule - 1)) + 1;
    }

    /// True for 1 <= bytes <= room. Zero bytes wrap to a huge request, which the slow paths serve.
    static constexpr bool fits(std::size_t bytes, std::size_t room) noexcept { return bytes - 1 < room; }

    /// True for the alignments that every start in an arena has.
    static constexpr bool is_ordinary(std::size_t alignment) noexcept {
        // Bit n is set for each power of two n up to the granule.
        constexpr std::uint32_t powers = 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8 | 1u << 16;
        static_assert(granule <= 16);
        return alignment <= granule && (powers >> alignment & 1) != 0;
    }

    /// Alignment in bytes that all arenas of `room` bytes share.
    static constexpr std::size_t base_alignment_of(std::size_t room) noexcept {
        return detail::min(room & (0 - room), MaxAlignment);
    }

    /// Largest padding at the start of an empty arena that is aligned to `base`.
    static constexpr std::size_t worst_padding(std::size_t alignment, std::size_t base) noexcept {
        return alignment > base ? alignment - base : 0;
    }

    /// Upper limit of the bytes that a request takes in an empty arena of `room` bytes. SIZE_MAX when that overflows.
    static constexpr std::size_t worst_bytes(std::size_t bytes, std::size_t alignment, std::size_t room) noexcept {
        const std::size_t padding = worst_padding(alignment, base_alignment_of(room));
        return bytes > SIZE_MAX - padding - 1 ? SIZE_MAX : bytes + (bytes == 0) + padding;
    }

    /// Arenas of `arena_bytes` bytes that hold `count` live allocations of `size` bytes aligned to `alignment`, if all
    /// are allocated before the first is freed. SIZE_MAX when an arena cannot hold even one.
    static constexpr std::size_t required_arenas(std::size_t arena_bytes, std::size_t count, std::size_t size,
                                                 std::size_t alignment) noexcept {
        const std::size_t room = align_up(arena_bytes, granule);
        if (size > room) return SIZE_MAX;
        const std::size_t first = worst_bytes(rounded(size), alignment, room);
        if (first > room) return SIZE_MAX;
        const std::size_t step = align_up(rounded(size), alignment);
        const std::size_t each = 1 + (room - first) / step;
        return count / each + (count % each != 0);
    }
};

/// Arenas in one upstream block. After the last arena come a Record per arena and `BytesPerPair` bytes per two arenas.
template <class Record, std::size_t BytesPerPair = 0>
class upstream_storage {
protected:
    static constexpr std::size_t max_alignment = 4096;

    /// Without exceptions: zero arenas when upstream has no memory.
    upstream_storage(std::size_t arenas, std::size_t arena_bytes, resource_ref upstream)
        : arenas_(arenas),
          arena_bytes_(arena_bytes),
          shift_(is_alignment(arena_bytes) ? std::countr_zero(arena_bytes) : 0),
          base_alignment_(detail::max(detail::min(arena_bytes & (0 - arena_bytes), max_alignment), alignof(Record))),
          upstream_(upstream) {
        bytes_ = static_cast<std::byte*>(upstream_.allocate(total_bytes(arenas_, arena_bytes_), base_alignment_));
        if (!exceptions_enabled && bytes_ == nullptr) arenas_ = 0;
        records_ = reinterpret_cast<Record*>(bytes_ + record_offset(arenas_, arena_bytes_));
    }
    upstream_storage(const upstream_storage&) = delete;
    upstream_storage& operator=(const upstream_storage&) = delete;
    ~upstream_storage() {
        if (arenas_ == 0) return;
        const std::size_t all = total_bytes(arenas_, arena_bytes_);
        unpoison_defined(bytes_, all);
        upstream_.deallocate(bytes_, all, base_alignment_);
    }

public:
    std::size_t arenas() const noexcept { return arenas_; }
    std::size_t arena_bytes() const noexcept { return arena_bytes_; }
    /// The resource that all memory came from.
    resource_ref upstream() const noexcept { return upstream_; }

protected:
    std::byte* bytes() const noexcept { return bytes_; }
    Record* records() const noexcept { return records_; }
    std::size_t base_alignment() const noexcept { return base_alignment_; }
    std::size_t index_of(std::size_t offset) const noexcept {
        // A division takes as long as the rest of a deallocation; most sizes are powers of two.
        return shift_ != 0 ? offset >> shift_ : offset / arena_bytes_;
    }

    /// Bytes of the upstream block. SIZE_MAX when that exceeds half of the address space.
    static constexpr std::size_t required_storage(std::size_t arenas, std::size_t arena_bytes) noexcept {
        if (arena_bytes > max_request / 2) return SIZE_MAX;
        const std::size_t whole = align_up(arena_bytes, default_alignment);
        static_assert(BytesPerPair <= sizeof(Record), "the second record below covers it, and what aligns the records");
        const auto bytes = array_bytes(arenas, whole + 2 * sizeof(Record));
        return bytes && *bytes <= max_request / 2 ? total_bytes(arenas, whole) : SIZE_MAX;
    }

    /// The options, with `.bytes` rounded up. Throws bad_option.
    template <class Options>
    static Options checked(Options options, const char* name) {
        require_at_least(1, name, "arenas", options.arenas);
        require_at_least(1, name, "bytes", options.bytes);
        require_option(options.bytes <= max_request / 2, name, "bytes", options.bytes,
                       "less than half of the address space");
        require_option(required_storage(options.arenas, options.bytes) != SIZE_MAX, name, "arenas", options.arenas,
                       "as many as fit the address space");
        options.bytes = align_up(options.bytes, default_alignment);
        return options;
    }

private:
    static constexpr std::size_t record_offset(std::size_t arenas, std::size_t arena_bytes) noexcept {
        return align_up(arenas * arena_bytes, alignof(Record));
    }
    static constexpr std::size_t total_bytes(std::size_t arenas, std::size_t arena_bytes) noexcept {
        return record_offset(arenas, arena_bytes) + arenas * sizeof(Record) + arenas / 2 * BytesPerPair;
    }

    std::byte* bytes_ = nullptr;
    Record* records_ = nullptr;
    std::size_t arenas_;
    std::size_t arena_bytes_;
    int shift_;
    std::size_t base_alignment_;
    resource_ref upstream_;
};

/// `Arenas` arenas of `Bytes` bytes inside the object, with a Record for each.
template <class Record, std::size_t Arenas, std::size_t Bytes>
class inline_storage {
    static_assert(Arenas > 0 && Bytes > 0, "there is at least one arena of at least one byte");
    static_assert(Bytes <= max_request / 2 / Arenas, "so many bytes do not fit the address space");

protected:
    // A larger alignment of the arenas would also be required of the object itself, wherever it lies.
    static constexpr std::size_t max_alignment = 64;

    constexpr inline_storage() noexcept = default;
    inline_storage(const inline_storage&) = delete;
    inline_storage& operator=(const inline_storage&) = delete;
    ~inline_storage() { unpoison_defined(bytes(), Arenas * Bytes); }

public:
    static constexpr std::size_t arenas() noexcept { return Arenas; }
    static constexpr std::size_t arena_bytes() noexcept { return Bytes; }

protected:
    std::byte* bytes() const noexcept { return reinterpret_cast<std::byte*>(const_cast<storage*>(&storage_)); }
    Record* records() const noexcept { return const_cast<Record*>(records_); }
    static constexpr std::size_t base_alignment() noexcept { return detail::min(Bytes & (0 - Bytes), max_alignment); }
    static constexpr std::size_t index_of(std::size_t offset) noexcept { return offset / Bytes; }

private:
    // The bytes stay uninitialised, and yet the object can be constant-initialised.
    union alignas(detail::max(base_alignment(), alignof(Record))) storage {
        constexpr storage() noexcept : nothing{} {}
        char nothing;
        std::byte all[Arenas * Bytes];
    };

    storage storage_;
    Record records_[Arenas] = {};
};

}  // namespace acre::detail
