#include "help_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "command.hpp"

namespace acre::tool {

namespace {

/// In an order that does not change from run to run, as that of CLI11's own sets does.
std::string names_of(const std::set<CLI::Option*>& options) {
    std::vector<std::string> names;
    for (const CLI::Option* each : options) names.push_back(each->get_name());
    std::sort(names.begin(), names.end());
    return fmt::format("{}", fmt::join(names, " and "));
}

std::string conditions_text(const CLI::Option& option) {
    std::vector<std::string> conditions;
    if (option.get_required() && !option.get_positional()) conditions.emplace_back("required");
    if (option.get_expected_max() == CLI::detail::expected_max_vector_size) conditions.emplace_back("may be repeated");
    if (!option.get_default_str().empty()) conditions.push_back("without it " + option.get_default_str());
    if (!option.get_needs().empty()) conditions.push_back("needs " + names_of(option.get_needs()));
    if (!option.get_excludes().empty()) conditions.push_back("not with " + names_of(option.get_excludes()));
    return fmt::format("{}", fmt::join(conditions, "; "));
}

}  // namespace

std::vector<const CLI::Option*> arguments_of(const CLI::App& command) {
    return command.get_options([](const CLI::Option* each) { return each->get_positional(); });
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() > 0;
}

std::string value_text(const CLI::Option& option, const option_values& values) {
    return takes_value(option) ? values.rule_of(&option).name : std::string{};
}

std::string option_text(const CLI::Option& option) {
    const std::string conditions = conditions_text(option);
    return option.get_description() + (conditions.empty() ? "" : " (" + conditions + ")");
}

std::string program_usage(const CLI::App& command) {
    return runs_a_program(command.get_name()) ? " -- PROGRAM [ARGUMENT...]" : "";
}

std::string help_format::make_option_opts(const CLI::Option* option) const {
    const std::string value = option->get_positional() ? "" : value_text(*option, values_);
    return value.empty() ? value : " " + value;
}

std::string help_format::make_option_desc(const CLI::Option* option) const {
    return option_text(*option);
}

std::string help_format::make_usage(const CLI::App* command, std::string name) const {
    std::string usage = Formatter::make_usage(command, std::move(name));
    usage.insert(usage.find_last_not_of('\n') + 1, program_usage(*command));
    return usage;
}

}  // namespace acre::tool
