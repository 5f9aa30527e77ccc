// Functions that were left by a jump before they allocated or freed.
#include "recording.hpp"

namespace acre::tool {
namespace {

class tail_calls : public recording {
protected:
    static std::string text(const source_location& of) {
        return of.function + (of.line == 0 ? "" : ":" + std::to_string(of.line));
    }

    /// The functions of the stack of an event up to main, with their lines.
    static std::string functions_at(const loaded_trace& trace, std::uint64_t size, bool allocates) {
        const auto found = std::ranges::find_if(
            trace.events, [&](const event& each) { return each.allocates == allocates && each.size == size; });
        if (found == trace.events.end()) return "none";
        std::string all;
        for (const frame_info& frame : trace.stack_of(*found)) {
            for (const source_location& location : frame.locations) {
                if (location.function == "main") return all + "main";
                all += text(location) + " ";
            }
        }
        return all;
    }
};

TEST_F(tail_calls, are_in_stacks_with_the_lines_of_the_jumps) {
    const loaded_trace trace = run({TAIL_CALLS});
    EXPECT_EQ(functions_at(trace, 1001, true), "get:11 main");
    EXPECT_EQ(functions_at(trace, 1001, false), "give_back:16 main");
    EXPECT_EQ(functions_at(trace, 1002, false), "give_back:16 give_back_later:21 main");
}

/// The call of the function is the innermost of one stack and not of the other.
TEST_F(tail_calls, are_not_added_where_the_function_has_a_frame) {
    const loaded_trace trace = run({TAIL_CALLS});
    EXPECT_EQ(functions_at(trace, 1003, false), "end:25 main");
    EXPECT_EQ(functions_at(trace, 1004, false), "end:26 main");
}

TEST_F(tail_calls, are_found_between_two_frames) {
    EXPECT_EQ(functions_at(run({TAIL_CALLS}), 1005, true), "make:30 make_elsewhere:39 main");
}

TEST_F(tail_calls, have_the_line_of_their_function_where_there_are_several) {
    EXPECT_EQ(functions_at(run({TAIL_CALLS}), 1005, false), "give_back_one_way:42 main");
}

TEST_F(tail_calls, have_names_without_debug_information) {
    const loaded_trace trace = run({TAIL_CALLS_PLAIN});
    EXPECT_EQ(functions_at(trace, 1001, true), "get main");
    EXPECT_EQ(functions_at(trace, 1001, false), "give_back main");
    EXPECT_EQ(functions_at(trace, 1003, false), "end main");
    EXPECT_EQ(functions_at(trace, 1004, false), "end main");
    EXPECT_EQ(functions_at(trace, 1005, true), "make make_elsewhere main");
}

TEST_F(tail_calls, are_found_with_the_caller_only) {
    record_options options = options_for({TAIL_CALLS});
    options.stacks = stack_method::caller;
    EXPECT_EQ(functions_at(loaded_trace{record(options).traces.at(0)}, 1001, true), "get:11 main");
}

}  // namespace
}  // namespace acre::tool
