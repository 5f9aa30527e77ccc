#include "site_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "text/text.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

using nlohmann::json;

constexpr const char* format_name = "acre plan";
constexpr int format_version = 1;
constexpr std::uintmax_t max_file_bytes = std::uintmax_t{64} << 20;

constexpr std::array<std::pair<site_policy, std::string_view>, 5> policies{{{site_policy::leave, "leave"},
                                                                            {site_policy::pool, "pool"},
                                                                            {site_policy::counted, "counted"},
                                                                            {site_policy::separate, "separate"},
                                                                            {site_policy::heap, "heap"}}};

/// Reads a plan's JSON. Each function throws tool_error when something is missing or is of another kind.
class plan_parser {
public:
    explicit plan_parser(const std::string& name) : name_{name} {}

    site_plan parse(std::string_view text) const {
        const json whole = json::parse(text, nullptr, false);
        if (whole.is_discarded()) refuse("it is not JSON, or ends too early");
        if (!whole.is_object() || text_of(whole, "format") != format_name)
            refuse("it is JSON, but not a plan: 'acre plan' makes one");
        if (number_of(whole, "version") != format_version) {
            refuse(fmt::format("it is of version {}, and this acre reads version {}: make it again",
                               number_of(whole, "version"), format_version));
        }
        site_plan plan;
        read_recording(whole, plan);
        if (whole.contains("left_to")) plan.leaves_to_malloc_below = is_below(text_of(whole, "left_to"));
        for (const json& each : list_of(whole, "modules"))
            plan.modules.push_back({text_of(each, "path"), build_id_of(each)});
        for (const json& each : list_of(whole, "sites")) plan.sites.push_back(site_of(each, plan));
        check_sites(plan);
        check_limits(plan);
        return plan;
    }

private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw tool_error{"cannot use the plan '" + name_ + "': " + why};
    }

    const json& part_of(const json& object, const char* key) const {
        if (!object.is_object()) refuse(fmt::format("something stands where an object with '{}' should", key));
        const auto found = object.find(key);
        if (found == object.end()) refuse(fmt::format("'{}' is missing", key));
        return *found;
    }
    std::string text_of(const json& object, const char* key) const {
        const json& part = part_of(object, key);
        if (!part.is_string()) refuse(fmt::format("'{}' is not a text", key));
        return part.get<std::string>();
    }
    std::uint64_t number_of(const json& object, const char* key) const {
        const json& part = part_of(object, key);
        if (!part.is_number_unsigned()) refuse(fmt::format("'{}' is not a whole number from 0 on", key));
        return part.get<std::uint64_t>();
    }
    const json& list_of(const json& object, const char* key) const {
        const json& part = part_of(object, key);
        if (!part.is_array()) refuse(fmt::format("'{}' is not a list", key));
        return part;
    }
    /// An offset, as "0x12ab".
    std::uint64_t offset_of(const json& object, const char* key) const {
        const std::string text = text_of(object, key);
        std::uint64_t value = 0;
        const char* const end = text.data() + text.size();
        if (!text.starts_with("0x") || text.size() < 3) refuse_offset(key, text);
        const auto [ended, error] = std::from_chars(text.data() + 2, end, value, 16);
        if (ended != end || error != std::errc{}) refuse_offset(key, text);
        return value;
    }
    [[noreturn]] void refuse_offset(const char* key, const std::string& text) const {
        refuse(fmt::format("'{}' is not an offset as \"0x12ab\": '{}'", key, printable(text)));
    }
    std::string build_id_of(const json& object) const {
        std::string id = text_of(object, "build_id");
        const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
        if (id.empty() || id.size() % 2 != 0 || id.size() > 128 || !std::ranges::all_of(id, is_digit))
            refuse(fmt::format("'{}' is not a build id in lower-case hexadecimal digits", printable(id)));
        return id;
    }

    void read_recording(const json& whole, site_plan& plan) const {
        const json& recording = part_of(whole, "recording");
        plan.recording = text_of(recording, "file");
        plan.date = text_of(recording, "date");
        for (const json& word : list_of(recording, "command")) {
            if (!word.is_string()) refuse("a word of 'command' is not a text");
            plan.command.push_back(word.get<std::string>());
        }
        plan.made_by = text_of(whole, "made_by");
    }

    bool is_below(const std::string& name) const {
        if (name != "acre" && name != "below")
            refuse(fmt::format("'left_to' is acre or below, not '{}'", printable(name)));
        return name == "below";
    }

    void read_address(const json& object, const site_plan& plan, planned_address& into) const {
        const std::uint64_t module = number_of(object, "module");
        if (module >= plan.modules.size()) refuse(fmt::format("a site is in module {}, which is missing", module));
        into.module = static_cast<std::size_t>(module);
        into.offset = offset_of(object, "offset");
        into.symbol = text_of(object, "symbol");
        into.symbol_offset = offset_of(object, "symbol_offset");
    }

    planned_caller caller_of(const json& object, const site_plan& plan) const {
        planned_caller caller;
        read_address(object, plan, caller);
        caller.frame_bytes = number_of(object, "frame_bytes");
        if (caller.frame_bytes > site_plan::max_frame_bytes || caller.frame_bytes % 8 != 0) {
            refuse(fmt::format("a caller's 'frame_bytes' is {}, and it is a multiple of 8 of at most {}",
                               caller.frame_bytes, site_plan::max_frame_bytes));
        }
        return caller;
    }

    planned_site site_of(const json& object, const site_plan& plan) const {
        planned_site site;
        read_address(object, plan, site);
        if (object.contains("callers")) {
            for (const json& each : list_of(object, "callers")) site.callers.push_back(caller_of(each, plan));
        }
        if (site.callers.size() >= site_plan::max_frames)
            refuse(fmt::format("a site has {} callers, and it can have {}", site.callers.size(),
                               site_plan::max_frames - 1));
        site.place = text_of(object, "place");
        site.allocations = number_of(object, "allocations");
        site.group = text_of(object, "group");
        const std::string policy = text_of(object, "policy");
        const auto* known = std::ranges::find(policies, policy, &std::pair<site_policy, std::string_view>::second);
        if (known == policies.end()) {
            refuse(fmt::format("there is no policy '{}': there are leave, pool, counted, separate and heap",
                               printable(policy)));
        }
        site.policy = known->first;
        return site;
    }

    /// Of two entries for a site only one would have an effect.
    void check_sites(const site_plan& plan) const {
        using address = std::tuple<std::size_t, std::uint64_t, std::uint64_t>;
        std::map<std::vector<address>, const planned_site*> known;
        for (const planned_site& each : plan.sites) {
            std::vector<address> path{{each.module, each.offset, 0}};
            for (const planned_caller& caller : each.callers)
                path.emplace_back(caller.module, caller.offset, caller.frame_bytes);
            const planned_site& first = *known.try_emplace(std::move(path), &each).first->second;
            if (first.policy == each.policy && first.group == each.group) continue;
            refuse(fmt::format(
                "it has two entries for the site {:#x} of '{}' ({}), {} in group '{}' and {} in group '{}': "
                "keep one",
                each.offset, printable(plan.modules[each.module].path), printable(each.place), name_of(first.policy),
                printable(first.group), name_of(each.policy), printable(each.group)));
        }
    }

    void check_limits(const site_plan& plan) const {
        std::set<std::pair<site_policy, std::string>> groups;
        std::size_t routed = 0;
        for (const planned_site& each : plan.sites) {
            if (!plan.routes(each)) continue;
            ++routed;
            groups.emplace(each.policy, each.group);
        }
        if (routed > site_plan::max_sites)
            refuse(
                fmt::format("it plans {} sites, and {} can be", count_text(routed), count_text(site_plan::max_sites)));
        if (const std::size_t all = groups.size() + plan.routed_wrappers(); all > site_plan::max_groups) {
            refuse(fmt::format("its sites are in {} groups, and there can be {}: give some the same group",
                               count_text(all), site_plan::max_groups));
        }
    }

    const std::string& name_;
};

}  // namespace

std::string_view name_of(site_policy policy) {
    return policies.at(static_cast<std::size_t>(policy)).second;
}

std::size_t site_plan::routed_sites_of(std::size_t module) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(sites, [&](const planned_site& each) { return each.module == module && routes(each); }));
}

std::size_t site_plan::routed_wrappers() const {
    std::set<std::vector<std::pair<std::size_t, std::uint64_t>>> wrappers;
    for (const planned_site& each : sites) {
        if (!routes(each)) continue;
        std::vector<std::pair<std::size_t, std::uint64_t>> addresses{{each.module, each.offset}};
        for (const planned_caller& caller : each.callers) {
            wrappers.insert(addresses);
            addresses.emplace_back(caller.module, caller.offset);
        }
    }
    return wrappers.size();
}

std::vector<plan_group> groups_of(const site_plan& plan) {
    std::map<std::pair<site_policy, std::string>, plan_group> groups;
    for (std::size_t i = 0; i < plan.sites.size(); ++i) {
        const planned_site& each = plan.sites[i];
        if (!plan.routes(each)) continue;
        plan_group& group = groups[{each.policy, each.group}];
        group.name = each.group;
        group.policy = each.policy;
        group.allocations += each.allocations;
        group.sites.push_back(i);
    }
    std::vector<plan_group> sorted;
    sorted.reserve(groups.size());
    for (auto& [key, group] : groups) sorted.push_back(std::move(group));
    std::ranges::sort(sorted, [](const plan_group& a, const plan_group& b) {
        return std::tie(b.allocations, a.name, a.policy) < std::tie(a.allocations, b.name, b.policy);
    });
    return sorted;
}

site_plan plan_of(std::span<const plan_group> groups, site_plan plan) {
    std::vector<bool> stays(plan.sites.size());
    for (const plan_group& group : groups) {
        for (const std::size_t site : group.sites) stays[site] = true;
    }
    for (std::size_t i = 0; i < stays.size(); ++i) {
        if (!stays[i]) plan.sites[i].policy = site_policy::leave;
    }
    return plan;
}

site_plan plan_in(std::string_view text, const std::string& name) {
    return plan_parser{name}.parse(text);
}

site_plan read_plan(const std::filesystem::path& file) {
    const std::string name = file.string();
    std::error_code error;
    if (!std::filesystem::exists(file, error)) throw tool_error{"there is no plan '" + name + "'"};
    if (std::filesystem::is_directory(file, error)) throw tool_error{"'" + name + "' is a folder, not a plan"};
    std::ifstream stream{file, std::ios::binary};
    if (!stream) throw tool_error{"cannot read the plan '" + name + "': " + reason_of(errno)};
    // A pipe has no size, and a device no end.
    std::string text;
    std::vector<char> block(64 * 1024);
    while (stream.read(block.data(), static_cast<std::streamsize>(block.size())), stream.gcount() > 0) {
        text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
        if (text.size() > max_file_bytes)
            throw tool_error{"cannot use the plan '" + name + "': it is larger than " + bytes_text(max_file_bytes)};
    }
    return plan_in(text, name);
}

namespace {

using ordered = nlohmann::ordered_json;

void add_address(ordered& to, const planned_address& address) {
    to["module"] = address.module;
    to["offset"] = fmt::format("{:#x}", address.offset);
    to["symbol"] = address.symbol;
    to["symbol_offset"] = fmt::format("{:#x}", address.symbol_offset);
}

ordered json_of(const planned_site& site) {
    ordered result{{"place", site.place},
                   {"policy", name_of(site.policy)},
                   {"group", site.group},
                   {"allocations", site.allocations}};
    add_address(result, site);
    for (const planned_caller& each : site.callers) {
        ordered caller;
        add_address(caller, each);
        caller["frame_bytes"] = each.frame_bytes;
        result["callers"].push_back(std::move(caller));
    }
    return result;
}

ordered json_of(const interval& of) {
    return {{"low", of.low}, {"median", of.median}, {"high", of.high}};
}

ordered json_of(const measured_group& group) {
    ordered result{{"group", group.name},
                   {"policy", group.policy},
                   {"allocations", group.allocations},
                   {"kept", group.is_kept},
                   {"finding", group.finding}};
    if (!group.cpu_ratio) return result;
    result["cpu_ratio"] = json_of(*group.cpu_ratio);
    result["cpu_seconds_saved"] = group.cpu_seconds_saved;
    result["peak_ratio"] = group.peak_ratio;
    return result;
}

ordered json_of(const plan_measurement& measured) {
    ordered result{
        {"compared_with", measured.compared_with}, {"rounds", measured.rounds}, {"seconds", measured.seconds}};
    if (measured.cpu_ratio) {
        result["together"] = ordered{{"rounds", measured.rounds_together},
                                     {"cpu_ratio", json_of(*measured.cpu_ratio)},
                                     {"peak_ratio", measured.peak_ratio}};
    }
    result["groups"] = ordered::array();
    for (const measured_group& each : measured.groups) result["groups"].push_back(json_of(each));
    return result;
}

}  // namespace

std::string plan_text(const site_plan& plan) {
    ordered modules = ordered::array();
    for (const planned_module& each : plan.modules)
        modules.push_back(ordered{{"path", each.path}, {"build_id", each.build_id}});
    ordered sites = ordered::array();
    for (const planned_site& each : plan.sites) sites.push_back(json_of(each));
    ordered whole{{"format", format_name},
                  {"version", format_version},
                  {"made_by", plan.made_by},
                  {"recording", ordered{{"file", plan.recording}, {"command", plan.command}, {"date", plan.date}}},
                  {"left_to", plan.leaves_to_malloc_below ? "below" : "acre"},
                  {"modules", modules},
                  {"sites", sites}};
    if (plan.measured) whole["measured"] = json_of(*plan.measured);
    // With the most important keys first, and safe for a terminal.
    return printable_json(whole.dump(2, ' ', false, ordered::error_handler_t::replace)) + "\n";
}

}  // namespace acre::tool
