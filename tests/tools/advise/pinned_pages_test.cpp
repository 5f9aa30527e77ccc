// Which sites keep pages that are otherwise free.
#include "advise/pinned_pages.hpp"

#include <gtest/gtest.h>

#include <acre/core/sanitizer.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/reader.hpp"

namespace {

using namespace acre::test;

class pinned_pages : public testing::Test {
protected:
    void SetUp() override {
        if (acre::poisoning) GTEST_SKIP() << "a sanitizer's malloc has other pages";
    }

    const std::optional<pinned_memory>& studied(const std::string& allocator = "glibc") {
        reader_.emplace(made.write(directory_ / "a.acre"));
        paths_.emplace(reader_->tables());
        run_.emplace(*reader_, *paths_);
        found_ = study_pinned_pages(*run_, *paths_, allocator);
        return found_;
    }

    std::string text() {
        const std::optional<pinned_memory>& found = studied();
        return found ? pinned_text(*found, *paths_) : std::string{};
    }

    std::string function_of(std::uint32_t site) const {
        return paths_->functions()[paths_->sites()[site].function].name;
    }

    /// Buffers that are freed, with a node after each second one.
    void nodes_between_buffers() {
        std::vector<std::uint64_t> buffers;
        for (int i = 0; i < 4'000; ++i) {
            buffers.push_back(made.allocate(buffer, 1'000));
            if (i % 2 == 0) nodes.push_back(made.allocate(node, 48));
        }
        for (const std::uint64_t each : buffers) made.release(each, ending);
    }

    made_trace made;
    std::uint32_t buffer = made.stack({"main:1", "read:2", "malloc"});
    std::uint32_t node = made.stack({"main:3", "make_node:4", "malloc"});
    std::uint32_t ending = made.stack({"main:5"});
    std::vector<std::uint64_t> nodes;

private:
    temporary_directory directory_;
    std::optional<trace_reader> reader_;
    std::optional<call_paths> paths_;
    std::optional<history> run_;
    std::optional<pinned_memory> found_;
};

// Such a play wrote to 8 TB, in a minute.
TEST_F(pinned_pages, are_not_studied_where_a_play_would_write_to_too_many) {
    nodes_between_buffers();
    for (int i = 0; i <= 128; ++i) made.release(made.allocate(buffer, std::uint64_t{1} << 29), ending);
    EXPECT_FALSE(studied()) << "more than 64 GiB";
}

TEST_F(pinned_pages, are_kept_by_the_site_whose_objects_remain) {
    nodes_between_buffers();
    const auto& found = studied();
    ASSERT_TRUE(found);
    constexpr std::uint64_t buffer_bytes = 4'000 * 1'000;
    EXPECT_EQ(found->now.end.live_bytes, 2'000U * 48);
    EXPECT_GT(found->now.end.resident_bytes, buffer_bytes * 9 / 10);
    EXPECT_GT(found->now.end.pinned_bytes, buffer_bytes * 8 / 10);
    ASSERT_FALSE(found->now.end.sites.empty());
    EXPECT_EQ(function_of(found->now.end.sites[0].site), "make_node");
    EXPECT_EQ(found->now.end.sites[0].objects, 2'000U);
    EXPECT_LT(found->now.peak.pinned_bytes, buffer_bytes / 10) << "all is live then";
}

TEST_F(pinned_pages, are_given_back_with_that_site_separated) {
    nodes_between_buffers();
    const auto& found = studied();
    ASSERT_TRUE(found && found->separated);
    EXPECT_TRUE(found->is_worth_it());
    ASSERT_EQ(found->group.size(), 1U);
    EXPECT_EQ(function_of(found->group[0]), "make_node");
    EXPECT_LT(found->separated->end.resident_bytes, found->now.end.resident_bytes / 4);
}

TEST_F(pinned_pages, of_a_c_file_are_separated_in_c) {
    nodes_between_buffers();
    EXPECT_NE(text().find("static acre::virtual_memory long_lived_pages;"), std::string::npos) << text();
    for (frame_info& frame : made.tables.frames) frame.locations[0].file = "made.c";
    EXPECT_EQ(text().find("acre::"), std::string::npos) << text();
    EXPECT_NE(text().find("static void* long_lived_malloc(size_t bytes)"), std::string::npos) << text();
    EXPECT_NE(text().find("Call the code in place of malloc, realloc, calloc and free in make_node (made.c)"),
              std::string::npos)
        << text();
}

TEST_F(pinned_pages, of_several_files_are_separated_by_one_pool) {
    nodes_between_buffers();
    pinned_memory found = studied().value();
    const auto written = [&](const char* file, const char* other_file) {
        for (frame_info& frame : made.tables.frames) {
            frame.locations[0].file = frame.locations[0].function == "make_node" ? file : other_file;
        }
        const call_paths paths{made.tables};
        found.group = {paths.site(node), paths.site(buffer)};
        return pinned_text(found, paths);
    };
    const std::string in_cpp = written("node.cpp", "read.cpp");
    EXPECT_NE(in_cpp.find("// in a header that node.cpp and read.cpp include: the lines with"), std::string::npos)
        << in_cpp;
    EXPECT_NE(in_cpp.find("inline acre::virtual_memory long_lived_pages;"), std::string::npos) << in_cpp;
    const std::string in_c = written("node.c", "read.c");
    EXPECT_NE(in_c.find("      void* long_lived_malloc(size_t bytes);\n"), std::string::npos) << in_c;
    EXPECT_EQ(in_c.find("static void* long_lived_malloc"), std::string::npos) << in_c;
}

TEST_F(pinned_pages, are_those_before_exit_frees_what_static_objects_hold) {
    nodes_between_buffers();
    const std::uint32_t at_exit = made.stack({"exit", "destroy:9"});
    for (const std::uint64_t each : nodes) made.release(each, at_exit);
    const auto& found = studied();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->now.end.live_bytes, 2'000U * 48);
}

TEST_F(pinned_pages, are_no_matter_where_nothing_is_fragmented) {
    for (int i = 0; i < 4'000; ++i) nodes.push_back(made.allocate(node, 100));
    for (const std::uint64_t each : nodes) made.release(each, ending);
    const auto& found = studied();
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->is_worth_it());
}

TEST_F(pinned_pages, are_not_guessed_for_an_unknown_malloc) {
    nodes_between_buffers();
    EXPECT_FALSE(studied("another (libanother.so)"));
}

}  // namespace
