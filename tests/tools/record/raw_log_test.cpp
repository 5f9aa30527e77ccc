// A raw log that was left behind becomes a trace. A truncated or invalid one gives a trace of its valid part, or an
// error.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "record/recording_memory.hpp"
#include "recording.hpp"

namespace acre::tool {
namespace {

namespace fs = std::filesystem;

class raw_logs : public recording {
protected:
    /// Runs a subject as `acre record` does and leaves its raw log. `is_killed`: acre does not live to write what
    /// waits.
    fs::path make_log(const char* how, const char* program = ENDINGS, bool is_killed = false) {
        const fs::path raw = directory_.path() / "raw";
        fs::create_directory(raw);
        const recording_memory memory{0};
        const pid_t child = ::fork();
        if (child == 0) {
            ::setenv("LD_PRELOAD", RECORDER, 1);
            ::setenv(raw::directory_variable, raw.c_str(), 1);
            ::setenv(raw::process_variable, std::to_string(::getpid()).c_str(), 1);
            ::setenv(raw::options_variable, "", 1);
            ::setenv(raw::memory_variable, memory.path().c_str(), 1);
            ::execl(program, program, how, nullptr);
            ::_exit(99);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (!is_killed) memory.write_waiting(raw);
        return raw / (std::to_string(child) + ".0.raw");
    }

    static std::string contents(const fs::path& path) {
        std::ifstream file{path, std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, {}};
    }
    static void write(const fs::path& path, const std::string& bytes) {
        std::ofstream{path, std::ios::binary} << bytes;
    }

    /// Number of events in the trace of a log; nothing if it is refused, which must give a sentence.
    std::size_t events_of(const fs::path& raw) {
        try {
            const record_result result = finish_raw_log(raw, directory_.path() / "finished.acre");
            const loaded_trace trace{result.traces.at(0)};
            EXPECT_EQ(trace.events.size(), result.events);
            return trace.events.size();
        } catch (const tool_error& error) {
            EXPECT_GT(std::strlen(error.what()), 10u);
            return 0;
        }
    }
};

TEST_F(raw_logs, are_finished) {
    const fs::path log = make_log("kill");
    const fs::path output = directory_.path() / "finished.acre";
    for (const fs::path& raw : {log, log.parent_path()}) {
        const loaded_trace trace{finish_raw_log(raw, output).traces.at(0)};
        EXPECT_EQ(trace.allocations(4242), 1000u);
        EXPECT_EQ(trace.frees(4242), 400u);
        EXPECT_TRUE(trace.has_note("cut off"));
        EXPECT_FALSE(trace.header.end_is_known());
        EXPECT_EQ(trace.header.command, (std::vector<std::string>{ENDINGS, "kill"}));
        EXPECT_LT(trace.header.duration, 60'000'000'000u);
    }
    EXPECT_TRUE(fs::exists(log));
}

TEST_F(raw_logs, lack_the_last_events_if_acre_and_the_program_are_killed) {
    const fs::path log = make_log("many and kill", ENDINGS, true);
    const loaded_trace trace{finish_raw_log(log, directory_.path() / "finished.acre").traces.at(0)};
    EXPECT_GE(trace.events.size(), 14'000u - raw::rows_in_chunk);
    EXPECT_LT(trace.events.size(), 14'000u);
    EXPECT_TRUE(trace.has_note("last events of each thread are missing"));
}

TEST_F(raw_logs, are_whole_if_only_acre_is_killed) {
    for (const char* how : {"return", "exit", "_exit"}) {
        const fs::path log = make_log(how, ENDINGS, true);
        const loaded_trace trace{finish_raw_log(log, directory_.path() / "finished.acre").traces.at(0)};
        EXPECT_EQ(trace.allocations(4242), 1000u) << how;
        EXPECT_FALSE(trace.has_note("missing")) << how;
    }
}

TEST_F(raw_logs, have_the_recording_time_however_the_program_ended) {
    const fs::path log = make_log("kill");
    const fs::path output = directory_.path() / "finished.acre";
    EXPECT_GT(loaded_trace{finish_raw_log(log, output).traces.at(0)}.header.recording_time, 0u);
    std::string absurd = contents(log);
    for (const std::size_t offset : {offsetof(raw::file_head, own_ticks), offsetof(raw::file_head, own_nanoseconds)}) {
        absurd.replace(offset, 8, std::string(8, '\xff'));
        write(log, absurd);
        const trace_header header = loaded_trace{finish_raw_log(log, output).traces.at(0)}.header;
        EXPECT_GT(header.recording_time, 1'000'000'000u);
        EXPECT_EQ(header.program_microseconds(), header.cpu_microseconds() / 10);
    }
}

TEST_F(raw_logs, files_that_are_no_raw_logs_are_refused) {
    const fs::path file = directory_.path() / "file";
    EXPECT_THROW(finish_raw_log(file, directory_.path() / "out"), tool_error);
    for (const std::string& bytes :
         {std::string{}, std::string{"acre-raw"}, std::string(8192, '\0'), std::string(8192, 'x')}) {
        write(file, bytes);
        EXPECT_THROW(finish_raw_log(file, directory_.path() / "out"), tool_error);
    }
    EXPECT_THROW(finish_raw_log(directory_.path(), directory_.path() / "out"), tool_error);
    EXPECT_FALSE(fs::exists(directory_.path() / "out"));
}

TEST_F(raw_logs, that_cannot_be_read_are_mentioned) {
    const fs::path damaged = make_log("return");
    std::string bytes = contents(damaged);
    bytes[0] = 'X';
    write(damaged, bytes);
    const fs::path whole = make_log("return");
    write(whole.parent_path() / "1.0.raw", std::string(8192, '\0'));  // of a process that was killed at its start
    const fs::path output = directory_.path() / "finished.acre";
    const record_result result = finish_raw_log(whole.parent_path(), output);
    ASSERT_EQ(result.traces.size(), 1u);
    const loaded_trace trace{result.traces[0]};
    EXPECT_EQ(trace.allocations(4242), 1000u);
    EXPECT_TRUE(trace.has_note("1 log could not be read, '" + damaged.filename().string() + "'"));
}

TEST_F(raw_logs, of_a_folder_with_pipes_are_read_without_waiting_for_writers) {
    const fs::path log = make_log("return");
    ASSERT_EQ(::mkfifo((log.parent_path() / raw::reports_name).c_str(), 0600), 0);
    ASSERT_EQ(::mkfifo((log.parent_path() / "1.0.raw").c_str(), 0600), 0);
    ::alarm(30);
    EXPECT_EQ(finish_raw_log(log.parent_path(), directory_.path() / "finished.acre").traces.size(), 1u);
    ::alarm(0);
}

TEST_F(raw_logs, that_are_truncated_are_read_up_to_their_end) {
    const fs::path log = make_log("threads");
    const std::string whole = contents(log);
    const std::size_t all = events_of(log);
    ASSERT_GT(all, 50'000u);
    std::size_t before = 0;
    for (const std::size_t percent : {0u, 10u, 40u, 70u, 99u, 100u}) {
        write(log, whole.substr(0, whole.size() * percent / 100));
        const std::size_t now = events_of(log);
        EXPECT_LE(now, all);
        EXPECT_GE(now, before);
        before = now;
    }
    EXPECT_EQ(before, all);
}

class raw_logs_of : public raw_logs, public testing::WithParamInterface<const char*> {};

TEST_P(raw_logs_of, programs_with_any_bytes_changed_never_crash_the_reader) {
    const fs::path log = make_log("fork", GetParam());
    const std::string whole = contents(log);
    std::mt19937 random{7};
    for (int round = 0; round < 15; ++round) {
        std::string changed = whole;
        for (int i = 0; i < 30; ++i) {
            // Mostly in the heads, whose fields decide how the rest is read.
            const std::size_t chunk = random() % (changed.size() / raw::chunk_alignment) * raw::chunk_alignment;
            const std::size_t place =
                round % 2 == 0 ? random() % changed.size() : chunk + random() % raw::chunk_alignment;
            changed[place] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
        }
        write(log, changed);
        events_of(log);
    }
}

INSTANTIATE_TEST_SUITE_P(, raw_logs_of, testing::Values(ENDINGS, MARKED, TRACED));

TEST_F(raw_logs, with_invalid_heads_never_crash_the_reader) {
    const fs::path log = make_log("fork");
    const std::string whole = contents(log);
    std::mt19937 random{11};
    const std::uint64_t absurd[] = {
        0, 1, 0xffff'ffff, ~std::uint64_t{0}, std::uint64_t{1} << 63, 0x7fff'ffff'ffff'ffff};
    for (std::size_t at = raw::page_bytes; at + raw::chunk_alignment <= whole.size(); at += raw::chunk_alignment) {
        if (std::memcmp(whole.data() + at, &raw::chunk_magic, sizeof raw::chunk_magic) != 0) continue;
        for (std::size_t field = 4; field < 32; field += 4) {
            std::string changed = whole;
            std::memcpy(changed.data() + at + field, &absurd[random() % 6], random() % 2 == 0 ? 8 : 4);
            write(log, changed);
            events_of(log);
        }
    }
}

}  // namespace
}  // namespace acre::tool
