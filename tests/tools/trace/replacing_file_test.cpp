// A file that gets its name when it is complete: what it does to the file, the links and the temporary names in its
// place.
#include "trace/replacing_file.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tools/support/temporary_directory.hpp"

namespace {

using namespace acre::tool;
namespace fs = std::filesystem;

class replacing : public testing::Test {
protected:
    static void write(const fs::path& path, const std::string& text) {
        replacing_file file{path};
        file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
        file.finish();
    }
    static void put(const fs::path& path, const std::string& text) { std::ofstream{path} << text; }
    static std::string content_of(const fs::path& path) {
        std::ifstream file{path};
        return {std::istreambuf_iterator<char>{file}, {}};
    }
    static struct stat status_of(const fs::path& path) {
        struct stat status{};
        EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
        return status;
    }
    static unsigned mode_of(const fs::path& path) { return status_of(path).st_mode & 07777U; }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator{directory_.path()}, {}));
    }

    /// Traps for the names of temporary files: links to a file that must stay as it is. Then writes through a link.
    void write_beside_traps() {
        const std::string partial = "file.partial-" + std::to_string(::getpid());
        fs::create_symlink("victim", directory_ / partial.c_str());
        put(directory_ / (partial + "-2").c_str(), "another process's");
        write(directory_ / "link", "new");
        EXPECT_TRUE(fs::is_symlink(directory_ / partial.c_str()));
        EXPECT_EQ(content_of(directory_ / (partial + "-2").c_str()), "another process's");
    }
    void expect_written_beside_traps() const {
        EXPECT_EQ(content_of(directory_ / "victim"), "precious");
        EXPECT_EQ(content_of(directory_ / "file"), "new");
        EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
        EXPECT_FALSE(fs::is_symlink(directory_ / "file"));
        EXPECT_EQ(files(), 5U);
    }
    void make_link_and_victim() {
        put(directory_ / "victim", "precious");
        put(directory_ / "file", "old");
        fs::create_symlink("file", directory_ / "link");
    }

    acre::test::temporary_directory directory_;
};

TEST_F(replacing, keeps_the_mode_of_the_file) {
    for (const unsigned mode : {0600U, 0664U, 0444U, 0755U}) {
        put(directory_ / "file", "old");
        ASSERT_EQ(::chmod((directory_ / "file").c_str(), mode), 0);
        write(directory_ / "file", "new");
        EXPECT_EQ(mode_of(directory_ / "file"), mode);
        EXPECT_EQ(content_of(directory_ / "file"), "new");
        fs::remove(directory_ / "file");
    }
}

// A slip of the name: acre plan run.acre -o app, where app.plan was meant.
TEST_F(replacing, refuses_to_replace_a_program) {
    const fs::path program = directory_ / "app";
    fs::copy_file("/proc/self/exe", program);
    const auto bytes = fs::file_size(program);
    EXPECT_THROW(write(program, "{}"), tool_error);
    EXPECT_EQ(fs::file_size(program), bytes);
}

TEST_F(replacing, keeps_the_owner_where_it_may) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root may give a file away";
    put(directory_ / "file", "old");
    ASSERT_EQ(::chown((directory_ / "file").c_str(), 12, 34), 0);
    ASSERT_EQ(::chmod((directory_ / "file").c_str(), 0640), 0);
    write(directory_ / "file", "new");
    EXPECT_EQ(status_of(directory_ / "file").st_uid, 12U);
    EXPECT_EQ(status_of(directory_ / "file").st_gid, 34U);
    EXPECT_EQ(mode_of(directory_ / "file"), 0640U);
}

TEST_F(replacing, makes_a_new_file_as_the_umask_says) {
    const mode_t before = ::umask(027);
    write(directory_ / "file", "new");
    ::umask(before);
    EXPECT_EQ(mode_of(directory_ / "file"), 0640U);
}

TEST_F(replacing, follows_links_that_lead_to_no_file_yet) {
    fs::create_directory(directory_ / "there");
    fs::create_symlink("there/second", directory_ / "first");
    fs::create_symlink("file", directory_ / "there/second");
    write(directory_ / "first", "new");
    EXPECT_TRUE(fs::is_symlink(directory_ / "first"));
    EXPECT_TRUE(fs::is_symlink(directory_ / "there/second"));
    EXPECT_EQ(content_of(directory_ / "there/file"), "new");
}

TEST_F(replacing, follows_no_link_with_the_name_of_a_temporary_file) {
    make_link_and_victim();
    write_beside_traps();
    expect_written_beside_traps();
}

// Without /proc a file without a name could not get one, so it has a temporary name from the start.
TEST_F(replacing, follows_no_link_where_the_temporary_file_has_a_name) {
    make_link_and_victim();
    const pid_t child = ::fork();
    if (child == 0) {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::umount2("/proc", MNT_DETACH) != 0)
            ::_exit(77);
        write_beside_traps();
        ::_exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this process may not unmount /proc";
    EXPECT_EQ(WEXITSTATUS(status), 0);
    expect_written_beside_traps();
}

}  // namespace
