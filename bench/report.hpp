// Writes the measurements as Markdown: the machine, the peers, a table for each group, and the targets.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "harness.hpp"
#include "limits/instructions.hpp"

namespace bench {

using figures = std::map<std::string, std::map<std::string, figure>>;
using footprints = std::map<std::string, std::map<std::string, footprint>>;

struct measurements {
    samples times;
    instruction_counts instructions;
    footprints sizes;
    bench::figures figures;
};

void write_heading(std::ostream& out, const suite& entries, const effort& how_much);
/// With ratios to the variant `against`.
void write_group(std::ostream& out, const std::string& id, const std::string& title, const measurements& measured,
                 const std::string& against = baseline);
/// A table for each workload that was measured with several numbers of threads.
void write_scaling(std::ostream& out, const std::vector<scaling_group>& steps, const samples& times);
void write_footprints(std::ostream& out, const footprint_group& group, const measurements& measured);
/// `unit` is the unit of the figures.
void write_figures(std::ostream& out, const std::string& id, const std::string& title, const std::string& unit,
                   const measurements& measured);

/// Published figures, beside those of the same design and of acre here.
void write_seeds(std::ostream& out, const measurements& measured);

/// The targets of issue 2, line by line: target, measured, reached or not.
void write_verdicts(std::ostream& out, const measurements& measured);

}  // namespace bench
