// However a process ends, its events up to then are in the trace.
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "recording.hpp"

namespace acre::tool {
namespace {

struct ending {
    const char* name;
    int status;
};

class endings : public recording, public testing::WithParamInterface<ending> {};

TEST_P(endings, lose_nothing) {
    const loaded_trace trace = run({ENDINGS, GetParam().name});
    EXPECT_EQ(result_.exit_status, GetParam().status);
    EXPECT_EQ(trace.header.exit_status, GetParam().status);
    EXPECT_EQ(trace.allocations(4242), 1000u);
    EXPECT_EQ(trace.frees(4242), 400u);
    EXPECT_EQ(trace.header.unmatched_frees, 0u);
    EXPECT_EQ(files_left(), 1u);
}

INSTANTIATE_TEST_SUITE_P(of_processes, endings,
                         testing::Values(ending{"return", 7}, ending{"_exit", 3}, ending{"abort", 128 + SIGABRT},
                                         ending{"kill", 128 + SIGKILL}, ending{"crash", 128 + SIGSEGV},
                                         ending{"throw", 128 + SIGABRT}, ending{"moved", 7}, ending{"fork", 7},
                                         ending{"forked thread", 7}, ending{"vfork", 7}, ending{"spawn", 7},
                                         ending{"system", 7}, ending{"quick_exit", 6},
                                         ending{"terminated", 128 + SIGTERM}, ending{"pipe", 128 + SIGPIPE}),
                         [](const auto& each) {
                             std::string name = each.param.name;
                             std::replace(name.begin(), name.end(), ' ', '_');
                             return name;
                         });

class life : public recording {};

TEST_F(life, goes_on_when_the_program_closes_all_files) {
    const loaded_trace trace = run({ENDINGS, "closed"});
    EXPECT_EQ(trace.allocations(4242), 51'000u);
    EXPECT_EQ(trace.frees(4242), 51u * 400);
}

TEST_F(life, after_exec_is_that_of_the_last_program) {
    const loaded_trace trace = run({ENDINGS, "exec"});
    EXPECT_EQ(result_.exit_status, 5);
    EXPECT_EQ(trace.allocations(4545), 77u);
    EXPECT_EQ(trace.allocations(4242), 0u);
    EXPECT_TRUE(trace.has_note("executed 2 programs"));
    EXPECT_EQ(trace.header.command, (std::vector<std::string>{ENDINGS, "executed"}));
}

TEST_F(life, after_exec_goes_on_without_the_environment) {
    for (const std::string how : {"execve", "execvpe", "execle", "fexecve", "execv", "execvp", "execl", "execlp"}) {
        const loaded_trace trace = run({ENDINGS, "bare " + how});
        EXPECT_EQ(result_.exit_status, 5) << how;
        EXPECT_EQ(trace.allocations(4545), 77u) << how;
        EXPECT_TRUE(trace.has_note("executed 2 programs")) << how;
    }
}

TEST_F(life, goes_on_after_a_program_that_is_missing) {
    EXPECT_EQ(run({ENDINGS, "bare missing"}).allocations(4242), 1000u);
    EXPECT_EQ(result_.exit_status, 6);
}

TEST_F(life, of_children_without_the_environment_is_recorded_or_mentioned) {
    for (const std::string how : {"posix_spawn", "posix_spawnp", "vfork"}) {
        EXPECT_TRUE(run({ENDINGS, "bare " + how}).has_note("1 process, not recorded")) << how;
        EXPECT_EQ(result_.exit_status, 7) << how;
        record_options options = options_for({ENDINGS, "bare " + how});
        options.children = true;
        const record_result result = record(options);
        ASSERT_EQ(result.traces.size(), 2u) << how;
        EXPECT_EQ(loaded_trace{result.traces[0]}.allocations(4242), 1000u) << how;
        EXPECT_EQ(loaded_trace{result.traces[1]}.allocations(4545), 77u) << how;
        for (const auto& trace : result.traces) std::filesystem::remove(trace);
    }
}

TEST_F(life, of_children_is_mentioned) {
    EXPECT_TRUE(run({ENDINGS, "fork"}).has_note("1 process, not recorded"));
    EXPECT_TRUE(run({ENDINGS, "vfork"}).has_note("1 process, not recorded"));
    EXPECT_FALSE(run({ENDINGS, "return"}).has_note("unrecorded"));
}

TEST_F(life, of_processes_left_running_is_mentioned) {
    const loaded_trace trace = run({ENDINGS, "daemon"});
    EXPECT_EQ(result_.exit_status, 0);
    EXPECT_EQ(trace.allocations(4242), 1000u);
    EXPECT_TRUE(trace.has_note("It left 1 process running: "));
    EXPECT_EQ(result_.notes, trace.header.notes);
}

TEST_F(life, of_children_is_not_counted_as_the_programs_time) {
    const loaded_trace trace = run({"/bin/sh", "-c", "i=0; (while [ $i -lt 300000 ]; do i=$((i+1)); done); true"});
    rusage children{};
    ::getrusage(RUSAGE_CHILDREN, &children);
    const auto all = static_cast<std::uint64_t>(children.ru_utime.tv_sec) * 1'000'000 +
                     static_cast<std::uint64_t>(children.ru_utime.tv_usec);
    EXPECT_LT(trace.header.user_time * 2, all) << "nearly all of it went into the subshell";
}

// Hazard Y14: what recording itself took is told, and not hidden in the total.
TEST_F(life, of_the_recorder_is_a_part_of_the_cpu_time) {
    for (const char* how : {"threads", "exec", "kill"}) {
        const trace_header header = run({ENDINGS, how}).header;
        EXPECT_GT(header.recording_time, 0u) << how;
        EXPECT_LT(header.recording_time, header.cpu_microseconds()) << how;
    }
}

TEST_F(life, of_children_replaces_nothing_but_traces) {
    const std::string output = (directory_.path() / "out.acre").string();
    record_options options =
        options_for({"/bin/sh", "-c", "sh -c 'echo precious > \"$0.$$\"; exec ls /' \"$0\"; true", output});
    options.children = true;
    const std::string why = refusal(options);
    EXPECT_NE(why.find("only traces are replaced"), std::string::npos) << why;
    EXPECT_NE(why.find("with 'acre finish'"), std::string::npos) << why;
    EXPECT_FALSE(std::filesystem::exists(output));
    EXPECT_EQ(files_left(), 2u) << "the file and what was recorded";
}

TEST_F(life, of_children_is_recorded_when_wanted) {
    for (const std::string how : {"fork", "forked thread", "vfork", "spawn"}) {
        const bool executes = how == "vfork" || how == "spawn";
        record_options options = options_for({ENDINGS, how});
        options.children = true;
        const record_result result = record(options);
        ASSERT_EQ(result.traces.size(), 2u) << how;
        const loaded_trace parent{result.traces[0]};
        const loaded_trace child{result.traces[1]};
        EXPECT_FALSE(child.header.end_is_known());
        EXPECT_EQ(result.traces[1].string().rfind(options.output.string() + ".", 0), 0u);
        EXPECT_EQ(parent.allocations(4242), 1000u) << how;
        EXPECT_EQ(child.allocations(4242), 0u) << how;
        EXPECT_EQ(child.allocations(executes ? 4545 : 4646), executes ? 77u : 500u);
        EXPECT_EQ(child.allocations(4747), how == "forked thread" ? 10u : 0u);
        for (const auto& trace : result.traces) std::filesystem::remove(trace);
    }
}

TEST_F(life, of_a_script_is_that_of_its_interpreter) {
    const std::filesystem::path script = directory_.path() / "script";
    std::ofstream{script} << "#!/bin/sh\nexit 4\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    run({script.string()});
    EXPECT_EQ(result_.exit_status, 4);
}

TEST_F(life, ends_at_the_size_limit_and_the_program_goes_on) {
    record_options options = options_for({ENDINGS, "threads"});
    options.limit_bytes = 400'000;
    const record_result result = record(options);
    const loaded_trace trace{result.traces.at(0)};
    EXPECT_EQ(result.exit_status, 7);
    EXPECT_TRUE(trace.has_note("size limit"));
    EXPECT_TRUE(trace.has_note("give it a larger --limit"));
    EXPECT_GT(trace.events.size(), 0u);
    EXPECT_LT(trace.events.size(), 400'000u / 24);
}

/// Limits the file size of this process and of its children while it lives.
class file_size_limit {
public:
    explicit file_size_limit(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit now{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &now);
    }
    ~file_size_limit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
    file_size_limit(const file_size_limit&) = delete;
    file_size_limit& operator=(const file_size_limit&) = delete;

private:
    rlimit before_{};
};

TEST_F(life, ends_at_the_limit_of_file_sizes_and_the_program_goes_on) {
    const file_size_limit limit{400'000};
    const loaded_trace trace = run({ENDINGS, "threads"});
    EXPECT_EQ(result_.exit_status, 7);
    EXPECT_TRUE(trace.has_note("file size limit"));
    EXPECT_GT(trace.events.size(), 0u);
}

TEST_F(life, without_room_for_a_recording_reports_the_reason) {
    record_options options = options_for({ENDINGS, "return"});
    options.limit_bytes = 1000;
    EXPECT_NE(refusal(options).find("larger --limit"), std::string::npos) << refusal(options);
    options.limit_bytes = 0;
    for (const rlim_t bytes : {rlim_t{0}, rlim_t{65'536}}) {
        const file_size_limit limit{bytes};
        EXPECT_NE(refusal(options).find("ended with status 7"), std::string::npos) << refusal(options);
        EXPECT_NE(refusal(options).find("ulimit -f"), std::string::npos) << refusal(options);
    }
    EXPECT_EQ(files_left(), 0u);
}

TEST_F(life, under_a_memory_limit_is_recorded_until_memory_runs_out) {
    for (const std::string kilobytes : {"400000", "40000"}) {
        const loaded_trace trace = run({"/bin/sh", "-c", "ulimit -v " + kilobytes + "; exec " ENDINGS " return"});
        EXPECT_EQ(result_.exit_status, 7) << kilobytes;
        EXPECT_TRUE(trace.allocations(4242) == 1000u || trace.has_note("memory ran out")) << kilobytes;
    }
}

/// A small disk.
class small_disk {
public:
    small_disk(std::filesystem::path at, const char* options) : at_{std::move(at)} {
        std::filesystem::create_directory(at_);
        made_ = ::mount("none", at_.c_str(), "tmpfs", 0, options) == 0;
    }
    ~small_disk() {
        if (made_) ::umount(at_.c_str());
    }
    small_disk(const small_disk&) = delete;
    small_disk& operator=(const small_disk&) = delete;

    bool made() const { return made_; }

private:
    std::filesystem::path at_;
    bool made_;
};

TEST_F(life, on_a_full_disk_is_reported) {
    const std::filesystem::path folder = directory_.path() / "disk";
    const small_disk disk{folder, "size=64k"};
    if (!disk.made()) GTEST_SKIP() << "a small disk can be had by root only";
    record_options options = options_for({ENDINGS, "return"});
    options.output = folder / "out.acre";
    const std::string full = "the disk of '" + folder.string() + "' was full";
    EXPECT_NE(refusal(options).find(full), std::string::npos) << refusal(options);
    std::ofstream{folder / "filler"} << std::string(70'000, 'x');
    EXPECT_NE(refusal(options).find(full), std::string::npos) << refusal(options);
}

// Without --limit a recording stops at half of what is free: that is the disk's limit, not one of the user's.
TEST_F(life, on_a_disk_with_little_room_names_the_disk) {
    const std::filesystem::path folder = directory_.path() / "disk";
    const small_disk disk{folder, "size=300k"};
    if (!disk.made()) GTEST_SKIP() << "a small disk can be had by root only";
    record_options options = options_for({ENDINGS, "threads"});
    options.output = folder / "out.acre";
    const record_result result = record(options);
    EXPECT_EQ(result.exit_status, 7);
    const loaded_trace trace{result.traces.at(0)};
    EXPECT_GT(trace.events.size(), 0u);
    EXPECT_TRUE(trace.has_note("the disk of '" + folder.string() + "' was used up")) << trace.header.notes.back();
    EXPECT_TRUE(trace.has_note("name another disk with -o"));
    EXPECT_FALSE(trace.has_note("size limit"));
}

TEST_F(life, ended_by_a_signal_says_so) {
    EXPECT_TRUE(run({ENDINGS, "kill"}).has_note("Signal 9 (Killed) ended it"));
    EXPECT_TRUE(run({ENDINGS, "abort"}).has_note("Signal 6"));
    EXPECT_FALSE(run({ENDINGS, "return"}).has_note("Signal"));
}

TEST_F(life, stops_when_the_program_restricts_its_system_calls) {
    for (const std::string how : {"strict", "prctl", "seccomp"}) {
        const loaded_trace trace = run({RESTRICTING, how});
        EXPECT_EQ(result_.exit_status, 7) << how;
        EXPECT_GE(trace.allocations(4242), 500u) << how;
        EXPECT_TRUE(trace.has_note("restricted its system calls")) << how;
    }
    const loaded_trace trace = run({RESTRICTING, "failed"});
    EXPECT_EQ(result_.exit_status, 7);
    EXPECT_EQ(trace.allocations(4242), 10'500u);
    EXPECT_FALSE(trace.has_note("restricted"));
}

TEST_F(life, survives_damage_to_its_log) {
    const std::string log = (directory_.path() / "out.acre.raw-").string() + "*";
    const std::string work = "; for i in 1 2 3 4 5 6; do x=$(seq 1 3000); done; exit 7";
    for (const std::string damage : {"truncate -s 0 ", "truncate -s 5000 ", "chmod 0 "}) {
        run({"/bin/sh", "-c", damage + log + "/*" + work});
        EXPECT_EQ(result_.exit_status, 7) << damage;
    }
    const std::string lost = refusal({"/bin/sh", "-c", "rm -r " + log + work});
    EXPECT_NE(lost.find("ended with status 7, but the recording is lost"), std::string::npos) << lost;
}

TEST_F(life, of_processes_of_the_same_number_gives_a_trace_of_each) {
    const std::string child = "unshare -pf --mount-proc sh -c '" ENDINGS " return; :'";
    if (std::system("unshare -pf --mount-proc true 2>/dev/null") != 0)
        GTEST_SKIP() << "only root can make PID namespaces";
    record_options options = options_for({"/bin/sh", "-c", child + "; " + child});
    options.children = true;
    const record_result result = record(options);
    std::size_t of_subject = 0;
    for (const auto& each : result.traces) of_subject += loaded_trace{each}.allocations(4242) == 1000u ? 1 : 0;
    EXPECT_EQ(of_subject, 2u);
}

TEST_F(life, of_children_names_those_that_cannot_be_recorded) {
    record_options options = options_for({"/bin/sh", "-c", STATIC_PROGRAM "; " SANITIZED "; true"});
    options.children = true;
    const loaded_trace trace{record(options).traces.at(0)};
    EXPECT_TRUE(trace.has_note("2 programs could not be recorded"));
    EXPECT_TRUE(trace.has_note("is statically linked"));
    EXPECT_TRUE(trace.has_note("is built with a sanitizer"));
    const loaded_trace replaced = run({"/bin/sh", "-c", "exec " STATIC_PROGRAM});
    EXPECT_TRUE(replaced.has_note("is statically linked"));
}

/// Options for a program that allocates nothing itself and executes the subject in a child.
class silent_parent : public life {
protected:
    record_options options_with_children() const {
        record_options options = options_for({STARTS_SILENTLY, ENDINGS, "return"});
        options.children = true;
        return options;
    }
};

TEST_F(silent_parent, does_not_cost_the_traces_of_its_children) {
    const record_result result = record(options_with_children());
    EXPECT_EQ(result.exit_status, 7);
    ASSERT_EQ(result.traces.size(), 1u);
    const loaded_trace child{result.traces[0]};
    EXPECT_EQ(child.allocations(4242), 1000u);
    EXPECT_TRUE(child.has_note("There is no trace of the program itself"));
    EXPECT_TRUE(child.has_note("saw no allocation"));
    EXPECT_EQ(result.notes, child.header.notes);
    EXPECT_FALSE(std::filesystem::exists(directory_.path() / "out.acre"));
    EXPECT_EQ(files_left(), 1u);
}

TEST_F(silent_parent, without_children_gives_its_status_and_no_trace) {
    record_options options = options_with_children();
    options.children = false;
    const record_result result = record(options);
    EXPECT_EQ(result.exit_status, 7);
    EXPECT_FALSE(result.is_failure);
    EXPECT_NE(result.why_nothing.find("ended with status 7, and the recorder saw no allocation"), std::string::npos);
    EXPECT_EQ(result.notes.size(), 1u);  // of the child, which is not recorded
    EXPECT_EQ(files_left(), 0u);
}

TEST_F(life, with_a_limit_counts_the_logs_of_all_processes) {
    record_options options =
        options_for({"/bin/sh", "-c", ENDINGS " return; " ENDINGS " return; " ENDINGS " return; :"});
    options.children = true;
    options.limit_bytes = 400'000;
    const record_result result = record(options);
    EXPECT_LT(result.traces.size(), 4u);
}

TEST_F(life, gives_the_program_its_own_environment) {
    const std::string check =
        "case \"$(env)\" in *libacre* | *ACRE_*) exit 12;; esac; case \"$LD_PRELOAD\" in *plugin*) exit 11;; esac; "
        "exit 10";
    run({"/bin/sh", "-c", check});
    EXPECT_EQ(result_.exit_status, 10);
    ASSERT_EQ(::setenv("LD_PRELOAD", FIRST_PLUGIN, 1), 0);
    run({"/bin/sh", "-c", check});
    ::unsetenv("LD_PRELOAD");
    EXPECT_EQ(result_.exit_status, 11);
}

TEST_F(life, of_children_keeps_a_preload_of_the_programs) {
    record_options options = options_for({"/bin/sh", "-c", "LD_PRELOAD=" FIRST_PLUGIN " " ENDINGS " return"});
    options.children = true;
    const record_result result = record(options);
    ASSERT_EQ(result.traces.size(), 2u);
    EXPECT_EQ(loaded_trace{result.traces[1]}.allocations(4242), 1000u);
}

}  // namespace
}  // namespace acre::tool
