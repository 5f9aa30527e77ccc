#include <algorithm>
#include <cmath>
#include <map>

#include "page.hpp"
#include "trace/function_name.hpp"

namespace acre::tool {

namespace {

using nlohmann::json;

constexpr std::size_t max_threads_shown = 32;

/// Scales counts of a sample to the whole run.
class scale {
public:
    explicit scale(const trace_header& header) : factor_{header.sampling_period} {}

    std::uint64_t operator()(std::uint64_t value) const {
        return __builtin_mul_overflow(value, factor_, &value) ? ~std::uint64_t{0} : value;
    }
    double operator()(double value) const { return value * static_cast<double>(factor_); }

private:
    std::uint64_t factor_;
};

/// As an integer, which is shorter, where it fits.
json number(double value) {
    constexpr double max = 9e18;
    return value < max ? json(static_cast<std::uint64_t>(std::llround(value))) : json(value);
}

json timeline_json(const run_picture& picture, scale scaled) {
    json live = json::array();
    json last = json::array();
    json allocations = json::array();
    json bytes = json::array();
    json frees = json::array();
    for (const time_bucket& each : picture.buckets) {
        live.push_back(scaled(each.max_bytes));
        last.push_back(scaled(each.last_bytes));
        allocations.push_back(scaled(each.allocated.count));
        bytes.push_back(scaled(each.allocated.bytes));
        frees.push_back(scaled(each.frees));
    }
    return {{"bucket_ns", picture.bucket_nanoseconds},
            {"peak_bytes", live},
            {"last_bytes", last},
            {"allocations", allocations},
            {"bytes", bytes},
            {"frees", frees}};
}

/// The classes from the first to the last one that is not empty, each as [from, below, count, bytes].
json histogram_json(const tally_histogram& histogram, scale scaled) {
    const std::vector<tally>& classes = histogram.classes();
    const auto is_used = [](const tally& each) { return each.count != 0; };
    const auto first = std::find_if(classes.begin(), classes.end(), is_used);
    const auto last = std::find_if(classes.rbegin(), classes.rend(), is_used).base();
    json rows = json::array();
    for (auto each = first; each < last; ++each) {
        const auto number = static_cast<std::size_t>(each - classes.begin());
        const json below = number < histogram.bounds().size() ? json(histogram.bounds()[number]) : nullptr;
        rows.push_back(
            {number == 0 ? 0 : histogram.bounds()[number - 1], below, scaled(each->count), scaled(each->bytes)});
    }
    return rows;
}

// Names of templates can have kilobytes.
constexpr std::size_t max_name = 400;

/// Makes all texts printable, and unless they are `whole` cuts them to the length that the page shows. The code to copy
/// is whole.
void cut_names(json& part, bool of_function = false, bool whole = false) {
    if (part.is_string()) {
        auto& text = part.get_ref<std::string&>();
        text = printable_text(text);
        if (whole) return;
        if (of_function) {
            text = shortened_name(text, max_name);
        } else if (text.size() > max_name) {
            text.resize(max_name);
        }
    } else if (part.is_structured()) {
        for (const auto& [key, value] : part.items()) {
            cut_names(value, key == "function" || key == "scope", whole || key == "code" || key == "answer");
        }
    }
}

class name_table {
public:
    explicit name_table(const call_paths& paths) : paths_{paths} {}

    std::size_t number_of(std::uint32_t function) {
        const auto [entry, added] = numbers_.try_emplace(function, functions_.size());
        if (added) {
            const function_info& info = paths_.functions()[function];
            const std::string full = info.name == info.short_name ? "" : shortened_name(info.name, max_name);
            functions_.push_back({info.short_name.substr(0, max_name), full, info.passes_memory_on ? 1 : 0});
        }
        return entry->second;
    }

    json functions() && { return std::move(functions_); }

private:
    const call_paths& paths_;
    std::map<std::uint32_t, std::size_t> numbers_;
    json functions_ = json::array();
};

json flames_json(const run_picture& picture, const call_paths& paths, scale scaled) {
    name_table names{paths};
    json parents = json::array();
    json functions = json::array();
    json weights = json::object();
    for (const flame_node& each : picture.flames) {
        parents.push_back(each.parent);
        functions.push_back(names.number_of(each.function));
        for (std::size_t i = 0; i < flame_weights; ++i) {
            weights[name_of(static_cast<flame_weight>(i))].push_back(number(scaled(each.weights[i])));
        }
    }
    return {{"parents", parents},
            {"functions", functions},
            {"weights", weights},
            {"names", std::move(names).functions()},
            {"min_share", picture_limits{}.min_flame_share}};
}

json bands_json(const band_lane& lane) {
    json bands = json::array();
    for (const band& each : lane.bands()) bands.push_back({each.begin, each.end, each.count, each.bytes});
    return bands;
}

json lanes_json(const lane_list& list) {
    json lanes = json::array();
    for (const named_lane& each : list.lanes) {
        lanes.push_back({{"name", each.name.substr(0, max_name)},
                         {"thread", each.thread},
                         {"advice", each.advice},
                         {"count", each.lane.count()},
                         {"total_ns", each.lane.total_time()},
                         {"longest_ns", each.lane.longest()},
                         {"bands", bands_json(each.lane)}});
    }
    return {{"lanes", lanes}, {"omitted", list.omitted}};
}

json threads_json(const run_picture& picture, scale scaled) {
    std::vector<thread_figures> sorted = picture.threads;
    std::sort(sorted.begin(), sorted.end(), [](const thread_figures& a, const thread_figures& b) {
        return a.allocated.count != b.allocated.count ? a.allocated.count > b.allocated.count : a.thread < b.thread;
    });
    if (sorted.size() > max_threads_shown) sorted.resize(max_threads_shown);
    json threads = json::array();
    for (const thread_figures& each : sorted) {
        threads.push_back({{"thread", each.thread},
                           {"allocations", scaled(each.allocated.count)},
                           {"bytes", scaled(each.allocated.bytes)},
                           {"frees", scaled(each.frees)},
                           {"frees_of_others", scaled(each.frees_of_others)}});
    }
    return threads;
}

}  // namespace

nlohmann::json report_json(const run_picture& picture, const call_paths& paths, const trace_header& header,
                           report_parts parts) {
    const scale scaled{header};
    cut_names(parts.info);
    cut_names(parts.advice);
    cut_names(parts.replay, false, true);
    cut_names(parts.fit, false, true);  // may be from files that anyone wrote
    return {
        {"info", std::move(parts.info)},
        {"advice", std::move(parts.advice)},
        {"replay", std::move(parts.replay)},
        {"fit", std::move(parts.fit)},
        {"measured", parts.measured},
        {"stacks_at_free", header.stacks_at_free},
        {"sampling_period", header.sampling_period},
        {"timeline", timeline_json(picture, scaled)},
        {"sizes", histogram_json(picture.sizes, scaled)},
        {"lifetimes",
         {{"time", histogram_json(picture.life_times, scaled)},
          {"allocations", histogram_json(picture.life_allocations, scaled)},
          {"bytes", histogram_json(picture.life_bytes, scaled)}}},
        {"never_freed", {{"count", scaled(picture.never_freed.count)}, {"bytes", scaled(picture.never_freed.bytes)}}},
        {"flames", flames_json(picture, paths, scaled)},
        {"scopes", lanes_json(picture.scopes)},
        {"generations", lanes_json(picture.generations)},
        {"pauses", bands_json(picture.pauses)},
        {"threads", threads_json(picture, scaled)}};
}

}  // namespace acre::tool
