// What is said of functions without names.
#include "advise/debug_packages.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "advise/candidates.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/reader.hpp"

namespace {

using namespace acre::test;

class debug_packages : public testing::Test {
protected:
    debug_packages() {
        std::filesystem::create_directory(directory_ / "info");
        std::ofstream{directory_ / "info/other.list"} << "/.\n/usr/bin/other\n";
        std::ofstream{directory_ / "info/made:amd64.list"} << "/.\n/usr/bin/made\n/usr/lib/libmade.so.1\n";
        std::ofstream{directory_ / "info/libc6:amd64.list"} << "/lib/x86_64-linux-gnu/libc.so.6\n";
        std::ofstream{directory_ / "release"} << "NAME=x\nID=debian\n";
    }

    /// What is missing in a trace where one site of the program makes all objects.
    std::vector<unnamed_module> missing(const source_location& site) const {
        made_trace made;
        const auto makes = made.stack({"main:1", "site:2", "malloc"});
        made.tables.frames[1].locations.front() = site;
        for (int i = 0; i < 100; ++i) made.release(made.allocate(makes, 48), makes);
        trace_reader reader{made.write(directory_ / "a.acre")};
        const call_paths paths{reader.tables()};
        const history run{reader, paths};
        return unnamed_modules(find_candidates(run, paths), paths, reader.tables(), system());
    }

    system_files system() const { return {directory_ / "info", directory_ / "release"}; }

    temporary_directory directory_;
};

TEST_F(debug_packages, of_a_file_are_found_by_the_lists_of_packages) {
    EXPECT_EQ(package_of("/usr/lib/libmade.so.1", system()), "made");
    EXPECT_EQ(package_of("/usr/lib/x86_64-linux-gnu/libc.so.6", system()), "libc6") << "/lib is a link";
    EXPECT_EQ(package_of("/usr/bin/made2", system()), "");
    EXPECT_EQ(package_of("/usr/bin/made", {"/nonexistent", "/nonexistent"}), "");
}

TEST_F(debug_packages, are_named_where_functions_have_no_names) {
    const auto found = missing({"made+0x1f0", "", 0});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(
        unnamed_text(found[0]),
        "/usr/bin/made (with 100.0 % of the allocations) has no debug information: names of functions are not "
        "known. Install the package made-dbgsym, or set DEBUGINFOD_URLS=https://debuginfod.debian.net, and record "
        "again.");
}

TEST_F(debug_packages, are_named_where_only_lines_are_missing) {
    const auto found = missing({"site", "", 0});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].has_functions);
    EXPECT_EQ(found[0].package, "made-dbgsym");
}

TEST_F(debug_packages, are_not_named_where_nothing_is_missing) {
    EXPECT_TRUE(missing({"site", "made.cpp", 7}).empty());
}

}  // namespace
