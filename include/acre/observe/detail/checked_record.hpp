// What acre::checked knows of one allocation, and the table of these records.
//
// Used by acre::checked, not directly. Cost: see record_table.hpp.
#pragma once

#include <acre/observe/detail/checked_fences.hpp>
#include <acre/observe/detail/record_table.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>

namespace acre::detail {

/// What a free says about the allocation.
struct claimed_size {
    std::size_t bytes = 0;
    std::size_t alignment = 0;  // 0 where the caller gives no size

    bool known() const noexcept { return alignment != 0; }
};

/// What was asked for.
struct request_kind {
    bool object = false;           // an object of an object pool, which destroys it
    bool slot = false;             // a slot of a pool, asked for without a size
    const void* caller = nullptr;  // the address that the call returns to, where there is no place in the source
};

/// The small facts of an allocation: compared and written as one word.
struct checked_traits {
    enum class state : std::uint8_t {
        live,
        quarantined,  // freed, and held back
        given_back,   // freed, and the resource may hand it out again
        reset,
        rewound,
    };
    enum : std::uint8_t {
        object = 1,  // as in request_kind
        slot = 2,    // as in request_kind
        quick = 4,   // is_quick(bytes), all bytes are filled, and no call stack is kept
    };

    state status = state::live;
    std::uint8_t alignment_power = 0;
    std::uint8_t front_power = 0;  // of the bytes in front of the allocation: the alignment of its storage
    std::uint8_t flags = 0;

    static constexpr checked_traits of(std::size_t alignment, request_kind kind, bool is_quick) noexcept {
        return {
            state::live, static_cast<std::uint8_t>(std::countr_zero(alignment)),
            static_cast<std::uint8_t>(std::countr_zero(fenced_block::front(alignment))),
            static_cast<std::uint8_t>((kind.object ? object : 0) | (kind.slot ? slot : 0) | (is_quick ? quick : 0))};
    }
    constexpr checked_traits with(state now) const noexcept { return {now, alignment_power, front_power, flags}; }
    constexpr bool has(std::uint8_t flag) const noexcept { return (flags & flag) != 0; }
    friend constexpr bool operator==(checked_traits a, checked_traits b) noexcept {
        return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
    }
};

/// In a cache line, where one has 64 bytes.
struct alignas(64) checked_record {
    using state = checked_traits::state;

    std::byte* p;
    std::size_t bytes;
    std::source_location allocated;
    std::source_location freed;
    std::uint64_t number;           // the first is 1
    std::uint32_t allocated_stack;  // key of a call stack; 0: none
    std::uint32_t freed_stack;
    checked_traits traits;
    std::uint32_t freed_turn;  // counts the frees

    state status() const noexcept { return traits.status; }
    bool is_live() const noexcept { return traits.status == state::live; }
    bool is_object() const noexcept { return traits.has(checked_traits::object); }
    std::size_t alignment() const noexcept { return std::size_t{1} << traits.alignment_power; }
    fenced_block block() const noexcept {
        const std::size_t front = std::size_t{1} << traits.front_power;
        return {p - front, front + bytes + fence_bytes, front};
    }
};

/// The records by key_of their addresses. Sparse: nearly each is where its search begins, which costs no step and no
/// branch that the processor foresees wrongly.
using checked_table = record_table<checked_record*, 2>;

inline std::size_t numeric_address(const void* p) noexcept {
    return reinterpret_cast<std::uintptr_t>(p);
}
/// The address of an allocation as a number, with the bits that its alignment makes 0 in front.
[[gnu::always_inline]] inline std::size_t key_of(const void* p) noexcept {
    return std::rotr(numeric_address(p), 4);
}

}  // namespace acre::detail
