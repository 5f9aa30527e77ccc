// A lock that locks nothing, for acre::synchronized in programs, or builds, with one thread only.
//
// Use it where a type's lock is a parameter and there is nothing to lock. It takes no space and no instruction.
//
//     using shared_pool = acre::synchronized<acre::pool<64>, acre::no_lock>;
#pragma once

namespace acre {

/// Meets the standard's requirements of a lock without locking.
class no_lock {
public:
    constexpr no_lock() noexcept = default;
    no_lock(const no_lock&) = delete;
    no_lock& operator=(const no_lock&) = delete;

    void lock() noexcept {}
    bool try_lock() noexcept { return true; }
    void unlock() noexcept {}
};

}  // namespace acre
