// The installed man pages and the documents describe exactly what the command does.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "command_run.hpp"

namespace {

using namespace acre::test;
namespace fs = std::filesystem;

const std::vector<std::string> subcommands{"record", "finish", "try",  "run",    "info",   "diff", "replay",
                                           "fit",    "advise", "plan", "report", "export", "man"};

std::string file_text(const fs::path& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::string without_escapes(std::string roff) {
    for (const auto& [escape, text] : {std::pair{"\\-", "-"}, {"\\(aq", "'"}}) {
        for (std::size_t at = 0; (at = roff.find(escape, at)) != std::string::npos;) {
            roff.replace(at, std::string_view{escape}.size(), text);
        }
    }
    return roff;
}

class manual : public command_run {
protected:
    /// The options that --help shows; those of `acre` itself for an empty subcommand.
    const std::set<std::string>& options_of(const std::string& subcommand) {
        std::set<std::string>& options = options_[subcommand];
        if (!options.empty()) return options;
        const run_result help = acre(subcommand + " --help");
        EXPECT_EQ(help.status, 0) << "there is no 'acre " << subcommand << "'";
        std::istringstream lines{help.output};
        static const std::regex names{R"(^  (-\w,)?(--[a-z-]+).*)"};
        std::smatch found;
        for (std::string line; std::getline(lines, line);) {
            if (std::regex_match(line, found, names)) options.insert(found[2]);
        }
        return options;
    }

    bool has(const char* program) { return shell("command -v " + std::string{program}).status == 0; }

    /// Runs a checker of man pages, which prints its complaints.
    void expect_no_complaint(const std::string& program, const std::string& filter = "") {
        const run_result result = shell("cd '" ACRE_MANUAL "' && " + program + " *.1 " + filter);
        EXPECT_EQ(result.output + result.errors, "");
    }

private:
    std::map<std::string, std::set<std::string>> options_;
};

TEST_F(manual, has_a_page_for_each_command_with_all_its_options) {
    for (const std::string& each : subcommands) {
        const std::string page = without_escapes(file_text(fs::path{ACRE_MANUAL} / ("acre-" + each + ".1")));
        const auto& options = options_of(each);
        EXPECT_GE(options.size(), 1U) << each;
        for (const std::string& option : options) {
            EXPECT_NE(page.find("\n.TP\n"), std::string::npos);
            EXPECT_NE(page.find("\\fB" + option + "\\fR"), std::string::npos) << option << " of " << each;
        }
        for (const char* section :
             {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"}) {
            EXPECT_NE(page.find(".SH " + std::string{section} + "\n"), std::string::npos) << section << " of " << each;
        }
    }
    const std::string page = without_escapes(file_text(fs::path{ACRE_MANUAL} / "acre.1"));
    const auto pages = std::distance(fs::directory_iterator{ACRE_MANUAL}, {});
    EXPECT_EQ(static_cast<std::size_t>(pages), subcommands.size() + 1);
    for (const std::string& each : subcommands) EXPECT_NE(page.find("acre-" + each), std::string::npos) << each;
    for (const std::string& option : options_of("")) EXPECT_NE(page.find(option), std::string::npos) << option;
}

TEST_F(manual, is_what_the_command_prints) {
    EXPECT_EQ(acre("man").output, file_text(fs::path{ACRE_MANUAL} / "acre.1"));
    EXPECT_EQ(acre("man fit").output, file_text(fs::path{ACRE_MANUAL} / "acre-fit.1"));
    expect_failure("man bogus", 2, "SUBCOMMAND: 'bogus' is not one of: record, finish, try, run, info");
    expect_failure("man fit --folder .", 2, "SUBCOMMAND excludes --folder");
    EXPECT_EQ(acre("man --folder new/one").status, 0);
    EXPECT_EQ(file_text(directory_ / "new/one/acre-fit.1"), acre("man fit").output);
    expect_failure("man --folder new/one/acre.1", 1, "cannot make the folder 'new/one/acre.1'");
}

TEST_F(manual, documents_temporary_files_and_the_folder_option) {
    EXPECT_NE(acre("man").output.find("the events of long traces (advise, plan,"), std::string::npos);
    EXPECT_NE(without_escapes(acre("man man").output).find("\\fB--folder\\fR \\fIFOLDER\\fR"), std::string::npos);
}

TEST_F(manual, shows_the_two_forms_of_try) {
    EXPECT_NE(
        acre("try --help").output.find("acre try [OPTIONS] FILE\n       acre try [OPTIONS] -- PROGRAM [ARGUMENT...]"),
        std::string::npos);
    EXPECT_NE(without_escapes(acre("man try").output)
                  .find(".B acre try\n[\\fIOPTIONS\\fR] \\fIFILE\\fR\n.br\n.B acre try\n[\\fIOPTIONS\\fR] -- PROGRAM"),
              std::string::npos);
}

TEST_F(manual, help_names_all_types_to_fit) {
    const std::string help = acre("fit --help").output;
    const std::string offered = acre("complete -- fit --for ''").output;
    for (const char* name : {"inline_multi_arena", "inline_concurrent_multi_arena", "inline_arena", "object_pool"}) {
        EXPECT_NE(help.find(name + std::string{","}), std::string::npos) << name;
        EXPECT_NE(offered.find(name + std::string{"\t"}), std::string::npos) << name;
    }
}

TEST_F(manual, says_nothing_twice) {
    for (const std::string& each : subcommands) {
        EXPECT_EQ(acre(each + " --help").output.find("may be repeated (may be repeated)"), std::string::npos) << each;
    }
}

TEST_F(manual, is_understood_by_man) {
    if (!has("man")) GTEST_SKIP() << "there is no man";
    expect_no_complaint("LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l", ">/dev/null");
}

TEST_F(manual, is_understood_by_groff) {
    if (!has("groff")) GTEST_SKIP() << "there is no groff";
    expect_no_complaint("groff -man -ww -z");
}

TEST_F(manual, is_understood_by_mandoc) {
    if (!has("mandoc")) GTEST_SKIP() << "there is no mandoc";
    // The pages have no date, so that the same sources give the same pages.
    expect_no_complaint("mandoc -T lint -W warning", "| grep -v 'missing date'");
}

/// What is written in code: in blocks, and between backquotes. A line that goes on behind a backslash is one.
std::vector<std::string> code_in(const std::string& markdown) {
    std::vector<std::string> code;
    std::istringstream lines{std::regex_replace(markdown, std::regex{R"(\\\n)"}, " ")};
    static const std::regex quoted{"`([^`]+)`"};
    bool block = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("```") != std::string::npos) {
            block = !block;
        } else if (block) {
            code.push_back(line.substr(0, line.find(" # ")));
        } else {
            for (std::sregex_iterator each{line.begin(), line.end(), quoted}; each != std::sregex_iterator{}; ++each) {
                code.push_back((*each)[1]);
            }
        }
    }
    return code;
}

struct named_options {
    std::string subcommand;  // empty: none is named
    std::set<std::string> options;
};

/// The subcommands that are run in a line of code, each with the options it is given; what record is to run has its
/// own.
std::vector<named_options> runs_in(const std::string& code) {
    static const std::regex runs{R"((^|[ '"(]|[^.]/)acre( -q| --quiet)? ([a-z]+)([^|;)&]*))"};  // not ../acre, a folder
    static const std::regex option{R"((^|[ \[])(--[a-z][a-z-]*))"};
    std::vector<named_options> found;
    for (std::sregex_iterator run{code.begin(), code.end(), runs}; run != std::sregex_iterator{}; ++run) {
        named_options named{(*run)[3], {}};
        std::string rest = (*run)[4];
        rest = rest.substr(0, rest.find(" -- "));
        for (std::sregex_iterator each{rest.begin(), rest.end(), option}; each != std::sregex_iterator{}; ++each) {
            named.options.insert((*each)[2]);
        }
        found.push_back(named);
    }
    return found;
}

std::vector<fs::path> documents() {
    std::vector<fs::path> files{ACRE_SOURCES "/README.md"};
    for (const auto& file : fs::directory_iterator{ACRE_SOURCES "/docs"}) {
        if (file.path().extension() == ".md") files.push_back(file.path());
    }
    return files;
}

TEST_F(manual, documents_name_options_that_there_are) {
    std::size_t checked = 0;
    for (const fs::path& file : documents()) {
        for (const std::string& code : code_in(file_text(file))) {
            for (const auto& [subcommand, options] : runs_in(code)) {
                const auto& known = options_of(subcommand);
                EXPECT_FALSE(known.empty()) << "acre " << subcommand << " is in " << file;
                const auto& common = options_of("");
                for (const std::string& option : options) {
                    EXPECT_TRUE(known.contains(option) || common.contains(option))
                        << "acre " << subcommand << " has no " << option << " as in " << file;
                    ++checked;
                }
            }
        }
    }
    EXPECT_GT(checked, 40U);
}

TEST_F(manual, documents_name_all_options) {
    std::string all;
    for (const fs::path& file : documents()) {
        for (const std::string& code : code_in(file_text(file))) all += code + "\n";
    }
    for (const std::string& each : subcommands) {
        EXPECT_NE(all.find("acre " + each), std::string::npos) << each;
        for (const std::string& option : options_of(each)) {
            EXPECT_NE(all.find(option), std::string::npos) << option << " of " << each << " is in no document";
        }
    }
}

}  // namespace
