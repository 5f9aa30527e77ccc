// The printed code compiles and uses existing options.
#include "fit/fit_wording.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "text/text.hpp"
#include "tools/support/temporary_directory.hpp"

namespace {

using namespace acre::tool;

/// Puts each piece of code into a function of its own, with some type T.
std::string program_of(const std::vector<std::string>& codes) {
    std::string functions;
    for (const std::string& code : codes) {
        std::istringstream lines{code};
        functions += "void use" + std::to_string(functions.size()) + "([[maybe_unused]] std::size_t bytes) {\n";
        for (std::string line; std::getline(lines, line);) {
            if (line != "#include <acre/acre.hpp>") functions += line + "\n";
        }
        functions += "}\n";
    }
    return "#include <acre/acre.hpp>\n#include <cstddef>\nstruct T { char bytes[72]; };\n" + functions;
}

TEST(fit_code, compiles) {
    census together;
    together.objects = 100;
    together.generations = {.count = 10, .objects = 100, .p50_bytes = 64, .p99_bytes = 96, .max_bytes = 4096};
    census forever;
    forever.objects = 100;
    forever.arena_bytes = 3 << 20;
    const size_use slots{.bytes = 72, .alignment = 16, .objects = 100, .peak_objects = 20};
    ASSERT_TRUE(dies_together(together));
    ASSERT_FALSE(dies_together(forever));

    const acre::test::temporary_directory directory;
    const auto file = directory / "code.cpp";
    std::ofstream{file} << program_of({multi_arena_code({24, 16384, 0}, false), multi_arena_code({24, 1008, 2}, true),
                                       concurrent_multi_arena_code({8, 1 << 20, 0}), arena_code(together),
                                       arena_code(forever), pool_code(slots), pool_code({}), typed_arena_code(slots)});
    const std::string line =
        "'" ACRE_COMPILER "' -std=c++20 -fsyntax-only -I'" ACRE_INCLUDE "' '" + file.string() + "'";
    EXPECT_EQ(std::system(line.c_str()), 0);
}

TEST(fit_code, sizes_are_written_with_literals) {
    EXPECT_EQ(bytes_literal(16384), "16_KiB");
    EXPECT_EQ(bytes_literal(3 << 20), "3_MiB");
    EXPECT_EQ(bytes_literal(1008), "1008");
}

}  // namespace
