// operator new and delete as a resource: the default upstream of everything.
//
// Use it as upstream, or where code asks for a resource and no other is better. It has no state: all its objects are
// the same heap. Cost: that of operator new and delete. Thread-safe.
//
//     acre::heap memory;
//     void* p = memory.allocate(100, 64);
//     memory.deallocate(p, 100, 64);
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <cstddef>
#include <new>

namespace acre {

/// operator new and operator delete as a resource. Honours any power-of-two alignment.
class heap {
public:
    static constexpr const char* name = "acre::heap";

    /// Storage of `bytes` bytes aligned to `alignment`. Throws out_of_memory, request_too_large or bad_alignment.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (void* p = try_allocate(bytes, alignment)) return p;
        return fail(bytes, alignment);
    }

    /// As allocate, but null when it cannot.
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        // Aligned operator new rounds the size up, which must not wrap.
        if (!is_alignment(alignment) || bytes > max_request || alignment > max_request - bytes) return nullptr;
        if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return ::operator new(bytes, std::nothrow);
        return ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
    }

    /// Takes back what allocate gave; null is a no-op.
    void deallocate(void* p, [[maybe_unused]] std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
            ::operator delete(p);
        } else {
            ::operator delete(p, std::align_val_t{alignment});
        }
    }

    friend bool operator==(const heap&, const heap&) noexcept = default;

private:
    [[gnu::noinline, gnu::cold]] static void* fail(std::size_t bytes, std::size_t alignment) {
        if (!detail::can_be_honoured(alignment)) return raise<bad_alignment>(name, alignment);
        if (bytes > max_request || alignment > max_request - bytes) {
            return raise<request_too_large>(name, bytes, max_request - alignment);
        }
        return raise<out_of_memory>(name, bytes, alignment);
    }
};

static_assert(resource<heap>);

}  // namespace acre
