#include "manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "command.hpp"
#include "help_format.hpp"

namespace acre::tool {

namespace {

/// A line's text; what has a meaning for groff is shown as it is.
std::string escaped(std::string_view text) {
    std::string result;
    for (const char each : text) {
        switch (each) {
            case '\\':
                result += "\\e";
                break;
            case '-':
                result += "\\-";
                break;
            case '\'':
                result += "\\(aq";
                break;
            case '`':
                result += "\\(ga";
                break;
            case '^':
                result += "\\(ha";
                break;
            case '~':
                result += "\\(ti";
                break;
            default:
                result += each;
        }
    }
    return result.starts_with('.') ? "\\&" + result : result;
}

std::string bold(const std::string& text) {
    return "\\fB" + escaped(text) + "\\fR";
}
std::string italic(const std::string& text) {
    return "\\fI" + escaped(text) + "\\fR";
}

/// With a full stop, where it ends with none.
std::string sentence(const std::string& text) {
    return escaped(text + (text.ends_with('.') ? "" : ".")) + "\n";
}

std::string item(const std::string& title, const std::string& text) {
    return ".TP\n" + title + "\n" + sentence(text);
}

/// What a command's footer says, by the section of the page where it belongs.
class footer_sections {
public:
    /// What it says in general is added to the description.
    footer_sections(std::string description_begun, const std::string& footer)
        : description{std::move(description_begun)} {
        std::istringstream lines{footer};
        for (std::string line; std::getline(lines, line);) add(line);
        end_literal();
    }

    std::string description;
    std::string examples;
    std::string exit_status;

private:
    void add(const std::string& line) {
        if (line.empty() || line == "Examples:" || line == "Example:") {
            end_literal();
            section_ = line.empty() ? &description : &examples;
            paragraph_ = true;
        } else if (line.starts_with("  ")) {
            if (!std::exchange(literal_, true)) *section_ += ".RS 4\n.nf\n";
            *section_ += escaped(std::string_view{line}.substr(2)) + "\n";
        } else {
            end_literal();
            if (line.starts_with("Exit status")) section_ = &exit_status;
            if (std::exchange(paragraph_, false) && !section_->empty()) *section_ += ".PP\n";
            *section_ += escaped(line) + "\n";
        }
    }

    void end_literal() {
        if (std::exchange(literal_, false)) *section_ += ".fi\n.RE\n";
    }

    std::string* section_ = &description;
    bool paragraph_ = true;  // the next text begins one
    bool literal_ = false;   // lines stay as they are
};

std::string option_title(const CLI::Option& option, const option_values& values) {
    std::string title;
    const auto add = [&](const std::string& name) { title += (title.empty() ? "" : ", ") + bold(name); };
    for (const std::string& name : option.get_snames()) add("-" + name);
    for (const std::string& name : option.get_lnames()) add("--" + name);
    if (option.get_positional()) return italic(option.get_name(true));
    const std::string value = value_text(option, values);
    return value.empty() ? title : title + " " + italic(value);
}

std::string option_items(const CLI::App& of, const option_values& values) {
    std::string text;
    const auto add = [&](const CLI::Option* each) { text += item(option_title(*each, values), option_text(*each)); };
    for (const CLI::Option* each : arguments_of(of)) add(each);
    for (const CLI::Option* each : of.get_options()) {
        if (!each->get_positional()) add(each);
    }
    if (of.get_parent() == nullptr) return text;
    for (const CLI::Option* each : common_options(*of.get_parent())) add(each);
    return text;
}

std::string synopsis(const CLI::App& of) {
    std::string text = ".B " + escaped("acre" + (of.get_parent() != nullptr ? " " + of.get_name() : "")) + "\n";
    text += "[" + italic("OPTIONS") + "]";
    for (const CLI::Option* each : arguments_of(of)) {
        const std::string name = italic(each->get_name(true));
        text += " " + (each->get_required() ? name : "[" + name + "]");
    }
    if (of.get_parent() == nullptr) text += " " + italic("SUBCOMMAND");
    return text + escaped(program_usage(of)) + "\n";
}

constexpr std::array<std::pair<const char*, const char*>, 4> exit_statuses{
    {{"0", "It was done."},
     {"1", "It could not be done, or what it printed could not be written: a sentence on standard error says why."},
     {"2", "The command line is wrong."},
     {"3", "The trace was cut off; what is whole of it was used."}}};

constexpr std::array<std::pair<const char*, const char*>, 3> variables{
    {{"NO_COLOR", "When set and not empty, output has no colours, also on a terminal."},
     {"TERM", "On a terminal of the kind dumb there are neither colours nor a progress bar."},
     {"TMPDIR", "Where advise, replay, report and fit keep the events of long traces; without it /var/tmp."}}};

std::string items(const auto& pairs) {
    std::string text;
    for (const auto& [title, sentence] : pairs) text += item(bold(title), sentence);
    return text;
}

std::string subcommand_items(const CLI::App& app) {
    std::string text;
    for (const CLI::App* each : shown_subcommands(app)) {
        text += item("\\fB" + escaped(manual_name(*each)) + "\\fR(1)", each->get_description());
    }
    return text;
}

std::string see_also(const CLI::App& page_of) {
    std::string names;
    const auto add = [&](const CLI::App& other) {
        if (&other != &page_of) names += (names.empty() ? "" : ",\n") + (".BR " + escaped(manual_name(other)) + " (1)");
    };
    const CLI::App& app = page_of.get_parent() != nullptr ? *page_of.get_parent() : page_of;
    add(app);
    for (const CLI::App* each : shown_subcommands(app)) add(*each);
    return names + "\n";
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char each) { return static_cast<char>(std::toupper(each)); });
    return text;
}

}  // namespace

std::string manual_page(const CLI::App& page_of, const option_values& values) {
    const bool is_main = page_of.get_parent() == nullptr;
    const std::string name = manual_name(page_of);
    const footer_sections footer{sentence(page_of.get_description()), page_of.get_footer()};
    const std::string exit_status = is_main ? items(exit_statuses)
                                            : footer.exit_status + (footer.exit_status.empty() ? "" : ".PP\n") +
                                                  "The statuses of all commands are in\n.BR acre (1).\n";
    const std::pair<const char*, std::string> sections[] = {
        {"NAME", escaped(name + " - " + page_of.get_description()) + "\n"},
        {"SYNOPSIS", synopsis(page_of)},
        {"DESCRIPTION", footer.description},
        {"COMMANDS", subcommand_items(page_of)},
        {"OPTIONS", option_items(page_of, values)},
        {"EXIT STATUS", exit_status},
        {"ENVIRONMENT", is_main ? items(variables) : ""},
        {"EXAMPLES", footer.examples},
        {"SEE ALSO", see_also(page_of)}};
    std::string page = fmt::format(".TH \"{}\" 1 \"\" \"acre {}\" \"acre\"\n", escaped(upper(name)), ACRE_VERSION);
    for (const auto& [title, text] : sections) {
        if (!text.empty()) page += fmt::format(".SH {}\n{}", title, text);
    }
    return page;
}

std::string manual_name(const CLI::App& page_of) {
    return page_of.get_parent() == nullptr ? page_of.get_name() : "acre-" + page_of.get_name();
}

}  // namespace acre::tool
