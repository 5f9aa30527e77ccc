#include <acre/adapt/hooks/zstd.hpp>  // before <zstd.h>: it defines ZSTD_STATIC_LINKING_ONLY
//
#include <acre/acre.hpp>
#include <cstdio>
#include <string_view>

using namespace acre::literals;

int main() {
    acre::limited<acre::multi_pool> budget{{.limit_bytes = 16_MiB}};
    acre::malloc_face memory{budget};
    ZSTD_CCtx* context = ZSTD_createCCtx_advanced(acre::zstd_memory(memory));
    constexpr std::string_view text = "acre acre acre acre acre acre acre acre";
    char packed[200];
    const std::size_t bytes = ZSTD_compressCCtx(context, packed, sizeof packed, text.data(), text.size(), 3);
    std::printf("%zu bytes in %zu\n", text.size(), bytes);
    ZSTD_freeCCtx(context);
    std::printf("%zu bytes live at the end\n", budget.live_bytes());
}
