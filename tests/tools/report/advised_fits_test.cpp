#include "report/advised_fits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "advise/plan.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"

namespace {

using namespace acre::test;

using places = std::vector<std::size_t>;

advice advice_of(verdict suits, verdict says, std::uint64_t objects = 100) {
    advice made;
    made.suits = suits;
    made.says = says;
    made.figures.objects = objects;
    return made;
}

TEST(advices_to_fit, are_those_that_say_to_write_something) {
    EXPECT_EQ(advices_to_fit({advice_of(verdict::arena, verdict::leave), advice_of(verdict::arena, verdict::arena),
                              advice_of(verdict::stack_buffer, verdict::stack_buffer),
                              advice_of(verdict::object_pool, verdict::object_pool)}),
              (places{1, 3}));
}

TEST(advices_to_fit, are_else_the_first_that_would_suit_or_the_busiest_place) {
    EXPECT_EQ(advices_to_fit({advice_of(verdict::leave, verdict::leave), advice_of(verdict::arena, verdict::leave),
                              advice_of(verdict::scratch, verdict::leave)}),
              places{1});
    EXPECT_EQ(advices_to_fit({advice_of(verdict::leave, verdict::leave), advice_of(verdict::leave, verdict::leave)}),
              places{0});
    EXPECT_EQ(advices_to_fit({advice_of(verdict::stack_buffer, verdict::stack_buffer)}), places{});
    EXPECT_EQ(advices_to_fit({}), places{});
}

TEST(advices_to_fit, are_no_more_than_there_is_time_for) {
    const std::vector<advice> many(9, advice_of(verdict::arena, verdict::arena, 100));
    EXPECT_EQ(advices_to_fit(many, {.max_fits = 3, .max_events = 1'000'000}).size(), 3U);
    EXPECT_EQ(advices_to_fit(many, {.max_fits = 9, .max_events = 500}).size(), 2U);
    EXPECT_EQ(advices_to_fit(many, {.max_fits = 9, .max_events = 1}).size(), 1U);
}

class advised_fits : public testing::Test {
protected:
    nlohmann::json fits_of(const made_trace& made) {
        trace_reader reader{made.write(directory_ / "a.acre")};
        const call_paths paths{reader.tables()};
        const history run{reader, paths};
        return fit_advices(run, plan_advices(run, paths).advices, paths, reader.header());
    }

private:
    temporary_directory directory_;
};

/// Requests of `objects` objects of `bytes` bytes each, all freed by the function that began the request.
void serve(made_trace& made, int requests, int objects, std::uint64_t bytes, std::uint32_t thread) {
    const auto text = made.stack({"main", "serve", "request:5", "copy_text:7", "malloc"});
    const auto end = made.stack({"main", "serve", "request:8"});
    for (int i = 0; i < requests; ++i) {
        std::vector<std::uint64_t> alive;
        for (int n = 0; n < objects; ++n) alive.push_back(made.allocate(text, bytes, thread));
        for (const std::uint64_t object : alive) made.release(object, end, thread);
    }
}

TEST_F(advised_fits, are_checked_and_as_acre_fit_tells_them) {
    made_trace made;
    serve(made, 500, 8, 100, 0);
    const nlohmann::json fits = fits_of(made);
    ASSERT_EQ(fits.size(), 1U);
    const nlohmann::json& fit = fits[0];
    EXPECT_EQ(fit["advice"], 1);
    EXPECT_TRUE(fit["thread"].is_null());
    EXPECT_EQ(fit["allocations"], 4000);
    EXPECT_EQ(fit["peak_bytes"], 800);
    EXPECT_EQ(fit["arena"]["generations"]["count"], 500);
    EXPECT_EQ(fit["arena"]["check"]["suffices"], true);
    EXPECT_EQ(fit["multi_arena"]["check"]["suffices"], true);
    EXPECT_FALSE(fit["multi_arena"]["pairs"].empty());
    EXPECT_EQ(fits, fits_of(made));
}

TEST_F(advised_fits, are_of_the_thread_that_needs_most_where_each_has_its_own) {
    made_trace made;
    serve(made, 500, 8, 100, 0);
    serve(made, 400, 8, 200, 1);
    const nlohmann::json fits = fits_of(made);
    ASSERT_EQ(fits.size(), 1U);
    EXPECT_EQ(fits[0]["thread"], 1);
    EXPECT_EQ(fits[0]["allocations"], 3200);
}

TEST_F(advised_fits, of_sizes_that_no_program_has_are_refused_one_by_one) {
    made_trace made;
    serve(made, 500, 8, std::uint64_t{1} << 50, 0);
    const nlohmann::json fits = fits_of(made);
    ASSERT_EQ(fits.size(), 1U);
    EXPECT_TRUE(fits[0].contains("refused")) << fits[0].dump();
}

}  // namespace
