// The trace as text: a line for each event, of any resource.
#include <acre/observe/logged.hpp>

#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/pool.hpp>
#include <cstdio>
#include <string>
#include <utility>

#include "observe/written.hpp"

namespace {

using acre::log_to;
using acre_test::written;

std::string address(const void* p) {
    char text[40];
    std::snprintf(text, sizeof text, "%p", p);
    return text;
}

TEST(logged, example) {
    std::string expected;
    const std::string log = written([&](std::FILE* to) {
        acre::logged<acre::multi_arena> frames{log_to{to, "frames"}, {.arenas = 16, .bytes = 1024}};
        void* p = frames.allocate(100);
        EXPECT_TRUE(frames.try_resize(p, 100, 200));
        frames.deallocate(p, 200);
        EXPECT_EQ(frames.try_allocate(5000), nullptr);
        frames.reset();
        expected = "frames: allocated " + address(p) + " 100 bytes aligned to 16\n" +  //
                   "frames: resized " + address(p) + " from 100 to 200 bytes\n" +      //
                   "frames: freed " + address(p) + " 200 bytes\n" +                    //
                   "frames: refused 5000 bytes\n" + "frames: freed everything\n";
    });
    EXPECT_EQ(log, expected);
}

TEST(logged, objects_and_texts_of_an_arena) {
    const std::string log = written([](std::FILE* to) {
        acre::logged<acre::arena> level{log_to{to}};
        const auto begin = level.mark();
        (void)level.create<int>(1);
        (void)level.copy("text");
        level.rewind(begin);
    });
    EXPECT_NE(log.find("acre::arena: allocated "), std::string::npos) << log;
    EXPECT_NE(log.find(" 4 bytes aligned to 4\n"), std::string::npos) << log;
    EXPECT_NE(log.find(" 5 bytes aligned to 1\n"), std::string::npos) << log;
    EXPECT_NE(log.find("acre::arena: freed everything since a mark\n"), std::string::npos) << log;
}

TEST(logged, moves_and_is_shared_as_the_resource_below) {
    const std::string log = written([](std::FILE* to) {
        acre::logged<acre::pool<64>> first{log_to{to, "moved"}};
        void* p = first.allocate(10);
        acre::logged<acre::pool<64>> second{std::move(first)};
        second.deallocate(p, 10);
        acre::synchronized<acre::logged<acre::multi_pool>> locked{log_to{to, "locked"}};
        locked.deallocate(locked.allocate(10), 10);
        acre::logged<acre::concurrent_multi_pool> shared{log_to{nullptr}};
        shared.deallocate(shared.allocate(10), 10);
    });
    EXPECT_NE(log.find("moved: freed "), std::string::npos) << log;
    EXPECT_NE(log.find("locked: freed "), std::string::npos) << log;
    EXPECT_EQ(log.find("concurrent"), std::string::npos) << log;
}

}  // namespace
