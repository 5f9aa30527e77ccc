// An arena whose first bytes lie in the object itself, on the stack or static: no upstream call until they are used up.
//
// Use it where the usual amount is known and small: a request's scratch data, a parser's nodes. With acre::no_memory as
// upstream it never grows. Interface, costs and thread rules are those of acre::arena. If the inline bytes sufficed,
// the destructor is three comparisons plus the destructors due. `Bytes` includes 24 bytes of block header.
//
//     acre::inline_arena<4096> request;
//     std::string_view key = request.copy(header);
#pragma once

#include <acre/arenas/arena.hpp>
#include <cstddef>
#include <span>

namespace acre {

namespace detail {
/// Base that holds the bytes, so that they exist before the arena that starts in them.
template <std::size_t Bytes>
struct inline_block {
    // With room for redzones, so that what fits in an ordinary build fits in one that poisons, too.
    static constexpr std::size_t storage_bytes = Bytes + Bytes / poison_granule * redzone_bytes;
    alignas(default_alignment) std::byte inline_storage[storage_bytes];
};
}  // namespace detail

/// An acre::arena that starts in `Bytes` bytes of its own.
template <std::size_t Bytes>
class inline_arena : private detail::inline_block<Bytes>, public arena {
public:
    static_assert(Bytes >= 64, "acre: an inline_arena needs at least 64 bytes, 24 of them for its block header");

    /// With the default options; what does not fit inside comes from the heap. Takes no memory.
    inline_arena() : inline_arena(arena_options{}) {}
    /// The same, and what does not fit inside comes from `upstream`, which must live longer.
    explicit inline_arena(resource_ref upstream) : inline_arena(arena_options{}, upstream) {}
    /// With options for the blocks behind the inline one. Throws bad_option.
    explicit inline_arena(const arena_options& options, resource_ref upstream = heap{})
        : arena(std::span<std::byte>{detail::inline_block<Bytes>::inline_storage}, options, upstream) {}

    ~inline_arena() {
        // The destructors due must run while the storage exists.
        end();
        unpoison(detail::inline_block<Bytes>::inline_storage, sizeof(detail::inline_block<Bytes>));
    }

    /// Bytes that can be allocated before the first upstream call.
    static constexpr std::size_t inline_bytes() noexcept { return Bytes - header_bytes; }
};

}  // namespace acre
