// Code that opens both namespaces: the names of acre that the standard has, too, are qualified, as docs/adapters.md
// says; all others are written as they are.
#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <acre/adapt/containers.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <array>
#include <csignal>
#include <functional>
#include <iterator>
#include <memory>
#include <memory_resource>
#include <numeric>
#include <thread>
#include <vector>

using namespace std;
using namespace acre;
using namespace acre::literals;

namespace {

struct orc {
    int strength = 1;
};

TEST(using_directives, resources_by_their_names) {
    arena level{arena_options{.first_block_bytes = 4_KiB}};
    scratch temp{level};
    {
        cursor building{level};
        building.allocate(8);
    }
    arena_vector<int> numbers{level};
    arena_string text{level};
    multi_arena frames{{.arenas = 4, .bytes = 1_KiB}};
    inline_buffer<64> own;
    fallback<inline_buffer<64>&, heap> either{own, heap{}};
    synchronized<arena> locked;
    recycling<arena> recycled;
    limited<multi_pool> bounded{limited_options{.limit_bytes = 1_MiB}};
    traced<pool<64>> seen;
    logged<pool<64>> written{log_to{nullptr}};
    concurrent_arena shared_arena;
    concurrent_multi_pool shared_sizes;
    concurrent_object_pool<orc> shared_orcs;
    chunk_pool<4, 16> chunks;
    resource_ref any{level};
    EXPECT_TRUE(is_aligned(any.allocate(8, 8), 8));
    numbers.push_back(1);
    text.append("text");
    frames.deallocate(frames.allocate(100), 100);
    temp.end();
    level.reset(release);
    level.reset(keep(100));
    EXPECT_THROW((void)either.allocate(8, 3), allocation_error);
}

TEST(using_directives, pointers_and_containers) {
    multi_pool nodes;
    object_pool<orc> orcs;
    {
        auto of_std = make_unique<orc>();
        auto in_sizes = make_unique<orc>(nodes);
        auto in_pool = make_unique<orc>(orcs);
        auto several = make_unique<orc[]>(nodes, 3);
        auto shared_of_std = make_shared<orc>();
        auto shared = make_shared<orc>(nodes);
        auto in_memory = make_unique<int>(std::pmr::new_delete_resource(), 3);
        acre::unique_ptr<orc, multi_pool> qualified = std::move(in_sizes);
        std::vector<int, acre::allocator<int, multi_pool>> numbers{nodes};
        containers_in<multi_pool>::vector<int> more{nodes};
        numbers.push_back(1);
        more.push_back(*in_memory);
        EXPECT_EQ(nodes.live(), 5u);
    }
    EXPECT_EQ(nodes.live() + orcs.live(), 0u);
    acre::pmr<arena> memory;
    std::pmr::vector<int> in_arena{&memory};
    in_arena.push_back(1);
    EXPECT_EQ(raise(0), 0) << "of the signals";
}

}  // namespace
