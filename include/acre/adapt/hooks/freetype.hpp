// FreeType's memory from any resource: the FT_MemoryRec_ that FT_New_Library takes.
//
// Use acre::multi_pool for a library whose faces come and go, acre::arena for one that loads its faces once, and
// acre::limited around either for fonts of strangers: loading ends with FT_Err_Out_Of_Memory. End the library by
// FT_Done_Library; FT_Done_FreeType would free the record, too.
//
// Cost: that of acre::malloc_face. The face and the record live longer than the library. Thread rules: a library is
// used by one thread at a time, and so is its resource.
//
//     #include <ft2build.h>
//     #include FT_MODULE_H
//     acre::multi_pool fonts;
//     acre::malloc_face memory{fonts};
//     FT_MemoryRec_ record = acre::freetype_memory(memory);
//     FT_Library library;
//     FT_New_Library(&record, &library);
//     FT_Add_Default_Modules(library);
#pragma once

#include <ft2build.h>
#include FT_SYSTEM_H

#include <acre/adapt/malloc_face.hpp>
#include <cstddef>

namespace acre {

/// The functions over `face`, which must live longer than the library.
template <resource R>
FT_MemoryRec_ freetype_memory(malloc_face<R>& face) noexcept {
    using pointer = malloc_face<R>*;
    FT_MemoryRec_ record{};
    record.user = &face;
    record.alloc = [](FT_Memory memory, long bytes) noexcept {
        return static_cast<pointer>(memory->user)->malloc(static_cast<std::size_t>(bytes));
    };
    record.free = [](FT_Memory memory, void* p) noexcept { static_cast<pointer>(memory->user)->free(p); };
    record.realloc = [](FT_Memory memory, long, long bytes, void* p) noexcept {
        return static_cast<pointer>(memory->user)->realloc(p, static_cast<std::size_t>(bytes));
    };
    return record;
}

}  // namespace acre
