// A table of the published figures beside three measurements here: a re-implementation of the published design, acre,
// and the loop over memory that costs nothing. On a clean heap and on a fragmented one.
#include <ostream>
#include <string>
#include <vector>

#include "lookup.hpp"
#include "report.hpp"

namespace bench {
namespace {

enum class ratio_of { times, iterations_per_second };

/// One published figure; `again` is what others measured when they ran its source code again.
struct seed_line {
    std::string what;
    ratio_of kind;
    std::string published;
    std::string again;
    std::string group;
    std::string against;
    std::string design;  // the variant that re-implements it
    std::string acre;
};

const std::string floor_name = "the loop alone";
const std::string counted = "published multi-arena, re-implemented";

std::vector<seed_line> orc_lines() {
    std::vector<seed_line> lines;
    const auto add = [&](const std::string& group, const std::string& where, const std::string& published,
                         const std::string& again) {
        lines.push_back({group + ", arena " + where, ratio_of::times, published, again, group, baseline,
                         "the book's arena, " + where, "acre::typed_arena, " + where});
    };
    const std::string local = "local to a function";
    const std::string outside = "at namespace scope";
    add("W1 new, first touch", local, "0.764", "0.477");
    add("W1 new, first touch", outside, "0.750", "0.496");
    add("W1 delete, first touch", local, "0.080", "0.097");
    add("W1 delete, first touch", outside, "0.000", "0.000");
    add("W1 new, first touch, a thread was started", local, "", "0.661");
    add("W1 new, first touch, a thread was started", outside, "", "0.643");
    add("W1 delete, first touch, a thread was started", local, "", "");
    add("W1 delete, first touch, a thread was started", outside, "", "");
    for (const std::string phase : {"new", "delete"}) {
        for (const std::string how :
             {", prefaulted at construction", ", prefaulted at construction, a thread was started", ", prefaulted",
              ", prefaulted, a thread was started"}) {
            add("W1 " + phase + how, local, "", "");
            add("W1 " + phase + how, outside, "", "");
        }
    }
    return lines;
}

std::vector<seed_line> chunk_lines() {
    const auto line = [](const std::string& group, const std::string& published, const std::string& again) {
        return seed_line{group, ratio_of::times, published,           again,
                         group, baseline,        "the book's chunks", "acre::chunk_pool"};
    };
    return {line("W2 first pass", "0.901", "0.735"), line("W2 second pass", "", "")};
}

std::vector<seed_line> camera_lines() {
    const auto rate = ratio_of::iterations_per_second;
    const std::string arenas = "acre::multi_arena";
    return {
        {"W3, one thread / new_delete_resource", rate, "1.22", "1.186", "W3", baseline, counted, arenas},
        {"W3, one thread / unsynchronized_pool_resource", rate, "1.10", "1.093", "W3", "std::pmr unsynchronized_pool",
         counted, arenas},
    };
}

std::vector<seed_line> shared_camera_lines() {
    std::vector<seed_line> lines;
    for (const std::string lock : {"std::mutex", "acre::spin_lock"}) {
        const auto add = [&](const std::string& name, const std::string& against, const std::string& published,
                             const std::string& again) {
            lines.push_back({"W4, 16 threads / " + name + "; acre: " + lock + ", wall time",
                             ratio_of::iterations_per_second, published, again, "W4", against, counted,
                             "acre::synchronized multi_arena, " + lock});
        };
        add("new_delete_resource", baseline, "1.05 to 1.08", "0.27");
        add("synchronized_pool_resource", "std::pmr synchronized_pool", "1.19 to 1.21", "1.39");
    }
    return lines;
}

std::vector<seed_line> blog_lines() {
    const std::string scoped = "acre::arena + scratch";
    const std::string grown = "acre::arena_vector";
    const auto times = ratio_of::times;
    const auto line = [&](const std::string& group, const std::string& published, const std::string& again,
                          const std::string& acre) {
        return seed_line{group, times, published, again, group, baseline, "blog arena", acre};
    };
    return {
        line("W6 a", "0.025", "0.12 to 0.2", "acre::arena"), line("W6 b 100", "0.67", "0.73", scoped),
        line("W6 b 1,000", "0.63", "0.56", scoped),          line("W6 b 10,000", "0.63", "0.56", scoped),
        line("W6 c 100 -O2", "0.33", "0.83", grown),         line("W6 c 1,000 -O2", "0.65", "1.17", grown),
        line("W6 c 10,000 -O2", "0.72", "1.24", grown),      line("W6 c 100 -O3", "0.33", "", grown),
        line("W6 c 1,000 -O3", "0.65", "", grown),           line("W6 c 10,000 -O3", "0.72", "", grown),
    };
}

/// Others measured the design with a lock and the one without.
std::vector<seed_line> static_lines() {
    std::vector<seed_line> lines;
    for (const std::string work : {"pair", "LIFO", "FIFO", "churn"}) {
        for (const std::string how : {"", ", a thread was started", ", 2 threads", ", 4 threads"}) {
            const std::string group = "W8 " + work + how;
            const bool pair_after_thread = group == "W8 pair, a thread was started";
            const auto add = [&](const std::string& what, const std::string& again, const std::string& acre) {
                lines.push_back({group + ", " + what, ratio_of::times, "", again, group, baseline, "", acre});
            };
            add("for every thread", pair_after_thread ? "2.37" : "", "acre::static_pool");
            add("of a group", pair_after_thread ? "0.17" : "", "acre::static_pool, a group");
            add("class-level, for every thread", "", "acre::pooled");
            add("class-level, of a group", "", "acre::pooled, a group");
        }
    }
    return lines;
}

std::string ratio(const seed_line& line, const samples& times, const std::string& heap, const std::string& variant) {
    const std::string group = line.group + heap;
    if (line.kind == ratio_of::times) return digits(time_ratio(times, group, variant, line.against), 3);
    return digits(time_ratio(times, group, line.against, variant), 3);
}

void write_line(std::ostream& out, const seed_line& line, const samples& times) {
    out << "| " << line.what << " | " << line.published << " | " << line.again;
    for (const std::string& heap : {std::string{}, fragmented}) {
        for (const std::string& variant : {line.design, line.acre, floor_name}) {
            out << " | " << ratio(line, times, heap, variant);
        }
    }
    out << " |\n";
}

void write_figure_line(std::ostream& out, const std::string& what, const std::string& published,
                       const std::string& group, const std::string& floor, const measurements& measured) {
    const auto text = [&](const std::string& name) {
        const figure* found = find(measured.figures, group, name);
        return found ? found->text : std::string{};
    };
    out << "| " << what << " | " << published << " | | " << text(counted) << " | " << text("acre::multi_arena") << " | "
        << floor << " | | | |\n";
}

void write_head(std::ostream& out) {
    out << "| | published | again | re-implemented | acre | floor | fragmented: re-implemented | acre | floor |\n"
           "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";
}

void write_lines(std::ostream& out, const std::vector<seed_line>& lines, const samples& times) {
    for (const seed_line& each : lines) write_line(out, each, times);
}

}  // namespace

void write_seeds(std::ostream& out, const measurements& measured) {
    out << "## Seeds\n\n"
           "Published figures beside a plain re-implementation of their design, acre, and the floor: the same loop "
           "over a resource that costs nothing. \"Again\": the published code, measured again by others. "
           "\"Fragmented\": malloc's heap held 100,000 blocks of random sizes, and every other one was freed. Ratios "
           "are time / time of new/delete (less is better); for W3 and W4 iterations per second / those of the "
           "competitor (more is better). W4, and W8 in several threads, are wall time, all else is processor time. "
           "Figures that do not depend on the heap are shown once.\n\n";
    write_head(out);
    write_lines(out, orc_lines(), measured.times);
    write_lines(out, chunk_lines(), measured.times);
    write_lines(out, camera_lines(), measured.times);
    write_lines(out, shared_camera_lines(), measured.times);
    write_figure_line(out, "W5, arenas x bytes", "64 x 4096", "W5", "", measured);
    write_lines(out, blog_lines(), measured.times);
    write_lines(out, static_lines(), measured.times);
    write_figure_line(out, "W9, live / total (more is better)", "0.0039", "W9", "1", measured);
    out << "\n";
}

}  // namespace bench
