// An acre::concurrent_multi_arena whose arenas lie in the object itself: static, in shared memory of threads, or a
// member, with no upstream.
//
// Use it where number and size are known when the program is compiled: then finding the arena of a pointer costs a
// shift. The C heap is still asked, once a thread, for the table in which a thread finds its arena; where that has no
// memory the thread shares an arena with others. Interface, thread rules and costs are those of
// acre::concurrent_multi_arena. Its constructor lists the arenas and so runs in turn with those of other statics: use
// it after it has run.
//
//     static acre::inline_concurrent_multi_arena<16, 1024> messages;   // 16 KiB inside the object
//     void* message = messages.allocate(100);     // in one thread
//     messages.deallocate(message, 100);          // in another
#pragma once

#include <acre/arenas/detail/concurrent_lock_free_arenas.hpp>
#include <acre/arenas/detail/lock_free_arenas.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/treiber_stack.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/sanitizer.hpp>
#include <algorithm>
#include <cstddef>

namespace acre {

namespace detail {
/// Arenas inside the object.
template <std::size_t Arenas, std::size_t Bytes>
class inline_shared_arenas {
protected:
    static constexpr const char* name = "acre::inline_concurrent_multi_arena";
    // More would make the object itself so strictly aligned, wherever it lies.
    static constexpr std::size_t max_alignment = 64;

    inline_shared_arenas() noexcept = default;
    inline_shared_arenas(const inline_shared_arenas&) = delete;
    inline_shared_arenas& operator=(const inline_shared_arenas&) = delete;
    ~inline_shared_arenas() { unpoison_defined(bytes(), Arenas * Bytes); }

public:
    static constexpr std::size_t arenas() noexcept { return Arenas; }
    static constexpr std::size_t arena_bytes() noexcept { return Bytes; }

protected:
    std::byte* bytes() const noexcept { return const_cast<std::byte*>(storage_); }
    detail::shared_arena_record<>* records() const noexcept {
        return const_cast<detail::shared_arena_record<>*>(records_);
    }
    detail::thread_arena<>* parts() const noexcept { return const_cast<detail::thread_arena<>*>(parts_); }
    static constexpr std::size_t part_count() noexcept { return Arenas / 2; }
    static constexpr std::size_t index_of(std::size_t offset) noexcept { return offset / Bytes; }

private:
    alignas(64) std::byte storage_[Arenas * Bytes];
    detail::shared_arena_record<> records_[Arenas];
    detail::thread_arena<> parts_[std::max<std::size_t>(Arenas / 2, 1)];
};
}  // namespace detail

/// `Arenas` arenas of `Bytes` bytes each, rounded up to a multiple of 16, that count, for all threads.
template <std::size_t Arenas, std::size_t Bytes>
class inline_concurrent_multi_arena : public detail::concurrent_lock_free_arenas<
                                          detail::inline_shared_arenas<Arenas, align_up(Bytes, default_alignment)>> {
    using base =
        detail::concurrent_lock_free_arenas<detail::inline_shared_arenas<Arenas, align_up(Bytes, default_alignment)>>;

public:
    static_assert(Arenas > 0 && Bytes > 0,
                  "an inline_concurrent_multi_arena has at least one arena of at least one byte");
    static_assert(Arenas < detail::treiber_stack<>::none, "there are at most 16,777,214 arenas");
    static_assert(Bytes <= max_request / 2 / Arenas, "so many bytes do not fit the address space");

    static constexpr const char* name = "acre::inline_concurrent_multi_arena";

    inline_concurrent_multi_arena() noexcept = default;

    /// Bytes of all arenas.
    static constexpr std::size_t capacity() noexcept { return base::arenas() * base::arena_bytes(); }
};

static_assert(owning_resource<inline_concurrent_multi_arena<4, 64>> &&
              resettable_resource<inline_concurrent_multi_arena<4, 64>>);

}  // namespace acre
