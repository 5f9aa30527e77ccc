// An acre::concurrent_multi_arena that is called from one thread, in the recorded order: the library's mechanism, with
// the calling thread as an argument.
#pragma once

#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/core/alignment.hpp>
#include <acre/memory/heap.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace acre::tool {

class deterministic_threads : public acre::detail::lock_free_arenas<acre::detail::upstream_shared_arenas> {
    using base = acre::detail::lock_free_arenas<acre::detail::upstream_shared_arenas>;

public:
    explicit deterministic_threads(const acre::concurrent_multi_arena_options& options)
        : base{acre::concurrent_multi_arena_options{options.arenas, align_up(options.bytes, granule)},
               acre::resource_ref{acre::heap{}}} {}

    /// Null if the request fails.
    void* try_allocate(std::size_t bytes, std::size_t alignment, std::uint32_t thread) {
        part* mine = part_of(thread);
        void* p = nullptr;
        if (mine != nullptr && is_ordinary(alignment) && place_in_open(*mine, bytes, p)) return p;
        return place_slow(mine, bytes, alignment);
    }

    void deallocate(void* p, std::size_t bytes, std::uint32_t thread) {
        // A thread that never allocated has no arena open.
        give_back(thread < parts_of_threads_.size() ? parts_of_threads_[thread].its : nullptr, p, bytes);
    }

private:
    struct thread_part {
        part* its = nullptr;
        bool asked = false;
    };

    /// Null if too many other threads have one.
    part* part_of(std::uint32_t thread) {
        if (thread >= parts_of_threads_.size()) parts_of_threads_.resize(thread + std::size_t{1});
        thread_part& of = parts_of_threads_[thread];
        if (!of.asked) of = {join(), true};
        return of.its;
    }

    std::vector<thread_part> parts_of_threads_;
};

}  // namespace acre::tool
