// Joins the two halves of a realloc, between which events of other threads may come.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trace/model.hpp"

namespace acre::tool {

/// Passes each event to a sink with allocate(const event&), release(object, thread) and reallocate(const event&
/// acquired, released object).
class event_pairing {
public:
    template <typename Sink>
    void add(const event& e, Sink&& sink) {
        if (e.thread >= halves_.size()) halves_.resize(e.thread + std::size_t{1});
        half_realloc& half = halves_[e.thread];
        if (half.open && e.allocates && e.op == operation::realloc) {
            half.open = false;
            sink.reallocate(e, half.object);
            return;
        }
        close(e.thread, sink);
        if (e.allocates) {
            sink.allocate(e);
        } else if (e.op == operation::realloc) {
            half = {true, e.object};
        } else {
            sink.release(e.object, e.thread);
        }
    }

    /// Passes on, as frees, the reallocs whose second half is missing.
    template <typename Sink>
    void close_all(Sink&& sink) {
        for (std::uint32_t thread = 0; thread < halves_.size(); ++thread) close(thread, sink);
    }

private:
    struct half_realloc {
        bool open = false;
        std::uint64_t object = 0;
    };

    template <typename Sink>
    void close(std::uint32_t thread, Sink& sink) {
        if (std::exchange(halves_[thread].open, false)) sink.release(halves_[thread].object, thread);
    }

    std::vector<half_realloc> halves_;  // by thread
};

}  // namespace acre::tool
