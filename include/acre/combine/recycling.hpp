// An R that reuses freed storage, for resources that take everything back at once: an arena for containers that free as
// they go.
//
// Use it under std::vector, std::unordered_map and the like in an arena: outgrown buffers serve the next container, and
// erased nodes serve the next insertion. Use acre::multi_pool where allocations do not end together, acre::arena_vector
// where one vector grows.
//
// Each size class has a free list, which lies in the freed storage. R's last allocation goes back to R instead.
//
// A misuse in every build: a double free, whatever was freed between; a write to the first 16 bytes of freed storage,
// when that is handed out again; an address that is not a multiple of 16. A double free after such a write is noticed
// then, too. A live allocation has no record: a free from the middle, of another resource or with another size is
// noticed by acre::checked. AddressSanitizer notices the last two where they matter.
//
// Cost: allocate and deallocate about 60 instructions each for a size known at run time, constant time; a request
// aligned to more than 16 examines up to 32 list entries. The object is 2 KiB larger than an R. Memory: sizes are
// rounded up to 16, 32, 48, 64 and then to four classes a doubling, by at most a quarter. Freed storage does not go
// back to R before a reset. Not thread-safe; acre::synchronized<acre::recycling<R>> is. Movable if R is, in time linear
// in what is in the free lists.
//
//     acre::recycling<acre::arena> level;
//     std::vector<int, acre::allocator<int, acre::recycling<acre::arena>>> v{level};
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/forwarding.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/no_clear.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace acre {

/// An R with a free list for each size class.
template <resettable_resource R>
class recycling : public detail::has_options<R>, public detail::no_clear<recycling<R>> {
    static_assert(!detail::holds_one_class<R>,
                  "acre::recycling keeps freed storage for later, and an object pool would visit and destroy it as an "
                  "object: an object pool uses freed slots again by itself");
    using options = detail::options_of<R>;

public:
    static constexpr const char* name = "acre::recycling";

    /// R is constructed from `arguments`.
    template <class... Arguments>
        requires std::is_constructible_v<R, Arguments...>
    explicit recycling(Arguments&&... arguments) : below_(std::forward<Arguments>(arguments)...) {}
    /// R is constructed from its options.
    explicit recycling(const options& chosen, resource_ref upstream = heap{})
        requires std::is_constructible_v<R, const options&, resource_ref>
        : below_(chosen, upstream) {}

    /// Takes over R and the free lists of `other`, whose R is as after a move, with nothing in its lists. Linear in the
    /// free lists: what lies there names the object that has the list. A misuse: a write to freed storage.
    recycling(recycling&& other) noexcept(std::is_nothrow_move_constructible_v<R>)
        requires std::is_move_constructible_v<R>
        : below_(std::move(other.below_)) {
        take_lists_of(other);
    }
    recycling& operator=(recycling&& other) noexcept(std::is_nothrow_move_assignable_v<R>)
        requires std::is_move_assignable_v<R>
    {
        if (this == &other) return *this;
        below_ = std::move(other.below_);
        take_lists_of(other);
        return *this;
    }
    recycling(const recycling&) = delete;
    recycling& operator=(const recycling&) = delete;

    /// Storage of `bytes` bytes aligned to `alignment`: freed storage of the size class, or new storage of R. Throws
    /// what R throws.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (void* p = take(bytes, alignment)) return p;
        return handed_out(below_.allocate(class_bytes(bytes), at_least_default(alignment)), bytes);
    }
    /// As allocate, but null when it cannot.
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (void* p = take(bytes, alignment)) return p;
        return handed_out(below_.try_allocate(class_bytes(bytes), at_least_default(alignment)), bytes);
    }
    /// Keeps the storage for the next request of its size class, or gives it back if it is R's last allocation; null is
    /// a no-op. A misuse, in every build: a double free, and an address that is not a multiple of 16.
    void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (p == nullptr) return;
        const std::size_t all = class_bytes(bytes);
        check_free(p, bytes);
        if constexpr (requires { below_.is_last(p, all), below_.is_unused(p); }) {
            if (below_.is_last(p, all)) {
                unpoison(p, all);
                return below_.deallocate(p, all, alignment);
            }
            // What went back to R, and was not handed out since.
            if (below_.is_unused(p)) [[unlikely]]
                abort_on_misuse(name, detail::mistake::double_free, p);
        }
        freed*& list = freed_[class_of(all)];
        unpoison(p, sizeof(freed));
        list = ::new (p) freed{list, &list};
        poison(p, all);
    }

    /// Makes the allocation at `p` `new_bytes` long where it is. False, and nothing changed, when R cannot.
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept
        requires resizable_resource<R>
    {
        detail::check_allocation(name, p, old_bytes, true);
        // Storage that shrank into another class could not be given back with its true size, unless it is R's last.
        const std::size_t before = class_bytes(old_bytes);
        const std::size_t all = class_bytes(new_bytes);
        if (all == before) {
            poison_resized(p, old_bytes, new_bytes);
            return true;
        }
        poison_resized(p, old_bytes, before);
        const bool resized = resize_below(p, before, all);
        if (resized) {
            poison_resized(p, all, new_bytes);
        } else {
            poison_resized(p, before, old_bytes);
        }
        return resized;
    }

    /// R takes everything back; the free lists become empty.
    template <class... Arguments>
        requires requires(R& r, Arguments&&... arguments) { r.reset(std::forward<Arguments>(arguments)...); }
    void reset(Arguments&&... arguments) noexcept {
        freed_ = {};
        below_.reset(std::forward<Arguments>(arguments)...);
    }

    /// As R::capacity(), in bytes: free lists included.
    std::size_t capacity() const noexcept
        requires requires(const R& r) { r.capacity(); }
    {
        return below_.capacity();
    }
    /// Bytes that R has handed out: in use, or in the free lists.
    std::size_t used() const noexcept
        requires requires(const R& r) { r.used(); }
    {
        return below_.used();
    }
    bool owns(const void* p) const noexcept
        requires owning_resource<R>
    {
        return below_.owns(p);
    }

private:
    // In freed storage. `list` says that it is free; in storage that is in use only the user's bytes could look so.
    struct freed {
        freed* next;
        freed** list;
    };

    static constexpr std::size_t min_class = 16;
    static constexpr std::size_t steps = 4;  // classes per doubling
    static constexpr std::size_t class_count = 64 * steps;

    // Classes are 16, 32, 48, 64 and from there on four a doubling.
    static constexpr std::size_t step_of(std::size_t bytes) noexcept {
        return bytes <= 64 ? min_class : std::bit_floor(bytes - 1) / steps;
    }
    // Bytes requested from R. R refuses requests so large that rounding would wrap.
    static constexpr std::size_t class_bytes(std::size_t bytes) noexcept {
        if (bytes > max_request / 4) return bytes;
        const std::size_t step = step_of(bytes);
        return bytes <= min_class ? min_class : (bytes + step - 1) / step * step;
    }
    static constexpr std::size_t class_of(std::size_t all) noexcept {
        if (all <= 64) return all / min_class - 1;
        const std::size_t below = std::bit_floor(all - 1);
        const auto doublings = static_cast<std::size_t>(std::countr_zero(below / 64));
        return (doublings + 1) * steps + (all - below) / (below / steps) - 1;
    }
    static_assert(class_of(16) == 0 && class_of(64) == 3 && class_of(80) == 4 && class_of(128) == 7);
    static_assert(class_of(160) == 8 && class_of(max_request / 4 + 1) < class_count);

    // Fresh storage of R, which may be null. The bytes that the class has and the request does not are poisoned.
    static void* handed_out(void* p, std::size_t bytes) noexcept {
        if (p == nullptr) return nullptr;
        unpoison(p, sizeof(freed));
        ::new (p) freed{nullptr, nullptr};
        poison(p, class_bytes(bytes));
        unpoison(p, bytes);
        return p;
    }

    void check_free(void* p, std::size_t bytes) noexcept {
        if constexpr (poisoning && owning_resource<R>) {
            if (!below_.owns(p)) abort_on_misuse(name, detail::mistake::foreign_pointer, p);
        }
        detail::check_allocation(name, p, bytes);
        if (!is_aligned(p, min_class)) [[unlikely]]
            abort_on_misuse(name, detail::mistake::inside_an_allocation, p);
        unpoison_defined(p, sizeof(freed));
        freed** const list = static_cast<freed*>(p)->list;
        if (reinterpret_cast<std::uintptr_t>(list) - reinterpret_cast<std::uintptr_t>(freed_.data()) < sizeof freed_)
            [[unlikely]]
            check_slow(p, *list);
    }
    // Out of line: `p` seems to be in a list, or its user wrote an address in this object. Linear in that list.
    [[gnu::noinline]] void check_slow(const void* p, freed* each) noexcept {
        for (; each != nullptr; each = *next_of(each)) {
            if (each == p) abort_on_misuse(name, detail::mistake::double_free, p);
        }
    }

    bool resize_below(void* p, std::size_t before, std::size_t all) noexcept {
        if constexpr (requires { below_.is_last(p, all); }) {
            if (!below_.is_last(p, before)) return false;
        } else {
            if (all < before) return false;
        }
        return below_.try_resize(p, before, all);
    }

    void* take(std::size_t bytes, std::size_t alignment) noexcept {
        if (bytes > max_request / 4) return nullptr;
        const std::size_t all = class_bytes(bytes);
        freed*& list = freed_[class_of(all)];
        if (!is_alignment(alignment)) return nullptr;
        // All entries are aligned to 16; for larger alignments some are examined.
        freed** link = &list;
        for (int examined = 0; *link != nullptr; ++examined) {
            if (is_aligned(*link, alignment)) return handed_out(unlink(link, &list), bytes);
            if (examined == max_examined) break;
            link = next_of(*link);
        }
        return nullptr;
    }

    static std::size_t at_least_default(std::size_t alignment) noexcept {
        return is_alignment(alignment) ? detail::max(alignment, default_alignment) : alignment;
    }

    // The links lie in poisoned storage; those examined stay readable.
    static freed** next_of(freed* each) noexcept {
        unpoison_defined(each, sizeof(freed));
        return &each->next;
    }

    // Of the list at `list`. What was freed twice in spite of all is in it twice, but says so once.
    static freed* unlink(freed** link, freed** list) noexcept {
        freed* taken = *link;
        freed* const next = *next_of(taken);
        if (taken->list != list) [[unlikely]]
            abort_on_misuse(name, detail::mistake::written_after_free, taken);
        *link = next;
        return taken;
    }

    // What this object's lists held went back with the storage of its R.
    void take_lists_of(recycling& other) noexcept {
        for (std::size_t i = 0; i < class_count; ++i) {
            freed_[i] = std::exchange(other.freed_[i], nullptr);
            for (freed* each = freed_[i]; each != nullptr;) each = retold(each, &other.freed_[i], &freed_[i]);
        }
    }
    // What lies behind `each`, which said that it is in the list at `before`, and says `now` from here on.
    static freed* retold(freed* each, freed** before, freed** now) noexcept {
        freed* const next = *next_of(each);
        if (each->list != before) [[unlikely]]
            abort_on_misuse(name, detail::mistake::written_after_free, each);
        each->list = now;
        poison(each, sizeof(freed));
        return next;
    }

    static constexpr int max_examined = 32;

    R below_;
    std::array<freed*, class_count> freed_{};
};

}  // namespace acre
