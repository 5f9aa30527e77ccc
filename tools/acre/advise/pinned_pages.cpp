#include "pinned_pages.hpp"

#include <fmt/format.h>

#include <acre/core/sanitizer.hpp>
#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "advice_code.hpp"
#include "malloc_callers.hpp"
#include "programs/preloadable_library.hpp"
#include "replay/resources.hpp"
#include "text/text.hpp"
#include "trace/error.hpp"
#include "verdict.hpp"
#include "wording.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t max_events = 32'000'000;
constexpr std::uint64_t max_bytes = std::uint64_t{64} << 30;  // allocated in all, each page of which a play writes to
constexpr std::size_t max_plays = 6;                          // with groups of sites separated
constexpr std::uint64_t events_of_plays = 3'000'000;          // of all of them, if there is more than one
constexpr std::uint64_t min_live_bytes = 256 * 1024;
constexpr std::uint64_t noticeable_bytes = 256 * 1024;
constexpr double noticeable_share = 0.05;
constexpr double explained = 0.9;      // of the pinned bytes, by the group
constexpr std::size_t max_sites = 16;  // of the group
constexpr std::size_t max_shown = 5;
constexpr double stays = 0.05;  // of a site's objects, those that are live

/// The events that are played: those until the program calls exit, which frees what static objects hold.
struct played_run {
    std::uint64_t events = 0;
    std::uint64_t peak_event = 0;  // number of the event after which most bytes are live
    std::uint64_t peak_bytes = 0;
    std::uint64_t pages = 0;  // of all blocks that have whole ones
    std::uint32_t sites = 0;

    /// Writing to a page that malloc has given back takes longer than an event does.
    std::uint64_t cost() const noexcept { return events + pages; }
};

/// The C library's function that ends the program, by the names that it has with and without debug information.
bool is_exit(const std::string& name) {
    return name == "exit" || name == "__GI_exit" || name == "__run_exit_handlers";
}

/// By node of the function tree: whether it is exit, or called by it.
std::vector<bool> nodes_of_exit(const call_paths& paths) {
    std::vector<bool> under(paths.nodes().size());
    for (std::size_t i = 1; i < under.size(); ++i) {
        const function_node& node = paths.nodes()[i];
        under[i] = under[node.parent] || is_exit(paths.functions()[node.function].name);
    }
    return under;
}

played_run find_played(const history& run, const call_paths& paths) {
    const std::vector<bool> under_exit = nodes_of_exit(paths);
    played_run found;
    std::uint64_t live = 0;
    run.for_each([&](const recorded_event& each) {
        const std::uint32_t node = each.allocates ? run.contexts()[each.context].node : paths.node(each.stack);
        if (under_exit[node]) return false;
        ++found.events;
        live += each.allocates ? each.size : std::uint64_t{0} - each.size;
        if (each.allocates) found.pages += std::min(each.size, max_bytes) / resident_page_bytes;
        if (live > found.peak_bytes) {
            found.peak_bytes = live;
            found.peak_event = found.events;
        }
        return true;
    });
    for (const allocation_context& each : run.contexts()) found.sites = std::max(found.sites, each.site + 1);
    return found;
}

/// Nothing where the library cannot be preloaded: the advice is made without the play.
std::optional<std::string> path_to_preload(const std::string& library) {
    try {
        return preloadable_library{"preload it", library}.path().string();
    } catch (const tool_error&) {
        return std::nullopt;
    }
}

/// The library to preload for the malloc of a trace; nothing if it is not known or not installed.
std::optional<std::string> library_for(const std::string& allocator) {
    if (allocator.empty() || allocator == trace_header::glibc) return std::string{};
    for (const resource_entry& each : resources()) {
        const bool is_named = allocator == each.name || allocator.starts_with(std::string{each.name} + " (");
        if (!is_named || each.start.libraries.empty()) continue;
        const std::string library = library_of(each);
        if (!library.empty()) return path_to_preload(library);
    }
    return std::nullopt;
}

using clock = std::chrono::steady_clock;

/// When the plays of a run end in any case. How long they take depends on how many pages malloc gives back, to be
/// written to anew.
clock::time_point end_of_plays(std::uint64_t events) {
    constexpr double seconds = 5;
    constexpr double seconds_per_event = 0.25e-6;
    const std::chrono::duration<double> most{seconds + seconds_per_event * static_cast<double>(events)};
    return clock::now() + std::chrono::duration_cast<clock::duration>(most);
}

/// Nothing where it would end too late.
std::optional<resident_result> play(const history& run, std::uint64_t events, const resident_request& request,
                                    clock::time_point end) {
    constexpr std::uint64_t between_looks = 256;
    bool is_late = false;
    std::optional<resident_result> found =
        play_resident(request, [&](const std::function<void(const resident_step&)>& visit) {
            std::uint64_t left = events;
            run.for_each([&](const recorded_event& each) {
                if (left % between_looks == 0) is_late = clock::now() > end;
                if (is_late || left-- == 0) return false;
                visit({.size = each.size & ((std::uint64_t{1} << 56) - 1),
                       .alignment_log2 = each.alignment_log2,
                       .slot = each.slot & ((std::uint32_t{1} << 30) - 1),
                       .allocates = each.allocates ? 1U : 0U,
                       .by_realloc = each.by_realloc ? 1U : 0U,
                       .site = run.contexts()[each.context].site});
                return true;
            });
        });
    if (is_late) found.reset();
    return found;
}

/// Groups of sites that are worth a try, by what they pin at the moment when more is pinned.
class groups {
public:
    groups(const history& run, const resident_result& of) {
        const resident_moment& moment = of.end.pinned_bytes > of.peak.pinned_bytes ? of.end : of.peak;
        std::map<std::uint32_t, std::uint64_t> allocated;
        for (const allocation_context& each : run.contexts()) allocated[each.site] += each.objects;
        std::uint64_t pinned = 0;
        for (const pinning_site& each : moment.sites) {
            if (each.pinned_bytes == 0) break;
            const bool is_enough = static_cast<double>(pinned) >= explained * static_cast<double>(moment.pinned_bytes);
            const bool remains = static_cast<double>(each.objects) >= stays * static_cast<double>(allocated[each.site]);
            pinned += each.pinned_bytes;
            if (!is_enough) add(each.site, most_);
            if (remains && !is_enough) add(each.site, most_that_stay_);
            if (remains) add(each.site, all_that_stay_);
        }
    }

    /// The smaller ones first. A site of which nearly all objects die soon may pin pages as well, but what it frees
    /// would go on being fragmented in memory of its own.
    std::vector<std::vector<std::uint32_t>> to_try() const {
        std::vector<std::vector<std::uint32_t>> tried;
        for (const auto* each : {&most_that_stay_, &most_, &all_that_stay_}) {
            if (!each->empty() && std::ranges::find(tried, *each) == tried.end()) tried.push_back(*each);
        }
        return tried;
    }

private:
    static void add(std::uint32_t site, std::vector<std::uint32_t>& to) {
        if (to.size() < max_sites) to.push_back(site);
    }

    std::vector<std::uint32_t> most_;            // that explain most of the pinned bytes
    std::vector<std::uint32_t> most_that_stay_;  // those of them whose objects live long
    std::vector<std::uint32_t> all_that_stay_;   // also those that pin little
};

std::uint64_t sum_of(const resident_result& of) {
    return of.max_resident_bytes + of.end.resident_bytes;
}

bool is_noticeably_less(std::uint64_t before, std::uint64_t after) {
    return before > after && before - after >= noticeable_bytes &&
           static_cast<double>(before - after) >= noticeable_share * static_cast<double>(before);
}

std::string moment_text(const resident_moment& of) {
    return fmt::format("{} resident for {} live; {} are free on pages with live objects, {} on pages without",
                       bytes_text(of.resident_bytes), bytes_text(of.live_bytes), bytes_text(of.pinned_bytes),
                       bytes_text(of.free_bytes));
}

std::string sites_text(const resident_moment& of, const call_paths& paths) {
    std::string text;
    for (std::size_t i = 0; i < std::min(of.sites.size(), max_shown) && of.sites[i].pinned_bytes != 0; ++i) {
        const pinning_site& each = of.sites[i];
        text += fmt::format("{}{} keeps {} by {} of {}", i == 0 ? "" : "; ", paths.site_text(each.site),
                            bytes_text(each.pinned_bytes), plural(each.objects, "object", "objects"),
                            bytes_text(each.live_bytes));
    }
    return text;
}

nlohmann::json site_json(std::uint32_t number, const call_paths& paths) {
    const site_info& site = paths.sites()[number];
    return {{"function", paths.functions()[site.function].name}, {"file", site.file}, {"line", site.line}};
}

nlohmann::json moment_json(const resident_moment& of, const call_paths& paths) {
    nlohmann::json sites = nlohmann::json::array();
    for (std::size_t i = 0; i < std::min(of.sites.size(), max_sites) && of.sites[i].pinned_bytes != 0; ++i) {
        const pinning_site& each = of.sites[i];
        nlohmann::json row = site_json(each.site, paths);
        row["objects"] = each.objects;
        row["live_bytes"] = each.live_bytes;
        row["pinned_bytes"] = each.pinned_bytes;
        sites.push_back(std::move(row));
    }
    return {{"resident_bytes", of.resident_bytes},
            {"live_bytes", of.live_bytes},
            {"pinned_bytes", of.pinned_bytes},
            {"free_bytes", of.free_bytes},
            {"sites", sites}};
}

constexpr const char* separating_code = R"(#include <acre/acre.hpp>
#include <acre/memory/virtual_memory.hpp>
{1} acre::virtual_memory long_lived_pages;
{1} acre::{0} long_lived{{long_lived_pages}};
void* p = long_lived.allocate(bytes);  // for malloc, at these sites
long_lived.deallocate(p, bytes);       // for free
)";

/// In C where one of the sites is in a C file: C++ can call that, too.
std::string code_text(const pinned_memory& of, const call_paths& paths) {
    const verdict pool = of.in_threads ? verdict::concurrent_multi_pool : verdict::multi_pool;
    const auto is_of_c = [&](std::uint32_t site) { return is_in_c(paths.sites()[site], paths); };
    std::vector<std::string> files;
    files.reserve(of.group.size());
    for (const std::uint32_t site : of.group) files.push_back(paths.sites()[site].file);
    files = files_to_share_among(files);
    if (std::ranges::none_of(of.group, is_of_c)) {
        const char* storage = files.empty() ? "static" : "inline";
        return indented(header_text(files) + fmt::format(separating_code, traits_of(pool).resource, storage),
                        code_indent);
    }
    const verdict_traits& heap = traits_of(verdict::general_heap);
    const auto in_c = [](const char* code, const std::string& realloc) {
        return fmt::format(fmt::runtime(code), fmt::arg("owner", "long_lived"), fmt::arg("realloc", realloc),
                           fmt::arg("api", to_declare));
    };
    const std::string code = in_c(heap.c.code, in_c(heap.c.realloc, {})) + in_c(heap.c_calloc, {});
    return indented(c_code_for(code, files), code_indent);
}

/// The functions of C that allocate at these sites, and all that free what they allocate.
std::vector<malloc_caller> callers_of(const std::vector<std::uint32_t>& sites, const history& run,
                                      const call_paths& paths) {
    context_set contexts;
    for (std::uint32_t i = 0; i < run.contexts().size(); ++i) {
        const std::uint32_t site = run.contexts()[i].site;
        if (is_in_c(paths.sites()[site], paths) && std::ranges::find(sites, site) != sites.end()) contexts.push_back(i);
    }
    return contexts.empty() ? std::vector<malloc_caller>{} : malloc_callers{run, paths}.of(contexts);
}

}  // namespace

bool pinned_memory::is_worth_it() const noexcept {
    return separated && (is_noticeably_less(now.max_resident_bytes, separated->max_resident_bytes) ||
                         is_noticeably_less(now.end.resident_bytes, separated->end.resident_bytes));
}

std::optional<pinned_memory> study_pinned_pages(const history& run, const call_paths& paths,
                                                const std::string& allocator) {
    // A sanitizer's malloc is not the program's.
    if (acre::poisoning || run.is_of_resource() || run.event_count() > max_events) return std::nullopt;
    const played_run played = find_played(run, paths);
    if (played.peak_bytes < min_live_bytes || played.peak_bytes > max_resident_live_bytes) return std::nullopt;
    if (played.pages > max_bytes / resident_page_bytes) return std::nullopt;
    const std::optional<std::string> library = library_for(allocator);
    if (!library) return std::nullopt;
    resident_request request;
    request.slots = run.slots();
    request.sites = played.sites;
    request.peak_event = played.peak_event;
    request.preload = *library;
    const clock::time_point end = end_of_plays(played.events);
    std::optional<resident_result> now = play(run, played.events, request, end);
    if (!now) return std::nullopt;
    pinned_memory found{.now = std::move(*now), .group = {}, .separated = {}, .in_threads = run.threads() > 1};
    const bool is_much = is_noticeably_less(found.now.peak.resident_bytes, found.now.peak.live_bytes) ||
                         is_noticeably_less(found.now.end.resident_bytes, found.now.end.live_bytes);
    if (!is_much) return found;
    std::size_t plays =
        std::clamp<std::uint64_t>(events_of_plays / std::max<std::uint64_t>(played.cost(), 1), 1, max_plays);
    for (std::vector<std::uint32_t> group : groups{run, found.now}.to_try()) {
        for (bool goes_on = true; goes_on && plays > 0; --plays) {
            request.separate.assign(request.sites, false);
            for (const std::uint32_t site : group) request.separate[site] = true;
            std::optional<resident_result> separated = play(run, played.events, request, end);
            if (!separated) break;
            // One object at the end of the heap keeps all that is free before it.
            const std::optional<std::uint32_t> last = separated->end.last_site;
            goes_on = separated->end.free_bytes >= noticeable_bytes && last && !request.separate[*last];
            if (!found.separated || is_noticeably_less(sum_of(*found.separated), sum_of(*separated))) {
                found.separated = std::move(separated);
                found.group = group;
            }
            if (goes_on) group.push_back(*last);
        }
    }
    found.callers = callers_of(found.group, run, paths);
    return found;
}

std::string pinned_text(const pinned_memory& of, const call_paths& paths) {
    if (!of.is_worth_it()) return {};
    const resident_moment& moment = of.now.end.pinned_bytes > of.now.peak.pinned_bytes ? of.now.end : of.now.peak;
    std::string text = "Memory that few objects keep (a replay; without the program's code and stacks):\n";
    text += wrapped("at the peak " + moment_text(of.now.peak) + ".", 3, 110);
    text += wrapped("at the end " + moment_text(of.now.end) + ".", 3, 110);
    text += wrapped(sites_text(moment, paths) + (&moment == &of.now.end ? ", at the end." : ", at the peak."), 3, 110);
    std::string group;
    for (const std::uint32_t site : of.group) group += (group.empty() ? "" : ", ") + paths.site_text(site);
    text += wrapped(fmt::format("With {} in memory of {} own: at most {} resident instead of {}, {} at the end instead "
                                "of {}.",
                                group, of.group.size() == 1 ? "its" : "their",
                                bytes_text(of.separated->max_resident_bytes), bytes_text(of.now.max_resident_bytes),
                                bytes_text(of.separated->end.resident_bytes), bytes_text(of.now.end.resident_bytes)),
                    3, 110);
    if (!of.callers.empty()) {
        text += wrapped(
            "Call the code in place of malloc, realloc, calloc and free in " + callers_text(of.callers, paths) + ".", 3,
            110);
        text += wrapped(pointers_text(of.callers, paths), 3, 110);
    }
    return text + code_text(of, paths);
}

nlohmann::json pinned_json(const std::optional<pinned_memory>& of, const call_paths& paths) {
    if (!of) return nullptr;
    nlohmann::json separated = nullptr;
    if (of->separated) {
        nlohmann::json sites = nlohmann::json::array();
        for (const std::uint32_t site : of->group) sites.push_back(site_json(site, paths));
        separated = {{"sites", sites},
                     {"max_resident_bytes", of->separated->max_resident_bytes},
                     {"peak_resident_bytes", of->separated->peak.resident_bytes},
                     {"end_resident_bytes", of->separated->end.resident_bytes},
                     {"worth_it", of->is_worth_it()}};
    }
    return {{"max_resident_bytes", of->now.max_resident_bytes},
            {"peak", moment_json(of->now.peak, paths)},
            {"end", moment_json(of->now.end, paths)},
            {"separated", separated}};
}

}  // namespace acre::tool
