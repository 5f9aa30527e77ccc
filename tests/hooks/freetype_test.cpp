// FreeType on acre: a font is loaded and drawn, memory is limited, and every request may fail.
#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/freetype.hpp>
#include <filesystem>
#include <string>
#include FT_FREETYPE_H
#include FT_MODULE_H

#include "hooks/each_request_fails.hpp"

namespace {

using acre_test::checking_upstream;

constexpr const char* font = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono-Bold.ttf";

// Draws some letters, and calls `begin` when there is a library. Zero, or FreeType's error.
template <acre::resource R, class Begin = decltype([] {})>
FT_Error draw(acre::malloc_face<R>& memory, const char* letters, Begin begin = {}) {
    FT_MemoryRec_ record = acre::freetype_memory(memory);
    FT_Library library = nullptr;
    FT_Error error = FT_New_Library(&record, &library);
    if (error != 0) return error;
    FT_Add_Default_Modules(library);
    begin();
    FT_Face face = nullptr;
    error = FT_New_Face(library, font, 0, &face);
    if (error == 0) {
        error = FT_Set_Pixel_Sizes(face, 0, 24);
        for (const char* each = letters; *each != '\0' && error == 0; ++each) {
            error = FT_Load_Char(face, static_cast<FT_ULong>(*each), FT_LOAD_RENDER | FT_LOAD_NO_HINTING);
        }
        FT_Done_Face(face);
    }
    FT_Done_Library(library);
    return error;
}

template <class R>
class freetype : public testing::Test {
    void SetUp() override {
        if (!std::filesystem::exists(font)) GTEST_SKIP() << "the font DejaVu (fonts-dejavu-core) is not installed";
    }
};
using resources = testing::Types<acre::heap, acre::arena, acre::multi_pool, checking_upstream>;
TYPED_TEST_SUITE(freetype, resources);

TYPED_TEST(freetype, draws) {
    TypeParam below;
    acre::malloc_face memory{below};
    EXPECT_EQ(draw(memory, "acre"), 0);
}

using freetype_library = freetype<acre::heap>;

TEST_F(freetype_library, a_limited_library_gets_freetypes_error) {
    acre::limited<acre::multi_pool> below{{.limit_bytes = 11'000}};
    acre::malloc_face memory{below};
    EXPECT_EQ(draw(memory, "acre"), FT_Err_Out_Of_Memory);
    EXPECT_EQ(below.live_bytes(), 0u);
}

// Requests fail while a library is made, and later while a face is loaded and drawn: FT_Add_Default_Modules reports no
// error, so that a program cannot know that it lacks modules. Without hinting: FreeType 2.12 crashes when one request
// of the hinting fails and later ones do not, with malloc, too.
TEST_F(freetype_library, each_request_of_a_new_library_fails) {
    acre_test::each_request_fails([](checking_upstream& below) {
        acre::malloc_face memory{below};
        FT_MemoryRec_ record = acre::freetype_memory(memory);
        FT_Library library = nullptr;
        if (FT_New_Library(&record, &library) != 0) return;
        FT_Add_Default_Modules(library);
        FT_Done_Library(library);
    });
}

TEST_F(freetype_library, each_request_of_a_face_fails) {
    acre_test::each_request_fails([](checking_upstream& below, auto begin) {
        acre::malloc_face memory{below};
        EXPECT_TRUE(draw(memory, "a", begin) == 0 || below.failures() != 0);
    });
}

}  // namespace
