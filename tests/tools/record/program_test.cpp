// A program that cannot be recorded is refused with a sentence before it starts, and leaves no files.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

#include "recording.hpp"

namespace acre::tool {
namespace {

namespace fs = std::filesystem;

class refused : public recording {
protected:
    /// A copy of a program, some bytes of it replaced.
    fs::path copy_of_true(std::size_t offset = 0, const std::string& bytes = {}) {
        const fs::path copy = directory_.path() / "copy";
        fs::copy_file("/bin/true", copy, fs::copy_options::overwrite_existing);
        std::fstream file{copy, std::ios::in | std::ios::out | std::ios::binary};
        file.seekp(static_cast<std::streamoff>(offset));
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        return copy;
    }
    static bool contains(const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    }
};

TEST_F(refused, is_a_program_that_does_not_exist) {
    EXPECT_TRUE(contains(refusal({"/does/not/exist"}), "no such program"));
    EXPECT_TRUE(contains(refusal({"no-such-program-anywhere"}), "no such program in PATH"));
    EXPECT_TRUE(contains(refusal(std::vector<std::string>{""}), "empty"));
    EXPECT_TRUE(contains(refusal(std::vector<std::string>{}), "no program"));
    EXPECT_EQ(files_left(), 0u);
}

TEST_F(refused, is_a_program_with_the_malloc_of_a_sanitizer) {
    EXPECT_TRUE(contains(refusal({SANITIZED}), "built with AddressSanitizer"));
    EXPECT_EQ(files_left(), 0u);
}

TEST_F(refused, is_a_file_that_is_not_a_program) {
    EXPECT_TRUE(contains(refusal({"/"}), "directory"));
    EXPECT_TRUE(contains(refusal({"/etc/passwd"}), "not an executable"));
    const fs::path text = directory_.path() / "text";
    std::ofstream{text} << "hello\n";
    fs::permissions(text, fs::perms::owner_all);
    EXPECT_TRUE(contains(refusal({text.string()}), "neither an ELF program nor a script"));
    std::ofstream{text} << "#!/no/interpreter\n";
    EXPECT_TRUE(contains(refusal({text.string()}), "'/no/interpreter' does not exist"));
    std::ofstream{text} << "#! \necho\n";
    EXPECT_TRUE(contains(refusal({text.string()}), "names no interpreter after #!"));
    std::ofstream{text} << "\177ELF";
    EXPECT_FALSE(refusal({text.string()}).empty());
}

TEST_F(refused, is_a_static_program_without_the_recorder) {
    EXPECT_TRUE(contains(refusal({STATIC_PROGRAM}), "statically linked"));
    EXPECT_TRUE(contains(refusal({STATIC_PROGRAM}), "link it with libacre-record.a"));
}

TEST_F(refused, is_a_shared_library) {
    const fs::path library = directory_.path() / "library";
    fs::copy_file(RECORDER, library);
    fs::permissions(library, fs::perms::owner_all);
    EXPECT_TRUE(contains(refusal({library.string()}), "it is a shared library, not a program"));
}

TEST_F(refused, is_a_program_with_the_recorder_of_another_version) {
    std::ostringstream whole;
    whole << std::ifstream{STATIC_FUNCTIONS, std::ios::binary}.rdbuf();
    std::string bytes = whole.str();
    const std::string note{"\5\0\0\0\4\0\0\0\1\0\0\0acre\0\0\0\0", 20};
    const std::size_t at = bytes.find(note);
    ASSERT_NE(at, std::string::npos);
    bytes[at + note.size()] = 99;
    const fs::path copy = directory_.path() / "copy";
    std::ofstream{copy, std::ios::binary} << bytes;
    fs::permissions(copy, fs::perms::owner_all);
    EXPECT_TRUE(contains(refusal({copy.string()}), "another version of acre: link it again"));
}

TEST_F(refused, is_a_program_that_is_cut_off) {
    for (const std::uintmax_t bytes : {100U, 500U, 4096U}) {
        const fs::path copy = copy_of_true();
        fs::resize_file(copy, bytes);
        EXPECT_TRUE(contains(refusal({copy.string()}), "it is cut off")) << bytes;
    }
}

TEST_F(refused, is_a_program_of_another_machine) {
    EXPECT_TRUE(contains(refusal({copy_of_true(4, "\1").string()}), "32-bit"));
    EXPECT_TRUE(contains(refusal({copy_of_true(18, "\xb7").string()}), "another processor"));
}

TEST_F(refused, is_a_program_of_another_c_library) {
    fs::path copy = copy_of_true();
    std::fstream file{copy, std::ios::in | std::ios::out | std::ios::binary};
    std::string bytes(4096, '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const std::size_t at = bytes.find("/lib64/ld-linux-x86-64.so.2");
    ASSERT_NE(at, std::string::npos);
    file.seekp(static_cast<std::streamoff>(at));
    file << "/lib/ld-musl-x86_64.so.1" << '\0';
    file.close();
    EXPECT_TRUE(contains(refusal({copy.string()}), "ld-musl"));
}

TEST_F(refused, is_a_setuid_program) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file another user's";
    const fs::path copy = copy_of_true();
    ASSERT_EQ(::chown(copy.c_str(), 65534, 65534), 0);
    ASSERT_EQ(::chmod(copy.c_str(), 04755), 0);
    EXPECT_TRUE(contains(refusal({copy.string()}), "setuid"));
}

TEST_F(refused, is_an_output_that_cannot_be_written) {
    record_options options = options_for({"/bin/true"});
    options.output = "/does/not/exist/out.acre";
    EXPECT_TRUE(contains(refusal(options), "cannot write"));
    options.output = directory_.path();
    EXPECT_TRUE(contains(refusal(options), "not a regular file"));
    const std::string name(250, 'n');
    options.output = directory_.path() / name;
    EXPECT_TRUE(contains(refusal(options), name + ".raw-XXXXXX': File name too long"));
}

TEST_F(refused, is_an_output_that_is_not_a_trace) {
    record_options options = options_for({ENDINGS});
    options.output = directory_.path() / "main.c";
    std::ofstream{options.output} << "int main(void) {}";
    EXPECT_TRUE(contains(refusal(options), "is not a trace, and only traces are replaced: name another file with -o"));
    EXPECT_EQ(fs::file_size(options.output), 17U);
    EXPECT_THROW(finish_raw_log(directory_.path(), options.output), tool_error);
    EXPECT_EQ(fs::file_size(options.output), 17U);
    // An empty file, then the trace that replaced it.
    fs::resize_file(options.output, 0);
    record(options);
    EXPECT_EQ(loaded_trace{record(options).traces.at(0)}.allocations(4242), 1000u);
}

TEST_F(refused, is_an_output_that_is_the_program) {
    const fs::path copy = copy_of_true();
    record_options options = options_for({copy.string()});
    options.output = directory_.path() / "link";
    fs::create_symlink(copy, options.output);
    EXPECT_TRUE(contains(refusal(options), "it is the program to record; name another file with -o"));
    EXPECT_TRUE(fs::exists(copy));
}

TEST_F(refused, is_a_recorder_that_is_missing) {
    record_options options = options_for({"/bin/true"});
    options.recorder = "/does/not/exist.so";
    EXPECT_TRUE(contains(refusal(options), "missing"));
}

// LD_PRELOAD separates paths by blanks and colons, and the dynamic linker replaces tokens such as $LIB in them.
TEST_F(refused, is_not_a_recorder_in_a_folder_with_an_odd_name) {
    for (const char* name : {"a folder: with blanks", "$LIB", "${ORIGIN}"}) {
        const fs::path folder = directory_.path() / name;
        fs::create_directory(folder);
        fs::copy_file(RECORDER, folder / "libacre-record.so");
        record_options options = options_for({ENDINGS});
        options.recorder = folder / "libacre-record.so";
        EXPECT_EQ(refusal(options), "") << name;
        EXPECT_EQ(loaded_trace{options.output}.allocations(4242), 1000u) << name;
    }
    for (const auto& link : fs::directory_iterator{"/tmp/acre-links-" + std::to_string(::geteuid())})
        if (fs::read_symlink(link).string().starts_with(directory_.path().string())) fs::remove(link);
}

TEST_F(refused, is_a_recording_for_which_too_few_files_may_be_open) {
    const auto open_files = std::distance(fs::directory_iterator{"/proc/self/fd"}, {});
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit lower = before;
    lower.rlim_cur = static_cast<rlim_t>(open_files + 2);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &lower), 0);
    const std::string why = refusal({ENDINGS});
    ::setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(why, "cannot record: too many files are open: raise the limit with 'ulimit -n 1024'");
    EXPECT_EQ(files_left(), 0u);
}

}  // namespace
}  // namespace acre::tool
