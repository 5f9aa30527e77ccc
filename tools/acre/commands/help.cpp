#include "help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "command.hpp"
#include "trace/error.hpp"
#include "trace/replacing_file.hpp"

namespace acre::tool {

namespace {

/// Sorted by name: CLI11's own sets are sorted by address.
std::string names_of(const std::set<CLI::Option*>& options) {
    std::vector<std::string> names;
    names.reserve(options.size());
    for (const CLI::Option* each : options) names.push_back(each->get_name());
    std::sort(names.begin(), names.end());
    return fmt::format("{}", fmt::join(names, " and "));
}

std::string conditions_text(const CLI::Option& option) {
    std::vector<std::string> conditions;
    if (option.get_required() && !option.get_positional()) conditions.emplace_back("required");
    if (may_be_repeated(option)) conditions.emplace_back("may be repeated");
    if (!option.get_default_str().empty()) conditions.push_back("default: " + option.get_default_str());
    if (!option.get_needs().empty()) conditions.push_back("requires " + names_of(option.get_needs()));
    if (!option.get_excludes().empty()) conditions.push_back("excludes " + names_of(option.get_excludes()));
    return fmt::format("{}", fmt::join(conditions, "; "));
}

/// The value behind the option in help: "N", "FILE", "BEFORE AFTER"; empty for a flag.
std::string value_text(const CLI::Option& option, const option_rules& rules) {
    return takes_value(option) ? rules.of(&option).name : std::string{};
}

/// The description, followed in brackets by defaults and conditions.
std::string option_text(const CLI::Option& option) {
    const std::string conditions = conditions_text(option);
    return option.get_description() + (conditions.empty() ? "" : " (" + conditions + ")");
}

constexpr std::string_view program_usage = " -- PROGRAM [ARGUMENT...]";

/// Whether the command takes either its arguments or a program, as `acre try` does.
bool has_two_forms(const CLI::App& command) {
    return runs_a_program(command.get_name()) && !arguments_of(command).empty();
}

/// Escapes what groff would interpret.
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

/// Adds a full stop where it is missing.
std::string sentence(const std::string& text) {
    return escaped(text + (text.ends_with('.') ? "" : ".")) + "\n";
}

std::string item(const std::string& title, const std::string& text) {
    return ".TP\n" + title + "\n" + sentence(text);
}

/// Sorts the lines of a command's footer into the sections of its page.
class footer_sections {
public:
    /// General text is appended to the description.
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
    bool paragraph_ = true;  // the next text begins a paragraph
    bool literal_ = false;   // within literal lines
};

std::string option_title(const CLI::Option& option, const option_rules& rules) {
    std::string title;
    const auto add = [&](const std::string& name) { title += (title.empty() ? "" : ", ") + bold(name); };
    for (const std::string& name : option.get_snames()) add("-" + name);
    for (const std::string& name : option.get_lnames()) add("--" + name);
    if (option.get_positional()) return italic(option.get_name(true));
    const std::string value = value_text(option, rules);
    return value.empty() ? title : title + " " + italic(value);
}

std::string option_items(const CLI::App& of, const option_rules& rules) {
    std::string text;
    const auto add = [&](const CLI::Option* each) { text += item(option_title(*each, rules), option_text(*each)); };
    for (const CLI::Option* each : arguments_of(of)) add(each);
    for (const CLI::Option* each : of.get_options()) {
        if (!each->get_positional()) add(each);
    }
    if (of.get_parent() == nullptr) return text;
    for (const CLI::Option* each : common_options(*of.get_parent())) add(each);
    return text;
}

std::string synopsis(const CLI::App& of) {
    const std::string begin = ".B " + escaped("acre" + (of.get_parent() != nullptr ? " " + of.get_name() : "")) +
                              "\n[" + italic("OPTIONS") + "]";
    const bool two_forms = has_two_forms(of);
    std::string text = begin;
    for (const CLI::Option* each : arguments_of(of)) {
        const std::string name = italic(each->get_name(true));
        text += " " + (each->get_required() || two_forms ? name : "[" + name + "]");
    }
    if (of.get_parent() == nullptr) text += " " + italic("SUBCOMMAND");
    if (two_forms) text += "\n.br\n" + begin;
    if (runs_a_program(of.get_name())) text += escaped(program_usage);
    return text + "\n";
}

constexpr std::array<std::pair<const char*, const char*>, 4> exit_statuses{
    {{"0", "Success."},
     {"1", "Failure, also to write the output: a sentence on standard error says why."},
     {"2", "Wrong command line."},
     {"3", "The trace was cut off; the command used its complete part."}}};

constexpr std::array<std::pair<const char*, const char*>, 4> variables{
    {{"NO_COLOR", "If set and not empty, output has no colours, even on a terminal."},
     {"TERM", "The value dumb turns colours and the progress bar off."},
     {"TMPDIR",
      "The folder of temporary files: the events of long traces (advise, plan, replay, report and fit), parts of the "
      "trace that is being made (record and finish), and the output of each run (try, advise --run, report --run and "
      "plan --measure). The default is /var/tmp."},
     {"DEBUGINFOD_URLS",
      "Servers of debug information, as elfutils uses them: record and finish ask them for the names of functions and "
      "source files. If it is not set or empty, none is asked."}}};

std::string items(const auto& pairs) {
    std::string text;
    for (const auto& [title, sentence] : pairs) text += item(bold(title), sentence);
    return text;
}

/// "acre", "acre-record".
std::string manual_name(const CLI::App& page_of) {
    return page_of.get_parent() == nullptr ? page_of.get_name() : "acre-" + page_of.get_name();
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

/// The page in the language of groff and mandoc.
std::string manual_page(const CLI::App& page_of, const option_rules& rules) {
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
        {"OPTIONS", option_items(page_of, rules)},
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

struct man_options {
    std::string page;
    std::string folder;
};

void write_page(const std::filesystem::path& folder, const CLI::App& page_of, const option_rules& rules) {
    write_file(folder / (manual_name(page_of) + ".1"), manual_page(page_of, rules));
}

int run_man(const man_options& options, const CLI::App& app, const option_rules& rules) {
    if (options.folder.empty()) {
        print(manual_page(options.page.empty() ? app : *app.get_subcommand(options.page), rules));
        return status_success;
    }
    std::error_code failed;
    std::filesystem::create_directories(options.folder, failed);
    if (failed) throw tool_error{"cannot make the folder '" + options.folder + "': " + failed.message()};
    write_page(options.folder, app, rules);
    for (const CLI::App* each : shown_subcommands(app)) write_page(options.folder, *each, rules);
    return status_success;
}

}  // namespace

std::vector<const CLI::App*> shown_subcommands(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

std::vector<const CLI::Option*> common_options(const CLI::App& app) {
    return app.get_options(
        [&](const CLI::Option* each) { return each != app.get_help_ptr() && each != app.get_version_ptr(); });
}

std::vector<const CLI::Option*> arguments_of(const CLI::App& command) {
    return command.get_options([](const CLI::Option* each) { return each->get_positional(); });
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() > 0;
}

bool may_be_repeated(const CLI::Option& option) {
    return option.get_expected_max() == CLI::detail::expected_max_vector_size;
}

std::string help_format::make_option_opts(const CLI::Option* option) const {
    const std::string value = option->get_positional() ? "" : value_text(*option, rules_);
    return value.empty() ? value : " " + value;
}

std::string help_format::make_option_desc(const CLI::Option* option) const {
    return option_text(*option);
}

std::string help_format::make_usage(const CLI::App* command, std::string name) const {
    std::string usage = Formatter::make_usage(command, name);
    if (!runs_a_program(command->get_name())) return usage;
    std::string program{program_usage};
    if (has_two_forms(*command)) {
        for (const CLI::Option* each : arguments_of(*command)) {
            const std::size_t begin = usage.find("[" + each->get_name(true));
            if (begin == std::string::npos) continue;
            usage.erase(usage.find(']', begin), 1);
            usage.erase(begin, 1);
        }
        program = "\n       " + name + " [OPTIONS]" + program;
    }
    return usage.insert(usage.find_last_not_of('\n') + 1, program);
}

std::string help_format::make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const {
    if (all_ || app->get_parent() != nullptr) return Formatter::make_subcommands(app, mode);
    std::string text = "\nSubcommands:\n";
    for (const char* each : front_subcommands) text += make_subcommand(app->get_subcommand(each));
    return text;
}

void add_help_command(command_line& line, const command_context&) {
    auto all = std::make_shared<bool>(false);
    auto about = std::make_shared<std::string>();
    subcommand command{line, "help", "Prints this help; with --all, that of all subcommands"};
    command.hide_in_help();
    command.flag("--all", *all, "List all subcommands");
    std::vector<std::string> pages;
    for (const CLI::App* each : shown_subcommands(line.app)) pages.push_back(each->get_name());
    command.one_of("SUBCOMMAND", *about, pages, "The subcommand to explain").default_is("acre itself");
    command.footer("Example:\n  acre help --all");
    command.runs([&line, all, about] {
        if (!about->empty()) {
            print(line.app.get_subcommand(*about)->help("acre"));
            return status_success;
        }
        print(help_format{line.rules, *all}.make_help(&line.app, "acre", CLI::AppFormatMode::Normal));
        return status_success;
    });
}

void add_man_command(command_line& line, const command_context&) {
    auto options = std::make_shared<man_options>();
    subcommand command{line, "man", "Prints the man page of acre or of a subcommand"};
    std::vector<std::string> pages;
    for (const CLI::App* each : shown_subcommands(line.app)) pages.push_back(each->get_name());
    const option page = command.one_of("SUBCOMMAND", options->page, pages, "The subcommand").default_is("acre itself");
    command.folder("--folder", options->folder, "Write all pages into this folder").excludes(page);
    command.footer("Example:\n  acre man record | man -l -");
    command.runs([&line, options] { return run_man(*options, line.app, line.rules); });
}

}  // namespace acre::tool
