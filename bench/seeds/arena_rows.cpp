// acre::arena beside the arena of a blog, on the blog's own loops: a reset after each create, a scope, making and
// ending an arena, containers, and the program of docs/porting.md.
//
// Usage: acre-arena-rows [ROUNDS]. Prints nanoseconds of a round of each, the least of the rounds in turns, and the
// ratio. acre-arena-rows 0 ROW theirs|acre COUNT plays one alone, for callgrind.
#include <acre/adapt/allocator.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

#include "../contestants/handwritten.hpp"
#include "../harness.hpp"

namespace {

using bench::escape;
using bench::hide;
using bench::touch;

constexpr long long thousand = 1000;

struct theirs {
    using arena = bench::blog_arena;
    using scratch = bench::blog_arena::scratch;
    template <class T>
    using allocator = bench::blog_allocator<T>;
    arena level;
};
struct acres {
    using arena = acre::arena;
    using scratch = acre::scratch;
    template <class T>
    using allocator = acre::allocator<T, acre::arena>;
    arena level;
};
struct fixed : acres {
    acre::arena level{acre::arena_options{.fixed_bytes = std::size_t{4} << 20}};
};

template <class Kind>
Kind& one() {
    static Kind kind;
    return *hide(&kind);
}

/// An arena of a size that a compiler does not know; acre's default one grows.
template <class Kind>
struct made {
    typename Kind::arena arena{*hide(&bytes)};
    static constexpr std::size_t bytes = 4096;
};
template <>
struct made<acres> {
    acre::arena arena;
};
template <>
struct made<fixed> {
    acre::arena arena{acre::arena_options{.fixed_bytes = *hide(&made<theirs>::bytes)}};
};

template <class Kind>
void reset_after_create(std::size_t n) {
    auto& level = one<Kind>().level;
    for (; n > 0; --n) {
        escape(level.template create<double>(1.0));
        level.reset();
    }
}

template <class Kind>
void scope(std::size_t n) {
    auto& level = one<Kind>().level;
    for (; n > 0; --n) {
        typename Kind::scratch temp(level);
        touch(level.allocate(64, 16));
    }
}

template <class Kind>
[[gnu::noinline]] void allocate_ten(typename Kind::arena& level) {
    typename Kind::scratch temp(level);
    for (int i = 0; i < 10; ++i) touch(level.allocate(24, 8));
}
template <class Kind>
void scope_of_ten(std::size_t n) {
    for (; n > 0; --n) allocate_ten<Kind>(one<Kind>().level);
}

template <class Kind>
void make_and_end(std::size_t n) {
    for (; n > 0; --n) {
        made<Kind> temp;
        touch(temp.arena.allocate(64, 16));
    }
}

template <class Kind>
[[gnu::noinline]] void fill_map(typename Kind::arena& level) {
    using allocator = typename Kind::template allocator<std::pair<const int, long long>>;
    std::unordered_map<int, long long, std::hash<int>, std::equal_to<>, allocator> map{allocator(level)};
    std::uint64_t key = 777;
    for (int i = 0; i < 1000; ++i) map.emplace(static_cast<int>((key = key * 6364136223846793005 + 1) >> 33), 1);
    escape(&map);
}
template <class Kind>
[[gnu::noinline]] void fill_vector(typename Kind::arena& level) {
    using allocator = typename Kind::template allocator<long long>;
    std::vector<long long, allocator> values{allocator(level)};
    const long long count = *hide(&thousand);
    for (long long i = 0; i < count; ++i) values.push_back(i);
    escape(values.data());
}
template <class Kind, void (*Fill)(typename Kind::arena&)>
void fill_in_a_scope(std::size_t n) {
    auto& level = one<Kind>().level;
    for (; n > 0; --n) {
        typename Kind::scratch temp(level);
        Fill(level);
    }
}
template <class Kind>
void map_of_1000(std::size_t n) {
    fill_in_a_scope<Kind, fill_map<Kind>>(n);
}
template <class Kind>
void vector_of_1000(std::size_t n) {
    fill_in_a_scope<Kind, fill_vector<Kind>>(n);
}

template <class Kind>
void program_of_the_page(std::size_t n) {
    for (; n > 0; --n) {
        made<Kind> owner;
        auto& level = owner.arena;
        escape(level.template create<std::string>("URG"));
        escape(level.allocate(sizeof(double), alignof(double)));
        {
            typename Kind::scratch temp(level);
            escape(level.allocate(64 * sizeof(int), alignof(int)));
            using allocator = typename Kind::template allocator<int>;
            std::vector<int, allocator> scores{allocator(level)};
            scores.push_back(7);
            escape(scores.data());
        }
        level.reset();
    }
}

struct row {
    const char* title;
    std::size_t count;
    void (*play[3])(std::size_t);
};
#define ACRE_ROW(title, count, function)                       \
    {                                                          \
        title, count, {                                        \
            function<theirs>, function<acres>, function<fixed> \
        }                                                      \
    }
constexpr row rows[] = {ACRE_ROW("reset after each create", 250'000, reset_after_create),
                        ACRE_ROW("a scope of one allocation", 250'000, scope),
                        ACRE_ROW("a scope of ten, in a function", 50'000, scope_of_ten),
                        ACRE_ROW("make and end an arena", 50'000, make_and_end),
                        ACRE_ROW("unordered_map of 1,000", 60, map_of_1000),
                        ACRE_ROW("vector, 1,000 push_backs", 400, vector_of_1000),
                        ACRE_ROW("the program of porting.md", 30'000, program_of_the_page)};
#undef ACRE_ROW

double nanoseconds(void (*play)(std::size_t), std::size_t count) {
    const auto begun = std::chrono::steady_clock::now();
    play(count);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begun;
    return took.count() / static_cast<double>(count);
}

}  // namespace

int main(int count, char** arguments) {
    const int rounds = count > 1 ? std::atoi(arguments[1]) : 31;
    if (rounds == 0 && count > 4) {
        rows[std::atoi(arguments[2])].play[arguments[3][0] != 't'](static_cast<std::size_t>(std::atol(arguments[4])));
        return 0;
    }
    std::printf("| loop | the blog\'s | acre | | `.fixed_bytes` | |\n|---|--:|--:|--:|--:|--:|\n");
    for (const row& each : rows) {
        double least[3] = {1e30, 1e30, 1e30};
        for (int round = 0; round < rounds; ++round) {
            for (int i = 0; i < 3; ++i) least[i] = std::min(least[i], nanoseconds(each.play[i], each.count));
        }
        std::printf("| %s | %.2f | %.2f | %.2f | %.2f | %.2f |\n", each.title, least[0], least[1], least[1] / least[0],
                    least[2], least[2] / least[0]);
    }
}
