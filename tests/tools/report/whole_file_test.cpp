#include "report/whole_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tools/support/temporary_directory.hpp"
#include "trace/error.hpp"

namespace {

using acre::test::temporary_directory;
using acre::tool::tool_error;
using acre::tool::write_whole_file;

std::string content_of(const std::filesystem::path& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(whole_file, replaces_what_was_there) {
    const temporary_directory directory;
    std::ofstream{directory / "a"} << "older and longer";
    write_whole_file(directory / "a", "new");
    EXPECT_EQ(content_of(directory / "a"), "new");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator{directory.path()}, {}), 1);
}

TEST(whole_file, that_cannot_be_written_leaves_nothing_and_says_why) {
    const temporary_directory directory;
    std::filesystem::create_directory(directory / "folder");
    for (const char* name : {"no/such/folder", "folder", "/dev/full"}) {
        try {
            write_whole_file(directory / name, "text");
            FAIL() << name;
        } catch (const tool_error& error) {
            EXPECT_NE(std::string{error.what()}.find("cannot write '"), std::string::npos) << error.what();
        }
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator{directory.path()}, {}), 1);
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

}  // namespace
