// RapidJSON's Allocator over any resource, for documents (Allocator) and for the parser's stack (StackAllocator).
//
// rapidjson_allocator<acre::arena> is for documents: it refers to an arena, or holds one when it is
// default-constructed, and frees nothing; the arena's reset frees the document. So does that of any other resource with
// a reset. rapidjson_allocator<R> of an R without state, such as acre::ambient or acre::program_pools, frees each
// block: RapidJSON frees by a static function that is not told the size, so a block has a header of 16 bytes
// (acre::malloc_face). Use it for documents that change for long, and for the stack.
//
// RapidJSON does not expect null: where there is no memory the resource's exception is thrown, and the document is
// empty or as far as it was; without exceptions the program aborts with a sentence. RapidJSON leaks the blocks of
// values that it has half read when an exception passes; in an arena nothing leaks. Cost: that of the resource; in
// arenas the last block grows in place. Thread rules: those of the resource.
//
//     #include <rapidjson/document.h>
//     acre::arena request;
//     acre::rapidjson_allocator<acre::arena> memory{request};
//     rapidjson::GenericDocument<rapidjson::UTF8<>, acre::rapidjson_allocator<acre::arena>> order{&memory};
#pragma once

#include <acre/adapt/malloc_face.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <optional>

namespace acre {

namespace detail {

inline constexpr const char* rapidjson_allocator_name = "acre::rapidjson_allocator";

/// Without memory: throws out_of_memory, or aborts where there are no exceptions.
[[noreturn, gnu::noinline, gnu::cold]] inline void rapidjson_has_no_memory(std::size_t bytes) {
    raise<out_of_memory>(rapidjson_allocator_name, bytes, default_alignment);
    abort_on_misuse(rapidjson_allocator_name, mistake::out_of_memory, nullptr);
}

}  // namespace detail

/// A RapidJSON Allocator over an R, which takes everything back at its reset.
template <resource R>
class rapidjson_allocator {
    static_assert(
        resettable_resource<R>,
        "acre: RapidJSON frees by a static function: use acre::rapidjson_allocator over a resource that has a "
        "reset, such as acre::arena, or over one without state, such as acre::ambient");

public:
    /// RapidJSON: blocks need not be freed.
    static const bool kNeedFree = false;

    /// Holds a resource of its own.
    rapidjson_allocator()
        requires std::default_initializable<R>
        : used_(&own_.emplace()) {}
    /// The blocks come from `used`, which must live longer than the documents.
    explicit rapidjson_allocator(R& used) noexcept : used_(&used) {}
    rapidjson_allocator(const rapidjson_allocator&) = delete;
    rapidjson_allocator& operator=(const rapidjson_allocator&) = delete;

    /// A block of `bytes` bytes; null for none.
    void* Malloc(std::size_t bytes) { return bytes == 0 ? nullptr : allocate(bytes); }

    /// The block `p` with `new_bytes` bytes, in place or moved.
    void* Realloc(void* p, std::size_t old_bytes, std::size_t new_bytes) {
        if (p == nullptr) return Malloc(new_bytes);
        if (new_bytes == 0) return nullptr;
        if (new_bytes <= old_bytes) return p;
        if constexpr (resizable_resource<R>) {
            if (used_->try_resize(p, old_bytes, new_bytes)) return p;
        }
        return std::memcpy(allocate(new_bytes), p, old_bytes);
    }

    /// The block stays until the reset.
    static void Free(void*) noexcept {}

    /// The resource.
    R& referred() const noexcept { return *used_; }

private:
    void* allocate(std::size_t bytes) {
        void* p = used_->try_allocate(bytes, default_alignment);
        if (p == nullptr) [[unlikely]]
            detail::rapidjson_has_no_memory(bytes);
        return p;
    }

    std::optional<R> own_;
    R* used_;
};

/// A RapidJSON Allocator over an R without state, which frees each block.
template <stateless_resource R>
class rapidjson_allocator<R> {
public:
    /// RapidJSON: blocks are freed.
    static const bool kNeedFree = true;

    /// A block of `bytes` bytes; null for none.
    void* Malloc(std::size_t bytes) { return bytes == 0 ? nullptr : checked(malloc_face<R>{}.malloc(bytes), bytes); }

    /// The block `p` with `new_bytes` bytes, in place or moved; null for none.
    void* Realloc(void* p, std::size_t, std::size_t new_bytes) {
        if (p == nullptr) return Malloc(new_bytes);
        if (new_bytes == 0) return Free(p), nullptr;
        return checked(malloc_face<R>{}.realloc(p, new_bytes), new_bytes);
    }

    /// Takes the block back; null is a no-op.
    static void Free(void* p) noexcept { malloc_face<R>{}.free(p); }

private:
    static void* checked(void* p, std::size_t bytes) {
        if (p == nullptr) [[unlikely]]
            detail::rapidjson_has_no_memory(bytes);
        return p;
    }
};

}  // namespace acre
