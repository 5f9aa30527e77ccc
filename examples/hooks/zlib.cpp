#include <zlib.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/zlib.hpp>
#include <cstdio>
#include <cstring>

int main() {
    static acre::inline_arena<300'000> fixed{acre::no_memory{}};  // a stream takes about 270 KB; never the heap
    acre::malloc_face memory{fixed};
    char text[] = "acre acre acre acre acre acre acre acre";
    for (int i = 0; i < 3; ++i) {
        z_stream stream{};
        acre::set_zlib_memory(stream, memory);
        if (deflateInit(&stream, Z_DEFAULT_COMPRESSION) != Z_OK) return 1;
        unsigned char packed[100];
        stream.next_in = reinterpret_cast<Bytef*>(text);
        stream.avail_in = static_cast<uInt>(std::strlen(text));
        stream.next_out = packed;
        stream.avail_out = sizeof packed;
        deflate(&stream, Z_FINISH);
        std::printf("%zu bytes in %lu\n", std::strlen(text), stream.total_out);
        deflateEnd(&stream);
        fixed.reset();
    }
}
