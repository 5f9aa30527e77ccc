// Fibers: each thread of a scenario has a stack of its own, and one runs at a time.
#pragma once

#include <cxxabi.h>
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>

namespace model {

/// A point of execution: the caller's, or the start of a function on the fiber's own stack.
class fiber {
public:
    /// Makes the fiber start with `body`, which must not return.
    void prepare(void (*body)()) {
        if (!stack_) stack_ = std::make_unique_for_overwrite<char[]>(stack_bytes);
        getcontext(&context_);
        context_.uc_stack.ss_sp = stack_.get();
        context_.uc_stack.ss_size = stack_bytes;
        context_.uc_link = nullptr;
        exceptions_ = {};
        makecontext(&context_, body, 0);
    }

    /// Continues the other fiber; returns when something switches back to this one.
    void switch_to(fiber& other) {
        void* const of_this_thread = abi::__cxa_get_globals();
        std::memcpy(&exceptions_, of_this_thread, sizeof exceptions_);
        std::memcpy(of_this_thread, &other.exceptions_, sizeof exceptions_);
        swapcontext(&context_, &other.context_);
    }

private:
    static constexpr std::size_t stack_bytes = 256 * 1024;

    // Of the Itanium ABI: the exceptions being handled and the number of uncaught ones. Both are thread-local, so a
    // fiber that is left during unwinding must save them.
    struct exception_state {
        void* caught = nullptr;
        unsigned int on_their_way = 0;
    };

    ucontext_t context_{};
    std::unique_ptr<char[]> stack_;
    exception_state exceptions_;
};

}  // namespace model
