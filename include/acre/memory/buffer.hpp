// Storage of yours (an array on the stack, a static array, a mapped file) as a resource: the upstream of arenas and
// pools that must not touch the heap. inline_buffer has its storage in the object itself.
//
// Use it for the few large blocks of an upstream; use acre::arena directly for allocations that die together. It
// records nothing of an allocation: a double free, and a write beyond an allocation, are noticed under AddressSanitizer
// and by acre::checked. Addresses ascend. Freeing the last allocation gives its room back at once; all other room comes
// back when nothing is live any more.
//
// Cost: allocate and deallocate are constant time, about ten instructions. Not thread-safe. The span must live longer
// than the buffer.
//
// Where freed storage is poisoned, a redzone of 16 bytes lies behind each allocation. An inline_buffer has three times
// the storage for that, and is full at the same request as in an ordinary build. A buffer takes it from its span, so
// required_bytes() is larger; blocks aligned to more than 64 bytes, such as the slabs of pools, have redzones within
// and get none here, and none is needed behind the end of the span.
//
//     alignas(64) static std::byte storage[65536];
//     acre::buffer fixed{storage};
//     acre::arena frame{fixed};
//
//     acre::inline_buffer<16384> own;
//     acre::object_pool<Particle> particles{own};
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/no_clear.hpp>
#include <acre/core/detail/nonblocking.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/sanitizer.hpp>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

namespace acre {

namespace detail {
/// How many times as large as its bytes a buffer's storage is. Always 1 in a build without redzones.
template <bool Poisoning>
struct buffer_stretch {
    std::size_t factor;
};
template <>
struct buffer_stretch<false> {
    static constexpr std::size_t factor = 1;
    constexpr explicit buffer_stretch(std::size_t) noexcept {}
};
}  // namespace detail

/// A span of bytes as a resource. Honours any power-of-two alignment that fits.
class buffer : public detail::no_clear<buffer> {
public:
    static constexpr const char* name = "acre::buffer";

    /// Hands out the bytes of `storage`, which stays the caller's.
    explicit buffer(std::span<std::byte> storage) noexcept : buffer(storage.data(), storage.size(), 1) {}

    buffer(const buffer&) = delete;
    buffer& operator=(const buffer&) = delete;

    ~buffer() { unpoison(reinterpret_cast<void*>(start_), stretched(bytes_)); }

    /// Storage of `bytes` bytes aligned to `alignment`. Throws request_too_large or bad_alignment.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (void* p = try_allocate(bytes, alignment)) return p;
        if (!detail::can_be_honoured(alignment)) return raise<bad_alignment>(name, alignment);
        const std::size_t needed = detail::with_padding(bytes, padding_at(used_, alignment));
        return raise<request_too_large>(name, bytes, alignment, needed, bytes_ - used_);
    }

    /// As allocate, but null when it cannot.
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept ACRE_NONBLOCKING {
        if (!is_alignment(alignment)) return nullptr;
        if (bytes == 0) bytes = 1;
        const std::size_t padding = padding_at(used_, alignment);
        if (bytes > bytes_ - used_ || padding > bytes_ - used_ - bytes) return nullptr;
        const std::size_t position = used_ + padding;
        used_ = behind(position, bytes, alignment);
        ++live_;
        assert(used_ <= bytes_);
        void* p = reinterpret_cast<void*>(start_ + stretched(position));
        unpoison(p, bytes);
        return p;
    }

    /// Takes back what allocate gave; null is a no-op.
    void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept ACRE_NONBLOCKING {
        if (p == nullptr) return;
        if (!owns(p) || live_ == 0) abort_on_misuse(name, "a pointer was given back that is not of this buffer", p);
        if (bytes == 0) bytes = 1;
        detail::check_allocation(name, p, bytes);
        poison(p, bytes);
        const std::size_t position = (reinterpret_cast<std::uintptr_t>(p) - start_) / stretch_.factor;
        if (behind(position, bytes, alignment) == used_) used_ = position;
        if (--live_ == 0) used_ = 0;
    }

    /// Takes everything back.
    void reset() noexcept {
        used_ = 0;
        live_ = 0;
        poison(reinterpret_cast<void*>(start_), stretched(bytes_));
    }

    /// Bytes of the whole buffer.
    std::size_t capacity() const noexcept { return bytes_; }
    /// Bytes handed out, padding and a buffer's redzones included.
    std::size_t used() const noexcept { return used_; }
    /// True when `p` points into the buffer.
    bool owns(const void* p) const noexcept { return reinterpret_cast<std::uintptr_t>(p) - start_ < stretched(bytes_); }

    /// Bytes that a buffer aligned to `alignment` needs for `count` allocations of `size` bytes each. SIZE_MAX when
    /// that overflows.
    static constexpr std::size_t required_bytes(std::size_t count, std::size_t size,
                                                std::size_t alignment = default_alignment) noexcept {
        if (count == 0) return 0;
        if (size == 0) size = 1;
        if (size > max_request || alignment > max_request / 2) return SIZE_MAX;
        const std::size_t stride = align_up(size + redzone(alignment), alignment);
        const auto all = array_bytes(count, stride);
        return all ? *all - stride + size : SIZE_MAX;
    }

protected:
    /// Of `bytes` bytes in storage that is `stretch` times as large: the redzones take that room.
    buffer(std::byte* storage, std::size_t bytes, std::size_t stretch) noexcept
        : start_(reinterpret_cast<std::uintptr_t>(storage)), bytes_(bytes), stretch_{stretch} {
        poison(storage, stretched(bytes));
    }

private:
    // An address is the start and the position times the stretch.
    std::size_t stretched(std::size_t position) const noexcept { return position * stretch_.factor; }

    // Bytes from a position to the next one whose address is aligned.
    std::size_t padding_at(std::size_t position, std::size_t alignment) const noexcept {
        const std::size_t to_an_address = padding_to(start_ + stretched(position), alignment);
        if (stretch_.factor == 1) return to_an_address;
        // The inverse of 3 modulo each power of two: a byte moves the address by three.
        constexpr std::size_t inverse = SIZE_MAX / 3 * 2 + 1;
        static_assert(inverse * 3 == 1);
        return to_an_address * inverse & (alignment - 1);
    }

    static constexpr std::size_t redzone(std::size_t alignment) noexcept { return alignment <= 64 ? redzone_bytes : 0; }
    // The position behind an allocation and its redzone, at most the end.
    std::size_t behind(std::size_t position, std::size_t bytes, std::size_t alignment) const noexcept {
        const std::size_t end = position + bytes;
        if (stretch_.factor != 1) return end;
        return end + detail::min(redzone(alignment), bytes_ - end);
    }

    std::uintptr_t start_;
    std::size_t bytes_;
    std::size_t used_ = 0;
    std::size_t live_ = 0;
    [[no_unique_address]] detail::buffer_stretch<poisoning> stretch_;
};

namespace detail {
/// Base that holds the bytes, so that they exist before the buffer that hands them out.
template <std::size_t Bytes, std::size_t Alignment>
struct inline_bytes {
    /// How many times the bytes the storage is: with room for redzones.
    static constexpr std::size_t stretch = poisoning ? 3 : 1;
    alignas(Alignment) std::byte bytes_inside[Bytes * stretch];
};
}  // namespace detail

/// A buffer of `Bytes` bytes, aligned to `Alignment`, inside the object.
template <std::size_t Bytes, std::size_t Alignment>
class inline_buffer : private detail::inline_bytes<Bytes, Alignment>, public buffer {
    using storage = detail::inline_bytes<Bytes, Alignment>;

public:
    static_assert(Bytes > 0, "acre: an inline_buffer needs at least one byte");
    static_assert(is_alignment(Alignment), "acre: the alignment of an inline_buffer is a power of two");

    /// Empty: all its bytes are free.
    inline_buffer() noexcept : buffer(storage::bytes_inside, Bytes, storage::stretch) {}

    /// Bytes of the whole buffer.
    static constexpr std::size_t capacity() noexcept { return Bytes; }
};

static_assert(owning_resource<buffer> && resettable_resource<buffer>);

}  // namespace acre
