// The frames of coroutines from a resource: a base of promise types.
//
// A coroutine's frame holds its promise, its parameters and its variables, so its size differs from coroutine to
// coroutine. acre::pooled<promise_type> does the same, and no more, for a promise.
//
// Where std::allocator_arg is the coroutine's first parameter (behind the object, of a member function or a lambda),
// the next one says where the frame comes from: a resource by reference, a pointer or a handle to one, a
// std::pmr::memory_resource* or an allocator of either. Other frames come from acre::program_pools. The resource must
// live longer than the frame. A pool of one size serves frames that fit its slots: use acre::multi_pool.
//
// Cost: that of the resource, an indirect call at the end, and 8 bytes behind the frame, 16 for a resource with state.
// A frame that the compiler leaves out costs nothing. Without memory the coroutine throws; where the promise declares
// get_return_object_on_allocation_failure(), it returns that. Thread rules: those of the resource.
//
//     #include <coroutine>
//     struct promise : acre::pooled_frames<promise> {};  // and the members of a promise
//     using task = std::coroutine_handle<promise>;       // the coroutine's type names the promise
//     task from_the_program_pools(int n);
//     task from_a_pool(std::allocator_arg_t, acre::multi_pool& pool, int n);
#pragma once

#include <acre/adapt/allocator.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <cstddef>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#if ACRE_HAS_THREADS
#include <acre/adapt/program_pools.hpp>
#endif

namespace acre {

namespace detail {

/// The promise of a coroutine, or a base of one: it lies in a frame, which is larger.
template <class T>
concept coroutine_promise = requires(T& promise) { promise.get_return_object(); } || requires(T& promise) {
    promise.initial_suspend();
} || requires(T& promise) { promise.final_suspend(); };

/// A promise whose coroutine returns an object of its own when there is no memory.
template <class T>
concept expects_null_frames = requires { T::get_return_object_on_allocation_failure(); };

/// What stands behind a frame, for a delete that is told the size only.
class frame_tail {
public:
    /// A frame of `bytes` bytes with a tail. Without memory: null if `OrNull`, else as the resource does, and an abort
    /// without exceptions.
    template <bool OrNull, class R>
    static void* frame_from(R&& from, std::size_t bytes) noexcept(OrNull) {
        using tail = tail_of<std::remove_reference_t<R>>;
        static_assert(!holds_one_class<std::remove_reference_t<R>>,
                      "acre: an object pool would visit and destroy the frame of a coroutine as an object of its own "
                      "class: use acre::multi_pool");
        const std::size_t at = offset(bytes);
        void* p;
        if constexpr (OrNull) {
            p = from.try_allocate(at + sizeof(tail), alignment);
        } else {
            p = from.allocate(at + sizeof(tail), alignment);
            if (!exceptions_enabled && p == nullptr) abort_on_misuse("acre::pooled_frames", mistake::out_of_memory, p);
        }
        if (p != nullptr) ::new (static_cast<void*>(static_cast<std::byte*>(p) + at)) tail(from);
        return p;
    }
    /// Gives the frame back to where it came from; null is a no-op.
    static void free(void* p, std::size_t bytes) noexcept {
        if (p != nullptr) tail_at<frame_tail>(p, offset(bytes)).free_in_(p, offset(bytes));
    }

    /// The resource that stands behind std::allocator_arg.
    template <class Given>
    static decltype(auto) resource_of(Given& given) {
        if constexpr (resource<Given>) {
            return (given);
        } else if constexpr (requires { resource_ref{given.referred()}; }) {
            return given.referred();  // of an acre::allocator
        } else if constexpr (requires { resource_ref{given.resource()}; }) {
            return resource_ref{given.resource()};  // of a std::pmr::polymorphic_allocator
        } else {
            static_assert(std::is_constructible_v<resource_ref, Given&>,
                          "acre: behind the std::allocator_arg of a coroutine stands a resource that is not const, a "
                          "pointer or a handle to one, a std::pmr::memory_resource*, or an allocator of these");
            return resource_ref{given};
        }
    }

protected:
    explicit frame_tail(void (*free_in)(void* p, std::size_t at) noexcept) noexcept : free_in_(free_in) {}

    // No frame is aligned more strictly.
    static constexpr std::size_t alignment = default_alignment;
    static constexpr std::size_t offset(std::size_t bytes) noexcept { return align_up(bytes, alignof(void*)); }

    template <class Tail>
    static Tail& tail_at(void* p, std::size_t at) noexcept {
        return *std::launder(reinterpret_cast<Tail*>(static_cast<std::byte*>(p) + at));
    }

private:
    template <class R>
    struct tail_of;

    void (*free_in_)(void* p, std::size_t at) noexcept;
};

template <class R>
struct frame_tail::tail_of : frame_tail {
    explicit tail_of(R& referred) noexcept : frame_tail(&free), from(referred) {}

    static void free(void* p, std::size_t at) noexcept {
        const resource_pointer<R> copy = tail_at<tail_of>(p, at).from;
        copy.get().deallocate(p, at + sizeof(tail_of), alignment);
    }

    [[no_unique_address]] resource_pointer<R> from;
};

/// Where among the parameters of a coroutine std::allocator_arg stands: first, or behind the object of a member
/// function or a lambda. Their number where it does not.
template <class... Given>
constexpr std::size_t position_of_allocator_arg() noexcept {
    std::size_t at = 0;
    (void)((std::is_same_v<std::remove_cvref_t<Given>, std::allocator_arg_t> || (static_cast<void>(++at), false)) ||
           ...);
    return at < 2 && at + 1 < sizeof...(Given) ? at : sizeof...(Given);
}

/// What operator new of the promise type `Promise` does.
template <class Promise>
struct frames_of {
    static constexpr bool or_null = expects_null_frames<Promise>;

    /// A frame of `bytes` bytes for a coroutine of the parameters `given`.
    template <class... Given>
    static void* create(std::size_t bytes, Given&&... given) noexcept(or_null) {
        constexpr std::size_t at = position_of_allocator_arg<Given...>();
        if constexpr (at < sizeof...(Given)) {
            return frame_tail::frame_from<or_null>(frame_tail::resource_of(std::get<at + 1>(std::tie(given...))),
                                                   bytes);
        } else {
#if ACRE_HAS_THREADS
            return frame_tail::frame_from<or_null>(program_pools{}, bytes);
#else
            static_assert(std::is_void_v<Promise>,
                          "acre: without threads there are no pools of the program for the frame of this coroutine: "
                          "hand it a resource, as in task f(std::allocator_arg_t, acre::multi_pool& pool)");
            return nullptr;
#endif
        }
    }
};

}  // namespace detail

/// Base of the promise type `Promise`, whose frames come from a resource.
template <class Promise>
class pooled_frames {
public:
    // Inlined, or g++ would take the delete for one that does not match this form.
    /// A frame from the resource behind std::allocator_arg, else from the pools of the program.
    template <class... Given>
    [[gnu::always_inline]] static void* operator new(std::size_t bytes, Given&&... given) {
        return detail::frames_of<Promise>::create(bytes, given...);
    }
    // Not one form with a condition: clang tests whether it is noexcept before it instantiates that.
    /// As above, but null without memory.
    template <class... Given>
        requires detail::expects_null_frames<Promise>
    [[gnu::always_inline]] static void* operator new(std::size_t bytes, Given&&... given) noexcept {
        return detail::frames_of<Promise>::create(bytes, given...);
    }
    /// Gives a frame back to where it came from.
    static void operator delete(void* p, std::size_t bytes) noexcept {  // NOLINT(cert-dcl54-cpp): new is a template
        detail::frame_tail::free(p, bytes);
    }
};

}  // namespace acre
