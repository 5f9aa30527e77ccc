// Hooks of the allocation functions of the C and C++ libraries and of jemalloc. Each calls the function that the
// program would call without the recorder, and records the event: a free before it happens and an allocation
// afterwards, so that no address is recorded as live twice.
#include <malloc.h>
#include <unwind.h>

#include <cerrno>
#include <cstdlib>
#include <new>

#include "allocator_family.hpp"
#include "recorder.hpp"

extern "C" {
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
    if (state == nullptr) {
        this_thread.unrecorded = {reinterpret_cast<std::uintptr_t>(p), size};
        return;
    }
    if (takes_allocation(state, p)) add_acquired(state, frame, p, size, kind, alignment);
    leave(state);
}

[[gnu::noinline]] void released(hook_frame frame, const void* p, row_kind kind) {
    thread_state* state = enter();
    if (state == nullptr) return;
    if (takes_free(state, p)) add_released(state, frame, p, kind);
    leave(state);
}

/// Calls a realloc of the program; its time does not count as the recorder's. glibc's calls no hooks.
template <typename Resize>
void* resize_untimed(Resize resize, void* p, std::size_t size) {
    if (!malloc_is_the_c_librarys) this_thread.busy = activity::calling;
    const std::uint64_t before = this_thread.timed_since == 0 ? 0 : ticks();
    void* q = resize(p, size);
    if (before != 0) [[unlikely]] {
        const std::uint64_t took = ticks() - before;
        if (this_thread.timed_since != 0) this_thread.timed_since += took;  // 0 if a signal handler wrote to the log
    }
    this_thread.busy = activity::recording;
    return q;
}

/// The recorded halves of a realloc are consecutive rows of this thread.
template <typename Resize>
[[gnu::noinline]] void* reallocate(hook_frame frame, void* p, std::size_t size, unsigned alignment, Resize resize) {
    thread_state* state = p == nullptr ? nullptr : enter();
    if (state == nullptr) {
        before_free(p);
        void* q = resize(p, size);
        if (p == nullptr && q != nullptr) acquired(frame, q, size, row_kind::realloc, alignment);
        return q;
    }
    const bool released = takes_free(state, p);
    if (released) add_released(state, frame, p, row_kind::realloc_release);
    before_free(p);
    void* q = resize_untimed(resize, p, size);
    if (q != nullptr) {
        if (takes_allocation(state, q)) add_acquired(state, frame, q, size, row_kind::realloc, alignment);
    } else if (size != 0 && released) {  // realloc to 0 bytes is a free
        state->process->filter.restore(p);
        add_row(state, raw::pack(0, row_kind::realloc_refused, 0), 0, 0);
    }
    leave(state);
    return q;
}

struct next_realloc {
    void* operator()(void* p, std::size_t size) const { return family.realloc(p, size); }
};

constexpr bool is_power_of_two(std::size_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

/// Records what an aligning function returned.
void* seen_aligned(hook_frame frame, void* p, std::size_t size, std::size_t alignment) {
    if (p != nullptr) acquired(frame, p, size, row_kind::aligned_alloc, alignment_log2(alignment));
    return p;
}

[[gnu::always_inline]] inline void give_back(hook_frame frame, void* p, row_kind kind) {
    if (p == nullptr) return;
    released(frame, p, kind);
    before_free(p);
    family.free(p);
}

// The operators. `Rest` are the arguments after the size or the pointer.

/// Whether a hook calls the form's next definition, not malloc or free.
[[gnu::noinline]] bool calls_next(operator_form form) {
    find_allocator_family();
    return operators_are != operator_use::as_malloc && next_operator(form) != nullptr;
}

template <typename Result, typename... Arguments>
auto* next_of(operator_form form) {
    return reinterpret_cast<Result (*)(Arguments...)>(next_operator(form));
}

/// Whether the event of a forwarded operator is recorded here: not if another hook sees it, and not in a nested call.
bool records_forwarded() {
    if (operators_are == operator_use::not_followed) return false;
    if (this_thread.busy == activity::none) return true;
    enter_busy();
    return false;
}

/// Called when an exception leaves new_recorded(): the C++ library's own clean-up is not available here. The
/// exception's block was not recorded, since it was allocated within the operator, but the program will free it.
extern "C" [[gnu::used, gnu::visibility("hidden")]] _Unwind_Reason_Code acre_recorder_personality(
    int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception* exception, _Unwind_Context*) {
    if ((actions & _UA_CLEANUP_PHASE) == 0) return _URC_CONTINUE_UNWIND;
    thread_words& thread = this_thread;
    thread.busy = activity::none;
    const auto [block, bytes] = thread.unrecorded;
    if (reinterpret_cast<std::uintptr_t>(exception) - block < bytes)
        acquired(this_frame(), reinterpret_cast<void*>(block), bytes, row_kind::malloc, 0);
    return _URC_CONTINUE_UNWIND;
}

template <typename... Rest>
[[gnu::noinline]] void* new_recorded(hook_frame frame, operator_form form, row_kind kind, unsigned alignment,
                                     std::size_t size, Rest... rest) {
    asm volatile(".cfi_personality 0x1b, acre_recorder_personality");
    this_thread.busy = activity::calling;
    void* p = next_of<void*, std::size_t, Rest...>(form)(size, rest...);
    this_thread.busy = activity::none;
    if (p != nullptr) acquired(frame, p, size, kind, alignment);
    return p;
}

template <typename... Rest>
[[gnu::noinline]] void* new_by_next(hook_frame frame, operator_form form, row_kind kind, unsigned alignment,
                                    std::size_t size, Rest... rest) {
    if (records_forwarded()) return new_recorded(frame, form, kind, alignment, size, rest...);
    return next_of<void*, std::size_t, Rest...>(form)(size, rest...);
}

template <typename... Rest>
[[gnu::noinline]] void delete_by_next(hook_frame frame, operator_form form, row_kind kind, void* p, Rest... rest) {
    if (!calls_next(form)) return give_back(frame, p, kind);
    if (p == nullptr || !records_forwarded()) return next_of<void, void*, Rest...>(form)(p, rest...);
    released(frame, p, kind);
    before_free(p);
    const own_calls marked;
    next_of<void, void*, Rest...>(form)(p, rest...);
}

/// The form for one object: the C++ library's form for arrays calls it.
constexpr operator_form single_form(operator_form form) {
    switch (form) {
        case operator_form::new_array:
            return operator_form::new_single;
        case operator_form::new_array_nothrow:
            return operator_form::new_nothrow;
        case operator_form::new_array_aligned:
            return operator_form::new_aligned;
        case operator_form::new_array_aligned_nothrow:
            return operator_form::new_aligned_nothrow;
        default:
            return form;
    }
}

/// Out of memory: calls the C++ library's function, which calls the new-handler or throws. If the new-handler makes
/// room, that function's call of malloc is recorded.
template <typename... Arguments>
[[gnu::noinline]] void* fail_like_next(hook_frame frame, operator_form form, Arguments... arguments) {
    auto* next = next_of<void*, Arguments...>(form);
    if (next == nullptr)
        next = reinterpret_cast<decltype(next)>(definition_for_caller(frame[1], name_of_operator(form)));
    return next != nullptr ? next(arguments...) : nullptr;
}

/// The same for functions that must not return null. A static program has no next definition.
template <typename... Arguments>
[[gnu::noinline]] void* throw_like_next(hook_frame frame, operator_form form, Arguments... arguments) {
    if (void* p = fail_like_next(frame, form, arguments...); p != nullptr) return p;
    const std::new_handler handler = library_new_handler != nullptr ? library_new_handler() : nullptr;
    if (handler != nullptr) {
        handler();
        return ::operator new(arguments...);
    }
    if (library_throw_bad_alloc != nullptr) library_throw_bad_alloc();
    std::abort();
}

void* by_malloc(std::size_t size, const std::nothrow_t* = nullptr) {
    return family.malloc(size);
}

void* by_malloc(std::size_t size, std::align_val_t alignment, const std::nothrow_t* = nullptr) {
    const auto bytes = static_cast<std::size_t>(alignment);
    return is_power_of_two(bytes) ? family.memalign(bytes, size) : nullptr;
}

/// Called when new_plain or new_aligned of the family returned null: the operator is forwarded, this is the first call,
/// or memory ran out.
template <typename... Rest>
[[gnu::noinline]] void* new_elsewhere(hook_frame frame, operator_form form, row_kind kind, unsigned alignment,
                                      std::size_t size, Rest... rest) {
    if (calls_next(form)) return new_by_next(frame, form, kind, alignment, size, rest...);
    if (void* p = by_malloc(size, rest...); p != nullptr) {
        acquired(frame, p, size, kind, alignment);
        return p;
    }
    if constexpr ((std::is_pointer_v<Rest> || ...)) {
        return fail_like_next(frame, single_form(form), size, rest...);
    } else {
        return throw_like_next(frame, single_form(form), size, rest...);
    }
}

template <typename... Rest>
[[gnu::always_inline]] inline void* new_plain(operator_form form, row_kind kind, std::size_t size, Rest... rest) {
    void* p = family.new_plain(size);
    if (p == nullptr) [[unlikely]]
        return new_elsewhere(this_frame(), form, kind, 0, size, rest...);
    acquired(this_frame(), p, size, kind, 0);
    return p;
}

template <typename... Rest>
[[gnu::always_inline]] inline void* new_aligned(operator_form form, row_kind kind, std::size_t size,
                                                std::align_val_t alignment, Rest... rest) {
    const auto bytes = static_cast<std::size_t>(alignment);
    void* p = is_power_of_two(bytes) ? family.new_aligned(bytes, size) : nullptr;
    if (p == nullptr) [[unlikely]]
        return new_elsewhere(this_frame(), form, kind, alignment_log2(bytes), size, alignment, rest...);
    acquired(this_frame(), p, size, kind, alignment_log2(bytes));
    return p;
}

template <typename... Rest>
[[gnu::always_inline]] inline void delete_object(operator_form form, row_kind kind, void* p, Rest... rest) {
    if (operators_are != operator_use::as_malloc) [[unlikely]]
        return delete_by_next(this_frame(), form, kind, p, rest...);
    give_back(this_frame(), p, kind);
}

// jemalloc's own functions. A program without jemalloc may find them here if it asks whether there are some, so they
// also work over another malloc. Such programs ask for several; nallocx, sallocx and mallctl have no hooks.

constexpr int zero_flag = 0x40;

constexpr std::size_t alignment_in(int flags) {
    return std::size_t{1} << (flags & 0x3f);
}

constexpr row_kind kind_in(int flags) {
    if (alignment_in(flags) > 1) return row_kind::aligned_alloc;
    return (flags & zero_flag) != 0 ? row_kind::calloc : row_kind::malloc;
}

/// jemalloc's function; null if the caller has no jemalloc, not even in a library scope of its own.
template <auto member>
auto jemallocs(hook_frame frame, const char* name) {
    if (family.*member == nullptr) find_allocator_family();
    if (family.*member != nullptr) return family.*member;
    return reinterpret_cast<std::remove_reference_t<decltype(family.*member)>>(definition_for_caller(frame[1], name));
}

void* mallocx_over_malloc(std::size_t size, int flags) {
    const bool zeroed = (flags & zero_flag) != 0;
    if (alignment_in(flags) == 1) return zeroed ? family.calloc(1, size) : family.malloc(size);
    void* p = family.memalign(alignment_in(flags), size);
    if (p != nullptr && zeroed) std::memset(p, 0, malloc_usable_size(p));
    return p;
}

void* rallocx_over_malloc(void* p, std::size_t size, int flags) {
    const std::size_t before = malloc_usable_size(p);
    void* q = alignment_in(flags) == 1 ? family.realloc(p, size) : family.memalign(alignment_in(flags), size);
    if (q == nullptr) return nullptr;
    if (alignment_in(flags) > 1) {
        std::memcpy(q, p, before < size ? before : size);
        family.free(p);
    }
    const std::size_t after = malloc_usable_size(q);
    if ((flags & zero_flag) != 0 && after > before) std::memset(static_cast<char*>(q) + before, 0, after - before);
    return q;
}

/// What xallocx has changed is a realloc to the same address.
[[gnu::noinline]] void resized(hook_frame frame, void* p, std::size_t size, unsigned alignment) {
    thread_state* state = enter();
    if (state == nullptr) return;
    if (takes_free(state, p)) add_released(state, frame, p, row_kind::realloc_release);
    if (takes_allocation(state, p)) add_acquired(state, frame, p, size, row_kind::realloc, alignment);
    leave(state);
}

}  // namespace
}  // namespace acre::recorder

using namespace acre::recorder;

#pragma GCC visibility push(default)

extern "C" {

void* malloc(std::size_t size) noexcept {
    void* p = family.malloc(size);
    if (p != nullptr) acquired(this_frame(), p, size, row_kind::malloc, 0);
    return p;
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    void* p = family.calloc(count, size);
    if (p != nullptr) acquired(this_frame(), p, count * size, row_kind::calloc, 0);
    return p;
}

void* realloc(void* p, std::size_t size) noexcept {
    return reallocate(this_frame(), p, size, 0, next_realloc{});
}

void* reallocarray(void* p, std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (!__builtin_mul_overflow(count, size, &bytes)) return reallocate(this_frame(), p, bytes, 0, next_realloc{});
    if (family.reallocarray != nullptr) return family.reallocarray(p, count, size);
    errno = ENOMEM;
    return nullptr;
}

void free(void* p) noexcept {
    give_back(this_frame(), p, row_kind::free);
}

void free_sized(void* p, std::size_t size) noexcept {
    if (family.free_sized == nullptr) return give_back(this_frame(), p, row_kind::free);
    if (p != nullptr) released(this_frame(), p, row_kind::free);
    before_free(p);
    family.free_sized(p, size);
}

void free_aligned_sized(void* p, std::size_t alignment, std::size_t size) noexcept {
    if (family.free_aligned_sized == nullptr) return give_back(this_frame(), p, row_kind::free);
    if (p != nullptr) released(this_frame(), p, row_kind::free);
    before_free(p);
    family.free_aligned_sized(p, alignment, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
    return seen_aligned(this_frame(), family.memalign(alignment, size), size, alignment);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return seen_aligned(this_frame(), family.aligned_alloc(alignment, size), size, alignment);
}

int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
    const int error = family.posix_memalign(out, alignment, size);
    if (error == 0) seen_aligned(this_frame(), *out, size, alignment);
    return error;
}

void* valloc(std::size_t size) noexcept {
    return seen_aligned(this_frame(), family.valloc(size), size, acre::raw::page_bytes);
}

void* pvalloc(std::size_t size) noexcept {
    return seen_aligned(this_frame(), family.pvalloc(size), size, acre::raw::page_bytes);
}

void* mallocx(std::size_t size, int flags) noexcept {
    const auto next = jemallocs<&allocator_family::mallocx>(this_frame(), "mallocx");
    void* p = next != nullptr ? next(size, flags) : mallocx_over_malloc(size, flags);
    if (p != nullptr) acquired(this_frame(), p, size, kind_in(flags), alignment_log2(alignment_in(flags)));
    return p;
}

void* rallocx(void* p, std::size_t size, int flags) noexcept {
    const auto next = jemallocs<&allocator_family::rallocx>(this_frame(), "rallocx");
    return reallocate(this_frame(), p, size, alignment_log2(alignment_in(flags)), [=](void* q, std::size_t bytes) {
        return next != nullptr ? next(q, bytes, flags) : rallocx_over_malloc(q, bytes, flags);
    });
}

std::size_t xallocx(void* p, std::size_t size, std::size_t extra, int flags) noexcept {
    const auto next = jemallocs<&allocator_family::xallocx>(this_frame(), "xallocx");
    const auto usable_size = jemallocs<&allocator_family::sallocx>(this_frame(), "sallocx");
    if (next == nullptr || usable_size == nullptr) return malloc_usable_size(p);
    const std::size_t before = usable_size(p, flags);
    const std::size_t after = next(p, size, extra, flags);
    const std::size_t most = size + extra;
    if (after != before) resized(this_frame(), p, after < most ? after : most, alignment_log2(alignment_in(flags)));
    return after;
}

void dallocx(void* p, int flags) noexcept {
    const auto next = jemallocs<&allocator_family::dallocx>(this_frame(), "dallocx");
    if (next == nullptr) return give_back(this_frame(), p, row_kind::free);
    released(this_frame(), p, row_kind::free);
    before_free(p);
    next(p, flags);
}

void sdallocx(void* p, std::size_t size, int flags) noexcept {
    const auto next = jemallocs<&allocator_family::sdallocx>(this_frame(), "sdallocx");
    if (next == nullptr) return give_back(this_frame(), p, row_kind::free);
    released(this_frame(), p, row_kind::free);
    before_free(p);
    next(p, size, flags);
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
    return new_plain(operator_form::new_single, row_kind::new_single, size);
}

void* operator new[](std::size_t size) {
    return new_plain(operator_form::new_array, row_kind::new_array, size);
}

void* operator new(std::size_t size, const std::nothrow_t& tag) noexcept {
    return new_plain(operator_form::new_nothrow, row_kind::new_single, size, &tag);
}

void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
    return new_plain(operator_form::new_array_nothrow, row_kind::new_array, size, &tag);
}

void* operator new(std::size_t size, std::align_val_t alignment) {
    return new_aligned(operator_form::new_aligned, row_kind::new_single, size, alignment);
}

void* operator new[](std::size_t size, std::align_val_t alignment) {
    return new_aligned(operator_form::new_array_aligned, row_kind::new_array, size, alignment);
}

void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
    return new_aligned(operator_form::new_aligned_nothrow, row_kind::new_single, size, alignment, &tag);
}

void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
    return new_aligned(operator_form::new_array_aligned_nothrow, row_kind::new_array, size, alignment, &tag);
}

void operator delete(void* p) noexcept {
    delete_object(operator_form::delete_single, row_kind::delete_single, p);
}

void operator delete(void* p, std::size_t size) noexcept {
    delete_object(operator_form::delete_sized, row_kind::delete_single, p, size);
}

void operator delete(void* p, const std::nothrow_t& tag) noexcept {
    delete_object(operator_form::delete_nothrow, row_kind::delete_single, p, &tag);
}

void operator delete(void* p, std::align_val_t alignment) noexcept {
    delete_object(operator_form::delete_aligned, row_kind::delete_single, p, alignment);
}

void operator delete(void* p, std::size_t size, std::align_val_t alignment) noexcept {
    delete_object(operator_form::delete_sized_aligned, row_kind::delete_single, p, size, alignment);
}

void operator delete(void* p, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
    delete_object(operator_form::delete_aligned_nothrow, row_kind::delete_single, p, alignment, &tag);
}

void operator delete[](void* p) noexcept {
    delete_object(operator_form::delete_array, row_kind::delete_array, p);
}

void operator delete[](void* p, std::size_t size) noexcept {
    delete_object(operator_form::delete_array_sized, row_kind::delete_array, p, size);
}

void operator delete[](void* p, const std::nothrow_t& tag) noexcept {
    delete_object(operator_form::delete_array_nothrow, row_kind::delete_array, p, &tag);
}

void operator delete[](void* p, std::align_val_t alignment) noexcept {
    delete_object(operator_form::delete_array_aligned, row_kind::delete_array, p, alignment);
}

void operator delete[](void* p, std::size_t size, std::align_val_t alignment) noexcept {
    delete_object(operator_form::delete_array_sized_aligned, row_kind::delete_array, p, size, alignment);
}

void operator delete[](void* p, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
    delete_object(operator_form::delete_array_aligned_nothrow, row_kind::delete_array, p, alignment, &tag);
}

#pragma GCC visibility pop
