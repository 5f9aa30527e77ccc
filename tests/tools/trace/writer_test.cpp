// The writer leaves no incomplete file and refuses inconsistent events.
#include "trace/writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/error.hpp"
#include "trace/reader.hpp"

namespace {

using namespace acre::test;

std::size_t files_in(const temporary_directory& directory) {
    const std::filesystem::directory_iterator files{directory.path()};
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

TEST(writer, leaves_no_file_when_it_is_not_finished) {
    const temporary_directory directory;
    const made_trace made;
    {
        trace_writer writer{directory / "a.acre", made.header, made.tables};
        writer.add(event{});
        EXPECT_FALSE(std::filesystem::exists(directory / "a.acre"));
    }
    EXPECT_EQ(files_in(directory), 0U);
}

TEST(writer, leaves_no_file_when_it_is_killed) {
    const temporary_directory directory;
    const int probe = ::open(directory.path().c_str(), O_WRONLY | O_TMPFILE, 0600);
    if (probe < 0) GTEST_SKIP() << "this file system has no files without a name";
    ::close(probe);
    const pid_t killed = ::fork();
    if (killed == 0) {
        const made_trace made;
        trace_writer writer{directory / "a.acre", made.header, made.tables};
        ::_exit(0);
    }
    int status = -1;
    ::waitpid(killed, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(files_in(directory), 0U);
}

TEST(writer, keeps_the_old_file_when_it_is_not_finished) {
    const temporary_directory directory;
    std::ofstream{directory / "a.acre"} << "precious";
    {
        trace_writer writer{directory / "a.acre", made_trace{}.header, made_trace{}.tables};
    }
    std::string kept;
    std::ifstream{directory / "a.acre"} >> kept;
    EXPECT_EQ(kept, "precious");
    EXPECT_EQ(files_in(directory), 1U);
}

TEST(writer, replaces_the_old_file_at_finish) {
    const temporary_directory directory;
    std::ofstream{directory / "a.acre"} << "old";
    const trace_reader reader{made_trace{}.write(directory / "a.acre")};
    EXPECT_EQ(reader.missing(), "");
    EXPECT_EQ(files_in(directory), 1U);
}

TEST(writer, refuses_to_replace_anything_but_a_regular_file) {
    EXPECT_THROW(made_trace{}.write("/dev/null"), tool_error);
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    const temporary_directory directory;
    EXPECT_THROW(made_trace{}.write(directory.path()), tool_error);
    EXPECT_THROW(made_trace{}.write(directory / "missing/a.acre"), tool_error);
}

TEST(writer, refuses_inconsistent_tables) {
    const temporary_directory directory;
    const auto refused = [&](auto change) {
        made_trace made;
        made.stack({"main", "inner"});
        change(made.tables);
        EXPECT_THROW(made.write(directory / "a.acre"), tool_error);
        EXPECT_EQ(files_in(directory), 0U);
    };
    refused([](trace_tables& tables) { tables.call_tree.clear(); });
    refused([](trace_tables& tables) { tables.call_tree[1].parent = 2; });
    refused([](trace_tables& tables) { tables.call_tree[2].parent = 2; });
    refused([](trace_tables& tables) { tables.call_tree[2].frame = 9; });
    refused([](trace_tables& tables) { tables.frames[0].module = 1; });
}

TEST(writer, refuses_inconsistent_events) {
    const temporary_directory directory;
    const auto refused = [&](auto change) {
        made_trace made;
        const auto stack = made.stack({"main"});
        made.release(made.allocate(stack, 8), stack);
        made.allocate(stack, 8);
        change(made.events);
        EXPECT_THROW(made.write(directory / "a.acre"), tool_error);
        EXPECT_EQ(files_in(directory), 0U);
    };
    refused([](std::vector<event>& events) { events[0].object = 1; });
    refused([](std::vector<event>& events) { events[1].object = 1; });
    refused([](std::vector<event>& events) { events[2] = events[1]; });
    refused([](std::vector<event>& events) { events[0].stack = 2; });
    refused([](std::vector<event>& events) { events[0].thread = 1; });
    refused([](std::vector<event>& events) { events[0].alignment_log2 = 64; });
    refused([](std::vector<event>& events) { events[0].size = ~std::uint64_t{0}; });
}

}  // namespace
