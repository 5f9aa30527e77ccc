#include "report/flame_graph.hpp"

#include <gtest/gtest.h>

#include "tools/support/made_trace.hpp"

namespace {

using namespace acre::test;

double weight_of(const flame_node& node, flame_weight which) {
    return node.weights[static_cast<std::size_t>(which)];
}

class flames : public testing::Test {
protected:
    std::uint32_t node(std::initializer_list<std::string> functions) { return paths().node(made.stack(functions)); }

    /// Must be called after all stacks are made.
    const call_paths& paths() {
        if (!paths_) paths_.emplace(made.tables);
        return *paths_;
    }

    const flame_node* named(const std::vector<flame_node>& graph, const std::string& name) {
        for (const flame_node& each : graph) {
            if (each.function != 0 && paths().functions()[each.function].name == name) return &each;
        }
        return nullptr;
    }

    made_trace made;

private:
    std::optional<call_paths> paths_;
};

TEST_F(flames, callers_include_their_callees) {
    const auto first = made.stack({"main", "load", "copy"});
    const auto second = made.stack({"main", "load"});
    flame_graph graph{paths()};
    graph.allocate(paths().node(first), 100);
    graph.allocate(paths().node(second), 30);
    graph.note_peak();
    graph.release(paths().node(first), 100, 5000);
    graph.lose(paths().node(second), 30, 9000);
    const std::vector<flame_node> nodes = graph.finish(0, 100);
    ASSERT_EQ(nodes.size(), 4U);
    const flame_node* load = named(nodes, "load");
    ASSERT_NE(load, nullptr);
    EXPECT_EQ(weight_of(*load, flame_weight::bytes), 130);
    EXPECT_EQ(weight_of(*load, flame_weight::allocations), 2);
    EXPECT_EQ(weight_of(*load, flame_weight::lifetime), 14'000);
    EXPECT_EQ(weight_of(*load, flame_weight::peak_bytes), 130);
    EXPECT_EQ(weight_of(*load, flame_weight::lost_bytes), 30);
    EXPECT_EQ(weight_of(*named(nodes, "copy"), flame_weight::bytes), 100);
    EXPECT_EQ(weight_of(nodes[0], flame_weight::bytes), 130);
}

TEST_F(flames, parents_come_first_and_small_ones_are_left_out) {
    std::vector<std::uint32_t> stacks;
    for (int i = 0; i < 200; ++i)
        stacks.push_back(made.stack({"main", "f" + std::to_string(i % 20), "g" + std::to_string(i)}));
    flame_graph graph{paths()};
    for (std::size_t i = 0; i < stacks.size(); ++i) graph.allocate(paths().node(stacks[i]), i == 7 ? 1'000'000 : i);
    const std::vector<flame_node> nodes = graph.finish(0.0051, 12);
    EXPECT_LE(nodes.size(), 12U);
    for (std::size_t i = 1; i < nodes.size(); ++i) EXPECT_LT(nodes[i].parent, i);
    ASSERT_NE(named(nodes, "g7"), nullptr);
    EXPECT_EQ(paths().functions()[nodes[named(nodes, "g7")->parent].function].name, "f7");
    EXPECT_EQ(named(nodes, "g8"), nullptr);
}

TEST_F(flames, a_small_share_of_bytes_may_be_a_large_share_of_what_is_never_freed) {
    const auto large = made.stack({"main", "large"});
    const auto small = made.stack({"main", "small"});
    flame_graph graph{paths()};
    graph.allocate(paths().node(large), 1'000'000'000);
    graph.release(paths().node(large), 1'000'000'000, 10);
    graph.allocate(paths().node(small), 8);
    graph.lose(paths().node(small), 8, 1);
    EXPECT_NE(named(graph.finish(0.01, 100), "small"), nullptr);
}

TEST_F(flames, of_no_events_are_the_root) {
    EXPECT_EQ(flame_graph{paths()}.finish(0.01, 10).size(), 1U);
}

}  // namespace
