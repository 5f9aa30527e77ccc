// Where the live objects of a sequence are while it is played: for one thread, and for several that wait for each
// other.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <vector>

#include "sequence.hpp"

namespace acre::tool {

/// CPU time of this thread: what other programs do to the clock on the wall does not count.
inline std::uint64_t thread_nanoseconds() {
    std::timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// The slots of one thread.
class own_slots {
public:
    explicit own_slots(const sequence_view& sequence) : objects_(sequence.slots + std::size_t{1}) {}

    /// Where the object of the step with that number is; null to stop.
    void** begin(std::size_t, const step& now) noexcept { return &objects_[now.slot()]; }
    void end(std::size_t, const step&) noexcept {}

    void* object(std::uint32_t slot) const noexcept { return objects_[slot]; }

private:
    std::vector<void*> objects_;
};

/// The slots that all lanes share. What happens to an object happens in the recorded order, whichever threads it is
/// that do it; nothing else is ordered.
class shared_slots {
public:
    explicit shared_slots(const sequence_view& sequence)
        : turns_{sequence.turns.data()}, places_{std::make_unique<place[]>(sequence.slots + std::size_t{1})} {}

    void* object(std::uint32_t slot) const noexcept { return places_[slot].object; }

    /// Nobody waits any longer: for a step that failed, and those after it will not be played.
    void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }

    /// What one thread sees of them.
    class lane {
    public:
        explicit lane(shared_slots& all) : all_{all} {}

        /// Waits for the step's turn.
        void** begin(std::size_t number, const step& now) noexcept {
            place& at = all_.places_[now.slot()];
            // Acquire: the object, and what was written into it, by the thread that had the turn before.
            if (at.turn.load(std::memory_order_acquire) != all_.turns_[number]) [[unlikely]] {
                if (!wait(at, all_.turns_[number])) return nullptr;
            }
            return &at.object;
        }
        void end(std::size_t number, const step& now) noexcept {
            all_.places_[now.slot()].turn.store(all_.turns_[number] + 1, std::memory_order_release);
        }

        /// CPU time that went into waiting.
        std::uint64_t waited_nanoseconds() const noexcept { return waited_; }

    private:
        bool wait(const auto& at, std::uint32_t turn) noexcept {
            const std::uint64_t start = thread_nanoseconds();
            const auto is_there = [&] { return at.turn.load(std::memory_order_acquire) == turn; };
            bool there = is_there();
            for (int tries = 0; !there; there = is_there(), ++tries) {
                if (all_.stopped_.load(std::memory_order_relaxed)) break;
                if (tries < spins) {
                    __builtin_ia32_pause();
                } else if (tries < spins + yields) {
                    ::sched_yield();
                } else {
                    const std::timespec short_time{0, 20'000};
                    ::nanosleep(&short_time, nullptr);
                }
            }
            waited_ += thread_nanoseconds() - start;
            return there;
        }

        static constexpr int spins = 200;
        static constexpr int yields = 20;

        shared_slots& all_;
        std::uint64_t waited_ = 0;
    };

private:
    struct place {
        std::atomic<std::uint32_t> turn{0};
        void* object = nullptr;
    };

    const std::uint32_t* turns_;
    std::unique_ptr<place[]> places_;
    std::atomic<bool> stopped_{false};
};

}  // namespace acre::tool
