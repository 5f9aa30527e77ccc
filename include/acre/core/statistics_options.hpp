// What an acre::statistics records, as a template argument.
//
//     acre::statistics<acre::multi_pool, acre::statistics_options{.live_map = true, .leak_report = true}> nodes;
#pragma once

namespace acre {

/// What a statistics resource records besides counts, bytes and peaks.
struct statistics_options {
    bool live_map = false;          // address and bytes of each live allocation
    bool leak_report = false;       // write live allocations to standard error at the end; needs live_map
    bool histogram = false;         // how often each size was requested
    bool scopes = false;            // counts between push_scope() and pop_scope()
    bool peak_busy_arenas = false;  // peak number of arenas in use
};

}  // namespace acre
