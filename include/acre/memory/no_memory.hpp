// An upstream that refuses every request: its users have only the storage given at construction.
//
// Use it to make sure that an inline_arena, or another resource with storage of its own, never touches the heap. Cost:
// every request fails in constant time. Stateless, thread-safe.
//
//     acre::inline_arena<4096> fixed{acre::no_memory{}};
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <cstddef>

namespace acre {

/// Refuses every request.
class no_memory {
public:
    static constexpr const char* name = "acre::no_memory";

    /// Throws request_too_large, or bad_alignment.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (!detail::can_be_honoured(alignment)) return raise<bad_alignment>(name, alignment);
        return raise<request_too_large>(name, bytes, std::size_t{0});
    }

    /// Returns null.
    void* try_allocate(std::size_t, std::size_t = default_alignment) noexcept { return nullptr; }

    /// A no-op for null; aborts with a sentence for anything else.
    void deallocate(void* p, std::size_t, std::size_t = default_alignment) noexcept {
        if (p != nullptr) abort_on_misuse(name, "a pointer was given back that was never handed out", p);
    }

    friend bool operator==(const no_memory&, const no_memory&) noexcept = default;
};

static_assert(resource<no_memory>);

}  // namespace acre
