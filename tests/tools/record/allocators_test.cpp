// A program that uses another allocator than the C library's keeps it, and the trace names it.
#include <sys/wait.h>

#include <cstdlib>

#include "recording.hpp"

namespace acre::tool {
namespace {

namespace fs = std::filesystem;

/// Preloads a library into what is run, beside the recorder.
class preloaded {
public:
    explicit preloaded(const std::string& library) { ::setenv("LD_PRELOAD", library.c_str(), 1); }
    ~preloaded() { ::unsetenv("LD_PRELOAD"); }
    preloaded(const preloaded&) = delete;
    preloaded& operator=(const preloaded&) = delete;
};

int status_alone(const std::string& command) {
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string path_of(const std::string& library) {
    for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"}) {
        if (fs::exists(fs::path{folder} / library)) return fs::path{folder} / library;
    }
    return {};
}

struct allocator {
    const char* name;
    const char* library;
    const char* package;
    const char* without;  // what it does not have or fails at, when nothing is recorded
};

class allocators : public recording, public testing::WithParamInterface<allocator> {};

TEST_P(allocators, are_kept_and_named) {
    const std::string library = path_of(GetParam().library);
    if (library.empty()) GTEST_SKIP() << GetParam().library << " is not here: install " << GetParam().package;
    const preloaded beside{library};
    ASSERT_EQ(status_alone(std::string{FUNCTIONS " "} + GetParam().without), 0);
    const loaded_trace trace = run({FUNCTIONS, GetParam().without});
    EXPECT_EQ(result_.exit_status, 0);
    EXPECT_EQ(trace.header.allocator, GetParam().name + std::string{" ("} + GetParam().library + ")");
    EXPECT_EQ(trace.header.unmatched_frees, 0u);
    EXPECT_FALSE(trace.has_note("were not seen"));
    for (const std::uint64_t size : {50'001u, 50'010u, 50'003u, 60'003u, 50'004u, 50'005u, 50'048u, 50'006u, 50'007u}) {
        EXPECT_EQ(trace.allocations(size), 10u) << size;
        EXPECT_EQ(trace.frees(size), 10u) << size;
    }
    for (std::uint64_t size = 51'001; size <= 51'012; ++size) {
        EXPECT_EQ(trace.allocations(size), 10u) << size;
        EXPECT_EQ(trace.frees(size), 10u) << size;
    }
}

INSTANTIATE_TEST_SUITE_P(of_libraries, allocators,
                         testing::Values(allocator{"jemalloc", "libjemalloc.so.2", "libjemalloc2", "pvalloc"},
                                         allocator{"tcmalloc", "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4", ""},
                                         allocator{"mimalloc", "libmimalloc.so.2", "libmimalloc2.0", "too-much"}),
                         [](const auto& each) {
                             std::string name = each.param.library;
                             std::replace_if(name.begin(), name.end(), [](char c) { return c == '.'; }, '_');
                             return name;
                         });

class own_allocator : public recording {};

TEST_F(own_allocator, is_usually_glibcs) {
    EXPECT_EQ(run({FUNCTIONS}).header.allocator, "glibc");
    EXPECT_EQ(run({STATIC_FUNCTIONS}).header.allocator, "glibc");
}

// Hazard Y11.
TEST_F(own_allocator, of_a_program_that_is_linked_with_jemalloc_gets_its_own_blocks) {
#ifdef WITH_JEMALLOC
    const loaded_trace trace = run({WITH_JEMALLOC});
    EXPECT_EQ(result_.exit_status, 9);
    EXPECT_EQ(trace.header.allocator, "jemalloc (libjemalloc.so.2)");
    for (const std::uint64_t size : {7001u, 7002u, 70'020u, 7003u, 7004u, 17'004u, 7005u}) {
        EXPECT_EQ(trace.allocations(size), 10u) << size;
        EXPECT_EQ(trace.frees(size), 10u) << size;
    }
    EXPECT_EQ(trace.header.unmatched_frees, 0u);
#else
    GTEST_SKIP() << "libjemalloc.so.2 is not here: install libjemalloc2";
#endif
}

TEST_F(own_allocator, without_jemalloc_is_not_taken_for_jemalloc) {
    const loaded_trace trace = run({JEMALLOC_CALLS});
    EXPECT_EQ(result_.exit_status, 8);
    EXPECT_EQ(trace.header.allocator, "glibc");
    EXPECT_EQ(trace.allocations(70'020), 10u);
    EXPECT_EQ(trace.frees(70'020), 10u);
}

TEST_F(own_allocator, in_the_program_is_refused) {
    EXPECT_EQ(status_alone(OWN_MALLOC), 9);
    EXPECT_NE(refusal({OWN_MALLOC}).find("it contains a malloc of its own"), std::string::npos);
    EXPECT_EQ(files_left(), 0u);
}

TEST_F(own_allocator, in_a_child_process_is_left_alone_and_mentioned) {
    record_options options = options_for({"/bin/sh", "-c", OWN_MALLOC "; exit $?"});
    options.children = true;
    const record_result result = record(options);
    EXPECT_EQ(result.exit_status, 9);
    ASSERT_EQ(result.traces.size(), 1u);
    EXPECT_TRUE(loaded_trace{result.traces.front()}.has_note("has a malloc of its own"));
}

TEST_F(own_allocator, in_a_program_that_is_executed_is_left_alone_and_mentioned) {
    const loaded_trace trace = run({"/bin/sh", "-c", "exec " OWN_MALLOC});
    EXPECT_EQ(result_.exit_status, 9);
    EXPECT_TRUE(trace.has_note("1 program could not be recorded"));
    EXPECT_TRUE(trace.has_note("has a malloc of its own"));
}

TEST_F(own_allocator, of_two_operators_in_the_program_is_kept) {
    EXPECT_EQ(status_alone(OWN_OPERATORS), 9);
    const loaded_trace trace = run({OWN_OPERATORS});
    EXPECT_EQ(result_.exit_status, 9);
    EXPECT_EQ(trace.allocations(6001), 100u);
    EXPECT_EQ(trace.frees(6001), 100u);
    EXPECT_EQ(trace.header.unmatched_frees, 0u);
}

TEST_F(own_allocator, of_two_operators_in_a_library_is_kept_and_recorded) {
    EXPECT_EQ(status_alone(POOL_OF_LIBRARY), 9);
    const loaded_trace trace = run({POOL_OF_LIBRARY});
    EXPECT_EQ(result_.exit_status, 9);
    for (const std::uint64_t size : {5001u, 5002u, 5003u, 5004u, 5005u, 5006u, 5007u, 6001u}) {
        EXPECT_EQ(trace.allocations(size), 100u) << size;
        EXPECT_EQ(trace.frees(size), 100u) << size;
    }
    EXPECT_EQ(trace.allocations(1), 0u);  // the pool's own
    EXPECT_EQ(trace.header.unmatched_frees, 0u);
}

TEST_F(own_allocator, fails_as_without_the_recorder_in_a_plugin_that_brings_the_cpp_library) {
    run({PLUGIN_HOST, THROWING_PLUGIN});
    EXPECT_EQ(result_.exit_status, 9);
}

TEST_F(own_allocator, is_missing_no_call_by_signal_handlers_without_a_note) {
    const loaded_trace trace = run({SIGNALS});
    EXPECT_EQ(result_.exit_status, 0);
    std::uint64_t lost = 0;
    for (const std::string& note : trace.header.notes) {
        if (note.find("signal handler") != std::string::npos) lost = std::stoull(note);
    }
    EXPECT_GT(lost, 0u);
    EXPECT_EQ(trace.allocations(7777) + trace.frees(7777) + trace.header.unmatched_frees + lost, 600u);
}

}  // namespace
}  // namespace acre::tool
