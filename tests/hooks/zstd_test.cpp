// Zstandard on acre: a round trip, limited windows, workers, and every request may fail.
#include <acre/adapt/hooks/zstd.hpp>  // first, so that it defines what zstd.h asks for
//
#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <string>

#include "hooks/each_request_fails.hpp"

namespace {

using acre_test::checking_upstream;

std::string a_text() {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += "line " + std::to_string(i * i % 9973) + "\n";
    return text;
}

std::string compressed(ZSTD_customMem memory, const std::string& text, int workers = 0) {
    ZSTD_CCtx* context = ZSTD_createCCtx_advanced(memory);
    if (context == nullptr) return {};
    if (workers != 0) ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, workers);
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    const std::size_t bytes = ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size());
    ZSTD_freeCCtx(context);
    packed.resize(ZSTD_isError(bytes) ? 0 : bytes);
    return packed;
}

std::string decompressed(ZSTD_customMem memory, const std::string& packed, std::size_t bytes) {
    ZSTD_DStream* context = ZSTD_createDStream_advanced(memory);
    if (context == nullptr) return {};
    std::string text(bytes, '\0');
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    // In two steps, so that a window is kept.
    ZSTD_outBuffer out{text.data(), text.size() / 2, 0};
    std::size_t result = ZSTD_decompressStream(context, &out, &in);
    out.size = text.size();
    if (!ZSTD_isError(result)) result = ZSTD_decompressStream(context, &out, &in);
    ZSTD_freeDStream(context);
    return result == 0 ? text : std::string{};
}

std::string round_trip(ZSTD_customMem memory, const std::string& text) {
    return decompressed(memory, compressed(memory, text), text.size());
}

template <class R>
class zstd : public testing::Test {};
using resources = testing::Types<acre::heap, acre::arena, acre::multi_pool, checking_upstream>;
TYPED_TEST_SUITE(zstd, resources);

TYPED_TEST(zstd, a_round_trip) {
    TypeParam below;
    acre::malloc_face memory{below};
    EXPECT_EQ(round_trip(acre::zstd_memory(memory), a_text()), a_text());
}

TEST(zstd_context, workers_on_a_shared_resource) {
    acre::concurrent_multi_pool below;
    acre::malloc_face memory{below};
    const std::string packed = compressed(acre::zstd_memory(memory), a_text(), 2);
    EXPECT_EQ(decompressed(acre::zstd_memory(memory), packed, a_text().size()), a_text());
}

TEST(zstd_context, a_limited_window) {
    acre::malloc_face<acre::heap> general;
    const std::string packed = compressed(acre::zstd_memory(general), a_text());
    acre::limited<acre::multi_pool> below{{.limit_bytes = 100'000}};
    acre::malloc_face memory{below};
    EXPECT_EQ(decompressed(acre::zstd_memory(memory), packed, a_text().size()), "");
    EXPECT_EQ(below.live_bytes(), 0u);
}

TEST(zstd_context, each_request_fails) {
    const std::string text = a_text();
    acre_test::each_request_fails([&](checking_upstream& below) {
        acre::malloc_face memory{below};
        const std::string result = round_trip(acre::zstd_memory(memory), text);
        EXPECT_TRUE(result == text || below.failures() != 0);
    });
}

}  // namespace
