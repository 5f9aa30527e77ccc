// RapidJSON's documents and stack over acre's resources.
#include <gtest/gtest.h>

#include <acre/adapt/ambient.hpp>
#include <acre/adapt/hooks/rapidjson.hpp>
#include <acre/adapt/program_pools.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/core/error.hpp>
#include <string>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "each_request_fails.hpp"

namespace {

using acre_test::checking_upstream;
template <class Memory, class Stack = rapidjson::CrtAllocator>
using document_in = rapidjson::GenericDocument<rapidjson::UTF8<>, Memory, Stack>;
using in_arena = document_in<acre::rapidjson_allocator<acre::arena>>;
using ambient_allocator = acre::rapidjson_allocator<acre::ambient>;
using in_ambient = document_in<ambient_allocator, ambient_allocator>;

constexpr const char* order =
    R"({"customer":"a name that is longer than a short string","items":[{"id":1,"price":2.5},{"id":2}],"paid":true})";

template <class Document>
std::string text_of(const Document& document) {
    rapidjson::StringBuffer text;
    rapidjson::Writer<rapidjson::StringBuffer> writer{text};
    document.Accept(writer);
    return text.GetString();
}

template <class Document>
void change(Document& document) {
    auto& memory = document.GetAllocator();
    for (int i = 0; i < 40; ++i) document["items"].PushBack(i, memory);
    typename Document::ValueType copy{document["items"], memory};
    document.AddMember("more", copy, memory);
    document.RemoveMember("items");
}

TEST(rapidjson, a_document_lies_in_an_arena) {
    acre::arena request;
    acre::rapidjson_allocator<acre::arena> memory{request};
    in_arena document{&memory};
    document.Parse(order);
    EXPECT_EQ(text_of(document), order);
    EXPECT_TRUE(request.owns(document["customer"].GetString()));
    change(document);
    EXPECT_EQ(document["more"].Size(), 42u);
}

TEST(rapidjson, a_document_holds_an_arena_of_its_own) {
    in_arena document;
    document.Parse(order);
    EXPECT_TRUE(document.GetAllocator().referred().owns(document["customer"].GetString()));
}

TEST(rapidjson, a_document_and_its_stack_free_each_block) {
    checking_upstream below;  // reports what leaks
    const acre::use_resource use{below};
    in_ambient document;
    document.Parse(order);
    change(document);
    EXPECT_GT(below.live_blocks(), 0u);
}

TEST(rapidjson, a_document_lies_in_the_programs_pools) {
    const std::size_t before = acre::program_pools::get().live();
    {
        document_in<acre::rapidjson_allocator<acre::program_pools>> document;
        document.Parse(order);
        EXPECT_GT(acre::program_pools::get().live(), before);
    }
    EXPECT_EQ(acre::program_pools::get().live(), before);
}

TEST(rapidjson, the_last_block_of_an_arena_grows_in_place) {
    acre::arena request;
    acre::rapidjson_allocator<acre::arena> memory{request};
    void* p = memory.Malloc(64);
    EXPECT_EQ(memory.Realloc(p, 64, 128), p);
    (void)memory.Malloc(8);
    EXPECT_NE(memory.Realloc(p, 128, 256), p);
    EXPECT_EQ(memory.Malloc(0), nullptr);
    EXPECT_EQ(memory.Realloc(p, 128, 0), nullptr);
}

TEST(rapidjson, an_arena_without_memory_throws) {
    acre::arena small{{.fixed_bytes = 256}};
    acre::rapidjson_allocator<acre::arena> memory{small};
    in_arena document{&memory};
    // Longer than an arena with redzones, which is larger.
    const std::string text = '"' + std::string(10'000, 'x') + '"';
    EXPECT_THROW(document.Parse(text.c_str()), acre::out_of_memory);
    small.reset();
    EXPECT_EQ(document.Parse("[1, 2]")[1].GetInt(), 2);
}

// Over a resource that frees each block, RapidJSON leaks what it has half read.
TEST(rapidjson, each_failed_request_is_an_exception_and_an_arena_leaks_nothing) {
    acre_test::each_request_fails([](checking_upstream& below) {
        acre::arena request{{.first_block_bytes = 64, .max_block_bytes = 64}, below};
        acre::rapidjson_allocator<acre::arena> memory{request};
        try {
            in_arena document{&memory};
            document.Parse(order);
            change(document);
        } catch (const acre::allocation_error&) {
            EXPECT_GT(below.failures(), 0u);
        }
    });
}

}  // namespace
