// Records a program with the command and asks it for its advice.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/support/temporary_directory.hpp"

namespace acre::test {

class advised : public testing::Test {
protected:
    /// Returns a shell command's output; fails the test when the command fails.
    std::string output_of(const std::string& command) const {
        const std::string line = "cd '" + directory_.path().string() + "' && " + command;
        std::FILE* pipe = ::popen(line.c_str(), "r");
        if (pipe == nullptr) return {};
        std::string output;
        std::array<char, 4096> part{};
        for (std::size_t got = 0; (got = std::fread(part.data(), 1, part.size(), pipe)) > 0;) {
            output.append(part.data(), got);
        }
        EXPECT_EQ(::pclose(pipe), 0) << command;
        return output;
    }

    /// Records the command into `trace` in the test's directory; `setting` precedes the command line.
    void record(const std::string& trace, const std::string& command, const std::string& setting = {}) const {
        output_of(setting + "'" ACRE_COMMAND "' -q record -o " + trace + " -- " + command +
                  " 2>errors >output || { cat errors; false; }");
    }

    nlohmann::json advice_for(const std::string& trace, const std::string& options) const {
        const std::string output = output_of("'" ACRE_COMMAND "' -q advise --json " + options + " " + trace);
        return nlohmann::json::parse(output, nullptr, false);
    }

    temporary_directory directory_;
};

}  // namespace acre::test
