// A growing pool for any size that finds memory errors and makes them hard to exploit: the slots of
// acre::hardened_pool, whose header says what it guards against, in the size classes of acre::multi_pool.
//
// Use it under containers and strings that hold what an attacker may send or steal. Use acre::multi_pool where speed
// matters more.
//
// Cost: as acre::hardened_pool, and a lookup of the class. Requests over 8 KiB take pages of their own between guard
// pages, a few system calls each. Each class in use holds a slab of a page and two pages for its header. Takes memory
// from the system alone. Not thread-safe. Not movable.
//
//     acre::hardened_multi_pool texts;
//     std::vector<char, acre::allocator<char, acre::hardened_multi_pool>> key{texts};
#pragma once

#include <acre/core/detail/target.hpp>
#if !ACRE_HAS_VIRTUAL_MEMORY
static_assert(
    false, "acre::hardened_multi_pool needs mmap or VirtualAlloc, and this target has neither: use acre::multi_pool");
#else

#include <acre/core/alignment.hpp>
#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/live_report.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/no_clear.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/pools/detail/hardened_slabs.hpp>
#include <acre/pools/hardened_options.hpp>
#include <acre/pools/size_classes.hpp>
#include <cstddef>

namespace acre {

/// Hardened slots of the size classes of `Classes`, and pages between guard pages for larger requests.
template <class Classes>
    requires true  // acre/core/detail/left_out.hpp
class basic_hardened_multi_pool<Classes> : public detail::no_clear<basic_hardened_multi_pool<Classes>> {
    static_assert(size_class_policy<Classes>,
                  "acre::basic_hardened_multi_pool: see acre/pools/size_classes.hpp for what a policy provides");

    using tables = detail::size_class_tables<Classes>;
    using slabs = detail::hardened_slabs<tables::count>;
    static_assert(
        tables::largest <= slabs::max_slot_bytes,
        "acre::basic_hardened_multi_pool: a size class has at most 32 KiB: larger requests take pages of their "
        "own");

public:
    static constexpr const char* name = "acre::hardened_multi_pool";
    using options_type = hardened_options;
    using classes_type = Classes;

    /// Reserves addresses and takes no memory. Throws as virtual_memory.
    basic_hardened_multi_pool() : basic_hardened_multi_pool(hardened_options{}) {}
    explicit basic_hardened_multi_pool(const hardened_options& options)
        : slabs_(name, options), report_(options.report_live) {}

    basic_hardened_multi_pool(const basic_hardened_multi_pool&) = delete;
    basic_hardened_multi_pool& operator=(const basic_hardened_multi_pool&) = delete;

    /// Gives everything back to the system, live allocations included.
    ~basic_hardened_multi_pool() {
        report_.write(name, [this] { return live(); });
        slabs_.check_free_slots(name);
    }

    /// Returns `bytes` bytes aligned to `alignment`, any power of two. Throws as virtual_memory.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (void* p = try_allocate(bytes, alignment)) [[likely]]
            return p;
        return slabs_.fail(name, bytes, alignment);
    }
    /// As allocate, but null where that would throw.
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        std::size_t index;
        if (!find(bytes, alignment, index)) return slabs_.try_allocate_large(bytes, alignment);
        return slabs_.take(index, tables::bytes(index), bytes, name);
    }
    /// Frees what allocate returned for the same size and alignment; null is a no-op.
    void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (p == nullptr) return;
        std::size_t index;
        if (!find(bytes, alignment, index)) return slabs_.deallocate_large(name, p, bytes);
        slabs_.give_back(index, tables::bytes(index), name, p);
    }

    /// Gives slabs without a live slot back to the system and returns their bytes; ends the quarantine of all slots.
    std::size_t release_unused() noexcept { return slabs_.release_unused(name); }
    /// Gives all memory back to the system; everything handed out becomes invalid.
    void release() noexcept { slabs_.release(name); }
    /// Frees everything at once and keeps up to 16 MiB. Here and in release(), free slots are checked first: linear in
    /// their bytes.
    void reset() noexcept { slabs_.reset(name); }

    /// Bytes that the system was asked for.
    std::size_t capacity() const noexcept { return slabs_.capacity(); }
    /// Bytes of the live slots and of larger requests. Linear in the size classes.
    std::size_t used() const noexcept {
        std::size_t bytes = slabs_.large_bytes();
        for (std::size_t i = 0; i < tables::count; ++i) bytes += slabs_.live_slots(i) * tables::bytes(i);
        return bytes;
    }
    /// Number of live allocations. Linear in the size classes.
    std::size_t live() const noexcept {
        std::size_t count = slabs_.large_count();
        for (std::size_t i = 0; i < tables::count; ++i) count += slabs_.live_slots(i);
        return count;
    }
    /// True when `p` lies in the addresses of this pool. Constant time.
    bool owns(const void* p) const noexcept { return slabs_.owns(p); }

private:
    [[gnu::always_inline]] static bool find(std::size_t bytes, std::size_t alignment, std::size_t& index) noexcept {
        return is_alignment(alignment) && alignment <= slabs::max_slot_alignment && bytes <= tables::largest &&
               tables::find(detail::max<std::size_t>(bytes, 1) + redzone_bytes, alignment, index);
    }

    slabs slabs_;
    detail::live_report report_;
};

/// A hardened pool for any size, with the size classes of acre::multi_pool.
using hardened_multi_pool = basic_hardened_multi_pool<default_size_classes>;

static_assert(owning_resource<basic_hardened_multi_pool<default_size_classes>>);

}  // namespace acre

#endif  // ACRE_HAS_VIRTUAL_MEMORY
