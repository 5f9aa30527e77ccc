// What the values of options and arguments can be: help, the man pages and completion all tell it from here.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace acre::tool {

/// Text is anything; a word is one of the words there are, and a list some of them, separated by commas.
enum class rule_kind : std::uint8_t { text, word, list, trace, file };

/// A word that can be written, and what it means; the meaning may be empty.
struct described_word {
    std::string word;
    std::string meaning;
};

struct value_rule {
    rule_kind kind = rule_kind::text;
    std::string name;  // as help shows the value: N, FILE, trie|fp|caller
    std::vector<described_word> words{};
};

template <typename Value>
std::vector<std::string> names_of(const std::map<std::string, Value>& values) {
    std::vector<std::string> names;
    for (const auto& [name, value] : values) names.push_back(name);
    return names;
}

/// The rules of all options and arguments that were given one. Each function returns the option.
class option_values {
public:
    CLI::Option* trace(CLI::Option* option, std::string name = "TRACE") {
        return set(option, {rule_kind::trace, std::move(name)});
    }

    CLI::Option* file(CLI::Option* option) { return set(option, {rule_kind::file, "FILE"}); }

    CLI::Option* folder(CLI::Option* option) { return set(option, {rule_kind::file, "FOLDER"}); }

    /// What is called so in help.
    CLI::Option* text(CLI::Option* option, std::string name) { return set(option, {rule_kind::text, std::move(name)}); }

    /// A number from the least to the most.
    CLI::Option* whole_number(CLI::Option* option, std::string name, std::int64_t least, std::int64_t most);
    CLI::Option* decimal(CLI::Option* option, std::string name, double least, double most);

    /// One of these, and nothing else.
    CLI::Option* one_of(CLI::Option* option, const std::vector<std::string>& names);

    /// Some of these, separated by commas; what else may be in the list, the option checks itself.
    CLI::Option* list_of(CLI::Option* option, std::vector<described_word> words) {
        return set(option, {rule_kind::list, "NAME,...", std::move(words)});
    }

    /// Anything, where no rule was given.
    const value_rule& rule_of(const CLI::Option* option) const;

private:
    CLI::Option* set(CLI::Option* option, value_rule rule) {
        rules_[option] = std::move(rule);
        return option->type_name(rules_[option].name);
    }

    std::map<const CLI::Option*, value_rule> rules_;
};

}  // namespace acre::tool
