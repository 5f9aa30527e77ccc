#include "option_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace acre::tool {

namespace {

template <typename Number>
CLI::Validator number_between(Number least, Number most) {
    const auto refuse = [least, most](const std::string& text) {
        Number number{};
        // What is no number at all, as NaN, is not between two.
        if (CLI::detail::lexical_cast(text, number) && number >= least && number <= most) return std::string{};
        return fmt::format("'{}' is not a number from {} to {}", text, least, most);
    };
    return {refuse, ""};
}

}  // namespace

CLI::Option* option_values::whole_number(CLI::Option* option, std::string name, std::int64_t least, std::int64_t most) {
    return text(option->check(number_between(least, most)), std::move(name));
}

CLI::Option* option_values::decimal(CLI::Option* option, std::string name, double least, double most) {
    return text(option->check(number_between(least, most)), std::move(name));
}

CLI::Option* option_values::one_of(CLI::Option* option, const std::vector<std::string>& names) {
    const auto refuse = [names](const std::string& name) {
        if (std::find(names.begin(), names.end(), name) != names.end()) return std::string{};
        return fmt::format("'{}' is none of {}", name, fmt::join(names, ", "));
    };
    value_rule rule{rule_kind::word, fmt::format("{}", fmt::join(names, "|"))};
    for (const std::string& name : names) rule.words.push_back({name, {}});
    return set(option->check(CLI::Validator{refuse, ""}), std::move(rule));
}

const value_rule& option_values::rule_of(const CLI::Option* option) const {
    static const value_rule anything{rule_kind::text, "TEXT"};
    const auto found = rules_.find(option);
    return found == rules_.end() ? anything : found->second;
}

}  // namespace acre::tool
