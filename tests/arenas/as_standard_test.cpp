// arena_string wherever a std::string is, and arena_vector wherever a std::vector is (hazard Y20): each test is a use
// of the standard's, and tried with both.
#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/arenas/arena_string.hpp>
#include <acre/arenas/arena_vector.hpp>
#include <algorithm>
#include <cctype>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <iterator>
#include <list>
#include <map>
#include <numeric>
#include <queue>
#include <ranges>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <stack>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>
#include <version>
#if defined(__cpp_lib_format)
#include <format>
#endif

namespace {

using acre::arena;
using acre::arena_string;
using acre::arena_vector;

static_assert(std::ranges::contiguous_range<arena_string> && std::ranges::contiguous_range<const arena_string>);
static_assert(std::ranges::contiguous_range<arena_vector<int>> && std::ranges::sized_range<const arena_vector<int>>);
static_assert(std::output_iterator<std::back_insert_iterator<arena_string>, char>);
static_assert(std::output_iterator<std::insert_iterator<arena_vector<int>>, int>);
static_assert(std::totally_ordered_with<arena_string, std::string_view>);
static_assert(std::totally_ordered<arena_vector<int>> && std::movable<arena_vector<int>>);
static_assert(std::is_convertible_v<arena_string, std::string_view>);
static_assert(std::is_constructible_v<std::string, arena_string>);

// One test of text for each use: `use` is called with a std::string and with an arena_string of the same characters,
// and what it returns must be the same, and the text afterwards too.
template <class Use>
void expect_as_std_string(Use use) {
    arena level;
    for (const std::string_view given : {"", "a", "two words", "a text longer than a std::string keeps in itself"}) {
        std::string expected{given};
        arena_string text{given, level};
        EXPECT_EQ(use(text), use(expected)) << given;
        EXPECT_EQ(text.view(), expected) << given;
        EXPECT_EQ(text.c_str()[text.size()], '\0') << given;
    }
}

TEST(arena_string_as_text, for_output) {
    expect_as_std_string([](const auto& text) {
        std::ostringstream out;
        out << std::setw(5) << std::setfill('.') << std::left << text << '|' << text;
        return out.str();
    });
    // A temporary stream is another overload of the standard's.
    expect_as_std_string([](const auto& text) { return (std::ostringstream{} << text).good(); });
}

TEST(arena_string_as_text, for_input) {
    for (const char* input : {"", " ", "word", " word next", "a\nb", "\n\nline", "no end"}) {
        for (const int width : {0, 3}) {
            expect_as_std_string([=](auto& text) {
                std::istringstream in{input};
                in >> std::setw(width) >> text;
                return std::pair{in.rdstate(), in.tellg()};
            });
            expect_as_std_string([=](auto& text) {
                std::istringstream in{input};
                in >> std::noskipws >> text;
                return std::pair{in.rdstate(), in.tellg()};
            });
        }
        for (const char end : {'\n', 'o'}) {
            expect_as_std_string([=](auto& text) {
                std::istringstream in{input};
                getline(in, text, end);
                return std::pair{in.rdstate(), in.tellg()};
            });
        }
        expect_as_std_string([=](auto& text) {
            std::istringstream in{input};
            std::vector<std::string> lines;
            while (getline(in, text)) lines.emplace_back(text);
            return lines;
        });
    }
}

TEST(arena_string_as_text, for_hashes_and_look_up) {
    expect_as_std_string([](const auto& text) { return std::hash<std::remove_cvref_t<decltype(text)>>{}(text); });
    arena level;
    std::unordered_set<arena_string, std::hash<arena_string>, std::equal_to<>> names;
    names.insert(arena_string{"Ugluk", level});
    EXPECT_TRUE(names.contains("Ugluk") && !names.contains(std::string_view{"orc"}));
    std::map<arena_string, int, std::less<>> scores;
    scores.emplace(arena_string{"Ugluk", level}, 7);
    EXPECT_EQ(scores.find("Ugluk")->second, 7);
    EXPECT_EQ(scores.find(std::string{"orc"}), scores.end());
}

TEST(arena_string_as_text, for_comparisons) {
    expect_as_std_string([](const auto& text) {
        return std::vector{text == "a",
                           "a" == text,
                           text != "a",
                           text<"b", "b">
                               text,
                           text >= std::string{"two"},
                           std::string{"two"} <= text,
                           text == std::string_view{"a"},
                           text == text,
                           std::ranges::equal(text, std::string_view{"a"}),
                           std::is_eq(text <=> "a")};
    });
}

TEST(arena_string_as_text, for_algorithms) {
    expect_as_std_string([](auto& text) {
        std::copy_n("abc", 3, std::back_inserter(text));
        std::ranges::transform(text, text.begin(), [](char c) { return c == 'a' ? 'A' : c; });
        text.erase(std::remove(text.begin(), text.end(), 'w'), text.end());
        std::ranges::reverse(text);
        std::fill_n(std::inserter(text, text.begin()), 2, '-');
        std::ranges::sort(text);
        return std::string(text.rbegin(), text.rend()) + std::string(text.cbegin(), text.cend()) + text.front();
    });
    expect_as_std_string([](auto& text) {
        using text_type = std::remove_cvref_t<decltype(text)>;
        typename text_type::value_type last = text.empty() ? '0' : text.back();
        typename text_type::size_type found = text.find('w');
        return std::tuple{last,
                          found,
                          found == text_type::npos,
                          text.find("o", 2),
                          text.starts_with("two"),
                          text.ends_with("self"),
                          std::regex_search(text.begin(), text.end(), std::regex{"w.rds"})};
    });
}

TEST(arena_string_as_text, for_changes) {
    expect_as_std_string([](auto& text) {
        text.insert(text.size() / 2, "--");
        text.insert(0, text);
        text.insert(text.begin(), '[');
        text.erase(1, 1);
        text.erase(text.begin() + 1);
        text.resize(text.size() + 2, ']');
        text.pop_back();
        text += 'x';
        text += "yz";
        text.append(3, '.').append(std::string_view{}).append("");
        *text.data() = '(';
        text.back() = ')';
        std::swap(text.front(), text.back());
        return text.size();
    });
    expect_as_std_string([](auto& text) { return text.insert(0, std::string_view{}).erase().empty(); });
    expect_as_std_string([](auto& text) { return text.erase(text.size()).append(std::string_view{}).empty(); });
}

#if defined(__cpp_lib_format)
TEST(arena_string_as_text, for_formats) {
    expect_as_std_string([](auto& text) {
        std::format_to(std::back_inserter(text), "{}", 42);
        return std::format("{}|{:.3}|{:>9}|", text, text, text);
    });
}
#endif

// The same for lists.
template <class Use>
void expect_as_std_vector(Use use) {
    arena level;
    for (const std::size_t count : {0u, 1u, 7u, 100u}) {
        std::vector<std::string> expected;
        arena_vector<std::string> tested{level};
        for (std::size_t i = 0; i < count; ++i) {
            tested.push_back("a number that is not small: " + std::to_string(i));
            expected.push_back(tested.back());
        }
        EXPECT_EQ(use(tested), use(expected)) << count;
        EXPECT_TRUE(std::ranges::equal(tested, expected)) << count;
    }
}

TEST(arena_vector_as_list, for_insertions) {
    const std::list<std::string> others{"x", "y", "z"};
    expect_as_std_vector([&](auto& values) {
        const auto middle = [&] { return values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2); };
        std::vector<std::ptrdiff_t> places;
        const auto note = [&](auto place) { places.push_back(place - values.begin()); };
        note(values.insert(middle(), others.begin(), others.end()));
        note(values.insert(middle(), {"p", "q"}));
        note(values.insert(values.end(), 3, "r"));
        note(values.insert(values.begin(), 2, values.back()));
        note(values.emplace(middle(), std::size_t{5}, 's'));
        note(values.insert(middle(), "t"));
        note(values.insert(middle(), others.end(), others.end()));
        return places;
    });
}

TEST(arena_vector_as_list, for_algorithms) {
    expect_as_std_vector([](auto& values) {
        std::fill_n(std::back_inserter(values), 2, "end");
        std::fill_n(std::inserter(values, values.begin()), 2, "begin");
        values.erase(std::remove(values.begin(), values.end(), "end"), values.end());
        std::ranges::sort(values, std::greater<>{});
        std::swap(values.front(), values.back());
        values.assign(std::make_move_iterator(values.begin()), std::make_move_iterator(values.begin()));
        return std::accumulate(values.rbegin(), values.rend(), std::string{}).size() + values.max_size() / SIZE_MAX +
               static_cast<std::size_t>(values.crend() - values.crbegin());
    });
}

TEST(arena_vector_as_list, for_adaptors) {
    arena level;
    std::stack<int, arena_vector<int>> stack{arena_vector<int>{level}};
    std::priority_queue<int, arena_vector<int>> queue{std::less<int>{}, arena_vector<int>{level}};
    for (const int each : {2, 3, 1}) stack.push(each), queue.push(each);
    EXPECT_EQ(stack.top(), 1);
    EXPECT_EQ(queue.top(), 3);
    queue.pop();
    EXPECT_EQ(queue.top(), 2);
}

}  // namespace
