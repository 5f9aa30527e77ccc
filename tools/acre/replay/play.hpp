// The loop that plays the steps of a sequence over a resource, and the tables of live objects that it works on.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "sequence.hpp"
#include "system_resource.hpp"
#include "trial.hpp"

namespace acre::tool {

/// CPU time of this thread. Unlike the wall clock it does not depend on what other programs do.
inline std::uint64_t thread_nanoseconds() {
    std::timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// The live objects of a sequence that one thread plays, by slot.
class own_slots {
public:
    explicit own_slots(const sequence_view& sequence) : objects_(sequence.slots + std::size_t{1}) {}

    /// Where step `number` keeps its object. Never null, see shared_slots::lane::begin.
    void** begin(std::size_t, const step& now) noexcept { return &objects_[now.slot()]; }
    void end(std::size_t, const step&) noexcept {}

    void* object(std::uint32_t slot) const noexcept { return objects_[slot]; }

private:
    std::vector<void*> objects_;
};

/// The live objects of a sequence that several threads play. The steps of one object happen in the recorded order,
/// whichever threads play them; steps of different objects are not ordered.
class shared_slots {
public:
    explicit shared_slots(const sequence_view& sequence)
        : turns_{sequence.turns.data()}, slots_{std::make_unique<slot[]>(sequence.slots + std::size_t{1})} {}

    void* object(std::uint32_t number) const noexcept { return slots_[number].object; }

    /// Ends all waiting. To be called when a step has failed, since the steps that wait for it will not be played.
    void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }

    /// One thread's access to the slots.
    class lane {
    public:
        explicit lane(shared_slots& all) : all_{all} {}

        /// Waits until it is the step's turn. Null: playing was stopped.
        void** begin(std::size_t number, const step& now) noexcept {
            slot& at = all_.slots_[now.slot()];
            // Acquire: pairs with the release in end(), for the object and its bytes.
            if (at.turn.load(std::memory_order_acquire) != all_.turns_[number]) [[unlikely]] {
                if (!wait(at, all_.turns_[number])) return nullptr;
            }
            return &at.object;
        }
        void end(std::size_t number, const step& now) noexcept {
            all_.slots_[now.slot()].turn.store(all_.turns_[number] + 1, std::memory_order_release);
        }

        /// CPU time spent waiting.
        std::uint64_t waited_nanoseconds() const noexcept { return waited_; }

    private:
        bool wait(const auto& at, std::uint32_t turn) noexcept {
            const std::uint64_t start = thread_nanoseconds();
            const auto is_reached = [&] { return at.turn.load(std::memory_order_acquire) == turn; };
            bool reached = is_reached();
            for (int tries = 0; !reached; reached = is_reached(), ++tries) {
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
            return reached;
        }

        static constexpr int spins = 200;
        static constexpr int yields = 20;

        shared_slots& all_;
        std::uint64_t waited_ = 0;
    };

private:
    struct slot {
        std::atomic<std::uint32_t> turn{0};
        void* object = nullptr;
    };

    const std::uint32_t* turns_;
    std::unique_ptr<slot[]> slots_;
    std::atomic<bool> stopped_{false};
};

/// What a resource without realloc leaves out when it allocates, copies and frees.
struct realloc_limits {
    std::uint64_t touched = ~std::uint64_t{0};  // bytes that are copied at most
    bool without_frees = false;
};

/// The requests of a sequence as calls of a resource of type R, which are inlined.
template <typename R>
class direct_calls {
public:
    explicit direct_calls(R& resource) : resource_{resource} {}

    void* allocate(const shape& wanted) {
        if constexpr (requires { resource_.try_allocate_new(wanted.bytes, wanted.alignment); }) {
            if (wanted.by_new) return resource_.try_allocate_new(wanted.bytes, wanted.alignment);
        }
        return resource_.try_allocate(wanted.bytes, wanted.alignment);
    }

    void deallocate(void* object, const shape& had) {
        if constexpr (requires { resource_.deallocate_new(object, had.bytes, had.alignment); }) {
            if (had.by_new) return resource_.deallocate_new(object, had.bytes, had.alignment);
        }
        resource_.deallocate(object, had.bytes, had.alignment);
    }

    /// Null: out of memory, and the object is still there.
    void* reallocate(void* object, const shape& had, const shape& wanted, const realloc_limits& limits) {
        if constexpr (requires { resource_.try_reallocate(object, had.bytes, wanted.bytes, wanted.alignment); }) {
            // realloc must not get memory of operator new, although some programs and hand-made traces do that.
            if (!had.by_new) return resource_.try_reallocate(object, had.bytes, wanted.bytes, wanted.alignment);
        }
        void* moved = resource_.try_allocate(wanted.bytes, wanted.alignment);
        if (moved == nullptr) return nullptr;
        std::memcpy(moved, object, std::min({had.bytes, wanted.bytes, limits.touched}));
        if (!limits.without_frees) deallocate(object, had);
        return moved;
    }

    void reset() {
        if constexpr (requires { resource_.reset(); }) resource_.reset();
    }

private:
    R& resource_;
};

/// Plays steps over a resource and hides the resource's type.
class step_player {
public:
    /// Plays the steps from `first` up to `last`. Returns the number of the step that failed, else that of the next one
    /// to play, which is last + 1 if `last` is the second half of a reallocation.
    virtual std::size_t play(std::size_t first, std::size_t last) = 0;

    /// Frees an object that lives at the end of the sequence.
    virtual void release(void* object, const step& survivor) = 0;

    /// None also if playing stopped because a step of another thread failed.
    virtual trial_failure failure() const noexcept = 0;

protected:
    ~step_player() = default;
};

/// Calls: direct_calls, or a class with the same functions. Timed: a block is only touched, once when it is allocated
/// and once when it is freed, as a program would when it constructs and destroys an object there. Otherwise the block
/// is also filled or compared, as the purpose of the trial asks.
template <typename Calls, typename Slots, bool Timed>
class player final : public step_player {
public:
    player(Calls calls, const sequence_view& sequence, const trial_request& request, Slots& slots)
        : calls_{calls},
          sequence_{sequence},
          slots_{slots},
          reallocs_{.touched = sequence.touched, .without_frees = request.without_frees},
          checks_{request.purpose == trial_purpose::check} {}

    std::size_t play(std::size_t first, std::size_t last) override {
        std::size_t i = first;
        for (; i < last; ++i) {
            const step now = sequence_.steps[i];
            if (now.kind() == step_kind::reset) {
                calls_.reset();
                continue;
            }
            void** slot = slots_.begin(i, now);
            if (slot == nullptr || !play_on(*slot, now, i)) [[unlikely]]
                return i;
            slots_.end(i, now);
            if (now.kind() == step_kind::reallocate) ++i;
        }
        return i;
    }

    void release(void* object, const step& survivor) override {
        const shape had = sequence_.shapes[survivor.shape()];
        if (checked(object, survivor.slot(), touched(had.bytes))) calls_.deallocate(object, had);
    }

    trial_failure failure() const noexcept override { return failure_; }

private:
    static constexpr std::size_t page_bytes = 4096;

    bool play_on(void*& object, const step& now, std::size_t number) {
        const shape wanted = sequence_.shapes[now.shape()];
        switch (now.kind()) {
            case step_kind::allocate:
                object = calls_.allocate(wanted);
                return made(object, now.slot(), wanted, 0);
            case step_kind::release:
                if (reallocs_.without_frees) return true;
                if (!checked(object, now.slot(), touched(wanted.bytes))) return false;
                calls_.deallocate(object, wanted);
                return true;
            case step_kind::reallocate: {
                const shape had = sequence_.shapes[sequence_.steps[number + 1].shape()];
                const std::size_t kept = touched(std::min(had.bytes, wanted.bytes));
                if (!checked(object, now.slot(), touched(had.bytes))) return false;
                void* grown = calls_.reallocate(object, had, wanted, reallocs_);
                if (grown == nullptr) return fail(trial_failure::out_of_memory);
                object = grown;
                return checked(object, now.slot(), kept) && made(object, now.slot(), wanted, kept);
            }
            case step_kind::reset:
                break;
        }
        return true;
    }

    /// Uses a new block as a program would; its first `kept` bytes stay as they are.
    bool made(void* object, std::uint32_t slot, const shape& of, std::size_t kept) {
        if (object == nullptr) [[unlikely]]
            return fail(trial_failure::out_of_memory);
        auto* bytes = static_cast<volatile unsigned char*>(object);
        if constexpr (Timed) {
            if (of.bytes != 0) *bytes = 1;
        } else if (!checks_) {
            for (std::size_t i = 0; i < touched(of.bytes); i += page_bytes) bytes[i] = 1;
        } else {
            if (reinterpret_cast<std::uintptr_t>(object) % promised_alignment(of) != 0) {
                return fail(trial_failure::misaligned);
            }
            std::memset(static_cast<unsigned char*>(object) + kept, mark_of(slot), touched(of.bytes) - kept);
        }
        return true;
    }

    bool checked(const void* object, std::uint32_t slot, std::size_t bytes) {
        if constexpr (Timed) {
            if (bytes != 0) static_cast<void>(*static_cast<const volatile unsigned char*>(object));
            return true;
        }
        if (!checks_) return true;
        const auto* first = static_cast<const unsigned char*>(object);
        const bool right = std::all_of(first, first + bytes, [&](unsigned char each) { return each == mark_of(slot); });
        return right || fail(trial_failure::wrong_content);
    }

    std::size_t touched(std::uint64_t bytes) const noexcept {
        return static_cast<std::size_t>(std::min(bytes, sequence_.touched));
    }

    /// malloc aligns for any object that fits, so a small block may be aligned to less than 16 bytes.
    static std::uint64_t promised_alignment(const shape& of) {
        if (of.alignment > malloc_alignment) return of.alignment;
        return std::min(of.alignment, std::bit_floor(std::max<std::uint64_t>(of.bytes, 1)));
    }

    /// Objects that are neighbours in memory seldom get the same mark.
    static unsigned char mark_of(std::uint32_t slot) { return static_cast<unsigned char>(slot * 0x9e37'79b1U >> 24); }

    bool fail(trial_failure why) {
        failure_ = why;
        return false;
    }

    Calls calls_;
    sequence_view sequence_;
    Slots& slots_;
    realloc_limits reallocs_;
    bool checks_;
    trial_failure failure_ = trial_failure::none;
};

}  // namespace acre::tool
