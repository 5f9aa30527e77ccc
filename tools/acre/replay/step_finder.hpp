// Finds the event of a trace that a step of its sequence was made of.
#pragma once

#include <cstdint>
#include <vector>

#include "event_pairing.hpp"
#include "sequence_builder.hpp"
#include "trace/model.hpp"

namespace acre::tool {

/// A step, counted in its lane, and its event once that was found.
struct wanted_step {
    std::uint32_t lane = 0;
    std::uint64_t step = 0;
    bool found = false;
    std::uint64_t number = 0;  // of the event, from 1
    event what{};
};

/// Is told the same events as the builder of the sequence, and counts the steps that it made of them.
class step_finder {
public:
    step_finder(lanes who, std::vector<wanted_step>& wanted) : who_{who}, wanted_{wanted} {}

    void add(const event& e) {
        ++number_;
        pairing_.add(e, sink{*this, e});
    }

private:
    struct sink {
        step_finder& finder;
        const event& now;
        void allocate(const event&) { finder.count(now.thread, 1, now); }
        void release(std::uint64_t, std::uint32_t thread) { finder.count(thread, 1, now); }
        void reallocate(const event&, std::uint64_t) { finder.count(now.thread, 2, now); }
    };

    void count(std::uint32_t thread, std::uint64_t steps, const event& now) {
        const std::uint32_t lane = who_ == lanes::one ? 0 : thread;
        if (lane >= counts_.size()) counts_.resize(lane + std::size_t{1});
        for (wanted_step& each : wanted_) {
            if (each.lane != lane || each.found || each.step - counts_[lane] >= steps) continue;
            each.found = true;
            each.number = number_;
            each.what = now;
        }
        counts_[lane] += steps;
    }

    lanes who_;
    std::vector<wanted_step>& wanted_;
    event_pairing pairing_;
    std::vector<std::uint64_t> counts_;  // steps, by lane
    std::uint64_t number_ = 0;
};

}  // namespace acre::tool
