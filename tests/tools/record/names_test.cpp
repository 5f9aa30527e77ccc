// Names that come from debug information: the types of objects, and functions where the information is not in the file
// itself.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "record/symbols.hpp"
#include "recording.hpp"

namespace acre::tool {
namespace {

/// The function that allocates this size.
std::string innermost_function(const loaded_trace& trace, std::uint64_t size) {
    const auto found =
        std::ranges::find_if(trace.events, [&](const event& each) { return each.allocates && each.size == size; });
    if (found == trace.events.end() || trace.stack_of(*found).empty()) return "none";
    const std::vector<source_location> locations = trace.stack_of(*found).front().locations;
    return locations.empty() ? "unknown" : locations.front().function;
}

TEST(names, functions_of_the_c_library_have_no_lines_but_names) {
    Dl_info found{};
    link_map* library = nullptr;
    // Asked of the library itself: a sanitizer has a function of the same name, and lines of it.
    void* const loaded = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (loaded == nullptr) GTEST_SKIP() << "the C library is not libc.so.6";
    void* const function = ::dlsym(loaded, "qsort");
    if (function == nullptr || ::dladdr1(function, &found, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0 ||
        library == nullptr || *library->l_name != '/')
        GTEST_SKIP() << "the C library is not a file";
    symbol_source symbols{library->l_name, {}, {}};
    const auto& locations = symbols.locate(reinterpret_cast<std::uintptr_t>(function) + 1 - library->l_addr);
    ASSERT_EQ(locations.size(), 1U);
    EXPECT_NE(locations[0].function.find("qsort"), std::string::npos) << locations[0].function;
    EXPECT_EQ(locations[0].file, "");
    ::dlclose(loaded);
}

class made_types : public recording, public testing::WithParamInterface<const char*> {};

TEST_P(made_types, are_named_where_debug_information_tells) {
    const loaded_trace trace = run({GetParam()});
    EXPECT_EQ(innermost_function(trace, 1'240), "operator new<game::orc>");
    EXPECT_EQ(innermost_function(trace, 2'032), "operator new<game::elf>");
    EXPECT_EQ(innermost_function(trace, 3'008), "operator new<game::troll>");
    EXPECT_EQ(innermost_function(trace, 4'008), "operator new<game::large_troll>");
    EXPECT_EQ(innermost_function(trace, 6'240), "operator new<game::wagon<game::orc>>");
    EXPECT_EQ(innermost_function(trace, 9'000), "operator new<game::goblin>");
    EXPECT_EQ(innermost_function(trace, 10'000), "main");  // nothing tells
    EXPECT_EQ(innermost_function(trace, 11'000), "operator new<game::giant>");
    EXPECT_EQ(innermost_function(trace, 12'008), "operator new<game::stone_troll>");
    EXPECT_EQ(innermost_function(trace, 7'001), "main");
    EXPECT_EQ(innermost_function(trace, 7'002), "main");
}

INSTANTIATE_TEST_SUITE_P(of_programs, made_types, testing::Values(MADE_TYPES, MADE_TYPES_PLAIN));

/// Runs a command of the binary utilities.
void change(const std::string& arguments) {
    ASSERT_EQ(std::system(("'" OBJCOPY "' " + arguments).c_str()), 0) << arguments;
}

class separate_names : public recording {
protected:
    separate_names() {
        change("--only-keep-debug '" + whole_ + "' '" + debug_ + "'");
        change("--strip-all '" + whole_ + "' '" + stripped_ + "'");
    }

    /// What is known of the place in the program that allocates.
    std::vector<source_location> known_in(const std::string& path) const {
        symbol_source symbols{path, {}, {}};
        return symbols.locate(place_);
    }

    static std::string text(const std::vector<source_location>& of) {
        std::string all;
        for (const source_location& each : of) all += each.function + " " + std::to_string(each.line) + "; ";
        return all;
    }

    std::string whole_ = INLINED;
    std::string stripped_ = directory_.path() / "program";
    std::string debug_ = directory_.path() / "information";
    std::uint64_t place_ = [this] {
        const loaded_trace trace = run({whole_});
        const auto found = std::ranges::find_if(trace.events, [](const event& each) { return each.size == 7'654'321; });
        return found == trace.events.end() ? 0 : trace.stack_of(*found).front().module_offset;
    }();
};

TEST_F(separate_names, are_found_by_the_debug_link) {
    const std::string expected = text(known_in(whole_));
    ASSERT_NE(expected.find("outer_function"), std::string::npos);
    EXPECT_NE(text(known_in(stripped_)), expected);
    change("--add-gnu-debuglink='" + debug_ + "' '" + stripped_ + "'");
    EXPECT_EQ(text(known_in(stripped_)), expected);
}

TEST_F(separate_names, are_fetched_from_a_server_where_one_is_configured) {
    if (std::system("ldconfig -p | grep -q libdebuginfod.so.1") != 0) GTEST_SKIP() << "no libdebuginfod.so.1";
    const std::string expected = text(known_in(whole_));
    const loaded_trace trace = run({whole_});
    const auto program = std::ranges::find(trace.tables.modules, whole_, &module_info::path);
    ASSERT_NE(program, trace.tables.modules.end());
    const std::string id = program->build_id;
    ASSERT_FALSE(id.empty());
    const std::filesystem::path served = directory_.path() / "server/buildid" / id;
    std::filesystem::create_directories(served);
    std::filesystem::rename(debug_, served / "debuginfo");
    ::setenv("DEBUGINFOD_URLS", ("file://" + (directory_.path() / "server").string()).c_str(), 1);
    ::setenv("DEBUGINFOD_CACHE_PATH", (directory_.path() / "cache").c_str(), 1);
    const std::string found = text(known_in(stripped_));
    ::unsetenv("DEBUGINFOD_URLS");
    ::unsetenv("DEBUGINFOD_CACHE_PATH");
    EXPECT_EQ(found, expected);
}

/// As Fedora ships its programs: a compressed symbol table without lines.
TEST_F(separate_names, are_found_in_the_compressed_symbols_of_a_section) {
    if (std::system("command -v xz >/dev/null") != 0) GTEST_SKIP() << "no xz";
    EXPECT_EQ(text(known_in(stripped_)).find("outer_function"), std::string::npos);
    change("--strip-debug '" + debug_ + "'");
    ASSERT_EQ(std::system(("xz '" + debug_ + "'").c_str()), 0);
    change("--add-section .gnu_debugdata='" + debug_ + ".xz' '" + stripped_ + "'");
    EXPECT_EQ(text(known_in(stripped_)), "outer_function() 0; ");
}

}  // namespace
}  // namespace acre::tool
