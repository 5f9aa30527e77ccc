// The resource that this thread uses at present, as a resource without state: for hooks that pass no context, and for
// templates that default-construct their allocator.
//
// Use it where a resource cannot be passed; where it can, pass it: that costs less and shows who uses what. A scope
// sets the resource, acre::use_resource; scopes nest, and without one the resource is acre::heap.
//
// A block goes back to the resource that it came from, whatever scope or thread frees it: 16 bytes in front of it say
// where that is, and how large the block is, so acre::malloc_face<acre::ambient> adds none of its own. The resource
// must live longer than its blocks. A block of a resource that threads do not share is refused with a sentence in
// another thread than its own: such a free would be a data race. (Of two threads whose numbers differ by a multiple of
// a million, this is not found.)
//
// Cost: a thread-local access, an indirect call, and 16 bytes a block; a block with a larger alignment, or of 4 GiB or
// more, has 32 bytes or its alignment. Thread rules: each thread has its own scopes.
//
//     acre::arena request;
//     acre::use_resource use{request};
//     std::vector<int, acre::ambient_allocator<int>> v;  // default-constructed, in `request`
#pragma once

#include <acre/adapt/allocator.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/find_anew.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/referred.hpp>
#include <acre/core/detail/serves_threads.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/memory/heap.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace acre {

namespace detail {

/// The functions of the resources of one type.
struct ambient_kind {
    void* (*allocate)(void* object, std::size_t bytes, std::size_t alignment);
    void* (*try_allocate)(void* object, std::size_t bytes, std::size_t alignment) noexcept;
    void (*deallocate)(void* object, void* p, std::size_t bytes, std::size_t alignment) noexcept;
    // Null where the resource resizes nothing.
    bool (*try_resize)(void* object, void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept;
};

template <class R>
constexpr auto resize_function_of() noexcept -> decltype(ambient_kind::try_resize) {
    if constexpr (resizable_resource<R>) {
        return [](void* object, void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
            return static_cast<R*>(object)->try_resize(p, old_bytes, new_bytes);
        };
    } else {
        return nullptr;
    }
}

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
    },
    resize_function_of<R>()};

/// Numbers the types of resources, so that what a block keeps about itself takes 16 bytes. Atomic builtins, because
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

/// The number of a type of resources, and of the thread that may free its blocks, in 32 bits.
class ambient_tag {
public:
    constexpr ambient_tag() noexcept = default;
    /// `thread` is 0 for any thread.
    constexpr ambient_tag(std::uint32_t kind, std::uint32_t thread) noexcept
        : bits_(kind | (thread == 0 ? 0 : 1 + (thread - 1) % max_threads) << kind_bits) {}
    /// For a tag without a kind.
    constexpr ambient_tag with_kind(std::uint32_t kind) const noexcept { return ambient_tag{bits_ | kind}; }
    constexpr ambient_tag extended() const noexcept { return ambient_tag{bits_ | extended_bit}; }

    /// In front of a block that was freed: no number of a type, and not what malloc has in front of its blocks.
    static constexpr ambient_tag freed() noexcept { return ambient_tag{freed_kind}; }
    constexpr bool is_freed() const noexcept { return kind() == freed_kind; }

    constexpr std::uint32_t kind() const noexcept { return bits_ & ((1u << kind_bits) - 1); }
    /// True when the block has an ambient_extension.
    constexpr bool is_extended() const noexcept { return (bits_ & extended_bit) != 0; }
    /// True when that is the thread of `other`, too.
    constexpr bool is_of_thread_of(const ambient_tag& other) const noexcept { return threads() == other.threads(); }
    constexpr bool is_of_one_thread() const noexcept { return threads() != 0; }

private:
    static constexpr unsigned kind_bits = 11;
    static constexpr std::uint32_t max_threads = (1u << 20) - 1;
    static constexpr std::uint32_t extended_bit = 1u << 31;
    static constexpr std::uint32_t freed_kind = (1u << kind_bits) - 1;
    static_assert(ambient_kinds::most < freed_kind);

    explicit constexpr ambient_tag(std::uint32_t bits) noexcept : bits_(bits) {}
    constexpr std::uint32_t threads() const noexcept { return bits_ & (max_threads << kind_bits); }

    std::uint32_t bits_ = 0;
};

/// This thread's resource.
struct ambient_home {
    void* object;
    const ambient_kind* kind;
    ambient_tag tag;
    const void* scope = nullptr;  // the use_resource that began last and has not ended
};

/// In front of each block: where it is from, and its size.
struct ambient_header {
    void* object;
    std::uint32_t bytes;
    ambient_tag tag;
};

/// In front of the header of a large or widely aligned block.
struct ambient_extension {
    std::size_t bytes;
    std::size_t alignment;
};

inline heap ambient_heap;

#if ACRE_HAS_THREADS
[[gnu::used]] inline thread_local constinit ambient_home current_ambient{
    &ambient_heap, &ambient_kind_of<heap>, {ambient_kinds::number_of_heap, 0}};

ACRE_FINDER inline ambient_home& find_ambient() noexcept {
    ambient_home* found;
    ACRE_FIND(found, current_ambient, "_ZN4acre6detail15current_ambientE", 0);
    return *found;
}

/// A tag of this thread, without a kind. No other thread of the next million has the same.
[[gnu::noinline]] inline ambient_tag tag_of_this_thread() noexcept {
    asm volatile("");
    static std::uint32_t threads = 0;
    thread_local constinit ambient_tag tag;
    if (!tag.is_of_one_thread()) [[unlikely]]
        tag = {0, __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED)};
    return tag;
}
#else
inline constinit ambient_home current_ambient{
    &ambient_heap, &ambient_kind_of<heap>, {ambient_kinds::number_of_heap, 0}};

inline ambient_home& find_ambient() noexcept {
    return current_ambient;
}

inline ambient_tag tag_of_this_thread() noexcept {
    return {0, 1};
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
        const detail::ambient_home& home = detail::find_ambient();
        if (!is_common(bytes, alignment)) [[unlikely]]
            return allocate_extended(bytes, alignment);
        return begin(home.kind->allocate(home.object, bytes + header_bytes, header_bytes), bytes, home);
    }

    /// As allocate, but null when it cannot.
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        const detail::ambient_home& home = detail::find_ambient();
        if (!is_common(bytes, alignment)) [[unlikely]]
            return try_allocate_extended(bytes, alignment);
        return begin(home.kind->try_allocate(home.object, bytes + header_bytes, header_bytes), bytes, home);
    }

    /// Gives the block back to the resource that it came from; null is a no-op. Aborts with a sentence where that is a
    /// resource of another thread that threads do not share.
    void deallocate(void* p, std::size_t, std::size_t = default_alignment) noexcept { deallocate_unsized(p); }

    /// As deallocate; the block knows its size.
    void deallocate_unsized(void* p) noexcept {
        if (p == nullptr) return;
        const detail::ambient_header found = *header_of(p);
        const detail::ambient_kind& functions = kind_of(p, found);
        header_of(p)->tag = detail::ambient_tag::freed();
        if (found.tag.is_extended()) [[unlikely]]
            return deallocate_extended(p, found, functions);
        functions.deallocate(found.object, static_cast<std::byte*>(p) - header_bytes, found.bytes + header_bytes,
                             header_bytes);
    }

    /// Makes the block larger or smaller where it is, when the resource that it came from can; false otherwise.
    bool try_resize(void* p, std::size_t, std::size_t new_bytes) noexcept {
        const detail::ambient_header found = *header_of(p);
        const detail::ambient_kind& functions = kind_of(p, found);
        if (functions.try_resize == nullptr) return false;
        if (found.tag.is_extended()) [[unlikely]]
            return resize_extended(p, found, functions, new_bytes);
        if (new_bytes > max_common_bytes) return false;
        void* start = static_cast<std::byte*>(p) - header_bytes;
        if (!functions.try_resize(found.object, start, found.bytes + header_bytes, new_bytes + header_bytes))
            return false;
        header_of(p)->bytes = static_cast<std::uint32_t>(new_bytes);
        return true;
    }

    /// Bytes of the block, as requested.
    std::size_t usable_size(const void* p) const noexcept {
        const detail::ambient_header found = *header_of(p);
        kind_of(p, found);
        return found.tag.is_extended() ? extension_of(p)->bytes : found.bytes;
    }
    /// What the block is aligned to: what was requested, or 16 bytes.
    std::size_t alignment_of(const void* p) const noexcept {
        const detail::ambient_header found = *header_of(p);
        kind_of(p, found);
        return found.tag.is_extended() ? extension_of(p)->alignment : header_bytes;
    }

    friend bool operator==(const ambient&, const ambient&) noexcept = default;

private:
    static_assert(sizeof(detail::ambient_header) <= header_bytes);
    static constexpr std::size_t extended_bytes = 2 * header_bytes;
    static_assert(sizeof(detail::ambient_header) + sizeof(detail::ambient_extension) <= extended_bytes);
    // The size of a block without extension has 32 bits.
    static constexpr std::size_t max_common_bytes = max_request < UINT32_MAX ? max_request - header_bytes : UINT32_MAX;

    static bool is_common(std::size_t bytes, std::size_t alignment) noexcept {
        return alignment <= header_bytes && is_alignment(alignment) && bytes <= max_common_bytes;
    }
    static std::size_t extended_front(std::size_t alignment) noexcept {
        return alignment < extended_bytes ? extended_bytes : alignment;
    }
    static bool is_served(std::size_t bytes, std::size_t alignment) noexcept {
        return is_alignment(alignment) && alignment <= max_request && bytes <= max_request - extended_front(alignment);
    }
    static std::size_t at_least_16(std::size_t alignment) noexcept {
        return alignment < header_bytes ? header_bytes : alignment;
    }

    [[gnu::noinline, gnu::cold]] static void* allocate_extended(std::size_t bytes, std::size_t alignment) {
        if (!detail::can_be_honoured(alignment)) return raise<bad_alignment>(name, alignment);
        if (!is_served(bytes, alignment)) {
            return raise<request_too_large>(name, bytes, max_request - extended_front(alignment));
        }
        const detail::ambient_home& home = detail::find_ambient();
        const std::size_t front = extended_front(alignment);
        return begin_extended(home.kind->allocate(home.object, bytes + front, at_least_16(alignment)), bytes, alignment,
                              home);
    }
    [[gnu::noinline, gnu::cold]] static void* try_allocate_extended(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_served(bytes, alignment)) return nullptr;
        const detail::ambient_home& home = detail::find_ambient();
        const std::size_t front = extended_front(alignment);
        return begin_extended(home.kind->try_allocate(home.object, bytes + front, at_least_16(alignment)), bytes,
                              alignment, home);
    }

    static detail::ambient_header* header_of(const void* p) noexcept {
        return static_cast<detail::ambient_header*>(const_cast<void*>(p)) - 1;
    }
    static detail::ambient_extension* extension_of(const void* p) noexcept {
        return reinterpret_cast<detail::ambient_extension*>(header_of(p)) - 1;
    }

    // Null where the resource had none.
    static void* begin(void* start, std::size_t bytes, const detail::ambient_home& home) noexcept {
        if (start == nullptr) [[unlikely]]
            return nullptr;
        void* p = static_cast<std::byte*>(start) + header_bytes;
        *header_of(p) = {home.object, static_cast<std::uint32_t>(bytes), home.tag};
        return p;
    }
    static void* begin_extended(void* start, std::size_t bytes, std::size_t alignment,
                                const detail::ambient_home& home) noexcept {
        if (start == nullptr) return nullptr;
        void* p = static_cast<std::byte*>(start) + extended_front(alignment);
        *header_of(p) = {home.object, 0, home.tag.extended()};
        *extension_of(p) = {bytes, at_least_16(alignment)};
        return p;
    }

    // The functions of the resource that the block came from; aborts where this thread may not free it, or it is none.
    static const detail::ambient_kind& kind_of(const void* p, const detail::ambient_header& found) noexcept {
        const std::uint32_t kind = found.tag.kind();
        if (!detail::ambient_kinds::has(kind)) [[unlikely]]
            refuse(p, found.tag.is_freed() ? detail::mistake::double_free : detail::mistake::foreign_pointer);
        if (found.tag.is_of_one_thread() && !found.tag.is_of_thread_of(detail::tag_of_this_thread())) [[unlikely]] {
            refuse(p, "freed in another thread than it was allocated in, whose resource threads do not share");
        }
        return detail::ambient_kinds::at(kind);
    }

    [[gnu::noinline, gnu::cold]] static void deallocate_extended(void* p, const detail::ambient_header& found,
                                                                 const detail::ambient_kind& functions) noexcept {
        const detail::ambient_extension more = *extension_of(p);
        const std::size_t front = extended_front(more.alignment);
        functions.deallocate(found.object, static_cast<std::byte*>(p) - front, more.bytes + front, more.alignment);
    }
    [[gnu::noinline, gnu::cold]] static bool resize_extended(void* p, const detail::ambient_header& found,
                                                             const detail::ambient_kind& functions,
                                                             std::size_t new_bytes) noexcept {
        const detail::ambient_extension more = *extension_of(p);
        const std::size_t front = extended_front(more.alignment);
        if (new_bytes > max_request - front) return false;
        void* start = static_cast<std::byte*>(p) - front;
        if (!functions.try_resize(found.object, start, more.bytes + front, new_bytes + front)) return false;
        extension_of(p)->bytes = new_bytes;
        return true;
    }

    [[noreturn, gnu::noinline, gnu::cold]] static void refuse(const void* p, const char* what) noexcept {
        abort_on_misuse(name, what, p);
    }
};

static_assert(stateless_resource<ambient> && resizable_resource<ambient>);

/// A standard allocator that is default-constructed and allocates from this thread's resource.
template <class T>
using ambient_allocator = allocator<T, ambient>;

/// A scope in which this thread's resource is another one. It ends in the thread that it began in, inner scopes first.
class [[nodiscard("the resource is used in the scope of a variable: acre::use_resource use{arena};")]] use_resource {
public:
    /// Until the end of this object, acre::ambient is `used`, which must outlive every block that came from it.
    template <resource R>
        requires(!std::is_same_v<R, ambient>)
    [[nodiscard("the resource is used in the scope of a variable: use_resource use{arena};")]] explicit use_resource(
        R& used) noexcept
        : before_(detail::find_ambient()) {
        constexpr bool any_thread_frees = detail::serves_threads<R>;
        const detail::ambient_tag thread = any_thread_frees ? detail::ambient_tag{} : detail::tag_of_this_thread();
        detail::find_ambient() = {detail::address_of(used), &detail::ambient_kind_of<R>,
                                  thread.with_kind(detail::ambient_kinds::number_of<R>()), this};
    }
    /// Of a pointer to the resource, or of a handle. Throws bad_option for null.
    template <detail::leads_to_resource From>
    [[nodiscard("the resource is used in the scope of a variable: use_resource use{arena};")]] explicit use_resource(
        From&& from)
        : use_resource(detail::referred<detail::led_to_t<From>>("acre::use_resource", std::forward<From>(from))) {}
    use_resource(const use_resource&) = delete;
    use_resource& operator=(const use_resource&) = delete;
    /// The resource before is used again. Aborts with a sentence before an inner scope has ended, and in another
    /// thread.
    ~use_resource() {
        if (detail::find_ambient().scope != this) [[unlikely]]
            refuse();
        detail::find_ambient() = before_;
    }

private:
    [[noreturn, gnu::noinline, gnu::cold]] void refuse() const noexcept {
        abort_on_misuse("acre::use_resource", detail::mistake::scope_order, this);
    }

    detail::ambient_home before_;
};

}  // namespace acre
