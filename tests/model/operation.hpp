// Pending operations of threads, and which pairs of them commute: the input of the reduction.
#pragma once

#include <atomic>
#include <bitset>

#include "model/limits.hpp"

namespace model {

enum class kind : std::uint8_t { load, change, wait, notify, fence, yield };

/// An operation before which the scheduler may switch threads.
struct operation {
    kind what = kind::load;
    std::memory_order order = std::memory_order_relaxed;
    object_id object = no_object;
    std::bitset<max_objects> watched{};  // objects that a yield may wait for
};

/// False only if the two operations, by different threads one after the other, commute.
inline bool depends(const operation& a, const operation& b) noexcept {
    const auto is_total = [](const operation& one) { return one.order == std::memory_order_seq_cst; };
    if (a.what == kind::fence || b.what == kind::fence) return is_total(a) && is_total(b);
    if (a.what == kind::yield) return b.what == kind::change && a.watched[b.object];
    if (b.what == kind::yield) return a.what == kind::change && b.watched[a.object];
    if (a.object != b.object) return false;
    return a.what != kind::load || b.what != kind::load || (is_total(a) && is_total(b));
}

}  // namespace model
