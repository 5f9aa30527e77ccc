// A stack of its own for each thread of a scenario: a switch is a call, and nothing runs at the same time.
#pragma once

#include <cxxabi.h>
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>

namespace model {

/// A place to be in the program: that of the caller, or the start of a function on a stack of this fiber's.
class fiber {
public:
    /// Will run `body`, which must not return, from its start.
    void prepare(void (*body)()) {
        if (!stack_) stack_ = std::make_unique_for_overwrite<char[]>(stack_bytes);
        getcontext(&context_);
        context_.uc_stack.ss_sp = stack_.get();
        context_.uc_stack.ss_size = stack_bytes;
        context_.uc_link = nullptr;
        exceptions_ = {};
        makecontext(&context_, body, 0);
    }

    /// Goes on in the other fiber; returns when somebody goes on in this one.
    void switch_to(fiber& other) {
        void* const of_this_thread = abi::__cxa_get_globals();
        std::memcpy(&exceptions_, of_this_thread, sizeof exceptions_);
        std::memcpy(of_this_thread, &other.exceptions_, sizeof exceptions_);
        swapcontext(&context_, &other.context_);
    }

private:
    static constexpr std::size_t stack_bytes = 256 * 1024;

    // The Itanium ABI: what the catch blocks that are entered have caught, and how many exceptions are on their way.
    // Both are the thread's, so that a fiber that is left while it unwinds must take them with it.
    struct exception_state {
        void* caught = nullptr;
        unsigned int on_their_way = 0;
    };

    ucontext_t context_{};
    std::unique_ptr<char[]> stack_;
    exception_state exceptions_;
};

}  // namespace model
