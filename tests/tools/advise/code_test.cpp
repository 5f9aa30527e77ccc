// The texts of every verdict, and that its code compiles against the real headers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "advise/wording.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"

namespace {

using namespace acre::test;

class code : public testing::Test {
protected:
    code()
        : stack_{made_.stack({"main", "server::handle_request:5"})},
          lambda_{made_.stack({"main", "work(int)::{lambda()#1}::operator()() const"})},
          odd_{made_.stack({"main", "odd\nname"})},
          paths_{made_.tables} {}

    advice advice_of(verdict which, std::uint64_t threads, std::uint32_t stack) const {
        advice each;
        each.candidate = each.decision = which;
        each.site = paths_.site(stack);
        each.function = paths_.sites()[each.site].function;
        each.figures.threads = threads;
        each.block_bytes = 10'240;
        each.slot_bytes = 48;
        each.buffer_bytes = 224;
        each.arenas = 12;
        each.arena_bytes = 4096;
        return each;
    }

    std::string code_for(verdict which, std::uint64_t threads) const {
        return code_of(advice_of(which, threads, stack_), paths_);
    }
    std::string code_in(std::uint32_t stack, verdict which) const {
        return code_of(advice_of(which, 1, stack), paths_);
    }

    /// A function that declares the names of the code, with the code pasted into it, after the code's headers.
    static std::string function_around(const std::string& code, int number) {
        std::istringstream lines{code};
        std::string headers;
        std::string body;
        for (std::string line; std::getline(lines, line);) {
            (line.starts_with("#include") ? headers : body) += line + "\n";
        }
        return headers + "template <typename T, typename... Arguments>\nvoid pasted_" + std::to_string(number) +
               "([[maybe_unused]] std::size_t n, [[maybe_unused]] std::size_t bytes, "
               "[[maybe_unused]] std::size_t alignment, [[maybe_unused]] Arguments... arguments) {\n" +
               body + "}\ntemplate void pasted_" + std::to_string(number) +
               "<thing>(std::size_t, std::size_t, std::size_t);\ntemplate void pasted_" + std::to_string(number) +
               "<derived>(std::size_t, std::size_t, std::size_t);\n";
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
    source << "struct thing { long value[6]; };\n"
              "struct base { virtual ~base() = default; long value[4]; };\nstruct derived : base { long more; };\n";
    int number = 0;
    for (const verdict which : all_verdicts) {
        if (which == verdict::leave) continue;
        for (const std::uint64_t threads : {1U, 4U}) {
            const std::string pasted = code_for(which, threads);
            EXPECT_TRUE(pasted.starts_with("#include <acre/acre.hpp>\n")) << name_of(which);
            source << function_around(pasted, ++number);
        }
    }
    source.close();
    const std::string compile = CXX_COMMAND " '" + (directory_ / "pasted.cpp").string() + "' 2>&1";
    EXPECT_EQ(std::system(compile.c_str()), 0);
}

TEST_F(code, in_c_it_is_c) {
    for (frame_info& frame : made_.tables.frames) frame.locations[0].file = "made.c";
    const call_paths paths{made_.tables};
    for (const verdict which : all_verdicts) {
        if (which == verdict::leave) continue;
        for (const std::uint64_t threads : {1U, 4U}) {
            const std::filesystem::path file = directory_ / "pasted.c";
            const std::string pasted = code_of(advice_of(which, threads, stack_), paths);
            const std::size_t after_includes = pasted.find('\n', pasted.rfind("#include")) + 1;
            const bool is_statements = pasted.find("static") == std::string::npos;
            std::ofstream{file} << pasted.substr(0, after_includes)
                                << (is_statements ? "void pasted(size_t bytes);\nvoid pasted(size_t bytes) {\n" : "")
                                << pasted.substr(after_includes) << (is_statements ? "}\n" : "");
            const std::string compile = C_COMMAND " '" + file.string() + "' 2>&1";
            EXPECT_EQ(std::system(compile.c_str()), 0) << pasted;
        }
    }
}

TEST_F(code, an_arena_per_lifetime_has_room_and_the_heap_behind_it) {
    const std::string pasted = code_for(verdict::multi_arena, 1);
    EXPECT_NE(pasted.find("static acre::fallback handle_request_memory{handle_request_arenas, acre::heap{}};"),
              std::string::npos)
        << pasted;
}

TEST_F(code, every_text_of_every_verdict_can_be_filled) {
    for (const verdict which : all_verdicts) {
        for (const std::uint64_t threads : {1U, 4U}) {
            const advice each = advice_of(which, threads, stack_);
            EXPECT_NE(title_of(each, paths_).find("handle_request"), std::string::npos) << name_of(which);
            EXPECT_EQ((evidence_of(each, paths_) + title_of(each, paths_)).find_first_of("{}"), std::string::npos);
            EXPECT_EQ(cautions_of(each, paths_).empty(), which == verdict::leave) << name_of(which);
        }
    }
}

TEST_F(code, leave_has_none) {
    EXPECT_EQ(code_for(verdict::leave, 1), "");
}

TEST_F(code, names_the_function_even_if_that_gives_no_variable_name) {
    for (const verdict which : {verdict::arena, verdict::scratch, verdict::stack_buffer}) {
        EXPECT_NE(code_in(lambda_, which).find(" work::{lambda}::operator()"), std::string::npos) << name_of(which);
        EXPECT_NE(code_in(odd_, which).find(" odd?name"), std::string::npos) << name_of(which);
    }
}

TEST_F(code, an_arena_shared_by_threads_is_concurrent) {
    for (const verdict which : {verdict::monotonic_arena, verdict::phase_arena}) {
        EXPECT_NE(code_for(which, 1).find("static acre::arena "), std::string::npos) << name_of(which);
        EXPECT_NE(code_for(which, 2).find("static acre::concurrent_arena "), std::string::npos) << name_of(which);
        EXPECT_NE(code_for(which, 2).find("acre::allocator<T, acre::concurrent_arena>"), std::string::npos);
    }
}

TEST_F(code, a_pool_of_each_thread_is_thread_local) {
    EXPECT_NE(code_for(verdict::object_pool, 2).find("thread_local acre::object_pool<T>"), std::string::npos);
    EXPECT_EQ(code_for(verdict::concurrent_object_pool, 2).find("thread_local"), std::string::npos);
}

}  // namespace
