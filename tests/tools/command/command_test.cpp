// The command: its output and its exit status.
#include <gtest/gtest.h>

#include <acre/core/sanitizer.hpp>

#include <fstream>
#include <nlohmann/json.hpp>

#include "command_run.hpp"
#include "conformance/refusal.hpp"
#include "orcs_and_requests.hpp"
#include "tools/support/hostile_trace.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/random_trace.hpp"

namespace {

using namespace acre::test;

class command : public command_run {
protected:
    /// The data in the page of a report.
    static nlohmann::json data_in(const std::string& page) {
        const std::string begin = R"(id="data">)";
        const std::size_t from = page.find(begin) + begin.size();
        return nlohmann::json::parse(page.substr(from, page.find('<', from) - from), nullptr, false);
    }

    std::filesystem::path write_trace() { return orcs_and_requests().write(directory_ / "a.acre"); }

    /// What a command says on standard error where no file may grow, and its status.
    std::string within_file_size_limit(const std::string& command_line) {
        return shell("(ulimit -f 0; " + command_line + "; echo status $? >&2) 2>&1 | cat").output;
    }

    /// A trace that lacks half of its last chunk of events.
    void write_cut_trace() {
        const auto path = random_trace(2, 100'000).write(directory_ / "cut.acre");
        std::filesystem::resize_file(path, std::filesystem::file_size(path) * 9 / 10);
    }
};

TEST_F(command, says_its_version_and_its_help) {
    EXPECT_EQ(acre("--version").output.substr(0, 5), "acre ");
    for (const char* what :
         {"--help", "record --help", "finish --help", "info --help", "diff --help", "replay --help", "fit --help",
          "advise --help", "plan --help", "report --help", "export --help", "man --help"}) {
        const run_result result = acre(what);
        EXPECT_EQ(result.status, 0) << what;
        EXPECT_NE(result.output.find("Example"), std::string::npos) << what;
        EXPECT_EQ(result.errors, "") << what;
    }
}

TEST_F(command, wrong_usage_is_status_2) {
    write_trace();
    expect_failure("", 2, "name a subcommand: record, finish, try, run, info,");
    expect_failure(
        "inform a.acre", 2,
        "there is no subcommand 'inform': there are record, finish, try, run, info, diff, replay, fit, advise, "
        "plan, report, export, man;");
    EXPECT_NE(acre("help --all").output.find("\n  man "), std::string::npos);
    expect_failure("--bogus", 2, "there is no option '--bogus'");
    expect_failure("info", 2, "FILE is required; see 'acre info --help'");
    expect_failure("info a.acre --top many", 2, "top");
    expect_failure("info a.acre --bogus", 2, "bogus");
    expect_failure("replay a.acre", 2, "with");
    expect_failure("replay a.acre --with arena --rounds 0", 2, "rounds");
    expect_failure("replay a.acre --with arena --events 0", 2, "events");
    for (const char* size : {"0", "much", "4X"}) {
        expect_failure(std::string{"replay a.acre --with arena --memory "} + size, 2, "is not a size: write digits");
    }
    expect_failure("advise a.acre --top -3", 2, "--top");
    expect_failure("report", 2, "FILE is required; see 'acre report --help'");
    expect_failure("report a.acre --top 0", 2, "--top");
    expect_failure("report a.acre --stdin b", 2, "--run");
    expect_failure("fit a.acre --for arena,heap", 2, "there is no 'heap' to fit: there are all, multi_arena");
    expect_failure("fit a.acre --open 9", 2, "open");
    for (const char* sizes : {"..", "a..b", "9..3", "16-32"}) {
        expect_failure(std::string{"fit a.acre --sizes "} + sizes, 2, "is not a range of sizes");
    }
    expect_failure("info a.acre --top 0", 2, "--top");
    expect_failure("info a.acre --top 99999999999999999999999", 2, "--top");
    expect_failure("record", 2, "program");
    expect_failure("record -o b.acre ls", 2, "'ls' is not an option of record: the program comes after --");
    for (const char* size :
         {"-1", "0", "1", "255K", "1.5M", "99999999999999999999", "17000000T", "many", "1M2", "''"}) {
        expect_failure(std::string{"record -o b.acre --limit "} + size + " -- ls", 2,
                       "is not a size of 256 KiB or more");
    }
}

TEST_F(command, record_refuses_wrong_values_of_options) {
    expect_failure("record --stacks most -- ls", 2, "--stacks");
    for (const char* period : {"0", "-1", "many", "10000000"}) {
        expect_failure(std::string{"record --sample "} + period + " -- ls", 2, "--sample");
    }
    for (const char* signal : {"KILL", "SEGV", "TERM", "12", "RTMIN+99", "RTMIN+", "''"}) {
        expect_failure(std::string{"record --toggle-signal "} + signal + " -- ls", 2,
                       "is not a signal that can pause a recording: USR1, USR2, or RTMIN+0 to RTMIN+");
    }
    expect_failure("record -o --children -- ls", 2, "looks like an option: write ./--children");
}

TEST_F(command, record_of_nothing_ends_with_the_programs_status) {
    const std::string options = "-q record --paused -o b.acre ";
    const run_result never = acre(options + "-- sh -c 'exit 7'");
    EXPECT_EQ(never.status, 7);
    EXPECT_NE(never.errors.find("acre: wrote no trace, since nothing was recorded: 'sh' ended with status 7 before its "
                                "recording was resumed: name a --toggle-signal"),
              std::string::npos)
        << never.errors;
    const run_result without_signal = acre(options + "--toggle-signal SIGUSR1 -- true");
    EXPECT_EQ(without_signal.status, 0);
    EXPECT_NE(without_signal.errors.find("send it the signal"), std::string::npos) << without_signal.errors;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "b.acre"));
}

TEST_F(command, the_allocator_of_the_program_is_named) {
    made_trace made;
    made.release(made.allocate(0, 64), 0);
    made.header.allocator = "jemalloc (libjemalloc.so.2)";
    made.write(directory_ / "a.acre");
    EXPECT_EQ(nlohmann::json::parse(acre("info --json a.acre").output)["allocator"], "jemalloc (libjemalloc.so.2)");
    EXPECT_NE(acre("info a.acre").output.find("jemalloc (libjemalloc.so.2)"), std::string::npos);
    const std::string remark =
        "the program used the malloc of jemalloc (libjemalloc.so.2); the comparison is with glibc's";
    EXPECT_NE(acre("advise --no-measure a.acre").errors.find(remark), std::string::npos);
    EXPECT_NE(acre("replay a.acre --with arena --rounds 1").errors.find(remark), std::string::npos);
}

TEST_F(command, a_sample_is_shown_as_an_estimate_and_not_replayed) {
    made_trace made;
    made.header.sampling_period = 50;
    made.header.stacks = stack_method::caller;
    const auto stack = made.stack({"main:1"});
    made.release(made.allocate(stack, 64), stack);
    made.allocate(stack, 64);
    made.write(directory_ / "a.acre");
    const auto shown = nlohmann::json::parse(acre("info --json a.acre").output);
    EXPECT_EQ(shown["sampling_period"], 50);
    EXPECT_EQ(shown["stacks"], "caller");
    EXPECT_EQ(shown["events"], 3);
    EXPECT_EQ(shown["allocations"], 100);
    EXPECT_EQ(shown["frees"], 50);
    EXPECT_EQ(shown["bytes"], 6400);
    EXPECT_EQ(shown["peak_bytes"], 3200);
    EXPECT_EQ(shown["never_freed"]["count"], 50);
    EXPECT_EQ(shown["sites"][0]["allocations"], 100);
    EXPECT_NE(acre("info a.acre").output.find("one allocation in 50 on average"), std::string::npos);
    expect_failure("replay a.acre --with arena", 1, "is sampled");
}

TEST_F(command, export_knows_the_format_by_the_name) {
    write_trace();
    const std::pair<const char*, const char*> beginnings[] = {
        {"x.csv", "run,host,"}, {"x.collapsed", "main;"}, {"x.folded", "main;"},  {"x.dhat.json", "{\"dhatFileVersion"},
        {"x.dhat", "{\"dhat"},  {"x.pb.gz", "\x1f\x8b"},  {"x.pprof", "\x1f\x8b"}};
    for (const auto& [name, beginning] : beginnings) {
        const run_result result = acre(std::string{"export a.acre -o "} + name);
        EXPECT_EQ(result.status, 0) << result.errors;
        EXPECT_EQ(result.output + result.errors, "") << name;
        EXPECT_TRUE(shell(std::string{"cat "} + name).output.starts_with(beginning)) << name;
    }
    for (const char* output : {"new/folder/", "folder --format parquet", "x.parquet --table sites"}) {
        EXPECT_EQ(acre(std::string{"export a.acre -o "} + output).status, 0) << output;
    }
    for (const char* file :
         {"new/folder/events.parquet", "folder/sites.parquet", "folder/stacks.parquet", "x.parquet"}) {
        EXPECT_TRUE(shell(std::string{"cat "} + file).output.starts_with("PAR1")) << file;
    }
}

TEST_F(command, export_writes_to_standard_output) {
    write_trace();
    EXPECT_EQ(acre("export a.acre -o - --format collapsed --weight allocations").output,
              "main;spawn;operator new(unsigned long) 2000\nmain;request;copy 10000\n");
    EXPECT_TRUE(acre("export a.acre -o - --format parquet --table events").output.ends_with("PAR1"));
    EXPECT_EQ(acre("export a.acre -o - --format csv --table events | wc -l").output, "23952\n");
    expect_failure("export a.acre -o - --format csv >/dev/full", 1, "cannot write to standard output: No space left");
    expect_failure("export a.acre -o - --format pprof >&-", 1, "cannot write to standard output");
}

TEST_F(command, export_refuses_options_that_do_not_fit) {
    write_trace();
    expect_failure("export a.acre", 2, "--output is required");
    expect_failure("export a.acre -o x.txt", 2,
                   "the file name extension of 'x.txt' does not tell the format: name it with --format");
    expect_failure("export a.acre -o x.csv --format nonsense", 2, "nonsense");
    expect_failure("export a.acre -o x.csv --table nonsense", 2, "nonsense");
    expect_failure("export a.acre -o x.collapsed --table sites", 2, "--table needs --format parquet or csv");
    expect_failure("export a.acre -o x.csv --weight peak", 2, "--weight needs --format collapsed");
    expect_failure("export a.acre -o x.parquet", 2, "say which with --table, or name a folder");
    expect_failure("export a.acre -o - --format parquet", 2, "say which with --table, or name a folder");
    expect_failure("export a.acre -o run/ --table sites", 2,
                   "--table writes one file, and 'run/' is a folder: name a file, or leave --table out");
    expect_failure("export a.acre -o run/ --table", 2, "--table needs a value: events|sites|stacks;");
    expect_failure("export a.acre -o run/ --format csv", 2, "only parquet is written as a folder");
    expect_failure("export a.acre -o a.acre --format csv", 1, "is the input");
    expect_failure("export missing.acre -o x.csv", 1, "missing.acre");
    expect_failure("export a.acre -o missing/x.csv", 1, "cannot write 'missing/x.csv'");
    expect_failure("export a.acre -o a.acre/", 1, "cannot make the folder 'a.acre/': ");
    expect_failure("export a.acre -o . --format csv", 1, "not a regular file");
    EXPECT_EQ(shell("ls").output, "a.acre\nerrors\n") << "nothing is left behind";
}

TEST_F(command, export_leaves_nothing_half_written) {
    random_trace(3, 300'000).write(directory_ / "a.acre");
    std::ofstream{directory_ / "x.csv"} << "precious";
    const std::string limited = "ulimit -f 100; '" ACRE_COMMAND "' export a.acre -o ";
    for (const char* output : {"x.csv --table events", "folder/", "x.parquet --table events"}) {
        const run_result result = shell(limited + output);
        EXPECT_EQ(result.status, 1) << output;
        EXPECT_NE(result.errors.find("it reached the file size limit: raise it with 'ulimit -f unlimited'"),
                  std::string::npos)
            << result.errors;
    }
    EXPECT_EQ(shell("cat x.csv").output, "precious");
    EXPECT_EQ(shell("ls").output, "a.acre\nerrors\nx.csv\n");
}

// SIGXFSZ would end the command.
TEST_F(command, no_output_beyond_the_file_size_limit_kills) {
    write_trace();
    for (const char* what :
         {"info a.acre >out", "advise --no-measure a.acre >out", "fit a.acre --for pool >out", "man info >out",
          "fit a.acre --for multi_arena --plot front.svg", "report a.acre --no-measure --no-fit -o a.html",
          "export a.acre -o - --format csv >out", "export a.acre -o a.pb.gz", "replay --list >out"}) {
        const std::string said = within_file_size_limit("'" ACRE_COMMAND "' " + std::string{what});
        EXPECT_TRUE(said.starts_with("acre: cannot write ")) << what << said;
        EXPECT_TRUE(said.ends_with("it reached the file size limit: raise it with 'ulimit -f unlimited'\nstatus 1\n"))
            << what << said;
    }
}

// The program ends as it does alone, and the recorder has a sentence of its own.
TEST_F(command, a_recording_beyond_the_file_size_limit_says_so) {
    const std::string program = "sh -c 'trap \"\" XFSZ; echo a >file || exit 7'";
    EXPECT_TRUE(within_file_size_limit(program).ends_with("status 7\n"));
    const std::string said = within_file_size_limit("'" ACRE_COMMAND "' record -o b.acre -- " + program);
    EXPECT_NE(said.find("'sh' ended with status 7"), std::string::npos) << said;
    EXPECT_NE(said.find("raise it with 'ulimit -f unlimited'"), std::string::npos) << said;
    const std::string killed = within_file_size_limit("'" ACRE_COMMAND "' record -o b.acre -- sh -c 'echo a >file; :'");
    EXPECT_NE(killed.find("'sh' ended with status 153"), std::string::npos) << killed << " of SIGXFSZ";
}

TEST_F(command, a_trace_is_not_written_to_standard_output) {
    write_trace();
    expect_failure("record -o - -- true", 2, "a trace cannot be written to standard output: name a file with -o");
    expect_failure("finish a.acre -o -", 2, "a trace cannot be written to standard output: name a file with -o");
    expect_failure("fit a.acre --plot -", 2, "name a file for the picture");
    EXPECT_NE(acre("report a.acre --no-measure --no-fit -o -").output.find("<html"), std::string::npos);
    EXPECT_EQ(shell("ls").output, "a.acre\nerrors\n");
}

// /proc tells acre where its recorder is.
TEST_F(command, records_without_proc) {
    if (acre_test::sanitized) GTEST_SKIP() << "a sanitizer needs /proc";
    if (shell("unshare -m umount -l /proc").status != 0) GTEST_SKIP() << "this process may not unmount /proc";
    const run_result result =
        shell("unshare -m sh -c 'umount -l /proc; exec \"$@\"' sh '" ACRE_COMMAND "' record -o b.acre -- ls");
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_EQ(acre("info b.acre").status, 0);
}

TEST_F(command, export_of_a_cut_off_trace_has_its_complete_part) {
    write_cut_trace();
    for (const char* output : {"x.csv --table events", "x.pb.gz", "x.collapsed", "x.dhat", "folder/"}) {
        const run_result result = acre(std::string{"export cut.acre -o "} + output);
        EXPECT_EQ(result.status, 3) << output;
        EXPECT_NE(result.errors.find("65,536 events are complete"), std::string::npos) << result.errors;
    }
    EXPECT_EQ(shell("wc -l < x.csv").output, "65537\n");
    EXPECT_NE(acre("export cut.acre -o - --format csv").output.find(",false,"), std::string::npos) << "not complete";
}

TEST_F(command, export_says_that_a_sampled_trace_is_scaled) {
    made_trace made;
    made.allocate(made.stack({"main:1"}), 8);
    made.header.sampling_period = 50;
    made.write(directory_ / "a.acre");
    const run_result result = acre("export a.acre -o - --format collapsed");
    EXPECT_EQ(result.output, "main 400\n");
    EXPECT_EQ(
        result.errors,
        "acre: one allocation in 50 was recorded: figures are scaled to all, events are those that were recorded\n");
    EXPECT_EQ(acre("export -q a.acre -o - --format collapsed").errors, "");
}

TEST_F(command, sizes_have_units) {
    for (const char* size : {"300000", "256k", "1M", "2MB", "1GiB", "1T"}) {
        EXPECT_EQ(acre(std::string{"record --limit "} + size + " -o b.acre -- sh -c true").status, 0) << size;
    }
}

TEST_F(command, messages_that_cannot_be_written_change_no_status) {
    write_trace();
    for (const char* closed : {" 2>&-", " 2>/dev/full"}) {
        EXPECT_EQ(acre(std::string{"info missing.acre"} + closed).status, 1) << closed;
        EXPECT_EQ(acre(std::string{"bogus"} + closed).status, 2) << closed;
        EXPECT_EQ(acre(std::string{"record -o b.acre -- sh -c 'exit 7'"} + closed).status, 7) << closed;
        EXPECT_EQ(acre("info b.acre").status, 0) << closed;
    }
}

TEST_F(command, output_that_cannot_be_written_is_a_failure) {
    write_trace();
    for (const char* what : {"info a.acre", "info a.acre --json", "advise a.acre --no-measure", "--help", "info --help",
                             "--version", "replay a.acre --with arena --rounds 1 --json"}) {
        expect_failure(std::string{what} + " >/dev/full", 1, "cannot write to standard output: No space left");
        expect_failure(std::string{what} + " >&-", 1, "cannot write to standard output");
    }
}

TEST_F(command, names_that_begin_with_a_hyphen_come_after_two) {
    std::filesystem::rename(write_trace(), directory_ / "-a.acre");
    EXPECT_EQ(acre("info -- -a.acre").status, 0);
}

TEST_F(command, failures_are_status_1) {
    write_trace();
    std::ofstream{directory_ / "text"} << "this is no trace, though it is a file of some length\n";
    for (const char* name : {"info", "advise", "replay --with arena", "report"}) {
        expect_failure(std::string{name} + " missing.acre", 1, "missing.acre");
        expect_failure(std::string{name} + " text", 1, "not a trace");
        expect_failure(std::string{name} + " .", 1, "not a regular file");
    }
    expect_failure("replay a.acre --with arena,nonsense", 2, "known are system, new_delete");
    expect_failure("record -o b.acre -- ./no-such-program", 1, "no-such-program");
    EXPECT_FALSE(std::filesystem::exists(directory_ / "b.acre"));
    expect_failure("record -o '' -- true", 1, "the trace to write has no name");
    for (const char* names : {"''", "arena,", ",arena", "arena,,pool", "' '"}) {
        expect_failure(std::string{"replay a.acre --with "} + names, 2, "known are system, new_delete");
    }
    expect_failure("finish no-such-log -o b.acre", 1, "no-such-log");
}

TEST_F(command, info_prints_an_object) {
    write_trace();
    const run_result result = acre("info a.acre --json --top 1");
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.errors, "");
    const auto json = nlohmann::json::parse(result.output);
    EXPECT_EQ(json["allocations"], 12'000);
    EXPECT_EQ(json["frees"], 10'000 + 1951);
    EXPECT_EQ(json["events"], 12'000 + 10'000 + 1951);
    EXPECT_EQ(json["threads"], 1);
    EXPECT_EQ(json["bytes"], 2000 * 64 + 2000 * (5 * 20 + 10 * 30));
    EXPECT_EQ(json["peak_bytes"], 50 * 64 + 5 * 20 + 10 * 30);
    EXPECT_EQ(json["never_freed"]["count"], 49);
    EXPECT_EQ(json["missing"], "");
    ASSERT_EQ(json["sites"].size(), 1U);
    EXPECT_EQ(json["sites"][0]["function"], "copy");
    EXPECT_EQ(json["sites"][0]["file"], "made.cpp");
    EXPECT_EQ(json["sites"][0]["line"], 1);
}

TEST_F(command, names_cannot_command_the_terminal) {
    made_trace made;
    const auto evil = made.stack({"main", "evil\x1b[31m\rname"});
    for (int i = 0; i < 100; ++i) made.allocate(evil, 10);
    made.header.command = {"./evil\x1b]0;title\x07"};
    made.write(directory_ / "evil.acre");
    for (const char* arguments :
         {"info evil.acre", "advise --no-measure evil.acre", "advise --all --no-measure evil.acre",
          "diff evil.acre evil.acre", "fit evil.acre --function 'evil?[31m?name'",
          "replay evil.acre --with pool --rounds 1"}) {
        const run_result shown = acre(arguments);
        EXPECT_EQ(shown.status, 0) << shown.errors;
        EXPECT_NE(shown.output, "") << arguments;
        const std::string all = shown.output + shown.errors;
        EXPECT_EQ(all.find_first_of("\x1b\r\x07"), std::string::npos) << arguments << all;
    }
    EXPECT_NE(acre("info evil.acre").output.find("evil?[31m?name"), std::string::npos);
}

// C1 controls as UTF-8 and as bytes, and characters that change the direction or the line.
TEST_F(command, no_character_of_a_trace_commands_the_terminal_or_the_page) {
    const std::string evil = "e\u009b31m\x9b\x7f\u0085\u202e\u2066\u200f\u061c\u2028vil";
    made_trace made;
    const auto stack = made.stack({"main" + evil, evil});
    for (int i = 0; i < 100; ++i) made.release(made.allocate(stack, 10), stack);
    for (auto& frame : made.tables.frames) {
        for (auto& location : frame.locations) location.file = evil + ".cpp";
    }
    made.tables.modules.push_back({"/" + evil, evil, 0});
    made.header.command = {"./" + evil};
    made.header.machine = evil;
    made.header.date = evil;
    made.header.notes = {evil, "a\x1b[2J\nb"};
    made.write(directory_ / "evil.acre");
    const char* const commands[] = {"info evil.acre",
                                    "info --json evil.acre",
                                    "advise --no-measure evil.acre",
                                    "advise --all --no-measure evil.acre",
                                    "advise --no-measure --json evil.acre",
                                    "fit evil.acre",
                                    "fit --json evil.acre",
                                    "diff evil.acre evil.acre",
                                    "diff --json evil.acre evil.acre",
                                    "replay evil.acre --with pool --rounds 1",
                                    "export evil.acre -o - --format csv",
                                    "export evil.acre -o - --format csv --table stacks",
                                    "export evil.acre -o - --format collapsed",
                                    "export evil.acre -o - --format dhat",
                                    "report evil.acre --no-measure -o -"};
    for (const char* arguments : commands) {
        const run_result shown = acre(arguments);
        EXPECT_EQ(shown.status, 0) << arguments << shown.errors;
        const std::string all = shown.output + shown.errors;
        for (const char* bad :
             {"\x1b[2J", "\x7f", "\u0085", "\u009b", "\u202e", "\u2066", "\u200f", "\u061c", "\u2028"}) {
            EXPECT_EQ(all.find(bad), std::string::npos) << arguments << " prints " << testing::PrintToString(bad);
        }
        EXPECT_EQ(all.find("\x9b"
                           "\x7f"),
                  std::string::npos);
    }
    const auto json = nlohmann::json::parse(acre("info --json evil.acre").output);
    EXPECT_EQ(json["command"][0], "./e\u009b31m\ufffd\x7f\u0085\u202e\u2066\u200f\u061c\u2028vil") << "JSON is exact";
    const auto page = data_in(acre("report evil.acre --no-measure -o -").output);
    EXPECT_EQ(page["info"]["command"][0], "./e?31m\ufffd???????vil");
}

TEST_F(command, names_on_the_command_line_come_back_without_control_characters) {
    write_trace();
    const std::string evil = "\"$(printf 'a\\nb\\033[31m')\"";
    expect_failure("info " + evil, 1, "cannot read 'a?b?[31m'");
    expect_failure("info --bogus" + evil + " a.acre", 2, "info has no option '--bogusa?b?[31m'");
    expect_failure(evil, 2, "there is no subcommand 'a?b?[31m'");
    expect_failure("record -- " + evil, 1, "a?b?[31m");
    expect_failure("info --top " + evil + " a.acre", 2, "--top: 'a?b?[31m' is not a number");
    EXPECT_EQ(acre("report a.acre --no-measure -o " + evil).errors, "acre: wrote 'a?b?[31m': open it in a browser\n");
    const run_result compared = shell("cp a.acre " + evil + " && '" ACRE_COMMAND "' diff a.acre " + evil);
    EXPECT_NE(compared.output.find("a?b?[31m: "), std::string::npos) << compared.output;
    EXPECT_EQ(compared.output.find('\x1b'), std::string::npos) << compared.output;
}

TEST_F(command, info_prints_for_people_without_colours_in_a_pipe) {
    write_trace();
    const run_result result = acre("info a.acre");
    EXPECT_EQ(result.status, 0);
    EXPECT_NE(result.output.find("12,000"), std::string::npos);
    EXPECT_NE(result.output.find("spawn (made.cpp:3)"), std::string::npos);
    EXPECT_NE(result.output.find("; at most 3.5 KiB, and at most 55 objects, at a time\n"), std::string::npos)
        << result.output;
    EXPECT_EQ(result.output.find('\033'), std::string::npos);
    EXPECT_EQ(result.errors, "");
}

TEST_F(command, replay_prints_an_object) {
    write_trace();
    const run_result result = acre(
        "replay a.acre --with arena,std_pool,system,multi_arena:bytes=16K --rounds 2 --without-frees --check --json");
    EXPECT_EQ(result.status, 0) << result.errors;
    const auto json = nlohmann::json::parse(result.output);
    EXPECT_EQ(json["command"], "replay");
    EXPECT_EQ(json["events"], 12'000 + 10'000 + 1951);
    EXPECT_EQ(json["threads_played"], 1);
    for (const char* heap : {"clean", "fragmented"}) {
        EXPECT_EQ(json["heaps"][heap]["rounds"], 2);
        EXPECT_EQ(json["heaps"][heap]["fragmentation_blocks"].get<int>() > 0, std::string_view{heap} == "fragmented");
    }
    std::string names;
    for (const auto& each : json["resources"]) {
        names += each["name"].get<std::string>() + (each["frees"].get<bool>() ? " " : "- ");
        EXPECT_FALSE(each["failed"].get<bool>());
        for (const char* heap : {"clean", "fragmented"}) {
            EXPECT_GE(each[heap]["ratio"]["median"].get<double>(), 0);
            EXPECT_GT(each[heap]["wall_ns_per_event"]["median"].get<double>(), 0);
            EXPECT_TRUE(each[heap]["ns_per_event"]["median"].is_number());
        }
        EXPECT_TRUE(each["held_bytes"].is_number_unsigned());
        EXPECT_TRUE(each["system_bytes"].is_number_unsigned());
        EXPECT_TRUE(each["expansion"].is_number());
    }
    EXPECT_EQ(names, "system arena arena- std_pool multi_arena ");
    EXPECT_EQ(json["resources"][4]["parameters"]["bytes"], 16 << 10);
    EXPECT_GT(json["resources"][4]["parameters"]["count"].get<int>(), 0);
    EXPECT_EQ(json["failures"].size() + json["left_out"].size(), 0U);
}

TEST_F(command, replay_takes_names_in_any_number_of_options_and_plays_each_once) {
    write_trace();
    const run_result result =
        acre("replay --with 'arena, pool ' --with pool a.acre --with std_pool --rounds 1 --heap clean --json");
    ASSERT_EQ(result.status, 0) << result.errors;
    std::string names;
    const auto json = nlohmann::json::parse(result.output);
    for (const auto& each : json["resources"]) names += each["name"].get<std::string>() + " ";
    EXPECT_EQ(names, "system arena pool std_pool ");
    EXPECT_FALSE(json["heaps"].contains("fragmented"));
    const std::string text = acre("replay --with arena --rounds 1 a.acre --heap fragmented").output;
    EXPECT_NE(text.find("; 1 round of "), std::string::npos);
    EXPECT_EQ(text.find("Time, clean"), std::string::npos);
}

TEST_F(command, replay_says_95_percent_only_of_six_rounds) {
    write_trace();
    const std::string short_replay = "replay a.acre --with arena --heap clean --rounds ";
    const std::string few = acre(short_replay + "2").output;
    EXPECT_NE(few.find("lowest, highest"), std::string::npos) << few;
    EXPECT_EQ(few.find("95 %"), std::string::npos) << few;
    EXPECT_NE(acre(short_replay + "6").output.find("95 % interval"), std::string::npos);
}

TEST_F(command, replay_plays_as_many_events_in_as_much_memory_as_the_user_says) {
    made_trace made;
    for (int i = 0; i < 100; ++i) made.allocate(made.stack({"main", "parse:12"}), 4000);
    made.write(directory_ / "a.acre");
    const std::string short_replay = "replay a.acre --with arena --rounds 1 --heap clean ";
    const run_result part = acre(short_replay + "--events 7 --json");
    EXPECT_EQ(nlohmann::json::parse(part.output)["events"], 7);
    EXPECT_NE(part.output.find("Only the first 7 of 100 events were replayed, as --events says."), std::string::npos)
        << part.output;
    const run_result failed = acre(short_replay + "--memory 128K");
    EXPECT_EQ(failed.status, 1);
    EXPECT_NE(failed.errors.find("arena ran out of memory at event "), std::string::npos) << failed.errors;
    EXPECT_EQ(acre(short_replay + "--memory 128K --events 7").status, 0);
}

TEST_F(command, replay_tells_how_many_threads_play) {
    made_trace made;
    for (std::uint64_t i = 0; i < 100; ++i) {
        made.allocate(0, 8, i % 2);
        if (i > 10) made.release(i - 10, 0, i % 2);
    }
    made.write(directory_ / "a.acre");
    EXPECT_NE(acre("replay a.acre --with arena --rounds 1").output.find("One thread replayed them all"),
              std::string::npos);
    const std::string recorded = "replay a.acre --rounds 1 --threads recorded --heap clean --with ";
    expect_failure(recorded + "arena", 1, "arena cannot be played: it is for one thread at a time");
    const run_result result = acre(recorded + "concurrent_arena,std");
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_NE(result.output.find("2 threads played, as recorded"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find("std_pool did not take part: it is for one"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find("wall time"), std::string::npos) << result.output;
}

TEST_F(command, replay_names_the_event_at_which_memory_ran_out) {
    made_trace made;
    for (int i = 0; i < 100; ++i) made.allocate(made.stack({"main", "parse:12"}), 4000);
    made.write(directory_ / "a.acre");
    const run_result result =
        acre("replay a.acre --with multi_arena:count=8,bytes=32K,std_pool --rounds 1 --heap clean");
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.errors,
              "acre: multi_arena:count=8,bytes=32K ran out of memory at event 65 (allocation of 4,000 bytes at parse "
              "(made.cpp:12))\n");
    EXPECT_NE(result.output.find("std_pool"), std::string::npos);
}

TEST_F(command, replay_lists_the_resources) {
    const run_result all = acre("replay --list");
    EXPECT_EQ(all.status, 0) << all.errors;
    for (const char* name : {"multi_arena:count=", "std_pool", "mimalloc", "glibc_tcache", "peers"}) {
        EXPECT_NE(all.output.find(name), std::string::npos) << name;
    }
    write_trace();
    const auto json = nlohmann::json::parse(acre("replay --list a.acre --threads recorded --json").output);
    EXPECT_GT(json["resources"].size(), 30U);
    for (const auto& each : json["resources"]) {
        EXPECT_EQ(each["can_play"].get<bool>(), each["why_not"] == "") << each;
    }
}

TEST_F(command, replay_refuses_a_sampled_trace) {
    made_trace made;
    made.allocate(0, 8);
    made.header.sampling_period = 100;
    made.write(directory_ / "a.acre");
    expect_failure("replay a.acre --with arena", 1, "record without --sample");
}

TEST_F(command, wrong_replay_options_are_status_2) {
    write_trace();
    expect_failure("replay a.acre --with pool:slot=1X", 2, "'1X' is not a valid slot of pool");
    expect_failure("replay a.acre --with arena --heap dirty", 2, "--heap");
    expect_failure("replay a.acre --with arena --threads 7", 2, "--threads");
    expect_failure("replay --with arena", 2, "FILE");
}

TEST_F(command, fit_prints_an_object_and_draws) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take room that an ordinary build does not need";
    write_trace();
    const run_result result = acre("fit a.acre --json --plot front.svg");
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_EQ(result.errors, "");
    const auto json = nlohmann::json::parse(result.output);
    EXPECT_EQ(json["allocations"], 12'000);
    EXPECT_EQ(json["multi_arena"]["check"]["suffices"], true);
    EXPECT_EQ(json["multi_arena"]["check"]["one_less_fails"], true);
    EXPECT_EQ(json["arena"]["check"]["suffices"], true);
    EXPECT_EQ(acre("fit a.acre --json").output, result.output);
    std::ifstream file{directory_ / "front.svg"};
    const std::string picture{std::istreambuf_iterator<char>{file}, {}};
    EXPECT_TRUE(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
}

TEST_F(command, a_fit_of_another_recording_is_no_part_of_a_report) {
    write_trace();
    ASSERT_EQ(acre("fit a.acre --for pool --json >fit.json").status, 0);
    const std::string report = "report --no-measure --no-fit -o out.html --fit fit.json ";
    EXPECT_EQ(acre(report + "a.acre").status, 0);
    ASSERT_EQ(acre("-q record -o b.acre -- ls").status, 0);
    expect_failure(report + "b.acre", 1, "'fit.json' has the sizes for another recording");
}

TEST_F(command, fit_takes_a_part) {
    write_trace();
    const auto fitted = [&](const std::string& options) {
        return nlohmann::json::parse(acre("fit a.acre --json --for pool " + options).output);
    };
    EXPECT_EQ(fitted("--function request")["allocations"], 10'000);
    EXPECT_EQ(fitted("--site made.cpp:3")["allocations"], 2000);
    EXPECT_EQ(fitted("--without spawn")["allocations"], 10'000);
    EXPECT_EQ(fitted("--sizes 64")["slots"]["sizes"][0]["slots"], 50);
    EXPECT_EQ(fitted("--sizes ..50")["largest_bytes"], 50);
    EXPECT_EQ(fitted("--thread 0")["allocations"], 12'000);
    EXPECT_TRUE(fitted("")["multi_arena"].is_null());
}

TEST_F(command, fit_of_a_cut_off_trace_is_for_its_complete_part) {
    made_trace made;
    const auto stack = made.stack({"main", "work:2"});
    for (int i = 0; i < 50'000; ++i) made.release(made.allocate(stack, 100), stack);
    const auto path = made.write(directory_ / "half.acre");
    std::filesystem::resize_file(path, std::filesystem::file_size(path) * 9 / 10);
    const run_result result = acre("fit half.acre --for arena --json");
    EXPECT_EQ(result.status, 3) << result.errors;
    EXPECT_TRUE(result.errors.starts_with("acre: ")) << result.errors;
    EXPECT_EQ(nlohmann::json::parse(result.output)["allocations"], 32'768);
}

TEST_F(command, fit_refuses_selections_without_sizes) {
    write_trace();
    expect_failure("fit a.acre --function nobody", 1, "there is no function 'nobody' in the trace");
    expect_failure("fit a.acre --sizes 17", 1, "no such allocations");
    expect_failure("fit a.acre --plot no/such/front.svg", 1, "no/such");
    expect_failure("fit a.acre --for pool --plot front.svg", 1, "no front of multi_arena");
    made_trace made;
    made.header.sampling_period = 100;
    made.allocate(0, 8);
    made.write(directory_ / "sample.acre");
    expect_failure("fit sample.acre", 1, "is a sample");
}

TEST_F(command, advise_prints_an_object) {
    write_trace();
    const run_result result = acre("advise a.acre --json");
    EXPECT_EQ(result.status, 0) << result.errors;
    const auto json = nlohmann::json::parse(result.output);
    ASSERT_EQ(json["advices"].size(), 2U);
    EXPECT_EQ(json["advices"][0]["candidate"], "arena");
    EXPECT_EQ(json["advices"][0]["scope"], "request");
    EXPECT_EQ(json["advices"][1]["candidate"], "object_pool");
    EXPECT_EQ(json["advices"][1]["function"], "spawn");
    EXPECT_EQ(json["advices"][1]["line"], 3);
    EXPECT_EQ(json["advices"][1]["options"]["slot_bytes"], 64);
    EXPECT_GT(json["advices"][0]["saving"]["rounds"].get<int>(), 0);
}

TEST_F(command, advise_shows_the_requested_number) {
    write_trace();
    const run_result result = acre("advise --all a.acre --top 1 --no-measure");
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_NE(result.output.find("1. "), std::string::npos);
    EXPECT_EQ(result.output.find("\n2. "), std::string::npos);
    EXPECT_NE(result.output.find("1 more entry"), std::string::npos);
}

TEST_F(command, report_writes_a_page) {
    write_trace();
    run_result result = acre("report a.acre -o b.html --no-measure");
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(result.errors, "acre: wrote 'b.html': open it in a browser\n");
    const std::string page = content_of("b.html");
    EXPECT_TRUE(page.starts_with("<!doctype html>"));
    EXPECT_EQ(data_in(page)["info"]["allocations"], 12'000);
    EXPECT_EQ(data_in(page)["advice"]["advices"][0]["scope"], "request");
    EXPECT_TRUE(data_in(page)["replay"].is_null());
    EXPECT_EQ(acre("-q report a.acre --no-measure").errors, "");
    EXPECT_EQ(content_of("a.html"), page);
    EXPECT_EQ(acre("report a.acre --no-measure -o -").output, page);
}

TEST_F(command, report_finds_sizes_unless_told_not_to) {
    write_trace();
    EXPECT_EQ(acre("report a.acre --no-measure").status, 0);
    EXPECT_FALSE(data_in(content_of("a.html"))["fit"].empty());
    EXPECT_EQ(acre("report a.acre --no-measure --no-fit").status, 0);
    EXPECT_TRUE(data_in(content_of("a.html"))["fit"].empty());
}

TEST_F(command, report_measures) {
    write_trace();
    const run_result result = acre("report a.acre --top 1");
    EXPECT_EQ(result.status, 0) << result.errors;
    const auto data = data_in(content_of("a.html"));
    EXPECT_EQ(data["advice"]["advices"].size(), 1U);
    EXPECT_GT(data["advice"]["advices"][0]["saving"]["rounds"].get<int>(), 0);
    EXPECT_GE(data["replay"]["resources"].size(), 5U);
}

TEST_F(command, a_report_never_replaces_its_trace_or_half_a_page) {
    write_trace();
    const std::string trace = content_of("a.acre");
    for (const char* same : {"a.acre", "./a.acre"}) {
        expect_failure(std::string{"report a.acre -o "} + same, 1, "is the input");
    }
    EXPECT_EQ(content_of("a.acre"), trace);
    std::ofstream{directory_ / "b.html"} << "an older page";
    expect_failure("report a.acre -o ''", 1, "the report to write has no name");
    expect_failure("report a.acre --no-measure -o /dev/full", 1, "not a regular file");
    expect_failure("report a.acre --no-measure -o - > /dev/full", 1, "cannot write to standard output: No space left");
    expect_failure("report a.acre --no-measure -o no/such/folder.html", 1, "cannot write 'no/such/folder.html'");
    expect_failure("report a.acre --no-measure -o b.html --fit missing.json", 1, "cannot read 'missing.json'");
    expect_failure("report a.acre --no-measure -o c.html --fit b.html", 1, "not an output of 'acre fit --json'");
    expect_failure("report a.acre --no-measure -o b.html --fit ./b.html", 1, "is the input");
    EXPECT_EQ(content_of("b.html"), "an older page");
}

TEST_F(command, an_empty_trace_is_not_replayed) {
    made_trace{}.write(directory_ / "a.acre");
    EXPECT_EQ(nlohmann::json::parse(acre("info a.acre --json").output)["allocations"], 0);
    EXPECT_EQ(acre("info a.acre").status, 0);
    expect_failure("replay a.acre --with arena", 1, "no events");
    expect_failure("advise a.acre", 1, "no allocations");
    EXPECT_EQ(acre("report a.acre").status, 0);
    EXPECT_EQ(data_in(content_of("a.html"))["advice"]["advices"].size(), 0U);
}

TEST_F(command, the_complete_part_of_a_cut_off_trace_is_used) {
    write_cut_trace();
    const run_result info = acre("info cut.acre --json");
    EXPECT_EQ(info.status, 3);
    EXPECT_EQ(nlohmann::json::parse(info.output)["events"], 65'536);
    EXPECT_NE(info.errors.find("cut off: 65,536 events are complete"), std::string::npos) << info.errors;
    EXPECT_EQ(std::count(info.errors.begin(), info.errors.end(), '\n'), 1);
    EXPECT_NE(acre("info cut.acre").output.find("; their frees may be in the part that is missing"), std::string::npos);
    EXPECT_EQ(acre("advise cut.acre --top 1").status, 3);
    EXPECT_EQ(acre("report cut.acre --no-measure").status, 3);
    EXPECT_NE(data_in(content_of("cut.html"))["info"]["missing"].get<std::string>().find("65,536 events"),
              std::string::npos);
    std::filesystem::resize_file(directory_ / "cut.acre", 3000);
    for (const char* name : {"info", "advise", "replay --with arena"}) {
        expect_failure(std::string{name} + " cut.acre", 1, "cut off before its first event");
    }
}

TEST_F(command, notes_of_the_recording_are_shown) {
    made_trace made;
    for (int i = 0; i < 9; ++i) made.allocate(made.stack({"main:1"}), 8);
    made.header.notes.emplace_back("The recording stopped early.");
    made.write(directory_ / "a.acre");
    for (const char* name : {"info", "advise"}) {
        EXPECT_NE(acre(std::string{name} + " a.acre").output.find("The recording stopped early."), std::string::npos);
        const auto json = nlohmann::json::parse(acre(std::string{name} + " a.acre --json").output);
        EXPECT_EQ(json["notes"], made.header.notes);
    }
}

TEST_F(command, an_unknown_exit_status_is_shown_as_such) {
    made_trace made;
    for (int i = 0; i < 9; ++i) made.allocate(made.stack({"main:1"}), 8);
    made.header.exit_status = trace_header::unknown_status;
    made.header.user_time = 0;
    made.write(directory_ / "a.acre");
    const std::string text = acre("info a.acre").output;
    EXPECT_NE(text.find("exit status not known"), std::string::npos) << text;
    EXPECT_NE(text.find("CPU not known"), std::string::npos) << text;
    const auto json = nlohmann::json::parse(acre("info a.acre --json").output);
    EXPECT_TRUE(json["exit_status"].is_null());
    EXPECT_TRUE(json["cpu_us"].is_null());
    EXPECT_TRUE(json["recording_us"].is_null());
    EXPECT_NE(acre("advise --all a.acre --no-measure").output.find("CPU time not known"), std::string::npos);
    EXPECT_TRUE(nlohmann::json::parse(acre("advise a.acre --no-measure --json").output)["cpu_ns"].is_null());
}

TEST_F(command, savings_are_compared_with_the_time_of_the_program_without_its_recording) {
    made_trace made;
    for (int i = 0; i < 9; ++i) made.allocate(made.stack({"main:1"}), 8);
    made.header.user_time = 106'000;
    made.header.recording_time = 70'000;
    made.write(directory_ / "a.acre");
    const std::string info = acre("info a.acre").output;
    EXPECT_NE(info.find("CPU 106.0 ms, of which about 70.0 ms by the recording"), std::string::npos) << info;
    const auto json = nlohmann::json::parse(acre("info a.acre --json").output);
    EXPECT_EQ(json["cpu_us"], 106'000);
    EXPECT_EQ(json["recording_us"], 70'000);
    const std::string advice = acre("advise --all a.acre --no-measure").output;
    EXPECT_NE(advice.find("CPU time about 36.0 ms without the recording"), std::string::npos) << advice;
    EXPECT_EQ(nlohmann::json::parse(acre("advise a.acre --json --no-measure").output)["cpu_ns"], 36'000'000);
}

TEST_F(command, savings_are_not_compared_with_the_time_of_a_partly_recorded_run) {
    made_trace made;
    for (int i = 0; i < 9; ++i) made.allocate(made.stack({"main:1"}), 8);
    made.header.user_time = 1'000'000;
    made.write(directory_ / "a.acre");
    const auto cpu = [&] { return nlohmann::json::parse(acre("advise a.acre --json --no-measure").output)["cpu_ns"]; };
    EXPECT_EQ(cpu(), 1'000'000'000);
    made.header.notes = {std::string{trace_header::stopped_note} + "it was told to; what came after is missing."};
    made.write(directory_ / "a.acre");
    EXPECT_TRUE(cpu().is_null());
    made.header.notes.clear();
    made.mark_here(mark_kind::recording_paused);
    made.write(directory_ / "a.acre");
    EXPECT_TRUE(cpu().is_null());
}

TEST_F(command, record_writes_a_trace_and_returns_the_programs_status) {
    const run_result result = acre("record -o b.acre -- sh -c 'exit 7'");
    EXPECT_EQ(result.status, 7) << result.errors;
    const auto json = nlohmann::json::parse(acre("info b.acre --json").output);
    EXPECT_EQ(json["exit_status"], 7);
    EXPECT_GT(json["allocations"].get<int>(), 0);
    const run_result finished =
        shell("'" ACRE_COMMAND "' record -o c.acre -- sh -c 'kill -9 $PPID; exec sleep 0.1'; sleep 0.3; '" ACRE_COMMAND
              "' finish c.acre.raw-* -o c.acre");
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_NE(finished.errors.find("delete it when the program has ended"), std::string::npos) << finished.errors;
    EXPECT_TRUE(nlohmann::json::parse(acre("info c.acre --json").output)["exit_status"].is_null());
    EXPECT_EQ(acre("--quiet record -o b.acre -- sh -c true").errors, "");
}

TEST_F(command, diff_compares_two_runs_and_fails_above_the_limit) {
    write_trace();
    EXPECT_NE(acre("diff a.acre a.acre --fail-above 0").output.find("No difference."), std::string::npos);
    made_trace more;
    for (int i = 0; i < 300; ++i)
        more.release(more.allocate(more.stack({"main", "spawn:3"}), 64), more.stack({"main"}));
    more.write(directory_ / "b.acre");
    const run_result by_bytes = acre("diff a.acre b.acre");
    EXPECT_EQ(by_bytes.status, 0);
    EXPECT_NE(by_bytes.output.find("What shrank, by bytes (2 of 2 sites)"), std::string::npos) << by_bytes.output;
    EXPECT_EQ(acre("diff a.acre b.acre --fail-above 10").status, 0);
    const run_result grown = acre("diff b.acre a.acre --fail-above 10 --by allocations --json");
    EXPECT_EQ(grown.status, 1);
    EXPECT_EQ(grown.errors, "acre: allocations grew by 3900.0 %, more than the 10 % allowed\n");
    EXPECT_EQ(nlohmann::json::parse(grown.output)["totals"]["allocations"]["growth"], 39.0);
    EXPECT_EQ(acre("diff b.acre a.acre --fail-above 4000 --by allocations").status, 0);
    const run_result leaking = acre("diff b.acre a.acre --fail-above 1e6 --by never_freed");
    EXPECT_EQ(leaking.status, 1);
    EXPECT_NE(leaking.errors.find("bytes never freed: 0 before, "), std::string::npos) << leaking.errors;
}

TEST_F(command, diff_refuses_what_it_cannot_compare) {
    write_trace();
    made_trace sampled;
    sampled.allocate(sampled.stack({"main"}), 8);
    sampled.header.sampling_period = 100;
    sampled.write(directory_ / "sampled.acre");
    expect_failure("diff a.acre sampled.acre", 1, "same sampling");
    made_trace by_callers;
    by_callers.allocate(by_callers.stack({"main"}), 8);
    by_callers.header.stacks = stack_method::caller;
    by_callers.write(directory_ / "callers.acre");
    expect_failure(
        "diff a.acre callers.acre", 1,
        "'a.acre' was recorded with --stacks=unwind and 'callers.acre' with --stacks=caller: record both with "
        "the same");
    EXPECT_EQ(acre("diff callers.acre callers.acre").status, 0);
    expect_failure("diff a.acre missing.acre", 1, "missing.acre");
    expect_failure("diff a.acre", 2, "AFTER is required");
    expect_failure("diff a.acre a.acre --by speed", 2, "--by");
    expect_failure("diff a.acre a.acre --fail-above -1", 2, "--fail-above");
    write_cut_trace();
    EXPECT_EQ(acre("diff cut.acre a.acre").status, 3);
}

TEST_F(command, diff_of_two_recordings_shows_the_additional_work) {
    ASSERT_EQ(acre("-q record -o b.acre -- sh -c 'echo one'").status, 0);
    ASSERT_EQ(acre("-q record -o c.acre -- sh -c 'echo one'").status, 0);
    ASSERT_EQ(acre("-q record -o d.acre -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do a=$a$i$a; done; echo $a'").status, 0);
    const auto same = nlohmann::json::parse(acre("diff --json b.acre c.acre").output);
    EXPECT_EQ(same["totals"]["allocations"]["growth"], 0.0);
    EXPECT_EQ(same["sites"]["new"], 0);
    EXPECT_EQ(same["sites"]["gone"], 0);
    const auto more = nlohmann::json::parse(acre("diff --json b.acre d.acre").output);
    EXPECT_GT(more["totals"]["bytes"]["growth"].get<double>(), 0.0);
    EXPECT_FALSE(more["grew"].empty());
}

/// A small file whose stacks name 140 million calls is refused before it takes memory.
TEST_F(command, hostile_tables_are_read_by_all_commands_that_resolve_stacks) {
    hostile_trace made;
    const std::uint32_t long_frame = made.frame(3'000);
    for (int i = 0; i < 2'000; ++i) made.call(0, long_frame);  // 6 million calls, more than the commands keep apart
    made.write(directory_ / "hostile.acre");
    EXPECT_LT(std::filesystem::file_size(directory_ / "hostile.acre"), 1U << 20);
    for (const char* arguments :
         {"info hostile.acre", "advise hostile.acre", "fit hostile.acre", "report hostile.acre -o report.html",
          "export hostile.acre -o events.csv", "export hostile.acre -o profile.pb.gz", "diff hostile.acre hostile.acre",
          "replay hostile.acre --with pool --rounds 1"}) {
        const run_result result = acre(arguments);
        EXPECT_EQ(result.status, 0) << arguments << result.errors;
    }
}

}  // namespace
