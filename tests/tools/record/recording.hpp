// Records a program for a test and reads the trace.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/record.hpp"
#include "trace/error.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

/// A directory that is removed at the end of the test.
class scratch_directory {
public:
    scratch_directory() {
        std::string name = (std::filesystem::temp_directory_path() / "acre-test-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    ~scratch_directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    scratch_directory(const scratch_directory&) = delete;
    scratch_directory& operator=(const scratch_directory&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// A whole trace in memory.
struct loaded_trace {
    explicit loaded_trace(const std::filesystem::path& path) {
        trace_reader reader{path};
        header = reader.header();
        tables = reader.tables();
        reader.for_each([&](const event& each) { events.push_back(each); },
                        [&](const mark& each) { marks.push_back(each); });
    }

    std::size_t count(std::uint64_t size, bool allocates) const {
        return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), [&](const event& each) {
            return each.size == size && each.allocates == allocates;
        }));
    }
    std::size_t allocations(std::uint64_t size) const { return count(size, true); }
    std::size_t frees(std::uint64_t size) const { return count(size, false); }

    /// Frames from the innermost outwards.
    std::vector<frame_info> stack_of(const event& of) const {
        std::vector<frame_info> frames;
        for (std::uint32_t node = of.stack; node != no_stack; node = tables.call_tree[node].parent) {
            frames.push_back(tables.frames[tables.call_tree[node].frame]);
        }
        return frames;
    }

    bool has_note(const std::string& part) const {
        for (const std::string& note : header.notes) {
            if (note.find(part) != std::string::npos) return true;
        }
        return false;
    }

    trace_header header;
    trace_tables tables;
    std::vector<event> events;
    std::vector<mark> marks;
};

class recording : public testing::Test {
protected:
    record_options options_for(std::vector<std::string> command) const {
        record_options options;
        options.command = std::move(command);
        options.output = directory_.path() / "out.acre";
        options.recorder = RECORDER;
        return options;
    }

    loaded_trace run(std::vector<std::string> command) {
        result_ = record(options_for(std::move(command)));
        return loaded_trace{result_.traces.at(0)};
    }

    /// The error of record(); empty if it throws none.
    std::string refusal(const record_options& options) const {
        try {
            record(options);
            return {};
        } catch (const tool_error& error) {
            return error.what();
        }
    }
    std::string refusal(std::vector<std::string> command) const { return refusal(options_for(std::move(command))); }

    std::size_t files_left() const {
        std::size_t count = 0;
        for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator{directory_.path()}) ++count;
        return count;
    }

    scratch_directory directory_;
    record_result result_;
};

}  // namespace acre::tool
