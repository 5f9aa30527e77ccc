// What the writer and the reader of a trace both know at an event, so that the file need only say what they cannot guess.
#pragma once

#include <cstdint>
#include <vector>

#include "model.hpp"

namespace acre::tool {

/// A guess is written as 0 when it is right and as the value + 1 when it is not.
class event_context {
public:
    explicit event_context(std::size_t nodes) : next_stack_(nodes), last_size_(nodes) {}

    /// The stack that followed the last time the previous event's stack was seen.
    std::uint32_t guess_stack() const noexcept { return next_stack_[previous_stack_]; }

    /// The size that this stack asked for the last time.
    std::uint64_t guess_size(std::uint32_t stack) const noexcept { return last_size_[stack]; }

    /// To be called once an event is known in full.
    void pass(const event& e) noexcept {
        next_stack_[previous_stack_] = e.stack;
        previous_stack_ = e.stack;
        if (e.allocates) last_size_[e.stack] = e.size;
    }

private:
    std::vector<std::uint32_t> next_stack_;
    std::vector<std::uint64_t> last_size_;
    std::uint32_t previous_stack_ = no_stack;
};

}  // namespace acre::tool
