#include "wording.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/text.hpp"

namespace acre::tool {

namespace {

std::string allocations_in_words(double mean) {
    return plural_of_mean(mean, "allocation", "allocations");
}

// Blockers that are named; the others are counted.
constexpr std::size_t max_named = 4;

std::string location_text(const source_location& place) {
    if (place.file.empty()) return {};
    return place.line == 0 ? file_name(place.file) : fmt::format("{}:{}", file_name(place.file), place.line);
}

std::string sizes_text(const group_figures& figures) {
    if (figures.sizes == 1) return fmt::format("all of {}", bytes_text(figures.top_size));
    return fmt::format("{} sizes from {} to {}, {} of them {}", count_text(figures.sizes), bytes_text(figures.smallest),
                       bytes_text(figures.largest), percent_text(figures.top_size_share()),
                       bytes_text(figures.top_size));
}

std::string objects_text(const advice& each) {
    return fmt::format("{} ({} of the run's)", plural(each.figures.objects, "allocation", "allocations"),
                       percent_text(each.share));
}

std::string peak_text(const advice& each) {
    return fmt::format("at most {} ({}) alive at a time", plural(each.figures.peak_objects, "object", "objects"),
                       bytes_text(each.figures.peak_bytes));
}

std::string generations_text(const advice& each) {
    const generation_figures& generations = each.generations;
    return fmt::format(
        "{} nothing of them was left. Between two such moments {}, in an arena {} "
        "(median), {} (99 of 100), {} (largest), where at most {} lived",
        plural(generations.count, "time", "times"),
        allocations_in_words(static_cast<double>(generations.objects) /
                             static_cast<double>(std::max<std::uint64_t>(generations.count, 1))),
        bytes_text(generations.p50_bytes), bytes_text(generations.p99_bytes), bytes_text(generations.max_bytes),
        bytes_text(generations.peak_bytes));
}

std::string blockers_text(const advice& each, const call_paths& paths) {
    std::vector<site_part> sorted = each.blockers;
    std::sort(sorted.begin(), sorted.end(), [](const site_part& a, const site_part& b) {
        return a.objects != b.objects ? a.objects > b.objects : a.site < b.site;
    });
    std::string text = "Leave where they are, since they live on: ";
    for (std::size_t i = 0; i < std::min(sorted.size(), max_named); ++i) {
        text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", paths.site_text(sorted[i].site),
                            plural(sorted[i].objects, "object", "objects"));
    }
    if (sorted.size() > max_named) text += fmt::format(" and {} more sites", sorted.size() - max_named);
    return text + ".";
}

std::string shared_arena_text(const advice& each) {
    return fmt::format(
        "{} threads allocate these: a concurrent_arena, which all of them may use. Its cost for several threads is not "
        "in "
        "the figures.",
        each.figures.threads);
}

/// Whether the source of the most allocations is a file of C.
bool is_in_c(const advice& each, const call_paths& paths) {
    return paths.sites()[each.site].file.ends_with(".c");
}

std::string c_text(const advice& each, const call_paths& paths) {
    return fmt::format(
        "{} is C, and acre is a library for C++20: put the resource into a file of C++ behind functions that are "
        "extern \"C\", and call those.",
        file_name(paths.sites()[each.site].file));
}

}  // namespace

std::string title_of(const advice& each, const call_paths& paths) {
    const std::string function = paths.functions()[each.function].short_name;
    switch (each.says) {
        case verdict::arena:
            return fmt::format("an arena, reset in {}", function);
        case verdict::scratch:
            return fmt::format("a scratch in {}", function);
        case verdict::stack_buffer:
            return fmt::format("a buffer on the stack of {}", function);
        case verdict::object_pool:
            return fmt::format("an object pool for {}", function);
        case verdict::multi_pool:
            return fmt::format("a multi_pool for {}", function);
        case verdict::multi_arena:
            return fmt::format("a multi_arena for {}", function);
        case verdict::monotonic_arena:
            return fmt::format("an arena that is never reset for {}", function);
        case verdict::phase_arena:
            return fmt::format("an arena for {}, freed as a whole", function);
        case verdict::concurrent_object_pool:
            return fmt::format("a concurrent_object_pool for {}", function);
        case verdict::concurrent_multi_pool:
            return fmt::format("a concurrent_multi_pool for {}", function);
        case verdict::leave:
            return fmt::format("leave {} as it is", function);
    }
    return {};
}

std::string place_of(const advice& each, const call_paths& paths) {
    std::string text;
    if (each.of_scope) {
        const source_location end = paths.place_in(each.generations.last_free, each.function);
        text = paths.functions()[each.function].short_name;
        if (const std::string where = location_text(end); !where.empty()) {
            text += fmt::format(", where the last of it is freed at {}", where);
        }
        text += fmt::format("; most of it comes from {}", paths.site_text(each.site));
    } else {
        text = paths.site_text(each.site);
    }
    if (each.parts.size() > 1) text += fmt::format(", {} places in all", count_text(each.parts.size()));
    const std::string path = paths.path_text(each.stack, 6);
    return path.empty() ? text : text + "; for example " + path;
}

std::string evidence_of(const advice& each, const call_paths& paths) {
    const group_figures& figures = each.figures;
    const std::string function = paths.functions()[each.function].short_name;
    std::string text = fmt::format("{}, {}, {}. ", objects_text(each), sizes_text(figures), peak_text(each));
    switch (each.suits) {
        case verdict::arena:
            text += fmt::format(
                "They die in {} or in what it calls: {}. Of the bytes that the arena holds {} are dead already, "
                "on average.",
                function, generations_text(each), percent_text(each.generations.drag()));
            break;
        case verdict::scratch:
            text += fmt::format("{} of them are freed youngest first.", percent_text(figures.lifo_share()));
            break;
        case verdict::stack_buffer:
            text += fmt::format(
                "They die in the function that makes them: {} as the only one alive, 99 of 100 before their thread has "
                "allocated {} more.",
                percent_text(figures.solo_share()), bytes_text(figures.thread_life));
            break;
        case verdict::multi_arena:
            text += fmt::format(
                "They live about equally long: 995 of 1000 until {} more of them are allocated, {:.1f} times what "
                "lives at the "
                "peak; {} for each one alive there.",
                bytes_text(figures.group_life),
                static_cast<double>(figures.group_life) /
                    static_cast<double>(std::max<std::uint64_t>(figures.largest_thread_peak, 1)),
                allocations_in_words(figures.churn()));
            break;
        case verdict::object_pool:
        case verdict::multi_pool:
            text += fmt::format("They come and go in any order: {} for each one alive at the peak.",
                                allocations_in_words(figures.churn()));
            break;
        case verdict::monotonic_arena:
            text += fmt::format("{} are never freed.", percent_text(figures.immortal_share()));
            break;
        case verdict::phase_arena:
            text += fmt::format(
                "Nearly all of them live at the same time: all together are {:.2f} times the peak, so "
                "freeing them one by one wins nothing back.",
                figures.growth());
            break;
        case verdict::concurrent_object_pool:
        case verdict::concurrent_multi_pool:
            text += fmt::format("{} are freed by another thread than the one that allocated them.",
                                percent_text(figures.elsewhere_share()));
            break;
        case verdict::leave:
            text += fmt::format("{} are freed youngest first, {} for each one alive at the peak.",
                                percent_text(figures.lifo_share()), allocations_in_words(figures.churn()));
            break;
    }
    return text;
}

std::string saving_of(const advice& each) {
    const measured_saving& saving = each.saving;
    if (!saving.done) return {};
    const std::string share =
        saving.share_of_cpu ? " (" + percent_text(*saving.share_of_cpu) + " of the program's)" : "";
    const interval expected = saving.expected();
    std::string text = fmt::format("{} to {} of CPU time{}", time_text(expected.low), time_text(expected.high), share);
    const auto on_heap = [&](const interval& freed_singly, const std::optional<interval>& left_out, const char* heap) {
        text += fmt::format("; {} on a {} heap", time_text(freed_singly.median), heap);
        if (left_out) text += fmt::format(" ({} where nothing is freed singly)", time_text(left_out->median));
    };
    on_heap(saving.nanoseconds, saving.frees_left_out, "clean");
    if (saving.littered_nanoseconds)
        on_heap(*saving.littered_nanoseconds, saving.littered_frees_left_out, "fragmented");
    text += fmt::format("; {:.2f} times malloc's time", saving.ratio.median);
    if (saving.preload) {
        text += fmt::format(". {} in malloc's place saves {} of these", saving.preload->name,
                            time_text(saving.preload->nanoseconds.median));
    }
    text += fmt::format("; peak {} instead of {}", bytes_text(saving.candidate_peak_bytes),
                        bytes_text(saving.system_peak_bytes));
    if (saving.replayed_share < 1) {
        text += fmt::format("; measured with the first {} of its events, the time scaled to all",
                            percent_text(saving.replayed_share));
    }
    return text;
}

std::vector<std::string> cautions_of(const advice& each, const call_paths& paths) {
    std::vector<std::string> cautions;
    if (!each.blockers.empty()) cautions.push_back(blockers_text(each, paths));
    switch (each.says) {
        case verdict::arena:
            cautions.emplace_back(
                "What is kept beyond the reset must not come from the arena: in this run nothing was. Containers that "
                "lie in it must end before the reset: put them into a block of their own, and the reset behind it.");
            if (each.figures.threads > 1) {
                cautions.push_back(
                    fmt::format("{} threads do this: each needs an arena of its own.", each.figures.threads));
            }
            break;
        case verdict::scratch:
            cautions.emplace_back("What is returned or kept beyond the function must not come from the scratch.");
            cautions.emplace_back(
                "It takes everything back at the end of its block: in front of a loop it would hold what all turns of "
                "the loop allocate.");
            break;
        case verdict::stack_buffer:
            cautions.emplace_back(
                "What is returned or kept beyond the function must not lie in the buffer; what does not fit into it "
                "comes "
                "from malloc. It takes everything back at the end of its block: in front of a loop only the first "
                "turns "
                "would use it.");
            break;
        case verdict::multi_arena:
            cautions.emplace_back(
                "The arenas suffice for what lived in this run. When they are full, allocate throws "
                "acre::out_of_arenas and "
                "try_allocate gives null. One object that lives on keeps its whole arena.");
            break;
        case verdict::object_pool:
            cautions.emplace_back(
                "Every object must go back to the pool it came from, in one thread. create() without arguments is new "
                "T(), which sets plain data to zero; new T does not. Where a container or std::make_shared allocates "
                "here, give it an acre::multi_pool by acre::allocator instead.");
            break;
        case verdict::multi_pool:
            cautions.emplace_back("Every object must go back to the pool it came from, in one thread.");
            break;
        case verdict::monotonic_arena:
            cautions.emplace_back(
                "If they ought to have been freed, this is a leak: an arena would only hide it. A longer run that does "
                "free them would keep the memory.");
            if (each.figures.threads > 1) cautions.push_back(shared_arena_text(each));
            break;
        case verdict::phase_arena:
            cautions.emplace_back(
                "The memory comes back only when the arena ends or is reset, at the end of the phase.");
            if (each.figures.threads > 1) cautions.push_back(shared_arena_text(each));
            break;
        case verdict::concurrent_object_pool:
        case verdict::concurrent_multi_pool:
            cautions.emplace_back(
                "Every object must go back to this pool, by whichever thread. What threads cost each other in malloc "
                "and in "
                "the pool is not in the figures.");
            break;
        case verdict::leave:
            return cautions;
    }
    if (is_in_c(each, paths)) cautions.push_back(c_text(each, paths));
    return cautions;
}

}  // namespace acre::tool
