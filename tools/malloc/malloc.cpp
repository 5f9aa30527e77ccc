// The C library's allocation functions over acre's heap of the process: libacre-malloc.so and libacre-malloc.a.
//
// Each function does what the C library's does, errno included. Nothing here needs the C++ runtime: a C program under
// LD_PRELOAD does not load it.
#include "malloc.hpp"

#include <malloc.h>
#include <unistd.h>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/minmax.hpp>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>

using acre::preload::bytes_for_memalign;
using acre::preload::comes_too_early;
using acre::preload::early;
using acre::preload::free_any;
using acre::preload::malloc_below;
using acre::preload::the_heap;
using acre::preload::whose_blocks_may_come;

namespace {

[[gnu::noinline, gnu::cold]] void* refuse(int error) noexcept {
    errno = error;
    return nullptr;
}

void* or_no_memory(void* p) noexcept {
    if (p == nullptr) [[unlikely]]
        return refuse(ENOMEM);
    return p;
}

// Out of line, so that malloc itself calls nothing and needs no stack.
[[gnu::noinline]] void* malloc_slow(std::size_t bytes) noexcept {
    if (comes_too_early()) [[unlikely]]
        return early.take(bytes);
    acre::preload::before_slow_request();
    if (const malloc_below* rest = acre::preload::serves_the_rest()) return rest->malloc(bytes);
    return or_no_memory(the_heap.allocate(bytes));
}

[[gnu::noinline]] void* calloc_slow(std::size_t bytes) noexcept {
    if (comes_too_early()) [[unlikely]]
        return early.take(bytes);
    if (const malloc_below* rest = acre::preload::serves_the_rest()) return rest->calloc(1, bytes);
    return or_no_memory(the_heap.allocate_zero(bytes));
}

/// calloc goes on by itself.
void* no_rest(std::size_t) noexcept {
    return nullptr;
}

[[gnu::always_inline]] inline void* malloc_for(const void* caller, std::size_t bytes) noexcept {
    if (const unsigned group = acre::preload::group_of(caller)) [[unlikely]]
        return acre::preload::planned<malloc_slow>(group, bytes, ACRE_RETURN_SLOT);
    if (void* p = the_heap.allocate_at_once(bytes)) [[likely]]
        return p;
    return malloc_slow(bytes);
}

void* aligned(std::size_t bytes, std::size_t alignment) noexcept {
    if (comes_too_early()) [[unlikely]]
        return early.take(bytes, alignment);
    if (const malloc_below* rest = acre::preload::serves_the_rest())
        return rest->memalign(alignment, bytes_for_memalign(bytes));
    return or_no_memory(the_heap.allocate_aligned(bytes, alignment));
}

void* aligned_without_errno(std::size_t bytes, std::size_t alignment) noexcept {
    const int error = errno;
    void* p = aligned(bytes, alignment);
    errno = error;
    return p;
}

[[gnu::noinline, gnu::cold]] void* move_early(void* p, std::size_t bytes) noexcept {
    const std::size_t before = early.bytes_of(p);
    if (bytes <= before) return p;
    void* const moved = malloc_slow(bytes);
    if (moved != nullptr) early.copy(moved, p, before);
    return moved;
}

#if defined(__GLIBC__)
template <class Figures, class Number>
Figures figures_in() noexcept {
    const auto number = [](std::size_t bytes) {
        return static_cast<Number>(acre::detail::min<std::size_t>(bytes, std::numeric_limits<Number>::max()));
    };
    const auto now = the_heap.count();
    Figures result = {};
    result.arena = number(now.slot_bytes + now.free_slot_bytes + now.free_bytes);
    result.hblkhd = number(now.large_bytes);
    result.uordblks = number(now.slot_bytes);
    result.fordblks = number(now.free_slot_bytes + now.free_bytes);
    result.keepcost = number(now.free_bytes);
    return result;
}
#endif

std::size_t page_bytes() noexcept {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

// A translation unit of a static library is linked as a whole, so all functions of the family stand here: none of them
// is mixed with one of the C library's.
extern "C" {

ACRE_EXPORTED ACRE_HOT void* malloc(std::size_t bytes) {
    return malloc_for(__builtin_return_address(0), bytes);
}

ACRE_EXPORTED ACRE_HOT void free(void* p) {
    free_any(p);
}
ACRE_EXPORTED void cfree(void* p) {
    free_any(p);
}
ACRE_EXPORTED void free_sized(void* p, std::size_t) {
    free_any(p);
}
ACRE_EXPORTED void free_aligned_sized(void* p, std::size_t, std::size_t) {
    free_any(p);
}

ACRE_EXPORTED void* calloc(std::size_t count, std::size_t size) {
    std::size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return refuse(ENOMEM);
    if (const unsigned group = acre::preload::group_of(__builtin_return_address(0))) [[unlikely]] {
        if (void* p = acre::preload::planned<no_rest>(group, bytes, ACRE_RETURN_SLOT)) return std::memset(p, 0, bytes);
    }
    if (void* p = the_heap.allocate_at_once(bytes)) [[likely]]
        return std::memset(p, 0, bytes);
    return calloc_slow(bytes);
}

ACRE_EXPORTED void* realloc(void* p, std::size_t bytes) {
    if (p == nullptr) return malloc_for(__builtin_return_address(0), bytes);
    if (bytes == 0) {
        free_any(p);
        return nullptr;
    }
    if (!the_heap.owns(p)) [[unlikely]] {
        if (early.owns(p)) return move_early(p, bytes);
        if (const malloc_below* known = whose_blocks_may_come()) return known->realloc(p, bytes);
    }
    return or_no_memory(the_heap.reallocate(p, bytes));
}

ACRE_EXPORTED void* reallocarray(void* p, std::size_t count, std::size_t size) {
    std::size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return refuse(ENOMEM);
    return realloc(p, bytes);
}

ACRE_EXPORTED int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) {
    if (!acre::is_alignment(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
    // Before errno, which may not be in place.
    void* p = comes_too_early() ? early.take(bytes, alignment) : aligned_without_errno(bytes, alignment);
    if (p == nullptr) return ENOMEM;
    *result = p;
    return 0;
}

ACRE_EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    if (!acre::is_alignment(alignment)) return refuse(EINVAL);
    return aligned(bytes, alignment);
}

// As glibc: an alignment that is no power of two is rounded up to one.
ACRE_EXPORTED void* memalign(std::size_t alignment, std::size_t bytes) {
    constexpr std::size_t largest_power = ~(~std::size_t{0} >> 1);
    if (alignment > largest_power) return refuse(EINVAL);
    return aligned(bytes, std::bit_ceil(alignment));
}

ACRE_EXPORTED void* valloc(std::size_t bytes) {
    return aligned(bytes, page_bytes());
}

ACRE_EXPORTED void* pvalloc(std::size_t bytes) {
    const std::size_t page = page_bytes();
    if (bytes > acre::max_request - page) return refuse(ENOMEM);
    return aligned(acre::align_up(bytes == 0 ? 1 : bytes, page), page);
}

ACRE_EXPORTED std::size_t malloc_usable_size(void* p) {
    if (p == nullptr) return 0;
    if (!the_heap.owns(p)) [[unlikely]] {
        if (early.owns(p)) return early.bytes_of(p);
        if (const malloc_below* known = whose_blocks_may_come()) return known->usable_size(p);
    }
    return the_heap.usable_size(p);
}

/// Returns 1 when memory went back to the system.
ACRE_EXPORTED int malloc_trim(std::size_t kept) {
    return the_heap.trim(kept) != 0 ? 1 : 0;
}

#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
ACRE_EXPORTED struct mallinfo2 mallinfo2() {
    return figures_in<struct mallinfo2, std::size_t>();
}
#endif

/// Numbers of 2 GiB and more are shown as the largest int.
ACRE_EXPORTED struct mallinfo mallinfo() {
    return figures_in<struct mallinfo, int>();
}

/// Writes the heap's figures to standard error.
ACRE_EXPORTED void malloc_stats() {
    const auto now = the_heap.count();
    std::fprintf(stderr,
                 "acre::general_heap\nlarge blocks in use %14zu bytes\nslots in use        %14zu bytes, those that "
                 "threads keep included\nfree slots          %14zu bytes\nfree runs           %14zu bytes at most\n",
                 now.large_bytes, now.slot_bytes, now.free_slot_bytes, now.free_bytes);
}

/// The same as XML.
ACRE_EXPORTED int malloc_info(int options, std::FILE* to) {
    if (options != 0) return EINVAL;
    const auto now = the_heap.count();
    std::fprintf(to,
                 "<malloc version=\"acre\">\n<large bytes=\"%zu\"/>\n<slots bytes=\"%zu\" free=\"%zu\"/>\n"
                 "<runs free=\"%zu\"/>\n</malloc>\n",
                 now.large_bytes, now.slot_bytes, now.free_slot_bytes, now.free_bytes);
    return 0;
}
#endif

/// No option of the C library's heap applies. 1, as for any option that it knows: programs take 0 for an error.
ACRE_EXPORTED int mallopt(int option, int) {
    constexpr int first_known = -8;  // M_ARENA_MAX
    constexpr int last_known = 4;    // M_KEEP
    return option != 0 && option >= first_known && option <= last_known ? 1 : 0;
}

}  // extern "C"
