// The scopes that the program named, and the pauses of the recording, as bands; from the marks of a trace.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "bands.hpp"
#include "trace/model.hpp"

namespace acre::tool {

class scope_bands {
public:
    void add(const mark& m);

    /// To be called once; what is still open ends with the trace, at `end`.
    lane_list finish(std::uint64_t end, const trace_tables& tables);
    const band_lane& pauses() const noexcept { return pauses_; }

private:
    static constexpr std::size_t max_lanes = 4096;  // of a trace made to do harm

    /// A scope in a thread; one that is entered within itself is one band.
    struct open_lane {
        std::uint64_t depth = 0;
        std::uint64_t begin = 0;
        band_lane lane;
    };

    void enter(const mark& m);
    void leave(const mark& m);

    std::map<std::pair<std::uint32_t, std::uint32_t>, open_lane> lanes_;  // by name and thread
    band_lane pauses_;
    std::uint64_t pause_begin_ = 0;
    bool paused_ = false;
};

}  // namespace acre::tool
