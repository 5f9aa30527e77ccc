// malloc's functions over any resource.
#include <acre/adapt/malloc_face.hpp>

#include "resource.hpp"

namespace acre_c {
namespace {

constexpr const char* malloc_name = "acre_malloc";
constexpr std::size_t malloc_alignment = acre::malloc_face<acre_resource>::block_alignment;

// Null, and why `from` refused this request.
[[gnu::noinline, gnu::cold]] std::nullptr_t refused(acre_resource& from, std::size_t bytes,
                                                    std::size_t alignment) noexcept {
    if (!acre::detail::can_be_honoured(alignment)) {
        return note(ACRE_BAD_ALIGNMENT, acre::bad_alignment{malloc_name, alignment}.what());
    }
    if (bytes > acre::max_request - alignment) {
        const acre::request_too_large error{malloc_name, bytes, acre::max_request - alignment};
        return note(ACRE_REQUEST_TOO_LARGE, error.what());
    }
    // For a resource that would serve it by now.
    note(ACRE_OUT_OF_MEMORY, acre::out_of_memory{malloc_name, bytes, alignment}.what());
    // With what is in front of the block.
    const std::size_t asked = bytes + (alignment < malloc_alignment ? malloc_alignment : alignment);
    guarded([&] { return from.explain_refusal(asked, alignment), true; });
    return nullptr;
}

// `p`, or null and why.
void* served(acre_resource& from, void* p, std::size_t bytes,
             std::size_t alignment = acre::default_alignment) noexcept {
    if (p != nullptr) [[likely]]
        return p;
    return refused(from, bytes, alignment);
}

// `p`, or null without a look for the reason.
void* served_or_refused(void* p) noexcept {
    if (p != nullptr) [[likely]]
        return p;
    return note(ACRE_REFUSED, "acre: a request was refused; acre_malloc or acre_realloc would say why");
}

}  // namespace
}  // namespace acre_c

void* acre_malloc(acre_resource* resource, std::size_t bytes) {
    if (acre_c::is_null(resource)) return nullptr;
    return acre_c::served(*resource, acre::malloc_face{*resource}.malloc(bytes), bytes);
}

void* acre_calloc(acre_resource* resource, std::size_t count, std::size_t size) {
    if (acre_c::is_null(resource)) return nullptr;
    return acre_c::served(*resource, acre::malloc_face{*resource}.calloc(count, size),
                          acre::array_bytes(count, size).value_or(SIZE_MAX));
}

void* acre_aligned_alloc(acre_resource* resource, std::size_t alignment, std::size_t bytes) {
    if (acre_c::is_null(resource)) return nullptr;
    alignment = acre_c::alignment_or_default(alignment);
    return acre_c::served(*resource, acre::malloc_face{*resource}.aligned_alloc(alignment, bytes), bytes, alignment);
}

void* acre_realloc(acre_resource* resource, void* p, std::size_t bytes) {
    if (acre_c::is_null(resource)) return nullptr;
    void* moved = acre::malloc_face{*resource}.realloc(p, bytes);
    // To zero bytes it freed the block.
    return p != nullptr && bytes == 0 ? nullptr : acre_c::served(*resource, moved, bytes);
}

void* acre_try_malloc(acre_resource* resource, std::size_t bytes) {
    if (acre_c::is_null(resource)) return nullptr;
    return acre_c::served_or_refused(acre::malloc_face{*resource}.malloc(bytes));
}

void* acre_try_realloc(acre_resource* resource, void* p, std::size_t bytes) {
    if (acre_c::is_null(resource)) return nullptr;
    void* moved = acre::malloc_face{*resource}.realloc(p, bytes);
    // To zero bytes it freed the block.
    return p != nullptr && bytes == 0 ? nullptr : acre_c::served_or_refused(moved);
}

void acre_free(acre_resource* resource, void* p) {
    if (p == nullptr) return;
    if (resource == nullptr) acre::abort_on_misuse(acre_c::malloc_name, "freed to a null handle", p);
    acre_c::require_handle(*resource);
    acre::malloc_face{*resource}.free(p);
}

std::size_t acre_usable_size(const acre_resource* resource, const void* p) {
    if (acre_c::is_null(resource)) return 0;
    // The face only reads what is in front of the block.
    return acre::malloc_face{const_cast<acre_resource&>(*resource)}.usable_size(p);
}
