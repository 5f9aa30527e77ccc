// The upstream that the depots of a concurrent multi-pool share: serialises their calls and enforces one limit for all.
// Cost: a lock. Thread-safe.
#pragma once

#include <acre/core/detail/lock_guard.hpp>
#include <acre/core/locks.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <cstddef>

namespace acre::detail {

/// A resource with a lock, a limit and a count of the bytes handed out; on a cache line of its own.
class alignas(64) shared_upstream {
public:
    static constexpr const char* name = "acre::shared_upstream";

    shared_upstream(resource_ref upstream, std::size_t limit_bytes) noexcept
        : upstream_(upstream), limit_(limit_bytes) {}
    shared_upstream(const shared_upstream&) = delete;
    shared_upstream& operator=(const shared_upstream&) = delete;

    /// Null beyond the limit, and when upstream has no memory.
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        const lock_guard lock{lock_};
        return take(bytes, alignment, 0);
    }
    /// Also null instead of an exception: the callers raise their own errors.
    void* allocate(std::size_t bytes, std::size_t alignment) noexcept { return try_allocate(bytes, alignment); }

    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        const lock_guard lock{lock_};
        held_ -= bytes;
        upstream_.deallocate(p, bytes, alignment);
    }

    /// As try_allocate, but null when fewer than `spared` bytes of the limit would remain.
    void* try_allocate_sparing(std::size_t spared, std::size_t bytes, std::size_t alignment) noexcept {
        const lock_guard lock{lock_};
        return take(bytes, alignment, spared);
    }

    /// Bytes handed out.
    std::size_t held() const noexcept {
        const lock_guard lock{lock_};
        return held_;
    }
    /// Upper limit of held().
    std::size_t limit() const noexcept { return limit_; }
    /// The resource that it forwards to.
    resource_ref upstream() const noexcept { return upstream_; }
    /// The lock, for fork guards to hold.
    spin_lock& lock() noexcept { return lock_; }

private:
    void* take(std::size_t bytes, std::size_t alignment, std::size_t spared) noexcept {
        const std::size_t remaining = limit_ - held_;
        if (spared > remaining || bytes > remaining - spared) return nullptr;
        void* p = upstream_.try_allocate(bytes, alignment);
        if (p != nullptr) held_ += bytes;
        return p;
    }

    mutable spin_lock lock_;
    std::size_t held_ = 0;
    resource_ref upstream_;
    std::size_t limit_;
};

static_assert(resource<shared_upstream>);

/// View of a shared upstream for requests that only make things faster: it never hands out the last `Spared` bytes.
template <std::size_t Spared>
class sparing_upstream {
public:
    static constexpr const char* name = shared_upstream::name;

    explicit sparing_upstream(shared_upstream& shared) noexcept : shared_(&shared) {}
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        return shared_->try_allocate_sparing(Spared, bytes, alignment);
    }
    void* allocate(std::size_t bytes, std::size_t alignment) noexcept { return try_allocate(bytes, alignment); }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        shared_->deallocate(p, bytes, alignment);
    }

private:
    shared_upstream* shared_;
};

}  // namespace acre::detail
