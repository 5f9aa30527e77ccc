// Traces of paused and of sampled recordings are right about what they contain.
#include <cmath>

#include "recording.hpp"

namespace acre::tool {
namespace {

class paused : public recording, public testing::WithParamInterface<const char*> {
protected:
    static record_options with_signal(record_options options) {
        options.toggle_signal = SIGUSR2;
        return options;
    }
};

TEST_P(paused, recordings_leave_out_allocations_made_meanwhile) {
    const record_result result = record(with_signal(options_for({PAUSING, GetParam()})));
    const loaded_trace trace{result.traces.at(0)};
    EXPECT_EQ(trace.allocations(1001), 10u);
    EXPECT_EQ(trace.frees(1001), 10u) << "these were freed in the pause";
    for (const std::uint64_t size : {1002u, 1004u, 1005u}) EXPECT_EQ(trace.allocations(size), 0u) << size;
    EXPECT_EQ(trace.allocations(1003), 10u);
    EXPECT_EQ(trace.frees(1003), 10u);
    EXPECT_EQ(trace.header.unmatched_frees, 0u);
    EXPECT_TRUE(trace.has_note("paused once"));
    EXPECT_FALSE(trace.has_note("were not seen"));
    ASSERT_EQ(trace.marks.size(), 2u);
    EXPECT_EQ(trace.marks[0].kind, mark_kind::recording_paused);
    EXPECT_EQ(trace.marks[1].kind, mark_kind::recording_resumed);
    const auto allocated_before = [&](const mark& of) {
        return std::count_if(trace.events.begin(), trace.events.begin() + static_cast<std::ptrdiff_t>(of.event),
                             [](const event& each) { return each.size > 1000 && each.size < 1010; });
    };
    EXPECT_EQ(allocated_before(trace.marks[0]), 10);
    EXPECT_EQ(allocated_before(trace.marks[1]), 20);
}

INSTANTIATE_TEST_SUITE_P(by, paused, testing::Values("program", "signal", "outside"),
                         [](const auto& each) { return std::string{each.param}; });

TEST_P(paused, recordings_can_start_paused) {
    record_options options = with_signal(options_for({PAUSING, "signal"}));
    options.paused = true;
    const loaded_trace trace{record(options).traces.at(0)};
    EXPECT_EQ(trace.allocations(1001), 0u);
    EXPECT_EQ(trace.allocations(1002), 10u);
    EXPECT_EQ(trace.allocations(1003), 0u);
    EXPECT_EQ(trace.frees(1002), 10u);
    EXPECT_EQ(trace.frees(1005), 10u);
    EXPECT_EQ(trace.header.unmatched_frees, 0u);
    ASSERT_EQ(trace.marks.size(), 3u);
    EXPECT_EQ(trace.marks[0].event, 0u);
    EXPECT_EQ(trace.marks[0].kind, mark_kind::recording_paused);
}

class samples : public recording {
protected:
    loaded_trace sample_of(const char* way, std::uint32_t period) {
        record_options options = options_for({PAUSING, way});
        options.sampling_period = period;
        return loaded_trace{record(options).traces.at(0)};
    }
};

TEST_F(samples, have_one_allocation_in_n_and_its_free) {
    constexpr double made = 400'000;
    for (const std::uint32_t period : {2u, 10u, 100u}) {
        const loaded_trace trace = sample_of("often in threads", period);
        EXPECT_EQ(trace.header.sampling_period, period);
        const double share = 1.0 / period;
        const double deviation = std::sqrt(made * share * (1 - share));
        EXPECT_NEAR(static_cast<double>(trace.allocations(4321)), made * share, 6 * deviation) << period;
        EXPECT_EQ(trace.frees(4321), trace.allocations(4321)) << period;
        EXPECT_EQ(trace.header.unmatched_frees, 0u) << period;
        EXPECT_FALSE(trace.has_note("were not seen")) << period;
    }
}

TEST_F(samples, without_any_allocation_are_reported_as_due_to_sampling) {
    record_options options = options_for({PAUSING, "seldom"});
    options.sampling_period = 1'000'000;
    EXPECT_NE(record(options).why_nothing.find("in the sample"), std::string::npos);
}

TEST_F(samples, are_the_same_each_time) {
    EXPECT_EQ(sample_of("often", 50).allocations(4321), sample_of("often", 50).allocations(4321));
}

}  // namespace
}  // namespace acre::tool
