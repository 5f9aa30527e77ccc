// A vector in an arena, which grows in place while it is the arena's last allocation. std::vector cannot, and leaves
// each smaller buffer behind.
//
// Use it for lists that are built in an arena. Use std::vector over acre::allocator where an interface needs it,
// arena::allocate<T>(n) where the number is known, acre::cursor for many objects that need not be adjacent.
//
// Cost: push_back is amortised constant time. While nothing else is allocated from the arena, elements do not move
// within a block: the capacity doubles up to 512 elements, grows by a quarter up to 896, then by an eighth. At the end
// of a block the elements move to the next one. If something else was allocated, the capacity doubles and the elements
// move, as in std::vector. The destructor destroys the elements and gives the storage back if it is still the last
// allocation. Not thread-safe. The arena must live longer; destroy the vector before a reset of the arena.
//
//     acre::arena_vector<Token> tokens{level};
//     for (Token token; next(token);) tokens.push_back(token);
//     parse(std::span{tokens});
//
// Any resource that can resize in place will do: acre::arena_vector<int, acre::multi_arena>.
#pragma once

#include <acre/arenas/arena.hpp>
#include <acre/arenas/detail/sequence_face.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/at_least.hpp>
#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/iterable.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/referred.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <cassert>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

namespace acre {

namespace detail {
template <class Value, class T>
concept element_or_number =
    std::is_arithmetic_v<std::remove_cvref_t<Value>> || std::is_same_v<std::remove_cvref_t<Value>, std::remove_cv_t<T>>;
}  // namespace detail

/// A contiguous sequence of T in a resource R.
template <class T, class R>
class arena_vector : public detail::sequence_face<arena_vector<T, R>, T, R> {
    using face = detail::sequence_face<arena_vector, T, R>;
    static_assert(resizable_resource<R>, "acre::arena_vector: its resource has try_resize, as acre::arena");

public:
    static constexpr const char* name = "acre::arena_vector";
    using face::append, face::assign, face::erase, face::insert;
    using face::begin, face::end;
    using typename face::const_iterator;
    using typename face::iterator;

    /// Empty; takes no memory.
    explicit arena_vector(R& owner) noexcept : owner_(&owner) {}

    /// Refused by a sentence: no arena.
    __attribute__((unavailable("acre: give the vector its arena, v{level}; one without an arena is a std::vector")))
    arena_vector();
    /// Refused by a sentence: elements without an arena, or a number of them.
    template <class... Values>
        requires(sizeof...(Values) != 0 && (detail::element_or_number<Values, T> && ...) &&
                 !(detail::memory_of<Values, R> || ...))
    __attribute__((
        unavailable("acre: give the vector its arena last, as in v(5, level) or v({1, 2}, "
                    "level)"))) explicit arena_vector(Values&&...);
    /// Refused by a sentence: a number of elements.
    template <std::integral Number>
    __attribute__((unavailable("acre: make the vector empty, v{level}, and call v.resize(count)"))) arena_vector(
        R&, Number);

    /// Of a pointer to the resource, or of a handle, here and below. Throws bad_option for null.
    template <detail::stands_for<R> From>
    explicit arena_vector(From&& from) : arena_vector(detail::referred<R>(name, std::forward<From>(from))) {}

    /// Of what get_allocator returns.
    template <class Other>
    explicit arena_vector(const allocator<Other, R>& memory) : arena_vector(memory.referred()) {}

    /// Refused by a sentence: a resource that the type does not name.
    template <resource Other>
        requires(!std::is_convertible_v<Other*, const R*> && !detail::scope_of<Other, R>)
    explicit arena_vector(Other&) {
        static_assert(std::is_void_v<Other>,
                      "acre: the type names the resource: arena_vector<T> is of an acre::arena, and of another one "
                      "write acre::arena_vector<T, Resource>");
    }

    /// Copies of `values`. Throws what the resource and the elements throw.
    arena_vector(std::initializer_list<T> values, R& owner) : arena_vector(owner) { append(values); }

    /// Memory comes from the resource, a pointer to it, a handle, or what get_allocator returns, here and below.
    template <detail::memory_of<R> Memory>
    arena_vector(std::initializer_list<T> values, Memory&& memory) : arena_vector(std::forward<Memory>(memory)) {
        append(values);
    }
    /// Copies of the elements of a range.
    template <detail::iterable Range, detail::memory_of<R> Memory>
        requires std::constructible_from<T, detail::element_of<Range>>
    arena_vector(Range&& values, Memory&& memory) : arena_vector(std::forward<Memory>(memory)) {
        append(std::forward<Range>(values));
    }
    template <class First, class Last, detail::memory_of<R> Memory>
        requires detail::iterator_and_end<First, Last>
    arena_vector(First first, Last last, Memory&& memory) : arena_vector(std::forward<Memory>(memory)) {
        append(first, last);
    }
    /// `count` elements, value-initialised or copies of `value`.
    template <std::integral Count, detail::memory_of<R> Memory>
    arena_vector(Count count, Memory&& memory) : arena_vector(std::forward<Memory>(memory)) {
        resize(static_cast<std::size_t>(count));
    }
    template <detail::memory_of<R> Memory>
    arena_vector(std::size_t count, const T& value, Memory&& memory) : arena_vector(std::forward<Memory>(memory)) {
        resize(count, value);
    }
    /// The elements of `other`, which move where it has the same resource and are moved one by one where not.
    template <detail::memory_of<R> Memory>
    arena_vector(arena_vector&& other, Memory&& memory) : arena_vector(std::forward<Memory>(memory)) {
        *this = std::move(other);
    }

    /// Copies the elements, in the resource of `other`.
    arena_vector(const arena_vector& other) : arena_vector(*other.owner_) { append(other); }

    /// Takes over the elements, which do not move.
    arena_vector(arena_vector&& other) noexcept : owner_(other.owner_) { swap(other); }

    /// Copies the elements into the resource of this vector. Throws what the resource throws; then nothing has changed.
    arena_vector& operator=(const arena_vector& other) {
        if (this == &other) return *this;
        clear_with_room(other.size());
        append(other);
        return *this;
    }

    arena_vector& operator=(std::initializer_list<T> values) { return assign(values); }

    /// Takes over the elements of a vector in the same resource, in constant time. Those of another resource move into
    /// this one, and `other` is empty afterwards; throws what the resource throws, then neither has changed.
    arena_vector& operator=(arena_vector&& other) noexcept(false) {
        if (owner_ == other.owner_) {
            arena_vector taken{std::move(other)};
            swap(taken);
        } else {
            clear_with_room(other.size());
            for (T& each : other) emplace_back(std::move(each));
            other.clear();
        }
        return *this;
    }

    [[gnu::always_inline]] ~arena_vector() {
        clear();
        give_back();
    }

    /// Constant time. Aborts where the resources differ: each vector keeps its own.
    void swap(arena_vector& other) noexcept {
        if (owner_ != other.owner_) [[unlikely]]
            abort_on_misuse(name, detail::mistake::swapped_resources, this);
        std::swap(begin_, other.begin_);
        std::swap(end_, other.end_);
        std::swap(limit_, other.limit_);
        std::swap(extended_, other.extended_);
    }

    /// Appends an element. Throws what the resource and the constructor throw; then nothing has changed. Amortised
    /// constant time. The arguments may refer to elements of this vector.
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

    /// Appends the elements of a range, which may be a contiguous part of this vector. If one throws, those before it
    /// stay appended.
    template <detail::iterable Range>
    void append(Range&& values) {
        if constexpr (is_span_of_elements<Range>) {
            const std::span<const T> span{values};
            if (is_own(span.data())) return append_own(static_cast<std::size_t>(span.data() - begin_), span.size());
        }
        reserve(size() + detail::known_size(values));
        for (auto&& each : values) emplace_back(std::forward<decltype(each)>(each));
    }
    /// The same of the range [first, last), which tells its size where last - first does.
    template <class First, class Last>
        requires detail::iterator_and_end<First, Last>
    void append(First first, Last last) {
        if constexpr (std::is_constructible_v<std::span<const T>, First, Last>) {
            append(std::span<const T>{first, last});
        } else {
            if constexpr (requires { static_cast<std::size_t>(last - first); })
                reserve(size() + static_cast<std::size_t>(last - first));
            for (; first != last; ++first) emplace_back(*first);
        }
    }

    /// Replaces the elements by those of `values`, which must not be part of this vector. Keeps the storage if it is
    /// large enough. Throws what the resource throws; then nothing has changed. Of a range that does not tell its size
    /// the elements that fit are in the vector instead.
    template <detail::iterable Range>
        requires std::constructible_from<T, detail::element_of<Range>>
    void assign(Range&& values) {
        clear_with_room(detail::known_size(values));
        append(std::forward<Range>(values));
    }
    /// Removes the last element. Requires that there is one.
    void pop_back() noexcept {
        assert(!empty());
        detail::destroy_at(--end_);
    }

    /// Inserts `value` before `position`. Linear in the elements behind it.
    iterator insert(const_iterator position, T value) {
        const auto index = position - begin_;
        emplace_back(std::move(value));
        T* const place = begin_ + index;
        T* each = end_ - 1;
        T inserted = std::move(*each);
        for (; each != place; --each) *each = std::move(each[-1]);
        *place = std::move(inserted);
        return place;
    }
    template <class... Arguments>
    iterator emplace(const_iterator position, Arguments&&... arguments) {
        return insert(position, T(std::forward<Arguments>(arguments)...));
    }
    /// Removes the elements [first, last). Linear in the elements behind.
    iterator erase(const_iterator first, const_iterator last) {
        iterator erased = begin_ + (first - begin_);
        // Self-move would empty elements such as strings.
        if (first == last) return erased;
        T* kept = erased;
        for (T* each = begin_ + (last - begin_); each != end_; ++each, ++kept) *kept = std::move(*each);
        destroy_from(kept);
        return erased;
    }

    /// Destroys all elements; keeps the storage.
    [[gnu::always_inline]] void clear() noexcept { destroy_from(begin_); }

    /// Destroys elements beyond `count`; adds missing ones, value-initialised or copies of `value`.
    void resize(std::size_t count) {
        destroy_from(begin_ + detail::min(count, size()));
        reserve(count);
        while (size() < count) construct_last();
    }
    void resize(std::size_t count, const T& value) {
        const T copy = value;  // `value` may be an element, and growing moves it
        destroy_from(begin_ + detail::min(count, size()));
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

    /// Gives unused capacity back, if this is the last allocation of the resource.
    void shrink_to_fit() noexcept {
        if (empty()) return give_back();
        if (end_ < limit_ && owner_->try_resize(begin_, capacity() * sizeof(T), size() * sizeof(T))) limit_ = end_;
    }

    /// The elements, which stay in the resource until it takes everything back. Leaves the vector empty. For trivially
    /// destructible types.
    std::span<T> detach() noexcept {
        static_assert(std::is_trivially_destructible_v<T>, "acre: nobody would destroy these");
        const std::span<T> elements{begin_, end_};
        begin_ = end_ = limit_ = nullptr;
        return elements;
    }

    std::size_t size() const noexcept { return static_cast<std::size_t>(end_ - begin_); }
    /// Elements that fit in the storage.
    std::size_t capacity() const noexcept { return static_cast<std::size_t>(limit_ - begin_); }
    static constexpr std::size_t max_size() noexcept { return max_elements; }
    bool empty() const noexcept { return begin_ == end_; }
    T* data() noexcept { return begin_; }
    const T* data() const noexcept { return begin_; }
    T& operator[](std::size_t index) noexcept { return assert(index < size()), begin_[index]; }
    const T& operator[](std::size_t index) const noexcept { return assert(index < size()), begin_[index]; }

    /// The resource that the elements lie in.
    R& referred() const noexcept { return *owner_; }

    friend bool operator==(const arena_vector& a, const arena_vector& b)
        requires std::equality_comparable<T>
    {
        if (a.size() != b.size()) return false;
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (!(a[i] == b[i])) return false;
        }
        return true;
    }
    friend auto operator<=>(const arena_vector& a, const arena_vector& b)
        requires std::three_way_comparable<T>
    {
        using ordering = std::common_comparison_category_t<std::compare_three_way_result_t<T>, std::strong_ordering>;
        for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
            if (const ordering found = a[i] <=> b[i]; std::is_neq(found)) return ordering{found};
        }
        return ordering{a.size() <=> b.size()};
    }

private:
    // Sets the number of characters, which need no constructor.
    friend class basic_arena_string<R>;

    static constexpr bool passed_in_registers =
        std::is_trivially_copyable_v<T> && std::is_copy_constructible_v<T> && sizeof(T) <= 2 * sizeof(void*);
    static constexpr std::size_t first_capacity = detail::max<std::size_t>(1, 64 / sizeof(T));
    static constexpr std::size_t max_doubled = 512;    // in place, a larger capacity does not double
    static constexpr std::size_t max_quartered = 896;  // and grows by a quarter up to this, then by an eighth
    static constexpr std::size_t max_elements = max_request / 2 / sizeof(T);

    // The storage. Growing functions take and return it by value, in registers: the vector's address never escapes, and
    // a loop of push_back keeps its end pointer in a register.
    struct room {
        T* begin;
        T* limit;
        std::size_t capacity() const noexcept { return static_cast<std::size_t>(limit - begin); }
        std::size_t bytes() const noexcept { return capacity() * sizeof(T); }
    };

    template <class Range>
    static constexpr bool is_span_of_elements =
        std::is_copy_constructible_v<T> && std::is_constructible_v<std::span<const T>, Range&>;

    bool is_own(const T* p) const noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        return address >= reinterpret_cast<std::uintptr_t>(begin_) && address < reinterpret_cast<std::uintptr_t>(end_);
    }

    // Destroys all elements, of a vector with room for `count`. The room comes first: without memory the elements stay.
    void clear_with_room(std::size_t count) {
        reserve(count);
        clear();
    }

    void append_own(std::size_t first, std::size_t count) {
        reserve(size() + count);
        for (std::size_t i = 0; i < count; ++i) emplace_back(std::as_const(begin_[first + i]));
    }

    // By value, so that the value need not lie in memory either.
    [[gnu::always_inline]] void push_back_copy(const T value) {
        if (end_ == limit_) [[unlikely]]
            adopt(grown<true>(*owner_, {begin_, limit_}, end_, extended_, capacity() + 1));
        construct_last(value);
    }

    template <class... Arguments>
    T* construct_last(Arguments&&... arguments) {
        T* made = detail::construct_at(end_, std::forward<Arguments>(arguments)...);
        ++end_;
        return made;
    }

    [[gnu::always_inline]] void destroy_from(T* kept) noexcept {
        detail::destroy(kept, end_);
        end_ = kept;
    }

    // Inlined on exception paths, too: a call would force the vector into memory, also in the loop that may throw.
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

    // Out of line: grows the full storage `full` by one element, which is made before the others move: its arguments
    // may refer to one. Returns `full` when there is no memory and `Throws` is false.
    template <bool Throws, class... Arguments>
    [[gnu::noinline]] static room emplaced(R& owner, room full, bool extended, Arguments&&... arguments) {
        if (const room longer = extend(owner, full, full.capacity() + 1); longer.limit != full.limit) {
            extension_guard guard{owner, full, longer};
            detail::construct_at(full.limit, std::forward<Arguments>(arguments)...);
            guard.kept = true;
            return longer;
        }
        fresh_storage fresh{owner, allocate<Throws>(owner, full, extended, full.capacity() + 1)};
        if (fresh.at.begin == nullptr) return full;
        T* made = detail::construct_at(fresh.at.begin + full.capacity(), std::forward<Arguments>(arguments)...);
        move_to(fresh.at.begin, full.begin, full.limit, made);
        give_back_moved(owner, full);
        return fresh.adopted();
    }

    template <bool Throws>
    [[gnu::noinline]] static room grown(R& owner, room from, T* end, bool extended, std::size_t min_count) {
        if (const room longer = extend(owner, from, min_count); longer.limit != from.limit) return longer;
        fresh_storage fresh{owner, allocate<Throws>(owner, from, extended, min_count)};
        if (fresh.at.begin == nullptr) return from;
        move_to(fresh.at.begin, from.begin, end, nullptr);
        give_back_moved(owner, from);
        return fresh.adopted();
    }

    // Grows in place: by the usual share, or less where that does not fit. Returns `from` when `min_count` elements do
    // not fit.
    static room extend(R& owner, room from, std::size_t min_count) noexcept {
        if (from.begin == nullptr || min_count > max_elements) return from;
        const std::size_t capacity = from.capacity();
        const std::size_t share = capacity < max_doubled ? 1 : capacity < max_quartered ? 4 : 8;
        std::size_t more = detail::max(min_count - capacity, capacity / share);
        while (!owner.try_resize(from.begin, from.bytes(), (capacity + more) * sizeof(T))) {
            if (capacity + more == min_count) return from;
            more = detail::max(min_count - capacity, more / 2);
        }
        return {from.begin, from.limit + more};
    }

    // New storage. A vector that grew in place so far is at the end of a block and will grow in place again, so it
    // takes an eighth more; any other doubles. If `Throws`, without exceptions, the only way to fail is to abort.
    template <bool Throws>
    static room allocate(R& owner, room from, bool extended, std::size_t min_count) {
        const std::size_t more = extended ? from.capacity() / 8 : from.capacity();
        const std::size_t count =
            detail::max(detail::max(min_count, detail::min(from.capacity() + more, max_elements)), first_capacity);
        const std::size_t bytes =
            min_count > max_elements ? SIZE_MAX : detail::bytes_given(owner, count * sizeof(T), alignof(T));
        void* p = Throws ? owner.allocate(bytes, alignof(T)) : owner.try_allocate(bytes, alignof(T));
        if (Throws && !exceptions_enabled && p == nullptr) abort_on_misuse(name, "out of memory without exceptions", p);
        if (p == nullptr) return {nullptr, nullptr};
        return {static_cast<T*>(p), static_cast<T*>(p) + bytes / sizeof(T)};
    }

    // Gives storage back unless it is adopted.
    struct fresh_storage {
        R& owner;
        room at;
        room adopted() noexcept { return std::exchange(at, room{nullptr, nullptr}); }
        ~fresh_storage() {
            if (at.begin != nullptr) owner.deallocate(at.begin, at.bytes(), alignof(T));
        }
    };

    // Undoes an extension when the construction in it throws.
    struct extension_guard {
        R& owner;
        room before;
        room extended;
        bool kept = false;
        ~extension_guard() {
            if (!kept) owner.try_resize(before.begin, extended.bytes(), before.bytes());
        }
    };

    // Moves the elements [begin, end) to `target`. If that throws, destroys `last`, which was made there before.
    static void move_to(T* target, T* begin, T* end, T* last) {
        const auto count = static_cast<std::size_t>(end - begin);
        if constexpr (std::is_trivially_copyable_v<T>) {
            if (count != 0) std::memcpy(static_cast<void*>(target), begin, count * sizeof(T));
        } else {
            struct guard {
                T* made;
                ~guard() {
                    if (made != nullptr) detail::destroy_at(made);
                }
            } unless_moved{last};
            T* from = begin;
            if constexpr (std::is_nothrow_move_constructible_v<T> || !std::is_copy_constructible_v<T>) {
                detail::construct_each(target, count, [&from](T* at) { detail::construct_at(at, std::move(*from++)); });
            } else {
                detail::construct_each(target, count, [&from](T* at) { detail::construct_at(at, *from++); });
            }
            unless_moved.made = nullptr;
            detail::destroy(begin, end);
        }
    }

    static void give_back_moved(R& owner, room old) noexcept {
        if (old.begin == nullptr) return;
        if constexpr (requires { owner.deallocate_moved(old.begin, old.bytes(), alignof(T)); }) {
            owner.deallocate_moved(old.begin, old.bytes(), alignof(T));
        } else {
            owner.deallocate(old.begin, old.bytes(), alignof(T));
        }
    }

    R* owner_;
    // Pointers instead of counts: stores to elements may alias a count, but not these pointers.
    T* begin_ = nullptr;
    T* end_ = nullptr;
    T* limit_ = nullptr;     // end of the storage
    bool extended_ = false;  // this storage has grown in place
};

}  // namespace acre
