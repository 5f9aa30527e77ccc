// The cores that this process may run on, and threads that stay on one of them.
#pragma once

#include <sched.h>

#include <cstddef>
#include <vector>

namespace acre::tool {

inline std::vector<int> allowed_cores() {
    cpu_set_t allowed;
    std::vector<int> cores;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &allowed)) cores.push_back(core);
    }
    return cores;
}

/// Keeps this thread on a core.
inline void pin_to(int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ::sched_setaffinity(0, sizeof one, &one);
}

}  // namespace acre::tool
