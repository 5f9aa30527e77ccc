// Tells the difference of two runs to a person or to a machine.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "run_difference.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

/// The most changed by a measure come first, at most so many that grew and so many that shrank.
struct diff_view {
    measure by = measure::bytes;
    std::size_t max_sites = 10;
};

std::string diff_text(const run_difference& difference, const trace_reader& before, const trace_reader& after,
                      const diff_view& view);
nlohmann::json diff_json(const run_difference& difference, const trace_reader& before, const trace_reader& after,
                         const diff_view& view);

/// What the measure of a whole run is called: "bytes at the peak".
const char* title_of(measure what);

}  // namespace acre::tool
