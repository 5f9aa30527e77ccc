// Equal arenas that begin at multiples of a granule of 16 bytes: how requests fit them (bump_arithmetic), where they
// lie (upstream_storage, inline_storage), and which of their granules begin a live allocation (allocation_mark).
//
// Used by acre::multi_arena and acre::concurrent_multi_arena, not directly. Cost: a handful of instructions each. The
// arithmetic is constexpr, and no sum wraps. Memory: a byte for each granule, for the marks.
//
// Builds that poison have twice the storage: an allocation of n bytes is followed by n poisoned bytes, so that an
// overflow is reported. The arithmetic is the same in every build, because it uses positions: half of the addresses in
// such a build, and the addresses themselves in others.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace acre::detail {

/// Addresses are positions, shifted to the left by this many bits.
inline constexpr int position_shift = poisoning ? 1 : 0;

/// The position of an address, and the address of a position.
inline std::uintptr_t position_of(const void* p) noexcept {
    return reinterpret_cast<std::uintptr_t>(p) >> position_shift;
}
inline void* address_of(std::uintptr_t position) noexcept {
    return reinterpret_cast<void*>(position << position_shift);
}
/// Bytes of storage that `bytes` bytes of arenas take.
constexpr std::size_t stretched(std::size_t bytes) noexcept {
    return bytes << position_shift;
}

/// What begins at a granule: a byte beside the arenas, so that a deallocation can be refused that does not belong to a
/// live allocation of its size. Zero where no allocation has begun since the last reset. Read and written by relaxed
/// atomic builtins, as threads may free in one arena at a time; whoever uses an address got it in a way that orders
/// its mark, too.
using allocation_mark = unsigned char;
namespace marked {
inline constexpr allocation_mark nothing = 0;
inline constexpr allocation_mark freed = 1;
inline constexpr allocation_mark run = 2;  // a live run of arenas
inline constexpr allocation_mark live = 0x80;

/// A live allocation of `rounded` bytes: its number of granules, modulo 128.
constexpr allocation_mark live_of(std::size_t rounded) noexcept {
    return static_cast<allocation_mark>(live | (rounded / default_alignment));
}
}  // namespace marked

[[gnu::always_inline]] inline allocation_mark mark_of(const allocation_mark& mark) noexcept {
    return __atomic_load_n(&mark, __ATOMIC_RELAXED);
}
[[gnu::always_inline]] inline void set_mark(allocation_mark& mark, allocation_mark value) noexcept {
    __atomic_store_n(&mark, value, __ATOMIC_RELAXED);
}

/// The mistake of freeing at the granule of `mark`, where no allocation of the size given is live. `before` granules of
/// its arena lie before it. Linear in them.
[[gnu::noinline, gnu::cold]] inline const char* mistake_at(const allocation_mark& mark, std::size_t before) noexcept {
    if (mark_of(mark) > marked::freed) return mistake::wrong_size;
    if (mark_of(mark) == marked::freed) return mistake::double_free;
    for (const allocation_mark* each = &mark; before > 0; --before) {
        if (mark_of(*--each) != marked::nothing) return mistake::inside_an_allocation;
    }
    return mistake::double_free;
}

/// True when a granule of the arenas may begin at `p`.
inline bool is_granule(const void* p) noexcept {
    return is_aligned(p, stretched(default_alignment));
}

/// The granule at `offset` bytes of storage; a huge number when a granule does not begin there.
inline std::size_t granule_at(std::size_t offset) noexcept {
    constexpr int shift = std::countr_zero(stretched(default_alignment));
    return std::rotr(offset, shift);
}

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

/// Arenas in one upstream block. After the last arena come a Record per arena, `BytesPerPair` bytes per two arenas, and
/// the marks.
template <class Record, std::size_t BytesPerPair = 0>
class upstream_storage {
protected:
    static constexpr std::size_t max_alignment = 4096;

    /// Zero arenas when upstream returns null.
    upstream_storage(std::size_t arenas, std::size_t arena_bytes, resource_ref upstream)
        : arenas_(arenas),
          arena_bytes_(arena_bytes),
          shift_(is_alignment(arena_bytes) ? std::countr_zero(arena_bytes) : 0),
          base_alignment_(alignment_of(arena_bytes)),
          upstream_(upstream) {
        bytes_ =
            static_cast<std::byte*>(upstream_.allocate(total_bytes(arenas_, arena_bytes_), stretched(base_alignment_)));
        if (bytes_ == nullptr) arenas_ = 0;
        records_ = reinterpret_cast<Record*>(bytes_ + record_offset(arenas_, arena_bytes_));
        granules_ = arenas_ * arena_bytes_ / default_alignment;
        const auto marks = reinterpret_cast<std::uintptr_t>(bytes_) + mark_offset(arenas_, arena_bytes_);
        marks_ = marks - position_of(bytes_) / default_alignment;
        clear_marks();
    }
    upstream_storage(const upstream_storage&) = delete;
    upstream_storage& operator=(const upstream_storage&) = delete;
    ~upstream_storage() {
        if (arenas_ == 0) return;
        const std::size_t all = total_bytes(arenas_, arena_bytes_);
        unpoison_defined(bytes_, all);
        upstream_.deallocate(bytes_, all, stretched(base_alignment_));
    }

public:
    std::size_t arenas() const noexcept { return arenas_; }
    std::size_t arena_bytes() const noexcept { return arena_bytes_; }
    /// The resource that all memory came from.
    resource_ref upstream() const noexcept { return upstream_; }

protected:
    std::byte* bytes() const noexcept { return bytes_; }
    Record* records() const noexcept { return records_; }
    std::size_t granules() const noexcept { return granules_; }
    /// The mark of the granule at a position in the arenas.
    allocation_mark& mark_at(std::uintptr_t position) const noexcept {
        return *reinterpret_cast<allocation_mark*>(marks_ + position / default_alignment);
    }
    void clear_marks() noexcept {
        if (granules_ != 0) std::memset(&mark_at(position_of(bytes_)), marked::nothing, granules_);
    }
    std::size_t base_alignment() const noexcept { return base_alignment_; }
    std::size_t index_of(std::size_t offset) const noexcept {
        // A division takes as long as the rest of a deallocation; most sizes are powers of two.
        return shift_ != 0 ? offset >> shift_ : offset / arena_bytes_;
    }

    /// Alignment of the upstream block, for arenas of so many bytes.
    static constexpr std::size_t alignment_of(std::size_t arena_bytes) noexcept {
        return detail::max(detail::min(arena_bytes & (0 - arena_bytes), max_alignment), alignof(Record));
    }
    /// Bytes of the upstream block. SIZE_MAX when that exceeds half of the address space.
    static constexpr std::size_t required_storage(std::size_t arenas, std::size_t arena_bytes) noexcept {
        if (arena_bytes > max_request / 2) return SIZE_MAX;
        const std::size_t whole = align_up(arena_bytes, default_alignment);
        static_assert(BytesPerPair <= sizeof(Record),
                      "acre: the second record below covers it, and what aligns the records");
        const auto bytes = array_bytes(arenas, stretched(whole) + whole / default_alignment + 2 * sizeof(Record));
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
        return align_up(stretched(arenas * arena_bytes), alignof(Record));
    }
    static constexpr std::size_t mark_offset(std::size_t arenas, std::size_t arena_bytes) noexcept {
        return record_offset(arenas, arena_bytes) + arenas * sizeof(Record) + arenas / 2 * BytesPerPair;
    }
    static constexpr std::size_t total_bytes(std::size_t arenas, std::size_t arena_bytes) noexcept {
        return mark_offset(arenas, arena_bytes) + arenas * arena_bytes / default_alignment;
    }

    std::byte* bytes_ = nullptr;
    Record* records_ = nullptr;
    // The address of the mark of position 0, so that a position needs no subtraction.
    std::uintptr_t marks_ = 0;
    std::size_t granules_ = 0;
    std::size_t arenas_;
    std::size_t arena_bytes_;
    int shift_;
    std::size_t base_alignment_;
    resource_ref upstream_;
};

/// `Arenas` arenas of `Bytes` bytes inside the object, with a Record for each and the marks.
template <class Record, std::size_t Arenas, std::size_t Bytes>
class inline_storage {
    static_assert(Arenas > 0 && Bytes > 0, "acre: there is at least one arena of at least one byte");
    static_assert(Arenas == 0 || Bytes <= max_request / 4 / Arenas, "acre: so many bytes do not fit the address space");

protected:
    // A larger alignment of the arenas would also be required of the object itself, wherever it lies.
    static constexpr std::size_t max_alignment = 64;

    constexpr inline_storage() noexcept = default;
    inline_storage(const inline_storage&) = delete;
    inline_storage& operator=(const inline_storage&) = delete;
    ~inline_storage() { unpoison_defined(bytes(), stretched(Arenas * Bytes)); }

public:
    static constexpr std::size_t arenas() noexcept { return Arenas; }
    static constexpr std::size_t arena_bytes() noexcept { return Bytes; }

protected:
    std::byte* bytes() const noexcept { return reinterpret_cast<std::byte*>(const_cast<storage*>(&storage_)); }
    Record* records() const noexcept { return const_cast<Record*>(records_); }
    static constexpr std::size_t granules() noexcept { return Arenas * Bytes / default_alignment; }
    allocation_mark& mark_at(std::uintptr_t position) const noexcept {
        return const_cast<allocation_mark&>(marks_[(position - position_of(bytes())) / default_alignment]);
    }
    void clear_marks() noexcept { std::memset(marks_, marked::nothing, sizeof marks_); }
    static constexpr std::size_t base_alignment() noexcept { return detail::min(Bytes & (0 - Bytes), max_alignment); }
    static constexpr std::size_t index_of(std::size_t offset) noexcept { return offset / Bytes; }

private:
    // The bytes stay uninitialised, and yet the object can be constant-initialised.
    union alignas(detail::max(stretched(base_alignment()), alignof(Record))) storage {
        constexpr storage() noexcept : nothing{} {}
        char nothing;
        std::byte all[stretched(Arenas * Bytes)];
    };

    storage storage_;
    Record records_[Arenas] = {};
    allocation_mark marks_[granules()] = {};
};

}  // namespace acre::detail
