#include "wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <span>

#include "advice_code.hpp"
#include "code_places.hpp"
#include "container_type.hpp"
#include "malloc_callers.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

constexpr std::size_t max_listed = 8;      // of several sites, where the functions to change are named
constexpr std::size_t max_to_change = 40;  // of several sites that change themselves
constexpr std::size_t max_lines_of_frees = 3;
constexpr std::size_t max_callers_named = 20;
constexpr std::size_t max_named = 4;  // blockers, and further sites; the others are counted

std::string location_text(const source_location& of) {
    if (of.file.empty()) return {};
    return of.line == 0 ? file_name(of.file) : fmt::format("{}:{}", file_name(of.file), of.line);
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
    return fmt::format("at most {} ({}) live at a time", plural(each.figures.peak_objects, "object", "objects"),
                       bytes_text(each.figures.peak_bytes));
}

std::string resets_text(const reset_passes& resets) {
    if (resets.count == 0) return "The trace shows no pass through the place of the reset.";
    return fmt::format("At each of the {} through the place of the reset, none of them was live.",
                       plural(resets.count, "pass", "passes"));
}

std::string refusal_text(const refused_arena& refused, const call_paths& paths) {
    const reset_passes& passes = refused.passes;
    return fmt::format(
        " No arena in {}: at {} of the {} through the place of its reset some of them were live, mostly of {}.",
        paths.functions()[refused.function].short_name, count_text(passes.occupied),
        plural(passes.count, "pass", "passes"), paths.site_text(refused.site));
}

std::string escape_text(const rare_escape& escape, const call_paths& paths) {
    const std::string path = escape.freed_at == no_stack ? "" : paths.path_text(escape.freed_at, 4);
    const std::string freed = escape.freed_at == no_stack ? ", never freed" : path.empty() ? "" : ", freed by " + path;
    return fmt::format(
        " No arena in {}: of {} that are allocated in it or in its calls, {} lived on when it ended, most of them from "
        "{}{}.",
        paths.functions()[escape.function].short_name, plural(escape.objects, "object", "objects"),
        count_text(escape.lived_on), paths.site_text(escape.site), freed);
}

/// Those of most objects, up to `max`. Sites of one text, as in the instances of a template, are one.
std::string sites_text(const std::vector<site_objects>& sites, const call_paths& paths, std::size_t max) {
    std::vector<std::pair<std::string, std::uint64_t>> named;
    for (const site_objects& each : sites) {
        std::string text = paths.site_text(each.site);
        const auto known = std::ranges::find(named, text, [](const auto& one) -> const auto& { return one.first; });
        if (known == named.end()) {
            named.emplace_back(std::move(text), each.objects);
        } else {
            known->second += each.objects;
        }
    }
    std::ranges::sort(named, [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    std::string text;
    for (std::size_t i = 0; i < std::min(named.size(), max); ++i) {
        text +=
            fmt::format("{}{} ({})", i == 0 ? "" : ", ", named[i].first, plural(named[i].second, "object", "objects"));
    }
    if (named.size() <= max) return text;
    return text + fmt::format(" and {}", plural(named.size() - max, "more site", "more sites"));
}

/// The sites besides the busiest.
std::string other_sites_text(const advice& each, const call_paths& paths) {
    std::set<std::string> known{paths.site_text(each.site)};
    std::vector<std::string> others;
    for (const site_objects& of : each.sites) {
        std::string site = paths.site_text(of.site);
        if (known.insert(site).second) others.push_back(std::move(site));
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(others.size(), max_named); ++i)
        text += (i == 0 ? ", also from " : ", ") + others[i];
    return others.size() > max_named
               ? text + fmt::format(" and {}", plural(others.size() - max_named, "more site", "more sites"))
               : text;
}

bool is_string(const change_place& place) {
    return place.kind == place_kind::container && place.name == string_name;
}

bool holds_strings(const change_place& place) {
    return place.kind == place_kind::container && !is_string(place) &&
           place.name.find(string_name) != std::string::npos;
}

bool is_shared(const change_place& place) {
    return !place.shared.empty();
}

/// With what threads need, where the program stays as it is but for the lines in question.
std::vector<std::string> fewer_cautions(const advice& each, std::vector<std::string> cautions,
                                        const call_paths& paths) {
    const char* for_threads = traits_of(each.decision).caution_for_threads;
    if (each.figures.threads > 1 && *for_threads != '\0') cautions.push_back(filled(for_threads, each, paths));
    return cautions;
}

std::string grown_text(const advice& each) {
    return fmt::format(
        "{} of them are buffers of a std::vector that grows. With another allocator it moves its elements one by one, "
        "which takes longer than malloc saves: reserve() its size, or use acre::arena_vector. The saving is that of "
        "vectors that are reserved.",
        count_text(each.grown));
}

std::string others_text(const others_at_sites& others, const call_paths& paths) {
    return fmt::format(
        "{} allocates for others as well ({}, as in {}), whose objects must not come from this arena: pass the arena "
        "to that function, or call a copy of it that uses the arena.",
        paths.site_text(others.site), plural(others.objects, "object", "objects"), paths.path_text(others.stack, 4));
}

std::string blockers_text(const advice& each, const call_paths& paths) {
    std::vector<site_objects> sorted = each.blockers;
    std::sort(sorted.begin(), sorted.end(), [](const site_objects& a, const site_objects& b) {
        return a.objects != b.objects ? a.objects > b.objects : a.site < b.site;
    });
    return "Leave these on malloc, as they outlive the reset: " + sites_text(sorted, paths, max_named) + ".";
}

/// Where C code frees the objects today. A line that allocates them as well calls realloc.
std::string freed_today_text(const advice& each, const call_paths& paths) {
    const bool as_whole = traits_of(each.candidate).freed_as_whole;
    const bool is_pure = !frees_others(each);
    std::vector<std::string> lines;
    for (const line_of_frees& line : each.freed_at) {
        if (std::ranges::find(each.sites, line.site, &site_objects::site) != each.sites.end()) continue;
        const bool is_alone = line.others == 0 || traits_of(each.candidate).c_frees_any;
        const std::string from = line.other == 0 ? "" : ", mostly from " + paths.site_text(line.other);
        const std::string others =
            is_alone ? ""
                     : fmt::format(" (with {}{}, which must {})", plural(line.others, "other", "others"), from,
                                   as_whole ? "stay as they are" : "be told apart, or use the code as well");
        lines.push_back(paths.site_text(line.site) + others);
    }
    const std::string elsewhere =
        as_whole ? "A line that frees or reallocates such objects and was not reached in this run must not call free "
                   "or realloc either: look for all of them."
                 : "A line that frees or reallocates such objects and was not reached in this run has to use the code "
                   "as well: look for all of them.";
    if (lines.empty()) return each.candidate == verdict::stack_buffer ? "" : elsewhere;
    const std::size_t more = lines.size() - std::min(lines.size(), max_lines_of_frees);
    lines.resize(lines.size() - more);
    const std::string by_code =
        as_whole && !is_pure && *traits_of(each.candidate).c.free != '\0'
            ? filled("free must no longer be called for them there: call {owner}_free, which frees the others", each,
                     paths)
        : as_whole ? "free must no longer be called for them there"
                   : "these lines have to use the code, too";
    return fmt::format("Today they are freed{} at {}{}: {}. {}", each.figures.reallocated ? " or reallocated" : "",
                       fmt::join(lines, ", "), more == 0 ? "" : " and " + plural(more, "more line", "more lines"),
                       by_code, elsewhere);
}

/// What to do about the functions of the C library in which some objects are allocated.
std::string c_functions_text(const advice& each, const call_paths& paths) {
    std::set<std::string> functions = each.c_functions;
    const bool has_strdup = functions.contains("strdup") && code_of(each, paths).find("_strdup(") != std::string::npos;
    if (!has_strdup)
        return fmt::format("Some are allocated in {}: write functions in place of these that allocate here.",
                           fmt::join(functions, ", "));
    functions.erase("strdup");
    return filled("Some are allocated in strdup: call {owner}_strdup in place of it there.", each, paths) +
           (functions.empty() ? ""
                              : fmt::format(" Others are allocated in {}: write functions in place of these, too.",
                                            fmt::join(functions, ", ")));
}

/// Classes that the code's declarations at namespace scope name members of.
std::string nested_types_text(const advice& each, const call_paths& paths) {
    const std::vector<std::string> classes = classes_named_in(code_of(each, paths), paths);
    if (classes.empty()) return {};
    return fmt::format(
        "The code names members of {0}: where these are private, put the lines with using, static or inline that name "
        "them into class {0}, a variable as static inline.",
        fmt::join(classes, ", "));
}

std::string c_text(const advice& each, const call_paths& paths) {
    const std::string file = file_name(paths.sites()[each.site].file);
    if (each.candidate == verdict::stack_buffer) return file + " is C: the code stands in place of malloc and free.";
    const bool has_realloc = each.figures.reallocated && code_of(each, paths).find("_realloc(") != std::string::npos;
    const bool is_of_functions = !each.malloc_callers.empty();
    const bool is_shared = !files_to_share_among(each, paths).empty();
    const auto where = [&]() -> std::string {
        if (is_of_functions && direct_callers(each.malloc_callers).empty()) {
            return "The code is C. These are allocated and freed by pointers alone: put the code at the top of the "
                   "file "
                   "that sets them, and set them to its functions";
        }
        // The function that calls malloc may be in no stack: it often ends with a jump to malloc.
        if (is_of_functions) {
            return fmt::format(
                "The code is C. These are allocated and freed by {}: put the code {}, and call its functions there "
                "everywhere (if one of these calls what was passed to it as malloc or free, change that)",
                callers_text(each.malloc_callers, paths),
                is_shared ? "into the files that it names" : "at the top of that file");
        }
        return file + (is_shared ? " is C: put the code into the files that it names, call its functions"
                                 : " is C: put the code at the top of the file, call its functions");
    };
    return fmt::format(
        "{} in place of malloc{}{} and free, "
        "and link libacre.a (cc ... libacre.a -lstdc++ -lm -pthread, or what pkg-config --libs acre-c-static says): "
        "calls into libacre.so take longer. The C++ library, which this brings, takes some 1.7 MB of memory; "
        "with -l:libstdc++.a in place of -lstdc++ .4 MB.",
        where(), has_realloc ? ", realloc" : "", each.figures.zeroed ? ", calloc" : "");
}

constexpr const char* class_caution =
    "Arrays, larger derived classes and std::make_shared do not use the pool. Objects that are deleted through a base "
    "class need its virtual destructor, as always.";

std::string own_new_text(const change_place& place, bool is_pooled) {
    return place.name + " has an operator new of its own" +
           (is_pooled ? ", in whose place the pool's stands: take it out."
                      : ": what that does besides allocating is left out.");
}

/// Where std::unique_ptr holds the objects.
std::string owner_text(const advice& each, const call_paths& paths) {
    const bool is_held = std::ranges::any_of(each.places, [](const change_place& place) {
        return place.by_make_unique || (place.kind == place_kind::container && has_unique_ptr(place.name));
    });
    const std::string owner = is_held && !is_in_c(each, paths) ? owner_of_objects(each, paths) : "";
    if (owner.empty()) return {};
    return fmt::format(
        "Members, parameters and results that are std::unique_ptr of these objects change their type as well, to {}; T "
        "is the class or its base.",
        fmt::format(fmt::runtime(owner), "T"));
}

/// The names of functions or variables, with their lines where these are known.
std::string places_text(const std::vector<source_location>& places) {
    constexpr std::size_t max_places_named = 15;
    std::vector<std::string> named;
    for (const source_location& at : places) {
        if (named.size() == max_places_named) break;
        named.push_back(at.file.empty() ? at.function
                                        : fmt::format("{} ({}:{})", at.function, file_name(at.file), at.line));
    }
    const std::size_t more = places.size() - named.size();
    return fmt::format("{}{}", fmt::join(named, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

std::string unseen_frees_text(const advice& each) {
    if (each.unseen.frees.empty()) return {};
    return " Look at these, which call free or realloc as well, and may do so unseen: " +
           places_text(each.unseen.frees) + ".";
}

std::string unseen_allocating_text(const advice& each) {
    if (each.unseen.allocating.empty()) return {};
    return "These end with a jump to malloc or a function like it, so no stack of the recording has them: " +
           places_text(each.unseen.allocating) +
           ". Where they allocate such objects, they change as well, or nothing is saved.";
}

/// What another change saves, with where that is known from.
std::string saving_text(const other_change& each) {
    const char* saves = each.nanoseconds.low < 0 ? "" : "saves ";
    return saves + saved_text(each.nanoseconds, false) + (each.is_of_replay ? " in a replay" : " in runs");
}

std::string reset_text(const advice& arena) {
    std::string text =
        "With other input these lines may allocate what outlives the reset, which this run cannot show. Where you "
        "cannot rule that out, use ";
    if (!arena.instead) return text + "acre's general heap in these functions (docs/c.md): it has no reset.";
    return text +
           fmt::format("{} (docs/c.md): it has no reset, and {}.", arena.instead->title, saving_text(*arena.instead));
}

std::string arena_instead_text(const other_change& arena) {
    return fmt::format("In place of the heap, {}, {}; but what outlives its reset with another input would be lost.",
                       arena.title, saving_text(arena));
}

std::string in_runs_text(const run_saving& saving) {
    const interval& saved = saving.nanoseconds;
    const double cpu = saving.share_of_cpu != 0 ? saved.median / saving.share_of_cpu : 0;
    const std::string share = cpu > 0 ? " (" + shares_text(saved, false, cpu) + " of the program's)" : "";
    const std::string runs = saving.has_enough_rounds() ? "runs" : plural(saving.rounds, "run", "runs");
    return fmt::format(
        "{} of CPU time{} in {} of the program with a plan for these alone ({}), with {:.2f} times the memory at the "
        "peak",
        saved_text(saved, false), share, runs, saving.policy, saving.peak_ratio);
}

/// What was saved in a replay on each heap.
std::string replayed_on_heaps(const measured_saving& saving) {
    std::string text;
    const auto on_heap = [&](const interval& freed_singly, const std::optional<interval>& left_out, const char* heap) {
        text += fmt::format("{} on a {} heap", time_text(freed_singly.median), heap);
        if (left_out) text += fmt::format(" ({} without the single frees)", time_text(left_out->median));
        text += "; ";
    };
    on_heap(saving.nanoseconds, saving.without_frees, "clean");
    if (saving.fragmented_nanoseconds)
        on_heap(*saving.fragmented_nanoseconds, saving.fragmented_without_frees, "fragmented");
    return text + fmt::format("{:.2f} times malloc's time", saving.ratio.median);
}

/// What a program would save that allocates less.
std::string fewer_text(const measured_saving& saving) {
    const interval expected = saving.expected();
    const std::string shares = shares_text(expected, saving.is_open(), saving.cpu_nanoseconds);
    const std::string share = saving.cpu_nanoseconds > 0 ? " (" + shares + " of the program's)" : "";
    std::string text = fmt::format(
        "{} of CPU time{}: malloc and free take {} for these, and {:.2f} times that after the change",
        saved_text(expected, saving.is_open()), share, time_text(saving.malloc_nanoseconds), saving.ratio.median);
    if (saving.copies_nanoseconds > 0)
        text += fmt::format("; what is copied takes {}", time_text(saving.copies_nanoseconds));
    return text;
}

/// What was saved in a replay; empty where nothing was replayed.
std::string replayed_text(const advice& each) {
    const measured_saving& saving = each.saving;
    if (!saving.done) return {};
    if (traits_of(each.candidate).allocates_less) return fewer_text(saving);
    const interval expected = saving.expected();
    const std::string shares = shares_text(expected, saving.is_open(), saving.cpu_nanoseconds);
    const std::string share = saving.cpu_nanoseconds > 0 ? " (" + shares + " of the program's)" : "";
    std::string text =
        fmt::format("{} of CPU time{}; {}", saved_text(expected, saving.is_open()), share, replayed_on_heaps(saving));
    if (saving.preload) {
        text += fmt::format("; {} in place of malloc saves {} of these", saving.preload->name,
                            time_text(saving.preload->nanoseconds.median));
    }
    text += fmt::format("; peak {} instead of {}", bytes_text(saving.candidate_peak_bytes),
                        bytes_text(saving.system_peak_bytes));
    if (saving.exceeds_run()) {
        text += fmt::format(
            "; among all allocations these take about {} with malloc, less than alone, so no more than {:.1f} times "
            "that is sure",
            time_text(*saving.malloc_in_run_nanoseconds), measured_saving::min_of_replay);
    }
    if (saving.replayed_share < 1) {
        text += fmt::format("; measured with a sample of {} of its events and scaled to all",
                            percent_text(saving.replayed_share));
    }
    return text;
}

std::string functions_text(std::span<const malloc_caller> callers, const call_paths& paths) {
    std::vector<std::string> functions;
    for (const malloc_caller& of : callers) {
        if (functions.size() == max_callers_named) break;
        const std::string& name = paths.functions()[of.function].short_name;
        functions.push_back(of.at.file.empty() ? name : fmt::format("{} ({})", name, file_name(of.at.file)));
    }
    const std::size_t more = callers.size() - functions.size();
    return fmt::format("{}{}", fmt::join(functions, ", "),
                       more == 0 ? "" : " and " + plural(more, "more function", "more functions"));
}

}  // namespace

std::string callers_text(const std::vector<malloc_caller>& callers, const call_paths& paths) {
    return functions_text(direct_callers(callers), paths);
}

std::string pointers_text(const std::vector<malloc_caller>& callers, const call_paths& paths) {
    const auto by_pointer = pointer_callers(callers);
    if (by_pointer.empty()) return {};
    return fmt::format(
        "{} {} malloc, realloc or free by a pointer: where the program sets that to one of these, set it to the "
        "code's.",
        functions_text(by_pointer, paths), by_pointer.size() == 1 ? "calls" : "call");
}

std::string way_text(const std::string& malloc_name) {
    if (malloc_name == preload_saving::acre_heap) return "acre run";
    if (malloc_name == preload_saving::acre_plan) return "acre run with its plan";
    return "LD_PRELOAD of " + malloc_name;
}

std::string untold_text(const std::vector<std::string>& mallocs) {
    std::string ways;
    for (const std::string& each : mallocs) {
        const char* before = ways.empty() ? "" : &each == &mallocs.back() ? " and " : ", ";
        ways += before + way_text(each);
    }
    return "What this program saves or loses by " + ways + ", a replay cannot tell";
}

std::string saved_text(const interval& saved, bool is_open) {
    const auto range = [](double from, double to) {
        const std::string low = time_text(from);
        const std::string high = time_text(to);
        return low == high ? low : low + " to " + high;
    };
    if (saved.high < 0) return "costs " + range(-saved.high, -saved.low);
    if (saved.low < 0)
        return fmt::format("costs up to {} or saves up to {}", time_text(-saved.low), time_text(saved.high));
    return is_open ? time_text(saved.low) + " or more" : range(saved.low, saved.high);
}

std::string shares_text(const interval& saved, bool is_open, double cpu_nanoseconds) {
    if (cpu_nanoseconds <= 0) return {};
    const std::string low = percent_text(saved.low / cpu_nanoseconds);
    const std::string high = percent_text(saved.high / cpu_nanoseconds);
    if (is_open && saved.low >= 0) return low + " or more";
    return low == high ? low : low.substr(0, low.find(' ')) + " to " + high;
}

std::string title_of(const advice& each, const call_paths& paths) {
    return title_of(each.decision, each, paths);
}

std::string title_of(verdict which, const advice& each, const call_paths& paths) {
    if (which != verdict::leave && !each.classes.empty() && !is_in_c(each, paths)) {
        return fmt::format("a pool for each of the classes {}", fmt::join(each.classes, ", "));
    }
    const bool reserves_too = which != verdict::leave && each.grown != 0 && !traits_of(which).allocates_less;
    return filled(traits_of(which).title, each, paths) + (reserves_too ? ", and reserve() for its vectors" : "");
}

std::string location_of(const advice& each, const call_paths& paths) {
    std::string text;
    if (each.place.kind == place_kind::several) {
        const bool changes = each.decision != verdict::leave && each.malloc_callers.empty();
        return sites_text(each.sites, paths, changes ? max_to_change : max_listed);
    }
    if (each.of_scope) {
        const source_location end = paths.place_in(each.generations.last_free, each.function);
        text = paths.functions()[each.function].short_name;
        if (const std::string where = location_text(end); !where.empty()) {
            text += fmt::format(", where the last of them are freed at {}", where);
        }
        text += fmt::format("; most of them come from {}", paths.site_text(each.site));
    } else {
        text = paths.site_text(each.site);
    }
    text += other_sites_text(each, paths);
    const std::string path = paths.path_text(each.stack, 6);
    return path.empty() ? text : text + "; for example " + path;
}

std::string evidence_of(const advice& each, const call_paths& paths) {
    return fmt::format("{}, {}, {}. ", objects_text(each), sizes_text(each.figures), peak_text(each)) +
           filled(traits_of(each.candidate).evidence, each, paths) +
           (each.of_scope && each.candidate != verdict::general_heap ? " " + resets_text(each.resets) : "") +
           (each.refused  ? refusal_text(*each.refused, paths)
            : each.escape ? escape_text(*each.escape, paths)
                          : "");
}

std::string saving_of(const advice& each) {
    if (!each.in_runs) return replayed_text(each);
    if (!each.is_known_by_runs()) {
        const char* why = each.in_runs->has_enough_rounds()
                              ? "A plan that counts the objects of each block in place of it saved less"
                              : "The rounds were too few to confirm or refute that";
        return fmt::format("In a replay: {}. {}: {}", replayed_text(each), why, in_runs_text(*each.in_runs));
    }
    std::string text = in_runs_text(*each.in_runs);
    if (each.saving.done)
        text += ". In a replay, which sees neither where data lies nor page faults: " + replayed_on_heaps(each.saving);
    return text;
}

std::string freed_with_others_text(const advice& each, const call_paths& paths) {
    std::vector<std::string> lines;
    const line_of_frees* worst = nullptr;
    for (const line_of_frees& line : each.freed_at) {
        if (!line.is_shared()) continue;
        if (worst == nullptr) worst = &line;
        if (lines.size() < max_lines_of_frees) lines.push_back(paths.site_text(line.site));
    }
    if (worst == nullptr) return {};
    return fmt::format(
        "{} would fit, but they are freed at {}, which also {} others ({} of what {} frees, mostly from {}): code "
        "there "
        "cannot tell them apart",
        title_of(each.candidate, each, paths), fmt::join(lines, ", "), lines.size() == 1 ? "frees" : "free",
        percent_text(worst->share_of_others()), lines.size() == 1 ? "it" : "the first", paths.site_text(worst->other));
}

std::string allocated_with_others_text(const advice& each, const line_of_frees& line, const call_paths& paths) {
    return fmt::format(
        "{} would fit, but {} of what {} allocates belongs to other groups: code there cannot tell them apart",
        title_of(each.candidate, each, paths), percent_text(line.share_of_others()), paths.site_text(line.site));
}

std::vector<std::string> cautions_of(const advice& each, const call_paths& paths) {
    std::vector<std::string> cautions;
    const bool has_heap = each.decision == verdict::general_heap;  // which serves what outlives a scope as well
    if (!each.blockers.empty() && !has_heap) cautions.push_back(blockers_text(each, paths));
    if (each.decision == verdict::leave) return cautions;
    if (has_hook_of_acre(each.place)) return {std::string{each.place.library->caution}};
    const verdict_traits& traits = traits_of(each.decision);
    for (const char* caution : traits.cautions) {
        if (caution != nullptr) cautions.push_back(filled(caution, each, paths));
    }
    if (traits.allocates_less) return fewer_cautions(each, std::move(cautions), paths);
    if (each.grown != 0) cautions.push_back(grown_text(each));
    if (each.others && traits.freed_as_whole) cautions.push_back(others_text(*each.others, paths));
    if (*traits.caution_in_cpp != '\0' && !is_in_c(each, paths)) cautions.emplace_back(traits.caution_in_cpp);
    const bool has_strings = std::ranges::any_of(each.places, is_string) && !is_in_c(each, paths);
    if (has_strings && has_heap) {
        cautions.emplace_back(
            "Change the type wherever these strings go, also in containers that this run did not show: one that is "
            "copied to or from a std::string is allocated twice. std::to_string and other libraries still give and "
            "take "
            "a std::string: append its characters, and pass c_str().");
    } else if (has_strings) {
        cautions.emplace_back(
            "operator+ still returns a std::string on the heap, and copying it into the new type loses the gain. Build "
            "the text with += instead.");
        if (std::ranges::any_of(each.places, holds_strings)) {
            cautions.emplace_back(
                "What a container of such strings makes of a literal gets its memory from the container: "
                "emplace_back(\"...\") does that, and push_back(\"...\") does not compile.");
        }
        cautions.emplace_back(
            "As the key of a map or set it is made anew for each look-up by another text, which costs more than it "
            "saves: use those of acre::containers_in in acre/adapt/containers.hpp, which find any text.");
    }
    const bool ends_at_once = each.decision == verdict::arena || each.decision == verdict::scratch;
    const bool has_containers =
        std::ranges::any_of(each.places, [](const change_place& place) { return place.kind == place_kind::container; });
    if (ends_at_once && has_containers && !is_in_c(each, paths)) {
        cautions.emplace_back(
            "Copies of such a container also live in this memory. If a copy must outlive it, keep its old type and "
            "copy "
            "the elements.");
    }
    if (ends_at_once && std::ranges::any_of(each.places, is_shared)) {
        cautions.emplace_back(
            "A std::weak_ptr reads its counts beside the object: none may outlive the end of its memory, either.");
    }
    if (each.figures.threads > 1 && *traits.caution_for_threads != '\0') {
        cautions.push_back(filled(traits.caution_for_threads, each, paths));
    }
    if (traits.one_each_thread && each.figures.threads > 1 && each.figures.never_freed != 0 && !is_in_c(each, paths)) {
        cautions.push_back(fmt::format("{} of them are never freed: they end with the thread that made them.",
                                       count_text(each.figures.never_freed)));
    }
    if (!each.c_functions.empty()) {
        cautions.push_back(c_functions_text(each, paths));
    }
    if (is_in_c(each, paths)) {
        cautions.push_back(c_text(each, paths));
        if (const std::string pointers = pointers_text(each.malloc_callers, paths); !pointers.empty()) {
            const std::string set = places_text(each.unseen.pointers);
            cautions.push_back(pointers + (set.empty() ? "" : " The address of one of these is in " + set + "."));
        }
        if (const std::string jumps = unseen_allocating_text(each); !jumps.empty()) cautions.push_back(jumps);
        const std::string freed =
            each.malloc_callers.empty()
                ? freed_today_text(each, paths)
                : "A function that frees or reallocates such objects and was not reached in this run has to change as "
                  "well: look for all of them.";
        if (!freed.empty()) cautions.push_back(freed + unseen_frees_text(each));
        if (each.instead && !has_reset(each.decision)) {
            cautions.push_back(arena_instead_text(*each.instead));
        } else if (each.instead || ends_at_once) {
            cautions.push_back(reset_text(each));
        }
    } else if (each.figures.zeroed) {
        cautions.emplace_back("Some are allocated by calloc, which sets their bytes to zero: this memory is not zero.");
    }
    if (each.is_unoptimised) {
        cautions.push_back(
            fmt::format("{} was compiled without optimisation, by its stacks: the figures are for optimised code.",
                        file_name(paths.sites()[each.site].file)));
    }
    if (std::ranges::any_of(each.places, is_coroutine_frame)) {
        cautions.emplace_back(
            "The operators are the promise_type's: all coroutines with that type, of whatever size, get their frames "
            "there. Write them once for each promise_type.");
    }
    if (const std::string caution = owner_text(each, paths); !caution.empty()) cautions.push_back(caution);
    if (const std::string caution = nested_types_text(each, paths); !caution.empty()) cautions.push_back(caution);
    const bool is_pooled = !pooled_classes_of(each, paths).empty();
    if (is_pooled) cautions = {class_caution};
    for (const change_place& place : each.places) {
        if (place.by_own_new) cautions.push_back(own_new_text(place, is_pooled));
    }
    return cautions;
}

}  // namespace acre::tool
