// A vector whose elements lie in an arena and which grows where it is while they are the arena's last allocation:
// std::vector cannot, and leaves each smaller buffer behind.
//
// Use it for lists that are built in an arena. Use std::vector over acre::allocator where an interface asks for that,
// arena::allocate<T>(n) where the number is known, acre::cursor for many objects that need not be neighbours.
//
// Cost: push_back is constant time on average and moves nothing while nobody else allocates from the arena; then growth
// takes an eighth more each time. When others do allocate, it doubles and moves, as std::vector does. Elements are
// destroyed with the vector, and their storage goes back to the arena if it is still the last allocation. Not
// thread-safe. The arena must live longer; a reset of it makes the vector's elements void: destroy the vector first.
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
    arena_vector(std::initializer_list<T> values, R& owner) : owner_(&owner) { append(values); }

    /// Copies of the elements of a range.
    template <std::ranges::input_range Range>
        requires std::constructible_from<T, std::ranges::range_reference_t<Range>>
    arena_vector(Range&& values, R& owner) : owner_(&owner) {
        append(std::forward<Range>(values));
    }

    /// In the same resource as `other`.
    arena_vector(const arena_vector& other) : owner_(other.owner_) { append(other); }

    /// Takes over the elements, which stay where they are.
    arena_vector(arena_vector&& other) noexcept
        : owner_(other.owner_),
          data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)),
          extended_(std::exchange(other.extended_, false)) {}

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

    ~arena_vector() {
        clear();
        give_back();
    }

    void swap(arena_vector& other) noexcept {
        std::swap(owner_, other.owner_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        std::swap(extended_, other.extended_);
    }

    /// A new last element. Throws what the resource and the constructor throw; then nothing has changed. Constant time on
    /// average. The arguments may refer to elements of this.
    template <class... Arguments>
    T& emplace_back(Arguments&&... arguments) {
        if (size_ == capacity_) [[unlikely]]
            return *required(emplace_grown<true>(std::forward<Arguments>(arguments)...));
        return *construct_last(std::forward<Arguments>(arguments)...);
    }
    void push_back(const T& value) { emplace_back(value); }
    void push_back(T&& value) { emplace_back(std::move(value)); }

    /// As emplace_back, but null, and nothing changed, when there is no memory.
    template <class... Arguments>
    T* try_emplace_back(Arguments&&... arguments) {
        if (size_ == capacity_) [[unlikely]]
            return emplace_grown<false>(std::forward<Arguments>(arguments)...);
        return construct_last(std::forward<Arguments>(arguments)...);
    }

    /// The elements of a range, behind those there are. What of them was appended before one threw stays.
    template <std::ranges::input_range Range>
    void append(Range&& values) {
        if constexpr (std::ranges::sized_range<Range>)
            reserve(size_ + static_cast<std::size_t>(std::ranges::size(values)));
        for (auto&& each : values) emplace_back(std::forward<decltype(each)>(each));
    }

    /// Removes the last element; there must be one.
    void pop_back() noexcept {
        assert(size_ > 0);
        std::destroy_at(data_ + --size_);
    }

    /// A copy of `value` in front of `place`. Linear in the elements behind it.
    iterator insert(const_iterator place, T value) {
        const auto index = place - data_;
        emplace_back(std::move(value));
        std::rotate(data_ + index, data_ + size_ - 1, data_ + size_);
        return data_ + index;
    }

    /// Removes the elements from `first` to before `last`. Linear in the elements behind.
    iterator erase(const_iterator first, const_iterator last) {
        iterator begin = data_ + (first - data_);
        iterator kept = std::move(data_ + (last - data_), data_ + size_, begin);
        destroy_from(static_cast<std::size_t>(kept - data_));
        return begin;
    }
    iterator erase(const_iterator place) { return erase(place, place + 1); }

    /// Destroys all elements; keeps the storage.
    void clear() noexcept { destroy_from(0); }

    /// `count` elements: those beyond are destroyed, those missing are value-initialised, or copies of `value`.
    void resize(std::size_t count) {
        destroy_from(std::min(count, size_));
        reserve(count);
        while (size_ < count) construct_last();
    }
    void resize(std::size_t count, const T& value) {
        const T copy = value;  // an element of this may be meant, and growing moves it
        destroy_from(std::min(count, size_));
        reserve(count);
        while (size_ < count) construct_last(copy);
    }

    /// Storage for at least `count` elements. Throws what the resource throws.
    void reserve(std::size_t count) {
        if (count > capacity_ && !grow<true>(count)) required(nullptr);
    }
    /// As reserve, but false when there is no memory.
    bool try_reserve(std::size_t count) noexcept(std::is_nothrow_move_constructible_v<T>) {
        return count <= capacity_ || grow<false>(count);
    }

    /// Gives the room behind the last element back, if it is the last allocation of its resource.
    void shrink_to_fit() noexcept {
        if (size_ == 0) return give_back();
        if (size_ < capacity_ && owner_->try_resize(data_, capacity_ * sizeof(T), size_ * sizeof(T))) capacity_ = size_;
    }

    /// The elements, which stay in the resource until it takes everything back; this vector is empty then. For types that
    /// nobody needs to destroy.
    std::span<T> leave() noexcept {
        static_assert(std::is_trivially_destructible_v<T>, "nobody would destroy these");
        const std::span<T> left{data_, size_};
        data_ = nullptr;
        size_ = 0;
        capacity_ = 0;
        return left;
    }

    std::size_t size() const noexcept { return size_; }
    /// Elements that there is storage for.
    std::size_t capacity() const noexcept { return capacity_; }
    bool empty() const noexcept { return size_ == 0; }
    T* data() noexcept { return data_; }
    const T* data() const noexcept { return data_; }
    T& operator[](std::size_t index) noexcept { return assert(index < size_), data_[index]; }
    const T& operator[](std::size_t index) const noexcept { return assert(index < size_), data_[index]; }
    T& front() noexcept { return (*this)[0]; }
    const T& front() const noexcept { return (*this)[0]; }
    T& back() noexcept { return (*this)[size_ - 1]; }
    const T& back() const noexcept { return (*this)[size_ - 1]; }
    iterator begin() noexcept { return data_; }
    iterator end() noexcept { return data_ + size_; }
    const_iterator begin() const noexcept { return data_; }
    const_iterator end() const noexcept { return data_ + size_; }
    const_iterator cbegin() const noexcept { return data_; }
    const_iterator cend() const noexcept { return data_ + size_; }

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
    static constexpr std::size_t first_capacity = std::max<std::size_t>(1, 64 / sizeof(T));
    static constexpr std::size_t most_elements = max_request / 2 / sizeof(T);

    // Storage that is given back unless it is adopted.
    struct fresh_storage {
        R& owner;
        T* elements;
        std::size_t capacity;
        ~fresh_storage() {
            if (elements != nullptr) owner.deallocate(elements, capacity * sizeof(T), alignof(T));
        }
    };

    template <class... Arguments>
    T* construct_last(Arguments&&... arguments) {
        T* made = std::construct_at(data_ + size_, std::forward<Arguments>(arguments)...);
        ++size_;
        return made;
    }

    void destroy_from(std::size_t count) noexcept {
        std::destroy(data_ + count, data_ + size_);
        size_ = count;
    }

    // Where the standard's interface leaves no way to fail but an exception.
    static T* required(T* p) {
        if (!exceptions_enabled && p == nullptr) abort_on_misuse(name, "out of memory without exceptions", nullptr);
        return p;
    }

    // Out of line: growing. The new element is made before the others move, since it may be made of one of them.
    template <bool Throws, class... Arguments>
    [[gnu::noinline]] T* emplace_grown(Arguments&&... arguments) {
        if (extend(size_ + 1)) return construct_last(std::forward<Arguments>(arguments)...);
        fresh_storage fresh = allocate<Throws>(size_ + 1);
        if (fresh.elements == nullptr) return nullptr;
        T* made = std::construct_at(fresh.elements + size_, std::forward<Arguments>(arguments)...);
        adopt(fresh, made);
        ++size_;
        return made;
    }

    template <bool Throws>
    [[gnu::noinline]] bool grow(std::size_t least) {
        if (extend(least)) return true;
        fresh_storage fresh = allocate<Throws>(least);
        if (fresh.elements == nullptr) return false;
        adopt(fresh, nullptr);
        return true;
    }

    // More room where the elements are.
    bool extend(std::size_t least) noexcept {
        if (data_ == nullptr || least > most_elements) return false;
        const std::size_t wanted = std::max(least, capacity_ + std::max(capacity_ / 8, first_capacity));
        if (!extend_to(wanted) && !(least < wanted && extend_to(least))) return false;
        extended_ = true;
        return true;
    }
    bool extend_to(std::size_t count) noexcept {
        if (!owner_->try_resize(data_, capacity_ * sizeof(T), count * sizeof(T))) return false;
        capacity_ = count;
        return true;
    }

    // Who could extend has come to the end of a block and will be able to again; who could not doubles.
    template <bool Throws>
    fresh_storage allocate(std::size_t least) {
        const std::size_t grown = capacity_ + (extended_ ? capacity_ / 8 : capacity_);
        const std::size_t count = std::max({least, std::min(grown, most_elements), first_capacity});
        const std::size_t bytes = least > most_elements ? SIZE_MAX : count * sizeof(T);
        void* p = Throws ? owner_->allocate(bytes, alignof(T)) : owner_->try_allocate(bytes, alignof(T));
        return {*owner_, static_cast<T*>(p), count};
    }

    // Moves the elements to `fresh`; if that throws, `last`, which is there already, is destroyed.
    void adopt(fresh_storage& fresh, T* last) {
        move_to(fresh.elements, last);
        std::destroy(data_, data_ + size_);
        if (data_ != nullptr) give_back_moved();
        data_ = std::exchange(fresh.elements, nullptr);
        capacity_ = fresh.capacity;
        extended_ = false;
    }

    void move_to(T* place, T* last) {
        if constexpr (std::is_trivially_copyable_v<T>) {
            if (size_ != 0) std::memcpy(static_cast<void*>(place), data_, size_ * sizeof(T));
        } else {
            struct guard {
                T* made;
                ~guard() {
                    if (made != nullptr) std::destroy_at(made);
                }
            } unless_moved{last};
            if constexpr (std::is_nothrow_move_constructible_v<T> || !std::is_copy_constructible_v<T>) {
                std::uninitialized_move_n(data_, size_, place);
            } else {
                std::uninitialized_copy_n(data_, size_, place);
            }
            unless_moved.made = nullptr;
        }
    }

    void give_back_moved() noexcept {
        if constexpr (requires { owner_->deallocate_moved(data_, capacity_, alignof(T)); }) {
            owner_->deallocate_moved(data_, capacity_ * sizeof(T), alignof(T));
        } else {
            owner_->deallocate(data_, capacity_ * sizeof(T), alignof(T));
        }
    }

    void give_back() noexcept {
        if (data_ != nullptr) owner_->deallocate(data_, capacity_ * sizeof(T), alignof(T));
        data_ = nullptr;
        capacity_ = 0;
    }

    R* owner_;
    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    bool extended_ = false;  // room was added where the elements are, since they came there
};

}  // namespace acre
