// Smart pointers to objects in a resource: they destroy the object and give its storage back to the resource.
//
// Use them where an object of a pool or arena has one owner (unique_ptr) or several (make_shared). The resource must
// live longer. A unique_ptr to a derived class converts to one to its base, if the base has a virtual destructor: the
// deleter knows the size of the whole object. An object that takes an acre::allocator of the resource, such as a
// container, is constructed with it. Objects that fit no slot of a pool do not compile, nor do objects of another class
// in an object pool.
//
// Cost: that of the resource. A unique_ptr is two pointers wide, one for a stateless resource, and 8 bytes wider for a
// class with a virtual destructor that is not final. Such a class must be defined before its unique_ptr is named; any
// other may be defined later, so a node may own nodes, also of the object pool of its class. acre.hpp does not include
// this header, because <memory> takes long to compile.
//
// make_shared<Orc>(pool) keeps the pool alive where `pool` is a std::shared_ptr to it.
//
// make_unique and make_shared also take a pointer to a resource, or a handle, unless the object takes it itself, and
// any std::pmr::memory_resource*. They construct as std::pmr does: a std::pmr::string or a container in the object gets
// the memory resource, too. Such a unique_ptr is three pointers wide. Argument-dependent lookup does not find them:
// after `using std::make_unique`, make_unique<T>(resource) is the standard's.
//
//     auto owned = acre::make_unique<Orc>(pool, "URG");
//     auto several = acre::make_unique<Orc[]>(pool, 12);
//     auto shared = acre::make_shared<Orc>(pool, "URG");  // object and counts in one allocation
//     acre::unique_ptr<Monster, acre::multi_pool> any = acre::make_unique<Orc>(pool, "URG");
//     acre::pmr<acre::multi_pool> nodes;
//     auto text = acre::make_unique<std::pmr::string>(&nodes, "in the pool, with its characters");
#pragma once

#include <acre/adapt/allocator.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/construct.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/referred.hpp>
#include <acre/core/detail/uses_allocator.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace acre {

namespace detail {

/// Where the storage of an object lies and how large it is, seen from a base of the object.
class whole_object {
public:
    template <class T>
    static constexpr whole_object of() noexcept {
        static_assert(sizeof(T) <= max_bytes, "acre: an object this large cannot be owned through a base class");
        return {sizeof(T), alignof(T), 0};
    }
    /// Seen from a base that lies `offset` bytes further on.
    constexpr whole_object from_base_at(std::size_t offset) const noexcept {
        return {bytes(), alignment(), static_cast<std::size_t>(offset_) + offset};
    }

    constexpr std::size_t bytes() const noexcept { return static_cast<std::size_t>(bytes_); }
    constexpr std::size_t alignment() const noexcept { return std::size_t{1} << alignment_power_; }
    void* storage(void* base) const noexcept {
        return static_cast<std::byte*>(base) - static_cast<std::size_t>(offset_);
    }

private:
    constexpr whole_object(std::size_t bytes, std::size_t alignment, std::size_t offset) noexcept
        : bytes_(bytes & max_bytes),
          offset_(offset & max_bytes),
          alignment_power_(static_cast<std::uint64_t>(std::countr_zero(alignment)) & 0x3F) {}

    static constexpr std::size_t max_bytes = (std::size_t{1} << 29) - 1;

    // In one word, because every unique_ptr to a base carries it.
    std::uint64_t bytes_ : 29;
    std::uint64_t offset_ : 29;
    std::uint64_t alignment_power_ : 6;
};

/// Stands for a whole_object where the static type says it all.
struct known_object {};

/// Bytes from the start of a Derived to its Base. Not for virtual bases.
template <class Base, class Derived>
std::size_t base_offset() noexcept {
    // The language allows conversion to a base that is not virtual in storage of an object that does not live.
    union storage {
        constexpr storage() noexcept : none{} {}
        constexpr ~storage() {}
        char none;
        Derived object;
    };
    static constinit storage anywhere{};
    const Base* base = std::addressof(anywhere.object);
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(base) -
                                    reinterpret_cast<const std::byte*>(std::addressof(anywhere)));
}

/// As resource_pointer, and asks nothing of a resource before it is used.
template <class R>
class late_resource_pointer {
public:
    late_resource_pointer() noexcept = default;
    explicit late_resource_pointer(R& referred) noexcept : referred_(detail::address_of(referred)) {}
    R& get() const noexcept { return *referred_; }

private:
    R* referred_ = nullptr;
};

template <class R>
struct deleter_pointer {
    using type = resource_pointer<R>;
};
template <class R>
    requires is_made_of_type<R>
struct deleter_pointer<R> {
    using type = late_resource_pointer<R>;
};

/// A resource with objects of class T, such as an object pool or a typed_arena: it destroys them itself.
template <class R, class T>
concept keeps_objects_of = std::is_same_v<std::remove_cv_t<T>, typename R::value_type>;
}  // namespace detail

/// Deleter of a unique_ptr to an object, or with T[] to an array, in an R. T may be defined later, but a base class
/// with a virtual destructor must be defined before its pointers are named: they carry the size of the whole object.
template <class T, detail::owner_of_objects R>
class resource_delete {
    static constexpr bool is_defined = requires { sizeof(T); };
    static constexpr bool may_be_base = [] {
        if constexpr (is_defined) {
            return detail::may_be_base<T>();
        } else {
            return false;
        }
    }();
    using object_type = std::conditional_t<may_be_base, detail::whole_object, detail::known_object>;

public:
    /// For an empty pointer.
    resource_delete() noexcept = default;
    explicit resource_delete(R& referred) noexcept : resource_(referred) {}

    /// From the deleter of a derived class, or of the same class without const.
    template <class U>
        requires(!std::is_same_v<T, U> && std::is_convertible_v<U*, T*>)
    resource_delete(const resource_delete<U, R>& other) noexcept : resource_(other.resource_) {
        using base = std::remove_cv_t<T>;
        using derived = std::remove_cv_t<U>;
        if constexpr (std::is_same_v<base, derived>) {
            object_ = other.object_;
        } else {
            static_assert(std::has_virtual_destructor_v<base>,
                          "acre: the base class has no virtual destructor, so its pointer cannot destroy the derived "
                          "object: declare "
                          "`virtual ~Base() = default;`, or use acre::make_shared");
            require_early_definition();
            static_assert(
                requires(base* b) { static_cast<derived*>(b); },
                "acre: a pointer to a virtual base does not lead back to its object: use acre::make_shared");
            if constexpr (may_be_base) object_ = other.whole().from_base_at(detail::base_offset<base, derived>());
        }
    }

    /// Destroys the object and gives its storage back to the resource. Cost: that of the resource.
    void operator()(T* object) const noexcept {
        static_assert(
            requires { sizeof(T); },
            "acre: the class of an acre::unique_ptr must be complete where the pointer ends: define it before, or hold "
            "it by std::shared_ptr");
        require_early_definition();
        decltype(auto) from = resource_.get();
        if constexpr (detail::keeps_objects_of<R, T> && requires { from.destroy(object); }) {
            from.destroy(object);
        } else if constexpr (may_be_base) {
            void* const storage = object_.storage(const_cast<std::remove_cv_t<T>*>(object));
            detail::destroy_at(object);
            from.deallocate(storage, object_.bytes(), object_.alignment());
        } else {
            detail::destroy_at(object);
            from.deallocate(const_cast<std::remove_cv_t<T>*>(object), sizeof(T), alignof(T));
        }
    }

private:
    template <class, detail::owner_of_objects>
    friend class resource_delete;

    static constexpr void require_early_definition() noexcept {
        static_assert(may_be_base == detail::may_be_base<T>(),
                      "acre: a base class with a virtual destructor must be defined before its acre::unique_ptr is "
                      "named, which carries the size of the whole object: define it first, or declare it final");
    }
    static constexpr object_type initial() noexcept {
        if constexpr (may_be_base) {
            return detail::whole_object::of<T>();
        } else {
            return {};
        }
    }
    detail::whole_object whole() const noexcept {
        if constexpr (may_be_base) {
            return object_;
        } else {
            return detail::whole_object::of<T>();
        }
    }

    [[no_unique_address]] typename detail::deleter_pointer<R>::type resource_;
    [[no_unique_address]] object_type object_ = initial();
};

template <class T, detail::owner_of_objects R>
class resource_delete<T[], R> {
public:
    resource_delete() noexcept = default;
    /// For an array of `count` objects in `referred`, which must live longer.
    resource_delete(R& referred, std::size_t count) noexcept : resource_(referred), count_(count) {}

    /// From the deleter of an array of the same class without const.
    template <class U>
        requires(!std::is_same_v<T, U> && std::is_convertible_v<U (*)[], T (*)[]>)
    resource_delete(const resource_delete<U[], R>& other) noexcept : resource_(other.resource_), count_(other.count_) {}

    /// Destroys the objects, newest first, and gives their storage back to the resource.
    void operator()(T* first) const noexcept {
        for (std::size_t i = count_; i > 0; --i) detail::destroy_at(first + i - 1);
        resource_.get().deallocate(const_cast<std::remove_const_t<T>*>(first), count_ * sizeof(T), alignof(T));
    }

    /// Number of objects in the array.
    std::size_t size() const noexcept { return count_; }

private:
    template <class, detail::owner_of_objects>
    friend class resource_delete;

    [[no_unique_address]] typename detail::deleter_pointer<R>::type resource_;
    std::size_t count_ = 0;
};

/// A std::unique_ptr that knows its resource.
template <class T, detail::owner_of_objects R>
using unique_ptr = std::unique_ptr<T, resource_delete<T, R>>;

namespace detail {
// Frees storage when the construction in it throws.
template <class R>
struct storage_guard {
    R& from;
    void* p;
    std::size_t bytes;
    std::size_t alignment;
    ~storage_guard() {
        if (p != nullptr) from.deallocate(p, bytes, alignment);
    }
    void* succeeded() noexcept { return std::exchange(p, nullptr); }
};

/// What make_unique does for an object; `allocator` is passed on to it where it takes one.
template <class T, class R, class Allocator, class... Arguments>
unique_ptr<T, R> unique_object(R& from, const Allocator& allocator, Arguments&&... arguments) {
    void* p = from.allocate(sizeof(T), alignof(T));
    if (!exceptions_enabled && p == nullptr) return unique_ptr<T, R>{nullptr, resource_delete<T, R>{from}};
    auto* object = static_cast<std::remove_cv_t<T>*>(p);
    detail::storage_guard<R> guard{from, p, sizeof(T), alignof(T)};
    detail::construct_with_allocator(object, allocator, std::forward<Arguments>(arguments)...);
    guard.succeeded();
    return unique_ptr<T, R>{std::launder(object), resource_delete<T, R>{from}};
}

/// The same for an array of `count` objects.
template <class T, class R, class Allocator>
unique_ptr<T[], R> unique_array(R& from, const Allocator& allocator, std::size_t count) {
    using element = std::remove_cv_t<T>;
    const auto bytes = array_bytes(count, sizeof(T));
    if (!bytes) raise<request_too_large>("acre::make_unique", SIZE_MAX, max_request);
    void* p = bytes ? from.allocate(*bytes, alignof(T)) : nullptr;
    if (!exceptions_enabled && p == nullptr) return unique_ptr<T[], R>{nullptr, resource_delete<T[], R>{from, 0}};
    detail::storage_guard<R> guard{from, p, *bytes, alignof(T)};
    auto* first = static_cast<element*>(p);
    if constexpr (takes_allocator<element, Allocator>) {
        detail::construct_each(first, count, [&](element* at) { detail::construct_with_allocator(at, allocator); });
    } else {
        detail::value_construct(first, count);
    }
    guard.succeeded();
    return unique_ptr<T[], R>{first, resource_delete<T[], R>{from, count}};
}

/// Allocates objects of T for std::allocate_shared from a standard memory resource, whose address they are constructed
/// with. std::pmr::polymorphic_allocator is in <memory_resource>, which takes long to compile.
template <class T, class Memory>
class memory_allocator {
public:
    using value_type = T;

    explicit memory_allocator(Memory* from) : from_(from), below_(from) {}
    template <class U>
    memory_allocator(const memory_allocator<U, Memory>& other) noexcept : from_(other.from_), below_(other.below_) {}

    T* allocate(std::size_t count) { return allocator<T, resource_ref>{below_}.allocate(count); }
    void deallocate(T* p, std::size_t count) noexcept { allocator<T, resource_ref>{below_}.deallocate(p, count); }
    template <class U, class... Arguments>
    void construct(U* p, Arguments&&... arguments) {
        detail::construct_with_allocator(p, from_, std::forward<Arguments>(arguments)...);
    }

    template <class U>
    friend bool operator==(const memory_allocator& a, const memory_allocator<U, Memory>& b) noexcept {
        return a.below_ == b.below_;
    }

private:
    template <class, class>
    friend class memory_allocator;

    Memory* from_;
    resource_ref below_;
};

/// Allocates objects of T for std::allocate_shared from an R, which it keeps alive.
template <class T, class R>
class owning_allocator {
public:
    using value_type = T;

    explicit owning_allocator(std::shared_ptr<R> from) noexcept : from_(std::move(from)) {}
    template <class U>
    owning_allocator(const owning_allocator<U, R>& other) noexcept : from_(other.from_) {}

    T* allocate(std::size_t count) { return plain().allocate(count); }
    void deallocate(T* p, std::size_t count) noexcept { plain().deallocate(p, count); }
    template <class U, class... Arguments>
    void construct(U* p, Arguments&&... arguments) {
        plain().construct(p, std::forward<Arguments>(arguments)...);
    }

    template <class U>
    friend bool operator==(const owning_allocator& a, const owning_allocator<U, R>& b) noexcept {
        return a.plain() == b.plain();
    }

private:
    template <class, class>
    friend class owning_allocator;

    allocator<T, R> plain() const noexcept { return {*from_}; }

    std::shared_ptr<R> from_;
};

/// A const or a temporary resource, or what leads to one as a handle that ends does.
template <class From>
concept const_or_temporary_resource =
    (resource<std::remove_cvref_t<From>> &&
     !(std::is_lvalue_reference_v<From> && resource<std::remove_reference_t<From>>)) ||
    leads_to_unfit_resource<From>;

/// What stands in place of the resource, unless a constructor of T takes it: then the call may be one of
/// std::make_unique. A standard memory resource is no resource.
template <class T, class From, class... Arguments>
concept stands_for_resource =
    (const_or_temporary_resource<From> || leads_to_resource<From>) && !standard_memory_resource<led_to_t<From>> &&
    !std::is_bounded_array_v<T> && !std::is_constructible_v<T, From, Arguments...>;

/// The resource that `from` leads to, on behalf of make_unique and make_shared.
template <class From>
decltype(auto) resource_in_place(From&& from) {
    static_assert(!const_or_temporary_resource<From>,
                  "acre: the resource of make_unique and make_shared is const, or ends with this statement: make it a "
                  "variable that is not const");
    if constexpr (const_or_temporary_resource<From>) {
        return heap{};
    } else {
        return detail::referred<led_to_t<From>>("acre::make_unique", std::forward<From>(from));
    }
}
}  // namespace detail

/// Stands for acre where argument-dependent lookup does not look, since no class is declared in it. Otherwise
/// make_unique<T>(resource) would call these also where a program says `using std::make_unique`.
namespace smart_pointers {

/// Constructs a T from `arguments` in storage of `from`. Throws what the resource and the constructor throw; then the
/// storage is free again. Without exceptions: an empty pointer when there is no memory.
template <class T, class R, class... Arguments>
    requires(!std::is_array_v<T> && resource<R>)
unique_ptr<T, R> make_unique(R& from, Arguments&&... arguments) {
    static_assert(
        !detail::misses_the_slots<T, R>(),
        "acre: the object does not fit a slot of this pool, and would take a block of its own from upstream: use "
        "acre::object_pool of its class, or acre::multi_pool");
    static_assert(detail::misses_the_slots<T, R>() || detail::may_lie_in<T, R>,
                  "acre: an object pool would visit and destroy this object as one of its own class: use "
                  "acre::object_pool of the object's class, or acre::multi_pool");
    return detail::unique_object<T>(from, allocator<std::remove_cv_t<T>, R>{from},
                                    std::forward<Arguments>(arguments)...);
}

/// As above, in storage of a standard memory resource, which must live longer. Null is a bad_option.
template <class T, standard_memory_resource M, class... Arguments>
    requires(!std::is_array_v<T>)
unique_ptr<T, resource_ref> make_unique(M* from, Arguments&&... arguments) {
    resource_ref below{from};
    return detail::unique_object<T>(below, static_cast<detail::pmr_interface<M>*>(from),
                                    std::forward<Arguments>(arguments)...);
}

/// Constructs `count` value-initialised objects in storage of `from`: make_unique<T[]>(from, count). Throws as above;
/// then the objects made before are destroyed.
template <class T, class R>
    requires(std::is_unbounded_array_v<T> && resource<R>)
unique_ptr<T, R> make_unique(R& from, std::size_t count) {
    using element = std::remove_extent_t<T>;
    static_assert(!detail::holds_one_class<R>,
                  "acre: an object pool would visit and destroy an array as one object of its own class: use "
                  "acre::multi_pool");
    return detail::unique_array<element>(from, allocator<std::remove_cv_t<element>, R>{from}, count);
}

/// As above, in storage of a standard memory resource, which must live longer. Null is a bad_option.
template <class T, standard_memory_resource M>
    requires(std::is_unbounded_array_v<T>)
unique_ptr<T, resource_ref> make_unique(M* from, std::size_t count) {
    resource_ref below{from};
    return detail::unique_array<std::remove_extent_t<T>>(below, static_cast<detail::pmr_interface<M>*>(from), count);
}

/// Refused, as the standard's: a unique_ptr to an array counts its objects at run time.
template <class T, class From, class... Arguments>
    requires(std::is_bounded_array_v<T>)
unique_ptr<std::remove_extent_t<T>[], resource_ref> make_unique(From&&, Arguments&&...) {
    static_assert(!std::is_bounded_array_v<T>,
                  "acre: make_unique<T[5]>(resource) is no array of five: write make_unique<T[]>(resource, 5)");
    return {};
}

/// As above, of a pointer to the resource, or of a handle. Null is a bad_option.
template <class T, class From>
    requires(std::is_unbounded_array_v<T> && detail::stands_for_resource<T, From>)
auto make_unique(From&& from, std::size_t count) {
    decltype(auto) below = detail::resource_in_place(std::forward<From>(from));
    return smart_pointers::make_unique<T>(below, count);
}
template <class T, class From, class... Arguments>
    requires(!std::is_array_v<T> && detail::stands_for_resource<T, From, Arguments...>)
auto make_unique(From&& from, Arguments&&... arguments) {
    decltype(auto) below = detail::resource_in_place(std::forward<From>(from));
    return smart_pointers::make_unique<T>(below, std::forward<Arguments>(arguments)...);
}

/// Constructs a T with shared owners: object and counts in one allocation from `from`.
template <class T, class R, class... Arguments>
    requires(resource<R>)
std::shared_ptr<T> make_shared(R& from, Arguments&&... arguments) {
    using object = std::remove_cv_t<std::remove_all_extents_t<T>>;
    if constexpr (detail::holds_one_class<R>) {
        static_assert(!detail::holds_one_class<R>,
                      "acre: an object pool has no room for the counts that make_shared puts beside the object: use "
                      "std::shared_ptr<T>{acre::make_unique<T>(pool, ...)}, or acre::multi_pool");
        return {};
    } else {
        return std::allocate_shared<T>(allocator<object, R>{from}, std::forward<Arguments>(arguments)...);
    }
}

/// As above, from a resource that the pointers keep alive: it ends when the last pointer and the last std::shared_ptr
/// to it ended. The counts of an object in an object pool lie in the heap. Null is a bad_option.
template <class T, class R, class... Arguments>
    requires(resource<R> && !std::is_constructible_v<T, const std::shared_ptr<R>&, Arguments...>)
std::shared_ptr<T> make_shared(std::shared_ptr<R> from, Arguments&&... arguments) {
    require_option(from != nullptr, "acre::make_shared", "resource", 0, "a pointer that is not null");
    if constexpr (detail::holds_one_class<R>) {
        static_assert(detail::keeps_objects_of<R, T>,
                      "acre: an object pool makes objects of its own class only: use acre::object_pool of the object's "
                      "class, or acre::multi_pool");
        auto* object = from->create(std::forward<Arguments>(arguments)...);
        if (!exceptions_enabled && object == nullptr) return nullptr;
        return std::shared_ptr<T>(object, [owned = std::move(from)](auto* ended) noexcept { owned->destroy(ended); });
    } else {
        using object = std::remove_cv_t<std::remove_all_extents_t<T>>;
        return std::allocate_shared<T>(detail::owning_allocator<object, R>{std::move(from)},
                                       std::forward<Arguments>(arguments)...);
    }
}

/// As above, from a standard memory resource, which must live longer. Null is a bad_option.
template <class T, standard_memory_resource M, class... Arguments>
std::shared_ptr<T> make_shared(M* from, Arguments&&... arguments) {
    using object = std::remove_cv_t<std::remove_all_extents_t<T>>;
    using memory = detail::pmr_interface<M>;
    return std::allocate_shared<T>(detail::memory_allocator<object, memory>{from},
                                   std::forward<Arguments>(arguments)...);
}

/// As above, of a pointer to the resource, or of a handle. Null is a bad_option.
template <class T, class From, class... Arguments>
    requires(detail::stands_for_resource<T, From, Arguments...>)
std::shared_ptr<T> make_shared(From&& from, Arguments&&... arguments) {
    decltype(auto) below = detail::resource_in_place(std::forward<From>(from));
    return smart_pointers::make_shared<T>(below, std::forward<Arguments>(arguments)...);
}

}  // namespace smart_pointers
using namespace smart_pointers;

}  // namespace acre
