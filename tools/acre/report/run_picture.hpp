// The data of a report's plots, gathered in one pass over the events.
#pragma once

#include <cstdint>
#include <vector>

#include "advise/advice.hpp"
#include "advise/history.hpp"
#include "bands.hpp"
#include "flame_graph.hpp"
#include "tally_histogram.hpp"
#include "timeline.hpp"
#include "trace/call_paths.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

/// The activity of a thread.
struct thread_figures {
    std::uint32_t thread = 0;
    tally allocated{};
    std::uint64_t frees = 0;
    std::uint64_t frees_of_others = 0;  // of objects that another thread allocated
};

struct run_picture {
    std::uint64_t bucket_nanoseconds = 0;
    std::vector<time_bucket> buckets;
    tally_histogram sizes{size_bounds()};
    // Lifetimes in time, and in what the whole run allocated meanwhile: allocations and bytes.
    tally_histogram life_times{time_bounds()};
    tally_histogram life_allocations{doubling_bounds()};
    tally_histogram life_bytes{doubling_bounds()};
    tally never_freed;
    std::vector<flame_node> flames;
    lane_list scopes;
    lane_list generations;
    band_lane pauses;
    std::vector<thread_figures> threads;  // the last one also sums up all further threads
};

/// Limits that keep the page small enough to open at once.
struct picture_limits {
    double min_flame_share = 0.0005;
    std::size_t max_flames = 3000;
    std::size_t max_lanes = 24;
    std::size_t max_threads = 4096;
};

/// `peak_bytes` is the peak of live bytes from trace_summary. `run` and `advices` tell which scopes have generations.
run_picture draw_run(trace_reader& reader, const call_paths& paths, std::uint64_t peak_bytes, const history& run,
                     const std::vector<advice>& advices, const picture_limits& limits = {});

}  // namespace acre::tool
