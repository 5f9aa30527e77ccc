// The definitions that this library stands in front of.
#pragma once

#include <dlfcn.h>

#include "thread_words.hpp"

namespace acre::recorder {

/// Null when there is none, as in a static program.
template <typename Function>
Function* next_definition(const char* name) {
    thread_words& thread = this_thread;
    const bool was_busy = thread.busy;
    thread.busy = true;
    void* found = dlsym(RTLD_NEXT, name);
    thread.busy = was_busy;
    return reinterpret_cast<Function*>(found);
}

}  // namespace acre::recorder
