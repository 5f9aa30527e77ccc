// The fits in a report: of its advices, and from files.
#include "report/fits.hpp"

#include <gtest/gtest.h>

#include <acre/core/sanitizer.hpp>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "advise/candidates.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/error.hpp"

namespace {

using namespace acre::test;

using nlohmann::json;
using positions = std::vector<std::size_t>;

advice advice_of(verdict candidate, verdict decision, std::uint64_t objects = 100) {
    advice made;
    made.candidate = candidate;
    made.decision = decision;
    made.figures.objects = objects;
    return made;
}

TEST(advices_to_fit, are_those_with_a_decision_to_change) {
    EXPECT_EQ(advices_to_fit({advice_of(verdict::arena, verdict::leave), advice_of(verdict::arena, verdict::arena),
                              advice_of(verdict::stack_buffer, verdict::stack_buffer),
                              advice_of(verdict::multi_pool, verdict::multi_pool),
                              advice_of(verdict::object_pool, verdict::object_pool)}),
              (positions{1, 4}));
}

TEST(advices_to_fit, are_else_the_first_candidate_or_the_busiest_site) {
    EXPECT_EQ(advices_to_fit({advice_of(verdict::leave, verdict::leave), advice_of(verdict::arena, verdict::leave),
                              advice_of(verdict::scratch, verdict::leave)}),
              positions{1});
    EXPECT_EQ(advices_to_fit({advice_of(verdict::leave, verdict::leave), advice_of(verdict::leave, verdict::leave)}),
              positions{0});
    EXPECT_EQ(advices_to_fit({advice_of(verdict::stack_buffer, verdict::stack_buffer)}), positions{});
    EXPECT_EQ(advices_to_fit({}), positions{});
}

TEST(advices_to_fit, stay_within_the_limits) {
    const std::vector<advice> many(9, advice_of(verdict::arena, verdict::arena, 100));
    EXPECT_EQ(advices_to_fit(many, {.max_fits = 3, .max_events = 1'000'000}).size(), 3U);
    EXPECT_EQ(advices_to_fit(many, {.max_fits = 9, .max_events = 500}).size(), 2U);
    EXPECT_EQ(advices_to_fit(many, {.max_fits = 9, .max_events = 1}).size(), 1U);
}

class advised_fits : public testing::Test {
protected:
    nlohmann::json fits_of(const made_trace& made, const std::function<void(advice&)>& change = [](advice&) {}) {
        trace_reader reader{made.write(directory_ / "a.acre")};
        const call_paths paths{reader.tables()};
        const history run{reader, paths};
        std::vector<advice> advices = find_candidates(run, paths).advices;
        std::ranges::for_each(advices, change);
        return fit_advices(run, advices, paths, reader.header());
    }

private:
    temporary_directory directory_;
};

/// Requests with `objects` objects of `bytes` each, freed by the function that began the request.
void serve(made_trace& made, int requests, int objects, std::uint64_t bytes, std::uint32_t thread) {
    const auto text = made.stack({"main", "serve", "request:5", "copy_text:7", "malloc"});
    const auto end = made.stack({"main", "serve", "request:8"});
    for (int i = 0; i < requests; ++i) {
        std::vector<std::uint64_t> alive;
        for (int n = 0; n < objects; ++n) alive.push_back(made.allocate(text, bytes, thread));
        for (const std::uint64_t object : alive) made.release(object, end, thread);
    }
}

TEST_F(advised_fits, are_checked_and_have_the_keys_of_acre_fit) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take room that an ordinary build does not need";
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
    EXPECT_EQ(fits, fits_of(made));
}

// Beside a recommended pool stood numbers, sizes and code of a multi_arena.
TEST_F(advised_fits, are_those_of_the_recommended_type) {
    made_trace made;
    serve(made, 500, 8, 100, 0);
    const auto fit_for = [&](verdict which) {
        return fits_of(made, [&](advice& each) { each.candidate = each.decision = which; })[0];
    };
    for (const verdict pool : {verdict::object_pool, verdict::concurrent_object_pool}) {
        EXPECT_FALSE(fit_for(pool).contains("multi_arena"));
        EXPECT_TRUE(fit_for(pool).contains("slots"));
    }
    for (const verdict arena : {verdict::arena, verdict::scratch, verdict::monotonic_arena, verdict::phase_arena}) {
        EXPECT_FALSE(fit_for(arena).contains("multi_arena"));
        EXPECT_TRUE(fit_for(arena).contains("arena"));
    }
    EXPECT_FALSE(fit_for(verdict::multi_arena)["multi_arena"]["pairs"].empty());
    EXPECT_FALSE(fit_for(verdict::multi_arena).contains("slots"));
    for (const char* sizes : {"multi_arena", "arena", "slots"})
        EXPECT_TRUE(fit_for(verdict::leave).contains(sizes)) << sizes;
}

TEST_F(advised_fits, are_of_the_neediest_thread_where_each_has_its_own) {
    made_trace made;
    serve(made, 500, 8, 100, 0);
    serve(made, 400, 8, 200, 1);
    const nlohmann::json fits = fits_of(made);
    ASSERT_EQ(fits.size(), 1U);
    EXPECT_EQ(fits[0]["thread"], 1);
    EXPECT_EQ(fits[0]["allocations"], 3200);
}

TEST_F(advised_fits, with_impossible_sizes_are_refused_one_by_one) {
    made_trace made;
    serve(made, 500, 8, std::uint64_t{1} << 50, 0);
    const nlohmann::json fits = fits_of(made);
    ASSERT_EQ(fits.size(), 1U);
    EXPECT_TRUE(fits[0].contains("refused")) << fits[0].dump();
}

TEST_F(advised_fits, of_many_allocations_are_refused_where_nothing_is_to_be_changed) {
    made_trace made;
    serve(made, 500, 8, 100, 0);
    const nlohmann::json fits = fits_of(made, [](advice& each) {
        each.decision = verdict::leave;
        each.figures.objects = fit_limits::max_events_left;
    });
    ASSERT_EQ(fits.size(), 1U);
    EXPECT_TRUE(fits[0].contains("refused")) << fits[0].dump();
}

class fit_file : public testing::Test {
protected:
    json written_and_read(const std::string& text) {
        const std::filesystem::path path = directory_ / "fit.json";
        std::ofstream{path} << text;
        return read_fit(path.string());
    }

    json whole() const {
        return {{"selected", "all"},
                {"allocations", 5},
                {"peak_bytes", 100},
                {"multi_arena",
                 {{"pairs", {{{"arenas", 2}, {"bytes", 64}, {"total_bytes", 200}}}},
                  {"least", nullptr},
                  {"impossible", ""},
                  {"check", nullptr},
                  {"code", "acre::multi_arena a;"}}},
                {"arena",
                 {{"first_block_bytes", 1024},
                  {"bytes_without_reset", 4096},
                  {"generations", {{"count", 3}, {"p50_bytes", 32}, {"p99_bytes", 1024}, {"max_bytes", 1024}}},
                  {"check", {{"suffices", true}, {"one_less_fails", nullptr}, {"failure", ""}}}}},
                {"slots", {{"sizes", json::array()}}}};
    }

private:
    temporary_directory directory_;
};

TEST_F(fit_file, is_read_as_printed) {
    EXPECT_EQ(written_and_read(whole().dump()), whole());
    json without_front = whole();
    without_front.erase("multi_arena");
    EXPECT_EQ(written_and_read(without_front.dump()), without_front);
    json of_an_advice = without_front;
    of_an_advice["advice"] = 7;
    EXPECT_EQ(written_and_read(of_an_advice.dump()), without_front);
}

TEST_F(fit_file, is_refused_if_it_is_of_another_recording) {
    trace_header header;
    header.command = {"app", "\xff"};
    header.date = "2026-11-27T10:00:00Z";
    json fit = whole();
    EXPECT_NO_THROW(require_same_recording(fit, "f", header)) << "it does not tell";
    fit["command"] = {"app", "\ufffd"};
    fit["recorded"] = header.date;
    EXPECT_NO_THROW(require_same_recording(fit, "f", header));
    fit["recorded"] = "2026-11-27T10:00:01Z";
    EXPECT_THROW(require_same_recording(fit, "f", header), tool_error);
    fit["recorded"] = header.date;
    fit["command"] = {"other"};
    EXPECT_THROW(require_same_recording(fit, "f", header), tool_error);
}

TEST_F(fit_file, is_refused_if_the_page_could_not_show_it) {
    std::vector<std::string> wrong{"", "{", "[]", "5", "{}", "no JSON", "\xff"};
    const auto with = [&](const char* pointer, const json& value) {
        json fit = whole();
        fit[json::json_pointer{pointer}] = value;
        wrong.push_back(fit.dump());
    };
    with("/selected", 5);
    with("/allocations", "many");
    with("/allocations", -1);
    with("/multi_arena", "text");
    with("/multi_arena/pairs", nullptr);
    with("/multi_arena/pairs/0/arenas", 0);
    with("/multi_arena/pairs/0/bytes", json::object());
    with("/multi_arena/least", 5);
    with("/multi_arena/code", nullptr);
    with("/slots/sizes", {{{"bytes", 8}}});
    with("/multi_arena/check", 5);
    with("/arena/first_block_bytes", nullptr);
    with("/arena/bytes_without_reset", "many");
    with("/arena/generations/p50_bytes", nullptr);
    with("/arena/generations", json::array());
    with("/arena/check/one_less_fails", "no");
    with("/arena/check/failure", nullptr);
    for (const std::string& text : wrong) {
        EXPECT_THROW(written_and_read(text), tool_error) << text;
    }
    EXPECT_THROW(read_fit("no such file"), tool_error);
    EXPECT_THROW(read_fit("/"), tool_error);
    EXPECT_THROW(read_fit("/dev/zero"), tool_error);
}

}  // namespace
