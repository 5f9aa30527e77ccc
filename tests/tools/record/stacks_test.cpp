// The recorder's stacks are those that glibc's own unwinder sees.
#include <algorithm>
#include <memory>
#include <sstream>

#include "recording.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {
namespace {

using offsets = std::vector<std::uint64_t>;

/// Recursion is folded: an address that is on the path already leads back to it.
offsets folded(const offsets& innermost_first) {
    offsets path;  // outermost first
    for (auto each = innermost_first.rbegin(); each != innermost_first.rend(); ++each) {
        const auto before = std::find(path.begin(), path.end(), *each);
        if (before != path.end()) path.erase(before, path.end());
        path.push_back(*each);
    }
    return {path.rbegin(), path.rend()};
}

/// The address of an interrupted frame is exact in a trace; the subject prints one less.
bool same_frames(const offsets& expected, const offsets& recorded) {
    if (expected.size() != recorded.size()) return false;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (recorded[i] != expected[i] && recorded[i] != expected[i] + 1) return false;
    }
    return true;
}

std::string in_words(const offsets& of) {
    std::ostringstream text;
    for (const std::uint64_t each : of) text << ' ' << std::hex << each;
    return text.str();
}

class stacks : public recording {
protected:
    std::string output_of(const std::string& command) {
        const std::filesystem::path file = directory_.path() / "printed";
        const auto trace = run({"/bin/sh", "-c", "exec " + command + " > " + file.string()});
        trace_ = std::make_unique<loaded_trace>(trace);
        std::ostringstream text;
        text << std::ifstream{file}.rdbuf();
        return text.str();
    }

    offsets recorded_offsets(const event& of) const {
        offsets result;
        for (const frame_info& frame : trace_->stack_of(of)) result.push_back(frame.module_offset);
        return result;
    }

    /// The frames in the program itself at the event of a size.
    static offsets own_offsets(const loaded_trace& trace, std::uint64_t size) {
        offsets result;
        const auto found = std::find_if(trace.events.begin(), trace.events.end(),
                                        [&](const event& each) { return each.size == size; });
        if (found == trace.events.end()) return result;
        for (const frame_info& frame : trace.stack_of(*found)) {
            const std::string& path = trace.tables.modules.at(frame.module).path;
            if (path.find("record-frame") != std::string::npos) result.push_back(frame.module_offset);
        }
        return result;
    }

    std::unique_ptr<loaded_trace> trace_;
};

TEST_F(stacks, are_those_of_backtrace) {
    std::istringstream printed{output_of(STACKS " " FIRST_PLUGIN " " SECOND_PLUGIN)};
    std::map<std::uint64_t, std::vector<const event*>> by_size;
    for (const event& each : trace_->events) by_size[each.size].push_back(&each);
    std::size_t compared = 0;
    std::size_t wrong = 0;
    for (std::string line; std::getline(printed, line); ++compared) {
        std::istringstream words{line};
        std::uint64_t size = 0;
        words >> size >> std::hex;
        const offsets expected = [&] {
            offsets read;
            for (std::uint64_t each = 0; words >> each;) read.push_back(each);
            return folded(read);
        }();
        ASSERT_EQ(by_size[size].size(), 2u) << size;
        for (const event* each : by_size[size]) {
            offsets recorded = recorded_offsets(*each);
            ASSERT_FALSE(recorded.empty()) << size;
            recorded.erase(recorded.begin());  // probe itself
            if (same_frames(expected, recorded)) continue;
            if (++wrong < 10) {
                ADD_FAILURE() << size << (each->allocates ? " allocated\n" : " freed\n") << "  expected"
                              << in_words(expected) << "\n  recorded" << in_words(recorded);
            }
        }
    }
    EXPECT_EQ(wrong, 0u);
    EXPECT_GT(compared, 300u);
}

/// A folded stack leaves out what lies between two calls of a function. That the function calls itself is known all the
/// same: an advice may put no reset there.
TEST_F(stacks, tell_a_recursive_function_that_is_folded_in_each) {
    const loaded_trace trace = run({RECURSIVE});
    const call_paths paths{trace.tables};
    std::map<std::string, bool> is_recursive;
    for (const event& each : trace.events) {
        if (each.size != 4'321) continue;
        for (std::uint32_t node = paths.node(each.stack); node != 0; node = paths.nodes()[node].parent) {
            std::string name = paths.functions()[paths.nodes()[node].function].name;
            if (name.starts_with('_')) continue;  // of the C library
            name = name.substr(name.rfind(':') + 1);
            is_recursive[name.substr(0, name.find('('))] |= paths.is_recursive(node);  // clang names parameters, too
        }
    }
    EXPECT_EQ(is_recursive, (std::map<std::string, bool>{
                                {"block", true}, {"expression", false}, {"main", false}, {"statement", true}}));
}

TEST_F(stacks, name_inlined_functions_with_their_lines) {
    const loaded_trace trace = run({INLINED});
    const auto found = std::find_if(trace.events.begin(), trace.events.end(),
                                    [](const event& each) { return each.size == 7'654'321; });
    ASSERT_NE(found, trace.events.end());
    const auto frames = trace.stack_of(*found);
    ASSERT_GE(frames.size(), 2u);
    const auto& locations = frames[0].locations;
    ASSERT_EQ(locations.size(), 3u);
    EXPECT_NE(locations[0].function.find("innermost_call"), std::string::npos);
    EXPECT_NE(locations[1].function.find("middle_call"), std::string::npos);
    EXPECT_NE(locations[2].function.find("outer_function"), std::string::npos);
    EXPECT_EQ(locations[0].line, 7u);
    EXPECT_EQ(locations[2].line, 19u);
    EXPECT_NE(locations[2].file.find("inlined.cpp"), std::string::npos);
    ASSERT_FALSE(frames[1].locations.empty());
    EXPECT_EQ(frames[1].locations[0].function, "main");
    const module_info& module = trace.tables.modules.at(frames[0].module);
    EXPECT_EQ(module.path, std::filesystem::canonical(INLINED).string());
    EXPECT_FALSE(module.build_id.empty());
}

TEST_F(stacks, know_which_addresses_of_a_stripped_program_are_in_one_function) {
    const loaded_trace trace = run({INLINED_STRIPPED});
    const auto allocation = std::find_if(trace.events.begin(), trace.events.end(),
                                         [](const event& each) { return each.size == 7'654'321; });
    ASSERT_NE(allocation, trace.events.end());
    const auto release = std::find_if(allocation, trace.events.end(), [&](const event& each) {
        return !each.allocates && each.object == allocation->object;
    });
    ASSERT_NE(release, trace.events.end());
    const frame_info allocated_at = trace.stack_of(*allocation).front();
    const frame_info freed_at = trace.stack_of(*release).front();
    EXPECT_NE(allocated_at.module_offset, freed_at.module_offset);
    ASSERT_EQ(allocated_at.locations.size(), 1u);
    ASSERT_EQ(freed_at.locations.size(), 1u);
    const std::string& function = allocated_at.locations[0].function;
    EXPECT_EQ(function, freed_at.locations[0].function);
    EXPECT_TRUE(function.starts_with("record-inlined-stripped+0x")) << function;
    EXPECT_NE(trace.stack_of(*allocation).at(1).locations.at(0).function, function) << "that is main";
}

/// The functions around the allocation of a size, innermost first.
std::vector<std::string> functions_around(const loaded_trace& trace, std::uint64_t size) {
    std::vector<std::string> names;
    const auto found =
        std::find_if(trace.events.begin(), trace.events.end(), [&](const event& each) { return each.size == size; });
    if (found == trace.events.end()) return names;
    for (const frame_info& frame : trace.stack_of(*found)) {
        for (const source_location& location : frame.locations) names.push_back(location.function);
    }
    return names;
}

bool any_begins_with(const std::vector<std::string>& names, const std::string& start) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return name.starts_with(start); });
}

TEST_F(stacks, qualify_the_names_of_functions_of_local_types) {
    for (const char* program : {LOCAL_TYPES, LOCAL_TYPES_PLAIN}) {
        const loaded_trace trace = run({program});
        const std::vector<std::string> in_table = functions_around(trace, 7'654'321);
        EXPECT_TRUE(any_begins_with(in_table, "(anonymous namespace)::table::add")) << testing::PrintToString(in_table);
        EXPECT_FALSE(any_begins_with(in_table, "make_unique")) << testing::PrintToString(in_table);
        const std::vector<std::string> first = functions_around(trace, 7'654'322);
        const std::vector<std::string> second = functions_around(trace, 7'654'323);
        EXPECT_TRUE(any_begins_with(first, "main::")) << testing::PrintToString(first);
        EXPECT_TRUE(any_begins_with(second, "main::")) << testing::PrintToString(second);
        EXPECT_NE(first, second);
    }
}

TEST_F(stacks, have_the_lines_of_functions_within_functions) {
    const loaded_trace trace = run({LOCAL_TYPES_PLAIN});
    const auto found = std::find_if(trace.events.begin(), trace.events.end(),
                                    [](const event& each) { return each.size == 7'654'324; });
    ASSERT_NE(found, trace.events.end());
    const source_location lambda = trace.stack_of(*found).at(0).locations.at(0);
    EXPECT_TRUE(lambda.function.starts_with("main::")) << lambda.function;
    EXPECT_EQ(lambda.line, 41u);
}

TEST_F(stacks, by_frame_pointers_are_those_by_unwind_tables_where_there_are_frame_pointers) {
    record_options options = options_for({FRAME_POINTERS});
    const loaded_trace whole{record(options).traces.at(0)};
    options.stacks = stack_method::frame_pointers;
    const loaded_trace chained{record(options).traces.at(0)};
    EXPECT_EQ(chained.header.stacks, stack_method::frame_pointers);
    EXPECT_TRUE(std::ranges::any_of(chained.header.notes, [](const std::string& note) {
        return note.starts_with("Stacks were found by frame pointers");
    }));
    for (const std::uint64_t size : {7'654'321u, 7'654'322u}) {
        auto expected = own_offsets(whole, size);
        ASSERT_GE(expected.size(), 4u);
        expected.pop_back();  // what begins the program, beyond the C library's frames without frame pointers
        EXPECT_EQ(own_offsets(chained, size), expected);
    }
}

TEST_F(stacks, by_frame_pointers_end_where_there_are_none) {
    record_options options = options_for({STACKS, FIRST_PLUGIN});
    options.stacks = stack_method::frame_pointers;
    const loaded_trace trace{record(options).traces.at(0)};
    EXPECT_GT(trace.events.size(), 300u);
    for (const event& each : trace.events) {
        const auto frames = trace.stack_of(each);
        ASSERT_FALSE(frames.empty());
        for (const frame_info& frame : frames) EXPECT_NE(frame.module, frame_info::no_module);
    }
}

/// The functions of the allocations of 777 bytes by a program whose file another one replaces.
class replaced_file : public recording {
protected:
    std::string functions_of(const char* program, const char* when) {
        const auto folder = directory_.path();
        std::filesystem::copy_file(program, folder / "program");
        std::filesystem::copy_file(REPLACING, folder / "other");
        const loaded_trace trace = run({(folder / "program").string(), when, (folder / "other").string()});
        has_note_ = trace.has_note("The functions of '" + (folder / "program").string() + "' have no names here");
        std::string names;
        for (const event& each : trace.events) {
            if (each.size != 777) continue;
            for (const frame_info& frame : trace.stack_of(each)) {
                for (const source_location& location : frame.locations) names += location.function + " ";
            }
        }
        std::filesystem::remove(folder / "program");
        return names;
    }

    bool has_note_ = false;
};

TEST_F(replaced_file, gives_no_names) {
    for (const char* program : {REPLACED, REPLACED_WITH_ID}) {
        for (const char* when : {"before", "after"}) {
            EXPECT_EQ(functions_of(program, when).find("of_repl"), std::string::npos) << program << when;
            EXPECT_TRUE(has_note_) << program << when;
        }
    }
}

TEST_F(replaced_file, gives_names_if_it_has_no_build_id_and_stays) {
    const loaded_trace trace = run({REPLACED, "before", (directory_.path() / "missing").string()});
    EXPECT_EQ(result_.exit_status, 2);
    const auto found =
        std::find_if(trace.events.begin(), trace.events.end(), [](const event& each) { return each.size == 777; });
    ASSERT_NE(found, trace.events.end());
    EXPECT_NE(trace.stack_of(*found).at(0).locations.at(0).function.find("of_replaced"), std::string::npos);
    EXPECT_FALSE(trace.has_note("have no names here"));
}

TEST_F(stacks, of_callers_are_one_frame) {
    record_options options = options_for({INLINED});
    options.stacks = stack_method::caller;
    const loaded_trace trace{record(options).traces.at(0)};
    EXPECT_EQ(trace.header.stacks, stack_method::caller);
    EXPECT_TRUE(trace.header.stacks_at_free);
    for (const event& each : trace.events) EXPECT_EQ(trace.stack_of(each).size(), 1u);
    const auto found = std::find_if(trace.events.begin(), trace.events.end(),
                                    [](const event& each) { return each.size == 7'654'321; });
    ASSERT_NE(found, trace.events.end());
    EXPECT_NE(trace.stack_of(*found)[0].locations.at(2).function.find("outer_function"), std::string::npos);
}

TEST_F(stacks, at_free_can_be_left_out) {
    record_options options = options_for({INLINED});
    options.stacks_at_free = false;
    const loaded_trace trace{record(options).traces.at(0)};
    EXPECT_FALSE(trace.header.stacks_at_free);
    for (const event& each : trace.events) EXPECT_EQ(each.stack == no_stack, !each.allocates);
}

}  // namespace
}  // namespace acre::tool
