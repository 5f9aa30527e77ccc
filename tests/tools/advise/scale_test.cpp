// Long runs: events go to a file, sizes become coarse, replays are cut; the advice stays the same.
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>

#include "advise/advised_events.hpp"
#include "advise/candidates.hpp"
#include "advise/history.hpp"
#include "advise/wording.hpp"
#include "tools/support/large_trace.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/coarse.hpp"
#include "trace/error.hpp"
#include "trace/value_counts.hpp"

namespace {

using namespace acre::test;

stored_event numbered(std::uint32_t number) {
    stored_event event;
    event.slot = number & stored_event::last_slot;
    event.context_or_stack = ~number;
    return event;
}

TEST(event_store, returns_its_events_from_memory_and_from_a_file) {
    constexpr std::uint32_t block = 65'536;
    for (const std::uint32_t blocks : {1U, 2U, 100U}) {
        for (const std::uint32_t count : {0U, 1U, block, block + 1, 300'000U}) {
            event_store store{std::size_t{blocks} * block * sizeof(stored_event)};
            for (std::uint32_t i = 0; i < count; ++i) store.push(numbered(i));
            EXPECT_EQ(store.size(), count);
            EXPECT_EQ(store.is_in_memory(), count <= blocks * block) << blocks << " " << count;
            for (int again = 0; again < 2; ++again) {
                std::uint32_t next = 0;
                bool right = true;
                store.for_each([&](const stored_event& each) {
                    right = right && each.slot == next && each.context_or_stack == ~next;
                    ++next;
                });
                EXPECT_EQ(next, count);
                EXPECT_TRUE(right);
            }
        }
    }
}

TEST(event_store, names_the_directory_it_cannot_write_to) {
    ::setenv("TMPDIR", "/nowhere/at/all", 1);
    event_store store{0};
    try {
        for (std::uint32_t i = 0; i < 70'000; ++i) store.push(numbered(i));
        ADD_FAILURE() << "wrote into no directory";
    } catch (const tool_error& error) {
        EXPECT_NE(std::string{error.what()}.find("/nowhere/at/all"), std::string::npos) << error.what();
        EXPECT_NE(std::string{error.what()}.find("TMPDIR"), std::string::npos) << error.what();
    }
    ::unsetenv("TMPDIR");
}

TEST(coarse, is_never_below_and_less_than_a_hundredth_above) {
    std::mt19937_64 random{5};
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t value = random() >> (random() % 64);
        const std::uint64_t rounded = coarse(value);
        if (value > ~std::uint64_t{0} - (~std::uint64_t{0} >> 8)) continue;
        EXPECT_GE(rounded, value);
        EXPECT_LE(rounded - value, value / 100) << value;
        EXPECT_EQ(coarse(rounded), rounded);
    }
    EXPECT_EQ(coarse(255), 255U);
    EXPECT_EQ(coarse(257), 258U);
}

TEST(value_counts, keeps_few_values_exactly_and_many_coarsely) {
    value_counts few;
    for (std::uint64_t i = 0; i < 1000; ++i) few.add(i * 1001);
    EXPECT_EQ(few.at_rank(0), 0U);
    EXPECT_EQ(few.at_rank(500), 500U * 1001);
    EXPECT_EQ(few.at_rank(999), 999U * 1001);
    value_counts many;
    for (std::uint64_t i = 0; i < 1'000'000; ++i) many.add(i);
    EXPECT_EQ(many.total(), 1'000'000U);
    EXPECT_NEAR(static_cast<double>(many.at_rank(500'000)), 500'000, 5'000);
}

TEST(shape_table, has_a_bound) {
    shape_table shapes;
    std::uint32_t max = 0;
    for (std::uint64_t i = 0; i < 3 * shape_table::max_exact; ++i) max = std::max(max, shapes.number_of({i, 0}));
    EXPECT_LT(max, shape_table::max_exact + 10'000);
    EXPECT_EQ(shapes[shapes.number_of({1000, 5})], (requested_shape{1000, 5}));
    const std::uint64_t beyond = 2 * shape_table::max_exact + 12'345;
    EXPECT_GE(shapes[shapes.number_of({beyond, 0})].size, beyond);
}

TEST(absurd_sizes, give_advice_with_bounded_figures) {
    // Only a hostile file has such sizes.
    const temporary_directory directory;
    made_trace made;
    const auto makes = made.stack({"main", "make:1"});
    const auto frees = made.stack({"main", "drop:1"});
    std::deque<std::uint64_t> live;
    for (std::uint64_t i = 0; i < 500; ++i) {
        live.push_back(made.allocate(makes, (~std::uint64_t{0} >> i % 7) - 1));
        if (live.size() < 20) continue;
        made.release(live.front(), frees);
        live.pop_front();
    }
    trace_reader reader{made.write(directory / "a.acre")};
    const call_paths paths{reader.tables()};
    const history run{reader, paths};
    const advice_list list = find_candidates(run, paths);
    ASSERT_EQ(list.advices.size(), 1U);
    EXPECT_LE(list.advices[0].arena_bytes, std::uint64_t{1} << 40);
    EXPECT_NE(evidence_of(list.advices[0], paths), "");
}

class long_run : public testing::Test {
protected:
    long_run() {
        large_trace{200'000}.write(directory_ / "a.acre");
        reader_.emplace(directory_ / "a.acre");
        paths_.emplace(reader_->tables());
    }

    history run(std::size_t memory) { return {*reader_, *paths_, memory}; }

    temporary_directory directory_;
    std::optional<trace_reader> reader_;
    std::optional<call_paths> paths_;
};

TEST_F(long_run, has_the_same_advice_when_its_events_are_in_a_file) {
    const history in_memory = run(event_store::usual_memory);
    const history in_file = run(0);
    const advice_list expected = find_candidates(in_memory, *paths_);
    const advice_list found = find_candidates(in_file, *paths_);
    ASSERT_GE(expected.advices.size(), 8U);
    ASSERT_EQ(found.advices.size(), expected.advices.size());
    for (std::size_t i = 0; i < expected.advices.size(); ++i) {
        EXPECT_EQ(title_of(found.advices[i], *paths_), title_of(expected.advices[i], *paths_));
        EXPECT_EQ(evidence_of(found.advices[i], *paths_), evidence_of(expected.advices[i], *paths_));
        EXPECT_EQ(advised_sequence(in_file, found.advices[i]).steps.size(),
                  advised_sequence(in_memory, expected.advices[i]).steps.size());
    }
}

TEST_F(long_run, is_replayed_in_part_when_it_is_too_long) {
    const history whole = run(event_store::usual_memory);
    const advice_list list = find_candidates(whole, *paths_);
    const advice& first = list.advices.at(0);
    const sequence all = advised_sequence(whole, first);
    const sequence cut_short = advised_sequence(whole, first, {.events = 1000});
    const auto events_in = [](const sequence& steps) {
        return std::count_if(steps.steps.begin(), steps.steps.end(),
                             [](const step& each) { return each.kind() != step_kind::reset; });
    };
    EXPECT_EQ(events_in(all), static_cast<std::ptrdiff_t>(first.figures.events()));
    EXPECT_GT(events_in(cut_short), 0);
    EXPECT_LE(events_in(cut_short), 2 * 1021);  // a stretch of allocations, and their frees
    advice cut = first;
    cut.saving.done = true;
    cut.saving.replayed_share = 0.25;
    EXPECT_NE(saving_of(cut).find("a sample of 25.0 % of its events"), std::string::npos) << saving_of(cut);
    EXPECT_EQ(saving_of(first).find("a sample"), std::string::npos);
}

}  // namespace
