#include "parquet_column.hpp"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <new>
#include <unordered_map>

#include "parquet_encoding.hpp"
#include "text/valid_text.hpp"
#include "thrift_sink.hpp"

namespace acre::tool::parquet {

namespace {

constexpr int compression_level = 3;
constexpr std::size_t longest_bound = 64;  // bytes of a text in the statistics
// A dictionary of numbers is worth it when each stands for several values.
constexpr std::size_t values_per_entry = 4;
constexpr std::size_t max_entries = 1 << 15;

void put_text(byte_sink& to, std::string_view text) {
    to.little_endian(text.size(), 4);
    to.append(text);
}

template <typename Enum>
int number_of(Enum value) {
    return static_cast<int>(value);
}

/// Header and compressed payload.
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
    place_of_word_.resize(description_.words->size());
    std::uint32_t& place = place_of_word_[index];
    if (place == 0) {
        texts_.push_back(valid_text((*description_.words)[index]));
        text_bytes_ += texts_.back().size();
        place = static_cast<std::uint32_t>(texts_.size());
    }
    indexes_.push_back(place - 1);
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

/// Which rows have a value; nothing of a column whose rows all have one.
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

/// By a dictionary where few numbers repeat, else by their differences.
encoding column_values::put_numbers(byte_sink& page, byte_sink& dictionary, std::size_t& entries) const {
    const std::size_t limit = description_.rises ? 0 : std::min(numbers_.size() / values_per_entry, max_entries);
    std::unordered_map<std::uint64_t, std::uint32_t> places;
    std::vector<std::uint32_t> indexes;
    for (const std::uint64_t each : numbers_) {
        const auto [place, added] = places.try_emplace(each, static_cast<std::uint32_t>(places.size()));
        if (places.size() > limit) {
            encode_differences(page, numbers_, width());
            return encoding::differences;
        }
        if (added) put_plain(dictionary, each);
        indexes.push_back(place->second);
    }
    entries = places.size();
    put_indexes(page, indexes, entries);
    return encoding::dictionary;
}

unsigned column_values::width() const noexcept {
    return description_.kind == value_kind::number32 ? 32 : 64;
}

void column_values::put_plain(byte_sink& to, std::uint64_t number) const {
    to.little_endian(number, description_.kind == value_kind::truth ? 1 : width() / 8);
}

/// The order in which a reader has the column's values.
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
    const auto [least, most] = std::minmax_element(numbers_.begin(), numbers_.end(),
                                                   [&](std::uint64_t a, std::uint64_t b) { return is_below(a, b); });
    byte_sink bytes;
    put_plain(bytes, *least);
    made.least.assign(bytes.bytes().begin(), bytes.bytes().end());
    bytes.clear();
    put_plain(bytes, *most);
    made.most.assign(bytes.bytes().begin(), bytes.bytes().end());
    made.has_bounds = true;
}

void column_values::find_bounds(chunk& made, std::span<const std::string> texts) const {
    const auto [least, most] = std::minmax_element(texts.begin(), texts.end());
    made.has_bounds = least->size() <= longest_bound && most->size() <= longest_bound;
    if (!made.has_bounds) return;
    made.least = *least;
    made.most = *most;
}

void column_values::clear() {
    present_.clear();
    numbers_.clear();
    texts_.clear();
    text_bytes_ = 0;
    indexes_.clear();
    place_of_word_.clear();
}

}  // namespace acre::tool::parquet
