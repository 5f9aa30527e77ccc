// Storage of yours (an array on the stack, a static array, a mapped file) as a resource: the upstream of arenas and
// pools that must not touch the heap. inline_buffer has its storage in the object itself.
//
// Use it for the few large blocks of an upstream; use acre::arena directly for allocations that die together. It
// records nothing of an allocation: a double free is noticed under AddressSanitizer and by acre::checked, which also
// notices a write beyond an allocation: AddressSanitizer sees that only at the end of what is in use, since the bytes
// are yours and counted out. Addresses ascend. Freeing the last allocation gives its room back at once; all other room
// comes back when nothing is live any more.
//
// Cost: allocate and deallocate are constant time, about ten instructions. Not thread-safe. The span must live longer
// than the buffer.
//
//     alignas(64) static std::byte storage[64_KiB];
//     acre::buffer fixed{storage};
//     acre::arena frame{fixed};
//
//     acre::inline_buffer<16_KiB> own;
//     acre::object_pool<Particle> particles{own};
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/no_clear.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/sanitizer.hpp>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

namespace acre {

/// A span of bytes as a resource. Honours any power-of-two alignment that fits.
class buffer : public detail::no_clear<buffer> {
public:
    static constexpr const char* name = "acre::buffer";

    /// Hands out the bytes of `storage`, which stays the caller's.
    explicit buffer(std::span<std::byte> storage) noexcept
        : start_(reinterpret_cast<std::uintptr_t>(storage.data())), bytes_(storage.size()) {
        poison(storage.data(), storage.size());
    }

    buffer(const buffer&) = delete;
    buffer& operator=(const buffer&) = delete;

    ~buffer() { unpoison(reinterpret_cast<void*>(start_), bytes_); }

    /// Storage of `bytes` bytes aligned to `alignment`. Throws request_too_large or bad_alignment.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (void* p = try_allocate(bytes, alignment)) return p;
        if (!is_alignment(alignment)) return raise<bad_alignment>(name, alignment);
        return raise<request_too_large>(name, bytes, bytes_ - used_);
    }

    /// As allocate, but null when it cannot.
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (!is_alignment(alignment)) return nullptr;
        if (bytes == 0) bytes = 1;
        const std::size_t padding = padding_to(start_ + used_, alignment);
        if (bytes > bytes_ - used_ || padding > bytes_ - used_ - bytes) return nullptr;
        const std::uintptr_t result = start_ + used_ + padding;
        used_ += padding + bytes;
        ++live_;
        assert(used_ <= bytes_);
        void* p = reinterpret_cast<void*>(result);
        unpoison(p, bytes);
        return p;
    }

    /// Takes back what allocate gave; null is a no-op.
    void deallocate(void* p, std::size_t bytes, std::size_t = default_alignment) noexcept {
        if (p == nullptr) return;
        if (!owns(p) || live_ == 0) abort_on_misuse(name, "a pointer was given back that is not of this buffer", p);
        if (bytes == 0) bytes = 1;
        detail::check_allocation(name, p, bytes);
        poison(p, bytes);
        const std::size_t offset = reinterpret_cast<std::uintptr_t>(p) - start_;
        if (offset + bytes == used_) used_ = offset;
        if (--live_ == 0) used_ = 0;
    }

    /// Takes everything back.
    void reset() noexcept {
        used_ = 0;
        live_ = 0;
        poison(reinterpret_cast<void*>(start_), bytes_);
    }

    /// Bytes of the whole buffer.
    std::size_t capacity() const noexcept { return bytes_; }
    /// Bytes handed out, padding included.
    std::size_t used() const noexcept { return used_; }
    /// True when `p` points into the buffer.
    bool owns(const void* p) const noexcept { return reinterpret_cast<std::uintptr_t>(p) - start_ < bytes_; }

    /// Bytes that a buffer aligned to `alignment` needs for `count` allocations of `size` bytes each. SIZE_MAX when
    /// that overflows.
    static constexpr std::size_t required_bytes(std::size_t count, std::size_t size,
                                                std::size_t alignment = default_alignment) noexcept {
        if (count == 0) return 0;
        if (size == 0) size = 1;
        if (size > max_request || alignment > max_request / 2) return SIZE_MAX;
        const auto all = array_bytes(count, align_up(size, alignment));
        return all ? *all - align_up(size, alignment) + size : SIZE_MAX;
    }

private:
    std::uintptr_t start_;
    std::size_t bytes_;
    std::size_t used_ = 0;
    std::size_t live_ = 0;
};

namespace detail {
/// Base that holds the bytes, so that they exist before the buffer that hands them out.
template <std::size_t Bytes, std::size_t Alignment>
struct inline_bytes {
    alignas(Alignment) std::byte bytes_inside[Bytes];
};
}  // namespace detail

/// A buffer of `Bytes` bytes, aligned to `Alignment`, inside the object.
template <std::size_t Bytes, std::size_t Alignment>
class inline_buffer : private detail::inline_bytes<Bytes, Alignment>, public buffer {
public:
    static_assert(Bytes > 0, "acre: an inline_buffer needs at least one byte");
    static_assert(is_alignment(Alignment), "acre: the alignment of an inline_buffer is a power of two");

    /// Empty: all its bytes are free.
    inline_buffer() noexcept : buffer(std::span<std::byte>{detail::inline_bytes<Bytes, Alignment>::bytes_inside}) {}

    /// Bytes of the whole buffer.
    static constexpr std::size_t capacity() noexcept { return Bytes; }
};

static_assert(owning_resource<buffer> && resettable_resource<buffer>);

}  // namespace acre
