// protobuf's arenas with blocks from acre's resources. The messages are protobuf's own well-known types, so that the
// test needs no compiler of .proto files.
#include <gtest/gtest.h>

#include <google/protobuf/struct.pb.h>
#include <acre/adapt/hooks/protobuf.hpp>
#include <acre/adapt/program_pools.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/core/error.hpp>
#include <string>
#include <thread>

#include "each_request_fails.hpp"

namespace {

using acre_test::checking_upstream;
using google::protobuf::Arena;
using google::protobuf::Struct;

// A message with maps, lists and texts, as a request has them.
Struct* fill(Arena& arena) {
    auto* order = Arena::CreateMessage<Struct>(&arena);
    for (int i = 0; i < 50; ++i) {
        auto& item = (*order->mutable_fields())["item " + std::to_string(i)];
        item.mutable_struct_value()->mutable_fields()->operator[]("id").set_number_value(i);
        auto* sizes = item.mutable_struct_value()->mutable_fields()->operator[]("sizes").mutable_list_value();
        for (int size = 0; size < 10; ++size) sizes->add_values()->set_number_value(size);
    }
    return order;
}

TEST(protobuf, messages_lie_in_an_arena_of_acre) {
    acre::arena request;
    const acre::use_resource use{request};
    Arena arena{acre::protobuf_options()};
    const Struct* order = fill(arena);
    EXPECT_TRUE(request.owns(order));
    std::string text;
    EXPECT_TRUE(order->SerializeToString(&text));
    auto* read = Arena::CreateMessage<Struct>(&arena);
    EXPECT_TRUE(read->ParseFromString(text));
    EXPECT_EQ(read->fields_size(), 50);
}

TEST(protobuf, blocks_go_back_after_the_scope) {
    checking_upstream below;  // reports what leaks
    Arena* arena = nullptr;
    {
        const acre::use_resource use{below};
        arena = new Arena{acre::protobuf_options()};
        fill(*arena);
    }
    EXPECT_GT(below.live_blocks(), 0u);
    delete arena;
    EXPECT_EQ(below.live_blocks(), 0u);
}

TEST(protobuf, an_arena_with_blocks_of_the_program_is_used_and_destroyed_by_any_thread) {
    const std::size_t before = acre::program_pools::get().live();
    auto* arena = new Arena{acre::protobuf_options<acre::program_pools>()};
    fill(*arena);
    std::thread{[arena] {
        fill(*arena);
        delete arena;
    }}.join();
    EXPECT_EQ(acre::program_pools::get().live(), before);
}

TEST(protobuf, each_failed_block_is_an_exception) {
    acre_test::each_request_fails([](checking_upstream& below) {
        const acre::use_resource use{below};
        try {
            Arena arena{acre::protobuf_options()};
            fill(arena);
        } catch (const acre::allocation_error&) {
            EXPECT_GT(below.failures(), 0u);
        }
    });
}

}  // namespace
