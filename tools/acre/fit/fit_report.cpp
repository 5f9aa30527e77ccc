#include "fit_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <acre/arenas/arena.hpp>
#include <acre/pools/detail/bitmap_slabs.hpp>
#include <acre/pools/detail/slab_geometry.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "census.hpp"
#include "fit_wording.hpp"
#include "front_plot.hpp"
#include "multi_arena_model.hpp"
#include "text/terminal.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

constexpr std::size_t max_pairs = 12;
constexpr std::size_t max_sizes = 10;
constexpr double too_much = 3;  // times what lives at the peak
constexpr const char* mixed_lives =
    "Even the smallest total is several times the live bytes: short and long lifetimes are too mixed for this type. "
    "acre::multi_pool takes less.";

double ratio(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string heading(std::string_view name) {
    return "\n" + styled(name, style::bold) + "\n";
}

std::string sentence(const std::string& text) {
    return text.empty() ? std::string{} : wrapped(text, 2);
}

/// Bytes that a pool takes from upstream for the peak number of such objects.
std::uint64_t pool_bytes(const size_use& of) {
    const auto geometry =
        acre::detail::slab_geometry::of(static_cast<std::size_t>(std::max<std::uint64_t>(of.bytes, 1)),
                                        static_cast<std::size_t>(std::min<std::uint64_t>(
                                            of.alignment, acre::natural_alignment(of.bytes == 0 ? 1 : of.bytes))));
    return acre::detail::bitmap_slabs::required_bytes(geometry, of.peak_objects);
}

/// The first, the last, the best and, evenly spaced, some of the others.
std::vector<acre::multi_arena_fit> shown_pairs(const multi_arena_front& front) {
    if (front.pairs.size() <= max_pairs) return front.pairs;
    std::vector<acre::multi_arena_fit> shown;
    for (std::size_t i = 0; i < front.pairs.size(); ++i) {
        const std::size_t before = i * (max_pairs - 1) / front.pairs.size();
        const std::size_t after = (i + 1) * (max_pairs - 1) / front.pairs.size();
        if (i == 0 || i == front.smallest || before != after) shown.push_back(front.pairs[i]);
    }
    return shown;
}

/// What half-fit needs at worst for the peak and the largest object.
std::uint64_t half_fit_bytes(const census& of) {
    return half_fit_bound(of.peak_granules, granules_of(of.largest)) * granule_bytes;
}

bool was_sought(const multi_arena_front& front) {
    return !front.empty() || !front.impossible.empty();
}

class text_report {
public:
    text_report(const fit_outcome& of, const call_paths& paths, const trace_header& header)
        : of_{of}, figures_{of.result.figures}, paths_{paths}, header_{header} {}

    std::string text() {
        opening();
        if (of_.targets.multi_arena) multi_arena();
        if (of_.targets.concurrent_multi_arena && was_sought(of_.result.concurrent_multi_arena))
            concurrent_multi_arena();
        if (of_.targets.arena) arena();
        if (of_.targets.pool || of_.targets.typed_arena) slots();
        if (of_.targets.realtime_heap) realtime_heap();
        return std::move(out_);
    }

private:
    void opening() {
        out_ += fmt::format("{}\n", styled(command_text(header_), style::bold));
        if (!of_.selected.empty()) out_ += wrapped("selected: allocations " + of_.selected, 2);
        out_ +=
            wrapped(fmt::format("{} of {}; at most {}, and at most {}, live at a time",
                                plural(figures_.objects, "allocation", "allocations"), bytes_text(figures_.bytes),
                                bytes_text(figures_.peak_bytes), plural(figures_.peak_objects, "object", "objects")),
                    2);
        for (const std::string& note : header_.notes) out_ += sentence(note);
        for (const std::string& note : selection_notes(figures_, paths_)) out_ += sentence(note);
    }

    void front(const multi_arena_front& front, arena_sharing sharing) {
        std::vector<std::vector<std::string>> rows{{"arenas", "bytes each", "in all", "of live peak", ""}};
        for (const acre::multi_arena_fit& each : shown_pairs(front)) {
            const std::uint64_t total = required_bytes(each, sharing);
            rows.push_back({count_text(each.arenas), count_text(each.bytes), bytes_text(total),
                            fmt::format("x {:.2f}", ratio(total, figures_.peak_bytes)),
                            each == front.best() ? "least in all" : ""});
        }
        out_ += table_text(rows, {4}) + "\n" + plot_text({front, sharing, figures_.peak_bytes}) + "\n";
    }

    void multi_arena() {
        const multi_arena_front& found = of_.result.multi_arena;
        out_ +=
            heading("multi_arena") + sentence("The smallest number of arenas of each size that serves every request.");
        if (found.empty()) {
            out_ += sentence(impossible_text(found, paths_));
            return;
        }
        front(found, arena_sharing::one_thread);
        out_ += sentence(blockers_text(of_.result.blockers, paths_));
        const acre::multi_arena_fit& best = found.best();
        const double expansion = ratio(required_bytes(best, arena_sharing::one_thread), figures_.peak_bytes);
        if (of_.result.blockers.sites.empty() && best.arenas > 1 && expansion > too_much) out_ += sentence(mixed_lives);
        check(of_.checks.multi_arena, best);
        out_ += indented(multi_arena_code(best, figures_.threads > 1), 4);
    }

    void concurrent_multi_arena() {
        const multi_arena_front& found = of_.result.concurrent_multi_arena;
        out_ +=
            heading("concurrent_multi_arena") +
            sentence(
                "These arenas suffice for the recorded order of the threads, each of which keeps one open to the end. "
                "Another order may need more.");
        if (found.empty()) {
            out_ += sentence(impossible_text(found, paths_));
            return;
        }
        front(found, arena_sharing::all_threads);
        check(of_.checks.concurrent_multi_arena, found.best());
        out_ += indented(concurrent_multi_arena_code(found.best()), 4);
    }

    void check(const std::optional<size_check>& done, const acre::multi_arena_fit& best) {
        if (!done) return;
        out_ += sentence(check_text(
            *done, fmt::format("{} of {} bytes", plural(best.arenas, "arena", "arenas"), count_text(best.bytes)),
            count_text(best.arenas - 1)));
    }

    void arena() {
        const generation_sizes& ends = figures_.generations;
        out_ += heading("arena");
        out_ += sentence(fmt::format("Never reset, it takes {} bytes.", count_text(figures_.arena_bytes)));
        if (ends.count != 0) {
            out_ += sentence(fmt::format(
                "All objects had been freed at {} ({} of the allocations come before the last). An arena that "
                "is reset there needs at most {} bytes half of the time, {} bytes 99 % of the time and "
                "never more than {} bytes.",
                plural(ends.count, "moment", "moments"), percent_text(ratio(ends.objects, figures_.objects)),
                count_text(ends.p50_bytes), count_text(ends.p99_bytes), count_text(ends.max_bytes)));
        }
        if (of_.checks.arena) {
            const std::uint64_t block = arena_block_bytes(figures_);
            out_ += sentence(check_text(*of_.checks.arena, fmt::format("one block of {} bytes", count_text(block)),
                                        fmt::format("{} bytes", count_text(block - acre::arena::granule))));
        }
        out_ += indented(arena_code(figures_), 4);
    }

    void slots() {
        out_ += heading("pool, object_pool, typed_arena");
        if (figures_.sizes.empty()) {
            out_ += sentence(
                fmt::format("All allocations exceed {} bytes, too large for slots.", count_text(census::largest_slot)));
            return;
        }
        std::vector<std::vector<std::string>> rows{{"size", "allocations", "slots at the peak", "pool", "typed_arena"}};
        for (std::size_t i = 0; i < std::min(figures_.sizes.size(), max_sizes); ++i) {
            const size_use& each = figures_.sizes[i];
            rows.push_back({count_text(each.bytes) + " B", count_text(each.objects), count_text(each.peak_objects),
                            bytes_text(pool_bytes(each)), bytes_text(each.bytes * each.peak_objects)});
        }
        out_ += table_text(rows, {});
        if (figures_.sizes.size() > max_sizes) {
            out_ += sentence(fmt::format("and {} that take{} less",
                                         plural(figures_.sizes.size() - max_sizes, "size", "sizes"),
                                         figures_.sizes.size() - max_sizes == 1 ? "s" : ""));
        }
        if (figures_.larger.objects != 0) {
            out_ += sentence(fmt::format("{} of more than {} bytes, too large for slots.",
                                         plural(figures_.larger.objects, "allocation is", "allocations are"),
                                         count_text(census::largest_slot)));
        }
        if (of_.targets.pool) out_ += indented(pool_code(figures_.sizes.front()), 4);
        if (of_.targets.typed_arena) out_ += indented(typed_arena_code(figures_.sizes.front()), 4);
    }

    void realtime_heap() {
        const realtime_fit& found = of_.result.realtime_heap;
        out_ += heading("realtime_heap");
        if (!found.impossible.empty()) {
            out_ += sentence(fmt::format("No heap can serve these: {}.", found.impossible));
            return;
        }
        out_ += sentence(fmt::format(
            "{} of {} bytes, {} in all (x {:.2f} of the live peak), serve these peaks in whatever order requests come. "
            "Half-fit, the heap of constant time that is known for a bound, needs {}.",
            plural(found.arenas, "arena", "arenas"), count_text(found.arena_bytes), bytes_text(found.total_bytes),
            ratio(found.total_bytes, figures_.peak_bytes), bytes_text(half_fit_bytes(figures_))));
        std::vector<std::vector<std::string>> rows{{"up to", "live at the peak", "arenas"}};
        std::vector<realtime_class> classes = found.classes;
        std::ranges::sort(classes, [](const realtime_class& a, const realtime_class& b) {
            return a.arenas != b.arenas ? a.arenas > b.arenas : a.bytes < b.bytes;
        });
        const std::size_t shown = std::min(classes.size(), max_sizes);
        for (std::size_t i = 0; i < shown; ++i) {
            rows.push_back({count_text(classes[i].bytes) + " B", count_text(classes[i].peak_objects),
                            count_text(classes[i].arenas)});
        }
        out_ += table_text(rows, {});
        if (classes.size() > shown)
            out_ += sentence(fmt::format("and {} with fewer", plural(classes.size() - shown, "class", "classes")));
        if (of_.checks.realtime_heap) {
            out_ += sentence(check_text(
                *of_.checks.realtime_heap,
                fmt::format("{} of {} bytes", plural(found.arenas, "arena", "arenas"), count_text(found.arena_bytes)),
                {}));
        }
        out_ += indented(realtime_heap_code(found, figures_.threads > 1), 4);
    }

    const fit_outcome& of_;
    const census& figures_;
    const call_paths& paths_;
    const trace_header& header_;
    std::string out_;
};

nlohmann::json pair_json(const acre::multi_arena_fit& pair, arena_sharing sharing) {
    return {{"arenas", pair.arenas}, {"bytes", pair.bytes}, {"total_bytes", required_bytes(pair, sharing)}};
}

nlohmann::json front_json(const multi_arena_front& front, arena_sharing sharing) {
    nlohmann::json object{{"pairs", nlohmann::json::array()}, {"tried", nlohmann::json::array()}, {"least", nullptr}};
    for (const acre::multi_arena_fit& each : front.pairs) object["pairs"].push_back(pair_json(each, sharing));
    for (const acre::multi_arena_fit& each : front.tried) object["tried"].push_back(pair_json(each, sharing));
    if (!front.empty()) object["least"] = pair_json(front.best(), sharing);
    return object;
}

nlohmann::json check_json(const std::optional<size_check>& of) {
    if (!of) return nullptr;
    nlohmann::json object{{"suffices", of->suffices}, {"failure", of->failure}, {"one_less_fails", nullptr}};
    if (of->one_less_fails) object["one_less_fails"] = *of->one_less_fails;
    return object;
}

nlohmann::json blockers_json(const blocker_figures& of, const call_paths& paths) {
    if (of.sites.empty()) return nullptr;
    nlohmann::json sites = nlohmann::json::array();
    for (const blocking_site& each : of.sites) {
        const site_info& site = paths.sites()[each.site];
        sites.push_back({{"function", paths.functions()[site.function].name},
                         {"file", site.file},
                         {"line", site.line},
                         {"objects", each.objects}});
    }
    return {{"sites", std::move(sites)},
            {"bytes", of.with.bytes},
            {"arenas", of.with.arenas},
            {"arenas_without", of.without.arenas},
            {"front_without", front_json(of.front, arena_sharing::one_thread)}};
}

nlohmann::json multi_arena_json(const fit_outcome& of, const call_paths& paths) {
    const fit_result& result = of.result;
    nlohmann::json object = front_json(result.multi_arena, arena_sharing::one_thread);
    object["impossible"] = impossible_text(result.multi_arena, paths);
    object["blockers"] = blockers_json(result.blockers, paths);
    object["check"] = check_json(of.checks.multi_arena);
    object["code"] =
        result.multi_arena.empty() ? "" : multi_arena_code(result.multi_arena.best(), result.figures.threads > 1);
    return object;
}

nlohmann::json concurrent_json(const fit_outcome& of, const call_paths& paths) {
    const multi_arena_front& found = of.result.concurrent_multi_arena;
    nlohmann::json object = front_json(found, arena_sharing::all_threads);
    object["impossible"] = impossible_text(found, paths);
    object["check"] = check_json(of.checks.concurrent_multi_arena);
    object["code"] = found.empty() ? "" : concurrent_multi_arena_code(found.best());
    return object;
}

nlohmann::json arena_json(const fit_outcome& of) {
    const census& figures = of.result.figures;
    const generation_sizes& ends = figures.generations;
    return {{"bytes_without_reset", figures.arena_bytes},
            {"generations",
             {{"count", ends.count},
              {"objects", ends.objects},
              {"p50_bytes", ends.p50_bytes},
              {"p99_bytes", ends.p99_bytes},
              {"max_bytes", ends.max_bytes}}},
            {"first_block_bytes", arena_block_bytes(figures)},
            {"check", check_json(of.checks.arena)},
            {"code", arena_code(figures)}};
}

nlohmann::json slots_json(const census& figures) {
    nlohmann::json sizes = nlohmann::json::array();
    for (const size_use& each : figures.sizes) {
        sizes.push_back({{"bytes", each.bytes},
                         {"allocations", each.objects},
                         {"slots", each.peak_objects},
                         {"pool_bytes", pool_bytes(each)},
                         {"typed_arena_bytes", each.bytes * each.peak_objects}});
    }
    nlohmann::json object{{"sizes", std::move(sizes)}, {"larger_allocations", figures.larger.objects}};
    object["pool_code"] = figures.sizes.empty() ? "" : pool_code(figures.sizes.front());
    object["typed_arena_code"] = figures.sizes.empty() ? "" : typed_arena_code(figures.sizes.front());
    return object;
}

nlohmann::json realtime_heap_json(const fit_outcome& of) {
    const realtime_fit& found = of.result.realtime_heap;
    nlohmann::json classes = nlohmann::json::array();
    for (const realtime_class& each : found.classes)
        classes.push_back({{"bytes", each.bytes}, {"peak_objects", each.peak_objects}, {"arenas", each.arenas}});
    return {{"arenas", found.arenas},
            {"bytes", found.arena_bytes},
            {"total_bytes", found.total_bytes},
            {"classes", std::move(classes)},
            {"half_fit_bytes", half_fit_bytes(of.result.figures)},
            {"impossible", found.impossible},
            {"check", check_json(of.checks.realtime_heap)},
            {"code", found.arenas == 0 ? "" : realtime_heap_code(found, of.result.figures.threads > 1)}};
}

}  // namespace

std::string fit_text(const fit_outcome& of, const call_paths& paths, const trace_header& header) {
    return text_report{of, paths, header}.text();
}

nlohmann::json fit_json(const fit_outcome& of, const call_paths& paths, const trace_header& header) {
    const census& figures = of.result.figures;
    nlohmann::json notes = header.notes;
    for (const std::string& note : selection_notes(figures, paths)) notes.push_back(note);
    nlohmann::json object{{"command", header.command},
                          {"recorded", header.date},
                          {"selected", of.selected},
                          {"allocations", figures.objects},
                          {"bytes", figures.bytes},
                          {"never_freed", figures.never_freed},
                          {"peak_objects", figures.peak_objects},
                          {"peak_bytes", figures.peak_bytes},
                          {"largest_bytes", figures.largest},
                          {"strictest_alignment", figures.strictest},
                          {"threads", figures.threads},
                          {"freed_by_other_thread", figures.freed_elsewhere},
                          {"notes", std::move(notes)}};
    if (of.targets.multi_arena) object["multi_arena"] = multi_arena_json(of, paths);
    if (of.targets.concurrent_multi_arena && was_sought(of.result.concurrent_multi_arena))
        object["concurrent_multi_arena"] = concurrent_json(of, paths);
    if (of.targets.arena) object["arena"] = arena_json(of);
    if (of.targets.pool || of.targets.typed_arena) object["slots"] = slots_json(figures);
    if (of.targets.realtime_heap) object["realtime_heap"] = realtime_heap_json(of);
    return object;
}

}  // namespace acre::tool
