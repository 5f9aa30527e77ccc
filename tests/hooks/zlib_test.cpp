// zlib on acre: a round trip, in fixed memory, and every request may fail.
#include <gtest/gtest.h>
#include <zlib.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/zlib.hpp>
#include <string>

#include "hooks/each_request_fails.hpp"

namespace {

using acre_test::checking_upstream;

std::string a_text() {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += "line " + std::to_string(i * i % 9973) + "\n";
    return text;
}

// `text`, compressed and decompressed; empty without memory.
template <acre::resource R>
std::string round_trip(acre::malloc_face<R>& memory, const std::string& text) {
    const auto bytes_of = [](std::string& of) { return reinterpret_cast<Bytef*>(of.data()); };
    std::string input = text;
    z_stream compressing{};
    acre::set_zlib_memory(compressing, memory);
    if (deflateInit(&compressing, 6) != Z_OK) return {};
    std::string packed(deflateBound(&compressing, input.size()), '\0');
    compressing.next_in = bytes_of(input);
    compressing.avail_in = static_cast<uInt>(input.size());
    compressing.next_out = bytes_of(packed);
    compressing.avail_out = static_cast<uInt>(packed.size());
    const int compressed = deflate(&compressing, Z_FINISH);
    packed.resize(compressing.total_out);
    deflateEnd(&compressing);
    if (compressed != Z_STREAM_END) return {};

    z_stream decompressing{};
    acre::set_zlib_memory(decompressing, memory);
    if (inflateInit(&decompressing) != Z_OK) return {};
    std::string output(text.size(), '\0');
    decompressing.next_in = bytes_of(packed);
    decompressing.avail_in = static_cast<uInt>(packed.size());
    decompressing.next_out = bytes_of(output);
    decompressing.avail_out = static_cast<uInt>(output.size() / 2);
    int decompressed = inflate(&decompressing, Z_NO_FLUSH);  // in two steps, so that a window is kept
    decompressing.avail_out = static_cast<uInt>(output.size() - output.size() / 2);
    if (decompressed == Z_OK) decompressed = inflate(&decompressing, Z_FINISH);
    inflateEnd(&decompressing);
    return decompressed == Z_STREAM_END ? output : std::string{};
}

template <class R>
class zlib : public testing::Test {};
using resources = testing::Types<acre::heap, acre::arena, acre::multi_pool, checking_upstream>;
TYPED_TEST_SUITE(zlib, resources);

TYPED_TEST(zlib, a_round_trip) {
    TypeParam below;
    acre::malloc_face memory{below};
    EXPECT_EQ(round_trip(memory, a_text()), a_text());
}

TEST(zlib_stream, in_fixed_memory) {
    static acre::inline_arena<400'000> fixed{acre::no_memory{}};
    acre::malloc_face memory{fixed};
    EXPECT_EQ(round_trip(memory, a_text()), a_text());
    acre::inline_arena<1000> too_small{acre::no_memory{}};
    acre::malloc_face little{too_small};
    z_stream refused{};
    acre::set_zlib_memory(refused, little);
    EXPECT_EQ(deflateInit(&refused, 6), Z_MEM_ERROR);
}

TEST(zlib_stream, each_request_fails) {
    const std::string text = a_text();
    acre_test::each_request_fails([&](checking_upstream& below) {
        acre::malloc_face memory{below};
        const std::string result = round_trip(memory, text);
        EXPECT_TRUE(result == text || below.failures() != 0);
    });
}

}  // namespace
