// Hooks of the allocation functions of the C and C++ libraries. Each calls glibc's own malloc and records the event: a
// free before it happens and an allocation afterwards, so that no address is recorded as live twice.
#include <cerrno>
#include <cstdlib>
#include <new>

#include "recorder.hpp"

extern "C" {
// glibc's own malloc, under its other names.
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* __libc_valloc(std::size_t);
void* __libc_pvalloc(std::size_t);
void __libc_free(void*);

// The C++ library, if the program has it.
[[gnu::weak]] std::new_handler library_new_handler() asm("_ZSt15get_new_handlerv");
[[noreturn, gnu::weak]] void library_throw_bad_alloc() asm("_ZSt17__throw_bad_allocv");
}

namespace acre::recorder {
namespace {

using raw::row_kind;

bool takes_allocation(const thread_state* state, const void* p) {
    event_filter& filter = state->process->filter;
    return filter.takes_all() || filter.takes_allocation(p, this_thread.random);
}

bool takes_free(const thread_state* state, const void* p) {
    event_filter& filter = state->process->filter;
    return filter.takes_all() || filter.takes_free(p);
}

[[gnu::noinline]] void acquired(hook_frame frame, void* p, std::size_t size, row_kind kind, unsigned alignment) {
    thread_state* state = enter();
    if (state == nullptr) return;
    if (takes_allocation(state, p)) add_acquired(state, frame, p, size, kind, alignment);
    leave(state);
}

[[gnu::noinline]] void released(hook_frame frame, const void* p, row_kind kind) {
    thread_state* state = enter();
    if (state == nullptr) return;
    if (takes_free(state, p)) add_released(state, frame, p, kind);
    leave(state);
}

/// glibc's realloc; its time does not count as the recorder's.
void* reallocate_untimed(void* p, std::size_t size) {
    if (this_thread.timed_since == 0) [[likely]]
        return __libc_realloc(p, size);
    const std::uint64_t before = ticks();
    void* q = __libc_realloc(p, size);
    const std::uint64_t took = ticks() - before;
    if (this_thread.timed_since != 0) this_thread.timed_since += took;  // 0 if a signal handler wrote to the log
    return q;
}

/// The recorded halves of a realloc are consecutive rows of this thread.
[[gnu::noinline]] void* reallocate(hook_frame frame, void* p, std::size_t size) {
    thread_state* state = p == nullptr ? nullptr : enter();
    if (state == nullptr) {
        before_free(p);
        void* q = __libc_realloc(p, size);
        if (p == nullptr && q != nullptr) acquired(frame, q, size, row_kind::realloc, 0);
        return q;
    }
    const bool released = takes_free(state, p);
    if (released) add_released(state, frame, p, row_kind::realloc_release);
    before_free(p);
    void* q = reallocate_untimed(p, size);
    if (q != nullptr) {
        if (takes_allocation(state, q)) add_acquired(state, frame, q, size, row_kind::realloc, 0);
    } else if (size != 0 && released) {  // realloc to 0 bytes is a free
        state->process->filter.restore(p);
        add_row(state, raw::pack(0, row_kind::realloc_refused, 0), 0, 0);
    }
    leave(state);
    return q;
}

constexpr bool is_power_of_two(std::size_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

void* allocate_aligned(hook_frame frame, std::size_t alignment, std::size_t size) {
    void* p = __libc_memalign(alignment, size);
    if (p != nullptr) acquired(frame, p, size, row_kind::aligned_alloc, alignment_log2(alignment));
    return p;
}

/// Out of memory: calls the C++ library's function, which calls the new-handler or throws. If the new-handler makes
/// room, that function's call of malloc is recorded.
template <typename Function, typename... Arguments>
[[gnu::noinline]] void* fail_like_next(const char* name, Arguments... arguments) {
    Function* next = next_definition<Function>(name);
    return next != nullptr ? next(arguments...) : nullptr;
}

/// The same for functions that must not return null. A static program has no next definition.
template <typename Function, typename... Arguments>
[[gnu::noinline]] void* throw_like_next(const char* name, Arguments... arguments) {
    if (Function* next = next_definition<Function>(name); next != nullptr) return next(arguments...);
    const std::new_handler handler = library_new_handler != nullptr ? library_new_handler() : nullptr;
    if (handler != nullptr) {
        handler();
        return ::operator new(arguments...);
    }
    if (library_throw_bad_alloc != nullptr) library_throw_bad_alloc();
    std::abort();
}

template <typename Refused>
[[gnu::always_inline]] inline void* new_plain(hook_frame frame, std::size_t size, row_kind kind, Refused refused) {
    void* p = __libc_malloc(size);
    if (p == nullptr) [[unlikely]]
        return refused();
    acquired(frame, p, size, kind, 0);
    return p;
}

template <typename Refused>
[[gnu::always_inline]] inline void* new_aligned(hook_frame frame, std::size_t size, std::align_val_t alignment,
                                                row_kind kind, Refused refused) {
    const auto bytes = static_cast<std::size_t>(alignment);
    void* p = is_power_of_two(bytes) ? __libc_memalign(bytes, size) : nullptr;
    if (p == nullptr) [[unlikely]]
        return refused();
    acquired(frame, p, size, kind, alignment_log2(bytes));
    return p;
}

[[gnu::always_inline]] inline void give_back(hook_frame frame, void* p, row_kind kind) {
    if (p == nullptr) return;
    released(frame, p, kind);
    before_free(p);
    __libc_free(p);
}

}  // namespace
}  // namespace acre::recorder

using namespace acre::recorder;

#pragma GCC visibility push(default)

extern "C" {

void* malloc(std::size_t size) noexcept {
    void* p = __libc_malloc(size);
    if (p != nullptr) acquired(this_frame(), p, size, row_kind::malloc, 0);
    return p;
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    void* p = __libc_calloc(count, size);
    if (p != nullptr) acquired(this_frame(), p, count * size, row_kind::calloc, 0);
    return p;
}

void* realloc(void* p, std::size_t size) noexcept {
    return reallocate(this_frame(), p, size);
}

void* reallocarray(void* p, std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    return reallocate(this_frame(), p, bytes);
}

void free(void* p) noexcept {
    give_back(this_frame(), p, row_kind::free);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
    return allocate_aligned(this_frame(), alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return allocate_aligned(this_frame(), alignment, size);
}

int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
    if (alignment % sizeof(void*) != 0 || !is_power_of_two(alignment)) return EINVAL;
    const int error = errno;
    void* p = allocate_aligned(this_frame(), alignment, size);
    errno = error;
    if (p == nullptr) return ENOMEM;
    *out = p;
    return 0;
}

void* valloc(std::size_t size) noexcept {
    void* p = __libc_valloc(size);
    if (p != nullptr) acquired(this_frame(), p, size, row_kind::aligned_alloc, 12);
    return p;
}

void* pvalloc(std::size_t size) noexcept {
    void* p = __libc_pvalloc(size);
    if (p != nullptr) acquired(this_frame(), p, size, row_kind::aligned_alloc, 12);
    return p;
}

int dlclose(void* library) noexcept {
    static int (*next)(void*);
    if (next == nullptr) next = next_definition<int(void*)>("dlclose");
    const int result = next != nullptr ? next(library) : -1;
    libraries_unloaded();
    return result;
}

}  // extern "C"

void* operator new(std::size_t size) {
    return new_plain(this_frame(), size, row_kind::new_single,
                     [=] { return throw_like_next<void*(std::size_t)>("_Znwm", size); });
}

void* operator new[](std::size_t size) {
    return new_plain(this_frame(), size, row_kind::new_array,
                     [=] { return throw_like_next<void*(std::size_t)>("_Znwm", size); });
}

void* operator new(std::size_t size, const std::nothrow_t& tag) noexcept {
    return new_plain(this_frame(), size, row_kind::new_single, [&] {
        return fail_like_next<void*(std::size_t, const std::nothrow_t*)>("_ZnwmRKSt9nothrow_t", size, &tag);
    });
}

void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
    return new_plain(this_frame(), size, row_kind::new_array, [&] {
        return fail_like_next<void*(std::size_t, const std::nothrow_t*)>("_ZnwmRKSt9nothrow_t", size, &tag);
    });
}

void* operator new(std::size_t size, std::align_val_t alignment) {
    return new_aligned(this_frame(), size, alignment, row_kind::new_single, [=] {
        return throw_like_next<void*(std::size_t, std::align_val_t)>("_ZnwmSt11align_val_t", size, alignment);
    });
}

void* operator new[](std::size_t size, std::align_val_t alignment) {
    return new_aligned(this_frame(), size, alignment, row_kind::new_array, [=] {
        return throw_like_next<void*(std::size_t, std::align_val_t)>("_ZnwmSt11align_val_t", size, alignment);
    });
}

void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
    return new_aligned(this_frame(), size, alignment, row_kind::new_single, [&] {
        return fail_like_next<void*(std::size_t, std::align_val_t, const std::nothrow_t*)>(
            "_ZnwmSt11align_val_tRKSt9nothrow_t", size, alignment, &tag);
    });
}

void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
    return new_aligned(this_frame(), size, alignment, row_kind::new_array, [&] {
        return fail_like_next<void*(std::size_t, std::align_val_t, const std::nothrow_t*)>(
            "_ZnwmSt11align_val_tRKSt9nothrow_t", size, alignment, &tag);
    });
}

void operator delete(void* p) noexcept {
    give_back(this_frame(), p, row_kind::delete_single);
}
void operator delete(void* p, std::size_t) noexcept {
    give_back(this_frame(), p, row_kind::delete_single);
}
void operator delete(void* p, const std::nothrow_t&) noexcept {
    give_back(this_frame(), p, row_kind::delete_single);
}
void operator delete(void* p, std::align_val_t) noexcept {
    give_back(this_frame(), p, row_kind::delete_single);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
    give_back(this_frame(), p, row_kind::delete_single);
}
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
    give_back(this_frame(), p, row_kind::delete_single);
}
void operator delete[](void* p) noexcept {
    give_back(this_frame(), p, row_kind::delete_array);
}
void operator delete[](void* p, std::size_t) noexcept {
    give_back(this_frame(), p, row_kind::delete_array);
}
void operator delete[](void* p, const std::nothrow_t&) noexcept {
    give_back(this_frame(), p, row_kind::delete_array);
}
void operator delete[](void* p, std::align_val_t) noexcept {
    give_back(this_frame(), p, row_kind::delete_array);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
    give_back(this_frame(), p, row_kind::delete_array);
}
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept {
    give_back(this_frame(), p, row_kind::delete_array);
}

#pragma GCC visibility pop
