// The face that acre::concurrent_multi_arena and acre::inline_concurrent_multi_arena have in common: a resource whose
// calls find what the calling thread has open.
//
// Use those, not this. The mechanism is acre::lock_free_arenas. Thread-safe, but for reset and the end.
#pragma once

#include <acre/arenas/detail/lock_free_arenas.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/per_thread.hpp>
#include <acre/core/error.hpp>
#include <cstddef>

namespace acre::detail {

/// Equal arenas in the storage of `Storage`, for the threads of a program.
template <class Storage>
class concurrent_lock_free_arenas : public lock_free_arenas<Storage> {
    using base = lock_free_arenas<Storage>;
    using typename base::part;

public:
    /// Storage of `bytes` bytes aligned to `alignment`. Throws request_too_large, out_of_arenas or bad_alignment. Any
    /// thread may call it. Constant time, but for steps that other threads make vain.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        void* p;
        if (place_in_open(bytes, alignment, p)) [[likely]]
            return p;
        return allocate_slow(bytes, alignment);
    }

    /// As allocate, but null when it cannot.
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        void* p;
        if (place_in_open(bytes, alignment, p)) [[likely]]
            return p;
        return try_allocate_slow(bytes, alignment);
    }

    /// Takes storage back that any thread allocated; null is a no-op. Constant time: one atomic operation at most,
    /// unless the arena becomes free. Aborts with a sentence on a pointer that is not of this; one deallocation more
    /// than allocations in an arena does when the arena is closed or begun again, unless new allocations have made up
    /// for it.
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes, std::size_t = default_alignment) noexcept {
        this->give_back(this_part(), p, bytes);
    }

    /// Makes the allocation at `p` `new_bytes` long where it is: possible for the last one in the arena that this
    /// thread has open while there is room behind it, and for any when it shrinks. False, and nothing changed, when it
    /// cannot.
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
        return this->resize(this_part(), p, old_bytes, new_bytes);
    }

protected:
    template <class... Arguments>
    explicit concurrent_lock_free_arenas(const Arguments&... storage) : base(storage...) {}
    ~concurrent_lock_free_arenas() { threads_.end(); }

private:
    [[gnu::always_inline]] part* this_part() const noexcept { return static_cast<part*>(threads_.find()); }

    [[gnu::always_inline]] bool place_in_open(std::size_t bytes, std::size_t alignment, void*& p) noexcept {
        part* mine = this_part();
        if (mine == nullptr || !base::is_ordinary(alignment)) [[unlikely]]
            return false;
        return base::place_in_open(*mine, bytes, p);
    }

    // Out of line: once an arena, and for what few requests ask.
    [[gnu::noinline]] void* allocate_slow(std::size_t bytes, std::size_t alignment) {
        if (void* p = this->place_slow(find_or_join(), bytes, alignment)) return p;
        return this->fail(bytes, alignment);
    }
    [[gnu::noinline]] void* try_allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
        return this->place_slow(find_or_join(), bytes, alignment);
    }

    // Null when this thread is ending, has no memory to remember its part with, or enough others have one.
    part* find_or_join() noexcept {
        if (part* found = this_part()) return found;
        if (!threads_.can_keep()) return nullptr;
        part* joined = this->join();
        if (joined != nullptr) threads_.keep(joined);
        return joined;
    }

    static void thread_ended(void* arenas, void* left) noexcept {
        static_cast<concurrent_lock_free_arenas*>(arenas)->leave(*static_cast<part*>(left));
    }

    per_thread threads_{this, &thread_ended};
};

}  // namespace acre::detail
