// Comparison and printing of events, for tests.
#pragma once

#include <ostream>

#include "trace/model.hpp"

namespace acre::tool {

inline bool operator==(const event& a, const event& b) {
    return a.time == b.time && a.object == b.object && a.size == b.size && a.thread == b.thread && a.stack == b.stack &&
           a.alignment_log2 == b.alignment_log2 && a.op == b.op && a.allocates == b.allocates;
}

inline std::ostream& operator<<(std::ostream& out, const event& e) {
    return out << (e.allocates ? "allocation" : "free") << " op " << static_cast<int>(e.op) << " object " << e.object
               << " size " << e.size << " thread " << e.thread << " stack " << e.stack << " time " << e.time;
}

}  // namespace acre::tool
