// Sentences about processes without a log.
#include "record/process_notes.hpp"

#include <gtest/gtest.h>

namespace acre::tool {
namespace {

using raw::report_kind;

constexpr std::uint32_t started = 100;

std::vector<std::string> notes_of(const std::vector<process_report>& reports, const executed_logs& logs,
                                  bool with_children = true, std::uint64_t more = 0) {
    return notes_about({reports, more}, logs, started, with_children);
}

TEST(process_notes, are_absent_if_every_program_left_a_log) {
    const std::vector<process_report> reports{
        {report_kind::executes, started, "a"}, {report_kind::executes, 200, "b"}, {report_kind::executes, 200, "c"}};
    EXPECT_TRUE(notes_of(reports, {{started, 2}, {200, 2}}).empty());
    EXPECT_TRUE(notes_of({}, {{started, 1}}).empty());
    EXPECT_TRUE(notes_of({}, {}).empty());
}

TEST(process_notes, name_programs_that_left_no_log) {
    const auto notes = notes_of({{report_kind::executes, 200, "b"}, {report_kind::executes, 200, "c"}}, {{200, 1}});
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("1 program could not be recorded: 'b' (200) could not"), std::string::npos) << notes[0];
}

TEST(process_notes, do_not_count_executions_that_failed) {
    const process_report failed{report_kind::failed_to_execute, 200, "b"};
    EXPECT_TRUE(notes_of({{report_kind::executes, 200, "b"}, failed}, {}).empty());
    EXPECT_TRUE(notes_of({{report_kind::executes_static, 200, "b"}, failed}, {}).empty());
    EXPECT_TRUE(notes_of({failed}, {}).empty());
}

TEST(process_notes, know_that_the_first_log_of_the_started_process_was_not_reported) {
    EXPECT_EQ(notes_of({{report_kind::executes, started, "b"}}, {{started, 1}}).size(), 1u);
    EXPECT_TRUE(notes_of({{report_kind::executes, started, "b"}}, {{started, 2}}).empty());
}

TEST(process_notes, say_why_a_program_cannot_be_recorded) {
    for (const auto& [kind, reason] : {std::pair{report_kind::executes_static, "'b' (200) is statically linked"},
                                       std::pair{report_kind::executes_foreign, "another processor or C library"},
                                       std::pair{report_kind::executes_privileged, "setuid"},
                                       std::pair{report_kind::executes_sanitized, "sanitizer"},
                                       std::pair{report_kind::executes_restricted, "seccomp"},
                                       std::pair{report_kind::own_malloc, "malloc of its own"},
                                       std::pair{report_kind::lost_child, "could not make a log"}}) {
        const auto notes = notes_of({{kind, 200, "b"}}, {{200, 5}});
        ASSERT_EQ(notes.size(), 1u) << reason;
        EXPECT_NE(notes[0].find(reason), std::string::npos) << notes[0];
    }
}

TEST(process_notes, name_the_first_few) {
    std::vector<process_report> reports;
    for (std::uint32_t i = 0; i < 50; ++i) reports.push_back({report_kind::executes_static, 200 + i, "b"});
    const auto notes = notes_of(reports, {});
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("50 programs could not"), std::string::npos) << notes[0];
    EXPECT_NE(notes[0].find("and 45 more"), std::string::npos) << notes[0];
}

TEST(process_notes, count_processes_that_need_not_be_recorded_once) {
    const std::vector<process_report> reports{{report_kind::unwanted_child, 200, ""},
                                              {report_kind::unwanted_child, 200, "b"},
                                              {report_kind::unwanted_child, 201, "c"},
                                              {report_kind::unwanted_child, 0, "sh"},
                                              {report_kind::unwanted_child, 0, "sh"}};
    const auto notes = notes_of(reports, {{started, 1}}, false);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("It started 4 processes, not recorded"), std::string::npos) << notes[0];
}

TEST(process_notes, say_that_there_were_too_many) {
    EXPECT_NE(notes_of({}, {}, true, 7).at(0).find("7 more"), std::string::npos);
}

}  // namespace
}  // namespace acre::tool
