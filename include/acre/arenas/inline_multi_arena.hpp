// An acre::multi_arena whose arenas lie in the object itself: on the stack or static, with no upstream and no heap at
// all.
//
// Use it where there is no heap, or where number and size are known when the program is compiled: then finding the
// arena of a pointer costs a shift. Thread rules and interface are those of acre::multi_arena, and so are the costs,
// but for the first use of an arena: 59 instructions. It is constant-initialised: as a static it is ready before any
// constructor runs, and costs nothing in the program's file.
//
//     acre::inline_multi_arena<16, 1024> messages;   // 16 KiB inside the object
//     void* message = messages.allocate(100);
//     messages.deallocate(message, 100);
#pragma once

#include <acre/arenas/detail/refcounted_arenas.hpp>
#include <acre/core/resource.hpp>
#include <cstddef>

namespace acre {

namespace detail {
/// Arenas inside the object.
template <std::size_t Arenas, std::size_t Bytes, std::size_t Open, large_requests Large>
class inline_arenas {
protected:
    static constexpr const char* name = "acre::inline_multi_arena";
    // More would make the object itself so strictly aligned, wherever it lies.
    static constexpr std::size_t max_alignment = 64;

    constexpr inline_arenas() noexcept = default;
    inline_arenas(const inline_arenas&) = delete;
    inline_arenas& operator=(const inline_arenas&) = delete;
    ~inline_arenas() { unpoison_defined(bytes(), Arenas * Bytes); }

public:
    static constexpr std::size_t arenas() noexcept { return Arenas; }
    static constexpr std::size_t arena_bytes() noexcept { return Bytes; }

protected:
    std::byte* bytes() const noexcept { return reinterpret_cast<std::byte*>(const_cast<storage*>(&storage_)); }
    detail::arena_record* records() const noexcept { return const_cast<detail::arena_record*>(records_); }
    static constexpr std::size_t base_alignment() noexcept { return std::min(Bytes & (0 - Bytes), max_alignment); }
    // Listing them takes time that no constant has, and would make the storage a part of the program's file.
    static constexpr bool listed_at_once = false;
    static constexpr std::size_t fast_path_max_bytes() noexcept { return Open == 0 ? Bytes : 0; }
    static constexpr std::size_t open_limit() noexcept { return Open; }
    static constexpr large_requests large() noexcept { return Large; }
    static constexpr std::size_t index_of(std::size_t offset) noexcept { return offset / Bytes; }

private:
    // Not filled at construction, and yet a constant.
    union alignas(base_alignment()) storage {
        constexpr storage() noexcept : nothing{} {}
        char nothing;
        std::byte all[Arenas * Bytes];
    };

    storage storage_;
    detail::arena_record records_[Arenas] = {};
};
}  // namespace detail

/// `Arenas` arenas of `Bytes` bytes each, rounded up to a multiple of 16, that count.
template <std::size_t Arenas, std::size_t Bytes, std::size_t Open = 0, large_requests Large = large_requests::refuse>
class inline_multi_arena
    : public detail::refcounted_arenas<detail::inline_arenas<Arenas, align_up(Bytes, default_alignment), Open, Large>> {
    using base =
        detail::refcounted_arenas<detail::inline_arenas<Arenas, align_up(Bytes, default_alignment), Open, Large>>;

public:
    static_assert(Arenas > 0 && Bytes > 0, "an inline_multi_arena has at least one arena of at least one byte");
    static_assert(Bytes <= max_request / 2 / Arenas, "so many bytes do not fit the address space");
    static_assert(Open <= base::max_open, "at most 8 arenas are kept open");

    static constexpr const char* name = "acre::inline_multi_arena";

    constexpr inline_multi_arena() noexcept = default;

    /// Bytes of all arenas.
    static constexpr std::size_t capacity() noexcept { return base::arenas() * base::arena_bytes(); }
};

static_assert(owning_resource<inline_multi_arena<4, 64>> && resettable_resource<inline_multi_arena<4, 64>>);

}  // namespace acre
