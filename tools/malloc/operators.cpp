// The operators new and delete over acre's heap of the process, in every form.
//
// A program may replace any of them. The others then call it, as the standard says of the defaults: an array form the
// single one, a sized one the unsized, a nothrow one the throwing. So each of those ends in a jump to a symbol that the
// program may define. The symbols are weak: the linker takes the program's beside those of the static library, and
// replaceable.map keeps the shared library from binding them to itself.
//
// What they need of the C++ runtime, to throw std::bad_alloc and to find the new handler, is referred to weakly: a
// program that calls these operators has it, a C program under LD_PRELOAD does not.
#include <cstddef>
#include <cstdlib>
#include <new>

#include "malloc.hpp"

using acre::preload::free_any;
using acre::preload::malloc_below;
using acre::preload::the_heap;

// What the compiler calls to catch an exception.
asm(".weak __gxx_personality_v0\n.weak __cxa_begin_catch\n.weak __cxa_end_catch\n.weak __cxa_call_terminate\n"
    ".weak _ZSt9terminatev");

extern "C" {
[[gnu::weak]] void* __cxa_allocate_exception(std::size_t bytes) noexcept;
[[gnu::weak]] void __cxa_throw(void* thrown, void* type, void (*destructor)(void*));
[[gnu::weak]] extern void* vtable_of_bad_alloc[] asm("_ZTVSt9bad_alloc");
[[gnu::weak]] extern char type_of_bad_alloc asm("_ZTISt9bad_alloc");
[[gnu::weak]] void destroy_bad_alloc(void*) asm("_ZNSt9bad_allocD1Ev");
[[gnu::weak]] std::new_handler current_new_handler() noexcept asm("_ZSt15get_new_handlerv");
}

namespace {

// std::bad_alloc is no more than a pointer to its functions, by the ABI of C++.
[[noreturn, gnu::cold]] void throw_bad_alloc() {
    if (__cxa_allocate_exception == nullptr || vtable_of_bad_alloc == nullptr) std::abort();
    auto** thrown = static_cast<void**>(__cxa_allocate_exception(sizeof(std::bad_alloc)));
    *thrown = vtable_of_bad_alloc + 2;
    __cxa_throw(thrown, &type_of_bad_alloc, &destroy_bad_alloc);
    std::abort();
}

/// Asks the new handler for memory until there is some. Null when there is no handler.
[[gnu::noinline]] void* try_new_slow(std::size_t bytes, std::size_t alignment) {
    if (acre::preload::comes_too_early()) [[unlikely]]
        return acre::preload::early.take(bytes, alignment);
    for (;;) {
        const malloc_below* const rest = acre::preload::serves_the_rest();
        void* const p = rest == nullptr   ? the_heap.allocate_aligned(bytes, alignment)
                        : alignment <= 16 ? rest->malloc(bytes)
                                          : rest->memalign(alignment, acre::preload::bytes_for_memalign(bytes));
        if (p != nullptr) return p;
        const std::new_handler handler = current_new_handler == nullptr ? nullptr : current_new_handler();
        if (handler == nullptr) return nullptr;
        handler();
    }
}

[[gnu::noinline]] void* new_slow(std::size_t bytes, std::size_t alignment) {
    acre::preload::before_slow_request();
    if (void* p = try_new_slow(bytes, alignment)) return p;
    throw_bad_alloc();
}

// A handler gives up by throwing.
[[gnu::noinline]] void* new_nothrow_slow(std::size_t bytes, std::size_t alignment) noexcept {
    try {
        return try_new_slow(bytes, alignment);
    } catch (...) {
        return nullptr;
    }
}

void* new_bytes_slow(std::size_t bytes) {
    return new_slow(bytes, 1);
}
void* new_bytes_nothrow_slow(std::size_t bytes) noexcept {
    return new_nothrow_slow(bytes, 1);
}

// These operators, whatever the program replaces.
#ifdef __LP64__
#define ACRE_OWN(name, ...) [[gnu::malloc, gnu::alloc_size(1), gnu::alias(name "m" __VA_ARGS__)]]
#else
#define ACRE_OWN(name, ...) [[gnu::malloc, gnu::alloc_size(1), gnu::alias(name "j" __VA_ARGS__)]]
#endif
ACRE_OWN("_Znw") void* own_new(std::size_t bytes);
ACRE_OWN("_Zna") void* own_new_array(std::size_t bytes);
ACRE_OWN("_Znw", "St11align_val_t") void* own_new_aligned(std::size_t bytes, std::align_val_t alignment);
ACRE_OWN("_Zna", "St11align_val_t") void* own_new_array_aligned(std::size_t bytes, std::align_val_t alignment);

using plain_new = void* (*)(std::size_t);
using aligned_new = void* (*)(std::size_t, std::align_val_t);

// A replaced operator gives up by throwing.
template <class... Alignment>
[[gnu::noinline]] void* null_if_it_throws(void* (*replaced)(std::size_t, Alignment...), std::size_t bytes,
                                          Alignment... alignment) noexcept {
    try {
        return replaced(bytes, alignment...);
    } catch (...) {
        return nullptr;
    }
}

// Inline, so that the return address is that of the operator.
[[gnu::always_inline]] inline void* new_bytes_nothrow(std::size_t bytes) noexcept {
    if (const unsigned group = acre::preload::group_of(__builtin_return_address(0))) [[unlikely]]
        return acre::preload::planned<new_bytes_nothrow_slow>(group, bytes, ACRE_RETURN_SLOT);
    if (void* p = the_heap.allocate_at_once(bytes)) [[likely]]
        return p;
    return new_nothrow_slow(bytes, 1);
}

}  // namespace

using std::align_val_t;
using std::nothrow_t;
using std::size_t;

#define ACRE_REPLACEABLE [[gnu::visibility("default"), gnu::weak]]

ACRE_REPLACEABLE ACRE_HOT void* operator new(size_t bytes) {
    if (const unsigned group = acre::preload::group_of(__builtin_return_address(0))) [[unlikely]]
        return acre::preload::planned<new_bytes_slow>(group, bytes, ACRE_RETURN_SLOT);
    if (void* p = the_heap.allocate_at_once(bytes)) [[likely]]
        return p;
    return new_slow(bytes, 1);
}
ACRE_REPLACEABLE void* operator new[](size_t bytes) {
    return ::operator new(bytes);
}
ACRE_REPLACEABLE void* operator new(size_t bytes, const nothrow_t&) noexcept {
    const plain_new now = &::operator new;
    return now == &own_new ? new_bytes_nothrow(bytes) : null_if_it_throws(now, bytes);
}
ACRE_REPLACEABLE void* operator new[](size_t bytes, const nothrow_t&) noexcept {
    const plain_new now = &::operator new[];
    return now == &own_new_array &&
           plain_new{&::operator new } == & own_new ? new_bytes_nothrow(bytes) : null_if_it_throws(now, bytes);
}
ACRE_REPLACEABLE void* operator new(size_t bytes, align_val_t alignment) {
    return new_slow(bytes, size_t(alignment));
}
ACRE_REPLACEABLE void* operator new[](size_t bytes, align_val_t alignment) {
    return ::operator new(bytes, alignment);
}
ACRE_REPLACEABLE void* operator new(size_t bytes, align_val_t alignment, const nothrow_t&) noexcept {
    const aligned_new now = &::operator new;
    return now == &own_new_aligned ? new_nothrow_slow(bytes, size_t(alignment))
                                   : null_if_it_throws(now, bytes, alignment);
}
ACRE_REPLACEABLE void* operator new[](size_t bytes, align_val_t alignment, const nothrow_t&) noexcept {
    const aligned_new now = &::operator new[];
    return now == &own_new_array_aligned &&
           aligned_new{&::operator new } == & own_new_aligned ? new_nothrow_slow(bytes, size_t(alignment))
                                                              : null_if_it_throws(now, bytes, alignment);
}

ACRE_REPLACEABLE ACRE_HOT void operator delete(void* p) noexcept {
    free_any(p);
}
ACRE_REPLACEABLE void operator delete[](void* p) noexcept {
    ::operator delete(p);
}
ACRE_REPLACEABLE void operator delete(void* p, size_t) noexcept {
    ::operator delete(p);
}
ACRE_REPLACEABLE void operator delete[](void* p, size_t) noexcept {
    ::operator delete[](p);
}
ACRE_REPLACEABLE void operator delete(void* p, const nothrow_t&) noexcept {
    ::operator delete(p);
}
ACRE_REPLACEABLE void operator delete[](void* p, const nothrow_t&) noexcept {
    ::operator delete[](p);
}
ACRE_REPLACEABLE void operator delete(void* p, align_val_t) noexcept {
    free_any(p);
}
ACRE_REPLACEABLE void operator delete[](void* p, align_val_t alignment) noexcept {
    ::operator delete(p, alignment);
}
ACRE_REPLACEABLE void operator delete(void* p, size_t, align_val_t alignment) noexcept {
    ::operator delete(p, alignment);
}
ACRE_REPLACEABLE void operator delete[](void* p, size_t, align_val_t alignment) noexcept {
    ::operator delete[](p, alignment);
}
ACRE_REPLACEABLE void operator delete(void* p, align_val_t alignment, const nothrow_t&) noexcept {
    ::operator delete(p, alignment);
}
ACRE_REPLACEABLE void operator delete[](void* p, align_val_t alignment, const nothrow_t&) noexcept {
    ::operator delete[](p, alignment);
}
