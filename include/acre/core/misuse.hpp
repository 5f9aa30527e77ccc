// What happens when a resource notices a misuse that would corrupt memory: a double free, a pointer of another
// resource, an address inside an allocation. Deallocation cannot throw, so the misuse goes to a handler.
//
// The handler that a program begins with prints one sentence on standard error and aborts. Replace it to write to a
// log, to save the user's document, or to end the program in another way; a handler that returns is followed by an
// abort, because the resource cannot go on. Use exceptions' errors (acre/core/error.hpp) for requests that cannot be
// served; they are no misuse. Cost: none until a misuse is noticed. Any thread may set the handler, and it may be
// called in any thread. A resource releases its lock first, and so does each acre::synchronized that the thread is in.
// A fork in the handler, or in one of SIGABRT, waits for no lock.
//
//     acre::set_misuse_handler([](const acre::misuse& noticed) {
//         write_to_log(noticed.resource, noticed.what, noticed.pointer);
//     });
#pragma once

#include <acre/core/detail/language.hpp>
#include <acre/core/detail/nonblocking.hpp>
#include <acre/core/error.hpp>
#include <acre/core/sanitizer.hpp>
#include <cstddef>

namespace acre {

/// A misuse that was noticed.
struct misuse {
    const char* resource;  ///< the type that noticed it, for example "acre::pool"
    const char* what;      ///< the mistake, for example "double free"
    const void* pointer;   ///< the address that was given
    const char* details =
        nullptr;  ///< further lines, each with its newline, such as where it was allocated; null when unknown
};

/// A function that is called with each misuse. It may end the program, and should not throw: most misuses are noticed
/// in functions that are noexcept.
using misuse_handler = void (*)(const misuse&);

namespace detail {

// Accessed by atomic builtins: <atomic> takes longer to compile than all other headers of acre::arena.
inline misuse_handler current_misuse_handler = nullptr;

/// The sentences for the mistakes that several resources notice: one for each mistake.
namespace mistake {
inline constexpr const char* double_free = "double free";
inline constexpr const char* double_free_or_write = "double free, or a write to a free slot";
inline constexpr const char* foreign_pointer = "a pointer of another resource was freed";
inline constexpr const char* inside_a_slot = "a pointer into the middle of a slot was freed";
inline constexpr const char* inside_an_allocation = "a pointer into the middle of an allocation was freed";
inline constexpr const char* not_handed_out =
    "a pointer was freed that was never handed out: of another resource, or into the middle of an allocation";
inline constexpr const char* wrong_size = "freed with another size or alignment than it was allocated with";
inline constexpr const char* foreign_resized = "a pointer of another resource was resized";
inline constexpr const char* inside_resized = "a pointer into the middle of an allocation was resized";
inline constexpr const char* foreign_measured = "the size of a pointer of another resource was asked for";
inline constexpr const char* inside_measured = "the size of a pointer into the middle of an allocation was asked for";
inline constexpr const char* wrong_size_resized = "resized with another size than it was allocated with";
inline constexpr const char* used_after_free = "used after it was freed";
inline constexpr const char* reset_in_destructor = "reset or released by a destructor that it is running";
inline constexpr const char* reset_in_constructor = "reset or released by a constructor that it is running";
inline constexpr const char* ended_by_itself = "an object was freed by its own destructor";
inline constexpr const char* freed_in_constructor = "an object was freed by its own constructor";
inline constexpr const char* void_mark = "rewound to a mark that a reset or an earlier rewind has made void";
inline constexpr const char* written_after_free = "an allocation was written to after it was freed";
inline constexpr const char* foreign_mark = "rewound to a mark of another arena";
inline constexpr const char* scope_order = "a scope ended before an inner one, or in another thread";
inline constexpr const char* used_after_end = "used after it ended";
inline constexpr const char* swapped_resources =
    "containers in two resources were swapped: each keeps its resource, so move one into a new container, which takes "
    "the resource along";
inline constexpr const char* out_of_memory = "out of memory without exceptions";

/// The sentence for a mistake in a resize, where that of a free is `what`. Texts are compared, not addresses: each
/// source file has literals of its own.
constexpr const char* in_a_resize(const char* what) noexcept {
    const auto is = [what](const char* sentence) { return __builtin_strcmp(what, sentence) == 0; };
    if (is(foreign_pointer)) return foreign_resized;
    if (is(inside_an_allocation)) return inside_resized;
    if (is(wrong_size)) return wrong_size_resized;
    return is(double_free) ? used_after_free : what;
}

/// The same for a mistake in asking how large an allocation is.
constexpr const char* in_a_question(const char* what) noexcept {
    const auto is = [what](const char* sentence) { return __builtin_strcmp(what, sentence) == 0; };
    if (is(foreign_pointer)) return foreign_measured;
    if (is(inside_an_allocation)) return inside_measured;
    return is(double_free) ? used_after_free : what;
}
}  // namespace mistake

/// Prints the sentence of `noticed`, and its details below.
[[gnu::noinline, gnu::cold]] inline void print_misuse(const misuse& noticed) noexcept {
    const word words[] = {noticed.resource, noticed.what, noticed.pointer};
    print_line("%: % (pointer %)", words);
    if (noticed.details != nullptr) print_text(noticed.details);
}

}  // namespace detail

/// Sets the function that is called with each misuse, and returns the one before. Null stands for the handler that a
/// program begins with: it prints a sentence and aborts.
inline misuse_handler set_misuse_handler(misuse_handler handler) noexcept {
    return __atomic_exchange_n(&detail::current_misuse_handler, handler, __ATOMIC_ACQ_REL);
}

namespace detail {
/// Locks that are taken and released together, of any types.
struct lock_functions {
    using function = void (*)(void* locks) noexcept;

    void* locks_ = nullptr;
    function lock_all_ = nullptr;
    function unlock_all_ = nullptr;
};

/// Locks that this thread holds while a resource runs under them: the innermost ones, and those around them.
struct held_locks {
    const held_locks* outer;
    const lock_functions* held;

    void release() const noexcept {
        for (const held_locks* each = this; each != nullptr; each = each->outer)
            each->held->unlock_all_(each->held->locks_);
    }
    void take_again() const noexcept {
        if (outer != nullptr) outer->take_again();
        held->lock_all_(held->locks_);
    }
};

#if ACRE_HAS_THREADS
/// This thread reports a misuse.
inline thread_local constinit bool reporting_misuse = false;
/// Null: none.
inline thread_local constinit const held_locks* locks_of_this_thread = nullptr;
#else
inline bool reporting_misuse = false;
inline const held_locks* locks_of_this_thread = nullptr;
#endif

/// A report of a misuse, during which this thread holds no lock: the handler may use each resource, and wait for
/// threads that do.
class report_scope {
public:
    report_scope() noexcept : held_(locks_of_this_thread) {
        reporting_misuse = true;
        locks_of_this_thread = nullptr;
        if (held_ != nullptr) held_->release();
    }
    report_scope(const report_scope&) = delete;
    report_scope& operator=(const report_scope&) = delete;
    /// A handler has thrown: the locks are released as it leaves their scopes.
    ~report_scope() {
        if (held_ != nullptr) held_->take_again();
        locks_of_this_thread = held_;
        reporting_misuse = false;
    }

private:
    const held_locks* held_;
};
}  // namespace detail

/// Calls the misuse handler, and aborts when it returns.
[[noreturn, gnu::noinline, gnu::cold]] inline void abort_on_misuse(const misuse& noticed) {
    detail::allow_blocking([&noticed] {
        const detail::report_scope reporting;
        if (const misuse_handler handler = __atomic_load_n(&detail::current_misuse_handler, __ATOMIC_ACQUIRE)) {
            handler(noticed);
        } else {
            detail::print_misuse(noticed);
        }
        detail::abort_silently();
    });
    __builtin_unreachable();
}

/// As above, for a misuse of `resource` that is described by `what`.
[[noreturn, gnu::noinline, gnu::cold]] inline void abort_on_misuse(const char* resource, const char* what,
                                                                   const void* pointer) {
    abort_on_misuse(misuse{resource, what, pointer});
}

namespace detail {
/// Under AddressSanitizer, a misuse where some of the `bytes` bytes at `p` are poisoned: they are free, or more than
/// one allocation of `resource`. For resources that record nothing of their allocations. Empty in other builds. A size
/// that is too small is not noticed: an exception that is thrown unpoisons what lies in the stack. `resized` is said of
/// a resize.
inline void check_allocation([[maybe_unused]] const char* resource, [[maybe_unused]] const void* p,
                             [[maybe_unused]] std::size_t bytes, [[maybe_unused]] bool resized = false) noexcept {
#if defined(ACRE_HAS_ADDRESS_SANITIZER)
    if (bytes == 0) return;
    if (is_poisoned(p)) abort_on_misuse(resource, resized ? mistake::used_after_free : mistake::double_free, p);
    if (__asan_region_is_poisoned(const_cast<void*>(p), bytes) != nullptr)
        abort_on_misuse(resource, resized ? mistake::wrong_size_resized : mistake::wrong_size, p);
#endif
}
}  // namespace detail

}  // namespace acre
