// Plays the threads of an acre::concurrent_multi_arena on one thread, in recorded order. This is the library's own
// mechanism; each call names its thread.
#pragma once

#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/core/alignment.hpp>
#include <acre/memory/heap.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace acre::tool {

class deterministic_threads : public acre::detail::lock_free_arenas<acre::detail::concurrent_multi_arena_storage> {
    using base = acre::detail::lock_free_arenas<acre::detail::concurrent_multi_arena_storage>;

public:
    explicit deterministic_threads(const acre::concurrent_multi_arena_options& options)
        : base{acre::concurrent_multi_arena_options{options.arenas, align_up(options.bytes, granule)},
               acre::resource_ref{acre::heap{}}} {}

    /// Null if the request fails.
    void* try_allocate(std::size_t bytes, std::size_t alignment, std::uint32_t thread) {
        thread_arena* own = arena_of(thread);
        void* p = nullptr;
        if (own != nullptr && is_ordinary(alignment) && place_in_own(*own, bytes, p)) return p;
        return place_slow(own, bytes, alignment);
    }

    void deallocate(void* p, std::size_t bytes, std::uint32_t thread) {
        // A thread that never allocated has no arena.
        give_back(thread < attachments_.size() ? attachments_[thread].arena : nullptr, p, bytes);
    }

private:
    struct attachment {
        thread_arena* arena = nullptr;
        bool asked = false;
    };

    /// Null if too many other threads have one.
    thread_arena* arena_of(std::uint32_t thread) {
        if (thread >= attachments_.size()) attachments_.resize(thread + std::size_t{1});
        attachment& found = attachments_[thread];
        if (!found.asked) found = {attach(), true};
        return found.arena;
    }

    std::vector<attachment> attachments_;
};

}  // namespace acre::tool
