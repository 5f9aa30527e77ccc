// `acre try` and `acre run`: which runs are compared, what is required of them, and what is refused.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "command_run.hpp"
#include "conformance/refusal.hpp"

namespace {

using namespace acre::test;
using nlohmann::json;

// Libraries to preload: one that does nothing, and two that change what a program does.
constexpr const char* quiet_library = "'" ACRE_TRY_QUIET "'";
constexpr const char* shouting_library = "'" ACRE_TRY_SHOUTING "'";
constexpr const char* ending_library = "'" ACRE_TRY_ENDING "'";

class try_command : public command_run {
protected:
    json tried(const std::string& arguments, int status = 0) {
        const run_result result = acre("try --json --budget 0.2s " + arguments);
        EXPECT_EQ(result.status, status) << result.errors;
        EXPECT_EQ(result.errors, "");
        return result.status == status ? json::parse(result.output) : json{};
    }

    std::string with(const char* library) { return std::string{"--with "} + library; }

    static bool has_note(const json& object, const std::string& part) {
        for (const auto& note : object["notes"]) {
            if (note.get<std::string>().find(part) != std::string::npos) return true;
        }
        return false;
    }
};

TEST_F(try_command, measures_the_program_in_each_way) {
    const json object =
        tried(with(quiet_library) + " -- sh -c 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; echo $i'");
    ASSERT_EQ(object["ways"].size(), 2U);
    EXPECT_EQ(object["ways"][0]["name"], "as it is");
    EXPECT_EQ(object["compared"], "the same output and exit status each time");
    for (const json& way : object["ways"]) {
        EXPECT_FALSE(way["failed"]) << way;
        EXPECT_GT(way["cpu_seconds"]["median"], 0.0);
        EXPECT_GE(way["wall_seconds"]["median"], way["wall_seconds"]["low"]);
        EXPECT_GT(way["peak_bytes"]["median"], 100'000);
        EXPECT_GT(way["page_faults"]["median"], 10);
    }
    EXPECT_EQ(object["ways"][1]["environment"].size(), 1U);
    EXPECT_GE(object["rounds"], 1);
}

TEST_F(try_command, takes_a_list_of_mallocs) {
    const std::string list = std::string{quiet_library} + "," + shouting_library;
    EXPECT_EQ(tried("--unchecked --with " + list + " -- true")["ways"].size(), 3U);
    EXPECT_EQ(tried("--unchecked --with " + list + "," + quiet_library + " -- true")["ways"].size(), 3U) << "once each";
}

#ifdef ACRE_TRY_LINKED
TEST_F(try_command, names_the_malloc_that_the_program_is_linked_with) {
    const json object = tried("--unchecked " + with(quiet_library) + " -- '" ACRE_TRY_LINKED "' usable");
    EXPECT_EQ(object["ways"][0]["name"], "as it is (acre-malloc)");
}
#endif

TEST_F(try_command, prints_a_table_and_a_conclusion) {
    const run_result result = acre("try --budget 0.2s " + with(quiet_library) + " -- echo 'two words'");
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.errors, "");
    for (const char* part : {"x as it is", "peak memory", "page faults", "\n  as it is", "echo two words: "})
        EXPECT_NE(result.output.find(part), std::string::npos) << part << "\n" << result.output;
}

TEST_F(try_command, draws_a_picture_in_a_page) {
    const run_result result =
        acre("try --budget 0.2s --report a.html " + with(quiet_library) + " -- echo '<script>' '&'");
    EXPECT_EQ(result.errors, "acre: wrote 'a.html': open it in a browser\n");
    const std::string page = content_of("a.html");
    for (const char* part : {"<svg", "class=\"spread\"", ">as it is<", "echo &lt;script&gt; &amp;: ", "</html>"})
        EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
    EXPECT_EQ(page.find("<script"), std::string::npos) << page;
    EXPECT_EQ(acre("record -o a.acre -- true").status, 0);
    expect_failure("try --report a.acre a.acre", 1, "a.acre");
}

TEST_F(try_command, a_way_with_another_output_takes_no_part) {
    const json object = tried(with(shouting_library) + " -- echo hello", 1);
    EXPECT_TRUE(object["ways"][1]["failed"]);
    EXPECT_EQ(object["ways"][1]["why"], "wrote another output than the program as it is");
    EXPECT_FALSE(tried("--unchecked " + with(shouting_library) + " -- echo hello")["ways"][1]["failed"]);
}

TEST_F(try_command, a_way_with_another_status_takes_no_part) {
    const json object = tried(with(ending_library) + " -- sh -c 'exit 3'", 1);
    EXPECT_EQ(object["ways"][1]["why"],
              "ended with status 9, and as it is the program ended with status 3; its last line on standard error: "
              "'this library ends the program'");
}

TEST_F(try_command, preloads_a_library_whose_name_LD_PRELOAD_cannot_hold) {
    for (const char* name : {"my lib.so", "co:lon.so", "$LIB.so"}) {
        const auto library = directory_ / name;
        std::filesystem::copy_file(ACRE_TRY_ENDING, library);
        const json object = tried("--with './" + std::string{name} + "' -- sh -c 'exit 3'", 1);
        EXPECT_TRUE(object["ways"][1]["failed"]) << "the library was not loaded";
        EXPECT_EQ(object["ways"][1]["library"], (directory_ / "." / name).string());
        EXPECT_TRUE(std::filesystem::remove(object["ways"][1]["environment"]["LD_PRELOAD"].get<std::string>()));
    }
}

#ifdef ACRE_HAS_PLAN_LIBRARY
/// The command, installed where LD_PRELOAD cannot hold the path of its library.
class command_in_an_odd_folder : public try_command {
protected:
    void SetUp() override {
        const std::filesystem::path built = std::filesystem::path{ACRE_COMMAND}.parent_path().parent_path();
        std::filesystem::create_directories(folder_ / "bin");
        std::filesystem::create_directories(folder_ / "lib");
        std::filesystem::copy_file(ACRE_COMMAND, folder_ / "bin/acre");
        std::filesystem::copy_file(built / "lib/libacre-malloc.so", library_);
    }

    run_result odd_acre(const std::string& arguments) {
        return shell("'" + (folder_ / "bin/acre").string() + "' " + arguments);
    }

    /// The link in LD_PRELOAD to the library, as `acre run` sets it.
    std::filesystem::path link() {
        const std::string line = odd_acre("run -- sh -c 'echo $LD_PRELOAD'").output;
        return line.substr(0, line.find('\n'));
    }

    void TearDown() override {
        std::filesystem::copy_file(
            std::filesystem::path{ACRE_COMMAND}.parent_path().parent_path() / "lib/libacre-malloc.so", library_,
            std::filesystem::copy_options::overwrite_existing);
        std::filesystem::remove(link());
    }

    const std::filesystem::path folder_ = directory_ / "in st:all";
    const std::filesystem::path library_ = folder_ / "lib/libacre-malloc.so";
};

// acre becomes the program, so it cannot remove the link at the program's end.
TEST_F(command_in_an_odd_folder, runs_each_program_by_the_same_link) {
    EXPECT_EQ(link(), link());
    EXPECT_EQ(std::filesystem::read_symlink(link()), library_);
    EXPECT_EQ(odd_acre("run -- grep -c libacre-malloc /proc/self/maps").status, 0);
    struct stat found{};
    ASSERT_EQ(::lstat(link().parent_path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0755U) << "a program that runs as another user follows the link";
    EXPECT_EQ(found.st_uid, ::geteuid());
}

TEST_F(command_in_an_odd_folder, replays_over_its_preloaded_heap) {
    if (acre_test::sanitized) GTEST_SKIP() << "AddressSanitizer's malloc and a preloaded one exclude each other";
    ASSERT_EQ(acre("-q record -o a.acre -- echo").status, 0);
    const std::string replay = "replay a.acre --with acre_malloc --rounds 1 --heap clean --json";
    const run_result result = odd_acre(replay);
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_EQ(result.errors, "");
    std::ofstream{library_} << "no library";
    const run_result refused = odd_acre(replay);
    EXPECT_EQ(refused.status, 1);
    EXPECT_NE(refused.errors.find("acre_malloc could not be started: cannot preload it: '"), std::string::npos)
        << refused.errors;
    EXPECT_EQ(refused.errors.find("free some memory"), std::string::npos);
}
#endif

TEST_F(try_command, a_program_that_never_writes_the_same_is_compared_by_its_status) {
    const json object = tried(with(quiet_library) + " -- date +%N");
    EXPECT_FALSE(object["ways"][1]["failed"]);
    EXPECT_EQ(object["compared"], "the same exit status each time");
    EXPECT_TRUE(has_note(object, "does not write the same output each time"));
}

TEST_F(try_command, a_check_accepts_the_outputs) {
    const std::string check = "--check 'grep -q hello' ";
    EXPECT_FALSE(tried(check + with(shouting_library) + " -- echo hello")["ways"][1]["failed"]);
    EXPECT_TRUE(
        tried("--check '! grep -q shout' " + with(shouting_library) + " -- echo hello", 1)["ways"][1]["failed"]);
    expect_failure("try " + check + with(quiet_library) + " -- echo good", 1,
                   "the command of --check refuses what the program writes as it is (the program ended with status 0, "
                   "the check ended with status 1)");
    expect_failure("try --check 'echo bad; exit 4' " + with(quiet_library) + " -- sh -c 'exit 3'", 1,
                   "(the program ended with status 3, the check ended with status 4; the last line on standard error: "
                   "'bad')");
    expect_failure("try --check true --unchecked -- echo", 2, "--check");
}

TEST_F(try_command, each_run_reads_all_of_the_input) {
    std::ofstream{directory_ / "input"} << "one\ntwo\n";
    const json object = tried("--stdin input --check 'grep -qx 2' " + with(quiet_library) + " -- wc -l");
    EXPECT_FALSE(object["ways"][1]["failed"]);
    EXPECT_FALSE(tried("--check 'grep -qx 0' " + with(quiet_library) + " -- wc -l").empty()) << "without it: nothing";
    expect_failure("try --stdin missing " + with(quiet_library) + " -- cat", 1, "cannot open 'missing'");
}

TEST_F(try_command, runs_the_recorded_program_again) {
    ASSERT_EQ(acre("record -o a.acre -- echo once more").status, 0);
    const json object = tried(with(quiet_library) + " a.acre");
    EXPECT_EQ(object["program"], (json{"echo", "once", "more"}));
    EXPECT_EQ(object["ways"].size(), 2U) << "the mallocs that were named, and no plan";
    for (const json& each : object["ways"]) EXPECT_EQ(each["cpu_seconds_in_rounds"].size(), object["rounds"]);
    EXPECT_TRUE(object["groups"].empty());
    expect_failure("try a.acre -- echo", 2, "either a trace or a program");
    shell("cp /bin/echo here && '" ACRE_COMMAND "' record -q -o b.acre -- ./here && mkdir -p other");
    const run_result elsewhere = shell("cd other && '" ACRE_COMMAND "' try ../b.acre 2>&1");
    EXPECT_EQ(elsewhere.status, 1);
    EXPECT_NE(elsewhere.output.find("start acre in the folder in which it was recorded"), std::string::npos)
        << elsewhere.output;
}

// It said to leave a program that had found no input.
TEST_F(try_command, refuses_a_recorded_program_that_does_not_find_its_input) {
    shell("seq 400000 -1 1 > numbers");
    ASSERT_EQ(shell("'" ACRE_COMMAND "' record -q -o sorting.acre -- sort -n < numbers > sorted").status, 0);
    expect_failure("try " + with(quiet_library) + " sorting.acre", 1, "give the program the same input, by --stdin");
    EXPECT_EQ(
        shell("'" ACRE_COMMAND "' try --budget 1s --stdin numbers " + with(quiet_library) + " sorting.acre").status, 0);
}

TEST_F(try_command, leaves_nothing_behind) {
    tried(with(quiet_library) + " -- echo");
    EXPECT_EQ(shell("ls").output, "errors\n");
}

TEST_F(try_command, a_program_that_fails_as_it_is_is_said_to) {
    const json object = tried(with(quiet_library) + " -- sh -c 'echo no such thing >&2; exit 3'");
    EXPECT_TRUE(
        has_note(object, "As it is the program ended with status 3; its last line on standard error: 'no such"));
    EXPECT_FALSE(has_note(tried(with(quiet_library) + " -- true"), "As it is the program"));
}

TEST_F(try_command, the_budget_is_blamed_only_where_it_ended) {
    // Six rounds are counted, in any time: there is nothing to compare.
    const json alone = json::parse(acre("try --json --budget 600s " + with(shouting_library) + " -- echo").output);
    EXPECT_FALSE(has_note(alone, "budget"));
    const run_result text = acre("try --budget 600s " + with(shouting_library) + " -- echo");
    EXPECT_NE(text.output.find("Nothing could be compared with the program as it is."), std::string::npos);
    EXPECT_EQ(text.status, 1);
    const json two = json::parse(acre("try --json --budget 2s " + with(quiet_library) + " -- true").output);
    EXPECT_EQ(two["precise"], !has_note(two, "budget"));
    EXPECT_TRUE(two["precise"] || two["seconds"] > 0.5);
}

TEST_F(try_command, the_rounds_end_when_the_intervals_are_as_narrow_as_asked) {
    const std::string program = with(quiet_library) + " -- true";
    const json wide = json::parse(acre("try --json --budget 600s --width 100 " + program).output);
    EXPECT_TRUE(wide["precise"]);
    EXPECT_LT(wide["rounds"], 100);
    const json narrow = json::parse(acre("try --json --budget 1s --width 0.01 " + program).output);
    EXPECT_FALSE(narrow["precise"]);
    EXPECT_TRUE(has_note(narrow, "The budget ended before the intervals were 0.01 % wide"));
    expect_failure("try --width 0 -- true", 2, "--width");
    expect_failure("try --width 2% -- true", 2, "--width");
}

TEST_F(try_command, a_page_that_cannot_be_written_is_refused_before_the_program_runs) {
    expect_failure("try " + with(quiet_library) + " --report missing/page.html -- touch ran", 1,
                   "cannot write 'missing");
    EXPECT_EQ(shell("ls").output, "errors\n");
}

// The program itself interrupts the command, in its twelfth run: rounds are counted, not seconds, as a slow machine
// under a sanitizer takes any number of those for one.
TEST_F(try_command, an_interrupted_contest_reports_the_rounds_before) {
    const std::string program = "echo run >>runs; test $(wc -l <runs) -lt 12 || kill -INT $PPID; sleep 0.01";
    const run_result result =
        shell("'" ACRE_COMMAND "' try --json --budget 600s " + with(quiet_library) + " -- sh -c '" + program + "'");
    const json object = json::parse(result.output);
    EXPECT_TRUE(object["interrupted"]);
    EXPECT_GE(object["rounds"], 1);
    EXPECT_FALSE(has_note(object, "budget"));
}

// The program interrupts the command in its second run, that of the second of three ways.
TEST_F(try_command, a_way_that_never_ran_is_not_compared) {
    const std::string program = "echo run >>runs; test $(wc -l <runs) -lt 2 || kill -INT $PPID; sleep 0.01";
    const run_result result = shell("'" ACRE_COMMAND "' try --json --unchecked --with " + std::string{quiet_library} +
                                    "," + shouting_library + " -- sh -c '" + program + "'");
    EXPECT_EQ(result.status, 1);
    const json object = json::parse(result.output);
    ASSERT_EQ(object["ways"].size(), 3U);
    for (const std::size_t number : {1U, 2U}) EXPECT_EQ(object["ways"][number]["why"], "was not run: interrupted");
}

TEST_F(try_command, what_the_program_leaves_running_is_ended) {
    const std::string program = "setsid sh -c \"echo \\$\\$ >>left; exec sleep 600\" >/dev/null 2>&1 & sleep 0.1";
    const json object = tried(with(quiet_library) + " -- sh -c '" + program + "'");
    EXPECT_TRUE(has_note(object, "The program left 1 process running"));
    EXPECT_EQ(shell("test -s left && for each in $(cat left); do kill -0 $each && echo $each; done; true").output, "");
}

// Its parent ends before it, so acre is its next one.
TEST_F(try_command, what_ended_before_the_program_was_not_left_running) {
    const json object = tried(with(quiet_library) + " -- sh -c '(sleep 0.01 &); sleep 0.2'");
    EXPECT_FALSE(has_note(object, "left")) << object["notes"];
}

// It ends with another status every other time.
TEST_F(try_command, a_program_that_ends_otherwise_each_time_is_not_held_against_a_malloc) {
    const std::string program = "sh -c 'echo run >>runs; exit $(($(wc -l <runs) % 2))'";
    expect_failure("try " + with(quiet_library) + " -- " + program, 1,
                   "the program as it is does not do the same each time: it ended with status 0, and before it ended "
                   "with status 1; --check COMMAND says");
}

TEST_F(try_command, refuses_a_pipe_as_input) {
    ASSERT_EQ(::mkfifo((directory_ / "pipe").c_str(), 0600), 0);
    expect_failure("try --stdin pipe -- cat", 1, "'pipe' can be read only once");
    const run_result result = shell("echo text | '" ACRE_COMMAND "' try --stdin /dev/stdin -- cat 2>&1");
    EXPECT_NE(result.status, 0);
    EXPECT_NE(result.output.find("'/dev/stdin' can be read only once"), std::string::npos) << result.output;
}

TEST_F(try_command, refuses_in_one_sentence) {
    expect_failure("try", 2, "a program to try, after --, or a trace is required");
    expect_failure("try -- missing-program", 1, "cannot try 'missing-program': there is no such program in PATH");
    expect_failure("try --with none -- true", 1, "there is no malloc 'none': known are acre, mimalloc");
    expect_failure("try --with ./none.so -- true", 1, "none.so' is missing");
    expect_failure("try --with /dev/null -- true", 1, "is no shared library");
    expect_failure("try --with '" ACRE_COMMAND "' -- true", 1, "is no shared library");
    expect_failure("try --stdin . -- true", 1, "'.' is a folder, not a file for --stdin");
    expect_failure("try --sites -- true", 2, "--sites measures the groups of a plan: name one by --plan, or a trace");
    expect_failure("try --budget soon -- true", 2, "'soon' is not a time");
    expect_failure("try --budget 0s -- true", 2, "'0s' is not a time");
    expect_failure("run", 2, "a program to run, after --, is required");
    expect_failure("run -- missing-program", 1, "cannot run 'missing-program': there is no such program in PATH");
}

}  // namespace
