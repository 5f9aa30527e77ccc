// An R whose every allocation and release passes a meter: what acre::statistics, acre::limited and acre::traced have in
// common. It keeps R's interface, whether storage comes and goes by size (allocate/deallocate), by object
// (create/destroy), by text (copy, format) or all at once (reset, rewind, release). Used by those, not directly.
//
// What the meter has (all noexcept, inline):
//   bool reserve(bytes)           before a request: false refuses it
//   void refuse(bytes)            the only one that may throw: says why reserve() said no
//   void served(r, p, bytes, alignment)   the request was served from r
//   void failed(bytes)            the request was reserved and not served
//   void freed(p, bytes)          before storage goes back
//   void unreserve(bytes), resized(p, old_bytes, new_bytes)   growing in place failed, or went well
//   void all_freed(), mark(), rewind(mark)                    all at once
//   is_watching(), working(), pausing()   whether it does, and objects that live while R works to serve a request, and
//   while within that the program's
//                                 own constructors run; or, as base, unwatched_work
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/construct.hpp>
#include <acre/core/detail/forwarding.hpp>
#include <acre/core/resource.hpp>
#include <cstdarg>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace acre::detail {

/// Base of a meter that does not mind when R works and when the program's constructors do.
struct unwatched_work {};

template <class Meter>
concept watches_work = !std::is_base_of_v<unwatched_work, Meter>;

/// Constructs a T where R has put it, while the meter looks away from R's work. Of T's size and alignment.
template <class Meter, class T>
struct made_outside {
    template <class... Arguments>
    explicit made_outside(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>)
        : object(make(std::forward<Arguments>(arguments)...)) {}

    T object;

private:
    template <class... Arguments>
    static T make(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
        if (!Meter::is_watching()) return T(std::forward<Arguments>(arguments)...);
        const auto outside = Meter::pausing();
        return T(std::forward<Arguments>(arguments)...);
    }
};

/// An R that tells `Meter` what is asked of it.
template <resource R, class Meter>
class instrumented : public R {
public:
    using R::R;
    instrumented() = default;
    /// What was instrumented goes along with the storage.
    instrumented(instrumented&& other) noexcept
        requires std::is_move_constructible_v<R>
        : R(std::move(static_cast<R&>(other))), meter_(std::move(other.meter_)) {}
    instrumented& operator=(instrumented&& other) noexcept
        requires std::is_move_assignable_v<R>
    {
        if (this == &other) return *this;
        R::operator=(std::move(static_cast<R&>(other)));
        meter_ = std::move(other.meter_);
        return *this;
    }
    instrumented(const instrumented&) = delete;
    instrumented& operator=(const instrumented&) = delete;

    // By size.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (hooks_off()) [[likely]]
            return R::allocate(bytes, alignment);
        return request<true>(bytes, alignment, at_work([&] { return R::allocate(bytes, alignment); }));
    }
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (hooks_off()) [[likely]]
            return R::try_allocate(bytes, alignment);
        return request<false>(bytes, alignment, at_work([&] { return R::try_allocate(bytes, alignment); }));
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (hooks_off()) [[likely]]
            return R::deallocate(p, bytes, alignment);
        if (p != nullptr) meter_.freed(p, bytes);
        at_work([&] { R::deallocate(p, bytes, alignment); })();
    }
    void deallocate_moved(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept
        requires requires(R& r) { r.deallocate_moved(p, bytes, alignment); }
    {
        if (p != nullptr) meter_.freed(p, bytes);
        at_work([&] { R::deallocate_moved(p, bytes, alignment); })();
    }
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept
        requires resizable_resource<R>
    {
        const std::size_t more = new_bytes > old_bytes ? new_bytes - old_bytes : 0;
        if (!meter_.reserve(more)) return false;
        if (!R::try_resize(p, old_bytes, new_bytes)) {
            meter_.unreserve(more);
            return false;
        }
        meter_.resized(p, old_bytes, new_bytes);
        return true;
    }

    // Slots of a pool.
    void* allocate()
        requires requires(R& r) { r.allocate(); }
    {
        return request<true>(R::geometry.slot_bytes, default_alignment, at_work([&] { return R::allocate(); }));
    }
    void* try_allocate() noexcept
        requires requires(R& r) { r.try_allocate(); }
    {
        return request<false>(R::geometry.slot_bytes, default_alignment, at_work([&] { return R::try_allocate(); }));
    }
    void deallocate(void* p) noexcept
        requires requires(R& r, void* slot) { r.deallocate(slot); }
    {
        if (p != nullptr) meter_.freed(p, R::geometry.slot_bytes);
        at_work([&] { R::deallocate(p); })();
    }

    // Objects of an object pool.
    template <class... Arguments>
        requires of_one_type<R>
    auto create(Arguments&&... arguments) {
        using value = typename R::value_type;
        return request<true>(sizeof(value), alignof(value), [&] {
            if constexpr (watches_work<Meter>) {
                return construct_value(at_work([this] { return R::allocate(sizeof(value), alignof(value)); })(),
                                       std::forward<Arguments>(arguments)...);
            } else {
                return R::create(std::forward<Arguments>(arguments)...);
            }
        });
    }
    template <class... Arguments>
        requires of_one_type<R>
    auto try_create(Arguments&&... arguments) {
        using value = typename R::value_type;
        return request<false>(sizeof(value), alignof(value), [&] {
            if constexpr (watches_work<Meter>) {
                void* place = at_work([this] { return R::try_allocate(sizeof(value), alignof(value)); })();
                return place == nullptr ? nullptr : construct_value(place, std::forward<Arguments>(arguments)...);
            } else {
                return R::try_create(std::forward<Arguments>(arguments)...);
            }
        });
    }
    template <class Pointer>
        requires requires(R& r, Pointer object) { r.destroy(object); }
    void destroy(Pointer object) noexcept {
        if (object != nullptr) meter_.freed(object, size_of_object<Pointer>());
        R::destroy(object);
    }

    // Objects and arrays in an arena.
    template <class T>
        requires requires(R& r, std::size_t count) { r.template allocate<T>(count); }
    std::span<T> allocate(std::size_t count) {
        return request<true>(count * sizeof(T), alignof(T), at_work([&] { return R::template allocate<T>(count); }));
    }
    template <class T>
        requires requires(R& r, std::size_t count) { r.template try_allocate<T>(count); }
    std::span<T> try_allocate(std::size_t count) noexcept {
        return request<false>(count * sizeof(T), alignof(T),
                              at_work([&] { return R::template try_allocate<T>(count); }));
    }
    template <class T, class... Arguments>
        requires requires(R& r, Arguments&&... a) { r.template create<T>(std::forward<Arguments>(a)...); } &&
                 (!of_one_type<R>)
    T* create(Arguments&&... arguments) {
        return request<true>(
            sizeof(T), alignof(T), at_work([&] {
                return made_object<T>(R::template create<made<T>>(std::forward<Arguments>(arguments)...));
            }));
    }
    template <class T, class... Arguments>
        requires requires(R& r, Arguments&&... a) { r.template try_create<T>(std::forward<Arguments>(a)...); } &&
                 (!of_one_type<R>)
    T* try_create(Arguments&&... arguments) {
        return request<false>(
            sizeof(T), alignof(T), at_work([&] {
                return made_object<T>(R::template try_create<made<T>>(std::forward<Arguments>(arguments)...));
            }));
    }
    template <class T>
        requires requires(R& r, std::size_t count) { r.template create_array<T>(count); }
    std::span<T> create_array(std::size_t count) {
        return request<true>(count * sizeof(T), alignof(T),
                             at_work([&] { return R::template create_array<T>(count); }));
    }
    template <class T>
        requires requires(R& r, std::size_t count) { r.template try_create_array<T>(count); }
    std::span<T> try_create_array(std::size_t count) {
        return request<false>(count * sizeof(T), alignof(T),
                              at_work([&] { return R::template try_create_array<T>(count); }));
    }

    // Texts in an arena, their zero byte included.
    std::string_view copy(std::string_view text)
        requires requires(R& r) { r.copy(text); }
    {
        return request<true>(text.size() + 1, 1, at_work([&] { return R::copy(text); }));
    }
    std::string_view try_copy(std::string_view text) noexcept
        requires requires(R& r) { r.try_copy(text); }
    {
        return request<false>(text.size() + 1, 1, at_work([&] { return R::try_copy(text); }));
    }
    template <class T>
        requires requires(R& r, std::span<const T> values) { r.copy(values); }
    std::span<T> copy(std::span<const T> values) {
        return request<true>(values.size_bytes(), alignof(T), at_work([&] { return R::copy(values); }));
    }
    template <class T>
        requires requires(R& r, std::span<const T> values) { r.try_copy(values); }
    std::span<T> try_copy(std::span<const T> values) noexcept {
        return request<false>(values.size_bytes(), alignof(T), at_work([&] { return R::try_copy(values); }));
    }
    [[gnu::format(printf, 2, 3)]] std::string_view format(const char* pattern, ...)
        requires requires(R& r, std::va_list list) { r.format_list(pattern, list); }
    {
        std::va_list arguments;
        va_start(arguments, pattern);
        const std::string_view result = format_list(pattern, arguments);
        va_end(arguments);
        return result;
    }
    [[gnu::format(printf, 2, 0)]] std::string_view format_list(const char* pattern, std::va_list arguments)
        requires requires(R& r) { r.format_list(pattern, arguments); }
    {
        return format_text([this](std::size_t bytes) { return allocate(bytes, 1); }, pattern, arguments);
    }
    [[gnu::format(printf, 2, 3)]] std::string_view try_format(const char* pattern, ...) noexcept
        requires requires(R& r, std::va_list list) { r.try_format_list(pattern, list); }
    {
        std::va_list arguments;
        va_start(arguments, pattern);
        const std::string_view result = try_format_list(pattern, arguments);
        va_end(arguments);
        return result;
    }
    [[gnu::format(printf, 2, 0)]] std::string_view try_format_list(const char* pattern, std::va_list arguments) noexcept
        requires requires(R& r) { r.try_format_list(pattern, arguments); }
    {
        return format_text([this](std::size_t bytes) { return try_allocate(bytes, 1); }, pattern, arguments);
    }

    /// The place reached, with what is live there.
    auto mark() const
        requires requires(const R& r) { r.mark(); }
    {
        return marked<decltype(R::mark())>{R::mark(), meter_.mark()};
    }
    template <class Mark>
        requires requires(R& r, const Mark& where) { r.rewind(where.place); }
    void rewind(const Mark& where) noexcept {
        R::rewind(where.place);
        meter_.rewind(where.instrumented);
    }

    // Everything at once: nothing is live afterwards.
    template <class... Arguments>
        requires requires(R& r, Arguments&&... a) { r.reset(std::forward<Arguments>(a)...); }
    void reset(Arguments&&... arguments) {
        R::reset(std::forward<Arguments>(arguments)...);
        meter_.all_freed();
    }
    void release() noexcept
        requires requires(R& r) { r.release(); }
    {
        R::release();
        meter_.all_freed();
    }
    void clear() noexcept
        requires requires(R& r) { r.clear(); }
    {
        R::clear();
        meter_.all_freed();
    }

protected:
    /// R is constructed from `arguments`.
    template <class... Arguments>
    explicit instrumented(Meter&& meter, Arguments&&... arguments)
        : R(std::forward<Arguments>(arguments)...), meter_(std::move(meter)) {}

    Meter& meter() noexcept { return meter_; }
    const Meter& meter() const noexcept { return meter_; }

private:
    template <class Place>
    struct marked {
        Place place;
        decltype(std::declval<const Meter&>().mark()) instrumented;
    };

    // What create was instrumented with.
    template <class Pointer>
    static constexpr std::size_t size_of_object() noexcept {
        if constexpr (of_one_type<R>) {
            return sizeof(typename R::value_type);
        } else {
            return sizeof(std::remove_pointer_t<Pointer>);
        }
    }

    static const void* address_of(const void* p) noexcept { return p; }
    static const void* address_of(std::string_view text) noexcept { return text.data(); }
    template <class T>
    static const void* address_of(std::span<T> storage) noexcept {
        return storage.data();
    }

    // Tells the meter when the request gives nothing, or throws.
    struct failure_guard {
        Meter& meter;
        std::size_t bytes;
        bool failed = true;
        ~failure_guard() {
            if (failed) meter.failed(bytes);
        }
    };

    // R's most frequent calls are then made directly, so that they are inline as they are without a meter.
    static bool hooks_off() noexcept {
        if constexpr (watches_work<Meter>) {
            return !Meter::is_watching();
        } else {
            return false;
        }
    }

    // `work`, and the meter knows while R does it.
    template <class Work>
    static auto at_work(Work work) {
        if constexpr (watches_work<Meter>) {
            return [work] {
                if (hooks_off()) return work();
                const auto period = Meter::working();
                return work();
            };
        } else {
            return work;
        }
    }

    // What R is asked to create in place of a T.
    template <class T>
    using made = std::conditional_t<watches_work<Meter> && std::is_class_v<T>, made_outside<Meter, T>, T>;

    template <class T>
    static T* made_object(T* object) noexcept {
        return object;
    }
    template <class T>
    static T* made_object(made_outside<Meter, T>* object) noexcept {
        return object == nullptr ? nullptr : std::addressof(object->object);
    }

    // As R::create, in storage that R has given.
    template <class... Arguments>
    auto construct_value(void* place, Arguments&&... arguments) {
        using value = typename R::value_type;
        return construct_at_or<value>(
            place, [this, place]() noexcept { R::deallocate(place, sizeof(value), alignof(value)); },
            std::forward<Arguments>(arguments)...);
    }

    template <bool Raises, class Request>
    auto request(std::size_t bytes, std::size_t alignment, Request serve) {
        if (!meter_.reserve(bytes)) [[unlikely]] {
            if constexpr (Raises) meter_.refuse(bytes);
            return decltype(serve()){};
        }
        failure_guard guard{meter_, bytes};
        auto result = serve();
        if (const void* p = address_of(result)) {
            guard.failed = false;
            meter_.served(static_cast<const R&>(*this), p, bytes, alignment);
        }
        return result;
    }

    Meter meter_{};
};

}  // namespace acre::detail
