// Expat on acre: documents are parsed, memory is limited, and every request may fail.
#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/expat.hpp>
#include <string>

#include "hooks/each_request_fails.hpp"

namespace {

using acre_test::checking_upstream;

std::string a_document() {
    std::string text = "<?xml version='1.0'?><!DOCTYPE list [<!ENTITY hi 'hello'>]><list>";
    for (int i = 0; i < 100; ++i) {
        const std::string number = std::to_string(i);
        text += "<item" + std::to_string(i % 20) + " id='" + number + "' name='the name of " + number +
                "'>&hi; text</item" + std::to_string(i % 20) + ">";
    }
    return text + "</list>";
}

struct outcome {
    int elements = 0;
    XML_Error error = XML_ERROR_NO_MEMORY;
};

outcome parse(const std::string& text) {
    outcome result;
    const XML_Memory_Handling_Suite memory = acre::expat_memory();
    XML_Parser parser = XML_ParserCreate_MM(nullptr, &memory, nullptr);
    if (parser == nullptr) return result;
    XML_SetUserData(parser, &result.elements);
    XML_SetElementHandler(
        parser, [](void* elements, const XML_Char*, const XML_Char**) { ++*static_cast<int*>(elements); },
        [](void*, const XML_Char*) {});
    XML_Parse(parser, text.data(), static_cast<int>(text.size()), XML_TRUE);
    result.error = XML_GetErrorCode(parser);
    XML_ParserFree(parser);
    return result;
}

template <class R>
class expat : public testing::Test {};
using resources = testing::Types<acre::heap, acre::arena, acre::multi_pool, checking_upstream>;
TYPED_TEST_SUITE(expat, resources);

TYPED_TEST(expat, parses_in_a_scope) {
    TypeParam memory;
    const acre::use_resource use{memory};
    const outcome result = parse(a_document());
    EXPECT_EQ(result.error, XML_ERROR_NONE);
    EXPECT_EQ(result.elements, 101);
}

TEST(expat_parser, uses_the_resource_of_the_scope) {
    acre::multi_pool memory;
    {
        const acre::use_resource use{memory};
        parse(a_document());
    }
    EXPECT_GT(memory.capacity(), 0u);
    EXPECT_EQ(memory.live(), 0u);
}

TEST(expat_parser, a_limited_parse_ends_with_expats_error) {
    acre::limited<acre::multi_pool> memory{{.limit_bytes = 9'000}};
    const acre::use_resource use{memory};
    EXPECT_EQ(parse(a_document()).error, XML_ERROR_NO_MEMORY);
    EXPECT_EQ(memory.live_bytes(), 0u);
}

TEST(expat_parser, each_request_fails) {
    const std::string text = a_document();
    acre_test::each_request_fails([&](checking_upstream& memory) {
        const acre::use_resource use{memory};
        const outcome result = parse(text);
        EXPECT_TRUE(result.error == XML_ERROR_NO_MEMORY || result.elements == 101) << result.error;
    });
}

}  // namespace
