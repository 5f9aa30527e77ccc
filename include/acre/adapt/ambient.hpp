// The resource that this thread uses at present, as a resource without state: for hooks that pass no context, and for
// templates that default-construct their allocator.
//
// Use it where a resource cannot be passed; where it can, pass it: that costs less and shows who uses what. A scope
// sets the resource, acre::use_resource; scopes nest, and without one the resource is acre::heap.
//
// A block goes back to the resource that it came from, whatever scope or thread frees it: 16 bytes in front of it, or
// as many as its alignment, say where that is. The resource must live longer than its blocks. A block of a resource
// that threads do not share is refused with a sentence in another thread than its own: such a free would be a data
// race.
//
// Cost: a thread-local access, an indirect call, and 16 bytes a block. Thread rules: each thread has its own scopes.
//
//     acre::arena request;
//     acre::use_resource use{request};
//     std::vector<int, acre::ambient_allocator<int>> v;  // default-constructed, in `request`
#pragma once

#include <acre/adapt/allocator.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/memory/heap.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace acre {

namespace detail {

/// The functions of the resources of one type.
struct ambient_kind {
    void* (*allocate)(void* object, std::size_t bytes, std::size_t alignment);
    void* (*try_allocate)(void* object, std::size_t bytes, std::size_t alignment) noexcept;
    void (*deallocate)(void* object, void* p, std::size_t bytes, std::size_t alignment) noexcept;
};

template <class R>
inline constexpr ambient_kind ambient_kind_of{
    [](void* object, std::size_t bytes, std::size_t alignment) {
        return static_cast<R*>(object)->allocate(bytes, alignment);
    },
    [](void* object, std::size_t bytes, std::size_t alignment) noexcept {
        return static_cast<R*>(object)->try_allocate(bytes, alignment);
    },
    [](void* object, void* p, std::size_t bytes, std::size_t alignment) noexcept {
        static_cast<R*>(object)->deallocate(p, bytes, alignment);
    }};

/// Numbers the types of resources, so that the place that a block came from takes 16 bytes. Atomic builtins, because
/// <atomic> is a heavy header.
class ambient_kinds {
public:
    /// Types of resources that one program may use.
    static constexpr std::uint32_t most = 1024;

    static constexpr std::uint32_t number_of_heap = 1;

    /// The number of R, from 1 on, the same in all threads.
    template <class R>
    static std::uint32_t number_of() noexcept {
        static const std::uint32_t number = add(&ambient_kind_of<R>);
        return number;
    }

    static bool has(std::uint32_t number) noexcept { return number - 1 < __atomic_load_n(&count_, __ATOMIC_RELAXED); }
    static const ambient_kind& at(std::uint32_t number) noexcept {
        return *__atomic_load_n(&kinds_[number - 1], __ATOMIC_ACQUIRE);
    }

private:
    [[gnu::noinline, gnu::cold]] static std::uint32_t add(const ambient_kind* added) noexcept {
        const std::uint32_t index = __atomic_fetch_add(&count_, 1, __ATOMIC_RELAXED);
        if (index >= most) abort_on_misuse("acre::ambient", "more than 1024 types of resources were used", added);
        __atomic_store_n(&kinds_[index], added, __ATOMIC_RELEASE);
        return index + 1;
    }

    static inline std::uint32_t count_ = 1;
    static inline const ambient_kind* kinds_[most] = {&ambient_kind_of<heap>};
};

/// Where a block is from: the resource, the number of its type, and the number of the thread that may free it.
struct ambient_home {
    void* object;
    std::uint32_t kind;
    std::uint32_t thread;  // 0: any thread
};

inline heap ambient_heap;

#if ACRE_HAS_THREADS
inline thread_local constinit ambient_home current_ambient{&ambient_heap, ambient_kinds::number_of_heap, 0};

/// A number from 1 on that no other thread ever has.
inline std::uint32_t number_of_this_thread() noexcept {
    static std::uint32_t threads = 0;
    thread_local constinit std::uint32_t number = 0;
    if (number == 0) number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    return number;
}
#else
inline constinit ambient_home current_ambient{&ambient_heap, ambient_kinds::number_of_heap, 0};

inline std::uint32_t number_of_this_thread() noexcept {
    return 1;
}
#endif

}  // namespace detail

/// This thread's resource: an empty type, all of whose objects are equal.
class ambient {
public:
    static constexpr const char* name = "acre::ambient";
    /// Bytes that a block takes from the resource in addition to its size; more if its alignment is larger.
    static constexpr std::size_t header_bytes = 16;

    /// Storage of `bytes` bytes aligned to `alignment` from this thread's resource. Throws what that throws,
    /// bad_alignment or request_too_large.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        const detail::ambient_home home = detail::current_ambient;
        const detail::ambient_kind& kind = detail::ambient_kinds::at(home.kind);
        if (!is_served(bytes, alignment)) [[unlikely]]
            return fail(bytes, alignment);
        const std::size_t front = front_of(alignment);
        return begin(kind.allocate(home.object, bytes + front, front), front, home);
    }

    /// As allocate, but null when it cannot.
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (!is_served(bytes, alignment)) [[unlikely]]
            return nullptr;
        const detail::ambient_home home = detail::current_ambient;
        const std::size_t front = front_of(alignment);
        return begin(detail::ambient_kinds::at(home.kind).try_allocate(home.object, bytes + front, front), front, home);
    }

    /// Gives the block back to the resource that it came from; null is a no-op. Aborts with a sentence where that is a
    /// resource of another thread that threads do not share.
    void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (p == nullptr) return;
        const detail::ambient_home home = *home_of(p);
        if (!detail::ambient_kinds::has(home.kind)) [[unlikely]]
            refuse(p, home.kind == 0 ? detail::mistake::double_free : detail::mistake::foreign_pointer);
        if (home.thread != 0 && home.thread != detail::number_of_this_thread()) [[unlikely]]
            refuse(p, "freed in another thread than it was allocated in, whose resource threads do not share");
        home_of(p)->kind = 0;
        const std::size_t front = front_of(alignment);
        detail::ambient_kinds::at(home.kind).deallocate(home.object, static_cast<std::byte*>(p) - front, bytes + front,
                                                        front);
    }

    friend bool operator==(const ambient&, const ambient&) noexcept = default;

private:
    static_assert(sizeof(detail::ambient_home) <= header_bytes);

    static bool is_served(std::size_t bytes, std::size_t alignment) noexcept {
        return is_alignment(alignment) && alignment <= max_request && bytes <= max_request - front_of(alignment);
    }
    [[gnu::noinline, gnu::cold]] static void* fail(std::size_t bytes, std::size_t alignment) {
        if (!is_alignment(alignment)) return raise<bad_alignment>(name, alignment);
        return raise<request_too_large>(name, bytes, alignment > max_request ? 0 : max_request - front_of(alignment));
    }
    static std::size_t front_of(std::size_t alignment) noexcept {
        return alignment < header_bytes ? header_bytes : alignment;
    }
    static detail::ambient_home* home_of(void* p) noexcept { return static_cast<detail::ambient_home*>(p) - 1; }

    // Null where the resource had none.
    static void* begin(void* start, std::size_t front, const detail::ambient_home& home) noexcept {
        if (start == nullptr) return nullptr;
        void* p = static_cast<std::byte*>(start) + front;
        *home_of(p) = home;
        return p;
    }

    [[noreturn, gnu::noinline, gnu::cold]] static void refuse(const void* p, const char* what) noexcept {
        abort_on_misuse(name, what, p);
    }
};

static_assert(stateless_resource<ambient>);

/// A standard allocator that is default-constructed and allocates from this thread's resource.
template <class T>
using ambient_allocator = allocator<T, ambient>;

/// A scope in which this thread's resource is another one. It ends in the thread that it began in, inner scopes first.
class [[nodiscard("the resource is used in the scope of a variable: acre::use_resource use{arena};")]] use_resource {
public:
    /// Until the end of this object, acre::ambient is `used`, which must outlive every block that came from it.
    template <resource R>
        requires(!std::is_same_v<R, ambient>)
    explicit use_resource(R& used) noexcept : before_(detail::current_ambient) {
        constexpr bool any_thread_frees = shared_resource<R> || stateless_resource<R>;
        detail::current_ambient = {detail::address_of(used), detail::ambient_kinds::number_of<R>(),
                                   any_thread_frees ? 0 : detail::number_of_this_thread()};
    }
    use_resource(const use_resource&) = delete;
    use_resource& operator=(const use_resource&) = delete;
    /// The resource before is used again.
    ~use_resource() { detail::current_ambient = before_; }

private:
    detail::ambient_home before_;
};

}  // namespace acre
