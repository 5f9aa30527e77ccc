// An acre::concurrent_multi_arena whose threads all run in this one, in recorded order: the library's own mechanism,
// told which thread calls.
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

    /// Null when it is refused.
    void* try_allocate(std::size_t bytes, std::size_t alignment, std::uint32_t thread) {
        thread_arena* mine = part_of(thread);
        void* p = nullptr;
        if (mine != nullptr && is_ordinary(alignment) && place_in_own(*mine, bytes, p)) return p;
        return place_slow(mine, bytes, alignment);
    }

    void deallocate(void* p, std::size_t bytes, std::uint32_t thread) {
        // A thread that never allocated has nothing open.
        give_back(thread < parts_of_threads_.size() ? parts_of_threads_[thread].its : nullptr, p, bytes);
    }

private:
    struct thread_part {
        thread_arena* its = nullptr;
        bool asked = false;
    };

    /// Null when enough other threads have one.
    thread_arena* part_of(std::uint32_t thread) {
        if (thread >= parts_of_threads_.size()) parts_of_threads_.resize(thread + std::size_t{1});
        thread_part& of = parts_of_threads_[thread];
        if (!of.asked) of = {attach(), true};
        return of.its;
    }

    std::vector<thread_part> parts_of_threads_;
};

}  // namespace acre::tool
