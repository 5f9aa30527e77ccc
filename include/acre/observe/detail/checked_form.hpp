// The resource that acre::checked<R> takes storage from: R itself where requests have any size, and for a pool of slots
// the pool whose slots have room for the fences.
//
// Used by acre::checked, not directly. It names the pools without including them. Cost: none.
#pragma once

#include <acre/fwd.hpp>
#include <acre/observe/detail/checked_fences.hpp>
#include <cstddef>

namespace acre::detail {

/// Storage of a T with fences around it. Final, because a typed_arena may require it.
template <class T>
struct fenced_slot final {
    static constexpr std::size_t alignment = fenced_block::front(alignof(T));
    static constexpr std::size_t bytes = align_up(fenced_block::of(sizeof(T), alignof(T)).bytes, alignment);

    alignas(alignment) std::byte storage[bytes];
};

/// The other resource, and the bytes of a slot where R has slots.
template <class R>
struct checked_form {
    using type = R;
};
template <class R>
    requires requires { R::geometry; }
struct checked_form<R> {
    using type = R;
    static constexpr std::size_t slot_bytes = R::geometry.slot_bytes;
    static constexpr std::size_t slot_alignment = 1;
};

template <template <std::size_t, std::size_t> class Pool, std::size_t Slot, std::size_t Align>
struct checked_pool_form {
    using type = Pool<fenced_block::of(Slot, Align).bytes, fenced_block::front(Align)>;
    static constexpr std::size_t slot_bytes = Slot;
    static constexpr std::size_t slot_alignment = Align;
};
template <std::size_t Slot, std::size_t Align, double_free_check Check>
struct checked_form<pool<Slot, Align, Check>> {
    using type = pool<fenced_block::of(Slot, Align).bytes, fenced_block::front(Align)>;
    static constexpr std::size_t slot_bytes = Slot;
    static constexpr std::size_t slot_alignment = Align;
};
template <std::size_t Slot, std::size_t Align>
struct checked_form<hardened_pool<Slot, Align>> : checked_pool_form<hardened_pool, Slot, Align> {};
template <std::size_t Slot, std::size_t Align, double_free_check Check>
struct checked_form<concurrent_pool<Slot, Align, Check>> : checked_form<pool<Slot, Align>> {
    using type = concurrent_pool<fenced_block::of(Slot, Align).bytes, fenced_block::front(Align), Check>;
};
template <std::size_t Slot, std::size_t Align>
struct checked_form<wait_free_pool<Slot, Align>> : checked_pool_form<wait_free_pool, Slot, Align> {};

template <template <class> class Pool, class T>
struct checked_object_pool_form {
    using type = Pool<fenced_slot<T>>;
    static constexpr std::size_t slot_bytes = sizeof(T);
    static constexpr std::size_t slot_alignment = alignof(T);
};
template <class T, double_free_check Check>
struct checked_form<object_pool<T, Check>> {
    using type = object_pool<fenced_slot<T>>;
    static constexpr std::size_t slot_bytes = sizeof(T);
    static constexpr std::size_t slot_alignment = alignof(T);
};
template <class T>
struct checked_form<hardened_object_pool<T>> : checked_object_pool_form<hardened_object_pool, T> {};
template <class T, double_free_check Check>
struct checked_form<concurrent_object_pool<T, Check>> : checked_form<object_pool<T>> {
    using type = concurrent_object_pool<fenced_slot<T>, Check>;
};
template <class T>
struct checked_form<wait_free_object_pool<T>> : checked_object_pool_form<wait_free_object_pool, T> {};

constexpr typed_arena_options without_limit(typed_arena_options options) noexcept {
    options.limit_bytes = typed_arena_options{}.limit_bytes;
    return options;
}
template <class T, std::size_t N, typed_arena_options Options, class Fallback>
struct checked_form<typed_arena<T, N, Options, Fallback>> {
    using type = typed_arena<fenced_slot<T>, N, without_limit(Options), Fallback>;
};

template <std::size_t N, auto... Sizes>
struct checked_form<chunk_pool<N, Sizes...>> {
    using type = chunk_pool<N, fenced_block::of(std::size_t{Sizes}, 1).bytes...>;
};

template <class R>
using checked_form_of = typename checked_form<R>::type;

}  // namespace acre::detail
