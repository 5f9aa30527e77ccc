// What a program marks with acre::trace_scope is in its trace, in order, however the program ends.
#include <sys/wait.h>

#include <cstdlib>

#include "recording.hpp"

namespace acre::tool {
namespace {

class scopes : public recording {
protected:
    /// The marks of a thread in words: "outer( inner( ) )".
    static std::string in_words(const loaded_trace& trace, std::uint32_t thread) {
        std::string text;
        for (const mark& each : trace.marks) {
            if (each.thread != thread) continue;
            if (!text.empty()) text += ' ';
            text += each.kind == mark_kind::scope_begin ? trace.tables.scope_names[each.name] + "(" : ")";
        }
        return text;
    }

    static std::size_t runs(const loaded_trace& trace, const std::string& name) {
        return static_cast<std::size_t>(std::count_if(trace.marks.begin(), trace.marks.end(), [&](const mark& each) {
            return each.kind == mark_kind::scope_begin && trace.tables.scope_names[each.name] == name;
        }));
    }

    /// The names of the scopes that the thread of an allocation was in, outermost first.
    static std::string scopes_of(const loaded_trace& trace, std::uint64_t size) {
        for (std::size_t i = 0; i < trace.events.size(); ++i) {
            if (trace.events[i].size != size || !trace.events[i].allocates) continue;
            std::vector<std::string> open;
            for (const mark& each : trace.marks) {
                if (each.event > i || each.thread != trace.events[i].thread) continue;
                if (each.kind == mark_kind::scope_begin) {
                    open.push_back(trace.tables.scope_names[each.name]);
                } else {
                    open.pop_back();
                }
            }
            std::string text;
            for (const std::string& name : open) text += (text.empty() ? "" : " ") + name;
            return text;
        }
        return "not allocated";
    }
};

TEST_F(scopes, are_recorded_where_the_program_marks_them) {
    const loaded_trace trace = run({MARKED, "run"});
    ASSERT_EQ(result_.exit_status, 0);
    EXPECT_EQ(scopes_of(trace, 1001), "outer");
    EXPECT_EQ(scopes_of(trace, 1002), "outer inner");
    EXPECT_EQ(scopes_of(trace, 1003), "outer");
    EXPECT_EQ(scopes_of(trace, 1004), "");
    EXPECT_EQ(scopes_of(trace, 2003), "level");
    EXPECT_EQ(scopes_of(trace, 2000), "level level level level");
    EXPECT_EQ(scopes_of(trace, 3001), "worker");
    EXPECT_EQ(scopes_of(trace, 4001), "library");
    EXPECT_EQ(runs(trace, "outer"), 3u);
    EXPECT_EQ(runs(trace, "inner"), 3u);
    EXPECT_EQ(runs(trace, "worker"), 200u);
    EXPECT_EQ(runs(trace, "idle"), 1u);
    EXPECT_EQ(runs(trace, std::string(200, 'x')), 1u);
    EXPECT_EQ(runs(trace, ""), 2u);
    std::uint64_t last = 0;
    for (const mark& each : trace.marks) {
        EXPECT_GE(each.time, last);
        last = each.time;
    }
}

TEST_F(scopes, of_one_name_have_one_entry) {
    const loaded_trace trace = run({MARKED, "run"});
    EXPECT_EQ(std::count(trace.tables.scope_names.begin(), trace.tables.scope_names.end(), "inner"), 1);
}

TEST_F(scopes, of_threads_are_told_apart) {
    const loaded_trace trace = run({MARKED, "run"});
    std::map<std::uint32_t, int> by_thread;
    for (const mark& each : trace.marks) {
        if (trace.tables.scope_names[each.name] == "worker") ++by_thread[each.thread];
    }
    ASSERT_EQ(by_thread.size(), 2u);
    for (const auto& [thread, count] : by_thread) EXPECT_EQ(count, 200) << thread;
    std::uint32_t idle = 0;
    for (const mark& each : trace.marks) {
        if (trace.tables.scope_names[each.name] == "idle") idle = each.thread;
    }
    for (const auto& each : trace.events) EXPECT_NE(each.thread, idle) << "it never allocated";
}

TEST_F(scopes, that_are_never_left_end_with_the_trace) {
    const loaded_trace trace = run({MARKED, "unbalanced"});
    ASSERT_EQ(result_.exit_status, 0);
    EXPECT_EQ(scopes_of(trace, 5001), "left by its thread's end");
    EXPECT_EQ(scopes_of(trace, 5002), "never left");
    EXPECT_EQ(in_words(trace, 0), "never left( )");
    EXPECT_EQ(trace.marks.size(), 4u);
}

TEST_F(scopes, of_a_program_that_crashes_end_with_the_trace) {
    const loaded_trace trace = run({MARKED, "crash"});
    EXPECT_EQ(result_.exit_status, 128 + 6);
    EXPECT_EQ(scopes_of(trace, 7001), "outer inner");
    EXPECT_EQ(in_words(trace, 0), "outer( inner( ) )");
}

TEST_F(scopes, that_are_open_at_a_fork_stay_with_the_parent) {
    record_options options = options_for({MARKED, "fork"});
    options.children = true;
    result_ = record(options);
    ASSERT_EQ(result_.traces.size(), 2u);
    for (const auto& path : result_.traces) {
        const loaded_trace trace{path};
        const bool is_child = trace.allocations(6001) == 1;
        EXPECT_EQ(in_words(trace, 0), is_child ? "child( )" : "both( parent( ) )");
    }
}

TEST_F(scopes, are_found_in_programs_at_fixed_addresses_and_in_static_ones_with_the_recorder) {
    for (const char* program : {MARKED_NO_PIE, MARKED_WITH_RECORDER}) {
        const loaded_trace trace = run({program, "run"});
        EXPECT_EQ(scopes_of(trace, 1002), "outer inner") << program;
        EXPECT_EQ(scopes_of(trace, 4001), "library") << program;
    }
}

TEST_F(scopes, cost_nothing_without_a_recorder) {
    for (const char* program : {MARKED, MARKED_STATIC, MARKED_NO_PIE, TRACED}) {
        const int status = std::system(program);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << program;
    }
}

}  // namespace
}  // namespace acre::tool
