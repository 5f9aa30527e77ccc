// Headings and tables of the report.
#include "report.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

namespace bench {
namespace {

std::string number(double value, int digits) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

/// A measurement on a shared machine is good for three significant digits.
std::string rounded(double value) {
    return number(value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

std::string processor() {
    std::ifstream info{"/proc/cpuinfo"};
    for (std::string line; std::getline(info, line);) {
        if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
    }
    return "unknown processor";
}

std::string system_name() {
    utsname name{};
    uname(&name);
    return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string load() {
    std::string one_minute;
    std::ifstream{"/proc/loadavg"} >> one_minute;
    return one_minute;
}

std::string date() {
    const std::time_t now = std::time(nullptr);
    std::array<char, 64> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
    return text.data();
}

std::string commit() {
    FILE* pipe = popen("git -C '" ACRE_BENCH_SOURCE "' describe --always --dirty 2>/dev/null", "r");
    if (pipe == nullptr) return "unknown";
    std::array<char, 128> text{};
    const bool read = fgets(text.data(), static_cast<int>(text.size()), pipe) != nullptr;
    pclose(pipe);
    std::string result = read ? text.data() : "unknown\n";
    result.pop_back();
    return result;
}

template <class Map>
const typename Map::mapped_type* find(const Map& map, const std::string& key) {
    const auto at = map.find(key);
    return at == map.end() ? nullptr : &at->second;
}

}  // namespace

void write_heading(std::ostream& out, const suite& entries, const effort& how_much) {
    out << "# acre-bench\n\n"
        << "- machine: " << processor() << ", " << std::thread::hardware_concurrency() << " processors, "
        << system_name() << ", load " << load() << "\n"
        << "- compiler: " ACRE_BENCH_COMPILER ", " ACRE_BENCH_FLAGS "\n"
        << "- date: " << date() << ", commit " << commit() << "\n"
        << "- method: one process, variants interleaved in a new order each round, " << how_much.rounds
        << " rounds of samples of " << number(how_much.sample_seconds * 1e3, 1)
        << " ms of this thread's processor time, or of the clock where several threads work; times are medians, ratios "
           "are medians of the ratios within a round\n\n"
        << "| peer | version |\n|---|---|\n";
    for (const peer& each : entries.peers()) {
        out << "| " << each.name << " | " << (each.version.empty() ? "**missing on this machine**" : each.version)
            << " |\n";
    }
    out << "\n";
}

void write_group(std::ostream& out, const std::string& id, const std::string& title, const measurements& measured,
                 const std::string& against) {
    const auto* times = find(measured.times, id);
    if (times == nullptr) return;
    const auto* base = find(*times, against);
    const auto* processors = find(measured.times, id + of_processors);
    const auto* base_processors = processors ? find(*processors, against) : nullptr;
    const auto* counts = find(measured.instructions, id);
    out << "## " << id << ": " << title << "\n\n| | ns | least | x " << against << " |"
        << (processors ? " processor ns | x " + against + " |" : "") << (counts ? " instructions | first round |" : "")
        << "\n|---|--:|--:|--:|" << (processors ? "--:|--:|" : "") << (counts ? "--:|--:|" : "") << "\n";
    std::vector<std::pair<double, std::string>> rows;
    for (const auto& [name, values] : *times) rows.emplace_back(median(values), name);
    std::sort(rows.begin(), rows.end());
    for (const auto& [time, name] : rows) {
        const std::vector<double>& values = times->at(name);
        out << "| " << name << " | " << rounded(time) << " | "
            << rounded(*std::min_element(values.begin(), values.end())) << " | "
            << (base ? rounded(median_ratio(values, *base)) : "") << " |";
        if (processors) {
            const std::vector<double>& own = processors->at(name);
            out << " " << rounded(median(own)) << " | "
                << (base_processors ? rounded(median_ratio(own, *base_processors)) : "") << " |";
        }
        if (counts) {
            const instruction_count* count = find(*counts, name);
            out << " " << (count ? number(count->steady, 1) : "") << " | " << (count ? number(count->first, 1) : "")
                << " |";
        }
        out << "\n";
    }
    out << "\n" << std::flush;
}

namespace {

/// The table of one workload's steps.
std::vector<const scaling_group*> steps_of(const std::vector<scaling_group>& steps, const std::string& workload) {
    std::vector<const scaling_group*> own;
    for (const scaling_group& each : steps) {
        if (each.at.workload == workload) own.push_back(&each);
    }
    return own;
}

/// Processor nanoseconds of an operation, and millions of operations a second over all threads.
std::string scaling_cell(const scaling_group& step, const std::string& name, const samples& times) {
    const std::string& id = step.work.about.id;
    const double processor = median(times.at(id + of_processors).at(name));
    return rounded(processor) + " | " + rounded(1e3 / median(times.at(id).at(name))) + " |";
}

void write_workload(std::ostream& out, const std::vector<const scaling_group*>& steps, const samples& times) {
    out << "## " << steps.front()->at.workload << " in N threads: " << steps.front()->at.title << "\n\n| |";
    for (const scaling_group* each : steps) out << " N = " << each->at.threads << ": ns | M/s |";
    out << "\n|---|";
    for (std::size_t i = 0; i < steps.size(); ++i) out << "--:|--:|";
    out << "\n";
    for (const variant& each : steps.front()->work.variants) {
        out << "| " << each.name << " |";
        for (const scaling_group* step : steps) out << " " << scaling_cell(*step, each.name, times);
        out << "\n";
    }
    out << "\n";
}

}  // namespace

void write_scaling(std::ostream& out, const std::vector<scaling_group>& steps, const samples& times) {
    std::string written;
    for (const scaling_group& each : steps) {
        if (each.at.workload == written || find(times, each.work.about.id) == nullptr) continue;
        written = each.at.workload;
        write_workload(out, steps_of(steps, written), times);
    }
}

void write_footprints(std::ostream& out, const footprint_group& group, const measurements& measured) {
    const auto* sizes = find(measured.sizes, group.id);
    if (sizes == nullptr) return;
    out << "## " << group.id << ": " << group.title
        << "\n\n| | upstream bytes per live byte | upstream calls |\n|---|--:|--:|\n";
    std::vector<std::pair<double, std::string>> rows;
    for (const auto& [name, size] : *sizes) {
        rows.emplace_back(static_cast<double>(size.upstream_bytes) / static_cast<double>(size.live_bytes), name);
    }
    std::sort(rows.begin(), rows.end());
    for (const auto& [ratio, name] : rows) {
        const std::size_t calls = sizes->at(name).upstream_calls;
        out << "| " << name << " | " << number(ratio, 3) << " | " << (calls ? std::to_string(calls) : "not known")
            << " |\n";
    }
    out << "\n";
}

void write_figures(std::ostream& out, const std::string& id, const std::string& title, const std::string& unit,
                   const measurements& measured) {
    const auto* rows = find(measured.figures, id);
    if (rows == nullptr) return;
    const bool detailed =
        std::any_of(rows->begin(), rows->end(), [](const auto& row) { return row.second.detail != ""; });
    out << "## " << id << ": " << title << "\n\n| | " << unit << (detailed ? " | " : "")
        << " |\n|---|--:" << (detailed ? "|---" : "") << "|\n";
    for (const auto& [name, shown] : *rows) {
        out << "| " << name << " | " << shown.text << (detailed ? " | " + shown.detail : "") << " |\n";
    }
    out << "\n";
}

}  // namespace bench
