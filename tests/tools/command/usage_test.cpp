// Wrong use of each subcommand, and outputs that cannot be written: one sentence, an exit status, no loss of data.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_run.hpp"
#include "conformance/refusal.hpp"
#include "orcs_and_requests.hpp"

namespace {

using namespace acre::test;
namespace fs = std::filesystem;

class usage : public command_run {
protected:
    usage() { orcs_and_requests().write(directory_ / "a.acre"); }

    void write(const char* name, const std::string& content) { std::ofstream{directory_ / name} << content; }

    /// Expects each command that reads the trace to fail with the sentence.
    void expect_refused(const std::string& trace, const std::string& sentence) {
        for (const std::string line :
             {"info ", "advise ", "replay --with arena ", "fit ", "report -o x.html ", "export -o x.csv ",
              "diff a.acre ", "diff --top 3 --json a.acre ", "advise --apply-check a.acre "}) {
            expect_failure(line + trace, 1, sentence);
        }
        expect_failure("diff " + trace + " a.acre", 1, sentence);
        expect_failure("advise --apply-check " + trace + " a.acre", 1, sentence);
    }

    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator{directory_.path()}, {}));
    }
};

TEST_F(usage, other_files_are_refused_by_each_subcommand) {
    write("empty.acre", "");
    write("text.acre", "this is no trace, though it is a file of some length\n");
    fs::create_directory(directory_ / "folder");
    ASSERT_EQ(shell("mkfifo pipe; head -c 20 a.acre > short.acre").status, 0);
    const std::string whole = content_of("a.acre");
    write("newer.acre", whole.substr(0, 8) + "\x7f" + whole.substr(9));
    const std::size_t before = files();
    expect_refused("missing.acre", "cannot read 'missing.acre': No such file or directory");
    expect_refused("a.acre/x", "cannot read 'a.acre/x': Not a directory");
    expect_refused("folder", "cannot read 'folder': it is not a regular file");
    expect_refused("pipe", "cannot read 'pipe': it is not a regular file");
    expect_refused("empty.acre", "'empty.acre' is not a trace: make one with 'acre record'");
    expect_refused("text.acre", "'text.acre' is not a trace: make one with 'acre record'");
    expect_refused("short.acre", "'short.acre' was cut off before its first event: copy it again, or record again");
    expect_refused("newer.acre", "use the acre that recorded it, or record again");
    EXPECT_EQ(files(), before) << "no output was begun";
}

TEST_F(usage, an_unreadable_trace_is_an_error) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
    fs::permissions(directory_ / "a.acre", fs::perms::none);
    expect_failure("info a.acre", 1, "cannot read 'a.acre': Permission denied");
}

TEST_F(usage, finish_takes_what_record_left_behind) {
    write("text", "this is no raw log");
    fs::create_directory(directory_ / "folder");
    expect_failure("finish text -o b.acre", 1, "'text' is not a raw log: name the folder TRACE.raw-XXXXXX");
    expect_failure("finish folder -o b.acre", 1, "name the folder TRACE.raw-XXXXXX that 'acre record' left behind");
    expect_failure("finish missing -o b.acre", 1, "cannot read 'missing'");
    expect_failure("finish text", 2, "--output is required");
    expect_failure("finish text -o text", 1, "name another file with -o");
    EXPECT_EQ(content_of("text"), "this is no raw log");
}

TEST_F(usage, no_output_replaces_the_trace) {
    const std::string trace = content_of("a.acre");
    for (const char* line : {"fit a.acre --for multi_arena --plot a.acre", "fit a.acre --plot ./a.acre",
                             "report a.acre -o a.acre", "export a.acre --format csv -o a.acre"}) {
        expect_failure(line, 1, "is the input: name another file with ");
    }
    EXPECT_EQ(content_of("a.acre"), trace);
}

TEST_F(usage, no_output_replaces_another_recording) {
    fs::copy_file(directory_ / "a.acre", directory_ / "b.acre");
    const std::string recording = content_of("b.acre");
    for (const std::string line : {"fit a.acre --for multi_arena --no-check --plot ", "report a.acre --no-measure -o ",
                                   "export a.acre --format csv -o "}) {
        expect_failure(line + "b.acre", 1, "'b.acre': it is a trace, which only 'acre record' replaces");
    }
    EXPECT_EQ(content_of("b.acre"), recording);
}

TEST_F(usage, numbers_out_of_range_are_refused_with_the_range) {
    const std::pair<const char*, const char*> lines[] = {
        {"info a.acre --top 0", "--top: '0' is not a number from 1 to 1000000"},
        {"info a.acre --top many", "--top: 'many' is not a number from 1 to 1000000"},
        {"info a.acre --top", "--top needs a value: N;"},
        {"diff a.acre a.acre --top -1", "--top: '-1' is not a number from 1 to"},
        {"diff a.acre a.acre --fail-above nan", "--fail-above: 'nan' is not a number from 0 to 1000000000"},
        {"advise a.acre --top 1.5", "--top: '1.5' is not a number from 1 to"},
        {"report a.acre --top 1000001", "--top: '1000001' is not a number from 1 to 1000000"},
        {"replay a.acre --with arena --rounds 100001", "--rounds: '100001' is not a number from 1 to 100000"},
        {"fit a.acre --open 9", "--open: '9' is not a number from 0 to 8"},
        {"fit a.acre --thread -1", "--thread: '-1' is not a number from 0 to 4294967295"},
        {"advise a.acre --run soon", "--run: 'soon' is not a time: write digits, and s, m or h, as in 90s or 5m"},
        {"report a.acre --run 0", "--run: '0' is not a time"},
        {"record --sample 0 -- ls", "--sample: '0' is not a number from 1 to 1000000"}};
    for (const auto& [line, sentence] : lines) expect_failure(line, 2, sentence);
}

TEST_F(usage, unknown_words_are_refused_with_the_known_ones) {
    const std::pair<const char*, const char*> lines[] = {
        {"replay a.acre --with arena --heap dirty", "--heap: 'dirty' is not one of: both, clean, fragmented"},
        {"replay a.acre --with arena --threads 7", "--threads: '7' is not one of: one, recorded"},
        {"record --stacks most -- ls", "--stacks: 'most' is not one of: unwind, fp, caller"},
        {"diff a.acre a.acre --by speed", "--by: 'speed' is not one of: allocations, bytes, peak, never_freed"},
        {"export a.acre -o x --format xml", "--format: 'xml' is not one of: collapsed, csv, dhat, parquet, pprof"},
        {"info a.acre --bogus", "info has no option '--bogus'; see 'acre info --help'"},
        {"info a.acre b.acre", "'b.acre' is one argument too many for info"},
        {"diff a.acre b.acre c.acre", "'c.acre' is one argument too many for diff"}};
    for (const auto& [line, sentence] : lines) expect_failure(line, 2, sentence);
}

TEST_F(usage, outputs_that_cannot_be_written_are_errors) {
    fs::create_directory(directory_ / "folder");
    for (const std::string line : {"report a.acre --no-measure -o ", "export a.acre --format csv -o ",
                                   "fit a.acre --for multi_arena --no-check --plot "}) {
        expect_failure(line + "folder", 1, "cannot write 'folder': it exists and is not a regular file");
        expect_failure(line + "missing/x", 1, "cannot write 'missing/x': No such file or directory");
        expect_failure(line + "a.acre/x", 1, "cannot write 'a.acre/x': Not a directory");
    }
    expect_failure("record -o folder -- true", 1, "cannot write a trace to 'folder': it exists and is not a regular");
    expect_failure("record -o missing/x -- true", 1, "missing': No such file or directory");
    expect_failure("record -o '' -- true", 1, "the trace to write has no name");
}

TEST_F(usage, standard_output_that_cannot_be_written_is_an_error_of_each_subcommand) {
    for (const std::string line :
         {"info a.acre", "diff a.acre a.acre", "diff a.acre a.acre --json", "fit a.acre --for pool", "replay --list",
          "fit a.acre --json --for pool", "advise a.acre --no-measure", "advise a.acre --no-measure --json",
          "report a.acre --no-measure -o -", "export a.acre --format csv -o -", "man", "complete -- ''"}) {
        expect_failure(line + " >/dev/full", 1, "cannot write to standard output: No space left");
        expect_failure(line + " >&-", 1, "cannot write to standard output");
    }
}

/// Only commands that replay start the process for it, and parallel passes can also run one after the other.
TEST_F(usage, commands_that_measure_nothing_start_no_process) {
    if (acre_test::sanitized) GTEST_SKIP() << "a sanitizer opens files of its own, to see which memory there is";
    // The limits on open files leave none for a replay process.
    const std::pair<const char*, const char*> lines[] = {{"6", "report a.acre --no-measure -o b.html"},
                                                         {"6", "report a.acre --no-measure --no-fit -o b.html"},
                                                         {"4", "advise a.acre --no-measure"},
                                                         {"4", "replay --list"},
                                                         {"4", "report --help"}};
    // The parent of this test may have passed open files on.
    const std::string limited =
        "python3 -c 'import os, resource, sys; os.closerange(3, 1024); "
        "resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]),) * 2); os.execv(sys.argv[2], sys.argv[2:])' ";
    for (const auto& [files, line] : lines) {
        const run_result result = shell(limited + files + " '" ACRE_COMMAND "' -q " + line);
        EXPECT_EQ(result.status, 0) << line << result.errors;
        EXPECT_EQ(result.errors, "") << line;
    }
    EXPECT_EQ(acre("-q advise a.acre --no-measure=false").status, 0)
        << "a flag that is not seen early is honoured later";
}

TEST_F(usage, a_report_does_not_fail_for_lack_of_a_thread) {
    if (acre_test::sanitized) GTEST_SKIP() << "a sanitizer needs all of the address space";
    for (int kilobytes = 14'000; kilobytes <= 40'000; kilobytes += 2'000) {
        const run_result result = shell("ulimit -v " + std::to_string(kilobytes) +
                                        "; '" ACRE_COMMAND "' -q report a.acre --no-measure -o b.html");
        EXPECT_EQ(result.errors.find("Resource temporarily"), std::string::npos) << kilobytes;
    }
}

/// With too little memory the program may not start, or the recording cannot be converted; what fails differs from
/// limit to limit. Each failure must be reported, and the recording kept.
TEST_F(usage, recording_with_little_memory_fails_with_a_message_and_keeps_the_log) {
    if (acre_test::sanitized) GTEST_SKIP() << "a sanitizer needs all of the address space";
    for (int kilobytes = 16'000; kilobytes <= 40'000; kilobytes += 3'000) {
        const std::string limited = "ulimit -v " + std::to_string(kilobytes) + "; ";
        if (shell(limited + "'" ACRE_COMMAND "' --version").status != 0) continue;
        const run_result result = shell(limited + "'" ACRE_COMMAND "' -q record -o b.acre -- perl -e 1");
        if (result.status == 0) continue;
        EXPECT_EQ(result.status, 1) << kilobytes << result.errors;
        const std::size_t said = result.errors.rfind("acre: ");
        ASSERT_NE(said, std::string::npos) << kilobytes << result.errors;
        const std::string sentence = result.errors.substr(said);
        EXPECT_NE(sentence.find("memory"), std::string::npos) << kilobytes << sentence;
        EXPECT_NE(sentence.find("ulimit -v"), std::string::npos) << kilobytes << sentence;
        EXPECT_EQ(std::count(sentence.begin(), sentence.end(), '\n'), 1) << kilobytes << sentence;
        if (sentence.find("nothing was recorded") != std::string::npos) continue;
        EXPECT_EQ(acre("-q finish b.acre.raw-* -o c.acre").status, 0) << kilobytes << sentence;
        shell("rm -r b.acre.raw-*");
    }
}

TEST_F(usage, a_reader_that_stops_early_is_no_crash) {
    for (const std::string line : {"info a.acre", "export a.acre --format csv --table events -o -", "replay --list"}) {
        const run_result result = shell("'" ACRE_COMMAND "' " + line + " | head -1");
        EXPECT_EQ(result.status, 0) << line;
        EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << line;
        EXPECT_EQ(result.errors, "") << line;
    }
    // With SIGPIPE ignored, a broken pipe is a failure to write like any other.
    const run_result result = shell("trap '' PIPE; ('" ACRE_COMMAND
                                    "' export a.acre --format csv --table events -o -; echo $? >status) | true");
    EXPECT_EQ(result.errors, "acre: cannot write to standard output: Broken pipe\n");
    EXPECT_EQ(content_of("status"), "1\n");
}

TEST_F(usage, quiet_is_quiet_in_each_subcommand) {
    for (const std::string line :
         {"record -o b.acre -- sh -c :", "info a.acre", "diff a.acre a.acre", "replay a.acre --with arena --rounds 1",
          "fit a.acre --for pool", "advise a.acre --no-measure", "report a.acre --no-measure",
          "export a.acre -o x.csv"}) {
        const run_result result = acre("--quiet " + line);
        EXPECT_EQ(result.status, 0) << line;
        EXPECT_EQ(result.errors, "") << line;
    }
    EXPECT_EQ(acre("report a.acre --no-measure -q").errors, "") << "behind the subcommand as well";
}

/// `script` makes the terminal.
TEST_F(usage, colours_are_for_terminals_that_want_them) {
    if (shell("command -v script").status != 0) GTEST_SKIP() << "there is no script, which makes a terminal";
    const auto on_terminal = [&](const std::string& variables) {
        return shell("env -u NO_COLOR " + variables +
                     R"( script -qec "')" ACRE_COMMAND R"(' info a.acre" /dev/null </dev/null)")
            .output;
    };
    const std::string escape = "\033[";
    EXPECT_NE(on_terminal("TERM=xterm").find(escape), std::string::npos);
    EXPECT_NE(on_terminal("TERM=xterm NO_COLOR=").find(escape), std::string::npos) << "empty is as if not set";
    EXPECT_EQ(on_terminal("TERM=xterm NO_COLOR=1").find(escape), std::string::npos);
    EXPECT_EQ(on_terminal("TERM=dumb").find(escape), std::string::npos);
    EXPECT_EQ(on_terminal("-u TERM").find(escape), std::string::npos);
    EXPECT_EQ(acre("info a.acre").output.find(escape), std::string::npos) << "no terminal";
}

class advise_usage : public usage {
protected:
    /// The run after requests got their arena.
    advise_usage() { orcs_and_requests(false).write(directory_ / "b.acre"); }
};

TEST_F(advise_usage, without_measuring_only_plans) {
    const run_result result = acre("advise --no-measure a.acre --json");
    EXPECT_EQ(result.status, 0) << result.errors;
    const auto json = nlohmann::json::parse(result.output);
    ASSERT_EQ(json["advices"].size(), 2U);
    EXPECT_EQ(json["advices"][0]["candidate"], "arena");
    EXPECT_TRUE(json["advices"][0]["saving"].is_null());
    EXPECT_EQ(json["malloc_ns"], 0);
    EXPECT_EQ(acre("advise --no-measure a.acre --json").output, result.output) << "the same each time";
    EXPECT_NE(acre("advise --no-measure a.acre").output.find("acre::arena"), std::string::npos);
    const std::string explained = acre("advise --no-measure --explain 1 a.acre").output;
    EXPECT_TRUE(explained.starts_with("1. an arena, reset in request")) << explained;
    EXPECT_NE(explained.find("evidence"), std::string::npos) << explained;
    EXPECT_NE(acre("advise --no-measure --explain 9 a.acre").errors.find("there is no recommendation 9"),
              std::string::npos);
}

TEST_F(advise_usage, apply_check_shows_what_was_followed_and_saved) {
    const run_result result = acre("advise --apply-check a.acre b.acre --cpu-before 10 --cpu-after 1 --json");
    EXPECT_EQ(result.status, 0) << result.errors;
    const auto json = nlohmann::json::parse(result.output);
    EXPECT_EQ(json["allocations_before"], 12'000);
    EXPECT_EQ(json["allocations_after"], 2000);
    EXPECT_EQ(json["followed"], 1);
    ASSERT_FALSE(json["advices"].empty());
    EXPECT_EQ(json["advices"][0]["state"], "applied");
    // By a measurement the other one may be left, and is not listed then.
    for (std::size_t i = 1; i < json["advices"].size(); ++i) EXPECT_EQ(json["advices"][i]["state"], "not_applied");
    EXPECT_EQ(json["cpu"]["saved_ns"], 9e9);
    EXPECT_EQ(json["cpu"]["of_recorded_runs"], false);
    EXPECT_TRUE(json["held"].get<bool>());
}

TEST_F(advise_usage, apply_check_wants_one_program) {
    made_trace other;
    other.header.command = {"another", "--fast"};
    const auto only = other.stack({"main", "draw:3"});
    for (int i = 0; i < 100; ++i) other.release(other.allocate(only, 30), only);
    other.write(directory_ / "other.acre");
    const run_result refused = acre("advise --apply-check a.acre other.acre");
    EXPECT_EQ(refused.status, 1);
    EXPECT_NE(refused.errors.find("with no function in common"), std::string::npos) << refused.errors;
    EXPECT_EQ(refused.output, "");
}

TEST_F(advise_usage, apply_check_fails_where_less_was_saved_or_nothing_followed) {
    const run_result slower = acre("advise --apply-check a.acre b.acre --cpu-before 1 --cpu-after 2");
    EXPECT_EQ(slower.status, 1) << slower.output;
    EXPECT_NE(slower.output.find("request"), std::string::npos) << slower.output;
    const run_result same = acre("advise --apply-check --json a.acre a.acre --cpu-before 1 --cpu-after 1");
    EXPECT_EQ(same.status, 1);
    EXPECT_EQ(nlohmann::json::parse(same.output)["followed"], 0);
}

TEST_F(advise_usage, apply_check_takes_two_traces_and_both_times) {
    const std::pair<const char*, const char*> lines[] = {
        {"advise", "FILE, or a program after --, is required"},
        {"advise a.acre -- ./app", "give a trace, or a program after --, and not both"},
        {"advise --apply-check a.acre", "--apply-check takes two traces, BEFORE and AFTER: 1 given"},
        {"advise a.acre --apply-check a.acre b.acre", "--apply-check takes two traces, BEFORE and AFTER: 3 given"},
        {"advise a.acre b.acre", "one trace is advised at a time, and 2 are given: --apply-check compares two"},
        {"advise --apply-check a.acre b.acre --no-measure", "--apply-check excludes --no-measure"},
        {"advise --apply-check a.acre b.acre --cpu-before 1", "--cpu-before requires --cpu-after"},
        {"advise --apply-check a.acre b.acre --cpu-after 1", "--cpu-after requires --cpu-before"},
        {"advise a.acre --cpu-before 1 --cpu-after 1", "requires --apply-check"},
        {"advise --apply-check a.acre b.acre --cpu-before -1 --cpu-after 1",
         "--cpu-before: '-1' is not a number from 0 to"},
        {"advise --apply-check a.acre b.acre --cpu-before 1 --cpu-after nan",
         "--cpu-after: 'nan' is not a number from 0 to"}};
    for (const auto& [line, sentence] : lines) expect_failure(line, 2, sentence);
    auto sample = orcs_and_requests(false);
    sample.header.sampling_period = 100;
    sample.write(directory_ / "sample.acre");
    expect_failure("advise --apply-check a.acre sample.acre", 1,
                   "'sample.acre' is a sample of the allocations: record");
}

}  // namespace
