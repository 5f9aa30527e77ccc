#include "trace/call_paths.hpp"

#include <gtest/gtest.h>

#include "tools/support/hostile_trace.hpp"
#include "tools/support/made_trace.hpp"
#include "trace/error.hpp"

namespace {

using namespace acre::test;

std::string function_at(const call_paths& paths, std::uint32_t node) {
    return paths.functions()[paths.nodes()[node].function].name;
}

TEST(call_paths, the_site_is_the_first_function_that_decides) {
    made_trace made;
    const auto stack =
        made.stack({"main:3", "parse:17", "std::vector<int>::push_back(int)", "operator new(unsigned long)"});
    const call_paths paths{made.tables};
    const site_info& site = paths.sites()[paths.site(stack)];
    EXPECT_EQ(paths.functions()[site.function].name, "parse");
    EXPECT_EQ(site.line, 17U);
    EXPECT_EQ(paths.site_text(paths.site(stack)), "parse (made.cpp:17)");
    EXPECT_EQ(paths.path_text(stack, 9), "parse < main");
}

TEST(call_paths, one_location_with_two_stacks_is_one_site) {
    made_trace made;
    const auto a = made.stack({"main:1", "f:2", "g:3"});
    const auto b = made.stack({"main:9", "h:2", "g:3"});
    const auto c = made.stack({"main:9", "h:2", "g:4"});
    const call_paths paths{made.tables};
    EXPECT_EQ(paths.site(a), paths.site(b));
    EXPECT_NE(paths.site(a), paths.site(c));
    EXPECT_NE(paths.node(a), paths.node(b));
    EXPECT_EQ(paths.node(b), paths.node(c));
}

TEST(call_paths, the_site_of_a_stack_of_wrappers_only_is_the_outermost) {
    made_trace made;
    const auto stack = made.stack({"xmalloc:1", "operator new(unsigned long)"});
    const call_paths paths{made.tables};
    EXPECT_EQ(paths.site_text(paths.site(stack)), "xmalloc (made.cpp:1)");
    EXPECT_EQ(paths.site(no_stack), 0U);
    EXPECT_EQ(paths.own_code(paths.node(stack)), 0U);
}

/// A call in libstdc++, of which no place in a source is known.
std::uint32_t library_call(made_trace& made, std::uint32_t parent, const std::string& function) {
    if (made.tables.modules.size() == 1) made.tables.modules.push_back({"/usr/lib/libstdc++.so.6", "", 0});
    std::vector<source_location> locations;
    if (!function.empty()) locations.push_back({function, "", 0});
    made.tables.frames.push_back({1, 0xa0 + made.tables.frames.size(), locations});
    made.tables.call_tree.push_back({parent, static_cast<std::uint32_t>(made.tables.frames.size() - 1)});
    return static_cast<std::uint32_t>(made.tables.call_tree.size() - 1);
}

TEST(call_paths, allocations_of_the_runtime_libraries_are_at_the_function_that_requests_them) {
    made_trace made;
    const auto starts = library_call(made, no_stack, "call_init");
    const auto pool = library_call(made, starts, "");
    const auto allocates = library_call(made, pool, "operator new(unsigned long)");
    const auto deepest = library_call(made, allocates, "malloc");
    const auto of_itself = library_call(made, no_stack, "operator new(unsigned long)");
    const call_paths paths{made.tables};
    for (const auto stack : {pool, allocates, deepest}) {
        EXPECT_EQ(paths.site_text(paths.site(stack)), "libstdc++.so.6+0xa1");
        EXPECT_EQ(paths.own_code(paths.node(stack)), 0U);
    }
    EXPECT_EQ(paths.site(of_itself), 0U) << "who called it is not known";
}

TEST(call_paths, functions_that_the_runtime_libraries_call_are_the_programs) {
    made_trace made;
    const auto starts = library_call(made, no_stack, "call_init");
    made.tables.frames.push_back({0, 0, {{"xmalloc", "made.cpp", 7}}});
    made.tables.call_tree.push_back({starts, static_cast<std::uint32_t>(made.tables.frames.size() - 1)});
    const auto wrapper = static_cast<std::uint32_t>(made.tables.call_tree.size() - 1);
    const auto allocates = library_call(made, wrapper, "std::string::_M_create(unsigned long&, unsigned long)");
    const call_paths paths{made.tables};
    EXPECT_EQ(paths.site_text(paths.site(allocates)), "xmalloc (made.cpp:7)");
}

TEST(call_paths, the_common_node_ignores_lines) {
    made_trace made;
    const auto allocates = made.stack({"main:1", "request:10", "parse:2", "operator new(unsigned long)"});
    const auto frees = made.stack({"main:1", "request:44", "clear:1"});
    const auto elsewhere = made.stack({"other"});
    const call_paths paths{made.tables};
    EXPECT_EQ(function_at(paths, paths.common(paths.node(allocates), paths.node(frees))), "request");
    EXPECT_EQ(paths.common(paths.node(allocates), paths.node(elsewhere)), 0U);
    EXPECT_TRUE(paths.is_above(paths.common(paths.node(allocates), paths.node(frees)), paths.node(frees)));
    EXPECT_FALSE(paths.is_above(paths.node(frees), paths.node(allocates)));
    EXPECT_EQ(
        paths.place_in(frees, paths.nodes()[paths.common(paths.node(allocates), paths.node(frees))].function).line,
        44U);
}

TEST(call_paths, recursion_is_folded_into_its_first_entry) {
    made_trace made;
    const auto once = made.stack({"main", "parse:1", "leaf"});
    const auto deep = made.stack({"main", "parse:1", "item:2", "parse:3", "item:2", "parse:1", "leaf"});
    const call_paths paths{made.tables};
    EXPECT_EQ(paths.node(once), paths.node(deep));
}

TEST(call_paths, all_functions_of_a_cycle_are_recursive) {
    made_trace made;
    const auto inner = made.stack({"main", "parse", "value", "list", "value", "list", "append"});
    const auto self = made.stack({"main", "walk:1", "walk:2"});
    const auto plain = made.stack({"main", "walk:1", "leaf"});
    const call_paths paths{made.tables};
    const auto recursive = [&](std::uint32_t node) {
        std::vector<std::string> names;
        for (; node != 0; node = paths.nodes()[node].parent) {
            if (paths.is_recursive(node)) names.push_back(function_at(paths, node));
        }
        return names;
    };
    EXPECT_EQ(recursive(paths.node(inner)), (std::vector<std::string>{"list", "value"}));
    EXPECT_EQ(recursive(paths.node(self)), (std::vector<std::string>{"walk"}));
    EXPECT_EQ(recursive(paths.node(plain)), (std::vector<std::string>{"walk"}));
}

TEST(call_paths, inlined_calls_are_levels_of_their_own) {
    made_trace made;
    made.tables.frames.push_back({0, 0, {{"inner", "a.hpp", 5}, {"middle", "a.hpp", 9}, {"outer", "a.cpp", 1}}});
    made.tables.call_tree.push_back({0, 0});
    const call_paths paths{made.tables};
    EXPECT_EQ(paths.path_text(1, 9), "inner < middle < outer");
    EXPECT_EQ(paths.site_text(paths.site(1)), "inner (a.hpp:5)");
}

TEST(call_paths, a_frame_that_is_missing_at_the_free_is_restored) {
    made_trace made;
    const auto caller = made.stack({"main:3"});
    made.tables.frames.push_back({0, 0, {{"work", "a.cpp", 5}, {"std::invoke()", "functional", 9}}});
    const auto frame = static_cast<std::uint32_t>(made.tables.frames.size() - 1);
    made.tables.call_tree.push_back({caller, frame});
    const auto allocates = static_cast<std::uint32_t>(made.tables.call_tree.size() - 1);
    const call_paths paths{made.tables};
    EXPECT_EQ(function_at(paths, paths.common(paths.node(allocates), paths.free_node(caller))), "work");
}

TEST(call_paths, unnamed_functions_are_named_by_their_module) {
    made_trace made;
    made.tables.frames.push_back({0, 0x1a2b, {}});
    made.tables.call_tree.push_back({0, 0});
    const call_paths paths{made.tables};
    EXPECT_EQ(paths.site_text(paths.site(1)), "made+0x1a2b");
}

TEST(call_paths, a_very_deep_stack_costs_little) {
    made_trace made;
    std::uint32_t node = 0;
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        made.tables.frames.push_back({0, i, {}});
        made.tables.call_tree.push_back({node, i});
        node = static_cast<std::uint32_t>(made.tables.call_tree.size() - 1);
    }
    const call_paths paths{made.tables};
    EXPECT_LE(paths.nodes().size(), 300U);
}

TEST(call_paths, paths_beyond_the_limit_end_within_it) {
    hostile_trace made;
    made.add_fans(10, 90);  // 10 callers of a frame of 90 functions
    EXPECT_EQ(call_paths{made.tables}.nodes().size(), 1U + 910);
    const call_paths some{made.tables, {.paths = 500}};
    EXPECT_EQ(some.nodes().size(), 1U + 500);
    for (std::uint32_t stack = 1; stack < some.stacks(); ++stack) {
        EXPECT_LE(some.node(stack), 500U);
        EXPECT_EQ(some.site(stack), call_paths{made.tables}.site(stack)) << "sites stay exact";
    }
}

TEST(call_paths, a_long_path_of_a_file_does_not_make_long_names) {
    made_trace made;
    made.tables.modules[0].path = "/bin/" + std::string(60'000, 'x');
    for (std::uint32_t i = 0; i < 20; ++i) made.tables.frames.push_back({0, i, {}});
    const call_paths paths{made.tables};
    for (const function_info& each : paths.functions()) EXPECT_LT(each.name.size(), 300U);
}

TEST(call_paths, a_path_deeper_than_any_ends_with_its_last_function) {
    hostile_trace made;
    made.add_chain(200'000, 100'000);
    const call_paths paths{made.tables};
    EXPECT_EQ(paths.nodes().size(), 1U + 256);
    EXPECT_EQ(paths.nodes()[paths.node(200'000)].depth, 256U);
}

}  // namespace
