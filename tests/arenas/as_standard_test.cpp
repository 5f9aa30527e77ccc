// arena_string wherever a std::string is, and arena_vector wherever a std::vector is (hazard Y20): each test is a use
// of the standard's, and tried with both.
#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
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
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
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

TEST(arena_string_as_text, for_changes_as_text_is_written) {
    expect_as_std_string([](auto& text) {
        text.insert(0, 2, '<').insert(text.size(), "abc", 2).insert(1, "more", 1).insert(1, std::string{"more"}, 1, 2);
        text.insert(text.begin() + 1, 2, '+');
        text.insert(text.end(), {'p', 'q'});
        text.replace(0, 1, ">>")
            .replace(1, 3, "")
            .replace(2, 0, text)
            .replace(3, 4, 2, '=')
            .replace(1, 100, "longer", 4);
        text.replace(text.begin(), text.begin() + 1, "ab").replace(0, 0, std::string{"0123"}, 2);
        text.append({'r', 's'}).append("tuv", 2).append(std::string{"wxyz"}, 2, 1).append(std::string{"wxyz"}, 3);
        const std::list<char> others{'1', '2'};
        text.append(others.begin(), others.end());
        text.insert(text.begin() + 2, others.begin(), others.end());
        text.append(text.begin() + 1, text.begin() + 4);
        text += {'3', '4'};
        text.erase(0, 1);
        text.erase(text.begin(), text.begin() + 1);
        return std::string(text);
    });
    expect_as_std_string([](auto& text) {
        std::vector<std::string> seen;
        const auto see = [&](const auto& changed) { seen.emplace_back(changed); };
        see(text.assign(2, 'x'));
        see(text.assign("abcdef"));
        see(text.assign(text.begin() + 2, text.end()));
        see(text.assign({'g', 'h'}));
        see(text.assign("ijkl", 3));
        see(text.assign(std::string{"mnop"}, 1, 2));
        see(text = 'q');
        see(text = {'r', 's'});
        see(text = std::string{"tu"});
        see(text + "v" + 'w' + text + std::string{"x"});
        see("y" + text);
        see('z' + (std::string{"1"} + text));
        text.clear();
        see(text.insert(0, 1, 'x').erase(0).replace(0, 0, 1, 'y'));
        return seen;
    });
}

TEST(arena_string_as_text, for_looks) {
    expect_as_std_string([](auto& text) {
        std::string part = std::string{text.substr(0, 3)} + std::string{text.substr(text.size() / 2)};
        part.resize(part.size() + text.copy(part.data(), 2, text.size() / 3));
        return std::tuple{part,
                          text.rfind('e'),
                          text.rfind("o", 5),
                          text.find('x', 1),
                          text.find_first_of("st"),
                          text.find_last_of("st", 9),
                          text.find_first_not_of("tw"),
                          text.find_last_not_of('s'),
                          text.compare("two") < 0,
                          text.compare(0, 1, "a") == 0,
                          text.starts_with('a'),
                          text.ends_with("s"),
                          text.length(),
                          std::string(text.crbegin(), text.crend())};
    });
    expect_as_std_string([](const auto& text) { return std::pair{&text[0] == text.data(), text[text.size()]}; });
    expect_as_std_string([](auto& text) { return text[text.size()]; });
}

TEST(arena_string_as_text, for_what_lies_outside) {
    expect_as_std_string([](auto& text) {
        int refused = 0;
        const auto refuse = [&](auto call) { EXPECT_THROW(call(), std::out_of_range) << ++refused; };
        const std::size_t behind = text.size() + 1;
        refuse([&] { (void)text.at(text.size()); });
        refuse([&] { (void)text.at(SIZE_MAX); });
        refuse([&] { (void)std::as_const(text).at(behind); });
        refuse([&] { text.insert(behind, "x"); });
        refuse([&] { text.erase(behind); });
        refuse([&] { text.replace(behind, 0, "x"); });
        refuse([&] { text.replace(behind, 1, 3, 'x'); });
        refuse([&] { text.replace(behind, 1, text); });
        refuse([&] { (void)text.substr(behind); });
        refuse([&] { (void)text.compare(behind, 1, "x"); });
        refuse([&] { text.append(std::string{"x"}, 2); });
        return text.empty() ? '-' : (text.at(0) = 'A', text.at(text.size() - 1));
    });
}

// What generic code does with both: erase and erase_if are found by their arguments, as getline is.
TEST(arena_string_as_text, for_generic_code) {
    expect_as_std_string([](auto& text) {
        using std::erase, std::erase_if, std::getline;
        const auto one = erase(text, 'w');
        const auto two = erase_if(text, [](char c) { return c == 's' || c == ' '; });
        std::istringstream in{"a line\nanother"};
        getline(in, text);
        return std::pair{one, two};
    });
    expect_as_std_string([](auto& text) {
        using text_type = std::remove_cvref_t<decltype(text)>;
        const std::list<char> others{'1', '2'};
        std::vector<std::string> seen;
        const auto see = [&](const text_type& made) { seen.emplace_back(made); };
        const auto memory = text.get_allocator();
        see(text_type(memory));
        see(text_type("abc", memory));
        see(text_type("abc", 2, memory));
        see(text_type(3, 'x', memory));
        see(text_type(text.begin(), text.end(), memory));
        see(text_type(others.begin(), others.end(), memory));
        see(text_type({'a', 'b'}, memory));
        see(text_type(text));
        text_type other(text, memory);
        text.swap(other);
        see(std::move(other));
        return seen;
    });
}

TEST(arena_string_as_text, for_members_of_cpp_23) {
    arena level;
    arena_string text{level};
    text.append_range(std::list<char>{'b', 'c'});
    text.insert_range(text.begin(), std::string_view{"a"});
    EXPECT_TRUE(text.contains("bc") && !text.contains('d'));
    text.resize_and_overwrite(9, [](char* to, std::size_t) { return std::fill_n(to + 3, 2, 'd'), 5; });
    EXPECT_EQ(text, "abcdd");
    text.assign_range(std::string{"new"});
    EXPECT_EQ(text, "new");
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

TEST(arena_vector_as_list, for_generic_code) {
    const std::list<std::string> others{"x", "y", "z"};
    expect_as_std_vector([&](auto& values) {
        using std::erase, std::erase_if;
        using list_type = std::remove_cvref_t<decltype(values)>;
        const auto memory = values.get_allocator();
        list_type made(memory);
        made = list_type(others.begin(), others.end(), memory);
        values.insert(values.end(), made.begin(), made.end());
        made = list_type(2, "x", memory);
        values.insert(values.end(), made.begin(), made.end());
        made = list_type({"y", "p"}, memory);
        values.insert(values.end(), made.begin(), made.end());
        made = list_type(list_type(3, memory), memory);
        values.insert(values.begin(), made.begin(), made.end());
        made = list_type(made, memory);
        made = {"one", "two"};
        made.assign({"three", "four"});
        values.insert(values.end(), made.begin(), made.end());
        const auto erased = erase(values, "x");
        const auto erased_too = erase_if(values, [](const std::string& each) { return each.size() == 1; });
        values.at(0) = "first";
        EXPECT_THROW((void)values.at(values.size()), std::out_of_range);
        EXPECT_THROW((void)std::as_const(values).at(SIZE_MAX), std::out_of_range);
        return std::tuple{erased, erased_too, made.size(), values.back(), std::as_const(values).front()};
    });
}

TEST(arena_vector_as_list, for_other_memory) {
    arena level;
    arena other;
    arena_vector<int> numbers(3, 7, &level);
    EXPECT_EQ(numbers, (arena_vector<int>({7, 7, 7}, level)));
    EXPECT_EQ((arena_vector<int>(2, level)), (arena_vector<int>({0, 0}, level)));
    // In braces a number of elements is a value.
    EXPECT_EQ((arena_vector<int>{{2}, level}.at(0)), 2);
    const int* const before = numbers.data();
    arena_vector<int> taken{std::move(numbers), level};
    EXPECT_EQ(taken.data(), before);
    const arena_vector<int> moved{std::move(taken), other};
    EXPECT_TRUE(other.owns(moved.data()) && &moved.referred() == &other);
    // A container of the standard's in the same arena.
    const std::vector<int, acre::allocator<int, arena>> standard(moved.begin(), moved.end(), moved.get_allocator());
    EXPECT_TRUE(other.owns(standard.data()));
    EXPECT_EQ((arena_vector<int>{standard, standard.get_allocator()}), moved);
    arena_vector<std::string> texts{level};
    texts.append_range(std::list{"b", "c"});
    texts.insert_range(texts.begin(), std::list{"a"});
    EXPECT_TRUE(std::ranges::equal(texts, std::list{"a", "b", "c"}));
    texts.assign_range(std::list{"d"});
    EXPECT_EQ(texts.front(), "d");
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
