// Declares subcommands of `acre` with their options, and the values that these take. CLI11 parses the command line; its
// header takes seconds to compile, so only options.cpp, main.cpp, help and completion include it.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace acre::tool {

/// A mistake on the command line.
class usage_error : public std::runtime_error {
    using runtime_error::runtime_error;
};

/// The kind of a value: any text, one of the rule's words, a comma-separated list of them, a trace file, any file.
enum class rule_kind : std::uint8_t { text, word, list, trace, file };

/// The meaning may be empty.
struct described_word {
    std::string word;
    std::string meaning;
};

/// The values of an option; help, man pages and completion show them from here.
struct value_rule {
    rule_kind kind = rule_kind::text;
    std::string name;  // of the value in help: N, FILE, unwind|fp|caller
    std::vector<described_word> words{};
};

class option_rules {
public:
    void set(const CLI::Option* option, value_rule rule) { rules_[option] = std::move(rule); }

    /// An option without a rule takes any text.
    const value_rule& of(const CLI::Option* option) const;

private:
    std::map<const CLI::Option*, value_rule> rules_;
};

template <typename Value>
std::vector<std::string> names_of(const std::map<std::string, Value>& values) {
    std::vector<std::string> names;
    names.reserve(values.size());
    for (const auto& [name, value] : values) names.push_back(name);
    return names;
}

/// The command line while it is declared and parsed.
struct command_line {
    CLI::App& app;
    option_rules rules{};
    std::function<int()> action{};  // of the chosen subcommand; returns the exit status
};

/// A handle to an option or argument; copying it is cheap.
class option {
public:
    explicit option(CLI::Option* made) : option_{made} {}

    option required() const;

    /// Each occurrence takes one value; without this a list option takes all words that follow.
    option one_value_each() const;

    option separated_by_commas() const;

    /// Help shows the variable's present value as the default.
    option shows_default() const;
    /// Help shows this text as the default. It sets no value.
    option default_is(const std::string& text) const;
    option needs(option other) const;
    option excludes(option other) const;

    /// Refuses a value with the sentence that `refuse` returns; an empty one accepts it.
    option check(const std::function<std::string(const std::string&)>& refuse) const;

    bool given() const;

private:
    CLI::Option* option_;
};

/// A subcommand. The variables that its options fill must outlive the parsing.
class subcommand {
public:
    subcommand(command_line& line, const std::string& name, const std::string& description);

    // A name that begins with "-" declares an option, any other an argument. `text` is what help says about it.
    option trace(const std::string& name, std::string& value, const std::string& text);
    option trace(const std::string& name, std::filesystem::path& value, const std::string& text);
    option traces(const std::string& name, std::vector<std::string>& values, const std::string& shown,
                  const std::string& text);
    option file(const std::string& name, std::string& value, const std::string& text);
    option files(const std::string& name, std::vector<std::string>& values, const std::string& text);
    option folder(const std::string& name, std::string& value, const std::string& text);
    option flag(const std::string& name, bool& value, const std::string& text);

    /// Any text; help shows the value as `shown`.
    option text(const std::string& name, std::string& value, const std::string& shown, const std::string& text);
    option texts(const std::string& name, std::vector<std::string>& values, const std::string& shown,
                 const std::string& text);

    template <std::integral Number>
    option whole_number(const std::string& name, Number& value, std::int64_t min, std::int64_t max,
                        const std::string& text) {
        return whole_number(
            name, [&value](std::int64_t given) { value = static_cast<Number>(given); },
            [&value] { return std::to_string(value); }, min, max, text);
    }
    option decimal(const std::string& name, std::optional<double>& value, const std::string& shown, double min,
                   double max, const std::string& text);

    option one_of(const std::string& name, std::string& value, const std::vector<std::string>& words,
                  const std::string& text);
    template <typename Value>
    option one_of(const std::string& name, Value& value, const std::map<std::string, Value>& choices,
                  const std::string& default_word, const std::string& text) {
        return one_of(
            name, [&value, &choices](const std::string& word) { value = choices.at(word); }, names_of(choices),
            default_word, text);
    }

    /// Some of the words; the command itself checks them, as it may allow others.
    option list_of(const std::string& name, std::vector<std::string>& values, std::vector<described_word> words,
                   const std::string& text);

    /// The text below the options in help; the man page has it in its sections.
    void footer(const std::string& text);
    void hide_in_help();

    /// What the subcommand does when it is chosen; may throw usage_error.
    void runs(const std::function<int()>& action);

private:
    option whole_number(const std::string& name, const std::function<void(std::int64_t)>& set,
                        const std::function<std::string()>& current, std::int64_t min, std::int64_t max,
                        const std::string& text);
    option one_of(const std::string& name, const std::function<void(const std::string&)>& set,
                  const std::vector<std::string>& words, const std::string& default_word, const std::string& text);
    option ruled(CLI::Option* made, value_rule rule);

    command_line& line_;
    CLI::App* command_;
};

}  // namespace acre::tool
