#include "parquet_column.hpp"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <unordered_map>

#include "text/valid_text.hpp"

namespace acre::tool::parquet {

namespace {

constexpr int compression_level = 3;
constexpr std::size_t max_bound_bytes = 64;  // of a text in the statistics
// A dictionary of numbers pays when each entry stands for several values.
constexpr std::size_t values_per_entry = 4;
constexpr std::size_t max_entries = 1 << 15;

constexpr std::size_t packed_group = 8;    // values packed together
constexpr std::size_t block_values = 128;  // differences in a block
constexpr std::size_t miniblock_values = 32;
constexpr std::size_t miniblocks = block_values / miniblock_values;

void put_packed(byte_sink& to, std::span<const std::uint32_t> values, unsigned width) {
    if (values.empty()) return;
    const std::size_t groups = (values.size() + packed_group - 1) / packed_group;
    to.number(groups << 1 | 1);
    bit_packer packer{to};
    for (const std::uint32_t value : values) packer.add(value, width);
    for (std::size_t i = values.size(); i < groups * packed_group; ++i) packer.add(0, width);
    packer.finish();
}

void put_run(byte_sink& to, std::uint32_t value, std::size_t length, unsigned width) {
    to.number(length << 1);
    for (unsigned bit = 0; bit < width; bit += 8) to.byte(static_cast<std::uint8_t>(value >> bit));
}

std::size_t run_length(std::span<const std::uint32_t> values) {
    const auto other = std::find_if(values.begin(), values.end(), [&](std::uint32_t v) { return v != values.front(); });
    return static_cast<std::size_t>(other - values.begin());
}

/// Sign-extends a number of `width` bits to 64.
std::int64_t extended(std::uint64_t value, unsigned width) {
    return width == 32 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

void put_block(byte_sink& to, std::span<const std::int64_t> differences, unsigned width) {
    const std::int64_t smallest = *std::min_element(differences.begin(), differences.end());
    std::array<std::uint64_t, block_values> above{};
    std::array<unsigned, miniblocks> widths{};
    for (std::size_t i = 0; i < differences.size(); ++i) {
        above[i] = static_cast<std::uint64_t>(differences[i]) - static_cast<std::uint64_t>(smallest);
        if (width == 32) above[i] &= 0xffff'ffff;
        unsigned& wanted = widths[i / miniblock_values];
        wanted = std::max(wanted, static_cast<unsigned>(std::bit_width(above[i])));
    }
    to.signed_number(smallest);
    for (const unsigned each : widths) to.byte(static_cast<std::uint8_t>(each));
    bit_packer packer{to};
    for (std::size_t i = 0; i < block_values; ++i) packer.add(above[i], widths[i / miniblock_values]);
}

void put_text(byte_sink& to, std::string_view text) {
    to.little_endian(text.size(), 4);
    to.append(text);
}

/// Appends the page header and the compressed payload.
void append_page(std::vector<std::uint8_t>& pages, chunk& made, page_type type, std::size_t values, encoding encoded,
                 const std::vector<std::uint8_t>& payload) {
    std::vector<std::uint8_t> compressed(ZSTD_compressBound(payload.size()));
    const std::size_t bytes =
        ZSTD_compress(compressed.data(), compressed.size(), payload.data(), payload.size(), compression_level);
    if (ZSTD_isError(bytes) != 0) throw std::bad_alloc{};
    thrift_sink head;
    head.begin();
    head.number32(page_header::type, number_of(type));
    head.number32(page_header::raw_bytes, static_cast<std::int64_t>(payload.size()));
    head.number32(page_header::compressed_bytes, static_cast<std::int64_t>(bytes));
    if (type == page_type::dictionary) {
        head.begin(page_header::dictionary);
        head.number32(dictionary_page::values, static_cast<std::int64_t>(values));
        head.number32(dictionary_page::encoding, number_of(encoded));
    } else {
        head.begin(page_header::data);
        head.number32(data_page::values, static_cast<std::int64_t>(values));
        head.number32(data_page::encoding, number_of(encoded));
        head.number32(data_page::definition_encoding, number_of(encoding::runs));
        head.number32(data_page::repetition_encoding, number_of(encoding::runs));
    }
    head.end();
    head.end();
    pages.insert(pages.end(), head.bytes().begin(), head.bytes().end());
    pages.insert(pages.end(), compressed.begin(), compressed.begin() + static_cast<std::ptrdiff_t>(bytes));
    made.raw_bytes += head.bytes().size() + payload.size();
    made.compressed_bytes += head.bytes().size() + bytes;
    if (type == page_type::dictionary) made.dictionary_bytes = made.compressed_bytes;
}

void put_indexes(byte_sink& page, std::span<const std::uint32_t> indexes, std::size_t entries) {
    const unsigned width = bits_for(static_cast<std::uint32_t>(entries - 1));
    page.byte(static_cast<std::uint8_t>(width));
    encode_runs(page, indexes, width);
}

}  // namespace

void encode_runs(byte_sink& to, std::span<const std::uint32_t> values, unsigned width) {
    std::size_t packed = 0;  // values before `at` not written yet
    std::size_t at = 0;
    while (at < values.size()) {
        const std::size_t length = run_length(values.subspan(at));
        if (length >= packed_group && packed % packed_group == 0) {
            put_packed(to, values.subspan(at - packed, packed), width);
            packed = 0;
            put_run(to, values[at], length, width);
            at += length;
        } else {
            // Up to the end of the group of eight, or of the run.
            const std::size_t step = std::min(length, packed_group - packed % packed_group);
            packed += step;
            at += step;
        }
    }
    put_packed(to, values.subspan(at - packed, packed), width);
}

void encode_differences(byte_sink& to, std::span<const std::uint64_t> values, unsigned width) {
    to.number(block_values);
    to.number(miniblocks);
    to.number(values.size());
    to.signed_number(values.empty() ? 0 : extended(values.front(), width));
    std::array<std::int64_t, block_values> differences{};
    for (std::size_t at = 1; at < values.size(); at += block_values) {
        const std::size_t count = std::min(block_values, values.size() - at);
        for (std::size_t i = 0; i < count; ++i) differences[i] = extended(values[at + i] - values[at + i - 1], width);
        put_block(to, std::span{differences}.first(count), width);
    }
}

physical_type physical_type_of(value_kind kind) {
    switch (kind) {
        case value_kind::number64:
        case value_kind::moment:
            return physical_type::int64;
        case value_kind::number32:
            return physical_type::int32;
        case value_kind::real:
            return physical_type::real;
        case value_kind::truth:
            return physical_type::truth;
        case value_kind::text:
        case value_kind::word:
            break;
    }
    return physical_type::bytes;
}

void column_values::real(double value) {
    number(std::bit_cast<std::uint64_t>(value));
}

void column_values::text(std::string_view value) {
    present_.push_back(1);
    texts_.push_back(valid_text(value));
    text_bytes_ += texts_.back().size();
}

void column_values::word(std::uint32_t index) {
    present_.push_back(1);
    position_of_word_.resize(description_.words->size());
    std::uint32_t& position = position_of_word_[index];
    if (position == 0) {
        texts_.push_back(valid_text((*description_.words)[index]));
        text_bytes_ += texts_.back().size();
        position = static_cast<std::uint32_t>(texts_.size());
    }
    indexes_.push_back(position - 1);
}

chunk column_values::take_pages(std::vector<std::uint8_t>& pages) {
    chunk made;
    made.rows = present_.size();
    made.nulls = static_cast<std::uint64_t>(std::count(present_.begin(), present_.end(), 0U));
    find_bounds(made);

    byte_sink page = definition_levels();
    byte_sink dictionary;
    std::size_t entries = 0;
    const encoding encoded = made.nulls == made.rows ? encoding::plain : put_values(page, dictionary, entries);
    if (entries != 0) {
        append_page(pages, made, page_type::dictionary, entries, encoding::plain, dictionary.bytes());
        made.encodings.push_back(encoding::plain);
    }
    append_page(pages, made, page_type::data, present_.size(), encoded, page.bytes());
    made.encodings.push_back(encoded);
    made.encodings.push_back(encoding::runs);
    clear();
    return made;
}

/// Which rows have a value; empty for a column that is not optional.
byte_sink column_values::definition_levels() const {
    byte_sink page;
    if (!description_.optional) return page;
    byte_sink levels;
    encode_runs(levels, present_, 1);
    page.little_endian(levels.bytes().size(), 4);
    page.append(levels.bytes());
    return page;
}

encoding column_values::put_values(byte_sink& page, byte_sink& dictionary, std::size_t& entries) const {
    switch (description_.kind) {
        case value_kind::number64:
        case value_kind::number32:
        case value_kind::moment:
            return put_numbers(page, dictionary, entries);
        case value_kind::real:
            for (const std::uint64_t bits : numbers_) page.little_endian(bits, 8);
            break;
        case value_kind::truth: {
            bit_packer packer{page};
            for (const std::uint64_t value : numbers_) packer.add(value, 1);
            packer.finish();
            break;
        }
        case value_kind::text:
            for (const std::string& text : texts_) put_text(page, text);
            break;
        case value_kind::word:
            for (const std::string& text : texts_) put_text(dictionary, text);
            entries = texts_.size();
            put_indexes(page, indexes_, entries);
            return encoding::dictionary;
    }
    return encoding::plain;
}

/// By a dictionary where few numbers repeat often, else by differences.
encoding column_values::put_numbers(byte_sink& page, byte_sink& dictionary, std::size_t& entries) const {
    const std::size_t limit = description_.rises ? 0 : std::min(numbers_.size() / values_per_entry, max_entries);
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    std::vector<std::uint32_t> indexes;
    for (const std::uint64_t each : numbers_) {
        const auto [entry, added] = numbers.try_emplace(each, static_cast<std::uint32_t>(numbers.size()));
        if (numbers.size() > limit) {
            encode_differences(page, numbers_, width());
            return encoding::differences;
        }
        if (added) put_plain(dictionary, each);
        indexes.push_back(entry->second);
    }
    entries = numbers.size();
    put_indexes(page, indexes, entries);
    return encoding::dictionary;
}

unsigned column_values::width() const noexcept {
    return description_.kind == value_kind::number32 ? 32 : 64;
}

void column_values::put_plain(byte_sink& to, std::uint64_t number) const {
    to.little_endian(number, description_.kind == value_kind::truth ? 1 : width() / 8);
}

/// The order that readers use for the column's values.
bool column_values::is_below(std::uint64_t a, std::uint64_t b) const noexcept {
    switch (description_.kind) {
        case value_kind::real:
            return std::bit_cast<double>(a) < std::bit_cast<double>(b);
        case value_kind::moment:
            return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
        default:
            return a < b;
    }
}

void column_values::find_bounds(chunk& made) const {
    if (made.nulls == made.rows) return;
    if (!texts_.empty()) return find_bounds(made, texts_);
    const auto [min, max] = std::minmax_element(numbers_.begin(), numbers_.end(),
                                                [&](std::uint64_t a, std::uint64_t b) { return is_below(a, b); });
    byte_sink bytes;
    put_plain(bytes, *min);
    made.min.assign(bytes.bytes().begin(), bytes.bytes().end());
    bytes.clear();
    put_plain(bytes, *max);
    made.max.assign(bytes.bytes().begin(), bytes.bytes().end());
    made.has_bounds = true;
}

void column_values::find_bounds(chunk& made, std::span<const std::string> texts) const {
    const auto [min, max] = std::minmax_element(texts.begin(), texts.end());
    made.has_bounds = min->size() <= max_bound_bytes && max->size() <= max_bound_bytes;
    if (!made.has_bounds) return;
    made.min = *min;
    made.max = *max;
}

void column_values::clear() {
    present_.clear();
    numbers_.clear();
    texts_.clear();
    text_bytes_ = 0;
    indexes_.clear();
    position_of_word_.clear();
}

}  // namespace acre::tool::parquet
