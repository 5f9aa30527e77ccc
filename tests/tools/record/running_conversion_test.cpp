// A log is converted while the program runs, and the trace is as one that was converted afterwards.
#include <sched.h>

#include <unordered_map>

#include "recording.hpp"

namespace acre::tool {
namespace {

constexpr std::size_t of_all = 3 * 60 * 500;

class running_conversion_of : public recording {
protected:
    static bool has_one_processor() {
        cpu_set_t set;
        CPU_ZERO(&set);
        return ::sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < 2;
    }

    static void expect_all_objects(const loaded_trace& trace) {
        EXPECT_EQ(trace.allocations(7001), of_all - of_all / 10);
        EXPECT_EQ(trace.frees(7001), of_all - of_all / 10);
        EXPECT_EQ(trace.allocations(7010), of_all / 10);
        EXPECT_EQ(trace.allocations(7020), of_all / 10);
        EXPECT_EQ(trace.frees(7020), of_all / 10);
        EXPECT_FALSE(trace.has_note("not seen"));
        EXPECT_FALSE(trace.has_note("damaged"));
    }
};

TEST_F(running_conversion_of, threads_that_free_for_each_other_has_all_their_events) {
    const loaded_trace trace = run({RECORD_BUSY});
    expect_all_objects(trace);
    EXPECT_EQ(result_.unmatched_frees, 0U);
    std::unordered_map<std::uint64_t, std::uint32_t> makers;
    std::size_t freed_elsewhere = 0;
    std::uint64_t last = 0;
    for (const event& each : trace.events) {
        EXPECT_GE(each.time, last);
        last = each.time;
        if (each.allocates) makers[each.object] = each.thread;
        if (!each.allocates && each.size == 7001) freed_elsewhere += makers.at(each.object) != each.thread ? 1U : 0U;
    }
    EXPECT_EQ(freed_elsewhere, of_all - of_all / 10);
    EXPECT_GE(trace.header.duration, 60U * 5'000'000);
    if (has_one_processor()) GTEST_SKIP() << "there is no processor besides the program's";
    EXPECT_GT(result_.converted_early, result_.events / 10);
}

TEST_F(running_conversion_of, a_program_with_scopes_is_repeated_at_its_end) {
    const loaded_trace trace = run({RECORD_BUSY_MARKED});
    expect_all_objects(trace);
    ASSERT_EQ(trace.marks.size(), 2U);
    EXPECT_EQ(trace.tables.scope_names.at(trace.marks[0].name), "last");
    EXPECT_EQ(trace.allocations(7030), 1U);
    EXPECT_EQ(result_.converted_early, 0U);
}

}  // namespace
}  // namespace acre::tool
