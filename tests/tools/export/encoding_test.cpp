// Parquet's encodings and Thrift's compact protocol, byte for byte where their documents give an example.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "export/parquet_column.hpp"
#include "export/parquet_metadata.hpp"
#include "trace/byte_source.hpp"

namespace {

using namespace acre::tool;

using bytes = std::vector<std::uint8_t>;

std::uint64_t take_bits(std::span<const std::uint8_t> from, std::size_t& bit, unsigned width) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < width; ++i, ++bit) {
        value |= static_cast<std::uint64_t>(from[bit / 8] >> (bit % 8) & 1) << i;
    }
    return value;
}

bytes take_bytes(byte_source& from, std::size_t count) {
    bytes taken;
    for (std::size_t i = 0; i < count; ++i) taken.push_back(from.byte());
    return taken;
}

bytes runs(const std::vector<std::uint32_t>& values, unsigned width) {
    byte_sink to;
    parquet::encode_runs(to, values, width);
    return to.bytes();
}

std::vector<std::uint32_t> values_of_runs(const bytes& encoded, unsigned width) {
    byte_source from{encoded};
    std::vector<std::uint32_t> values;
    while (from.remaining() > 0) {
        const std::uint64_t head = from.number();
        if ((head & 1) == 0) {
            const bytes value = take_bytes(from, (width + 7) / 8);
            std::size_t bit = 0;
            values.insert(values.end(), head >> 1, static_cast<std::uint32_t>(take_bits(value, bit, width)));
        } else {
            const bytes packed = take_bytes(from, (head >> 1) * width);
            for (std::size_t bit = 0; bit < packed.size() * 8;) {
                values.push_back(static_cast<std::uint32_t>(take_bits(packed, bit, width)));
            }
        }
    }
    return values;
}

bytes differences(const std::vector<std::uint64_t>& values, unsigned width) {
    byte_sink to;
    parquet::encode_differences(to, values, width);
    return to.bytes();
}

std::vector<std::uint64_t> values_of_differences(const bytes& encoded, unsigned width) {
    byte_source from{encoded};
    const std::uint64_t block = from.number();
    const std::uint64_t miniblocks = from.number();
    const std::uint64_t count = from.number();
    const std::uint64_t mask = width == 32 ? 0xffff'ffff : ~std::uint64_t{0};
    std::vector<std::uint64_t> values{static_cast<std::uint64_t>(from.signed_number()) & mask};
    while (values.size() < count) {
        const auto smallest = static_cast<std::uint64_t>(from.signed_number());
        for (const std::uint8_t bits : take_bytes(from, miniblocks)) {
            EXPECT_LE(bits, width);
            const bytes packed = take_bytes(from, bits * (block / miniblocks) / 8);
            std::size_t bit = 0;
            for (std::size_t i = 0; i < block / miniblocks; ++i) {
                values.push_back((values.back() + smallest + take_bits(packed, bit, bits)) & mask);
            }
        }
    }
    EXPECT_EQ(from.remaining(), 0U);
    values.resize(count);
    return values;
}

TEST(parquet_runs, match_the_examples_of_the_format) {
    EXPECT_EQ(runs({0, 1, 2, 3, 4, 5, 6, 7}, 3), (bytes{0x03, 0x88, 0xc6, 0xfa}));
    EXPECT_EQ(runs(std::vector<std::uint32_t>(100, 1), 1), (bytes{0xc8, 0x01, 0x01}));
    EXPECT_EQ(runs(std::vector<std::uint32_t>(8, 0x1234), 13), (bytes{0x10, 0x34, 0x12}));
    EXPECT_EQ(runs({}, 1), bytes{});
}

TEST(parquet_runs, decode_to_their_values) {
    std::mt19937 random{7};
    for (unsigned width : {1U, 2U, 7U, 8U, 9U, 17U, 32U}) {
        for (std::size_t count : {1U, 7U, 8U, 9U, 100U, 1000U}) {
            std::vector<std::uint32_t> values;
            while (values.size() < count) {
                const auto value = static_cast<std::uint32_t>(random() & ((std::uint64_t{1} << width) - 1));
                values.insert(values.end(), 1 + random() % 3 * (random() % 20), value);
            }
            std::vector<std::uint32_t> decoded = values_of_runs(runs(values, width), width);
            ASSERT_GE(decoded.size(), values.size());
            ASSERT_LT(decoded.size(), values.size() + 8) << "only the last group may be padded";
            decoded.resize(values.size());
            EXPECT_EQ(decoded, values) << "width " << width;
        }
    }
}

TEST(parquet_runs, have_a_width_that_holds_the_highest_index) {
    EXPECT_EQ(parquet::bits_for(0), 1U);
    EXPECT_EQ(parquet::bits_for(1), 1U);
    EXPECT_EQ(parquet::bits_for(2), 2U);
    EXPECT_EQ(parquet::bits_for(255), 8U);
    EXPECT_EQ(parquet::bits_for(0xffff'ffff), 32U);
}

TEST(parquet_differences, of_rising_numbers_take_no_bits) {
    EXPECT_EQ(differences({1, 2, 3, 4, 5}, 64), (bytes{0x80, 0x01, 4, 5, 2, 2, 0, 0, 0, 0}));
    EXPECT_EQ(differences({9}, 32), (bytes{0x80, 0x01, 4, 1, 18}));
}

TEST(parquet_differences, decode_to_their_values) {
    std::mt19937_64 random{7};
    for (unsigned width : {32U, 64U}) {
        const std::uint64_t most = width == 32 ? 0xffff'ffff : ~std::uint64_t{0};
        for (std::size_t count : {1U, 2U, 128U, 129U, 130U, 1000U}) {
            for (unsigned shift : {0U, 20U, 40U, 63U}) {
                std::vector<std::uint64_t> values;
                for (std::size_t i = 0; i < count; ++i) values.push_back(random() >> shift & most);
                values[0] = most;
                values[count / 2] = 0;
                EXPECT_EQ(values_of_differences(differences(values, width), width), values);
            }
        }
    }
}

TEST(thrift_sink, writes_the_compact_protocol) {
    parquet::thrift_sink to;
    to.begin();
    to.number32(1, 2);
    to.texts(2, 1);
    to.text_element("ab");
    to.truth(3, true);
    to.begin(10);
    to.number8(1, 64);
    to.truth(2, false);
    to.end();
    to.empty(12);
    to.number64(13, -1);
    to.structs(14, 20);
    to.end();
    EXPECT_EQ(to.bytes(), (bytes{0x15, 4, 0x19, 0x18, 2,    'a', 'b',  0x11, 0x7c, 0x13, 64,
                                 0x12, 0, 0x2c, 0,    0x16, 1,   0x19, 0xfc, 20,   0}));
}

}  // namespace
