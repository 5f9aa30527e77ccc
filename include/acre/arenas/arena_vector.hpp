// A vector whose elements lie in an arena and which grows where it is while they are the arena's last allocation:
// std::vector cannot, and leaves each smaller buffer behind.
//
// Use it for lists that are built in an arena. Use std::vector over acre::allocator where an interface asks for that,
// arena::allocate<T>(n) where the number is known, acre::cursor for many objects that need not be neighbours.
//
// Cost: push_back is constant time on average and moves nothing within a block while nobody else allocates from the
// arena: the room doubles up to 512 elements, grows by a quarter up to 896 and by an eighth from there. At the end of a
// block the elements move to the next one. When others do allocate, the room doubles and the elements move, as
// std::vector's do. Elements are destroyed with the vector, and their storage goes back to the arena if it is still the
// last allocation. Not thread-safe. The arena must live longer; a reset of it makes the vector's elements void: destroy
// the vector first.
//
//     acre::arena_vector<Token> tokens{level};
//     while (next(token)) tokens.push_back(token);
//     parse(std::span{tokens});
//
// Any resource that can resize in place will do: acre::arena_vector<int, acre::multi_arena>.
#pragma once

#include <acre/arenas/arena.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <algorithm>
#include <cassert>
#include <compare>
#include <cstddef>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

namespace acre {

/// A contiguous sequence of T in a resource R.
template <class T, resizable_resource R = arena>
class arena_vector {
public:
    static constexpr const char* name = "acre::arena_vector";
    using value_type = T;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using const_reference = const T&;
    using pointer = T*;
    using const_pointer = const T*;
    using iterator = T*;
    using const_iterator = const T*;

    /// Empty; takes no memory.
    explicit arena_vector(R& owner) noexcept : owner_(&owner) {}

    /// Copies of `values`. Throws what the resource and the elements throw.
    arena_vector(std::initializer_list<T> values, R& owner) : arena_vector(owner) { append(values); }

    /// Copies of the elements of a range.
    template <std::ranges::input_range Range>
        requires std::constructible_from<T, std::ranges::range_reference_t<Range>>
    arena_vector(Range&& values, R& owner) : arena_vector(owner) {
        append(std::forward<Range>(values));
    }

    /// In the same resource as `other`.
    arena_vector(const arena_vector& other) : arena_vector(*other.owner_) { append(other); }

    /// Takes over the elements, which stay where they are.
    arena_vector(arena_vector&& other) noexcept : owner_(other.owner_) { swap(other); }

    /// Copies of the other's elements, in the resource that this is in.
    arena_vector& operator=(const arena_vector& other) {
        if (this == &other) return *this;
        clear();
        append(other);
        return *this;
    }

    /// Takes over the elements and with them the resource that they lie in.
    arena_vector& operator=(arena_vector&& other) noexcept {
        arena_vector taken{std::move(other)};
        swap(taken);
        return *this;
    }

    [[gnu::always_inline]] ~arena_vector() {
        clear();
        give_back();
    }

    void swap(arena_vector& other) noexcept {
        std::swap(owner_, other.owner_);
        std::swap(begin_, other.begin_);
        std::swap(end_, other.end_);
        std::swap(limit_, other.limit_);
        std::swap(extended_, other.extended_);
    }

    /// A new last element. Throws what the resource and the constructor throw; then nothing has changed. Constant time
    /// on average. The arguments may refer to elements of this.
    template <class... Arguments>
    [[gnu::always_inline]] T& emplace_back(Arguments&&... arguments) {
        if (end_ == limit_) [[unlikely]]
            adopt_last(emplaced<true>(*owner_, {begin_, limit_}, extended_, std::forward<Arguments>(arguments)...));
        else
            construct_last(std::forward<Arguments>(arguments)...);
        return end_[-1];
    }
    [[gnu::always_inline]] void push_back(const T& value) {
        if constexpr (passed_in_registers) {
            push_back_copy(value);
        } else {
            emplace_back(value);
        }
    }
    [[gnu::always_inline]] void push_back(T&& value) {
        if constexpr (passed_in_registers) {
            push_back_copy(value);
        } else {
            emplace_back(std::move(value));
        }
    }

    /// As emplace_back, but null, and nothing changed, when there is no memory.
    template <class... Arguments>
    T* try_emplace_back(Arguments&&... arguments) {
        if (end_ != limit_) return construct_last(std::forward<Arguments>(arguments)...);
        const room grown = emplaced<false>(*owner_, {begin_, limit_}, extended_, std::forward<Arguments>(arguments)...);
        if (grown.limit == limit_) return nullptr;
        adopt_last(grown);
        return end_ - 1;
    }

    /// The elements of a range, behind those there are. What of them was appended before one threw stays. The range may
    /// be a contiguous part of this.
    template <std::ranges::input_range Range>
    void append(Range&& values) {
        if constexpr (is_span_of_elements<Range>) {
            const std::span<const T> span{values};
            if (is_own(span.data())) return append_own(static_cast<std::size_t>(span.data() - begin_), span.size());
        }
        if constexpr (std::ranges::sized_range<Range>)
            reserve(size() + static_cast<std::size_t>(std::ranges::size(values)));
        for (auto&& each : values) emplace_back(std::forward<decltype(each)>(each));
    }

    /// The elements of a range, which is no part of this, instead of those there are. Keeps the storage.
    template <std::ranges::input_range Range>
        requires std::constructible_from<T, std::ranges::range_reference_t<Range>>
    void assign(Range&& values) {
        clear();
        append(std::forward<Range>(values));
    }
    void assign(std::initializer_list<T> values) {
        clear();
        append(values);
    }
    /// As assign of the range from `first` to before `last`.
    template <std::input_iterator First, std::sentinel_for<First> Last>
    void assign(First first, Last last) {
        assign(std::ranges::subrange(std::move(first), std::move(last)));
    }
    /// `count` copies of `value`, which may be an element of this, instead of those there are.
    void assign(std::size_t count, const T& value) {
        const T copy = value;
        clear();
        resize(count, copy);
    }

    /// Removes the last element; there must be one.
    void pop_back() noexcept {
        assert(!empty());
        std::destroy_at(--end_);
    }

    /// A copy of `value` in front of `place`. Linear in the elements behind it.
    iterator insert(const_iterator place, T value) {
        const auto index = place - begin_;
        emplace_back(std::move(value));
        std::rotate(begin_ + index, end_ - 1, end_);
        return begin_ + index;
    }

    /// Removes the elements from `first` to before `last`. Linear in the elements behind.
    iterator erase(const_iterator first, const_iterator last) {
        iterator erased = begin_ + (first - begin_);
        // Moving the rest onto itself would empty what it holds.
        if (first == last) return erased;
        destroy_from(std::move(begin_ + (last - begin_), end_, erased));
        return erased;
    }
    iterator erase(const_iterator place) { return erase(place, place + 1); }

    /// Destroys all elements; keeps the storage.
    [[gnu::always_inline]] void clear() noexcept { destroy_from(begin_); }

    /// `count` elements: those beyond are destroyed, those missing are value-initialised, or copies of `value`.
    void resize(std::size_t count) {
        destroy_from(begin_ + std::min(count, size()));
        reserve(count);
        while (size() < count) construct_last();
    }
    void resize(std::size_t count, const T& value) {
        const T copy = value;  // an element of this may be meant, and growing moves it
        destroy_from(begin_ + std::min(count, size()));
        reserve(count);
        while (size() < count) construct_last(copy);
    }

    /// Storage for at least `count` elements. Throws what the resource throws.
    void reserve(std::size_t count) {
        if (count > capacity()) adopt(grown<true>(*owner_, {begin_, limit_}, end_, extended_, count));
    }
    /// As reserve, but false when there is no memory.
    bool try_reserve(std::size_t count) noexcept(std::is_nothrow_move_constructible_v<T>) {
        if (count > capacity()) adopt(grown<false>(*owner_, {begin_, limit_}, end_, extended_, count));
        return count <= capacity();
    }

    /// Gives the room behind the last element back, if it is the last allocation of its resource.
    void shrink_to_fit() noexcept {
        if (empty()) return give_back();
        if (end_ < limit_ && owner_->try_resize(begin_, capacity() * sizeof(T), size() * sizeof(T))) limit_ = end_;
    }

    /// The elements, which stay in the resource until it takes everything back; this vector is empty then. For types
    /// that nobody needs to destroy.
    std::span<T> detach() noexcept {
        static_assert(std::is_trivially_destructible_v<T>, "nobody would destroy these");
        const std::span<T> left{begin_, end_};
        begin_ = end_ = limit_ = nullptr;
        return left;
    }

    std::size_t size() const noexcept { return static_cast<std::size_t>(end_ - begin_); }
    /// Elements that there is storage for.
    std::size_t capacity() const noexcept { return static_cast<std::size_t>(limit_ - begin_); }
    bool empty() const noexcept { return begin_ == end_; }
    T* data() noexcept { return begin_; }
    const T* data() const noexcept { return begin_; }
    T& operator[](std::size_t index) noexcept { return assert(index < size()), begin_[index]; }
    const T& operator[](std::size_t index) const noexcept { return assert(index < size()), begin_[index]; }
    T& front() noexcept { return (*this)[0]; }
    const T& front() const noexcept { return (*this)[0]; }
    T& back() noexcept { return end_[-1]; }
    const T& back() const noexcept { return end_[-1]; }
    iterator begin() noexcept { return begin_; }
    iterator end() noexcept { return end_; }
    const_iterator begin() const noexcept { return begin_; }
    const_iterator end() const noexcept { return end_; }
    const_iterator cbegin() const noexcept { return begin_; }
    const_iterator cend() const noexcept { return end_; }

    /// The resource that the elements lie in.
    R& referred() const noexcept { return *owner_; }

    friend bool operator==(const arena_vector& a, const arena_vector& b)
        requires std::equality_comparable<T>
    {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }
    friend auto operator<=>(const arena_vector& a, const arena_vector& b)
        requires std::three_way_comparable<T>
    {
        return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    static constexpr bool passed_in_registers =
        std::is_trivially_copyable_v<T> && std::is_copy_constructible_v<T> && sizeof(T) <= 2 * sizeof(void*);
    static constexpr std::size_t first_capacity = std::max<std::size_t>(1, 64 / sizeof(T));
    static constexpr std::size_t few_elements = 512;   // up to so many the room doubles where it is, too
    static constexpr std::size_t some_elements = 896;  // and up to so many it grows by a quarter, later by an eighth
    static constexpr std::size_t max_elements = max_request / 2 / sizeof(T);

    // Where elements are, and how far there is room. What grows a vector takes and returns one by value, in registers,
    // so that the address of a vector goes nowhere and a loop of push_back keeps its position in a register.
    struct room {
        T* begin;
        T* limit;
        std::size_t capacity() const noexcept { return static_cast<std::size_t>(limit - begin); }
        std::size_t bytes() const noexcept { return capacity() * sizeof(T); }
    };

    template <class Range>
    static constexpr bool is_span_of_elements =
        std::is_copy_constructible_v<T> && std::is_constructible_v<std::span<const T>, Range&>;

    bool is_own(const T* p) const noexcept { return !std::less<>{}(p, begin_) && std::less<>{}(p, end_); }

    void append_own(std::size_t first, std::size_t count) {
        reserve(size() + count);
        for (std::size_t i = 0; i < count; ++i) emplace_back(std::as_const(begin_[first + i]));
    }

    // By value: then neither has the value to lie in memory.
    [[gnu::always_inline]] void push_back_copy(const T value) {
        if (end_ == limit_) [[unlikely]]
            adopt(grown<true>(*owner_, {begin_, limit_}, end_, extended_, capacity() + 1));
        construct_last(value);
    }

    template <class... Arguments>
    T* construct_last(Arguments&&... arguments) {
        T* made = std::construct_at(end_, std::forward<Arguments>(arguments)...);
        ++end_;
        return made;
    }

    [[gnu::always_inline]] void destroy_from(T* kept) noexcept {
        std::destroy(kept, end_);
        end_ = kept;
    }

    // Inline where exceptions pass, too: a call would want the vector in memory, and so would the loop that may throw.
    [[gnu::always_inline]] void give_back() noexcept {
        if (begin_ != nullptr) owner_->deallocate(begin_, capacity() * sizeof(T), alignof(T));
        begin_ = end_ = limit_ = nullptr;
    }

    void adopt(const room& grown) noexcept {
        end_ = grown.begin + size();
        extended_ = grown.begin == begin_ && (extended_ || grown.limit != limit_);
        begin_ = grown.begin;
        limit_ = grown.limit;
    }
    void adopt_last(const room& grown) noexcept {
        adopt(grown);
        ++end_;
    }

    // Out of line: growing. The new element is made before the others move, since it may be made of one of them.
    // Without memory, and where that does not throw, what comes back is what came. `full` has no room left.
    template <bool Throws, class... Arguments>
    [[gnu::noinline]] static room emplaced(R& owner, room full, bool extended, Arguments&&... arguments) {
        const room longer = extend(owner, full, full.capacity() + 1);
        if (longer.limit != full.limit) {
            extension_guard guard{owner, full, longer};
            std::construct_at(full.limit, std::forward<Arguments>(arguments)...);
            guard.kept = true;
            return longer;
        }
        fresh_storage fresh{owner, allocate<Throws>(owner, full, extended, full.capacity() + 1)};
        if (fresh.at.begin == nullptr) return full;
        T* made = std::construct_at(fresh.at.begin + full.capacity(), std::forward<Arguments>(arguments)...);
        move_to(fresh.at.begin, full.begin, full.limit, made);
        give_back_moved(owner, full);
        return fresh.adopted();
    }

    template <bool Throws>
    [[gnu::noinline]] static room grown(R& owner, room from, T* end, bool extended, std::size_t least) {
        const room longer = extend(owner, from, least);
        if (longer.limit != from.limit) return longer;
        fresh_storage fresh{owner, allocate<Throws>(owner, from, extended, least)};
        if (fresh.at.begin == nullptr) return from;
        move_to(fresh.at.begin, from.begin, end, nullptr);
        give_back_moved(owner, from);
        return fresh.adopted();
    }

    // More room where the elements are: much, or what there is; the same when there is not enough.
    static room extend(R& owner, room from, std::size_t least) noexcept {
        if (from.begin == nullptr || least > max_elements) return from;
        const std::size_t capacity = from.capacity();
        const std::size_t share = capacity < few_elements ? 1 : capacity < some_elements ? 4 : 8;
        std::size_t more = std::max(least - capacity, capacity / share);
        while (!owner.try_resize(from.begin, from.bytes(), (capacity + more) * sizeof(T))) {
            if (capacity + more == least) return from;
            more = std::max(least - capacity, more / 2);
        }
        return {from.begin, from.limit + more};
    }

    // Who could extend has come to the end of a block and will be able to again; who could not doubles. The vector's
    // interface leaves no way to fail but an exception where `Throws`.
    template <bool Throws>
    static room allocate(R& owner, room from, bool extended, std::size_t least) {
        const std::size_t more = extended ? from.capacity() / 8 : from.capacity();
        const std::size_t count = std::max({least, std::min(from.capacity() + more, max_elements), first_capacity});
        const std::size_t bytes = least > max_elements ? SIZE_MAX : count * sizeof(T);
        void* p = Throws ? owner.allocate(bytes, alignof(T)) : owner.try_allocate(bytes, alignof(T));
        if (Throws && !exceptions_enabled && p == nullptr) abort_on_misuse(name, "out of memory without exceptions", p);
        if (p == nullptr) return {nullptr, nullptr};
        return {static_cast<T*>(p), static_cast<T*>(p) + count};
    }

    // Storage that is given back unless it is adopted.
    struct fresh_storage {
        R& owner;
        room at;
        room adopted() noexcept { return std::exchange(at, room{nullptr, nullptr}); }
        ~fresh_storage() {
            if (at.begin != nullptr) owner.deallocate(at.begin, at.bytes(), alignof(T));
        }
    };

    // Takes an extension back when the construction in it throws: the vector does not know of it.
    struct extension_guard {
        R& owner;
        room before;
        room extended;
        bool kept = false;
        ~extension_guard() {
            if (!kept) owner.try_resize(before.begin, extended.bytes(), before.bytes());
        }
    };

    // Moves what is in [begin, end) to `place`; if that throws, `last`, which is there already, is destroyed.
    static void move_to(T* place, T* begin, T* end, T* last) {
        if constexpr (std::is_trivially_copyable_v<T>) {
            const auto bytes = static_cast<std::size_t>(end - begin) * sizeof(T);
            if (bytes != 0) std::memcpy(static_cast<void*>(place), begin, bytes);
        } else {
            struct guard {
                T* made;
                ~guard() {
                    if (made != nullptr) std::destroy_at(made);
                }
            } unless_moved{last};
            if constexpr (std::is_nothrow_move_constructible_v<T> || !std::is_copy_constructible_v<T>) {
                std::uninitialized_move(begin, end, place);
            } else {
                std::uninitialized_copy(begin, end, place);
            }
            unless_moved.made = nullptr;
            std::destroy(begin, end);
        }
    }

    static void give_back_moved(R& owner, room left) noexcept {
        if (left.begin == nullptr) return;
        if constexpr (requires { owner.deallocate_moved(left.begin, left.bytes(), alignof(T)); }) {
            owner.deallocate_moved(left.begin, left.bytes(), alignof(T));
        } else {
            owner.deallocate(left.begin, left.bytes(), alignof(T));
        }
    }

    R* owner_;
    // Pointers, not counts: a compiler must believe that an element may be a count, but not that it is a pointer.
    T* begin_ = nullptr;
    T* end_ = nullptr;
    T* limit_ = nullptr;     // end of the storage
    bool extended_ = false;  // room was added where the elements are, since they came there
};

}  // namespace acre
