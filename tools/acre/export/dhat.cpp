#include "profiles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stack_profile.hpp"
#include "text/text.hpp"
#include "text/valid_text.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t nanoseconds_per_unit = 1000;
constexpr int short_lived_units = 10;

std::string json_text(const nlohmann::ordered_json& value) {
    return printable_json(value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

/// One label for each function at each frame, numbered in the order of the frames.
class frame_labels {
public:
    explicit frame_labels(const trace_tables& tables, const call_paths& paths) : tables_{tables}, paths_{paths} {
        for (std::uint32_t frame = 0; frame < tables.frames.size(); ++frame) {
            first_.push_back(static_cast<std::uint32_t>(frame_of_.size()));
            frame_of_.insert(frame_of_.end(), paths.functions_at(frame).size(), frame);
        }
    }

    void append(std::uint32_t frame, std::vector<std::uint32_t>& labels) const {
        for (std::size_t i = paths_.functions_at(frame).size(); i > 0; --i) {
            labels.push_back(first_[frame] + static_cast<std::uint32_t>(i));
        }
    }

    std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(frame_of_.size()) + 1; }

    /// In valgrind's form: "0x401136: parse (parser.cpp:12)".
    std::string text(std::uint32_t label) const {
        if (label == label_tree::unknown) return "unknown";
        const std::uint32_t number = frame_of_[label - 1];
        const std::size_t position = label - 1 - first_[number];
        const frame_info& frame = tables_.frames[number];
        const std::string& name = paths_.functions()[paths_.functions_at(number)[position]].name;
        return valid_text(fmt::format("{:#x}: {} ({})", frame.module_offset, name, where(frame, position)));
    }

private:
    std::string where(const frame_info& frame, std::size_t position) const {
        if (position < frame.locations.size() && !frame.locations[position].file.empty()) {
            const source_location& location = frame.locations[position];
            const std::string file = file_name(location.file);
            return location.line == 0 ? file : fmt::format("{}:{}", file, location.line);
        }
        return frame.module == frame_info::no_module ? "in no file" : "in " + tables_.modules[frame.module].path;
    }

    const trace_tables& tables_;
    const call_paths& paths_;
    std::vector<std::uint32_t> first_;     // label of a frame, - 1
    std::vector<std::uint32_t> frame_of_;  // by label - 1
};

/// The labels in use, with their numbers in the viewer's table of frames; 0 is the root.
class frame_table {
public:
    explicit frame_table(std::uint32_t labels) : number_(labels) {}

    std::uint32_t number(std::uint32_t label) {
        if (number_[label] == 0) {
            used_.push_back(label);
            number_[label] = static_cast<std::uint32_t>(used_.size());
        }
        return number_[label];
    }
    const std::vector<std::uint32_t>& used() const noexcept { return used_; }

private:
    std::vector<std::uint32_t> number_;
    std::vector<std::uint32_t> used_;
};

std::string head_text(const trace_header& header, const usage_table& totals) {
    std::string command = fmt::format("{}", fmt::join(header.command, " "));
    if (header.is_sampled()) {
        command += fmt::format(" (one allocation in {} was recorded, and counts as many)", header.sampling_period);
    }
    const nlohmann::ordered_json head{{"dhatFileVersion", 2},
                                      {"mode", "heap"},
                                      {"verb", "Allocated"},
                                      {"bklt", true},
                                      {"bkacc", false},
                                      {"tu", "µs"},
                                      {"Mtu", "s"},
                                      {"tuth", short_lived_units},
                                      {"cmd", command},
                                      {"pid", 0},
                                      {"tg", totals.peak_time() / nanoseconds_per_unit},
                                      {"te", totals.end_time() / nanoseconds_per_unit}};
    std::string text = json_text(head);
    text.pop_back();
    return text;
}

nlohmann::ordered_json program_point(const usage& used, const scale& scaled) {
    return {{"tb", scaled(used.allocated.bytes)},
            {"tbk", scaled(used.allocated.count)},
            {"tl", scaled(used.lifetime_microseconds())},
            {"mb", scaled(used.peak.bytes)},
            {"mbk", scaled(used.peak.count)},
            {"gb", scaled(used.at_peak.bytes)},
            {"gbk", scaled(used.at_peak.count)},
            {"eb", scaled(used.live.bytes)},
            {"ebk", scaled(used.live.count)}};
}

}  // namespace

void write_dhat(trace_reader& reader, const call_paths& paths, byte_output& output) {
    const frame_labels labels{reader.tables(), paths};
    const stack_profile profile{reader,
                                [&](std::uint32_t frame, std::vector<std::uint32_t>& to) { labels.append(frame, to); }};
    const scale scaled{reader.header()};
    frame_table frames{labels.count()};
    output.write(head_text(reader.header(), profile.totals()) + ",\n\"pps\":[");
    const char* separator = "\n";
    profile.for_each([&](std::uint32_t node, const usage& used) {
        nlohmann::ordered_json point = program_point(used, scaled);
        nlohmann::ordered_json& stack = point["fs"] = nlohmann::ordered_json::array();
        profile.tree().for_each_label(node, [&](std::uint32_t label) { stack.push_back(frames.number(label)); });
        output.write(separator + json_text(point));
        separator = ",\n";
    });
    output.write("],\n\"ftbl\":[\"[root]\"");
    for (const std::uint32_t label : frames.used()) output.write(",\n" + json_text(labels.text(label)));
    output.write("]}\n");
    output.finish();
}

}  // namespace acre::tool
