// Objects in the slots of a pool: what acre::object_pool, acre::concurrent_object_pool and acre::wait_free_object_pool
// have in common.
#pragma once

#include <acre/core/detail/construct.hpp>
#include <acre/core/detail/innermost_destructor.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/misuse.hpp>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace acre::detail {

/// T, whose size a pool needs: a class that is only declared is refused.
template <class T>
struct defined_class {
    static_assert(
        requires { sizeof(T); },
        "acre: a pool holds objects of a class that is defined, not only declared: define the class first, or "
        "hold the pool by a std::unique_ptr");
    using type = T;
};
template <class T>
using defined = typename defined_class<T>::type;

/// Creates and destroys objects of type T in `Pool`, a pool of slots for T. Misuse is reported under Derived::name.
template <class Derived, class T, class Pool>
class object_face : public Pool {
public:
    static_assert(!std::is_array_v<T>, "acre: an object pool holds single objects: put an array into a struct");
    static_assert(!std::is_const_v<T>, "acre: the objects of an object pool are not const: name the plain type");

    using value_type = T;

    /// Only a T may lie in the slots, or an object of a derived class of the same size: the pool visits and destroys
    /// what lies there as a T. acre::allocator and make_unique refuse others.
    template <class U>
    static constexpr bool holds =
        std::is_same_v<std::remove_cv_t<U>, T> || (std::is_base_of_v<T, U> && sizeof(U) == sizeof(T));

    /// Destroys the objects that are still live, in address order. No other thread may use the pool.
    ~object_face() { finish(); }

    /// Constructs a T from `arguments`. Throws as allocate(), and what the constructor throws: then the slot is free.
    template <class... Arguments>
    [[gnu::always_inline]] T* create(Arguments&&... arguments) {
        if constexpr (watches_slots<object_face>) {
            const auto taken = this->allocate_watched();
            return construct_watched(taken.slot, taken.state, std::forward<Arguments>(arguments)...);
        } else {
            return construct_unwatched(this->allocate(), std::forward<Arguments>(arguments)...);
        }
    }
    /// As create, but null where try_allocate() gives null. Passes on what the constructor throws.
    template <class... Arguments>
    T* try_create(Arguments&&... arguments) {
        if constexpr (watches_slots<object_face>) {
            const auto taken = this->try_allocate_watched();
            if (taken.slot == nullptr) return nullptr;
            return construct_watched(taken.slot, taken.state, std::forward<Arguments>(arguments)...);
        } else {
            void* slot = this->try_allocate();
            return slot == nullptr ? nullptr : construct_unwatched(slot, std::forward<Arguments>(arguments)...);
        }
    }
    /// Destroys the object and frees its slot; null is a no-op. While the pool itself destroys its objects, one that is
    /// destroyed already is ignored, so destructors may destroy other objects of the pool.
    void destroy(T* object) noexcept {
        if (object == nullptr) return;
        if constexpr (std::is_trivially_destructible_v<T>) {
            this->give_back(Derived::name, object);
        } else {
            if (this->visiting() && this->is_free(object)) return;
            if constexpr (!Pool::checks_frees) {
                detail::destroy_at(object);
                return this->give_back(Derived::name, object);
            }
            this->begin_destroying(Derived::name, object);
            if constexpr (Pool::marks_destroying) {
                detail::destroy_at(object);
            } else {
                const innermost_destructor running{Derived::name, object};
                detail::destroy_at(object);
            }
            this->end_destroying(Derived::name, object);
        }
    }

    /// Destroys all objects and keeps the slabs. No other thread may use the pool meanwhile.
    void reset() noexcept {
        destroy_all();
        ++resets_;
        Pool::reset();
    }
    /// Refused, since published pools mean two things by it.
    template <class Never = void>
    void clear() noexcept {
        static_assert(
            !std::is_void_v<Never>,
            "acre: an object pool has no clear(): reset() destroys all objects and keeps the memory, release() "
            "gives it back too, release_unused() gives back only what holds no object");
    }
    /// Refused: published pools call destroy() so.
    template <class Pointer>
    void remove(Pointer) noexcept {
        static_assert(std::is_void_v<Pointer>, "acre: an object pool has no remove(): write destroy(object)");
    }
    /// Destroys all objects and gives all slabs back to upstream. No other thread may use the pool meanwhile.
    void release() noexcept
        requires requires(Pool& pool) { pool.release(); }
    {
        destroy_all();
        ++resets_;
        Pool::release();
    }

protected:
    using Pool::Pool;
    object_face(object_face&&) = default;
    object_face& operator=(object_face&&) = default;

    void finish() noexcept {
        this->report_live();
        destroy_all();
    }

private:
    // Whether the pool hands out a slot together with what tells later, at less cost than is_free(), that it is free.
    template <class Self>
    static constexpr bool watches_slots = has_constructors<T> && requires(Self& self) { self.allocate_watched(); };

    template <class State, class... Arguments>
    [[gnu::always_inline]] T* construct_watched(void* slot, State state, Arguments&&... arguments) {
        return construct(slot, [state] { return Pool::was_freed(state); }, std::forward<Arguments>(arguments)...);
    }
    template <class... Arguments>
    [[gnu::always_inline]] T* construct_unwatched(void* slot, Arguments&&... arguments) {
        return construct(slot, [this, slot] { return this->is_free(slot); }, std::forward<Arguments>(arguments)...);
    }
    // `was_freed` tells whether the slot is free.
    template <class WasFreed, class... Arguments>
    [[gnu::always_inline]] T* construct(void* slot, WasFreed was_freed, Arguments&&... arguments) {
        const std::size_t before = resets_;
        T* object = construct_at_or<T>(
            slot, [this, slot]() noexcept { this->deallocate(slot); }, std::forward<Arguments>(arguments)...);
        if constexpr (!Pool::checks_frees) return object;
        // Otherwise the slot would be handed out again while this object is in it.
        if (resets_ != before) [[unlikely]]
            abort_on_misuse(Derived::name, mistake::reset_in_constructor, slot);
        if constexpr (has_constructors<T>) {
            if ((exceptions_enabled || object != nullptr) && was_freed()) [[unlikely]]
                abort_on_misuse(Derived::name, mistake::freed_in_constructor, slot);
        }
        return object;
    }

    bool destructor_runs(const void* slot) const noexcept {
        if constexpr (Pool::marks_destroying) {
            return this->is_destroying(slot);
        } else {
            return innermost_destructor::is_of(slot);
        }
    }

    void destroy_all() noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            // Each such call would destroy the same object again, without end.
            if (this->visiting()) abort_on_misuse(Derived::name, mistake::reset_in_destructor, this);
            this->for_each_live([this](void* slot) {
                if (destructor_runs(slot)) abort_on_misuse(Derived::name, mistake::reset_in_destructor, this);
                destroy(std::launder(static_cast<T*>(slot)));
            });
        }
    }

    std::size_t resets_ = 0;
};

}  // namespace acre::detail
