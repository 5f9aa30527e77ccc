// Completion: the answers of acre, and what bash, zsh and fish make of them.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "command_run.hpp"

namespace {

using namespace acre::test;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

/// The lines up to their tabulators.
std::set<std::string> words_of(const std::string& text) {
    std::set<std::string> words;
    for (const std::string& line : lines_of(text)) words.insert(line.substr(0, line.find('\t')));
    return words;
}

using words = std::set<std::string>;

class completion : public command_run {
protected:
    completion() {
        for (const char* name : {"app.acre", "other.txt", "with space.acre"}) std::ofstream{directory_ / name};
        std::filesystem::create_directory(directory_ / "traces");
    }

    std::string answer(const std::string& line) {
        const run_result result = acre("complete -- " + line);
        EXPECT_EQ(result.status, 0) << line;
        EXPECT_EQ(result.errors, "") << line;
        return result.output;
    }

    bool has(const char* program) { return shell("command -v " + std::string{program}).status == 0; }

    /// What bash offers for the last word; the words are split by bash's own rules.
    words in_bash(const std::string& split_words, const std::string& after = "") {
        const run_result result = shell(R"(bash --norc -c 'source ")" ACRE_COMPLETION R"(/acre.bash"; )" + after +
                                        " COMP_WORDS=(acre " + split_words +
                                        R"(); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _acre ")" ACRE_COMMAND
                                        R"(" "" ""; printf "%s\n" "${COMPREPLY[@]}"')");
        EXPECT_EQ(result.errors, "") << split_words;
        return words_of(result.output);
    }

    words in_fish(const std::string& line) {
        const run_result result =
            shell(R"(PATH="$(dirname ')" ACRE_COMMAND R"('):$PATH" fish --no-config -c 'source ")" ACRE_COMPLETION
                  R"(/acre.fish"; complete -C ")" +
                  line + R"("')");
        EXPECT_EQ(result.errors, "") << line;
        return words_of(result.output);
    }

    /// What zsh shows on a terminal when each line is typed and then the tabulator, and the line that is then there in
    /// <>.
    std::string in_zsh(const std::vector<std::string>& lines) {
        std::string arguments = "'" ACRE_COMPLETION "'";
        for (const std::string& line : lines) arguments += " '" + line + "'";
        const run_result result = shell(
            R"(PATH="$(dirname ')" ACRE_COMMAND R"('):$PATH" zsh -f ')" ACRE_TESTS R"(/complete.zsh' )" + arguments);
        EXPECT_EQ(result.status, 0) << result.errors;
        EXPECT_EQ(result.errors, "");
        return result.output;
    }
};

TEST_F(completion, offers_subcommands_and_options_with_descriptions) {
    const std::string subcommands = answer("''");
    EXPECT_TRUE(subcommands.starts_with("words\nrecord\tRuns a program"));
    EXPECT_EQ(words_of(subcommands), (words{"words", "record", "finish", "try", "run", "info", "diff", "replay", "fit",
                                            "advise", "plan", "report", "export", "man"}));
    EXPECT_EQ(words_of(answer("man ''")), words_of(subcommands));
    const words of_info = words_of(answer("info -"));
    for (const char* option : {"--top", "--json", "--help", "-h", "--quiet", "-q"}) {
        EXPECT_TRUE(of_info.contains(option)) << option;
    }
    EXPECT_FALSE(of_info.contains("--version"));
    EXPECT_TRUE(words_of(answer("--quiet -")).contains("--version"));
}

TEST_F(completion, offers_the_values_of_options) {
    EXPECT_EQ(answer("record --stacks ''"), "words\nunwind\t\nfp\t\ncaller\t\n");
    EXPECT_EQ(answer("record --stacks=f"), "words\n--stacks=unwind\t\n--stacks=fp\t\n--stacks=caller\t\n");
    EXPECT_TRUE(words_of(answer("diff --by ''")).contains("never_freed"));
    EXPECT_TRUE(words_of(answer("export --format ''")).contains("pprof"));
    EXPECT_TRUE(words_of(answer("replay --threads ''")).contains("recorded"));
    const words first = words_of(answer("replay --with ''"));
    for (const char* name : {"list", "multi_arena", "mimalloc", "peers"}) EXPECT_TRUE(first.contains(name)) << name;
    const words further = words_of(answer("replay --with arena,m"));
    EXPECT_TRUE(further.contains("arena,multi_arena"));
    EXPECT_FALSE(further.contains("arena,arena")) << "it is there already";
    EXPECT_TRUE(words_of(answer("fit --for=pool,")).contains("--for=pool,arena"));
}

/// Completion offers only values that the option accepts.
TEST_F(completion, offers_no_value_that_is_refused) {
    for (const char* option : {"record --stacks", "diff --by", "export --format", "export --table", "export --weight",
                               "replay --heap", "replay --threads", "replay --with", "fit --for"}) {
        const std::vector<std::string> values = lines_of(answer(option + std::string{" ''"}));
        EXPECT_GT(values.size(), 2U) << option;
        for (std::size_t i = 1; i < values.size(); ++i) {
            const std::string value = values[i].substr(0, values[i].find('\t'));
            const std::string errors = acre(option + (" " + value) + " missing").errors;
            for (const char* refusal : {"is not one of", "there is no"}) {
                EXPECT_EQ(errors.find(refusal), std::string::npos) << errors;
            }
        }
    }
}

TEST_F(completion, knows_where_files_stand) {
    for (const char* line : {"info ''", "info --top 3 ''", "diff a.acre ''", "advise --apply-check a.acre ''",
                             "info -- -x", "record -o ''", "replay --with arena ''", "-q report ''"}) {
        EXPECT_EQ(answer(line), "trace\n") << line;
    }
    for (const char* line : {"export -o ''", "export --output=x", "report --fit ''", "fit --plot x", "finish ''"}) {
        EXPECT_EQ(answer(line), "file\n") << line;
    }
    for (const char* line : {"info a.acre ''", "fit --function ''", "info --top ''", "bogus", "info --bogus=x"}) {
        EXPECT_TRUE(answer(line).starts_with("words\n")) << line;
    }
}

TEST_F(completion, leaves_the_program_to_record_to_the_shell) {
    for (const char* line : {"record -- ''", "record -o x.acre -- ls --all", "-q record -- ls -- --x"}) {
        EXPECT_EQ(answer(line), "program\n") << line;
    }
    EXPECT_TRUE(words_of(answer("record ''")).contains("--"));
    EXPECT_TRUE(answer("record -o -- ''").starts_with("words\n")) << "that is the name of the trace";
}

TEST_F(completion, in_bash) {
    if (!has("bash")) GTEST_SKIP() << "there is no bash";
    EXPECT_EQ(in_bash("re"), (words{"record", "replay", "report"}));
    EXPECT_EQ(in_bash("record --st"), words{"--stacks"});
    EXPECT_EQ(in_bash("record --stacks \"\""), (words{"unwind", "fp", "caller"}));
    EXPECT_EQ(in_bash("record --stacks = u"), words{"unwind"}) << "as bash splits --stacks=u";
    EXPECT_EQ(in_bash("record --stacks ="), (words{"unwind", "fp", "caller"}));
    EXPECT_EQ(in_bash("replay --with arena,multi_p"), words{"arena,multi_pool"});
    EXPECT_EQ(in_bash("info \"\""), (words{"app.acre", "traces", "with space.acre"}));
    EXPECT_EQ(in_bash("info o"), words{"other.txt"}) << "where there is no trace";
    EXPECT_EQ(in_bash("report --fit = ot"), words{"other.txt"});
    EXPECT_TRUE(in_bash("record -- ech").contains("echo"));
    EXPECT_EQ(in_bash("record -- cat ot"), words{"other.txt"});
    EXPECT_EQ(in_bash("record -- cat ot", "_command_offset() { COMPREPLY=(\"word $1\"); };"), words{"word 3"})
        << "what bash-completion knows of the program";
}

TEST_F(completion, in_fish) {
    if (!has("fish")) GTEST_SKIP() << "there is no fish";
    EXPECT_EQ(in_fish("acre re"), (words{"record", "replay", "report"}));
    EXPECT_TRUE(in_fish("acre record --s").contains("--stacks"));
    EXPECT_EQ(in_fish("acre record --stacks "), (words{"unwind", "fp", "caller"}));
    EXPECT_EQ(in_fish("acre record --stacks=u"), words{"--stacks=unwind"});
    EXPECT_EQ(in_fish("acre replay --with arena,multi_p"), words{"arena,multi_pool"});
    EXPECT_TRUE(in_fish("acre info a").contains("app.acre"));
    EXPECT_TRUE(in_fish("acre info o").contains("other.txt"));
    EXPECT_TRUE(in_fish("acre report --fit=ot").contains("--fit=other.txt"));
    EXPECT_TRUE(in_fish("acre record -- ech").contains("echo"));
    EXPECT_TRUE(in_fish("acre record -- cat ot").contains("other.txt"));
}

TEST_F(completion, in_zsh) {
    if (!has("zsh")) GTEST_SKIP() << "there is no zsh";
    const std::string shown =
        in_zsh({"acre adv", "acre re", "acre record --stacks=u", "acre replay --with arena,multi_p", "acre info a",
                "acre info o", "acre report --fit=ot", "acre record -- cat ot"});
    for (const char* part :
         {"<acre advise >", "record", "replay", "report", "Runs a program", "<acre re>",
          "<acre record --stacks=unwind >", "<acre replay --with arena,multi_pool>", "<acre info app.acre >",
          "<acre info other.txt >", "<acre report --fit=other.txt >", "<acre record -- cat other.txt >"}) {
        EXPECT_NE(shown.find(part), std::string::npos) << part << " in " << shown;
    }
}

}  // namespace
