// A face is loaded and 90 letters drawn. The argument names the memory.
#include <acre/acre.hpp>
#include <acre/adapt/hooks/freetype.hpp>
#include FT_FREETYPE_H
#include FT_MODULE_H

#include "measure.hpp"

namespace {

void draw(FT_Library library) {
    FT_Face face = nullptr;
    if (FT_New_Face(library, "/usr/share/fonts/truetype/dejavu/DejaVuSansMono-Bold.ttf", 0, &face) != 0) std::exit(3);
    FT_Set_Pixel_Sizes(face, 0, 16);
    for (FT_ULong each = 33; each < 123; ++each) {
        if (FT_Load_Char(face, each, FT_LOAD_RENDER) != 0) std::exit(1);
    }
    FT_Done_Face(face);
}

}  // namespace

int main(int, char** arguments) {
    const std::string_view memory = arguments[1];
    if (memory == "default") {
        return acre_bench::measure([] {
            FT_Library library = nullptr;
            FT_Init_FreeType(&library);
            draw(library);
            FT_Done_FreeType(library);
        });
    }
    if (memory != "multi_pool") acre_bench::unknown(memory);
    acre::multi_pool below;
    acre::malloc_face face{below};
    return acre_bench::measure([&] {
        FT_MemoryRec_ record = acre::freetype_memory(face);
        FT_Library library = nullptr;
        FT_New_Library(&record, &library);
        FT_Add_Default_Modules(library);
        draw(library);
        FT_Done_Library(library);
    });
}
