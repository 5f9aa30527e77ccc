#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace acre::tool {

namespace {

template <typename Number>
CLI::Validator number_between(Number min, Number max) {
    const auto refuse = [min, max](const std::string& text) {
        Number number{};
        // A NaN is not between any two numbers.
        if (CLI::detail::lexical_cast(text, number) && number >= min && number <= max) return std::string{};
        return fmt::format("'{}' is not a number from {} to {}", text, min, max);
    };
    return {refuse, ""};
}

value_rule rule_of(const std::vector<std::string>& words) {
    value_rule rule{rule_kind::word, fmt::format("{}", fmt::join(words, "|"))};
    for (const std::string& word : words) rule.words.push_back({word, {}});
    return rule;
}

CLI::Validator one_of_these(const std::vector<std::string>& words) {
    const auto refuse = [words](const std::string& word) {
        if (std::find(words.begin(), words.end(), word) != words.end()) return std::string{};
        return fmt::format("'{}' is not one of: {}", word, fmt::join(words, ", "));
    };
    return {refuse, ""};
}

}  // namespace

const value_rule& option_rules::of(const CLI::Option* option) const {
    static const value_rule any_text{rule_kind::text, "TEXT"};
    const auto found = rules_.find(option);
    return found == rules_.end() ? any_text : found->second;
}

option option::required() const {
    return option{option_->required()};
}

option option::one_value_each() const {
    return option{option_->allow_extra_args(false)};
}

option option::separated_by_commas() const {
    return option{option_->delimiter(',')};
}

option option::shows_default() const {
    return option{option_->capture_default_str()};
}

option option::default_is(const std::string& text) const {
    return option{option_->default_str(text)};
}

option option::needs(option other) const {
    return option{option_->needs(other.option_)};
}

option option::excludes(option other) const {
    return option{option_->excludes(other.option_)};
}

option option::check(const std::function<std::string(const std::string&)>& refuse) const {
    return option{option_->check(CLI::Validator{[refuse](const std::string& text) { return refuse(text); }, ""})};
}

bool option::given() const {
    return option_->count() > 0;
}

subcommand::subcommand(command_line& line, const std::string& name, const std::string& description)
    : line_{line}, command_{line.app.add_subcommand(name, description)} {}

option subcommand::ruled(CLI::Option* made, value_rule rule) {
    made->type_name(rule.name);
    line_.rules.set(made, std::move(rule));
    return option{made};
}

option subcommand::trace(const std::string& name, std::string& value, const std::string& text) {
    return ruled(command_->add_option(name, value, text), {rule_kind::trace, "TRACE"});
}

option subcommand::trace(const std::string& name, std::filesystem::path& value, const std::string& text) {
    return ruled(command_->add_option_function<std::string>(
                     name, [&value](const std::string& path) { value = path; }, text),
                 {rule_kind::trace, "TRACE"});
}

option subcommand::traces(const std::string& name, std::vector<std::string>& values, const std::string& shown,
                          const std::string& text) {
    return ruled(command_->add_option(name, values, text), {rule_kind::trace, shown});
}

option subcommand::file(const std::string& name, std::string& value, const std::string& text) {
    return ruled(command_->add_option(name, value, text), {rule_kind::file, "FILE"});
}

option subcommand::files(const std::string& name, std::vector<std::string>& values, const std::string& text) {
    return ruled(command_->add_option(name, values, text), {rule_kind::file, "FILE"});
}

option subcommand::folder(const std::string& name, std::string& value, const std::string& text) {
    return ruled(command_->add_option(name, value, text), {rule_kind::file, "FOLDER"});
}

option subcommand::flag(const std::string& name, bool& value, const std::string& text) {
    return option{command_->add_flag(name, value, text)};
}

option subcommand::text(const std::string& name, std::string& value, const std::string& shown,
                        const std::string& text) {
    return ruled(command_->add_option(name, value, text), {rule_kind::text, shown});
}

option subcommand::texts(const std::string& name, std::vector<std::string>& values, const std::string& shown,
                         const std::string& text) {
    return ruled(command_->add_option(name, values, text), {rule_kind::text, shown});
}

option subcommand::whole_number(const std::string& name, const std::function<void(std::int64_t)>& set,
                                const std::function<std::string()>& current, std::int64_t min, std::int64_t max,
                                const std::string& text) {
    CLI::Option* made = command_->add_option_function<std::int64_t>(name, set, text);
    made->check(number_between(min, max))->default_function(current);
    return ruled(made, {rule_kind::text, "N"});
}

option subcommand::decimal(const std::string& name, std::optional<double>& value, const std::string& shown, double min,
                           double max, const std::string& text) {
    return ruled(command_->add_option(name, value, text)->check(number_between(min, max)), {rule_kind::text, shown});
}

option subcommand::one_of(const std::string& name, std::string& value, const std::vector<std::string>& words,
                          const std::string& text) {
    return ruled(command_->add_option(name, value, text)->check(one_of_these(words)), rule_of(words));
}

option subcommand::one_of(const std::string& name, const std::function<void(const std::string&)>& set,
                          const std::vector<std::string>& words, const std::string& default_word,
                          const std::string& text) {
    CLI::Option* made = command_->add_option_function<std::string>(name, set, text);
    made->check(one_of_these(words))->default_str(default_word);
    return ruled(made, rule_of(words));
}

option subcommand::list_of(const std::string& name, std::vector<std::string>& values, std::vector<described_word> words,
                           const std::string& text) {
    return ruled(command_->add_option(name, values, text)->allow_extra_args(false),
                 {rule_kind::list, "NAME,...", std::move(words)});
}

void subcommand::footer(const std::string& text) {
    command_->footer(text);
}

void subcommand::hide_in_help() {
    command_->group("");
}

void subcommand::runs(const std::function<int()>& action) {
    command_->callback([&chosen = line_.action, action] { chosen = action; });
}

}  // namespace acre::tool
