#include "filled_text.hpp"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>

#include "code_places.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

std::string allocations_in_words(double mean) {
    return plural_of_mean(mean, "allocation", "allocations");
}

std::string generations_text(const advice& each) {
    const generation_figures& generations = each.generations;
    return fmt::format(
        "all of them had been freed at {}. Between two such moments: {}; an arena would hold {} (median), {} (99th "
        "percentile), {} (maximum), of which at most {} were live",
        plural(generations.count, "moment", "moments"),
        allocations_in_words(static_cast<double>(generations.objects) /
                             static_cast<double>(std::max<std::uint64_t>(generations.count, 1))),
        bytes_text(generations.p50_bytes), bytes_text(generations.p99_bytes), bytes_text(generations.max_bytes),
        bytes_text(generations.peak_bytes));
}

/// The storage class of a declaration; of one in a header, which is one variable for all files.
std::string storage_of(const advice& each, bool is_in_header) {
    const bool of_thread = !traits_of(each.candidate).shared_by_threads && each.figures.threads > 1;
    if (of_thread) return is_in_header ? "inline thread_local " : "thread_local ";
    return is_in_header ? "inline " : "static ";
}

/// " (lines 8 to 20)"; empty where it is not known.
std::string lines_text(const line_range& of) {
    if (of.first == 0) return {};
    return of.first == of.last ? fmt::format(" (line {})", of.first)
                               : fmt::format(" (lines {} to {})", of.first, of.last);
}

/// The same in C, behind `static`.
const char* thread_storage_of(const advice& each) {
    return each.figures.threads > 1 ? "_Thread_local " : "";
}

/// The alignment that C code asks an arena for; 0 is 16. sizeof is a multiple of the alignment, so where no size of the
/// run is a multiple of 16, nothing in it needs more than 8.
const char* c_alignment_of(const advice& each) {
    return each.figures.aligned_to_8 == each.figures.objects ? "bytes % 16 == 0 ? 16 : 8" : "0";
}

/// Where a scratch begins whose end resets an arena. main ends once.
std::string scope_place_of(const std::string& function) {
    return function == "main" ? "in the loop of main" : "first in " + function + ", or in its loop";
}

/// Where C code that resets an arena is called.
std::string reset_place_of(const advice& each, const std::string& function) {
    if (each.candidate == verdict::arena)
        return "call it in " + function + lines_text(each.lines) + ", after the last use; in the loop, if any";
    return "where all of them are dead, if anywhere";
}

}  // namespace

std::string subject_of(const advice& each, const call_paths& paths) {
    const std::string& function = paths.functions()[each.function].short_name;
    if (each.of_scope) return function;
    switch (each.place.kind) {
        case place_kind::container:
            return fmt::format("{} {}", each.place.name,
                               each.place.within.empty() ? "in " + function : "in functions of " + each.place.within);
        case place_kind::type:
            if (is_coroutine_frame(each.place))
                return "the frames of coroutine " + each.place.name.substr(coroutine_frame.size());
            return "class " + each.place.name;
        case place_kind::hook:
            return "everything behind " + each.place.name;
        case place_kind::library:
            return has_hook_of_acre(each.place) ? each.place.name : each.place.name + " in " + function;
        case place_kind::several: {
            if (!each.place.name.empty()) return each.place.name;
            const std::string sites = plural(each.sites.size(), "site", "sites");
            return each.place.function == 0 ? sites + " together" : sites + " whose objects die in " + function;
        }
        case place_kind::site:
            break;
    }
    // Without a line, the size tells apart what one function allocates.
    const bool has_place = !paths.sites()[each.site].file.empty();
    return has_place || each.figures.sizes != 1 ? function
                                                : fmt::format("{} ({})", function, bytes_text(each.figures.top_size));
}

std::string filled(const char* text, const advice& each, const call_paths& paths, const code_values& more) {
    const group_figures& figures = each.figures;
    const std::string& function = paths.functions()[each.function].short_name;
    const double life_ratio = static_cast<double>(figures.group_life) /
                              static_cast<double>(std::max<std::uint64_t>(figures.largest_thread_peak, 1));
    fmt::dynamic_format_arg_store<fmt::format_context> values;
    const auto add = [&](const char* name, const std::string& value) { values.push_back(fmt::arg(name, value)); };
    add("function", function);
    add("subject", subject_of(each, paths));
    add("threads", count_text(figures.threads));
    add("lines", lines_text(each.lines));
    add("scope_place", scope_place_of(function));
    // Of evidence.
    add("generations", generations_text(each));
    add("drag", percent_text(each.generations.drag()));
    add("lifo", percent_text(figures.lifo_share()));
    add("solo", percent_text(figures.solo_share()));
    add("immortal", percent_text(figures.never_freed_share()));
    add("freed_elsewhere", percent_text(figures.elsewhere_share()));
    add("churn", allocations_in_words(figures.churn()));
    add("growth", fmt::format("{:.2f}", figures.growth()));
    add("bytes", bytes_text(figures.bytes));
    add("thread_life", bytes_text(figures.thread_life));
    add("group_life", bytes_text(figures.group_life));
    add("life_ratio", fmt::format("{:.1f}", life_ratio));
    // Of code.
    add("owner", each.variable.empty() ? variable_name(function) : each.variable);
    const bool is_in_header = !files_to_share_among(each, paths).empty();
    add("storage", storage_of(each, is_in_header));
    add("static", is_in_header ? "inline " : "static ");
    add("inline", is_in_header ? "inline " : "");
    add("arena_type", figures.threads > 1 ? "concurrent_arena" : "arena");
    add("pool_type", traits_of(each.candidate).name);
    add("block", bytes_literal(each.block_bytes));
    add("max_block", bytes_literal(std::max<std::uint64_t>(each.block_bytes, 1 << 20)));
    add("slot", std::to_string(each.slot_bytes));
    add("buffer", std::to_string(each.buffer_bytes));
    add("arenas", std::to_string(each.arenas));
    add("arena_bytes", bytes_literal(each.arena_bytes));
    // Of code in C.
    add("api", to_declare);
    add("thread_storage", thread_storage_of(each));
    add("c_reset_place", reset_place_of(each, function));
    add("block_bytes", std::to_string(each.block_bytes));
    add("max_block_bytes", std::to_string(std::max<std::uint64_t>(each.block_bytes, 1 << 20)));
    add("arena_bytes_number", std::to_string(each.arena_bytes));
    add("c_alignment", c_alignment_of(each));
    const code_values growth = growth_values(each, paths);
    for (const auto& [name, value] : growth) add(name, value);
    for (const auto& [name, value] : more) add(name, value);
    return fmt::vformat(text, values);
}

}  // namespace acre::tool
