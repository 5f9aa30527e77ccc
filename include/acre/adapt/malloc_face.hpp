// The functions of malloc over any resource, for C libraries that take functions without sizes: malloc, calloc,
// realloc, free and usable_size.
//
// Use it in the hooks of libraries that do not say how large the block is that they free. A library that says so, such
// as Lua, needs no malloc_face: call the resource.
//
// Each block has 16 bytes in front, in which the face keeps its size; a resource that knows the size of a block by its
// address (it has usable_size(p) and deallocate_unsized(p)), as acre::general_heap does, serves it without them.
// Blocks are aligned to 16 bytes, or as aligned_alloc is asked. A request that cannot be served returns null and
// changes nothing. realloc grows and shrinks in place where the resource can (try_resize), and moves the block
// otherwise; a resource that has reallocate(p, bytes) does both itself.
//
// A pointer that no face over this resource handed out, and a double free, abort with a sentence while the bytes in
// front of the pointer are readable; a resource that knows sizes says it by itself. Cost: that of the resource, and
// about 10 instructions. The face holds a pointer to the resource, or nothing for one without state. Thread rules:
// those of the resource.
//
//     acre::multi_pool nodes;
//     acre::malloc_face memory{nodes};
//     void* p = memory.malloc(100);
//     p = memory.realloc(p, 200);
//     memory.free(p);
#pragma once

#include <acre/adapt/allocator.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace acre {

/// A resource that knows how large an allocation is by its address, and takes it back without being told.
template <class R>
concept size_knowing_resource = resource<R> && requires(R& r, const R& constant, void* p) {
    { constant.usable_size(p) } noexcept -> std::same_as<std::size_t>;
    { r.deallocate_unsized(p) } noexcept;
};

/// malloc, calloc, realloc and free over an R, which must live longer than the face and its blocks.
template <resource R>
class malloc_face {
public:
    static constexpr const char* name = "acre::malloc_face";
    /// Alignment of malloc's blocks in bytes: that of every fundamental type, 16 or more.
    static constexpr std::size_t block_alignment = 16;
    /// Bytes that a block of malloc takes from the resource in addition to its size.
    static constexpr std::size_t header_bytes = size_knowing_resource<R> ? 0 : block_alignment;

    /// Any object of a stateless resource.
    malloc_face() noexcept
        requires stateless_resource<R>
    = default;
    /// The blocks come from `below`, which must live longer.
    explicit malloc_face(R& below) noexcept : below_(below) {}

    /// A block of `bytes` bytes, contents undefined; null when there is none. Zero bytes give a distinct block.
    void* malloc(std::size_t bytes) noexcept { return aligned_alloc(block_alignment, bytes); }

    /// A block of `count` elements of `size` bytes, all zero; null when there is none or the product does not fit.
    void* calloc(std::size_t count, std::size_t size) noexcept {
        const std::optional<std::size_t> bytes = array_bytes(count, size);
        void* p = bytes ? malloc(*bytes) : nullptr;
        if (p != nullptr) std::memset(p, 0, *bytes);
        return p;
    }

    /// As malloc, aligned to `alignment` bytes, a power of two; null when it is none, or more than R can honour.
    void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
        if (!is_alignment(alignment) || bytes > max_request) return nullptr;
        if (alignment < block_alignment) alignment = block_alignment;
        if constexpr (size_knowing_resource<R>) {
            return below_.get().try_allocate(bytes, alignment);
        } else {
            if (alignment > max_request - bytes) return nullptr;
            void* start = below_.get().try_allocate(bytes + alignment, alignment);
            return start == nullptr ? nullptr : begin(static_cast<std::byte*>(start) + alignment, {bytes, alignment});
        }
    }

    /// The block `p` with `bytes` bytes, in place or moved; contents are kept up to the smaller size, and so is the
    /// alignment, unless R knows sizes and has no alignment_of(p). Null, and the block as it was, when there is no
    /// memory. A null `p` is malloc; zero bytes free the block and return null, as glibc's realloc does.
    void* realloc(void* p, std::size_t bytes) noexcept {
        if (p == nullptr) return malloc(bytes);
        if (bytes == 0) return free(p), nullptr;
        if constexpr (size_knowing_resource<R>) {
            return realloc_known(p, bytes);
        } else {
            return realloc_with_header(p, bytes);
        }
    }

    /// Takes the block back; null is a no-op. Never fails.
    void free(void* p) noexcept {
        if (p == nullptr) return;
        if constexpr (size_knowing_resource<R>) {
            below_.get().deallocate_unsized(p);
        } else {
            const extent block = extent_of(p, detail::mistake::double_free);
            header_of(p)->seal = freed ^ number_of(p);
            below_.get().deallocate(start_of(p, block), block.bytes + block.alignment, block.alignment);
        }
    }

    /// Bytes that the block at `p` has for its user; 0 for null.
    std::size_t usable_size(const void* p) const noexcept {
        if (p == nullptr) return 0;
        if constexpr (size_knowing_resource<R>) {
            const std::size_t bytes = below_.get().usable_size(p);
            unpoison(p, bytes);  // who asks may use them
            return bytes;
        } else {
            return extent_of(p).bytes;
        }
    }

    /// The resource.
    decltype(auto) referred() const noexcept { return below_.get(); }

private:
    struct extent {
        std::size_t bytes;      // of the user's
        std::size_t alignment;  // and, in bytes, what lies in front of the user's
    };
    // In front of the block. The seal is the alignment and a number that only this block has: anything else there is
    // no block of a face over this resource, or one that was freed.
    struct header {
        std::size_t bytes;
        std::size_t seal;
    };
    static_assert(sizeof(header) <= block_alignment);
    static constexpr std::size_t freed = 1;  // in place of a block's alignment

    static header* header_of(const void* p) noexcept {
        return reinterpret_cast<header*>(const_cast<std::byte*>(static_cast<const std::byte*>(p))) - 1;
    }
    static void* start_of(void* p, const extent& block) noexcept {
        return static_cast<std::byte*>(p) - block.alignment;
    }
    std::size_t number_of(const void* p) const noexcept {
        // The factor, 2 to the 64th by the golden ratio, carries each bit of the address into all higher ones.
        return (reinterpret_cast<std::uintptr_t>(p) ^ identity()) *
               detail::narrowed<std::size_t>(0x9e37'79b9'7f4a'7c15);
    }
    std::uintptr_t identity() const noexcept {
        if constexpr (stateless_resource<R>) {
            return 0;
        } else {
            return reinterpret_cast<std::uintptr_t>(detail::address_of(below_.get()));
        }
    }

    void* begin(void* p, const extent& block) const noexcept {
        *header_of(p) = {block.bytes, block.alignment ^ number_of(p)};
        return p;
    }

    // `if_freed` is the mistake of one who names a block that was freed.
    extent extent_of(const void* p, const char* if_freed = detail::mistake::used_after_free) const noexcept {
        const header& found = *header_of(p);
        const std::size_t alignment = found.seal ^ number_of(p);
        if (!is_alignment(alignment) || alignment < block_alignment) [[unlikely]]
            abort_on_misuse(name, alignment == freed ? if_freed : detail::mistake::not_handed_out, p);
        return {found.bytes, alignment};
    }

    void* realloc_with_header(void* p, std::size_t bytes) noexcept {
        extent block = extent_of(p);
        if (bytes > max_request - block.alignment) return nullptr;
        if constexpr (resizable_resource<R>) {
            const std::size_t before = block.bytes + block.alignment;
            if (below_.get().try_resize(start_of(p, block), before, bytes + block.alignment)) {
                header_of(p)->bytes = bytes;
                return p;
            }
        }
        // A block that shrinks by less than half stays: moving it would cost more than the bytes are worth.
        if (bytes <= block.bytes && bytes >= block.bytes / 2) return p;
        return move(p, block, bytes);
    }
    void* realloc_known(void* p, std::size_t bytes) noexcept {
        if constexpr (requires(R& r) { r.reallocate(p, bytes); }) return below_.get().reallocate(p, bytes);
        const std::size_t before = below_.get().usable_size(p);
        if constexpr (resizable_resource<R>) {
            if (below_.get().try_resize(p, before, bytes)) return p;
        }
        if (bytes <= before && bytes >= before / 2) return p;
        std::size_t alignment = block_alignment;
        if constexpr (requires(const R& r) { r.alignment_of(p); }) alignment = below_.get().alignment_of(p);
        return move(p, {before, alignment}, bytes);
    }
    // Out of line: copying costs more than the call.
    [[gnu::noinline]] void* move(void* p, const extent& block, std::size_t bytes) noexcept {
        void* moved = aligned_alloc(block.alignment, bytes);
        // Without memory a smaller block is still the block as it was.
        if (moved == nullptr) return bytes <= block.bytes ? p : nullptr;
        std::memcpy(moved, p, bytes < block.bytes ? bytes : block.bytes);
        free(p);
        return moved;
    }

    [[no_unique_address]] resource_pointer<R> below_;
};

}  // namespace acre
