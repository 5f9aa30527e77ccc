// Allocations that a program need not make: containers that grow, and containers that are made in each turn of a loop.
#include "advise/fewer_allocations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "advise/advice_code.hpp"
#include "advise/advised_events.hpp"
#include "advise/candidates.hpp"
#include "advise/first_steps.hpp"
#include "advise/rules.hpp"
#include "advise/short_answer.hpp"
#include "advise/wording.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/reader.hpp"

namespace {

using namespace acre::test;

constexpr const char* grows = "std::vector<int>::_M_realloc_append<int>(int&&)";
constexpr const char* string_constructor = "std::string::basic_string(char const*)";

class fewer_allocations : public testing::Test {
protected:
    const advice_list& advised() {
        reader_.emplace(made.write(directory_ / "a.acre"));
        paths_.emplace(reader_->tables());
        run_.emplace(*reader_, *paths_);
        list_ = find_candidates(*run_, *paths_);
        return list_;
    }

    /// The only one that allocates less; null where there is none, or more than one.
    const advice* only_fewer() {
        const auto less = [](const advice& each) { return traits_of(each.candidate).allocates_less; };
        const auto found = std::ranges::find_if(advised().advices, less);
        if (std::ranges::count_if(list_.advices, less) != 1) return nullptr;
        return &*found;
    }

    /// A buffer for one element of four bytes grows to `last` bytes by doubling. Returns the last buffer.
    std::uint64_t grown(std::uint32_t stack, std::uint64_t last, std::uint64_t first = 4) {
        std::uint64_t buffer = made.allocate(stack, first);
        for (std::uint64_t size = 2 * first; size <= last; size *= 2) {
            const std::uint64_t larger = made.allocate(stack, size);
            made.release(buffer, stack);
            buffer = larger;
        }
        return buffer;
    }

    temporary_directory directory_;
    made_trace made;
    std::optional<trace_reader> reader_;
    std::optional<call_paths> paths_;
    std::optional<history> run_;
    advice_list list_;
};

TEST_F(fewer_allocations, a_vector_that_grows_from_empty_is_reserved) {
    const auto fills = made.stack({"main:3", "fill:7", grows});
    const auto drops = made.stack({"main:4"});
    for (int i = 0; i < 300; ++i) made.release(grown(fills, 8192), drops);
    const advice* found = only_fewer();
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->candidate, verdict::reserve);
    EXPECT_EQ(found->growth->containers, 300U);
    EXPECT_EQ(found->growth->replaced, 300U * 11);
    EXPECT_EQ(found->growth->copied_bytes, 300U * (8192 - 4));
    EXPECT_EQ(found->growth->element_bytes, 4U);
    EXPECT_EQ(title_of(*found, *paths_), "reserve() for std::vector<int> in fill");
    EXPECT_EQ(code_of(*found, *paths_),
              "// the std::vector<int> that grows at made.cpp:7, in fill:\n"
              "container.reserve(2048);  // before it is filled\n");
    EXPECT_NE(evidence_of(*found, *paths_).find("3,300 buffers were replaced"), std::string::npos);
    EXPECT_NE(evidence_of(*found, *paths_).find("always 8.0 KiB (2,048 elements)"), std::string::npos);
}

TEST_F(fewer_allocations, sizes_that_vary_are_told_by_median_p99_and_largest) {
    const auto fills = made.stack({"main:3", "fill:7", grows});
    const auto drops = made.stack({"main:4"});
    for (int i = 0; i < 1000; ++i) made.release(grown(fills, i == 0 ? 65'536 : i < 100 ? 128 : 64), drops);
    const advice* found = only_fewer();
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->growth->median_bytes, 64U);
    EXPECT_EQ(found->growth->p99_bytes, 128U);
    EXPECT_EQ(found->growth->largest_bytes, 65'536U);
    EXPECT_NE(code_of(*found, *paths_).find("reserve(32)"), std::string::npos) << code_of(*found, *paths_);
}

TEST_F(fewer_allocations, few_large_ones_do_not_choose_what_to_reserve) {
    EXPECT_EQ((growth_figures{.median_bytes = 64, .p99_bytes = 65'536}).bytes_to_reserve(), 64U);
}

TEST_F(fewer_allocations, what_is_made_in_each_turn_is_kept) {
    const auto makes = made.stack({"main:3", "search:7", "std::vector<int>::vector(unsigned long)"});
    const auto ends = made.stack({"main:3", "search:9", "std::vector<int>::~vector()"});
    for (int i = 0; i < 3000; ++i) made.release(made.allocate(makes, 256), ends);
    const advice* found = only_fewer();
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->candidate, verdict::keep_buffer);
    EXPECT_EQ(title_of(*found, *paths_), "keep the buffer of std::vector<int> in search");
    const std::string pasted = code_of(*found, *paths_);
    EXPECT_NE(pasted.find("static thread_local std::vector<int> search_kept;"), std::string::npos) << pasted;
    EXPECT_NE(pasted.find("\nsearch_kept.clear();"), std::string::npos) << pasted;
    const std::filesystem::path file = directory_ / "pasted.cpp";
    std::ofstream{file} << "#include <vector>\nvoid search() {\n" << pasted << "}\n";
    EXPECT_EQ(std::system((CXX_COMMAND " '" + file.string() + "'").c_str()), 0) << pasted;
}

TEST_F(fewer_allocations, what_grows_a_little_in_each_turn_is_kept) {
    const auto fills = made.stack({"main:3", "search:7", grows});
    const auto ends = made.stack({"main:3", "search:9"});
    for (int i = 0; i < 1000; ++i) made.release(grown(fills, 16), ends);
    const advice* found = only_fewer();
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->candidate, verdict::keep_buffer);
    EXPECT_EQ(found->growth->most_alive, 1U) << "the old and the new buffer are one container's";
}

TEST_F(fewer_allocations, two_at_a_time_are_not_kept) {
    const auto makes = made.stack({"main:3", "search:7", "std::vector<int>::vector(unsigned long)"});
    const auto ends = made.stack({"main:3", "search:9"});
    for (int i = 0; i < 3000; ++i) {
        const std::uint64_t first = made.allocate(makes, 256);
        made.release(made.allocate(makes, 256), ends);
        made.release(first, ends);
    }
    EXPECT_EQ(only_fewer(), nullptr);
}

TEST_F(fewer_allocations, what_leaves_its_function_is_not_kept) {
    const auto makes = made.stack({"main:3", "load:7", "std::vector<int>::vector(unsigned long)"});
    const auto ends = made.stack({"main:4"});
    for (int i = 0; i < 3000; ++i) made.release(made.allocate(makes, 256), ends);
    EXPECT_EQ(only_fewer(), nullptr);
}

TEST_F(fewer_allocations, a_member_of_what_is_made_in_each_turn_is_kept_with_it) {
    const auto makes =
        made.stack({"main:3", "find:5", "search::search(int)", "std::vector<int>::reserve(unsigned long)"});
    const auto ends = made.stack({"main:3", "find:6", "search::~search()", "std::vector<int>::~vector()"});
    for (int i = 0; i < 3000; ++i) made.release(made.allocate(makes, 256), ends);
    const advice* found = only_fewer();
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->candidate, verdict::keep_buffer);
    EXPECT_NE(code_of(*found, *paths_).find("is a member: keep the object that has it"), std::string::npos)
        << code_of(*found, *paths_);
    EXPECT_NE(code_of(*found, *paths_).find("in find"), std::string::npos) << code_of(*found, *paths_);
}

TEST_F(fewer_allocations, what_substr_copies_may_be_a_view) {
    const auto makes = made.stack(
        {"main:3", "words:7", "std::string::substr(unsigned long, unsigned long) const", string_constructor});
    const auto ends = made.stack({"main:3", "words:9"});
    for (int i = 0; i < 3000; ++i) made.release(made.allocate(makes, 31), ends);
    const advice* found = only_fewer();
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->candidate, verdict::keep_buffer);
    EXPECT_TRUE(code_of(*found, *paths_).starts_with("std::string_view{text}.substr(from, count)"));
    for (const std::string& caution : cautions_of(*found, *paths_))
        EXPECT_EQ(caution.find("operator+"), std::string::npos) << "it stays a std::string";
}

TEST_F(fewer_allocations, sums_of_strings_do_not_grow_one) {
    const auto sums = made.stack({"main:3", "fill:7", "std::string std::operator+<char>(std::string const&, char)",
                                  "std::string::append(char const*)"});
    const auto drops = made.stack({"main:4"});
    for (int i = 0; i < 300; ++i) made.release(grown(sums, 8192, 32), drops);
    EXPECT_EQ(only_fewer(), nullptr);
}

TEST_F(fewer_allocations, one_vector_that_lives_long_is_neither) {
    const auto fills = made.stack({"main:3", grows});
    const auto others = made.stack({"main:5", "operator new(unsigned long)"});
    const std::uint64_t vector = grown(fills, 8192);
    for (int i = 0; i < 3000; ++i) made.release(made.allocate(others, 48), others);
    made.release(vector, made.stack({"main:9"}));
    EXPECT_EQ(only_fewer(), nullptr);
}

TEST_F(fewer_allocations, what_is_reserved_is_neither) {
    const auto reserves = made.stack({"main:3", "fill:6", "std::vector<int>::reserve(unsigned long)"});
    const auto drops = made.stack({"main:4"});
    for (int i = 0; i < 3000; ++i) made.release(made.allocate(reserves, 8192), drops);
    EXPECT_EQ(only_fewer(), nullptr);
}

TEST_F(fewer_allocations, an_arena_with_more_than_vectors_says_reserve) {
    const auto fills = made.stack({"main", "request:5", grows});
    const auto node = made.stack({"main", "request:6", "insert:9", "operator new(unsigned long)"});
    const auto end = made.stack({"main", "request:8", "~map"});
    for (int i = 0; i < 200; ++i) {
        std::vector<std::uint64_t> objects{grown(fills, 32)};
        for (int n = 0; n < 12; ++n) objects.push_back(made.allocate(node, 48));
        for (const std::uint64_t object : objects) made.release(object, end);
    }
    EXPECT_EQ(only_fewer(), nullptr);
    const auto arena = std::ranges::find(list_.advices, verdict::arena, &advice::candidate);
    ASSERT_NE(arena, list_.advices.end());
    EXPECT_EQ(arena->grown, 800U);
    EXPECT_EQ(title_of(*arena, *paths_), "an arena, reset in request, and reserve() for its vectors");
    const std::vector<std::string> cautions = cautions_of(*arena, *paths_);
    EXPECT_TRUE(std::ranges::any_of(cautions, [](const std::string& each) {
        return each.find("800 of them are buffers of a std::vector that grows") != std::string::npos &&
               each.find("acre::arena_vector") != std::string::npos;
    }));
}

TEST_F(fewer_allocations, an_arena_keeps_a_temporary_among_much_else) {
    const auto makes = made.stack({"main", "request:5", "std::vector<int>::vector(unsigned long)"});
    const auto ends = made.stack({"main", "request:5"});
    const auto node = made.stack({"main", "request:6", "insert:9", "operator new(unsigned long)"});
    const auto end = made.stack({"main", "request:8", "~map"});
    for (int i = 0; i < 1200; ++i) {
        std::vector<std::uint64_t> objects;
        for (int n = 0; n < 12; ++n) objects.push_back(made.allocate(node, 48));
        made.release(made.allocate(makes, 256), ends);
        for (const std::uint64_t object : objects) made.release(object, end);
    }
    EXPECT_EQ(only_fewer(), nullptr);
    EXPECT_NE(std::ranges::find(list_.advices, verdict::arena, &advice::candidate), list_.advices.end());
}

// Its growth is no part of what an arena saves: followed, a program of such vectors took 41 % more.
TEST_F(fewer_allocations, a_replay_of_an_arena_has_the_last_buffers_alone) {
    const auto fills = made.stack({"main", "request:5", grows});
    const auto node = made.stack({"main", "request:6", "insert:9", "operator new(unsigned long)"});
    const auto end = made.stack({"main", "request:8", "~map"});
    for (int i = 0; i < 200; ++i) {
        std::vector<std::uint64_t> objects{grown(fills, 32)};
        for (int n = 0; n < 12; ++n) objects.push_back(made.allocate(node, 48));
        for (const std::uint64_t object : objects) made.release(object, end);
    }
    const advice arena = *std::ranges::find(advised().advices, verdict::arena, &advice::candidate);
    const auto allocations = [&](growth_as growth) {
        const sequence steps = advised_sequence(*run_, arena, {}, growth);
        return std::ranges::count(steps.steps, step_kind::allocate, &step::kind);
    };
    EXPECT_EQ(allocations(growth_as::recorded), 200 * (4 + 12));
    EXPECT_EQ(allocations(growth_as::reserved), 200 * (1 + 12));
    const sequence steps = advised_sequence(*run_, arena, {}, growth_as::reserved);
    std::vector<std::uint64_t> sizes;
    for (const auto& shape : steps.shapes) sizes.push_back(shape.bytes);
    EXPECT_EQ(std::ranges::count(sizes, 32U), 1) << "the first buffer has the size of the last";
    EXPECT_EQ(std::ranges::count(sizes, 4U), 0);
}

TEST_F(fewer_allocations, they_come_before_what_allocates_elsewhere) {
    const auto makes = made.stack({"main:3", "search:7", "std::vector<int>::vector(unsigned long)"});
    const auto ends = made.stack({"main:3", "search:9"});
    const auto spawns = made.stack({"main:5", "spawn:3", "operator new(unsigned long)"});
    std::vector<std::uint64_t> live;
    for (int i = 0; i < 3000; ++i) {
        made.release(made.allocate(makes, 256), ends);
        live.push_back(made.allocate(spawns, 48));
        if (live.size() < 100) continue;
        made.release(live[static_cast<std::size_t>(i * 37) % live.size()], spawns);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i * 37) % live.size()));
    }
    advised();
    list_.malloc_nanoseconds = 1;
    list_.cpu_nanoseconds = 1000;
    for (advice& each : list_.advices) {
        const bool less = traits_of(each.candidate).allocates_less;
        each.saving.done = true;
        each.saving.is_of_fewer = less;
        each.saving.cpu_nanoseconds = 1000;
        each.saving.nanoseconds = less ? interval{50, 60, 70} : interval{200, 250, 300};
    }
    ASSERT_EQ(list_.advices.size(), 2U);
    const first_steps first = first_steps_of(list_, *paths_);
    ASSERT_FALSE(first.steps.empty());
    EXPECT_EQ(first.steps.front().what, "keep the buffer of std::vector<int> in search");
    const std::string text = short_answer(list_, *paths_, reader_->header(), "a.acre");
    EXPECT_TRUE(text.starts_with("Do first: keep the buffer of std::vector<int> in search")) << text;
    EXPECT_NE(text.find("It saves about 6 % of the CPU"), std::string::npos) << text;
    EXPECT_LE(std::ranges::count(text, '\n'), 40) << text;
    std::istringstream words{text};
    EXPECT_LE(std::distance(std::istream_iterator<std::string>{words}, {}), 250) << text;
}

TEST_F(fewer_allocations, a_saving_that_may_be_none_is_not_told) {
    const auto fills = made.stack({"main:3", "fill:7", grows});
    for (int i = 0; i < 300; ++i) made.release(grown(fills, 8192), made.stack({"main:4"}));
    advised();
    list_.malloc_nanoseconds = 1;
    list_.cpu_nanoseconds = 1000;
    advice& only = list_.advices.at(0);
    only.decision = verdict::leave;
    only.saving.done = only.saving.is_of_fewer = true;
    only.saving.cpu_nanoseconds = 1000;
    only.saving.nanoseconds = {-10, 100, 200};
    EXPECT_TRUE(first_steps_of(list_, *paths_).steps.empty());
}

TEST(rule_for_buffers, keeps_where_that_saves_more_calls_than_reserve) {
    const growth_figures grow_far{.containers = 1000, .replaced = 14'000};
    const growth_figures grow_little{.containers = 1000, .replaced = 2000};
    EXPECT_EQ(rule_for_buffers(grow_far, true).candidate, verdict::reserve);
    EXPECT_EQ(rule_for_buffers(grow_little, true).candidate, verdict::keep_buffer);
    EXPECT_EQ(rule_for_buffers(grow_little, false).candidate, verdict::reserve);
    EXPECT_EQ(rule_for_buffers({.containers = 1000}, false).candidate, verdict::leave);
    EXPECT_EQ(rule_for_buffers({.containers = 5}, true).candidate, verdict::leave) << "no loop";
}

}  // namespace
