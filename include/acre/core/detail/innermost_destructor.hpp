// Tells which object a thread's innermost destructor belongs to, of those that a resource runs: a destructor that
// destroys its own object again would call itself without end.
//
// Used by pools whose slots have no mark for it, and by acre::checked; not directly. Cost: five instructions and a
// variable of each thread.
#pragma once

#include <acre/core/misuse.hpp>

namespace acre::detail {

/// In a scope in which the destructor of the object at `p` runs. Aborts with a sentence if that is what the thread's
/// innermost such scope does, too: the destructor would call itself without end. For pools that do not mark a slot
/// while its object's destructor runs.
class innermost_destructor {
public:
    innermost_destructor(const char* resource, const void* p) noexcept : outer_(of_this_thread) {
        if (p == outer_) [[unlikely]]
            abort_on_misuse(resource, mistake::ended_by_itself, p);
        of_this_thread = p;
    }
    innermost_destructor(const innermost_destructor&) = delete;
    innermost_destructor& operator=(const innermost_destructor&) = delete;
    ~innermost_destructor() { of_this_thread = outer_; }

    static bool is_of(const void* p) noexcept { return p == of_this_thread; }
    /// Null when there is none.
    static const void* object() noexcept { return of_this_thread; }

private:
    static inline thread_local constinit const void* of_this_thread = nullptr;

    const void* outer_;
};

}  // namespace acre::detail
