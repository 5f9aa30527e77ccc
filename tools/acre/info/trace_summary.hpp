// What is in a trace, in figures.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scope_summary.hpp"
#include "trace/call_paths.hpp"
#include "trace/reader.hpp"
#include "trace/tally.hpp"

namespace acre::tool {

/// The figures of one site.
struct site_summary {
    std::uint32_t site = 0;
    tally allocated;
    tally never_freed;
    std::uint64_t peak_bytes = 0;  // most bytes of this site alive at a time
    std::uint64_t smallest = ~std::uint64_t{0};
    std::uint64_t largest = 0;
    std::uint64_t lifetime = 0;  // nanoseconds of all freed objects together
    std::uint32_t stack = no_stack;
};

/// Of a sampled trace all figures but `events` are estimates of the whole.
struct trace_summary {
    static constexpr std::size_t size_classes = 65;      // class n: sizes below 2^n and not in a smaller class
    static constexpr std::size_t lifetime_classes = 10;  // below 1 us, below 10 us, ... and the rest

    std::uint64_t events = 0;
    std::uint64_t frees = 0;
    std::uint64_t reallocs = 0;
    std::uint64_t threads = 0;
    std::uint64_t freed_by_other_thread = 0;
    tally allocated;
    tally never_freed;
    std::uint64_t peak_bytes = 0;
    std::uint64_t peak_objects = 0;
    std::array<tally, size_classes> sizes{};
    std::array<tally, lifetime_classes> lifetimes{};
    std::vector<site_summary> sites;    // most bytes first
    std::vector<scope_summary> scopes;  // the same
};

/// Reads all events and marks; memory in proportion to the live objects, the open scopes and the tables.
trace_summary summarise(trace_reader& reader, const call_paths& paths);

}  // namespace acre::tool
