// zlib and Zstandard: messages of 4 KiB, each with a stream or context of its own. The first argument names the
// library, the second the memory.
#include <acre/adapt/hooks/zstd.hpp>
//
#include <zlib.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/zlib.hpp>

#include "measure.hpp"

namespace {

std::string message() {
    std::string text;
    for (unsigned i = 0; text.size() < 4096; ++i) text += "line " + std::to_string(i * 2654435761u) + "\n";
    return text;
}

template <class SetMemory>
void zlib_round(std::string& text, SetMemory set_memory) {
    static char packed[8192];
    static char unpacked[8192];
    z_stream out{};
    set_memory(out);
    deflateInit(&out, 1);
    out.next_in = reinterpret_cast<Bytef*>(text.data());
    out.avail_in = static_cast<uInt>(text.size());
    out.next_out = reinterpret_cast<Bytef*>(packed);
    out.avail_out = sizeof packed;
    if (deflate(&out, Z_FINISH) != Z_STREAM_END) std::exit(1);
    deflateEnd(&out);
    z_stream in{};
    set_memory(in);
    inflateInit(&in);
    in.next_in = reinterpret_cast<Bytef*>(packed);
    in.avail_in = static_cast<uInt>(out.total_out);
    in.next_out = reinterpret_cast<Bytef*>(unpacked);
    in.avail_out = sizeof unpacked;
    if (inflate(&in, Z_FINISH) != Z_STREAM_END) std::exit(1);
    inflateEnd(&in);
}

void zstd_round(const std::string& text, ZSTD_customMem memory) {
    static char packed[8192];
    static char unpacked[8192];
    ZSTD_CCtx* out = ZSTD_createCCtx_advanced(memory);
    const std::size_t bytes = ZSTD_compressCCtx(out, packed, sizeof packed, text.data(), text.size(), 1);
    ZSTD_freeCCtx(out);
    ZSTD_DCtx* in = ZSTD_createDCtx_advanced(memory);
    if (ZSTD_decompressDCtx(in, unpacked, sizeof unpacked, packed, bytes) != text.size()) std::exit(1);
    ZSTD_freeDCtx(in);
}

}  // namespace

int main(int, char** arguments) {
    const bool zlib = arguments[1] == std::string_view{"zlib"};
    const std::string_view memory = arguments[2];
    std::string text = message();
    constexpr int messages = 200;
    if (memory == "default") {
        return acre_bench::measure([&] {
            for (int i = 0; i < messages; ++i) {
                if (zlib) {
                    zlib_round(text, [](z_stream&) {});
                } else {
                    zstd_round(text, ZSTD_defaultCMem);
                }
            }
        });
    }
    if (memory != "arena") acre_bench::unknown(memory);
    acre::arena below;
    acre::malloc_face face{below};
    return acre_bench::measure([&] {
        for (int i = 0; i < messages; ++i) {
            if (zlib) {
                zlib_round(text, [&](z_stream& stream) { acre::set_zlib_memory(stream, face); });
            } else {
                zstd_round(text, acre::zstd_memory(face));
            }
            below.reset();
        }
    });
}
