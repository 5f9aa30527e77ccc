#include "resource_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <nlohmann/json.hpp>

#include "contender_list.hpp"
#include "resources.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

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

std::string not_here(const contender& which) {
    const resource_entry& entry = resources()[which.resource];
    if (is_installed(entry)) return {};
    return fmt::format("no {} is installed here", entry.start.libraries.front());
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
    return table_text(rows, {0, 1, 2, 3}) + "\nParameters, numbers with K, M or G behind them if you like:\n" +
           parameter_lines() + "\nGroups:\n" + groups_text();
}

nlohmann::json resources_json(const sequence_view* sequence) {
    nlohmann::json list = nlohmann::json::array();
    for (std::uint32_t i = 0; i < resources().size(); ++i) {
        if (i == loop_number) continue;
        const resource_entry& entry = resources()[i];
        nlohmann::json parameters = nlohmann::json::array();
        for (const parameter_entry& each : entry.parameters) {
            parameters.push_back(
                {{"name", each.name}, {"what", each.description}, {"least", each.least}, {"most", each.most}});
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
