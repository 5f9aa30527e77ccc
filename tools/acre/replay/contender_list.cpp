#include "contender_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "resources.hpp"
#include "text/text.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

struct group_entry {
    std::string_view name;
    std::string_view description;
    bool (*has)(const resource_entry&);
};

constexpr auto groups = std::to_array<group_entry>({
    {"all", "everything that is installed and can play the trace", [](const resource_entry&) { return true; }},
    {"acre", "the resources of acre", [](const resource_entry& e) { return e.group == resource_group::acre; }},
    {"std", "the memory resources of the standard library",
     [](const resource_entry& e) { return e.group == resource_group::standard; }},
    {"preloads", "other mallocs that are installed",
     [](const resource_entry& e) { return e.group == resource_group::preload; }},
    {"peers", "all but acre's", [](const resource_entry& e) { return e.group != resource_group::acre; }},
});

std::string trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return std::string{text.substr(first, text.find_last_not_of(" \t") - first + 1)};
}

std::string parameter_names(const resource_entry& entry) {
    std::vector<std::string_view> names;
    for (const parameter_entry& each : entry.parameters) names.push_back(each.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

const parameter_entry& parameter_of(const resource_entry& entry, const std::string& name) {
    for (const parameter_entry& each : entry.parameters) {
        if (each.name == name) return each;
    }
    if (entry.parameters.empty()) throw tool_error{fmt::format("{} has no parameters", entry.name)};
    throw tool_error{fmt::format("{} has no parameter '{}': it has {}", entry.name, name, parameter_names(entry))};
}

void set_parameter(contender& which, const std::string& text) {
    const resource_entry& entry = resources()[which.resource];
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
        throw tool_error{fmt::format("'{}' is no parameter of {}: write its name, = and a number", text, entry.name)};
    }
    const parameter_entry& parameter = parameter_of(entry, trimmed(text.substr(0, equals)));
    const std::string digits = trimmed(text.substr(equals + 1));
    const auto value = parse_bytes(digits);
    if (!value || *value < parameter.min || *value > parameter.max) {
        throw tool_error{
            fmt::format("'{}' is not a valid {} of {}: give a number from {} to {}, optionally followed by K, M or G",
                        digits, parameter.name, entry.name, count_text(parameter.min), count_text(parameter.max))};
    }
    std::uint64_t& member = which.parameters.*parameter.member;
    if (member != 0) throw tool_error{fmt::format("{} of {} is given twice", parameter.name, entry.name)};
    member = *value;
}

/// Collects contenders, each once.
class contender_set {
public:
    /// A resource, or all that a group has.
    void add(const std::string& name) {
        for (const group_entry& group : groups) {
            if (group.name == name) return add_group(group);
        }
        latest_ = {{.resource = resource_number(name)}, true};
        open_ = true;
    }

    void add_parameter(const std::string& text) {
        if (!open_) {
            throw tool_error{
                fmt::format("parameter '{}' follows no resource: write it after one, as in "
                            "multi_arena:count=64,bytes=16K",
                            text)};
        }
        set_parameter(latest_.which, text);
    }

    /// The parameters of the latest one are complete.
    void close() {
        if (open_) keep(latest_);
        open_ = false;
    }

    std::vector<named_contender> take() { return std::move(all_); }

private:
    void add_group(const group_entry& group) {
        for (std::uint32_t i = 0; i < resources().size(); ++i) {
            if (i != loop_number && group.has(resources()[i])) keep({{.resource = i}, false});
        }
    }

    void keep(const named_contender& each) {
        if (each.which.resource == system_number) return;
        const auto same = std::find_if(all_.begin(), all_.end(),
                                       [&](const named_contender& other) { return other.which == each.which; });
        if (same == all_.end()) {
            all_.push_back(each);
        } else {
            same->by_name = same->by_name || each.by_name;
        }
    }

    std::vector<named_contender> all_;
    named_contender latest_;
    bool open_ = false;
};

/// 65536 is 64K.
std::string short_bytes(std::uint64_t bytes) {
    constexpr std::array units{"", "K", "M", "G", "T"};
    std::size_t unit = 0;
    while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < units.size()) {
        bytes /= 1024;
        ++unit;
    }
    return std::to_string(bytes) + units[unit];
}

std::string parameters_of(const resource_entry& entry) {
    std::vector<std::string> names;
    for (const parameter_entry& each : entry.parameters) names.push_back(std::string{each.name} + "=");
    return fmt::format("{}", fmt::join(names, ","));
}

std::string why_not(std::uint32_t resource, const sequence_view* sequence) {
    const contender which{.resource = resource};
    const std::string missing = not_here(which);
    return missing.empty() && sequence != nullptr ? not_for(which, *sequence) : missing;
}

std::string parameter_lines() {
    std::string text;
    for (const resource_entry& entry : resources()) {
        for (const parameter_entry& each : entry.parameters) {
            text += fmt::format("  {:<40}{}\n", fmt::format("{}:{}=", entry.name, each.name), each.description);
        }
    }
    return text;
}

}  // namespace

std::vector<named_contender> parse_contenders(const std::string& list) {
    contender_set found;
    std::istringstream words{list + ","};  // without the last one an empty last name is not seen
    for (std::string word; std::getline(words, word, ',');) {
        const std::size_t colon = word.find(':');
        const bool is_parameter = colon == std::string::npos && word.find('=') != std::string::npos;
        if (!is_parameter) {
            found.close();
            found.add(trimmed(word.substr(0, colon)));
        }
        if (is_parameter || colon != std::string::npos) {
            found.add_parameter(trimmed(is_parameter ? word : word.substr(colon + 1)));
        }
    }
    found.close();
    return found.take();
}

std::vector<contender> installed_contenders(const std::string& list) {
    std::vector<contender> installed;
    for (const named_contender& each : parse_contenders(list)) {
        if (is_installed(resources()[each.which.resource])) installed.push_back(each.which);
    }
    return installed;
}

std::string contender_text(const contender& which) {
    const resource_entry& entry = resources()[which.resource];
    std::string text{entry.name};
    char separator = ':';
    for (const parameter_entry& each : entry.parameters) {
        const std::uint64_t value = which.parameters.*each.member;
        if (value == 0) continue;
        const bool counts = each.member == &resource_parameters::count;
        text += fmt::format("{}{}={}", separator, each.name, counts ? std::to_string(value) : short_bytes(value));
        separator = ',';
    }
    return text;
}

std::vector<std::pair<std::string_view, std::string_view>> contender_names() {
    std::vector<std::pair<std::string_view, std::string_view>> names;
    names.reserve(groups.size() + resources().size());
    for (const group_entry& each : groups) names.emplace_back(each.name, each.description);
    for (std::uint32_t i = 0; i < resources().size(); ++i) {
        if (i != loop_number) names.emplace_back(resources()[i].name, resources()[i].description);
    }
    return names;
}

std::string groups_text() {
    std::string text;
    for (const group_entry& each : groups) text += fmt::format("  {:<30}{}\n", each.name, each.description);
    return text;
}

std::string not_here(const contender& which) {
    const resource_entry& entry = resources()[which.resource];
    if (is_installed(entry)) return {};
    return fmt::format("{} is not installed here", entry.start.libraries.front());
}

std::string not_for(const contender& which, const sequence_view& sequence) {
    const resource_entry& entry = resources()[which.resource];
    if (!sequence.runs.empty() && entry.threads == thread_rule::one) {
        return "it is for one thread at a time (without --threads recorded one thread plays all)";
    }
    return entry.refuse == nullptr ? std::string{} : entry.refuse(which.parameters, sequence);
}

std::string resources_text(const sequence_view* sequence) {
    std::vector<std::vector<std::string>> rows{{"resource", "threads", "parameters", "what it is"}};
    for (std::uint32_t i = 0; i < resources().size(); ++i) {
        if (i == loop_number) continue;
        const resource_entry& entry = resources()[i];
        const std::string why = why_not(i, sequence);
        rows.push_back({std::string{entry.name}, entry.threads == thread_rule::any ? "any" : "one",
                        parameters_of(entry),
                        std::string{entry.description} + (why.empty() ? "" : "; not played: " + why)});
    }
    return table_text(rows, {0, 1, 2, 3}) + "\nParameters (K, M or G may follow a number):\n" + parameter_lines() +
           "\nGroups:\n" + groups_text();
}

nlohmann::json resources_json(const sequence_view* sequence) {
    nlohmann::json list = nlohmann::json::array();
    for (std::uint32_t i = 0; i < resources().size(); ++i) {
        if (i == loop_number) continue;
        const resource_entry& entry = resources()[i];
        nlohmann::json parameters = nlohmann::json::array();
        for (const parameter_entry& each : entry.parameters) {
            parameters.push_back(
                {{"name", each.name}, {"what", each.description}, {"least", each.min}, {"most", each.max}});
        }
        const std::string why = why_not(i, sequence);
        list.push_back({{"name", entry.name},
                        {"what", entry.description},
                        {"several_threads", entry.threads == thread_rule::any},
                        {"installed", is_installed(entry)},
                        {"parameters", parameters},
                        {"can_play", why.empty()},
                        {"why_not", why}});
    }
    return {{"command", "replay"}, {"resources", list}};
}

}  // namespace acre::tool
