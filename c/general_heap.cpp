// The heap that acre makes for any size, in malloc's functions and as a resource.
#include <acre/core/detail/target.hpp>
#if ACRE_HAS_GENERAL_HEAP
#include <acre/adapt/malloc_face.hpp>
#include <acre/heaps/general_heap.hpp>

#include "never_destroyed.hpp"
#include "resource.hpp"

namespace acre_c {
namespace {

using face_of_heap = acre::malloc_face<acre::general_heap>;

// `p`, or null and why there is no such block.
[[gnu::noinline, gnu::cold]] std::nullptr_t why_no_block(std::size_t bytes, std::size_t alignment) noexcept {
    constexpr const char* name = "acre_general_heap";
    if (!acre::detail::can_be_honoured(alignment))
        return note(ACRE_BAD_ALIGNMENT, acre::bad_alignment{name, alignment}.what());
    if (bytes > acre::max_request - alignment)
        return note(ACRE_REQUEST_TOO_LARGE, acre::request_too_large{name, bytes, acre::max_request - alignment}.what());
    return note(ACRE_OUT_OF_MEMORY, acre::out_of_memory{name, bytes, alignment}.what());
}
void* block_or_why(void* p, std::size_t bytes, std::size_t alignment = acre::default_alignment) noexcept {
    if (p != nullptr) [[likely]]
        return p;
    return why_no_block(bytes, alignment);
}

}  // namespace
}  // namespace acre_c

acre_resource* acre_general_heap() {
    using handle = acre_c::handle<acre_c::handle_kind::general_heap>;
    static acre_c::never_destroyed<acre_c::holding<handle, acre::general_heap>> heap;
    return heap.get();
}

void* acre_general_heap_malloc(std::size_t bytes) {
    return acre_c::block_or_why(acre_c::face_of_heap{}.malloc(bytes), bytes);
}

void* acre_general_heap_calloc(std::size_t count, std::size_t size) {
    return acre_c::block_or_why(acre_c::face_of_heap{}.calloc(count, size),
                                acre::array_bytes(count, size).value_or(SIZE_MAX));
}

void* acre_general_heap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
    alignment = acre_c::alignment_or_default(alignment);
    return acre_c::block_or_why(acre_c::face_of_heap{}.aligned_alloc(alignment, bytes), bytes, alignment);
}

void* acre_general_heap_realloc(void* p, std::size_t bytes) {
    void* moved = acre_c::face_of_heap{}.realloc(p, bytes);
    // To zero bytes it freed the block.
    return p != nullptr && bytes == 0 ? nullptr : acre_c::block_or_why(moved, bytes);
}

void acre_general_heap_free(void* p) {
    acre_c::face_of_heap{}.free(p);
}

std::size_t acre_general_heap_usable_size(const void* p) {
    return acre_c::face_of_heap{}.usable_size(p);
}

bool acre_general_heap_owns(const void* p) {
    return acre::general_heap{}.owns(p);
}

std::size_t acre_general_heap_release_unused(std::size_t keep_bytes) {
    return acre::general_heap{}.release_unused(keep_bytes);
}

#endif  // ACRE_HAS_GENERAL_HEAP
