// `acre complete`: tells a shell what can follow on the command line.
#include <algorithm>
#include <string>
#include <vector>

#include "command.hpp"
#include "help.hpp"

namespace acre::tool {

namespace {

/// Follows a command line word by word.
class line_parser {
public:
    explicit line_parser(const command_line& line) : app_{line.app}, command_{&line.app}, rules_{line.rules} {}

    void take(const std::string& word) {
        if (program_) return;
        if (values_left_ > 0) {
            --values_left_;
        } else if (!only_arguments_ && word == "--") {
            program_ = runs_a_program(command_->get_name());
            only_arguments_ = true;
        } else if (!only_arguments_ && word.size() > 1 && word.front() == '-') {
            take_option(word);
        } else if (command_ == &app_) {
            if (const CLI::App* named = subcommand(word)) command_ = named;
        } else {
            ++arguments_;
        }
    }

    std::string offer(const std::string& word) const {
        if (program_) return "program\n";
        if (values_left_ > 0) return offer_values(*option_, word, "");
        if (!only_arguments_ && word.starts_with('-')) return offer_options(word);
        if (command_ == &app_) return offer_subcommands();
        return offer_argument(word);
    }

private:
    void take_option(const std::string& word) {
        const std::size_t equals = word.find('=');
        const bool is_long = word.starts_with("--");
        option_ = option(is_long ? word.substr(0, equals) : word.substr(0, 2));
        const bool has_value = is_long ? equals != std::string::npos : word.size() > 2;
        if (option_ != nullptr && takes_value(*option_) && !has_value) values_left_ = option_->get_items_expected_min();
    }

    /// Options of `acre` itself may also follow the subcommand.
    const CLI::Option* option(const std::string& name) const {
        const CLI::Option* found = command_->get_option_no_throw(name);
        return found != nullptr ? found : app_.get_option_no_throw(name);
    }

    const CLI::App* subcommand(const std::string& name) const {
        const auto named = app_.get_subcommands([&](const CLI::App* each) { return each->get_name() == name; });
        return named.empty() ? nullptr : named.front();
    }

    static void add(std::string& lines, const std::string& word, const std::string& meaning) {
        lines += word + "\t" + meaning + "\n";
    }

    std::string offer_subcommands() const {
        std::string lines = "words\n";
        for (const CLI::App* each : shown_subcommands(app_)) add(lines, each->get_name(), each->get_description());
        return lines;
    }

    std::string offer_options(const std::string& word) const {
        const std::size_t equals = word.find('=');
        if (word.starts_with("--") && equals != std::string::npos) {
            const CLI::Option* named = option(word.substr(0, equals));
            if (named == nullptr || !takes_value(*named)) return "words\n";
            return offer_values(*named, word.substr(equals + 1), word.substr(0, equals + 1));
        }
        std::string lines = "words\n";
        for (const CLI::Option* each : command_->get_options()) add_option(lines, *each);
        if (command_ != &app_) {
            for (const CLI::Option* each : common_options(app_)) add_option(lines, *each);
        }
        if (runs_a_program(command_->get_name())) add(lines, "--", "Then the program to run, and its arguments");
        return lines;
    }

    static void add_option(std::string& lines, const CLI::Option& option) {
        for (const std::string& name : option.get_lnames()) add(lines, "--" + name, option.get_description());
        for (const std::string& name : option.get_snames()) add(lines, "-" + name, option.get_description());
    }

    std::string offer_argument(const std::string& word) const {
        const auto arguments = arguments_of(*command_);
        if (arguments_ < arguments.size()) return offer_values(*arguments[arguments_], word, "");
        if (!arguments.empty() && may_be_repeated(*arguments.back())) return offer_values(*arguments.back(), word, "");
        return runs_a_program(command_->get_name()) ? offer_options("-") : "words\n";
    }

    std::string offer_values(const CLI::Option& of, const std::string& word, const std::string& before) const {
        const value_rule& rule = rules_.of(&of);
        switch (rule.kind) {
            case rule_kind::trace:
                return "trace\n";
            case rule_kind::file:
                return "file\n";
            case rule_kind::list:
                return offer_list(rule, word, before);
            case rule_kind::word:
            case rule_kind::text:
                break;
        }
        std::string lines = "words\n";
        for (const described_word& each : rule.words) add(lines, before + each.word, each.meaning);
        return lines;
    }

    /// The words that the list lacks, each appended to the list so far.
    static std::string offer_list(const value_rule& rule, const std::string& word, const std::string& before) {
        const std::string begun = word.substr(0, word.rfind(',') + 1);
        std::string lines = "list\n";
        for (const described_word& each : rule.words) {
            if (("," + begun).find("," + each.word + ",") != std::string::npos) continue;
            add(lines, before + begun + each.word, each.meaning);
        }
        return lines;
    }

    const CLI::App& app_;
    const CLI::App* command_;
    const option_rules& rules_;
    const CLI::Option* option_ = nullptr;  // the latest one
    int values_left_ = 0;                  // values that the option still takes
    std::size_t arguments_ = 0;            // seen so far
    bool only_arguments_ = false;          // "--" was seen
    bool program_ = false;                 // the program to record has begun
};

}  // namespace

std::string completion_text(const command_line& line, const std::vector<std::string>& words) {
    if (words.empty()) return "words\n";
    line_parser parser{line};
    std::for_each(words.begin(), words.end() - 1, [&](const std::string& word) { parser.take(word); });
    return parser.offer(words.back());
}

void add_complete_command(command_line& line, const command_context& context) {
    subcommand command{line, "complete", "Tells a shell what can follow on the command line"};
    command.hide_in_help();
    command.footer(
        "After -- come the words behind 'acre', the last one as far as it is written; docs/command.md says how a\n"
        "shell is told to ask.\n\n"
        "Example:\n  acre complete -- record --sta");
    command.runs([&] {
        print(completion_text(line, context.rest));
        return status_success;
    });
}

}  // namespace acre::tool
