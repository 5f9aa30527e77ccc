// Resource limits of the process: too little memory, too few descriptors, a file size limit, a full disk. Each command
// succeeds, or says in one sentence what it lacks and fails; an output that was there stays as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "command_run.hpp"
#include "conformance/refusal.hpp"
#include "tools/support/made_trace.hpp"

namespace {

using namespace acre::test;
namespace fs = std::filesystem;

/// Commands that write to "old" where they write a file.
const std::vector<std::string> reading{"info a.acre",
                                       "diff a.acre a.acre",
                                       "advise a.acre --no-measure",
                                       "fit a.acre --for multi_arena,pool --no-check --plot old",
                                       "report a.acre --no-measure -o old",
                                       "export a.acre --format csv --table events -o old",
                                       "export a.acre --format pprof -o old",
                                       "export a.acre --format parquet --table events -o old"};

class limits : public command_run {
protected:
    limits() {
        made_trace made;
        for (std::uint32_t i = 0; i < 3000; ++i) {
            const auto stack =
                made.stack({"main", "serve:" + std::to_string(i % 50), "parse:" + std::to_string(i % 7)});
            const auto object = made.allocate(stack, 16 + i % 200);
            if (i % 3 != 0) made.release(object, stack);
        }
        made.write(directory_ / "a.acre");
    }

    /// Runs the command after the shell's `before`. Returns whether it succeeded.
    bool expect_sound(const std::string& before, const std::string& line, const std::string& reason) {
        const char* const content = "an older file";
        std::ofstream{directory_ / "old"} << content;
        const run_result result = shell(before + "'" ACRE_COMMAND "' -q " + line);
        const std::string where = before + line;
        if (result.status == 0) {
            EXPECT_EQ(result.errors, "") << where;
            return true;
        }
        EXPECT_EQ(result.status, 1) << where;
        EXPECT_TRUE(result.errors.starts_with("acre: ")) << where << result.errors;
        EXPECT_NE(result.errors.find(reason), std::string::npos) << where << result.errors;
        EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << where << result.errors;
        EXPECT_EQ(content_of("old"), content) << where;
        for (const fs::directory_entry& each : fs::directory_iterator{directory_.path()}) {
            EXPECT_EQ(each.path().filename().string().find(".partial"), std::string::npos) << where << each.path();
        }
        return false;
    }
};

TEST_F(limits, too_little_memory) {
    if (acre_test::sanitized) GTEST_SKIP() << "a sanitizer needs all of the address space";
    for (int kilobytes = 12'000; kilobytes <= 26'000; kilobytes += 1'000) {
        const std::string limited = "ulimit -v " + std::to_string(kilobytes) + "; ";
        if (shell(limited + "'" ACRE_COMMAND "' --version").status != 0) continue;
        for (const std::string& line : reading) expect_sound(limited, line, "memory");
    }
}

TEST_F(limits, too_few_descriptors) {
    if (acre_test::sanitized) GTEST_SKIP() << "a sanitizer opens files of its own";
    std::vector<std::string> lines = reading;
    lines.push_back("replay a.acre --with arena --rounds 1");
    // The parent of this test may have passed open files on.
    const std::string limited =
        "python3 -c 'import os, resource, sys; os.closerange(3, 1024); "
        "resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]),) * 2); os.execv(sys.argv[2], sys.argv[2:])' ";
    for (const std::string& line : lines) {
        bool succeeded = false;
        for (int files = 4; files <= 12 && !succeeded; ++files) {
            succeeded = expect_sound(limited + std::to_string(files) + " ", line, "ulimit -n");
        }
        EXPECT_TRUE(succeeded) << line;
    }
}

TEST_F(limits, too_small_files) {
    std::vector<std::string> lines = reading;
    lines.push_back("replay a.acre --with arena --rounds 1");
    for (const int blocks : {1, 8, 64}) {
        for (const std::string& line : lines)
            expect_sound("ulimit -f " + std::to_string(blocks) + "; ", line, "ulimit -f");
    }
}

/// A disk with no room but for the trace and an older output.
TEST_F(limits, full_disk) {
    const std::string mounted = "unshare -m sh -c 'mount -t tmpfs -o size=16k none .'";
    if (shell(mounted).status != 0) GTEST_SKIP() << "this process may not mount";
    for (const std::string& line : reading) {
        if (line.find(" old") == std::string::npos) continue;
        const run_result result = shell(
            "mkdir -p disk; unshare -m sh -c 'mount -t tmpfs -o size=16k none disk; echo older >disk/old; ln -s "
            "../a.acre "
            "disk/a.acre; cd disk; head -c 100000 /dev/zero >full 2>/dev/null; '\"'" ACRE_COMMAND "'\"' -q " +
            line + "; echo status $?; cat old; ls'");
        EXPECT_EQ(result.output, "status 1\nolder\na.acre\nfull\nold\n") << line << result.errors;
        EXPECT_NE(result.errors.find("No space left on device"), std::string::npos) << line << result.errors;
        EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << line << result.errors;
    }
}

/// A recorded program runs to its end also where its recording cannot be kept.
TEST_F(limits, recording_with_few_descriptors) {
    if (acre_test::sanitized) GTEST_SKIP() << "a sanitizer opens files of its own";
    for (int files = 4; files <= 16; files += 2) {
        const run_result result =
            shell("ulimit -n " + std::to_string(files) + "; '" ACRE_COMMAND "' record -o b.acre -- sh -c 'exit 7'");
        EXPECT_TRUE(result.status == 7 || result.status == 1) << files << result.errors;
        EXPECT_NE(result.errors.find("acre: "), std::string::npos) << files << result.errors;
        if (result.status == 1) {
            EXPECT_NE(result.errors.find("ulimit -n"), std::string::npos) << files << result.errors;
        } else if (fs::exists(directory_ / "b.acre")) {
            EXPECT_EQ(acre("-q info b.acre").status, 0) << files << result.errors;
        }
        fs::remove(directory_ / "b.acre");
    }
}

}  // namespace
