// Runs the command in a temporary directory of the test.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "tools/support/temporary_directory.hpp"

namespace acre::test {

/// The output and the exit status of a run.
struct run_result {
    int status = -1;
    std::string output;
    std::string errors;
};

class command_run : public testing::Test {
protected:
    run_result acre(const std::string& arguments) { return shell("'" ACRE_COMMAND "' " + arguments); }

    /// Runs a shell command line in the directory.
    run_result shell(const std::string& command_line) {
        const auto errors = directory_ / "errors";
        const std::string line =
            "cd '" + directory_.path().string() + "' && (" + command_line + ") 2>'" + errors.string() + "'";
        run_result result;
        std::FILE* pipe = ::popen(line.c_str(), "r");
        if (pipe == nullptr) return result;
        std::array<char, 4096> part{};
        for (std::size_t got = 0; (got = std::fread(part.data(), 1, part.size(), pipe)) > 0;) {
            result.output.append(part.data(), got);
        }
        const int status = ::pclose(pipe);
        result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        std::ifstream file{errors};
        result.errors = {std::istreambuf_iterator<char>{file}, {}};
        return result;
    }

    /// Expects one sentence on standard error and nothing on standard output.
    void expect_failure(const std::string& arguments, int status, const std::string& word) {
        const run_result result = acre(arguments);
        EXPECT_EQ(result.status, status) << arguments;
        EXPECT_EQ(result.output, "") << arguments;
        EXPECT_TRUE(result.errors.starts_with("acre: ")) << result.errors;
        EXPECT_NE(result.errors.find(word), std::string::npos) << result.errors;
        EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    }

    std::string content_of(const char* name) {
        std::ifstream file{directory_ / name};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

    temporary_directory directory_;
};

}  // namespace acre::test
