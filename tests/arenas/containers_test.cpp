// arena_vector and arena_string: growth in place, storage that growth wastes, and the standard members.
#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/arenas/arena_string.hpp>
#include <acre/arenas/arena_vector.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <acre/combine/recycling.hpp>
#include <acre/memory/no_memory.hpp>
#include <acre/observe/statistics.hpp>
#include <initializer_list>
#include <list>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "arenas/tracked.hpp"

namespace {

using acre::arena;
using acre::arena_string;
using acre::arena_vector;
using acre_test::tracked;

TEST(arena_vector, example) {
    arena level;
    arena_vector<int> tokens{level};
    for (int i = 0; i < 100; ++i) tokens.push_back(i);
    const std::span<const int> seen{tokens};
    EXPECT_EQ(seen[99], 99);
}

// Hazard A8.
TEST(arena_vector, a_thousand_elements_use_little_more_than_their_bytes) {
    const auto ratio = [](auto value) {
        arena level;
        arena_vector<decltype(value)> values{level};
        for (int i = 0; i < 1000; ++i) values.push_back(value);
        return static_cast<double>(level.used()) / static_cast<double>(values.size() * sizeof(value));
    };
    EXPECT_LE(ratio(char{}), 1.2);
    EXPECT_LE(ratio(int{}), 1.2);
    EXPECT_LE(ratio(long{}), 1.2);
    EXPECT_LE(ratio(std::array<long, 5>{}), 1.2);
    EXPECT_LE(ratio(std::array<char, 3>{}), 1.2);
}

TEST(arena_vector, two_that_grow_in_turns_double) {
    arena level;
    arena_vector<int> a{level};
    arena_vector<int> b{level};
    for (int i = 0; i < 10'000; ++i) {
        a.push_back(i);
        b.push_back(-i);
    }
    for (int i = 0; i < 10'000; ++i) {
        ASSERT_EQ(a[static_cast<std::size_t>(i)], i);
        ASSERT_EQ(b[static_cast<std::size_t>(i)], -i);
    }
    // Doubling wastes at most as many bytes as it uses.
    EXPECT_LE(level.used(), 4u * 2 * 16'384 * sizeof(int));
}

TEST(arena_vector, its_storage_comes_back_when_it_is_the_last) {
    arena level;
    {
        arena_vector<int> values{level};
        for (int i = 0; i < 100; ++i) values.push_back(i);
        EXPECT_GE(level.used(), 400u);
        values.shrink_to_fit();
        EXPECT_EQ(level.used(), 400 + acre::redzone_bytes);
    }
    EXPECT_EQ(level.used(), 0u);
}

// Random operations against std::vector.
template <class T, class Make>
void behaves_as_std_vector(Make make) {
    std::mt19937 random{9};
    arena level{acre::arena_options{.first_block_bytes = 128, .max_block_bytes = 1024}};
    arena_vector<T> tested{level};
    std::vector<T> model;
    for (int i = 0; i < 20'000; ++i) {
        const std::size_t at = model.empty() ? 0 : random() % model.size();
        switch (random() % 12) {
            case 0:
                if (!model.empty()) tested.pop_back(), model.pop_back();
                break;
            case 1:
                tested.insert(tested.begin() + at, make(i));
                model.insert(model.begin() + static_cast<std::ptrdiff_t>(at), make(i));
                break;
            case 2:
                if (!model.empty()) {
                    tested.erase(tested.begin() + at);
                    model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
                }
                break;
            case 3:
                if (random() % 8 == 0) tested.resize(at), model.resize(at);
                break;
            case 4:
                if (!model.empty()) tested.push_back(tested[at]), model.push_back(T{model[at]});
                break;
            case 5:
                tested.shrink_to_fit();
                (void)level.allocate(random() % 2 * 8);
                break;
            case 6:
                if (random() % 50 == 0) tested.clear(), model.clear();
                break;
            case 7: {
                arena_vector<T> copy{tested};
                ASSERT_EQ(copy, tested);
                if (random() % 4 == 0) tested = std::move(copy);
                break;
            }
            default:
                tested.emplace_back(make(i));
                model.push_back(make(i));
        }
        ASSERT_EQ(tested.size(), model.size());
        if (i % 64 == 0) {
            ASSERT_TRUE(std::equal(tested.begin(), tested.end(), model.begin(), model.end()));
        }
    }
}

TEST(arena_vector, behaves_as_std_vector_with_bytes_and_with_objects) {
    behaves_as_std_vector<int>([](int i) { return i; });
    behaves_as_std_vector<std::string>(
        [](int i) { return "a text too long to lie in the string itself " + std::to_string(i); });
}

TEST(arena_vector, elements_are_destroyed_once) {
    tracked::start();
    {
        arena level;
        arena_vector<std::unique_ptr<tracked>> values{level};
        for (int i = 0; i < 100; ++i) {
            values.push_back(std::make_unique<tracked>());
            (void)level.allocate(1);  // forces a move
        }
        values.erase(values.begin() + 10, values.begin() + 20);
        EXPECT_EQ(tracked::live, 90);
        arena_vector<std::unique_ptr<tracked>> other{std::move(values)};
        EXPECT_TRUE(values.empty());
        values.push_back(nullptr);
        EXPECT_EQ(other.size(), 90u);
    }
    EXPECT_EQ(tracked::live, 0);
    EXPECT_EQ(tracked::destroyed.size(), 100u);
}

// A copy that throws while the elements move to new storage leaves the vector as it was.
struct copied_only {
    explicit copied_only(int number) : value(std::make_unique<tracked>(number)) {}
    copied_only(const copied_only& other) : value(std::make_unique<tracked>(other.value->number())) {}
    std::unique_ptr<tracked> value;
};

TEST(arena_vector, a_constructor_that_throws_changes_nothing) {
    tracked::start();
    arena level;
    arena_vector<copied_only> values{level};
    for (int i = 0; i < 8; ++i) values.emplace_back(i);
    while (values.size() < values.capacity()) values.emplace_back(0);
    (void)level.allocate(1);
    const auto size = values.size();
    const std::size_t used = level.used();
    for (int at = 1; at <= static_cast<int>(size) + 1; ++at) {
        tracked::throw_at = tracked::constructed + at;
        EXPECT_THROW(values.emplace_back(77), std::runtime_error) << at;
        tracked::throw_at = 0;
        ASSERT_EQ(values.size(), size);
        EXPECT_EQ(tracked::live, static_cast<int>(size));
        EXPECT_EQ(level.used(), used);
    }
    for (int i = 0; i < 8; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)].value->number(), i);
    values.emplace_back(77);
    EXPECT_EQ(values.back().value->number(), 77);
}

TEST(arena_vector, erasing_nothing_changes_nothing) {
    arena level;
    arena_vector<std::vector<int>> values{level};
    values.push_back({1, 2, 3});
    values.push_back({4, 5});
    EXPECT_EQ(values.erase(values.begin(), values.begin()), values.begin());
    EXPECT_EQ(values[0].size(), 3u);
    EXPECT_EQ(values[1].size(), 2u);
}

// Promise 7, for constructors with elements.
TEST(arena_vector, a_copy_that_throws_destroys_what_it_made) {
    tracked::start();
    {
        arena level;
        arena_vector<copied_only> values{level};
        for (int i = 0; i < 5; ++i) values.emplace_back(i);
        tracked::throw_at = tracked::constructed + 4;
        EXPECT_THROW((void)arena_vector<copied_only>{values}, std::runtime_error);
        tracked::throw_at = tracked::constructed + 4;
        EXPECT_THROW((void)(arena_vector<copied_only>{std::span<const copied_only>{values}, level}),
                     std::runtime_error);
        EXPECT_EQ(tracked::live, 5);
    }
    EXPECT_EQ(tracked::live, 0);
}

TEST(arena_vector, an_exhausted_arena_changes_nothing) {
    acre::inline_arena<512> level{acre::no_memory{}};
    arena_vector<int> values{level};
    EXPECT_TRUE(values.try_reserve(50));
    EXPECT_FALSE(values.try_reserve(1000));
    EXPECT_THROW(values.reserve(1000), acre::allocation_error);
    EXPECT_THROW(values.reserve(SIZE_MAX), acre::allocation_error);
    EXPECT_FALSE(values.try_reserve(SIZE_MAX / 4 + 1));
    int* p = &values.emplace_back(0);
    int i = 1;
    while (values.try_emplace_back(i) != nullptr) ++i;
    EXPECT_GT(i, 110);  // most of the 488 bytes: growth by steps may leave a rest
    EXPECT_EQ(&values.front(), p);
    EXPECT_THROW(values.push_back(1), acre::allocation_error);
    EXPECT_EQ(values.size(), static_cast<std::size_t>(i));
}

// Each assignment needs more than there is; the vector keeps its elements, and `source` what it had.
TEST(arena_vector, an_assignment_without_memory_changes_nothing) {
    acre::inline_arena<512> level{acre::no_memory{}};
    const arena_vector<std::string> before{{"one", "two", "three"}, level};
    arena_vector<std::string> values{before};
    while (level.try_allocate(8) != nullptr) {
    }
    arena elsewhere;
    arena_vector<std::string> source{elsewhere};
    source.resize(100, "other");
    const std::vector<std::string> many(100, "other");
    const std::initializer_list<std::string> listed{"a", "b", "c", "d", "e", "f", "g", "h",
                                                    "i", "j", "k", "l", "m", "n", "o", "p"};
    const auto expect_unchanged = [&](const char* what, auto assign) {
        EXPECT_THROW(assign(), acre::allocation_error) << what;
        EXPECT_EQ(values, before) << what;
    };
    expect_unchanged("count", [&] { values.assign(100, values[0]); });
    expect_unchanged("count beyond all", [&] { values.assign(SIZE_MAX, "other"); });
    expect_unchanged("range", [&] { values.assign(many); });
    expect_unchanged("list", [&] { values.assign(listed); });
    expect_unchanged("iterators", [&] { values.assign(many.begin(), many.end()); });
    expect_unchanged("copy", [&] { values = source; });
    expect_unchanged("move", [&] { values = std::move(source); });
    EXPECT_EQ(source.size(), 100u);
}

// A list in pairs of iterators does not tell how many elements there are: those that fit are in the vector.
TEST(arena_vector, an_assignment_of_unknown_length_keeps_what_fits) {
    acre::inline_arena<512> level{acre::no_memory{}};
    arena_vector<int> values{{-1, -2, -3}, level};
    std::list<int> many(1000);
    std::iota(many.begin(), many.end(), 0);
    EXPECT_THROW(values.assign(many.begin(), many.end()), acre::allocation_error);
    ASSERT_GT(values.size(), 3u);
    EXPECT_EQ(values.back(), static_cast<int>(values.size()) - 1);
}

TEST(arena_vector, in_other_resources) {
    acre::multi_arena arenas{{.arenas = 8, .bytes = 4096}};
    {
        arena_vector<int, acre::multi_arena> values{arenas};
        for (int i = 0; i < 1000; ++i) values.push_back(i);
        EXPECT_EQ(arenas.busy_arenas(), 1u);
        EXPECT_EQ(values[999], 999);
    }
    EXPECT_EQ(arenas.busy_arenas(), 0u);
    arena level;
    {
        acre::scratch temp{level};
        arena_vector<int, acre::scratch> values{{1, 2, 3}, temp};
        EXPECT_EQ(values.size(), 3u);
        EXPECT_EQ(&values.referred(), &temp);
    }
    acre::statistics<arena> counted;
    arena_vector<int, acre::statistics<arena>> values{counted};
    values.push_back(1);
    EXPECT_EQ(counted.counts().allocations.value, 1u);
}

TEST(arena_vector, appends_a_part_of_itself) {
    acre::recycling<acre::arena> level;
    acre::arena_vector<int, acre::recycling<acre::arena>> numbers{level};
    std::vector<int> expected(16);
    std::iota(expected.begin(), expected.end(), 0);
    numbers.append(expected);
    for (int i = 0; i < 5; ++i) {
        (void)level.allocate(10);
        numbers.append(std::span{numbers}.subspan(3));
        const std::vector<int> part(expected.begin() + 3, expected.end());
        expected.insert(expected.end(), part.begin(), part.end());
    }
    EXPECT_TRUE(std::ranges::equal(numbers, expected));
}

TEST(arena_vector, holds_move_only_types) {
    struct handle {
        explicit handle(int number) : value(number) {}
        handle(const handle&) = delete;
        handle(handle&&) = default;
        handle& operator=(handle&&) = default;
        int value;
    };
    acre::arena level;
    acre::arena_vector<handle> handles{level};
    for (int i = 0; i < 100; ++i) handles.push_back(handle{i});
    EXPECT_EQ(handles[99].value, 99);
}

TEST(arena_string, tries_to_append_a_part_of_itself) {
    acre::recycling<acre::arena> level;
    acre::basic_arena_string<acre::recycling<acre::arena>> text{"0123456789012345678901234567890123456789", level};
    std::string expected{text.view()};
    for (int i = 0; i < 5; ++i) {
        (void)level.allocate(10);
        EXPECT_TRUE(text.try_append(text.view().substr(7)));
        expected += expected.substr(7);
    }
    EXPECT_EQ(text.view(), expected);
}

TEST(arena_vector, assigns_what_replaces_the_elements) {
    acre::arena level;
    acre::arena_vector<std::string> names{{"one", "two", "three"}, level};
    const std::string* const storage = names.data();
    names.assign(2, names[2]);
    EXPECT_EQ(names, (acre::arena_vector<std::string>{{"three", "three"}, level}));
    names.assign({"four"});
    EXPECT_EQ(names, (acre::arena_vector<std::string>{{"four"}, level}));
    const std::vector<const char*> others{"five", "six", "seven"};
    names.assign(others);
    EXPECT_EQ(names, (acre::arena_vector<std::string>{{"five", "six", "seven"}, level}));
    names.assign(others.begin() + 1, others.end());
    EXPECT_EQ(names, (acre::arena_vector<std::string>{{"six", "seven"}, level}));
    EXPECT_EQ(names.data(), storage);
    acre::arena_vector<int> numbers{level};
    numbers.assign(3, 7);
    EXPECT_EQ(numbers, (acre::arena_vector<int>{{7, 7, 7}, level}));
}

TEST(arena_vector, is_constructed_from_ranges_and_compared) {
    arena level;
    const std::list<int> source{3, 1, 2};
    arena_vector<int> a{source, level};
    arena_vector<int> b{{3, 1, 2}, level};
    EXPECT_EQ(a, b);
    b.push_back(0);
    EXPECT_LT(a, b);
    b.append(std::vector<int>{7, 8});
    EXPECT_EQ(b.back(), 8);
    a.resize(5, a[0]);
    EXPECT_EQ(a.back(), 3);
    a = b;
    EXPECT_EQ(a, b);
    const std::span<int> left = a.detach();
    EXPECT_EQ(left.size(), 6u);
    EXPECT_TRUE(a.empty());
    a.push_back(1);
    EXPECT_EQ(left[5], 8);
}

TEST(arena_string, example) {
    arena level;
    arena_string path{level};
    for (const std::string_view part : {"usr", "lib", "acre"}) path.append("/").append(part);
    EXPECT_STREQ(path.c_str(), "/usr/lib/acre");
    const std::string_view kept = path.detach();
    EXPECT_TRUE(path.empty());
    path = "else";
    EXPECT_EQ(kept, "/usr/lib/acre");
}

TEST(arena_string, behaves_as_std_string) {
    std::mt19937 random{10};
    arena level{acre::arena_options{.first_block_bytes = 128, .max_block_bytes = 1024}};
    arena_string tested{level};
    std::string model;
    for (int i = 0; i < 20'000; ++i) {
        const std::size_t at = model.empty() ? 0 : random() % model.size();
        switch (random() % 8) {
            case 0:
                tested += 'x', model += 'x';
                break;
            case 1:
                tested.append(random() % 5, 'y'), model.append(tested.size() - model.size(), 'y');
                break;
            case 2: {
                const std::string part = model.substr(at, 20);
                tested.append(tested.view().substr(at, 20));  // a part of the string itself
                model.append(part);
                break;
            }
            case 3:
                tested.truncate(at), model.resize(std::min(at, model.size()));
                break;
            case 4:
                (void)level.allocate(random() % 2 * 8);
                break;
            case 5:
                if (random() % 50 == 0) tested.clear(), model.clear();
                break;
            case 6:
                if (random() % 20 == 0) {
                    tested = tested.view().substr(at);
                    model = model.substr(at);
                }
                break;
            default:
                tested.append("some words "), model.append("some words ");
        }
        ASSERT_EQ(tested.view(), model);
        ASSERT_EQ(tested.c_str()[tested.size()], '\0');
    }
}

// Hazard A8.
TEST(arena_string, text_built_by_parts_uses_little_more_than_its_bytes) {
    arena level;
    arena_string text{level};
    for (int i = 0; i < 1000; ++i) text.push_back('a');
    EXPECT_LE(level.used(), 1200u);
    EXPECT_LT(text, std::string_view{"b"});
    EXPECT_EQ(text, arena_string(text, level));
}

// Hazard B6.
TEST(arena_string, sizes_that_would_wrap_fail) {
    const volatile std::size_t all = SIZE_MAX;  // avoids a compiler warning
    arena level;
    arena_string text{level};
    for (int i = 0; i < 2; ++i) {
        EXPECT_THROW(text.append(all, 'x'), acre::allocation_error);
        EXPECT_THROW(text.reserve(all), acre::allocation_error);
        EXPECT_THROW(text.append(std::string_view{"x", all - 3}), acre::allocation_error);
        EXPECT_FALSE(text.try_append(std::string_view{"x", all - 3}));
        text = "abc";
        EXPECT_EQ(text, std::string_view{"abc"});
    }
}

TEST(arena_string, assigning_uses_the_storage_again) {
    arena level;
    arena_string text{std::string(100, 'a'), level};
    const std::size_t used = level.used();
    for (int i = 0; i < 1000; ++i) text = std::string(100, 'b');
    EXPECT_EQ(level.used(), used);
    text = text.view().substr(50);
    EXPECT_EQ(text.size(), 50u);
}

// Hazards A7, A10, as the standard's containers over acre::allocator.
TEST(arena_vector, assigned_from_another_arena_stays_in_its_own) {
    arena level;
    std::vector<arena_string> names;
    arena_vector<std::unique_ptr<int>> owners{level};
    names.emplace_back("level", level);
    {
        arena passing;
        names[0] = arena_string{"passing, and longer than before", passing};
        arena_vector<std::unique_ptr<int>> others{passing};
        others.push_back(std::make_unique<int>(7));
        owners = std::move(others);
        EXPECT_TRUE(others.empty());
        const arena_vector<std::unique_ptr<int>> taken{std::move(owners)};
        EXPECT_TRUE(level.owns(taken.data()) && *taken[0] == 7);
        EXPECT_DEATH(owners.swap(others), "acre::arena_vector: containers in two resources were swapped");
    }
    EXPECT_TRUE(level.owns(names[0].data()));
    EXPECT_EQ(names[0], "passing, and longer than before");
}

TEST(arena_string, an_exhausted_arena_changes_nothing) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take more room here";
    acre::inline_arena<128> level{acre::no_memory{}};
    arena_string text{"0123456789", level};
    EXPECT_FALSE(text.try_append(std::string(200, 'x')));
    EXPECT_THROW(text.append(std::string(200, 'x')), acre::allocation_error);
    EXPECT_THROW(text = std::string(200, 'x'), acre::allocation_error);
    EXPECT_EQ(text, std::string_view{"0123456789"});
    EXPECT_TRUE(text.try_append("ab"));
    EXPECT_STREQ(text.c_str(), "0123456789ab");
}

TEST(arena, text_that_does_not_fit_is_null) {
    acre::inline_arena<64> level{acre::no_memory{}};
    EXPECT_EQ(level.try_format("%d", 17), "17");
    EXPECT_EQ(level.try_format("%1000d", 17).data(), nullptr);
    EXPECT_EQ(level.try_copy(std::string(1000, 'x')).data(), nullptr);
    EXPECT_THROW((void)level.format("%1000d", 17), acre::allocation_error);
}

TEST(statistics, count_a_vector_that_moves_and_texts) {
    acre::statistics<arena> counted;
    {
        arena_vector<int, acre::statistics<arena>> values{counted};
        for (int i = 0; i < 5000; ++i) {
            values.push_back(i);
            (void)counted.allocate<char>(0);  // forces a move
        }
    }
    EXPECT_EQ(counted.counts().allocations.value, 5000u);
    const int numbers[] = {1, 2, 3};
    EXPECT_EQ(counted.copy(std::span<const int>{numbers}).size(), 3u);
    EXPECT_EQ(counted.try_format("%d", 1), "1");
    EXPECT_EQ(counted.counts().allocations.value, 5002u);
}

TEST(arena, copies_spans_and_says_what_is_wasted) {
    arena level{acre::arena_options{.first_block_bytes = 1024}};
    const int numbers[] = {1, 2, 3};
    const std::span<int> copy = level.copy(std::span<const int>{numbers});
    EXPECT_EQ(copy[2], 3);
    EXPECT_NE(copy.data(), numbers);
    EXPECT_EQ(level.try_copy(std::span<const int>{}).size(), 0u);
    (void)level.allocate(500);
    (void)level.allocate(600);  // does not fit: the rest of the first block is wasted
    EXPECT_GE(level.wasted(), 1024u - 500 - 100);
    EXPECT_LE(level.used() + level.wasted(), level.capacity());
}

}  // namespace
