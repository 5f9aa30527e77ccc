// The loop that plays a sequence over a resource; a template, so that the resource's own code is inlined into it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sequence.hpp"

namespace acre::tool {

/// What plays a step over a resource of type R with R's inline calls.
template <typename R>
class player {
public:
    player(R& resource, const sequence_view& sequence, void** slots)
        : resource_{resource}, sequence_{sequence}, slots_{slots} {}

    /// Plays the steps from `first` to `last`; the number of the step that failed, or `last`.
    std::size_t play(std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const step now = sequence_.steps[i];
            const shape wanted = sequence_.shapes[now.shape()];
            void*& slot = slots_[now.slot()];
            switch (now.kind()) {
                case step_kind::allocate:
                    slot = resource_.try_allocate(wanted.bytes, wanted.alignment);
                    if (slot == nullptr) [[unlikely]]
                        return i;
                    touch(slot, wanted);
                    break;
                case step_kind::release:
                    resource_.deallocate(slot, wanted.bytes, wanted.alignment);
                    slot = nullptr;
                    break;
                case step_kind::reallocate:
                    if (!reallocate(slot, sequence_.shapes[sequence_.steps[i + 1].shape()], wanted)) [[unlikely]]
                        return i;
                    touch(slot, wanted);
                    ++i;
                    break;
                case step_kind::reset:
                    if constexpr (requires { resource_.reset(); }) resource_.reset();
                    break;
            }
        }
        return last;
    }

private:
    static void touch(void* object, const shape& of) {
        if (of.bytes != 0) *static_cast<volatile unsigned char*>(object) = 1;
    }

    bool reallocate(void*& slot, const shape& had, const shape& wanted) {
        void* made = nullptr;
        if constexpr (requires { resource_.try_reallocate(slot, had.bytes, wanted.bytes, wanted.alignment); }) {
            made = resource_.try_reallocate(slot, had.bytes, wanted.bytes, wanted.alignment);
            if (made == nullptr) return false;
        } else {
            made = resource_.try_allocate(wanted.bytes, wanted.alignment);
            if (made == nullptr) return false;
            std::memcpy(made, slot, std::min(had.bytes, wanted.bytes));
            resource_.deallocate(slot, had.bytes, had.alignment);
        }
        slot = made;
        return true;
    }

    R& resource_;
    sequence_view sequence_;
    void** slots_;
};

}  // namespace acre::tool
