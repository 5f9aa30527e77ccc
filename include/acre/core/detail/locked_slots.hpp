// A policy of acre::typed_arena behind a lock, for any number of threads.
//
// Used by acre::typed_arena for slots that are shared and reused, not directly. Cost: that of the policy and of a
// std::mutex that is taken and released. The lock needs no initialisation and no end: it works before and after main.
#pragma once

#include <cstddef>
#include <mutex>

namespace acre::detail {

/// `Slots`, one thread at a time.
template <class Slots>
class locked_slots {
public:
    static constexpr bool reuses = Slots::reuses;

    bool take(std::size_t count, std::size_t alignment, std::size_t& offset) noexcept {
        const std::lock_guard hold{lock_};
        return slots_.take(count, alignment, offset);
    }
    void give_back(const char* reported, const void* p, std::size_t offset, std::size_t count) noexcept {
        const std::lock_guard hold{lock_};
        slots_.give_back(reported, p, offset, count);
    }
    void undo(const char* reported, const void* p, std::size_t offset, std::size_t count) noexcept {
        const std::lock_guard hold{lock_};
        slots_.undo(reported, p, offset, count);
    }
    void reset() noexcept {
        const std::lock_guard hold{lock_};
        slots_.reset();
    }
    std::size_t used() const noexcept {
        const std::lock_guard hold{lock_};
        return slots_.used();
    }
    std::size_t untouched_from() const noexcept {
        const std::lock_guard hold{lock_};
        return slots_.untouched_from();
    }
    void prefault() noexcept {
        const std::lock_guard hold{lock_};
        slots_.prefault();
    }

private:
    mutable std::mutex lock_;
    Slots slots_;
};

}  // namespace acre::detail
