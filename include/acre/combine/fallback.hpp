// Two resources in order: the second serves what the first cannot. For example a buffer on the stack and the heap, or a
// pool with a limit and a larger one.
//
// The first resource's owns() decides where storage goes back to. Use acre::segregate where the size decides. An arena
// needs no fallback, since it asks its upstream.
//
// Cost: allocate is that of the first, plus that of the second when the first fails, so failing should be cheap.
// deallocate adds the first's owns(): constant time for a buffer, linear in the blocks of an arena or the slabs of a
// pool. Thread rules: those of the parts; over two synchronized ones it needs no lock. Not copied; moved if both parts
// are. When both fail, the error is the second's.
//
//     acre::fallback<acre::inline_buffer<4096>, acre::heap> request;
//     acre::fallback shared{level, acre::heap{}};  // refers to level, an arena
#pragma once

#include <acre/combine/detail/two_parts.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/resource.hpp>
#include <cstddef>

namespace acre {

/// Primary, then Secondary. A part may be a reference.
template <detail::resource_part Primary, detail::resource_part Secondary>
    requires owning_resource<std::remove_reference_t<Primary>>
class fallback : public detail::two_parts<Primary, Secondary> {
    using base = detail::two_parts<Primary, Secondary>;
    using primary_type = typename base::first_type;
    using secondary_type = typename base::second_type;

public:
    static constexpr const char* name = "acre::fallback";

    using base::base;
    fallback() = default;

    /// Storage from the first, or else from the second. Throws what the second throws.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (void* p = this->first().try_allocate(bytes, alignment)) [[likely]]
            return p;
        return this->second().allocate(bytes, alignment);
    }
    /// As allocate, but null when neither can.
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (void* p = this->first().try_allocate(bytes, alignment)) [[likely]]
            return p;
        return this->second().try_allocate(bytes, alignment);
    }
    /// Gives storage back to where it came from; null is a no-op.
    void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (p == nullptr) return;
        if (this->first().owns(p)) return this->first().deallocate(p, bytes, alignment);
        // Otherwise compilers may warn that storage inside the first resource is passed to the heap.
        asm("" : "+r"(p));
        this->second().deallocate(p, bytes, alignment);
    }
    /// Resizes in place if the resource of `p` can. False, and nothing changed, when it cannot, even to shrink.
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept
        requires resizable_resource<primary_type> || resizable_resource<secondary_type>
    {
        if (this->first().owns(p)) return base::resized(this->first(), p, old_bytes, new_bytes);
        return base::resized(this->second(), p, old_bytes, new_bytes);
    }

    /// The first resource.
    primary_type& primary() noexcept { return this->first(); }
    const primary_type& primary() const noexcept { return this->first(); }
    /// The second resource.
    secondary_type& secondary() noexcept { return this->second(); }
    const secondary_type& secondary() const noexcept { return this->second(); }
};

template <class Primary, class Secondary>
fallback(Primary&&, Secondary&&)
    -> fallback<typename detail::part_type<Primary>::type, typename detail::part_type<Secondary>::type>;

}  // namespace acre
