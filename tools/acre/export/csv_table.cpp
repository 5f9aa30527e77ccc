#include "csv_table.hpp"

#include <fmt/format.h>

#include <ctime>

#include "text/text.hpp"
#include "text/valid_text.hpp"

namespace acre::tool {

namespace {

constexpr std::size_t lines_bytes = 1 << 16;

/// Whether a spreadsheet would take the text for a formula.
bool begins_a_formula(std::string_view text) {
    return !text.empty() && std::string_view{"=+-@\t\r"}.find(text.front()) != std::string_view::npos;
}

/// A text that begins like a formula gets an apostrophe before it, which spreadsheets take as "this is text".
std::string csv_field(std::string_view value) {
    std::string plain = printable_text(valid_text(value));
    if (begins_a_formula(value)) plain.insert(0, 1, '\'');
    if (!plain.empty() && plain.find_first_of("\",\n") == std::string::npos) return plain;
    std::string text{'"'};
    for (const char each : plain) text.append(each == '"' ? 2 : 1, each);
    return text + '"';
}

}  // namespace

csv_table::csv_table(std::vector<column> columns, byte_output& output)
    : columns_{std::move(columns)}, quoted_words_(columns_.size()), output_{output} {
    for (const column& each : columns_) field(csv_field(each.name));
}

void csv_table::field(std::string_view written) {
    lines_ += written;
    next_ = (next_ + 1) % columns_.size();
    if (next_ != 0) {
        lines_ += ',';
        return;
    }
    lines_ += "\r\n";
    if (lines_.size() >= lines_bytes) write_lines();
}

void csv_table::number(std::uint64_t value) {
    field(fmt::format_int{value}.c_str());
}

void csv_table::real(double value) {
    field(fmt::format("{}", value));
}

void csv_table::truth(bool value) {
    field(value ? "true" : "false");
}

void csv_table::moment(std::int64_t microseconds) {
    const auto seconds = static_cast<std::time_t>(microseconds / 1'000'000);
    std::tm fields{};
    char text[32] = "";
    if (::gmtime_r(&seconds, &fields) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &fields);
    field(text);
}

void csv_table::text(std::string_view value) {
    field(csv_field(value));
}

void csv_table::word(std::uint32_t index) {
    const std::vector<std::string>& words = *columns_[next_].words;
    std::vector<std::string>& known = quoted_words_[next_];
    known.resize(words.size());
    if (known[index].empty()) known[index] = csv_field(words[index]);
    field(known[index]);
}

void csv_table::nothing() {
    field({});
}

void csv_table::write_lines() {
    output_.write(lines_);
    lines_.clear();
}

void csv_table::finish() {
    write_lines();
}

}  // namespace acre::tool
