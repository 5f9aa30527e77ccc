// acre-bench: measures acre's parts and what a user would pick instead, side by side, and writes a table in Markdown.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "contestants/contestants.hpp"
#include "harness.hpp"
#include "limits/instructions.hpp"
#include "report.hpp"

namespace {

constexpr std::string_view usage =
    R"(usage: acre-bench [options]
  --markdown FILE   write the report there as well
  --only TEXT       groups whose id contains TEXT; may be repeated
  --scaling         instead of the groups: T1, T2, T4 and W4 in 1 to 16 threads
  --rounds N        rounds for each group (31, with --scaling 11)
  --sample-ms N     processor time of one sample (3)
  --no-instructions do not count instructions with valgrind
  --list            name the groups and their variants, measure nothing
  --run GROUP VARIANT N   run one variant N times and print nothing: for profilers
  --help            this text
examples:
  acre-bench --markdown bench/results/mine.md
  acre-bench --only P1 --only P2 --rounds 101
  acre-bench --scaling --markdown bench/results/mine-scaling.md
  perf record acre-bench --run P1 acre::object_pool 100000
)";

struct options {
    std::string markdown;
    std::vector<std::string> only;
    bench::effort effort;
    std::optional<std::size_t> rounds;
    bool scaling = false;
    bool instructions = true;
    bool list = false;
    bool help = false;
    std::optional<std::string> run_group;
    std::string run_variant;
    std::size_t run_times = 0;
};

std::size_t parse_count(const std::string& text) {
    std::size_t used = 0;
    unsigned long value = 0;
    try {
        value = std::stoul(text, &used);
    } catch (const std::exception&) {
        used = 0;
    }
    if (used == 0 || used != text.size()) throw std::invalid_argument("not a number: " + text);
    return value;
}

class arguments {
public:
    arguments(int count, char** values) : values_(values + 1, values + count) {}
    [[nodiscard]] bool empty() const noexcept { return at_ == values_.size(); }
    std::string next() {
        if (empty()) throw std::invalid_argument("an option lacks its value");
        return values_[at_++];
    }

private:
    std::vector<std::string> values_;
    std::size_t at_ = 0;
};

options parse(arguments given) {
    options chosen;
    while (!given.empty()) {
        const std::string option = given.next();
        if (option == "--markdown") {
            chosen.markdown = given.next();
        } else if (option == "--only") {
            chosen.only.push_back(given.next());
        } else if (option == "--rounds") {
            chosen.rounds = std::max<std::size_t>(1, parse_count(given.next()));
        } else if (option == "--scaling") {
            chosen.scaling = true;
        } else if (option == "--sample-ms") {
            chosen.effort.sample_seconds = 1e-3 * static_cast<double>(parse_count(given.next()));
        } else if (option == "--no-instructions") {
            chosen.instructions = false;
        } else if (option == "--list") {
            chosen.list = true;
        } else if (option == "--help") {
            chosen.help = true;
        } else if (option == "--run") {
            chosen.run_group = given.next();
            chosen.run_variant = given.next();
            chosen.run_times = parse_count(given.next());
        } else {
            throw std::invalid_argument("unknown option: " + option);
        }
    }
    chosen.effort.rounds = chosen.rounds.value_or(chosen.scaling ? 11 : chosen.effort.rounds);
    return chosen;
}

bool wanted(const options& chosen, const std::string& id) {
    return chosen.only.empty() || std::any_of(chosen.only.begin(), chosen.only.end(), [&](const std::string& text) {
               return id.find(text) != std::string::npos;
           });
}

/// Groups small enough that callgrind's counts describe their hot path.
bool worth_counting(const std::string& id) {
    static const std::vector<std::string> counted{"P1",      "P3", "bump 8 B",  "bump 8..256 B",
                                                  "objects", "W7", "W7 outer 1"};
    return std::find(counted.begin(), counted.end(), id) != counted.end() || id.rfind("library ", 0) == 0;
}

void count_if_worth_it(const options& chosen, const bench::group& group, bench::measurements& measured) {
    if (!chosen.instructions || !bench::valgrind_version().has_value()) return;
    if (worth_counting(group.about.id)) count_instructions(group, measured.instructions);
}

void run_one(const options& chosen, const bench::suite& entries) {
    const bench::variant* found = entries.find(*chosen.run_group, chosen.run_variant);
    if (found == nullptr) {
        throw std::invalid_argument("no variant " + chosen.run_variant + " in " + *chosen.run_group + "; see --list");
    }
    const bench::round_function round = found->prepare();
    for (std::size_t i = 0; i < chosen.run_times; ++i) round();
}

void list(const bench::suite& entries) {
    for (const auto* groups : {&entries.groups(), &entries.counted()}) {
        for (const bench::group& group : *groups) {
            std::cout << group.about.id << ": " << group.about.title << "\n";
            for (const bench::variant& each : group.variants) std::cout << "    " << each.name << "\n";
        }
    }
    for (const bench::scaling_group& group : entries.scaling()) std::cout << group.work.about.id << "\n";
    for (const bench::isolated_group& group : entries.isolated()) std::cout << group.phase_ids.front() << "\n";
    for (const bench::footprint_group& group : entries.footprints()) std::cout << group.id << "\n";
    for (const bench::figure_group& group : entries.figures()) std::cout << group.id << "\n";
}

/// Reports progress on standard error, so that the table stays clean.
void progress(const std::string& what) {
    std::cerr << "measuring " << what << "\n";
}

void measure_isolated(const options& chosen, const bench::suite& entries, std::ostream& out,
                      bench::measurements& measured) {
    for (const bench::isolated_group& group : entries.isolated()) {
        if (!wanted(chosen, group.phase_ids.front())) continue;
        progress(group.title);
        measure(group, chosen.effort, measured.times);
        for (const std::string& id : group.phase_ids) bench::write_group(out, id, group.title, measured);
    }
}

/// Must run before this program uses its heap for anything else, because the children's heaps are copies of it.
void measure_in_fresh_processes(const options& chosen, const bench::suite& entries, std::ostream& out,
                                bench::measurements& measured) {
    for (const bench::group& group : entries.groups()) {
        const auto& [id, title, operations, time, in_fresh_processes, compared_with] = group.about;
        if (!in_fresh_processes || !wanted(chosen, id)) continue;
        progress(id);
        bench::measure_in_fresh_processes(group, chosen.effort, measured.times);
        count_if_worth_it(chosen, group, measured);
        bench::write_group(out, id, title, measured, compared_with);
        bench::write_group(out, id + bench::fragmented, title, measured, compared_with);
    }
}

void measure_groups(const options& chosen, const bench::suite& entries, std::ostream& out,
                    bench::measurements& measured) {
    for (const bench::group& group : entries.groups()) {
        if (group.about.in_fresh_processes || !wanted(chosen, group.about.id)) continue;
        progress(group.about.id);
        measure(group, chosen.effort, measured.times);
        count_if_worth_it(chosen, group, measured);
        bench::write_group(out, group.about.id, group.about.title, measured, group.about.compared_with);
    }
}

void measure_footprints(const options& chosen, const bench::suite& entries, std::ostream& out,
                        bench::measurements& measured) {
    for (const bench::footprint_group& group : entries.footprints()) {
        if (!wanted(chosen, group.id)) continue;
        for (const bench::footprint_variant& each : group.variants) measured.sizes[group.id][each.name] = each.run();
        bench::write_footprints(out, group, measured);
    }
}

void measure_figures(const options& chosen, const bench::suite& entries, std::ostream& out,
                     bench::measurements& measured) {
    for (const bench::figure_group& group : entries.figures()) {
        if (!wanted(chosen, group.id)) continue;
        progress(group.id);
        for (const bench::figure_variant& each : group.variants) measured.figures[group.id][each.name] = each.run();
        bench::write_figures(out, group.id, group.title, group.unit, measured);
    }
}

void count_single_calls(const options& chosen, const bench::suite& entries, std::ostream& out,
                        bench::measurements& measured) {
    if (!chosen.instructions || !bench::valgrind_version()) return;
    for (const bench::group& group : entries.counted()) {
        if (!wanted(chosen, group.about.id)) continue;
        progress(group.about.id);
        for (const bench::variant& each : group.variants) {
            const std::uint64_t count = bench::count_calls(group, each);
            measured.figures[group.about.id][each.name] = {static_cast<double>(count), std::to_string(count)};
        }
        bench::write_figures(out, group.about.id, group.about.title, "instructions", measured);
    }
}

/// Runs one step at a time, each in a process of its own. A workload named by --only means all of its steps.
std::string measure_scaling(const options& chosen, const bench::suite& entries) {
    std::vector<bench::scaling_group> steps;
    bench::samples times;
    for (const bench::scaling_group& each : entries.scaling()) {
        if (!wanted(chosen, each.at.workload)) continue;
        progress(each.work.about.id);
        measure_in_fresh_process(each.work, chosen.effort, bench::heap_kind::clean, times);
        steps.push_back(each);
    }
    std::ostringstream report;
    bench::write_heading(report, entries, chosen.effort);
    bench::write_scaling(report, steps, times);
    return report.str();
}

std::string measure_all(const options& chosen, bench::suite& entries) {
    entries.add_peer("instruction counts", bench::valgrind_version().value_or(""));
    bench::measurements measured;
    std::ostringstream tables;
    measure_isolated(chosen, entries, tables, measured);
    measure_in_fresh_processes(chosen, entries, tables, measured);
    measure_groups(chosen, entries, tables, measured);
    measure_footprints(chosen, entries, tables, measured);
    measure_figures(chosen, entries, tables, measured);
    count_single_calls(chosen, entries, tables, measured);
    std::ostringstream report;
    bench::write_heading(report, entries, chosen.effort);
    bench::write_verdicts(report, measured);
    bench::write_seeds(report, measured);
    report << tables.str();
    return report.str();
}

void run(const options& chosen) {
    if (chosen.help) {
        std::cout << usage;
        return;
    }
    bench::suite entries;
    bench::add_all(entries);
    if (chosen.run_group) return run_one(chosen, entries);
    if (chosen.list) return list(entries);
    const std::string report = chosen.scaling ? measure_scaling(chosen, entries) : measure_all(chosen, entries);
    std::cout << report;
    if (chosen.markdown.empty()) return;
    std::ofstream file{chosen.markdown};
    if (!(file << report)) throw std::runtime_error("cannot write " + chosen.markdown);
}

}  // namespace

int main(int count, char** values) {
    try {
        run(parse(arguments{count, values}));
        return EXIT_SUCCESS;
    } catch (const std::exception& problem) {
        std::cerr << "acre-bench: " << problem.what() << "\n";
        return EXIT_FAILURE;
    }
}
