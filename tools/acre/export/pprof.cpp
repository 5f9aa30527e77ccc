#include "profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <protozero/pbf_builder.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stack_profile.hpp"
#include "text/valid_text.hpp"

namespace acre::tool {

namespace {

using protozero::pbf_builder;

// The fields of profile.proto, by message.
enum class profile_field : protozero::pbf_tag_type {
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
enum class value_type_field : protozero::pbf_tag_type { type = 1, unit };
enum class sample_field : protozero::pbf_tag_type { locations = 1, values };
enum class mapping_field : protozero::pbf_tag_type {
    id = 1,
    begin,
    end,
    file_offset,
    file,
    build_id,
    has_functions,
    has_files,
    has_lines
};
enum class location_field : protozero::pbf_tag_type { id = 1, mapping, address, line };
enum class line_field : protozero::pbf_tag_type { function = 1, line };
enum class function_field : protozero::pbf_tag_type { id = 1, name, system_name, file };

/// Leaves out zeros: readers take a missing field for 0.
template <typename Field>
void add_number(pbf_builder<Field>& to, Field field, std::uint64_t value) {
    if (value != 0) to.add_uint64(field, value);
}

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
        string_number("");  // the format demands that string 0 is empty
    }

    void write(const stack_profile& profile) {
        put_head();
        const scale scaled{header_};
        profile.for_each(
            [&](std::uint32_t node, const usage& used) { put_sample(profile.tree(), node, used, scaled); });
        for (const std::uint32_t label : labels_) put_location(label);
        put_mappings();
        for (const std::string* each : strings_) {
            put([&](pbf_builder<profile_field>& to) { to.add_string(profile_field::string, *each); });
        }
        output_.finish();
    }

private:
    struct used_mapping {
        std::uint64_t number = 0;
        std::uint64_t last_offset = 0;
    };
    struct profile_line {
        std::uint64_t function = 0;
        std::uint64_t line = 0;
    };

    std::uint64_t string_number(const std::string& text) {
        const auto [entry, added] = string_numbers_.try_emplace(valid_text(text), strings_.size());
        if (added) strings_.push_back(&entry->first);
        return entry->second;
    }

    /// Writes one field of the profile, which `fill` adds to its builder.
    template <typename Fill>
    void put(Fill&& fill) {
        buffer_.clear();
        pbf_builder<profile_field> profile{buffer_};
        fill(profile);
        output_.write(buffer_);
    }

    void put_value_type(pbf_builder<profile_field>& to, profile_field field, const char* type, const char* unit) {
        pbf_builder<value_type_field> message{to, field};
        add_number(message, value_type_field::type, string_number(type));
        add_number(message, value_type_field::unit, string_number(unit));
    }

    void put_head() {
        put([&](pbf_builder<profile_field>& to) {
            for (const sample_type& each : sample_types) {
                put_value_type(to, profile_field::sample_type, each.name, each.unit);
            }
            add_number(to, profile_field::time, static_cast<std::uint64_t>(run_.recorded_at.value_or(0)) * 1000);
            add_number(to, profile_field::duration, header_.duration);
            put_value_type(to, profile_field::period_type, "allocations", "count");
            add_number(to, profile_field::period, header_.sampling_period);
            const auto comment = [&](const std::string& text) {
                add_number(to, profile_field::comment, string_number(text));
            };
            comment("command: " + run_.command);
            comment("recorded: " + header_.date + ", " + header_.machine);
            if (header_.is_sampled()) {
                comment(fmt::format("one allocation in {} was recorded, and counts as many", header_.sampling_period));
            }
            for (const std::string& note : header_.notes) comment(note);
            add_number(to, profile_field::default_sample_type, string_number(default_sample_type));
        });
    }

    void put_sample(const label_tree& tree, std::uint32_t node, const usage& used, const scale& scaled) {
        std::vector<std::uint64_t> locations;
        tree.for_each_label(node, [&](std::uint32_t label) { locations.push_back(location_number(label)); });
        std::vector<std::uint64_t> values;
        for (const sample_type& each : sample_types) values.push_back(scaled(each.value(used)));
        put([&](pbf_builder<profile_field>& to) {
            pbf_builder<sample_field> message{to, profile_field::sample};
            message.add_packed_uint64(sample_field::locations, locations.begin(), locations.end());
            message.add_packed_uint64(sample_field::values, values.begin(), values.end());
        });
    }

    /// Numbers locations from 1, in the order of their first use.
    std::uint64_t location_number(std::uint32_t label) {
        const auto [entry, added] = location_numbers_.try_emplace(label, labels_.size() + 1);
        if (added) labels_.push_back(label);
        return entry->second;
    }

    void put_location(std::uint32_t label) {
        const std::vector<profile_line> lines = lines_of(label);
        put([&](pbf_builder<profile_field>& to) {
            pbf_builder<location_field> message{to, profile_field::location};
            add_number(message, location_field::id, location_numbers_[label]);
            if (label != label_tree::unknown) put_address(message, tables_.frames[label - 1]);
            for (const profile_line& each : lines) {
                pbf_builder<line_field> line{message, location_field::line};
                add_number(line, line_field::function, each.function);
                add_number(line, line_field::line, each.line);
            }
        });
    }

    void put_address(pbf_builder<location_field>& to, const frame_info& frame) {
        const bool has_module = frame.module != frame_info::no_module;
        const std::uint64_t bias = has_module ? tables_.modules[frame.module].load_bias : 0;
        add_number(to, location_field::mapping, has_module ? mapping_number(frame) : 0);
        add_number(to, location_field::address, bias + frame.module_offset);
    }

    /// The functions inlined at a frame, innermost first. Writes those that are used for the first time.
    std::vector<profile_line> lines_of(std::uint32_t label) {
        if (label == label_tree::unknown) return {{function_number(0, {}), 0}};
        std::vector<profile_line> lines;
        const frame_info& frame = tables_.frames[label - 1];
        const auto& functions = paths_.functions_at(label - 1);
        for (std::size_t i = 0; i < functions.size(); ++i) {
            const source_location location = i < frame.locations.size() ? frame.locations[i] : source_location{};
            lines.push_back({function_number(functions[i], location.file), location.line});
        }
        return lines;
    }

    /// The number of this function in this file; writes the function at its first use.
    std::uint64_t function_number(std::uint32_t function, const std::string& file) {
        const std::uint64_t file_number = string_number(file);
        const auto [entry, added] =
            function_numbers_.try_emplace({function, file_number}, function_numbers_.size() + 1);
        if (!added) return entry->second;
        const std::uint64_t name = string_number(paths_.functions()[function].name);
        put([&, id = entry->second](pbf_builder<profile_field>& to) {
            pbf_builder<function_field> message{to, profile_field::function};
            add_number(message, function_field::id, id);
            add_number(message, function_field::name, name);
            add_number(message, function_field::system_name, name);
            add_number(message, function_field::file, file_number);
        });
        return entry->second;
    }

    /// Numbers mappings from 1, in the order of their first use.
    std::uint64_t mapping_number(const frame_info& frame) {
        const auto [entry, added] = mappings_.try_emplace(frame.module, used_mapping{mappings_.size() + 1, 0});
        entry->second.last_offset = std::max(entry->second.last_offset, frame.module_offset);
        return entry->second.number;
    }

    /// The program comes first: readers take the first mapping for it.
    void put_mappings() {
        const auto program = run_.module ? mappings_.find(*run_.module) : mappings_.end();
        if (program != mappings_.end()) put_mapping(program->first, program->second);
        for (auto each = mappings_.begin(); each != mappings_.end(); ++each) {
            if (each != program) put_mapping(each->first, each->second);
        }
    }

    void put_mapping(std::uint32_t number, const used_mapping& used) {
        const module_info& module = tables_.modules[number];
        put([&](pbf_builder<profile_field>& to) {
            pbf_builder<mapping_field> message{to, profile_field::mapping};
            add_number(message, mapping_field::id, used.number);
            add_number(message, mapping_field::begin, module.load_bias);
            add_number(message, mapping_field::end, module.load_bias + used.last_offset + 1);
            add_number(message, mapping_field::file, string_number(module.path));
            add_number(message, mapping_field::build_id, string_number(module.build_id));
            // All names are in the profile: pprof need not look up any.
            add_number(message, mapping_field::has_functions, 1);
            add_number(message, mapping_field::has_files, 1);
            add_number(message, mapping_field::has_lines, 1);
        });
    }

    const trace_header& header_;
    const trace_tables& tables_;
    const call_paths& paths_;
    const run_identity& run_;
    byte_output& output_;
    std::string buffer_;  // of one field
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
