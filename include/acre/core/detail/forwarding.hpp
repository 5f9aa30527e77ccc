// The members of resources, each written once for the types that wrap a resource and keep its interface: acre::scratch,
// acre::synchronized, and through acre::detail::instrumented acre::statistics, acre::limited and acre::traced.
//
// A wrapper of an R derives from one of three layers and has one hook, around(call, function), which runs function(r)
// on its R. `call` tells the kind of call (request_call, free_call, ...): instrumented acts on it, the others ignore
// it. The layers, each with the one before as base:
//   forwarded_requests   allocate, deallocate, try_resize, create, copy, format, ...
//   forwarded_resets     reset, release, deallocate_all
//   forwarded_queries    capacity, used, owns, and R's other queries
// A member exists where R has it. To forward a new member of a resource, add it here.
//
// Cost: none; around() and the functions passed to it are inlined. Thread rules: those of the wrapper.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/construct.hpp>
#include <acre/core/detail/format_text.hpp>
#include <acre/core/detail/no_clear.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <concepts>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace acre::detail {

/// Nothing can be converted to it: stands for the options of a resource that has none.
struct no_options {
    no_options() = delete;
};

template <class R>
struct options_of_impl {
    using type = no_options;
};
template <class R>
    requires requires { typename R::options_type; }
struct options_of_impl<R> {
    using type = typename R::options_type;
};

/// The options that R is constructed with, so that they can be written as {.name = value}.
template <class R>
using options_of = typename options_of_impl<R>::type;

/// Base with R's options_type, if there is one.
template <class R>
struct has_options {};
template <class R>
    requires requires { typename R::options_type; }
struct has_options<R> {
    using options_type = typename R::options_type;
};

/// Base with R's value_type, the objects of an object pool, and what may lie there.
template <class R>
struct has_values {};
template <class R>
    requires requires { typename R::value_type; }
struct has_values<R> {
    using value_type = typename R::value_type;
    template <class T>
    static constexpr bool holds = may_lie_in<T, R>;
};

/// Base with R's geometry: the slots of a pool.
template <class R>
struct has_slots {};
template <class R>
    requires requires { R::geometry; }
struct has_slots<R> {
    static constexpr auto geometry = R::geometry;
    static constexpr bool serves(std::size_t bytes, std::size_t alignment) noexcept {
        return R::serves(bytes, alignment);
    }
};

/// True when R creates objects of one type, which it names.
template <class R>
concept of_one_type = requires { typename R::value_type; };

// The kinds of calls that around() is told.

/// Returns storage or an object. `Throws`: not a try_ member. `Constructs`: the object's constructor runs in the call.
template <bool Throws, bool Constructs = false>
struct request_call {
    std::size_t bytes;
    std::size_t alignment;
};
/// Takes storage back; `p` may be null.
struct free_call {
    const void* p;
    std::size_t bytes;
};
/// As free_call, after the object's destructor has run.
struct destroy_call {
    const void* p;
    std::size_t bytes;
};
struct resize_call {
    const void* p;
    std::size_t old_bytes;
    std::size_t new_bytes;
};
/// Takes everything back; destructors of objects may run.
struct free_all_call {};
/// Neither hands out nor takes back storage.
struct query_call {};

/// Stands for no base. Each class has a type of its own, so that the empty base takes no space.
template <class Derived>
struct no_base : no_clear<Derived> {};

/// True when R has the members of typed_calls. `void` stands for a class that has them itself.
template <class R>
concept has_typed_calls = std::is_void_v<R> || requires(R& r, std::string_view text) { r.copy(text); };

/// Arrays and texts in storage from Derived's allocate and try_allocate, each as one request. acre::arena and
/// acre::concurrent_arena inherit these members, and so do the wrappers of an R that has them.
template <class Derived, class R = void, class Base = no_base<Derived>>
class typed_calls : public Base {
public:
    using Base::Base;
    typed_calls() = default;

    /// Uninitialised storage for one T, a type that needs no destructor. Throws as allocate.
    template <class T>
        requires has_typed_calls<R>
    [[nodiscard]] T* allocate() {
        static_assert(std::is_trivially_destructible_v<T>, "acre: nobody would destroy this: use arena::create");
        return static_cast<T*>(self().allocate(sizeof(T), alignof(T)));
    }

    /// As allocate<T>(), but null when it cannot.
    template <class T>
        requires has_typed_calls<R>
    T* try_allocate() noexcept {
        static_assert(std::is_trivially_destructible_v<T>, "acre: nobody would destroy this: use arena::try_create");
        return static_cast<T*>(self().try_allocate(sizeof(T), alignof(T)));
    }

    /// Uninitialised storage for `count` objects of T, a type that needs no destructor. Throws as allocate.
    template <class T>
        requires has_typed_calls<R>
    [[nodiscard]] std::span<T> allocate(std::size_t count) {
        static_assert(std::is_trivially_destructible_v<T>, "acre: nobody would destroy these: use arena::create_array");
        const std::size_t bytes = array_bytes(count, sizeof(T)).value_or(too_many_bytes);
        return span_of<T>(self().allocate(bytes, alignof(T)), count);
    }

    /// As allocate<T>, but an empty span whose data() is null when it cannot.
    template <class T>
        requires has_typed_calls<R>
    std::span<T> try_allocate(std::size_t count) noexcept {
        static_assert(std::is_trivially_destructible_v<T>,
                      "acre: nobody would destroy these: use arena::try_create_array");
        const std::size_t bytes = array_bytes(count, sizeof(T)).value_or(too_many_bytes);
        return span_of<T>(self().try_allocate(bytes, alignof(T)), count);
    }

    /// A copy of `text`, followed by a zero byte that is not part of the view. Throws as allocate.
    std::string_view copy(std::string_view text)
        requires has_typed_calls<R>
    {
        void* storage = self().allocate(text.size() + 1, 1);
        return !exceptions_enabled && storage == nullptr ? std::string_view{} : copy_into(storage, text);
    }

    /// As copy, but a view whose data() is null when there is no memory.
    std::string_view try_copy(std::string_view text) noexcept
        requires has_typed_calls<R>
    {
        void* storage = self().try_allocate(text.size() + 1, 1);
        return storage == nullptr ? std::string_view{} : copy_into(storage, text);
    }

    /// A copy of `values`, whose type is trivially copyable. Throws as allocate.
    template <class T>
        requires has_typed_calls<R>
    std::span<T> copy(std::span<const T> values) {
        return copy_into(allocate<T>(values.size()), values);
    }

    /// As copy, but an empty span whose data() is null when there is no memory.
    template <class T>
        requires has_typed_calls<R>
    std::span<T> try_copy(std::span<const T> values) noexcept {
        return copy_into(try_allocate<T>(values.size()), values);
    }

    /// Text formatted as std::printf does, followed by a zero byte that is not part of the view. Throws as allocate.
    [[gnu::format(printf, 2, 3)]] std::string_view format(const char* pattern, ...)
        requires has_typed_calls<R>
    {
        std::va_list arguments;
        va_start(arguments, pattern);
        const std::string_view result = format_list(pattern, arguments);
        va_end(arguments);
        return result;
    }

    /// As format, but a view whose data() is null when there is no memory.
    [[gnu::format(printf, 2, 3)]] std::string_view try_format(const char* pattern, ...) noexcept
        requires has_typed_calls<R>
    {
        std::va_list arguments;
        va_start(arguments, pattern);
        const std::string_view result = try_format_list(pattern, arguments);
        va_end(arguments);
        return result;
    }

    /// As format and try_format, over an argument list.
    [[gnu::format(printf, 2, 0)]] std::string_view format_list(const char* pattern, std::va_list arguments)
        requires has_typed_calls<R>
    {
        return format_text([this](std::size_t bytes) { return self().allocate(bytes, 1); }, pattern, arguments);
    }
    [[gnu::format(printf, 2, 0)]] std::string_view try_format_list(const char* pattern, std::va_list arguments) noexcept
        requires has_typed_calls<R>
    {
        return format_text([this](std::size_t bytes) { return self().try_allocate(bytes, 1); }, pattern, arguments);
    }

protected:
    template <class T>
    static std::span<T> span_of(void* p, std::size_t count) noexcept {
        return {static_cast<T*>(p), p == nullptr ? 0 : count};
    }

    // Requested in place of a count whose bytes exceed the address space: every resource refuses it.
    static constexpr std::size_t too_many_bytes = SIZE_MAX;

private:
    Derived& self() noexcept { return static_cast<Derived&>(*this); }

    static std::string_view copy_into(void* storage, std::string_view text) noexcept {
        auto* copied = static_cast<char*>(storage);
        if (!text.empty()) std::memcpy(copied, text.data(), text.size());
        copied[text.size()] = '\0';
        return detail::view_of(copied, text.size());
    }

    template <class T>
    static std::span<T> copy_into(std::span<T> storage, std::span<const T> values) noexcept {
        static_assert(std::is_trivially_copyable_v<T>, "acre: values that are not copied as bytes: use create");
        if (!storage.empty()) std::memcpy(storage.data(), values.data(), values.size_bytes());
        return storage;
    }
};

/// A query without arguments, which returns a copy.
#define ACRE_FORWARD_QUERY(name)                                                                                    \
    auto name() const noexcept(noexcept(std::declval<const R&>().name()))                                           \
        requires requires(const R& r) { r.name(); }                                                                 \
    {                                                                                                               \
        return this->call(query_call{}, [](const R& each) noexcept(noexcept(each.name())) { return each.name(); }); \
    }

/// First layer: requests for storage and objects, one by one.
template <class Derived, class R, class Base = no_base<Derived>>
class forwarded_requests : public typed_calls<Derived, R, Base> {
    using typed = typed_calls<Derived, R, Base>;

public:
    using typed::typed;
    forwarded_requests() = default;

    using typed::allocate;
    using typed::try_allocate;

    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        return call(request_call<true>{bytes, alignment}, [=](R& r) { return r.allocate(bytes, alignment); });
    }
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        return call(request_call<false>{bytes, alignment}, [=](R& r) { return r.try_allocate(bytes, alignment); });
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        call(free_call{p, bytes}, [=](R& r) { r.deallocate(p, bytes, alignment); });
    }
    void deallocate_moved(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept
        requires requires(R& r) { r.deallocate_moved(p, bytes, alignment); }
    {
        call(free_call{p, bytes}, [=](R& r) { r.deallocate_moved(p, bytes, alignment); });
    }
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept
        requires resizable_resource<R>
    {
        return call(resize_call{p, old_bytes, new_bytes}, [=](R& r) { return r.try_resize(p, old_bytes, new_bytes); });
    }

    // Slots of a pool.
    void* allocate()
        requires requires(R& r) { r.allocate(); }
    {
        return call(request_call<true>{R::geometry.slot_bytes, default_alignment}, [](R& r) { return r.allocate(); });
    }
    void* try_allocate() noexcept
        requires requires(R& r) { r.try_allocate(); }
    {
        return call(request_call<false>{R::geometry.slot_bytes, default_alignment},
                    [](R& r) { return r.try_allocate(); });
    }
    void deallocate(void* p) noexcept
        requires requires(R& r, void* slot) { r.deallocate(slot); }
    {
        call(free_call{p, R::geometry.slot_bytes}, [=](R& r) { r.deallocate(p); });
    }

    // Objects of an object pool.
    template <class... Arguments>
        requires of_one_type<R>
    auto create(Arguments&&... arguments) {
        return create_as<true, typename R::value_type>(std::forward<Arguments>(arguments)...);
    }
    template <class... Arguments>
        requires of_one_type<R>
    auto try_create(Arguments&&... arguments) {
        return create_as<false, typename R::value_type>(std::forward<Arguments>(arguments)...);
    }
    template <class Pointer>
        requires requires(R& r, Pointer object) { r.destroy(object); }
    void destroy(Pointer object) noexcept {
        call(destroy_call{object, size_of_object<Pointer>()}, [=](R& r) { r.destroy(object); });
    }

    // Objects and arrays in an arena.
    template <class T, class... Arguments>
        requires requires(R& r, Arguments&&... a) { r.template create<T>(std::forward<Arguments>(a)...); } &&
                 (!of_one_type<R>)
    T* create(Arguments&&... arguments) {
        return create_as<true, T>(std::forward<Arguments>(arguments)...);
    }
    template <class T, class... Arguments>
        requires requires(R& r, Arguments&&... a) { r.template try_create<T>(std::forward<Arguments>(a)...); } &&
                 (!of_one_type<R>)
    T* try_create(Arguments&&... arguments) {
        return create_as<false, T>(std::forward<Arguments>(arguments)...);
    }
    template <class T, class... Arguments>
        requires requires(R& r, const Arguments&... a) { r.template create_array<T>(0, a...); }
    std::span<T> create_array(std::size_t count, const Arguments&... arguments) {
        return call(request_call<true>{count * sizeof(T), alignof(T)},
                    [&](R& r) { return r.template create_array<T>(count, arguments...); });
    }
    template <class T, class... Arguments>
        requires requires(R& r, const Arguments&... a) { r.template try_create_array<T>(0, a...); }
    std::span<T> try_create_array(std::size_t count, const Arguments&... arguments) {
        return call(request_call<false>{count * sizeof(T), alignof(T)},
                    [&](R& r) { return r.template try_create_array<T>(count, arguments...); });
    }

    // What still fits without an upstream call.
    ACRE_FORWARD_QUERY(remaining)

protected:
    template <class Call, class Function>
    [[gnu::always_inline]] auto call(const Call& asked, Function&& function) {
        return static_cast<Derived&>(*this).around(asked, std::forward<Function>(function));
    }
    template <class Call, class Function>
    [[gnu::always_inline]] auto call(const Call& asked, Function&& function) const {
        return static_cast<const Derived&>(*this).around(asked, std::forward<Function>(function));
    }

    /// Second hook: creates a T in `r`. A wrapper that must know when the constructor runs replaces it.
    template <bool Throws, class T, class... Arguments>
    [[gnu::always_inline]] static T* create_in(R& r, Arguments&&... arguments) {
        if constexpr (of_one_type<R> && Throws) {
            return r.create(std::forward<Arguments>(arguments)...);
        } else if constexpr (of_one_type<R>) {
            return r.try_create(std::forward<Arguments>(arguments)...);
        } else if constexpr (Throws) {
            return r.template create<T>(std::forward<Arguments>(arguments)...);
        } else {
            return r.template try_create<T>(std::forward<Arguments>(arguments)...);
        }
    }

private:
    template <bool Throws, class T, class... Arguments>
    T* create_as(Arguments&&... arguments) {
        return call(request_call<Throws, true>{sizeof(T), alignof(T)}, [&](R& r) {
            return Derived::template create_in<Throws, T>(r, std::forward<Arguments>(arguments)...);
        });
    }

    template <class Pointer>
    static constexpr std::size_t size_of_object() noexcept {
        if constexpr (of_one_type<R>) {
            return sizeof(typename R::value_type);
        } else {
            return sizeof(std::remove_pointer_t<Pointer>);
        }
    }
};

/// Second layer: everything at once.
template <class Derived, class R, class Base = no_base<Derived>>
class forwarded_resets : public forwarded_requests<Derived, R, Base> {
public:
    using forwarded_requests<Derived, R, Base>::forwarded_requests;
    forwarded_resets() = default;

    template <class... Arguments>
        requires requires(R& r, Arguments&&... a) { r.reset(std::forward<Arguments>(a)...); }
    void reset(Arguments&&... arguments) {
        this->call(free_all_call{}, [&](R& r) { r.reset(std::forward<Arguments>(arguments)...); });
    }
    void release() noexcept
        requires requires(R& r) { r.release(); }
    {
        this->call(free_all_call{}, [](R& r) { r.release(); });
    }
    void deallocate_all() noexcept
        requires requires(R& r) { r.deallocate_all(); }
    {
        this->call(free_all_call{}, [](R& r) { r.deallocate_all(); });
    }
};

/// Third layer: R's queries, for a wrapper that does not derive from R. Results are copies.
template <class Derived, class R>
class forwarded_queries : public forwarded_resets<Derived, R> {
public:
    bool owns(const void* p) const noexcept
        requires owning_resource<R>
    {
        return this->call(query_call{}, [=](const R& r) { return r.owns(p); });
    }
    template <std::integral... Numbers>
        requires requires(Numbers... n) { R::required_bytes(static_cast<std::size_t>(n)...); }
    static constexpr std::size_t required_bytes(Numbers... n) noexcept {
        return R::required_bytes(static_cast<std::size_t>(n)...);
    }
    static constexpr std::size_t bytes_given(std::size_t bytes, std::size_t alignment) noexcept
        requires requires { R::bytes_given(bytes, alignment); }
    {
        return R::bytes_given(bytes, alignment);
    }
    std::size_t release_unused() noexcept
        requires requires(R& r) { r.release_unused(); }
    {
        return this->call(query_call{}, [](R& r) { return r.release_unused(); });
    }

    // Of a chunk_pool. Its frees do not need to know the bytes.
    void deallocate_unsized(void* p) noexcept
        requires requires(R& r) { r.deallocate_unsized(p); }
    {
        this->call(query_call{}, [=](R& r) { r.deallocate_unsized(p); });
    }
    std::size_t class_of(const void* p) const noexcept
        requires requires(const R& r) { r.class_of(p); }
    {
        return this->call(query_call{}, [=](const R& r) { return r.class_of(p); });
    }
    template <class T>
        requires requires(R& r, T* first) { r.destroy_array(first); }
    void destroy_array(T* first) noexcept {
        this->call(query_call{}, [=](R& r) { r.destroy_array(first); });
    }

    ACRE_FORWARD_QUERY(broken_invariant)
    ACRE_FORWARD_QUERY(capacity)
    ACRE_FORWARD_QUERY(used)
    ACRE_FORWARD_QUERY(wasted)
    ACRE_FORWARD_QUERY(live)
    ACRE_FORWARD_QUERY(slots)
    // Of a multi-arena.
    ACRE_FORWARD_QUERY(arenas)
    ACRE_FORWARD_QUERY(arena_bytes)
    ACRE_FORWARD_QUERY(busy_arenas)
    ACRE_FORWARD_QUERY(allocations)
    ACRE_FORWARD_QUERY(fallen_back_bytes)
    ACRE_FORWARD_QUERY(refusals)
    // Of virtual_memory and the general heap.
    ACRE_FORWARD_QUERY(start)
    ACRE_FORWARD_QUERY(reserved)
    ACRE_FORWARD_QUERY(obtained)
    ACRE_FORWARD_QUERY(last_refusal)
    ACRE_FORWARD_QUERY(figures)
    // Of acre::limited.
    ACRE_FORWARD_QUERY(limit_bytes)
    ACRE_FORWARD_QUERY(live_bytes)
    ACRE_FORWARD_QUERY(peak_bytes)
    ACRE_FORWARD_QUERY(live_count)
    // Of acre::statistics.
    ACRE_FORWARD_QUERY(counts)
    ACRE_FORWARD_QUERY(report)
    ACRE_FORWARD_QUERY(live_allocations)
    ACRE_FORWARD_QUERY(live_by_address)
    ACRE_FORWARD_QUERY(live_sizes)
    ACRE_FORWARD_QUERY(requested_sizes)
    ACRE_FORWARD_QUERY(unrecorded)
    ACRE_FORWARD_QUERY(peak_busy_arenas)

    auto live_bytes_at(const void* p) const noexcept
        requires requires(const R& r) { r.live_bytes_at(p); }
    {
        return this->call(query_call{}, [=](const R& r) { return r.live_bytes_at(p); });
    }
    std::size_t report_leaks(std::FILE* to) const noexcept
        requires requires(const R& r) { r.report_leaks(to); }
    {
        return this->call(query_call{}, [=](const R& r) { return r.report_leaks(to); });
    }
    void reset_counts() noexcept
        requires requires(R& r) { r.reset_counts(); }
    {
        this->call(query_call{}, [](R& r) { r.reset_counts(); });
    }
    bool push_scope()
        requires requires(R& r) { r.push_scope(); }
    {
        return this->call(query_call{}, [](R& r) { return r.push_scope(); });
    }
    auto pop_scope() noexcept
        requires requires(R& r) { r.pop_scope(); }
    {
        return this->call(query_call{}, [](R& r) { return r.pop_scope(); });
    }
};

#undef ACRE_FORWARD_QUERY

}  // namespace acre::detail
