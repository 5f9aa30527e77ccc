// Parts of a trace: by function, site, size and thread, with their frees.
#include "trace/selection.hpp"

#include <gtest/gtest.h>

#include "tools/support/made_trace.hpp"
#include "trace/error.hpp"

namespace {

using namespace acre::test;

class selecting : public testing::Test {
protected:
    selecting() {
        const auto parse = made_.stack({"main", "parse:4", "store::add<int>(int):7"});
        const auto other = made_.stack({"main", "other:5"});
        objects_ = {made_.allocate(parse, 16), made_.allocate(parse, 100, 1), made_.allocate(other, 100)};
        for (const std::uint64_t each : objects_) made_.release(each, other, 2);
    }

    /// Number of objects whose allocation and free were both passed on.
    std::vector<std::uint64_t> chosen(const selection_options& options) {
        const call_paths paths{made_.tables};
        const selection of{options, paths, made_.tables};
        selected_events passing{of};
        std::vector<std::uint64_t> allocated;
        std::vector<std::uint64_t> freed;
        for (const event& e : made_.events) {
            passing.pass(e, [&](const event& each) { (each.allocates ? allocated : freed).push_back(each.object); });
        }
        EXPECT_EQ(allocated, freed);
        return allocated;
    }

    made_trace made_;
    std::vector<std::uint64_t> objects_;
};

using numbers = std::vector<std::uint64_t>;

TEST_F(selecting, everything) {
    EXPECT_TRUE(selection_options{}.empty());
    EXPECT_EQ(chosen({}), (numbers{0, 1, 2}));
}

TEST_F(selecting, functions_anywhere_on_the_path) {
    EXPECT_EQ(chosen({.functions = {"parse"}}), (numbers{0, 1}));
    EXPECT_EQ(chosen({.functions = {"store::add"}}), (numbers{0, 1}));
    EXPECT_EQ(chosen({.functions = {"store::add<int>(int)"}}), (numbers{0, 1}));
    EXPECT_EQ(chosen({.functions = {"other", "parse"}}), (numbers{0, 1, 2}));
    EXPECT_THROW(chosen({.functions = {"nobody"}}), tool_error);
}

TEST_F(selecting, functions_without_the_tag_of_their_abi) {
    const auto at = made_.stack({"main", "read[abi:cxx11](int):9", "operator new(unsigned long)"});
    made_.release(made_.allocate(at, 8), at);
    EXPECT_EQ(chosen({.functions = {"read"}}), (numbers{3}));
    EXPECT_EQ(chosen({.functions = {"read(int)"}}), (numbers{3}));
    EXPECT_EQ(chosen({.functions = {"read[abi:cxx11]"}}), (numbers{3}));
}

TEST_F(selecting, sites_by_place_and_by_function) {
    EXPECT_EQ(chosen({.sites = {"made.cpp:7"}}), (numbers{0, 1}));
    EXPECT_EQ(chosen({.sites = {"other"}}), (numbers{2}));
    EXPECT_EQ(chosen({.without = {"made.cpp:7"}}), (numbers{2}));
    EXPECT_THROW(chosen({.sites = {"ade.cpp:7"}}), tool_error);
    EXPECT_EQ(chosen({.sites = {"parse"}}), numbers{}) << "it calls what allocates";
}

TEST_F(selecting, sizes_and_threads) {
    EXPECT_EQ(chosen({.min_bytes = 17}), (numbers{1, 2}));
    EXPECT_EQ(chosen({.max_bytes = 16}), (numbers{0}));
    EXPECT_EQ(chosen({.min_bytes = 100, .max_bytes = 100, .thread = 1}), (numbers{1}));
}

TEST_F(selecting, allocations_of_a_thread_in_a_scope) {
    made_.tables.scope_names = {"request", "log"};
    const selection of{{.scopes = {"request"}}, call_paths{made_.tables}, made_.tables};
    selected_events passing{of};
    const auto passes = [&](std::uint64_t object, std::uint32_t thread, bool allocates = true) {
        bool passed = false;
        passing.pass(event{.object = object, .thread = thread, .allocates = allocates},
                     [&](const event&) { passed = true; });
        return passed;
    };
    const auto mark_scope = [&](mark_kind kind, std::uint32_t name, std::uint32_t thread = 0) {
        passing.pass(mark{.thread = thread, .name = name, .kind = kind});
    };
    EXPECT_FALSE(passes(0, 0));
    mark_scope(mark_kind::scope_begin, 0);
    EXPECT_TRUE(passes(1, 0));
    EXPECT_FALSE(passes(2, 1));
    mark_scope(mark_kind::scope_begin, 1);
    mark_scope(mark_kind::scope_begin, 0);
    mark_scope(mark_kind::scope_end, 0);
    EXPECT_TRUE(passes(3, 0));
    mark_scope(mark_kind::scope_end, 1);
    mark_scope(mark_kind::scope_end, 0);
    EXPECT_FALSE(passes(4, 0));
    EXPECT_TRUE(passes(1, 1, false));
    EXPECT_FALSE(passes(4, 0, false));
    EXPECT_THROW(chosen({.scopes = {"nothing"}}), tool_error);
}

TEST_F(selecting, describes_itself) {
    const selection_options options{.functions = {"a", "b"},
                                    .scopes = {},
                                    .sites = {},
                                    .without = {"c"},
                                    .min_bytes = 16,
                                    .max_bytes = 32,
                                    .thread = 3};
    EXPECT_EQ(options.text(), "through a or b, not at c, of 16 to 32 bytes, by thread 3");
}

}  // namespace
