#include "profiles.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "stack_profile.hpp"
#include "text/valid_text.hpp"

namespace acre::tool {

namespace {

/// Replaces characters that would end a name or a line.
std::string collapsed_name(const std::string& name) {
    std::string text = valid_text(name);
    for (char& each : text) {
        if (each == ';') each = ',';
        if (static_cast<unsigned char>(each) < ' ' || each == '\x7f') each = ' ';
    }
    return text;
}

/// The different names of functions, numbered as labels; label 0 is "unknown".
class names {
public:
    explicit names(const call_paths& paths) {
        std::unordered_map<std::string, std::uint32_t> numbers;
        for (const function_info& each : paths.functions()) {
            std::string name = collapsed_name(each.name);
            const auto [entry, added] = numbers.try_emplace(name, static_cast<std::uint32_t>(texts_.size()));
            if (added) texts_.push_back(std::move(name));
            label_of_function_.push_back(entry->second);
        }
    }

    std::uint32_t label(std::uint32_t function) const noexcept { return label_of_function_[function]; }
    const std::string& text(std::uint32_t label) const noexcept { return texts_[label]; }

private:
    std::vector<std::string> texts_;
    std::vector<std::uint32_t> label_of_function_;
};

std::uint64_t weight_of(const usage& used, stack_weight weight) {
    switch (weight) {
        case stack_weight::bytes:
            return used.allocated.bytes;
        case stack_weight::allocations:
            return used.allocated.count;
        case stack_weight::peak:
            return used.at_peak.bytes;
        case stack_weight::lifetime:
            break;
    }
    return used.lifetime_microseconds();
}

}  // namespace

void write_collapsed(trace_reader& reader, const call_paths& paths, stack_weight weight, byte_output& output) {
    const names known{paths};
    const stack_profile profile{reader, [&](std::uint32_t frame, std::vector<std::uint32_t>& labels) {
                                    const auto& functions = paths.functions_at(frame);
                                    std::for_each(functions.rbegin(), functions.rend(), [&](std::uint32_t function) {
                                        labels.push_back(known.label(function));
                                    });
                                }};
    const scale scaled{reader.header()};
    std::vector<std::uint32_t> labels;
    profile.for_each([&](std::uint32_t node, const usage& used) {
        const std::uint64_t value = scaled(weight_of(used, weight));
        if (value == 0) return;
        labels.clear();
        profile.tree().for_each_label(node, [&](std::uint32_t label) { labels.push_back(label); });
        // Writes name by name: the line of a deep stack with long names would take too much memory.
        for (; !labels.empty(); labels.pop_back()) {
            output.write(known.text(labels.back()));
            output.write(labels.size() > 1 ? ";" : " ");
        }
        output.write(std::to_string(value) + "\n");
    });
    output.finish();
}

}  // namespace acre::tool
