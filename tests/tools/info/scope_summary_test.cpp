// The figures of the scopes that a program marks.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "info/info_report.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"

namespace {

using namespace acre::test;

class scope_summaries : public testing::Test {
protected:
    void begin(const std::string& name, std::uint32_t thread = 0) {
        made_.mark_here(mark_kind::scope_begin, name, thread);
    }
    void end(const std::string& name, std::uint32_t thread = 0) { made_.mark_here(mark_kind::scope_end, name, thread); }
    std::uint64_t allocate(std::uint64_t size, std::uint32_t thread = 0) {
        return made_.allocate(stack_, size, thread);
    }
    void release(std::uint64_t object, std::uint32_t thread = 0) { made_.release(object, stack_, thread); }

    std::vector<scope_summary> summarised() {
        trace_reader reader{made_.write(directory_ / "a.acre")};
        const call_paths paths{reader.tables()};
        return summarise(reader, paths).scopes;
    }

    temporary_directory directory_;
    made_trace made_;
    std::uint32_t stack_ = made_.stack({"main"});
};

TEST_F(scope_summaries, count_runs_and_their_allocations) {
    allocate(1);
    for (std::uint64_t i = 1; i <= 4; ++i) {
        begin("frame");
        for (std::uint64_t n = 0; n < i; ++n) release(allocate(10));
        end("frame");
    }
    const auto scopes = summarised();
    ASSERT_EQ(scopes.size(), 1u);
    EXPECT_EQ(scopes[0].name, "frame");
    EXPECT_EQ(scopes[0].runs, 4u);
    EXPECT_EQ(scopes[0].threads, 1u);
    EXPECT_EQ(scopes[0].allocated.count, 10u);
    EXPECT_EQ(scopes[0].allocated.bytes, 100u);
    EXPECT_EQ(scopes[0].bytes.percentile(0.5), 20u);
    EXPECT_EQ(scopes[0].bytes.percentile(0.99), 40u);
    EXPECT_EQ(scopes[0].bytes.largest(), 40u);
    EXPECT_EQ(scopes[0].left.count, 0u);
    EXPECT_EQ(scopes[0].runs_leaving, 0u);
}

TEST_F(scope_summaries, count_objects_that_outlive_their_run) {
    begin("outer");
    const auto first = allocate(100);
    begin("inner");
    const auto second = allocate(7);
    release(first);
    const auto third = allocate(8);
    end("inner");
    release(second);
    end("outer");
    release(third);
    const auto scopes = summarised();
    ASSERT_EQ(scopes.size(), 2u);
    EXPECT_EQ(scopes[0].name, "outer");
    EXPECT_EQ(scopes[0].allocated.bytes, 115u);
    EXPECT_EQ(scopes[0].left.bytes, 8u);
    EXPECT_EQ(scopes[1].name, "inner");
    EXPECT_EQ(scopes[1].allocated.bytes, 15u);
    EXPECT_EQ(scopes[1].left.count, 2u);
    EXPECT_EQ(scopes[1].left.bytes, 15u);
    EXPECT_EQ(scopes[1].runs_leaving, 1u);
}

TEST_F(scope_summaries, count_allocations_in_a_recursion_once) {
    begin("level");
    allocate(1);
    begin("level");
    allocate(10);
    end("level");
    end("level");
    const auto scopes = summarised();
    ASSERT_EQ(scopes.size(), 1u);
    EXPECT_EQ(scopes[0].runs, 2u);
    EXPECT_EQ(scopes[0].allocated.bytes, 11u);
    EXPECT_EQ(scopes[0].left.bytes, 11u);
    EXPECT_EQ(scopes[0].bytes.largest(), 11u);
    EXPECT_EQ(scopes[0].bytes.percentile(0.5), 10u);
}

TEST_F(scope_summaries, keep_threads_apart) {
    const auto before = allocate(1, 0);
    allocate(2, 1);
    begin("work", 0);
    begin("work", 1);
    const auto own = allocate(20, 0);
    allocate(300, 1);
    release(own, 1);
    release(before, 0);
    end("work", 0);
    allocate(5, 0);
    end("work", 1);
    const auto scopes = summarised();
    ASSERT_EQ(scopes.size(), 1u);
    EXPECT_EQ(scopes[0].threads, 2u);
    EXPECT_EQ(scopes[0].allocated.bytes, 320u);
    EXPECT_EQ(scopes[0].left.bytes, 300u);
}

TEST_F(scope_summaries, end_open_scopes_with_the_trace) {
    begin("outer");
    begin("inner");
    allocate(30);
    const auto scopes = summarised();
    ASSERT_EQ(scopes.size(), 2u);
    for (const auto& scope : scopes) EXPECT_EQ(scope.left.bytes, 30u) << scope.name;
}

TEST_F(scope_summaries, are_in_the_text_and_the_json) {
    begin("frame");
    allocate(1 << 20);
    end("frame");
    trace_reader reader{made_.write(directory_ / "a.acre")};
    const call_paths paths{reader.tables()};
    const trace_summary summary = summarise(reader, paths);
    const std::string text = info_text(reader, paths, summary, 10);
    EXPECT_NE(text.find("1 run in 1 thread, 1 allocation, 1.0 MiB"), std::string::npos) << text;
    EXPECT_NE(text.find("1 object outlives its run (1.0 MiB, in 1 run)"), std::string::npos) << text;
    const auto json = info_json(reader, paths, summary, 10).at("scopes");
    ASSERT_EQ(json.size(), 1u);
    EXPECT_EQ(json[0].at("name"), "frame");
    for (const char* each : {"p50", "p99", "max"}) EXPECT_EQ(json[0].at("run_bytes").at(each), 1 << 20) << each;
    EXPECT_EQ(json[0].at("left").at("count"), 1);
}

TEST(run_sizes, are_within_a_thirty_second) {
    run_sizes sizes;
    EXPECT_EQ(sizes.percentile(0.5), 0u);
    for (std::uint64_t i = 1; i <= 100'000; ++i) sizes.add(i * 997);
    for (const double share : {0.01, 0.5, 0.9, 0.99}) {
        const double exact = share * 100'000 * 997;
        const auto said = static_cast<double>(sizes.percentile(share));
        EXPECT_GE(said, exact);
        EXPECT_LE(said, exact * 33 / 32);
    }
    EXPECT_EQ(sizes.percentile(1), 99'700'000u);
    sizes.add(~std::uint64_t{0});
    EXPECT_EQ(sizes.percentile(1), ~std::uint64_t{0});
}

}  // namespace
