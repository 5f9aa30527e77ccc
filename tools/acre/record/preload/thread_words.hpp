// What the recorder keeps in thread-local storage, for the hooks and for what looks after them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace acre::recorder {

/// What the recorder does in a thread; a call of a hook meanwhile is not recorded.
enum class activity : std::uint8_t {
    none,
    recording,  // a hook is called only by a signal handler then, and its event is lost
    calling,    // a function of the program or of the C library, which may call hooks itself
};

struct memory_block {
    std::uintptr_t address;
    std::size_t bytes;
};

/// Thread-local state in initial-exec TLS, at a fixed distance from the thread pointer: it needs no set-up.
struct thread_words {
    struct thread_state* state;
    std::uint64_t rows;           // in finished chunks
    std::uint64_t random;         // state of the sampling; 0 before the first event
    std::uint64_t resource;       // number in the last resource row; 0: none yet
    std::uint64_t timed_since;    // start of the timed event; 0: not timed
    std::int32_t events_untimed;  // events until the next timed one
    std::uint32_t events_timed;   // while every event is timed
    memory_block unrecorded;      // last one
    std::uint32_t number_plus_one;
    activity busy;
    bool ended;
    bool inside_resource;  // a resource allocates for itself
    std::uint8_t endings;  // rounds of thread-specific data destruction
};
extern constinit thread_local thread_words this_thread [[gnu::visibility("hidden")]];

/// Marks the recorder's own calls of functions that may call hooks.
class own_calls {
public:
    own_calls() : before_(this_thread.busy) { this_thread.busy = activity::calling; }
    ~own_calls() { this_thread.busy = before_; }
    own_calls(const own_calls&) = delete;
    own_calls& operator=(const own_calls&) = delete;

private:
    const activity before_;
};

}  // namespace acre::recorder
