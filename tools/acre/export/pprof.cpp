#include "pprof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "protobuf_sink.hpp"
#include "sampling.hpp"
#include "stack_profile.hpp"
#include "text/valid_text.hpp"

namespace acre::tool {

namespace {

/// Numbers of fields of profile.proto, by message.
struct profile_message {
    enum field : std::uint32_t {
        sample_type = 1,
        sample,
        mapping,
        location,
        function,
        string,
        time = 9,
        duration,
        period_type,
        period,
        comment,
        default_sample_type
    };
};
struct value_type_message {
    enum field : std::uint32_t { type = 1, unit };
};
struct sample_message {
    enum field : std::uint32_t { locations = 1, values };
};
struct mapping_message {
    enum field : std::uint32_t { id = 1, begin, end, file_offset, file, build_id, has_functions, has_files, has_lines };
};
struct location_message {
    enum field : std::uint32_t { id = 1, mapping, address, line };
};
struct line_message {
    enum field : std::uint32_t { function = 1, line };
};
struct function_message {
    enum field : std::uint32_t { id = 1, name, system_name, file };
};

struct sample_type {
    const char* name;
    const char* unit;
    std::uint64_t (*value)(const usage&);
};

constexpr sample_type sample_types[] = {
    {"alloc_objects", "count", [](const usage& used) { return used.allocated.count; }},
    {"alloc_space", "bytes", [](const usage& used) { return used.allocated.bytes; }},
    {"peak_objects", "count", [](const usage& used) { return used.at_peak.count; }},
    {"peak_space", "bytes", [](const usage& used) { return used.at_peak.bytes; }},
    {"inuse_objects", "count", [](const usage& used) { return used.live.count; }},
    {"inuse_space", "bytes", [](const usage& used) { return used.live.bytes; }},
    {"lifetime", "microseconds", [](const usage& used) { return used.lifetime_microseconds(); }},
};
constexpr const char* default_sample_type = "alloc_space";

class pprof_writer {
public:
    pprof_writer(const trace_reader& reader, const call_paths& paths, const run_identity& run, byte_output& output)
        : header_{reader.header()}, tables_{reader.tables()}, paths_{paths}, run_{run}, output_{output} {
        string_number("");  // as the format wants it
    }

    void write(const stack_profile& profile) {
        put_head();
        const scale scaled{header_};
        profile.for_each(
            [&](std::uint32_t node, const usage& used) { put_sample(profile.tree(), node, used, scaled); });
        for (const std::uint32_t label : labels_) put_location(label);
        put_mappings();
        put(profile_message::string, strings_);
        output_.finish();
    }

private:
    struct used_mapping {
        std::uint64_t number = 0;
        std::uint64_t last_offset = 0;
    };

    std::uint64_t string_number(const std::string& text) {
        const auto [place, added] = string_numbers_.try_emplace(valid_text(text), strings_.size());
        if (added) strings_.push_back(&place->first);
        return place->second;
    }

    void put(std::uint32_t field, const protobuf_sink& message) {
        protobuf_sink outer;
        outer.message(field, message);
        output_.write(outer.bytes());
    }

    void put(std::uint32_t field, const std::vector<const std::string*>& texts) {
        for (const std::string* each : texts) {
            protobuf_sink outer;
            outer.text(field, *each);
            output_.write(outer.bytes());
        }
    }

    protobuf_sink value_type(const char* type, const char* unit) {
        protobuf_sink message;
        message.number(value_type_message::type, string_number(type));
        message.number(value_type_message::unit, string_number(unit));
        return message;
    }

    void put_head() {
        for (const sample_type& each : sample_types) {
            put(profile_message::sample_type, value_type(each.name, each.unit));
        }
        protobuf_sink fields;
        fields.number(profile_message::time, static_cast<std::uint64_t>(run_.recorded_at.value_or(0)) * 1000);
        fields.number(profile_message::duration, header_.duration);
        fields.message(profile_message::period_type, value_type("allocations", "count"));
        fields.number(profile_message::period, header_.sampling_period);
        fields.number(profile_message::comment, string_number("command: " + run_.command));
        fields.number(profile_message::comment, string_number("recorded: " + header_.date + ", " + header_.machine));
        if (header_.is_sampled()) {
            fields.number(profile_message::comment,
                          string_number(fmt::format("one allocation in {} was recorded, and counts as many",
                                                    header_.sampling_period)));
        }
        for (const std::string& note : header_.notes) fields.number(profile_message::comment, string_number(note));
        fields.number(profile_message::default_sample_type, string_number(default_sample_type));
        output_.write(fields.bytes());
    }

    void put_sample(const label_tree& tree, std::uint32_t node, const usage& used, const scale& scaled) {
        std::vector<std::uint64_t> locations;
        tree.for_each_label(node, [&](std::uint32_t label) { locations.push_back(location_number(label)); });
        std::vector<std::uint64_t> values;
        for (const sample_type& each : sample_types) values.push_back(scaled(each.value(used)));
        protobuf_sink message;
        message.numbers(sample_message::locations, locations);
        message.numbers(sample_message::values, values);
        put(profile_message::sample, message);
    }

    /// Locations are numbered from 1, as they are used.
    std::uint64_t location_number(std::uint32_t label) {
        const auto [place, added] = location_numbers_.try_emplace(label, labels_.size() + 1);
        if (added) labels_.push_back(label);
        return place->second;
    }

    void put_location(std::uint32_t label) {
        protobuf_sink message;
        message.number(location_message::id, location_numbers_[label]);
        if (label == label_tree::unknown) {
            message.message(location_message::line, line(0, {}));
        } else {
            put_frame(message, label - 1);
        }
        put(profile_message::location, message);
    }

    void put_frame(protobuf_sink& message, std::uint32_t number) {
        const frame_info& frame = tables_.frames[number];
        const bool has_module = frame.module != frame_info::no_module;
        const std::uint64_t bias = has_module ? tables_.modules[frame.module].load_bias : 0;
        message.number(location_message::mapping, has_module ? mapping_number(frame) : 0);
        message.number(location_message::address, bias + frame.module_offset);
        const auto& functions = paths_.functions_at(number);
        for (std::size_t i = 0; i < functions.size(); ++i) {
            const bool known = i < frame.locations.size();
            message.message(location_message::line, line(functions[i], known ? frame.locations[i] : source_location{}));
        }
    }

    protobuf_sink line(std::uint32_t function, const source_location& location) {
        protobuf_sink message;
        message.number(line_message::function, function_number(function, location.file));
        message.number(line_message::line, location.line);
        return message;
    }

    /// A function of this name in this file; it is written when it is first used.
    std::uint64_t function_number(std::uint32_t function, const std::string& file) {
        const std::uint64_t file_number = string_number(file);
        const auto [place, added] =
            function_numbers_.try_emplace({function, file_number}, function_numbers_.size() + 1);
        if (added) {
            const std::uint64_t name = string_number(paths_.functions()[function].name);
            protobuf_sink message;
            message.number(function_message::id, place->second);
            message.number(function_message::name, name);
            message.number(function_message::system_name, name);
            message.number(function_message::file, file_number);
            put(profile_message::function, message);
        }
        return place->second;
    }

    /// Mappings are numbered from 1, as they are used.
    std::uint64_t mapping_number(const frame_info& frame) {
        const auto [place, added] = mappings_.try_emplace(frame.module, used_mapping{mappings_.size() + 1, 0});
        place->second.last_offset = std::max(place->second.last_offset, frame.module_offset);
        return place->second.number;
    }

    /// The program itself first: readers take the first for it.
    void put_mappings() {
        const auto program = run_.module ? mappings_.find(*run_.module) : mappings_.end();
        if (program != mappings_.end()) put_mapping(program->first, program->second);
        for (auto each = mappings_.begin(); each != mappings_.end(); ++each) {
            if (each != program) put_mapping(each->first, each->second);
        }
    }

    void put_mapping(std::uint32_t number, const used_mapping& used) {
        const module_info& module = tables_.modules[number];
        protobuf_sink message;
        message.number(mapping_message::id, used.number);
        message.number(mapping_message::begin, module.load_bias);
        message.number(mapping_message::end, module.load_bias + used.last_offset + 1);
        message.number(mapping_message::file, string_number(module.path));
        message.number(mapping_message::build_id, string_number(module.build_id));
        // Nothing is left for pprof to look up.
        message.number(mapping_message::has_functions, 1);
        message.number(mapping_message::has_files, 1);
        message.number(mapping_message::has_lines, 1);
        put(profile_message::mapping, message);
    }

    const trace_header& header_;
    const trace_tables& tables_;
    const call_paths& paths_;
    const run_identity& run_;
    byte_output& output_;
    std::unordered_map<std::string, std::uint64_t> string_numbers_;
    std::vector<const std::string*> strings_;
    std::unordered_map<std::uint32_t, std::uint64_t> location_numbers_;  // by label
    std::vector<std::uint32_t> labels_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> function_numbers_;  // by function and file
    std::map<std::uint32_t, used_mapping> mappings_;                                     // by module
};

}  // namespace

void write_pprof(trace_reader& reader, const call_paths& paths, const run_identity& run, byte_output& output) {
    const stack_profile profile{
        reader, [](std::uint32_t frame, std::vector<std::uint32_t>& labels) { labels.push_back(frame + 1); }};
    gzip_output compressed{output};
    pprof_writer{reader, paths, run, compressed}.write(profile);
}

}  // namespace acre::tool
