// The difference of two runs as text and as JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "run_difference.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

/// The measure to sort by, and the number of sites that grew and of sites that shrank to show.
struct diff_view {
    measure by = measure::bytes;
    std::size_t max_sites = 10;
};

std::string diff_text(const run_difference& difference, const trace_reader& before, const trace_reader& after,
                      const diff_view& view);
nlohmann::json diff_json(const run_difference& difference, const trace_reader& before, const trace_reader& after,
                         const diff_view& view);

/// The measure in words: "bytes at the peak".
const char* title_of(measure what);

}  // namespace acre::tool
