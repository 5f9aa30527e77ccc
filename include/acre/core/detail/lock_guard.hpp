// Holds a lock for a scope.
//
// Used by acre's headers, not directly. Not std::lock_guard: <mutex> takes long to compile, and clang's
// -Wctad-maybe-unsupported warns of its deduced argument. Cost: that of the lock.
#pragma once

namespace acre::detail {

/// Locks `lock`, and unlocks it at its end.
template <class Lock>
class [[nodiscard]] lock_guard {
public:
    explicit lock_guard(Lock& lock) : lock_(lock) { lock_.lock(); }
    lock_guard(const lock_guard&) = delete;
    lock_guard& operator=(const lock_guard&) = delete;
    ~lock_guard() { lock_.unlock(); }

private:
    Lock& lock_;
};
template <class Lock>
lock_guard(Lock&) -> lock_guard<Lock>;

}  // namespace acre::detail
