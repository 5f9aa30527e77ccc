// Every piece of code that an advice can print compiles against the real headers.
#include "advise/code.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"

namespace {

using namespace acre::test;

constexpr verdict with_code[] = {verdict::arena,
                                 verdict::scratch,
                                 verdict::stack_buffer,
                                 verdict::object_pool,
                                 verdict::multi_pool,
                                 verdict::multi_arena,
                                 verdict::monotonic_arena,
                                 verdict::phase_arena,
                                 verdict::concurrent_object_pool,
                                 verdict::concurrent_multi_pool};

class code : public testing::Test {
protected:
    code()
        : stack_{made_.stack({"main", "server::handle_request:5"})},
          lambda_{made_.stack({"main", "work(int)::{lambda()#1}::operator()() const"})},
          odd_{made_.stack({"main", "odd\nname"})},
          paths_{made_.tables} {}

    advice advice_of(verdict suits, std::uint64_t threads, std::uint32_t stack) const {
        advice each;
        each.suits = each.says = suits;
        each.function = paths_.sites()[paths_.site(stack)].function;
        each.figures.threads = threads;
        each.block_bytes = 10'240;
        each.slot_bytes = 48;
        each.buffer_bytes = 224;
        each.arenas = 12;
        each.arena_bytes = 4096;
        return each;
    }

    std::string code_for(verdict suits, std::uint64_t threads) const {
        return code_of(advice_of(suits, threads, stack_), paths_);
    }
    std::string code_in(std::uint32_t stack, verdict suits) const {
        return code_of(advice_of(suits, 1, stack), paths_);
    }

    /// As if pasted into a function that has what the code speaks of.
    static std::string function_around(const std::string& code, int number) {
        std::istringstream lines{code};
        std::string body;
        for (std::string line; std::getline(lines, line);) {
            if (!line.starts_with("#include")) body += "    " + line + "\n";
        }
        return "template <typename T, typename... Arguments>\nvoid pasted_" + std::to_string(number) +
               "([[maybe_unused]] std::size_t n, [[maybe_unused]] std::size_t bytes, "
               "[[maybe_unused]] std::size_t alignment, [[maybe_unused]] Arguments... arguments) {\n" +
               body + "}\ntemplate void pasted_" + std::to_string(number) +
               "<thing>(std::size_t, std::size_t, std::size_t);\n";
    }

    temporary_directory directory_;
    made_trace made_;
    std::uint32_t stack_;
    std::uint32_t lambda_;
    std::uint32_t odd_;
    call_paths paths_;
};

TEST_F(code, all_of_it_compiles) {
    std::ofstream source{directory_ / "pasted.cpp"};
    source << "#include <acre/acre.hpp>\n#include <memory>\n#include <span>\n#include <vector>\nstruct thing { long "
              "value[6]; };\n";
    int number = 0;
    for (const verdict suits : with_code) {
        for (const std::uint64_t threads : {1U, 4U}) {
            const std::string pasted = code_for(suits, threads);
            EXPECT_TRUE(pasted.starts_with("#include <acre/acre.hpp>\n")) << name_of(suits);
            source << function_around(pasted, ++number);
        }
    }
    source.close();
    const std::string compile = CXX_COMMAND " '" + (directory_ / "pasted.cpp").string() + "' 2>&1";
    EXPECT_EQ(std::system(compile.c_str()), 0);
}

TEST_F(code, what_is_left_needs_none) {
    EXPECT_EQ(code_for(verdict::leave, 1), "");
}

TEST_F(code, names_the_place_also_where_it_can_name_no_variable) {
    for (const verdict suits : {verdict::arena, verdict::scratch, verdict::stack_buffer}) {
        EXPECT_NE(code_in(lambda_, suits).find(" work::{lambda}::operator()"), std::string::npos) << name_of(suits);
        EXPECT_NE(code_in(odd_, suits).find(" odd?name"), std::string::npos) << name_of(suits);
    }
}

TEST_F(code, an_arena_that_threads_share_is_one_for_threads) {
    for (const verdict suits : {verdict::monotonic_arena, verdict::phase_arena}) {
        EXPECT_NE(code_for(suits, 1).find("static acre::arena "), std::string::npos) << name_of(suits);
        EXPECT_NE(code_for(suits, 2).find("static acre::concurrent_arena "), std::string::npos) << name_of(suits);
        EXPECT_NE(code_for(suits, 2).find("acre::allocator<T, acre::concurrent_arena>"), std::string::npos);
    }
}

TEST_F(code, what_each_thread_does_alone_is_thread_local) {
    EXPECT_NE(code_for(verdict::object_pool, 2).find("thread_local acre::object_pool<T>"), std::string::npos);
    EXPECT_EQ(code_for(verdict::concurrent_object_pool, 2).find("thread_local"), std::string::npos);
}

}  // namespace
