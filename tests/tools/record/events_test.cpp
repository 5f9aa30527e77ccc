// Every function that allocates is recorded, with its size, alignment and kind.
#include "recording.hpp"

namespace acre::tool {
namespace {

constexpr std::size_t times = 10;

struct expected_kind {
    std::uint64_t size;
    operation allocated_by;
    operation freed_by;
    unsigned alignment_log2;
};

class events : public recording {};

/// The program dynamically linked, and statically with the recorder in it.
class events_of_functions : public recording, public testing::WithParamInterface<const char*> {};

TEST_P(events_of_functions, are_all_recorded) {
    const loaded_trace trace = run({GetParam()});
    ASSERT_EQ(result_.exit_status, 0);
    const expected_kind kinds[] = {
        {50'001, operation::malloc, operation::free, 0},
        {50'010, operation::calloc, operation::free, 0},
        {50'003, operation::realloc, operation::realloc, 0},
        {60'003, operation::realloc, operation::free, 0},
        {50'004, operation::realloc, operation::free, 0},
        {50'005, operation::aligned_alloc, operation::free, 6},
        {50'048, operation::aligned_alloc, operation::free, 7},
        {50'006, operation::aligned_alloc, operation::free, 12},
        {50'007, operation::aligned_alloc, operation::free, 12},
        {50'008, operation::aligned_alloc, operation::free, 12},
        {51'001, operation::new_single, operation::delete_single, 0},
        {51'002, operation::new_single, operation::delete_single, 0},
        {51'003, operation::new_array, operation::delete_array, 0},
        {51'004, operation::new_single, operation::delete_single, 0},
        {51'005, operation::new_array, operation::delete_array, 0},
        {51'006, operation::new_single, operation::delete_single, 6},
        {51'007, operation::new_array, operation::delete_array, 9},
        {51'008, operation::new_array, operation::delete_array, 0},
        {51'009, operation::new_single, operation::delete_single, 6},
        {51'010, operation::new_array, operation::delete_array, 6},
        {51'011, operation::new_single, operation::delete_single, 6},
        {51'012, operation::new_array, operation::delete_array, 6},
        {768, operation::new_single, operation::delete_single, 8},
    };
    for (const expected_kind& kind : kinds) {
        EXPECT_EQ(trace.allocations(kind.size), times) << kind.size;
        EXPECT_EQ(trace.frees(kind.size), times) << kind.size;
        for (const event& each : trace.events) {
            if (each.size != kind.size) continue;
            EXPECT_EQ(each.op, each.allocates ? kind.allocated_by : kind.freed_by) << kind.size;
            EXPECT_EQ(each.alignment_log2, each.allocates ? kind.alignment_log2 : 0u) << kind.size;
        }
    }
    EXPECT_EQ(trace.allocations(std::uint64_t{5} << 30), 1u);
    EXPECT_EQ(trace.frees(std::uint64_t{5} << 30), 1u);
    EXPECT_GE(trace.allocations(0), 1u);
    for (const event& each : trace.events)
        EXPECT_LT(each.size, std::uint64_t{6} << 30) << "a refused request was recorded";
}

INSTANTIATE_TEST_SUITE_P(linked, events_of_functions, testing::Values(FUNCTIONS, STATIC_FUNCTIONS),
                         [](const auto& each) { return each.index == 0 ? "dynamically" : "statically"; });

/// What a program itself counted, of all calls that its libraries made as well.
struct own_counts {
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;
};

TEST_F(events, are_as_many_as_the_program_counts) {
    const std::filesystem::path file = directory_.path() / "counts";
    ASSERT_EQ(::setenv("ACRE_COUNT_FILE", file.c_str(), 1), 0);
    // In front of the recorder, which acre puts before all that is preloaded.
    const loaded_trace trace = run({"/bin/sh", "-c", "LD_PRELOAD=" COUNT_CALLS ":$LD_PRELOAD exec " COUNTING});
    ::unsetenv("ACRE_COUNT_FILE");
    ASSERT_EQ(result_.exit_status, 0);
    own_counts counts;
    std::ifstream{file, std::ios::binary}.read(reinterpret_cast<char*>(&counts), sizeof counts);
    const auto allocations = static_cast<std::uint64_t>(
        std::count_if(trace.events.begin(), trace.events.end(), [](const event& each) { return each.allocates; }));
    EXPECT_GT(allocations, 400'000u);
    EXPECT_EQ(allocations, counts.allocations);
    EXPECT_EQ(trace.events.size() - allocations + trace.header.unmatched_frees, counts.frees);
    EXPECT_EQ(trace.header.unmatched_frees, 0u);
}

TEST_F(events, are_in_order_with_thread_and_time) {
    const loaded_trace trace = run({ENDINGS, "threads"});
    EXPECT_EQ(trace.allocations(4444), 8u * 5000);
    EXPECT_EQ(trace.frees(4444), 8u * 2000);
    std::map<std::uint32_t, std::size_t> by_thread;
    std::uint64_t last = 0;
    for (const event& each : trace.events) {
        EXPECT_GE(each.time, last);
        last = each.time;
        if (each.size == 4444 && each.allocates) ++by_thread[each.thread];
    }
    EXPECT_EQ(by_thread.size(), 8u);
    for (const auto& [thread, count] : by_thread) EXPECT_EQ(count, 5000u) << thread;
    EXPECT_GT(last, 0u);
    EXPECT_LT(trace.header.duration, 600'000'000'000u);
    EXPECT_EQ(trace.header.unmatched_frees, 0u);
    EXPECT_FALSE(trace.has_note("were not seen"));
}

TEST_F(events, of_threads_that_end_are_recorded_to_the_last_destructor) {
    const loaded_trace trace = run({ENDINGS, "threads"});
    EXPECT_EQ(trace.allocations(4343), 200u);
    EXPECT_EQ(trace.frees(4343), 200u);
    EXPECT_EQ(trace.allocations(5000), 200u);
    EXPECT_EQ(trace.frees(5000), 200u);
    for (const std::uint64_t round : {5001u, 5002u, 5003u}) {
        EXPECT_EQ(trace.allocations(round), 200u) << round;
        EXPECT_EQ(trace.frees(round), 200u) << round;
    }
}

TEST_F(events, go_on_around_signal_handlers_that_allocate) {
    const loaded_trace trace = run({ENDINGS, "signals"});
    EXPECT_EQ(trace.allocations(4242), 1000u);
    EXPECT_EQ(trace.allocations(77), trace.frees(77));
    EXPECT_GT(trace.allocations(77), 0u);
}

}  // namespace
}  // namespace acre::tool
