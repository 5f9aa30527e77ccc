// Destructor records of an arena: each lies right in front of its object or array, in the same allocation, and links to
// the record before it.
//
// Used by acre::arena, not directly. Memory: 16 bytes for an object, 24 for an array of any length, none for a
// trivially destructible type. Cost: two or three stores.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/sanitizer.hpp>
#include <cstddef>
#include <new>
#include <optional>
#include <type_traits>

namespace acre::detail {

/// How to destroy one object or array, and the record of the one to destroy next.
struct destructor_node {
    void (*destroy)(destructor_node*) noexcept;
    destructor_node* previous;
};

/// The record of an array, with its number of elements in front.
struct array_record {
    std::size_t count;
    destructor_node node;
};

/// Layout in bytes of the allocation of a T and its record, if it needs one.
template <class T>
struct object_layout {
    static constexpr bool needs_record = !std::is_trivially_destructible_v<T>;
    static constexpr std::size_t alignment =
        needs_record ? detail::max(alignof(T), alignof(destructor_node)) : alignof(T);
    static constexpr std::size_t offset = needs_record ? align_up(sizeof(destructor_node), alignof(T)) : 0;
    static constexpr std::size_t bytes = offset + sizeof(T);
};

/// Layout in bytes of the allocation of an array of T and its record, if it needs one.
template <class T>
struct array_layout {
    static constexpr bool needs_record = !std::is_trivially_destructible_v<T>;
    static constexpr std::size_t alignment = needs_record ? detail::max(alignof(T), alignof(array_record)) : alignof(T);
    static constexpr std::size_t offset = needs_record ? align_up(sizeof(array_record), alignof(T)) : 0;
    /// Bytes of `count` elements and the record; empty when that overflows.
    static constexpr std::optional<std::size_t> bytes(std::size_t count) noexcept {
        const auto elements = array_bytes(count, sizeof(T));
        if (!elements || *elements > max_request - offset) return std::nullopt;
        return *elements + offset;
    }
};

template <class T>
void destroy_object(destructor_node* node) noexcept {
    detail::destroy_at(std::launder(reinterpret_cast<T*>(node + 1)));
}

template <class T>
void destroy_array(destructor_node* node) noexcept {
    auto* record = reinterpret_cast<array_record*>(reinterpret_cast<std::byte*>(node) - offsetof(array_record, node));
    unpoison_defined(record, sizeof *record);
    T* first = std::launder(reinterpret_cast<T*>(node + 1));
    for (std::size_t i = record->count; i > 0; --i) detail::destroy_at(first + i - 1);
}

/// Makes the record of the T at `object`, in front of it. It is poisoned: nobody reads it before the destructor is due.
template <class T>
destructor_node* record_object(void* object, destructor_node* previous) noexcept {
    auto* node =
        ::new (static_cast<std::byte*>(object) - sizeof(destructor_node)) destructor_node{&destroy_object<T>, previous};
    poison(node, sizeof *node);
    return node;
}

/// Makes the record of the `count` elements of T at `first`, in front of them; poisoned, too.
template <class T>
destructor_node* record_array(void* first, std::size_t count, destructor_node* previous) noexcept {
    auto* record = ::new (static_cast<std::byte*>(first) - sizeof(array_record))
        array_record{count, destructor_node{&destroy_array<T>, previous}};
    poison(record, sizeof *record);
    return &record->node;
}

}  // namespace acre::detail
