// The loop that plays a sequence over a resource; a template, so that the resource's own code is inlined into it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sequence.hpp"
#include "system_resource.hpp"
#include "trial.hpp"

namespace acre::tool {

/// What plays steps over a resource of type R with R's inline calls. Timed: blocks are only touched, once where a
/// program would make an object in them, and once where it would destroy it; else they are also filled, or looked at,
/// as the purpose of the trial wants it.
template <typename R, typename Slots, bool Timed>
class player {
public:
    player(R& resource, const sequence_view& sequence, const trial_request& request, Slots& slots)
        : resource_{resource},
          sequence_{sequence},
          slots_{slots},
          without_frees_{request.without_frees},
          checks_{request.purpose == trial_purpose::check} {}

    /// Plays the steps from `first` to `last`; the number of the step that failed, or of the next one to play, which is
    /// one beyond `last` where that is the second half of a reallocation.
    std::size_t play(std::size_t first, std::size_t last) {
        std::size_t i = first;
        for (; i < last; ++i) {
            const step now = sequence_.steps[i];
            if (now.kind() == step_kind::reset) {
                if constexpr (requires { resource_.reset(); }) resource_.reset();
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

    /// None also where it stopped because another thread's step failed.
    trial_failure failure() const noexcept { return failure_; }

    /// Takes back what lives at the end.
    void release(void* object, const step& survivor) {
        const shape had = sequence_.shapes[survivor.shape()];
        if (checked(object, survivor.slot(), had.bytes)) give_back(object, had);
    }

private:
    static constexpr std::size_t page_bytes = 4096;

    bool play_on(void*& object, const step& now, std::size_t number) {
        const shape wanted = sequence_.shapes[now.shape()];
        switch (now.kind()) {
            case step_kind::allocate:
                object = take(wanted);
                return made(object, now.slot(), wanted, 0);
            case step_kind::release:
                if (without_frees_) return true;
                if (!checked(object, now.slot(), wanted.bytes)) return false;
                give_back(object, wanted);
                return true;
            case step_kind::reallocate: {
                const shape had = sequence_.shapes[sequence_.steps[number + 1].shape()];
                const std::size_t kept = std::min(had.bytes, wanted.bytes);
                if (!checked(object, now.slot(), had.bytes) || !reallocate(object, had, wanted)) return false;
                return checked(object, now.slot(), kept) && made(object, now.slot(), wanted, kept);
            }
            case step_kind::reset:
                break;
        }
        return true;
    }

    /// As the program asked for it, where the resource makes a difference of that.
    void* take(const shape& wanted) {
        if constexpr (requires { resource_.try_allocate_new(wanted.bytes, wanted.alignment); }) {
            if (wanted.by_new) return resource_.try_allocate_new(wanted.bytes, wanted.alignment);
        }
        return resource_.try_allocate(wanted.bytes, wanted.alignment);
    }

    void give_back(void* object, const shape& had) {
        if constexpr (requires { resource_.deallocate_new(object, had.bytes, had.alignment); }) {
            if (had.by_new) return resource_.deallocate_new(object, had.bytes, had.alignment);
        }
        resource_.deallocate(object, had.bytes, had.alignment);
    }

    bool reallocate(void*& object, const shape& had, const shape& wanted) {
        void* grown = nullptr;
        if constexpr (requires { resource_.try_reallocate(object, had.bytes, wanted.bytes, wanted.alignment); }) {
            // What operator new made is not realloc's, though some programs and hand-made traces hand it over.
            grown = had.by_new ? moved(object, had, wanted)
                               : resource_.try_reallocate(object, had.bytes, wanted.bytes, wanted.alignment);
        } else {
            grown = moved(object, had, wanted);
        }
        if (grown == nullptr) return fail(trial_failure::out_of_memory);
        object = grown;
        return true;
    }

    void* moved(void* object, const shape& had, const shape& wanted) {
        void* to = resource_.try_allocate(wanted.bytes, wanted.alignment);
        if (to == nullptr) return nullptr;
        std::memcpy(to, object, std::min(had.bytes, wanted.bytes));
        if (!without_frees_) give_back(object, had);
        return to;
    }

    /// Uses a new block as a program would: what was in it up to `kept` stays.
    bool made(void* object, std::uint32_t slot, const shape& of, std::size_t kept) {
        if (object == nullptr) [[unlikely]]
            return fail(trial_failure::out_of_memory);
        auto* bytes = static_cast<volatile unsigned char*>(object);
        if constexpr (Timed) {
            if (of.bytes != 0) *bytes = 1;
        } else if (!checks_) {
            for (std::size_t i = 0; i < of.bytes; i += page_bytes) bytes[i] = 1;
        } else {
            if (reinterpret_cast<std::uintptr_t>(object) % promised_alignment(of) != 0) {
                return fail(trial_failure::misaligned);
            }
            std::memset(static_cast<unsigned char*>(object) + kept, mark_of(slot), of.bytes - kept);
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

    /// malloc aligns for every object that fits, which for a small block may be less than for others.
    static std::uint64_t promised_alignment(const shape& of) {
        if (of.alignment > malloc_alignment) return of.alignment;
        return std::min(of.alignment, std::bit_floor(std::max<std::uint64_t>(of.bytes, 1)));
    }

    /// Neighbours in memory are seldom of slots with the same mark.
    static unsigned char mark_of(std::uint32_t slot) { return static_cast<unsigned char>(slot * 0x9e37'79b1U >> 24); }

    bool fail(trial_failure why) {
        failure_ = why;
        return false;
    }

    R& resource_;
    sequence_view sequence_;
    Slots& slots_;
    bool without_frees_;
    bool checks_;
    trial_failure failure_ = trial_failure::none;
};

}  // namespace acre::tool
