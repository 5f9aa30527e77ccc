// The targets, as far as this program measures them, and whether each is reached.
#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "lookup.hpp"
#include "report.hpp"

namespace bench {
namespace {

enum class quantity { time, instructions, first_instructions, extra_instructions, footprint, figure, worst_figure };

/// The figure is `variant` divided by `against` in one group. `asked` is its upper limit; without one it is only
/// reported. worst_figure is the worst of all variants whose name begins with `variant`, and is not divided.
struct reach_line {
    std::string what;
    quantity measure;
    std::string group;
    std::string variant;
    std::string against;
    std::optional<double> asked;
};

const std::string objects_pool = "acre::object_pool";
const std::string arena = "acre::arena";
const std::string scratch = "acre::arena + scratch";
const std::string grown = "acre::arena_vector";
const std::string containers = "acre::allocator over a multi_pool";
const std::string fast = "boost::fast_pool_allocator";

std::vector<reach_line> pool_lines() {
    return {
        {"P1, object pool / boost::pool", quantity::time, "P1", objects_pool, "boost::pool", 0.85},
        {"P2 100,000, object pool / boost::pool", quantity::time, "P2 100,000", objects_pool, "boost::pool", 0.15},
        {"P4 list / fast_pool_allocator", quantity::time, "P4 list", containers, fast, 1.0},
        {"P4 map / fast_pool_allocator", quantity::time, "P4 map", containers, fast, 1.0},
        {"P4 unordered_map / fast_pool_allocator", quantity::time, "P4 unordered_map", containers, fast, 1.0},
        {"P4 unordered_map / fast_pool_allocator with arrays by new", quantity::time, "P4 unordered_map", containers,
         fast + ", arrays by new", 1.0},
        {"P5 10,000 x 64 B, upstream bytes per live byte", quantity::footprint, "P5 64 B", objects_pool, "", 1.05},
    };
}

/// multi_pool against the pools of std::pmr and Boost's pmr, directly and behind the virtual calls of std::pmr.
std::vector<reach_line> multi_pool_lines() {
    const std::string pool = "acre::multi_pool";
    const std::string face = "acre::pmr over a multi_pool";
    const std::string standard = "std::pmr unsynchronized_pool";
    const std::string boost = "boost pmr unsynchronized_pool";
    std::vector<reach_line> lines;
    for (const std::string& heap : {std::string{}, fragmented}) {
        const auto add = [&](const std::string& group, const std::string& variant, const std::string& against,
                             std::optional<double> asked) {
            lines.push_back({group + heap + ", " + variant + " / " + against, quantity::time, group + heap, variant,
                             against, asked});
        };
        for (const std::string group : {"P1", "P2 1,000", "P2 100,000", "P3"}) {
            add(group, pool, standard, 0.2);
            add(group, pool, boost, 0.75);
            add(group, face, standard, 0.3);
            add(group, "acre::chunk_pool", standard, std::nullopt);
        }
        for (const std::string group : {"P4 list", "P4 map", "P4 unordered_map"}) {
            add(group, containers, standard, 1.0);
            add(group, containers, boost, 1.0);
            add(group, face, standard, 1.0);
            add(group, face, boost, 1.0);
        }
        add("P4 list", containers, "foonathan node_pool", 1.0);
        add("P4 map", containers, "foonathan node_pool", 1.0);
        add("P4 unordered_map", containers, "foonathan node_pool, arrays by new", 1.0);
    }
    lines.push_back(
        {"P5 10,000 x 64 B, multi_pool, upstream bytes per live byte", quantity::footprint, "P5 64 B", pool, "", 1.05});
    lines.push_back(
        {"P5 8..512 B, multi_pool, upstream bytes per live byte", quantity::footprint, "P5 8..512 B", pool, "", 1.2});
    return lines;
}

std::vector<reach_line> arena_lines() {
    return {
        {"arena 8 B, instructions beyond the loop", quantity::extra_instructions, "bump 8 B", arena, "the loop alone",
         8.0},
        {"arena 8 B / LLVM, hot path", quantity::time, "bump 8 B", arena, "LLVM BumpPtrAllocator", 1.0},
        {"arena 8 B / LLVM, growth and reset paid", quantity::time, "bump 8 B x 100,000", arena,
         "LLVM BumpPtrAllocator", 1.0},
        {"create + destroy of 16 B / new/delete", quantity::time, "objects", arena, baseline, 0.25},
        {"W6 b 100 / std", quantity::time, "W6 b 100", scratch, baseline, 0.73},
        {"W6 b 1,000 / std", quantity::time, "W6 b 1,000", scratch, baseline, 0.56},
        {"W6 b 10,000 / std", quantity::time, "W6 b 10,000", scratch, baseline, 0.56},
        {"W6 c 100 / std, -O3", quantity::time, "W6 c 100 -O3", scratch, baseline, 1.0},
        {"W6 c 1,000 / std, -O3", quantity::time, "W6 c 1,000 -O3", scratch, baseline, 1.0},
        {"W6 c 10,000 / std, -O3", quantity::time, "W6 c 10,000 -O3", scratch, baseline, 1.0},
        {"W6 c 100, arena_vector / std, -O2", quantity::time, "W6 c 100 -O2", grown, baseline, 0.6},
        {"W6 c 100, arena_vector in an arena of one block / std, -O2", quantity::time, "W6 c 100 -O2",
         grown + ", one block", baseline, 0.6},
        {"W6 c 1,000, arena_vector / std, -O2", quantity::time, "W6 c 1,000 -O2", grown, baseline, 0.6},
        {"W6 c 1,000, arena_vector in an arena of one block / std, -O2", quantity::time, "W6 c 1,000 -O2",
         grown + ", one block", baseline, 0.6},
        {"W6 c 10,000, arena_vector / std, -O2", quantity::time, "W6 c 10,000 -O2", grown, baseline, 0.6},
        {"W6 c 10,000, arena_vector in an arena of one block / std, -O2", quantity::time, "W6 c 10,000 -O2",
         grown + ", one block", baseline, 0.6},
        {"W6 c 100 / std, -O2", quantity::time, "W6 c 100 -O2", scratch, baseline, std::nullopt},
        {"W6 c 1,000 / std, -O2", quantity::time, "W6 c 1,000 -O2", scratch, baseline, std::nullopt},
        {"W6 c 10,000 / std, -O2", quantity::time, "W6 c 10,000 -O2", scratch, baseline, std::nullopt},
    };
}

std::vector<reach_line> stack_lines() {
    const std::string loop = "the loop alone";
    return {
        {"W7 instructions / new/delete", quantity::instructions, "W7", objects_pool, baseline, 0.22},
        {"W7 instructions, the loop alone / new/delete", quantity::instructions, "W7", loop, baseline, std::nullopt},
        {"W7 time / new/delete", quantity::time, "W7", objects_pool, baseline, 0.22},
        {"W7 time, the loop alone / new/delete", quantity::time, "W7", loop, baseline, std::nullopt},
        {"W7 outer 1, instructions of a first round / new/delete", quantity::first_instructions, "W7 outer 1",
         objects_pool, baseline, 0.5},
        {"W7 outer 1, time / new/delete", quantity::time, "W7 outer 1", objects_pool, baseline, 0.5},
    };
}

/// One line for each figure of W1, for an arena at namespace scope and one in a function.
std::vector<reach_line> orc_lines() {
    std::vector<reach_line> lines;
    for (const std::string where : {"at namespace scope", "local to a function"}) {
        const std::string orcs = "acre::typed_arena, " + where;
        const auto add = [&](const std::string& group, std::optional<double> asked) {
            lines.push_back(
                {group + ", typed arena " + where + " / new/delete", quantity::time, group, orcs, baseline, asked});
        };
        for (const std::string thread : {"", ", a thread was started"}) {
            add("W1 new, first touch" + thread, 0.38);
            add("W1 new, prefaulted at construction" + thread, 0.22);
            add("W1 new, prefaulted" + thread, std::nullopt);
            add("W1 delete, first touch" + thread, 0.02);
            add("W1 delete, prefaulted" + thread, 0.02);
        }
    }
    return lines;
}

/// W2: the targets, and the possible gain.
std::vector<reach_line> chunk_lines() {
    const std::string chunks = "acre::chunk_pool";
    std::vector<reach_line> lines;
    for (const std::string& heap : {std::string{}, fragmented}) {
        for (const std::string pass : {"W2 first pass", "W2 second pass"}) {
            const std::string group = pass + heap;
            const auto add = [&](const std::string& variant, std::optional<double> asked) {
                lines.push_back(
                    {group + ", " + variant + " / new/delete", quantity::time, group, variant, baseline, asked});
            };
            add(chunks, pass == "W2 first pass" ? 0.35 : 0.55);
            add(chunks + ", not prefaulted", std::nullopt);
            add("the loop over as many bytes, no pool", std::nullopt);
            add("the loop alone", std::nullopt);
        }
    }
    return lines;
}

std::vector<reach_line> camera_lines() {
    const std::string arenas = "acre::multi_arena";
    const std::string design = "published multi-arena, re-implemented";
    std::vector<reach_line> lines;
    for (const std::string& heap : {std::string{}, fragmented}) {
        const auto add = [&](const std::string& what, const std::string& against, std::optional<double> asked) {
            lines.push_back(
                {"W3" + heap + ", multi_arena / " + what, quantity::time, "W3" + heap, arenas, against, asked});
        };
        add("the floor", "the loop alone", 1.02);
        add("the floor of two places in turns", "the loop alone, two places in turns", std::nullopt);
        add("new_delete_resource", baseline, std::nullopt);
        add("unsynchronized_pool_resource", "std::pmr unsynchronized_pool", std::nullopt);
        add("published design", design, std::nullopt);
    }
    for (const std::string lock : {"std::mutex", "acre::spin_lock"}) {
        const auto add = [&](const std::string& what, const std::string& against) {
            lines.push_back({"W4, multi_arena under " + lock + " / " + what + ", wall time", quantity::time, "W4",
                             "acre::synchronized multi_arena, " + lock, against, std::nullopt});
        };
        add("new_delete_resource", baseline);
        add("synchronized_pool_resource", "std::pmr synchronized_pool");
        add("published design", design);
    }
    lines.push_back({"W5, smallest fit / 64 x 4096 as published", quantity::figure, "W5", arenas, design, 1.0});
    lines.push_back(
        {"W9, live share of the published design / multi_arena", quantity::figure, "W9", design, arenas, 1.0});
    for (const std::string type : {"multi_arena", "inline_multi_arena"}) {
        const std::string group = type + " instructions";
        lines.push_back(
            {type + " allocate, instructions on the worst path", quantity::worst_figure, group, "allocate:", "", 51.0});
        lines.push_back({type + " allocate over-aligned, instructions on the worst path", quantity::worst_figure, group,
                         "allocate over-aligned:", "", std::nullopt});
        lines.push_back({type + " deallocate, instructions on the worst path", quantity::worst_figure, group,
                         "deallocate:", "", 43.0});
    }
    return lines;
}

std::vector<reach_line> static_lines() {
    const std::string pool = "acre::static_pool";
    const std::string pooled = "acre::pooled";
    std::vector<reach_line> lines;
    for (const std::string work : {"pair", "LIFO", "FIFO", "churn"}) {
        const auto add = [&](const std::string& how, const std::string& variant, const std::string& against,
                             std::optional<double> asked) {
            const std::string group = "W8 " + work + how;
            lines.push_back({group + ", " + variant + " / " + against, quantity::time, group, variant, against, asked});
        };
        const std::string started = ", a thread was started";
        add(started, pool, baseline, 0.3);
        add(started, pooled, baseline, 0.3);
        add(started, pool, pool + ", a group", 1.5);
        add(started + fragmented, pool, baseline, 0.3);
        add("", pool, baseline, std::nullopt);
        add(", 2 threads", pool, baseline, std::nullopt);
        add(", 4 threads", pool, baseline, std::nullopt);
        add(", 2 threads", pool + ", a group", baseline, std::nullopt);
        add(started, "the loop alone", baseline, std::nullopt);
    }
    return lines;
}

/// The allocators with which T1 to T3 are compared.
const std::vector<std::string> peers_of_threads{
    baseline, "mimalloc", "jemalloc", "gperftools tcmalloc", "oneTBB scalable_malloc", "mimalloc of today", "snmalloc"};

/// The peer with the least time in the group; the first one where none was measured.
std::string fastest_peer(const samples& times, const std::string& group) {
    std::string fastest = peers_of_threads.front();
    for (const std::string& each : peers_of_threads) {
        const auto* own = find(times, group, each);
        const auto* least = find(times, group, fastest);
        if (own && (!least || median(*own) < median(*least))) fastest = each;
    }
    return fastest;
}

/// One contestant of T1 to T3 against the fastest peer, and against all others.
void add_peers(std::vector<reach_line>& lines, const samples& times, const std::string& group,
               const std::string& variant, std::optional<double> asked) {
    const auto add = [&](const std::string& against, const std::string& how, std::optional<double> most) {
        lines.push_back({group + ", " + variant + " / " + how + against + ", wall time", quantity::time, group, variant,
                         against, most});
    };
    const std::string fastest = fastest_peer(times, group);
    add(fastest, "the fastest peer: ", asked);
    for (const std::string& each : peers_of_threads) {
        if (each != fastest) add(each, "", std::nullopt);
    }
}

std::vector<reach_line> thread_lines(const samples& times) {
    const std::string pool = "acre::concurrent_pool";
    std::vector<reach_line> lines;
    for (const std::string& heap : {std::string{}, fragmented}) {
        const auto add = [&](const std::string& group, const std::string& against, std::optional<double> asked) {
            lines.push_back({group + heap + ", concurrent_pool / " + against + ", wall time", quantity::time,
                             group + heap, pool, against, asked});
        };
        add("T1", "acre::pool, one a thread", 1.2);
        add_peers(lines, times, "T1" + heap, pool, std::nullopt);
        add_peers(lines, times, "T2" + heap, pool, 0.65);
        add("T2", "the ring alone", 1.25);
        add("T2", "the ring alone, 4,096 blocks in turns", std::nullopt);
        add_peers(lines, times, "T3" + heap, pool, 0.8);
        add_peers(lines, times, "T3 16..512 B" + heap, "acre::general_heap", 0.9);
        add_peers(lines, times, "T3 16..512 B" + heap, "acre::concurrent_multi_pool", std::nullopt);
        for (const std::string work : {"T1", "T2", "T3"}) {
            add(work, "std::pmr synchronized_pool", std::nullopt);
            add(work, "acre::pool under a mutex", std::nullopt);
        }
    }
    lines.push_back({"T1, synchronized_pool_resource / std's, wall time", quantity::time, "T1",
                     "acre::synchronized_pool_resource", "std::pmr synchronized_pool", std::nullopt});
    for (const std::string work : {"T4 8 B", "T4 8..256 B"}) {
        lines.push_back({work + ", concurrent_arena / an arena for each thread, wall time", quantity::time, work,
                         "acre::concurrent_arena", "acre::arena, one a thread", 1.1});
        lines.push_back({work + ", concurrent_arena / an arena under a mutex, wall time", quantity::time, work,
                         "acre::concurrent_arena", "acre::arena under a mutex", 0.05});
    }
    return lines;
}

/// W4 by the processor time of all threads, because elapsed time depends on how many processors were idle.
std::vector<reach_line> shared_camera_lines() {
    std::vector<reach_line> lines;
    for (const std::string& heap : {std::string{}, fragmented}) {
        const std::string group = "W4" + heap + of_processors;
        const auto add = [&](const std::string& variant, std::optional<double> of_new_delete,
                             std::optional<double> of_pool) {
            const std::string standard = "std::pmr synchronized_pool";
            lines.push_back(
                {group + ", " + variant + " / new_delete", quantity::time, group, variant, baseline, of_new_delete});
            lines.push_back(
                {group + ", " + variant + " / synchronized_pool", quantity::time, group, variant, standard, of_pool});
        };
        add("acre::concurrent_multi_arena", 0.88, 0.55);
        add("acre::pmr over a concurrent_multi_pool", std::nullopt, std::nullopt);
        add("acre::synchronized_pool_resource", std::nullopt, std::nullopt);
        add("the loop alone", std::nullopt, std::nullopt);
    }
    return lines;
}

/// The ratio of the best rounds, which other programs disturbed least.
std::optional<double> min_ratio(const reach_line& line, const samples& times) {
    const auto* measured = find(times, line.group, line.variant);
    const auto* other = find(times, line.group, line.against);
    if (line.measure != quantity::time || !measured || !other) return std::nullopt;
    return *std::min_element(measured->begin(), measured->end()) / *std::min_element(other->begin(), other->end());
}

std::optional<double> instruction_figure(const reach_line& line, const instruction_counts& counts) {
    const auto* measured = find(counts, line.group, line.variant);
    const auto* other = find(counts, line.group, line.against);
    if (!measured || !other) return std::nullopt;
    if (line.measure == quantity::extra_instructions) return measured->steady - other->steady;
    if (line.measure == quantity::first_instructions) return measured->first / other->first;
    return measured->steady / other->steady;
}

std::optional<double> worst_figure(const reach_line& line, const figures& of) {
    const auto rows = of.find(line.group);
    if (rows == of.end()) return std::nullopt;
    std::optional<double> worst;
    for (const auto& [name, each] : rows->second) {
        if (name.rfind(line.variant, 0) == 0) worst = std::max(worst.value_or(each.value), each.value);
    }
    return worst;
}

std::optional<double> figure_ratio(const reach_line& line, const figures& of) {
    const auto* measured = find(of, line.group, line.variant);
    const auto* other = find(of, line.group, line.against);
    if (!measured || !other) return std::nullopt;
    return measured->value / other->value;
}

std::optional<double> value_of(const reach_line& line, const measurements& measured) {
    if (line.measure == quantity::time) return time_ratio(measured.times, line.group, line.variant, line.against);
    if (line.measure == quantity::figure) return figure_ratio(line, measured.figures);
    if (line.measure == quantity::worst_figure) return worst_figure(line, measured.figures);
    if (line.measure != quantity::footprint) return instruction_figure(line, measured.instructions);
    const footprint* size = find(measured.sizes, line.group, line.variant);
    if (!size) return std::nullopt;
    return static_cast<double>(size->upstream_bytes) / static_cast<double>(size->live_bytes);
}

std::string two_digits(std::optional<double> value) {
    return digits(value, 2);
}

std::string verdict(const reach_line& line, double measured) {
    if (!line.asked) return "reported";
    return measured < *line.asked + 0.005 ? "reached" : "**not reached**";
}

}  // namespace

void write_verdicts(std::ostream& out, const measurements& measured) {
    out << "## Reach\n\n| | at most | measured | best rounds | |\n|---|--:|--:|--:|---|\n";
    std::size_t left_out = 0;
    for (const auto& lines :
         {pool_lines(), multi_pool_lines(), arena_lines(), orc_lines(), chunk_lines(), camera_lines(),
          shared_camera_lines(), stack_lines(), static_lines(), thread_lines(measured.times)}) {
        for (const reach_line& line : lines) {
            const std::optional<double> value = value_of(line, measured);
            if (!value) {
                ++left_out;
                continue;
            }
            out << "| " << line.what << " | " << two_digits(line.asked) << " | " << two_digits(value) << " | "
                << two_digits(min_ratio(line, measured.times)) << " | " << verdict(line, *value) << " |\n";
        }
    }
    out << "\n";
    if (left_out != 0) out << left_out << " more were not measured in this run.\n\n";
}

}  // namespace bench
