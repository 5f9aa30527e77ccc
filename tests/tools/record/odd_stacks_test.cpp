// Programs on odd stacks run recorded as they run alone.
#include <stdio.h>
#include <sys/wait.h>

#include <sstream>

#include "recording.hpp"

namespace acre::tool {
namespace {

std::string printed_by(const std::string& command) {
    std::string text;
    FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return text;
    for (int letter = 0; (letter = ::fgetc(pipe)) != EOF;) text.push_back(static_cast<char>(letter));
    const int status = ::pclose(pipe);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "failed";
}

class odd_stacks : public recording {
protected:
    void expect_no_harm(const std::string& program, stack_method stacks) {
        const std::string alone = printed_by(program);
        const std::filesystem::path output = directory_.path() / "printed";
        record_options options = options_for({"/bin/sh", "-c", "exec " + program + " >" + output.string()});
        options.stacks = stacks;
        const record_result result = record(options);
        EXPECT_EQ(result.exit_status, 0);
        EXPECT_GT(result.events, 1000u);
        EXPECT_EQ((std::ostringstream{} << std::ifstream{output}.rdbuf()).str(), alone);
        EXPECT_NE(alone, "failed");
    }
};

TEST_F(odd_stacks, are_walked_by_unwind_tables_without_harm) {
    expect_no_harm(ODD_STACKS, stack_method::unwind_tables);
    expect_no_harm(ODD_STACKS_CHAINED, stack_method::unwind_tables);
}

TEST_F(odd_stacks, are_walked_by_frame_pointers_without_harm) {
    expect_no_harm(ODD_STACKS_CHAINED, stack_method::frame_pointers);
}

}  // namespace
}  // namespace acre::tool
