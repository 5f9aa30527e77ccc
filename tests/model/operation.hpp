// What a thread is about to do, and which two of those may not be swapped: all that the reduction needs to know.
#pragma once

#include <atomic>
#include <bitset>

#include "model/limits.hpp"

namespace model {

enum class kind : std::uint8_t { load, change, wait, notify, fence, yield };

/// One operation before which the scheduler may switch.
struct operation {
    kind what = kind::load;
    std::memory_order order = std::memory_order_relaxed;
    object_id object = no_object;
    std::bitset<max_objects> watched{};  // by a yield: what it may have to wait for
};

/// False only if the two, done by different threads one after the other, do the same in either order.
inline bool depends(const operation& a, const operation& b) noexcept {
    const auto is_total = [](const operation& one) { return one.order == std::memory_order_seq_cst; };
    if (a.what == kind::fence || b.what == kind::fence) return is_total(a) && is_total(b);
    if (a.what == kind::yield) return b.what == kind::change && a.watched[b.object];
    if (b.what == kind::yield) return a.what == kind::change && b.watched[a.object];
    if (a.object != b.object) return false;
    return a.what != kind::load || b.what != kind::load || (is_total(a) && is_total(b));
}

}  // namespace model
