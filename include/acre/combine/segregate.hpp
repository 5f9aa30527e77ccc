// Two resources by size: requests of up to a threshold go to one, larger requests to the other; for example small ones
// to a pool, the rest to the heap.
//
// Storage goes back by the same rule, so nothing is looked up. Use acre::multi_pool for sizes of all kinds. Nest for
// more than two: segregate<64, pool<64>, segregate<512, pool<512>, heap>>.
//
// Cost: one comparison, none where the size is known at compile time. Thread rules: those of the parts; over two
// synchronized ones it needs no lock. Not copied; moved if both parts are.
//
//     acre::segregate<128, acre::pool<128>, acre::heap> nodes;
#pragma once

#include <acre/combine/detail/two_parts.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/resource.hpp>
#include <cstddef>

namespace acre {

/// Small for requests of up to `Threshold` bytes, Large for others. A part may be a reference.
template <std::size_t Threshold, detail::resource_part Small, detail::resource_part Large>
class segregate : public detail::two_parts<Small, Large> {
    using base = detail::two_parts<Small, Large>;
    using small_type = typename base::first_type;
    using large_type = typename base::second_type;

public:
    static_assert(Threshold < max_request, "acre: the threshold of a segregate is a possible request in bytes");

    static constexpr const char* name = "acre::segregate";
    /// The largest request in bytes that goes to Small.
    static constexpr std::size_t threshold = Threshold;

    using base::base;
    segregate() = default;

    /// Storage from the resource for this size. Throws what that throws.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (is_small(bytes)) return this->first().allocate(bytes, alignment);
        return this->second().allocate(bytes, alignment);
    }
    /// As allocate, but null when it cannot.
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (is_small(bytes)) return this->first().try_allocate(bytes, alignment);
        return this->second().try_allocate(bytes, alignment);
    }
    /// Gives storage back to the resource for this size; null is a no-op.
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes,
                                           std::size_t alignment = default_alignment) noexcept {
        if (is_small(bytes)) return this->first().deallocate(p, bytes, alignment);
        this->second().deallocate(p, bytes, alignment);
    }
    /// Resizes in place if both sizes belong to one resource, which can. False, and nothing changed, when it cannot,
    /// even to shrink.
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept
        requires resizable_resource<small_type> || resizable_resource<large_type>
    {
        if (is_small(old_bytes) != is_small(new_bytes)) return false;
        if (is_small(old_bytes)) return base::resized(this->first(), p, old_bytes, new_bytes);
        return base::resized(this->second(), p, old_bytes, new_bytes);
    }

    /// The resource for requests of up to `Threshold` bytes.
    small_type& small() noexcept { return this->first(); }
    const small_type& small() const noexcept { return this->first(); }
    /// The resource for larger requests.
    large_type& large() noexcept { return this->second(); }
    const large_type& large() const noexcept { return this->second(); }

private:
    static constexpr bool is_small(std::size_t bytes) noexcept { return bytes <= Threshold; }
};

}  // namespace acre
