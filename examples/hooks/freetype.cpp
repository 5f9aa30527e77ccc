#include <acre/acre.hpp>
#include <acre/adapt/hooks/freetype.hpp>
#include <cstdio>
#include FT_FREETYPE_H
#include FT_MODULE_H

int main(int count, char** arguments) {
    acre::multi_pool fonts;
    acre::malloc_face memory{fonts};
    FT_MemoryRec_ record = acre::freetype_memory(memory);
    FT_Library library = nullptr;
    FT_New_Library(&record, &library);
    FT_Add_Default_Modules(library);

    FT_Face face = nullptr;
    const char* path = count > 1 ? arguments[1] : "/usr/share/fonts/truetype/dejavu/DejaVuSansMono-Bold.ttf";
    if (FT_New_Face(library, path, 0, &face) == 0) {
        std::printf("%s: %zu blocks in the pool\n", face->family_name, fonts.live());
        FT_Done_Face(face);
    }
    FT_Done_Library(library);  // not FT_Done_FreeType
    std::printf("%zu blocks live at the end\n", fonts.live());
}
