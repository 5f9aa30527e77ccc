// An R whose every allocation and release passes a meter: what acre::statistics, acre::limited and acre::traced have in
// common. It derives from R and keeps R's interface (acre/core/detail/forwarding.hpp). Used by those, not directly.
//
// What the meter has (all noexcept, inline):
//   bool reserve(bytes)                      before a request: false refuses it
//   void refuse(bytes)                       says why reserve() refused; the only member that may throw
//   void served(r, p, bytes, alignment)      R served the request
//   void failed(bytes)                       the request was reserved, and R refused it or threw
//   void freed(p, bytes)                     before storage goes back
//   void unreserve(bytes), resized(p, old_bytes, new_bytes)   R refused to resize in place, or did it
//   void all_freed(), mark(), rewind(mark)   everything goes back at once, or down to a mark
// A meter whose members several threads may call at once says so: static constexpr bool shared_by_threads = true.
// A meter to which the bytes of a freed object do not matter says: static constexpr bool ignores_sizes = true.
// A meter that has to tell R's own upstream calls from the program's has three static members more:
//   bool is_watching()      whether hooks are on; while they are off, calls go straight to R
//   working(), pausing()    guards held while R serves a call, and while a constructor of the program runs within
//
// Cost: that of R and of the meter. Thread rules: those of the meter.
#pragma once

#include <acre/core/detail/construct.hpp>
#include <acre/core/detail/forwarding.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/resource.hpp>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace acre::detail {

template <class Meter>
concept has_work_guards = requires {
    Meter::is_watching();
    Meter::working();
    Meter::pausing();
};

/// A T whose constructor runs while `Meter` is paused. Of T's size and alignment.
template <class Meter, class T>
struct constructed_paused {
    template <class... Arguments>
    explicit constructed_paused(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>)
        : object(make(std::forward<Arguments>(arguments)...)) {}

    T object;

private:
    template <class... Arguments>
    static T make(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
        if (!Meter::is_watching()) return T(std::forward<Arguments>(arguments)...);
        const auto pause = Meter::pausing();
        return T(std::forward<Arguments>(arguments)...);
    }
};

/// R, a base class of its wrapper.
template <class R>
struct held_resource {
    static_assert(!std::is_reference_v<R>,
                  "acre: statistics, limited, traced and logged hold the resource that they watch: write "
                  "limited<arena>, or limited<resource_ref> over one that is elsewhere");
    using type = std::remove_reference_t<R>;
};

/// An R that reports each call to `Meter`.
template <resource R, class Meter>
class instrumented : public forwarded_resets<instrumented<R, Meter>, R, typename held_resource<R>::type> {
    using base = forwarded_resets<instrumented, R, R>;
    friend forwarded_requests<instrumented, R, R>;
    static_assert(
        !requires { typename R::lock_type; },
        "acre: the lock goes outside: write synchronized<statistics<R>>, synchronized<limited<R>> or "
        "synchronized<traced<R>>");
    static_assert(
        !shared_resource<R> || requires { requires Meter::shared_by_threads; },
        "acre: threads share this resource, and the counters of statistics<R> and limited<R> are for one thread: use a "
        "resource for one thread in synchronized<statistics<R>> or synchronized<limited<R>>, or count the upstream: "
        "synchronized<statistics<heap>>");

public:
    using base::base;
    instrumented() = default;
    /// The meter's state moves with the storage.
    instrumented(instrumented&& other) noexcept
        requires std::is_move_constructible_v<R>
        : base(std::move(static_cast<base&>(other))), meter_(std::move(other.meter_)) {}
    instrumented& operator=(instrumented&& other) noexcept
        requires std::is_move_assignable_v<R>
    {
        if (this == &other) return *this;
        base::operator=(std::move(static_cast<base&>(other)));
        meter_ = std::move(other.meter_);
        return *this;
    }
    instrumented(const instrumented&) = delete;
    instrumented& operator=(const instrumented&) = delete;

    /// Destroys an object and frees its storage, counted by the bytes of its class.
    template <class Pointer>
        requires requires(R& r, Pointer object) { r.destroy(object); }
    void destroy(Pointer object) noexcept {
        static_assert(
            of_one_type<R> || ignores_sizes || !may_be_base<std::remove_pointer_t<Pointer>>(),
            "acre: an object of a derived class may lie behind this pointer, and its bytes cannot be counted: "
            "declare the class final, or let an acre::unique_ptr own the object, which knows its bytes");
        base::destroy(object);
    }

    /// Frees storage whose bytes the caller does not know, of a chunk_pool.
    template <class Pointer>
        requires requires(R& r, Pointer p) { r.deallocate_unsized(p); }
    void deallocate_unsized(Pointer p) noexcept {
        static_assert(
            ignores_sizes,
            "acre: bytes that are freed without a size cannot be counted: use deallocate(p, bytes, alignment)");
        around(free_call{p, 0}, [=](R& r) { r.deallocate_unsized(p); });
    }

    /// R's mark and the meter's.
    auto mark() const
        requires requires(const R& r) { r.mark(); }
    {
        return mark_pair<decltype(R::mark())>{R::mark(), meter_.mark()};
    }
    template <class Mark>
        requires requires(R& r, const Mark& where) { r.rewind(where.of_resource); }
    void rewind(const Mark& where) noexcept {
        R::rewind(where.of_resource);
        meter_.rewind(where.of_meter);
    }

protected:
    /// R is constructed from `arguments`.
    template <class... Arguments>
    explicit instrumented(Meter&& meter, Arguments&&... arguments)
        : base(std::forward<Arguments>(arguments)...), meter_(std::move(meter)) {}

    Meter& meter() noexcept { return meter_; }
    const Meter& meter() const noexcept { return meter_; }

private:
    static constexpr bool ignores_sizes = requires { requires Meter::ignores_sizes; };

    template <class Mark>
    struct mark_pair {
        Mark of_resource;
        decltype(std::declval<const Meter&>().mark()) of_meter;
    };

    // Tells the meter when the request gives nothing, or throws.
    struct failure_guard {
        Meter& meter;
        std::size_t bytes;
        bool failed = true;
        ~failure_guard() {
            if (failed) meter.failed(bytes);
        }
    };

    // Where a constructor runs in the call, create_in() sees to the hooks.
    template <bool Throws, bool Constructs, class Function>
    [[gnu::always_inline]] auto around(const request_call<Throws, Constructs>& asked, Function&& serve)
        -> decltype(serve(std::declval<R&>())) {
        if (!Constructs && hooks_off()) [[likely]]
            return serve(resource_below());
        if (!meter_.reserve(asked.bytes)) [[unlikely]] {
            if constexpr (Throws) meter_.refuse(asked.bytes);
            return {};
        }
        failure_guard guard{meter_, asked.bytes};
        auto result = at_work<!Constructs>(resource_below(), serve);
        if (const void* p = address_of(result)) {
            guard.failed = false;
            meter_.served(std::as_const(resource_below()), p, asked.bytes, asked.alignment);
        }
        return result;
    }
    template <class Function>
    [[gnu::always_inline]] void around(const free_call& asked, Function&& give_back) noexcept {
        if (hooks_off()) [[likely]]
            return give_back(resource_below());
        if (asked.p != nullptr) meter_.freed(asked.p, asked.bytes);
        at_work<true>(resource_below(), give_back);
    }
    template <class Function>
    void around(const destroy_call& asked, Function&& destroy) noexcept {
        if (asked.p != nullptr) meter_.freed(asked.p, asked.bytes);
        destroy(resource_below());
    }
    template <class Function>
    bool around(const resize_call& asked, Function&& resize) noexcept {
        const std::size_t more = asked.new_bytes > asked.old_bytes ? asked.new_bytes - asked.old_bytes : 0;
        if (!meter_.reserve(more)) return false;
        if (!resize(resource_below())) {
            meter_.unreserve(more);
            return false;
        }
        meter_.resized(asked.p, asked.old_bytes, asked.new_bytes);
        return true;
    }
    template <class Function>
    void around(const free_all_call&, Function&& take_back) {
        take_back(resource_below());
        meter_.all_freed();
    }
    template <class Function>
    auto around(const query_call&, Function&& ask) const {
        return ask(static_cast<const R&>(*this));
    }

    R& resource_below() noexcept { return *this; }

    static bool hooks_off() noexcept {
        if constexpr (has_work_guards<Meter>) {
            return !Meter::is_watching();
        } else {
            return false;
        }
    }

    template <bool Guarded, class Function>
    [[gnu::always_inline]] static auto at_work(R& r, Function&& function) {
        if constexpr (Guarded && has_work_guards<Meter>) {
            const auto period = Meter::working();
            return function(r);
        } else {
            return function(r);
        }
    }

    // An arena constructs a constructed_paused and registers its destructor. A pool only allocates: T is made here.
    template <bool Throws, class T, class... Arguments>
    [[gnu::always_inline]] static T* create_in(R& r, Arguments&&... arguments) {
        if constexpr (!has_work_guards<Meter>) {
            return base::template create_in<Throws, T>(r, std::forward<Arguments>(arguments)...);
        } else if constexpr (of_one_type<R>) {
            const auto allocate = [](R& at) {
                return Throws ? at.allocate(sizeof(T), alignof(T)) : at.try_allocate(sizeof(T), alignof(T));
            };
            void* storage = hooks_off() ? allocate(r) : at_work<true>(r, allocate);
            if (storage == nullptr) return nullptr;
            return construct_at_or<T>(
                storage, [&r, storage]() noexcept { r.deallocate(storage, sizeof(T), alignof(T)); },
                std::forward<Arguments>(arguments)...);
        } else {
            using made = std::conditional_t<std::is_class_v<T>, constructed_paused<Meter, T>, T>;
            const auto create = [&](R& at) {
                return base::template create_in<Throws, made>(at, std::forward<Arguments>(arguments)...);
            };
            return object_of(hooks_off() ? create(r) : at_work<true>(r, create));
        }
    }
    template <class T>
    static T* object_of(T* object) noexcept {
        return object;
    }
    template <class T>
    static T* object_of(constructed_paused<Meter, T>* made) noexcept {
        return made == nullptr ? nullptr : detail::address_of(made->object);
    }

    static const void* address_of(const void* p) noexcept { return p; }
    static const void* address_of(std::string_view text) noexcept { return text.data(); }
    template <class T>
    static const void* address_of(std::span<T> storage) noexcept {
        return storage.data();
    }

    Meter meter_{};
};

}  // namespace acre::detail
