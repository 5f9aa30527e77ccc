// Tests of the library that hold for any resource, with the names of acre::by_build: compiled with ACRE_CHECKED, they
// run over checked resources. In this file `acre` stands for acre::by_build, after all headers of acre.
#include <acre/acre.hpp>
#include <acre/adapt/allocator.hpp>
#include <acre/adapt/pmr.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <acre/adapt/unique_resource.hpp>
#include <acre/heaps/general_heap.hpp>
#include <acre/observe/checked_names.hpp>
#include <acre/pools/hardened_multi_pool.hpp>
#include <acre/pools/hardened_object_pool.hpp>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

static_assert(acre::by_build::is_checked);
static_assert(std::is_same_v<acre::by_build::arena, acre::checked<acre::arena>>);

// The names are there before the resources are complete, as a pointer to its own pool in a class.
struct tree_node {
    acre::by_build::object_pool<tree_node>* home = nullptr;
};

namespace acre_by_build = acre::by_build;
#define acre acre_by_build
#include "adapt/allocator_test.cpp"
#include "adapt/smart_ptr_test.cpp"

TEST(checked_names, are_those_of_checked_resources) {
    acre::object_pool<tree_node> nodes;
    tree_node* root = nodes.create(&nodes);
    EXPECT_DEATH((nodes.destroy(root), nodes.destroy(root)), "acre::object_pool: double free");
    root->home->destroy(root);
    acre::arena level;
    acre::scratch temp{level};
    acre::checked_ptr number{level, temp.create<int>(1)};
    temp.end();
    EXPECT_DEATH((void)*number, "used after a rewind");
}

TEST(checked_names, are_those_of_checked_hardened_pools) {
    acre::hardened_object_pool<int> numbers;
    int* one = numbers.create(1);
    int* two = numbers.create(2);
    EXPECT_LT(std::abs(reinterpret_cast<char*>(one) - reinterpret_cast<char*>(two)), 4096) << "one has its own page";
    numbers.destroy(two);
    EXPECT_DEATH((numbers.destroy(one), numbers.destroy(one)),
                 "acre::hardened_object_pool: double free.*\n.*\n  allocated");
    acre::hardened_pool<64> slots;
    void* p = slots.allocate();
    EXPECT_DEATH((slots.deallocate(p), slots.deallocate(p)), "acre::hardened_pool: double free.*\n.*\n  allocated");
    slots.deallocate(p);
    acre::hardened_multi_pool texts;
    EXPECT_DEATH((void)acre::checked_ptr<char>(texts, static_cast<char*>(p)),
                 "acre::hardened_multi_pool: a checked_ptr");
}

TEST(checked_names, have_the_members_of_their_resources) {
    acre::unique_resource<acre::arena> owner;
    const auto before = owner->mark();
    {
        acre::scratch temp{owner};
        temp.allocate(100);
        acre::scratch inner{&*owner};
    }
    EXPECT_FALSE(owner->is_void(before));
    owner->reset();
    EXPECT_TRUE(owner->is_void(before));
    EXPECT_TRUE(acre::arena{}.is_void(before));
    acre::multi_arena frames{{.arenas = 1, .bytes = 1024}};
    EXPECT_EQ(frames.try_allocate(2000), nullptr);
    EXPECT_GE(frames.refusals().largest_bytes, 2000u);
    acre::chunk_pool<8, 16, 32> chunks;
    void* p = chunks.allocate(20);
    EXPECT_EQ(chunks.class_of(p), 1u);
    EXPECT_EQ(chunks.class_of(&p), 2u);
    chunks.deallocate(p, 20);
}

TEST(checked_names, have_the_members_of_a_typed_arena) {
    acre::typed_arena<int, 8, acre::typed_arena_options{.reuse = true}> few;
    few.prefault();
    int* three = few.allocate_n(3);
    int* one = few.allocate_one();
    EXPECT_EQ(few.try_allocate_n(SIZE_MAX / 2), nullptr);
    one[0] = three[2] = 1;
    EXPECT_DEATH(few.deallocate_n(three, 2), "freed with another size.*\n.*\n  allocated at .*checked_build_test");
    EXPECT_DEATH((few.deallocate_one(one), few.deallocate_one(one)), "acre::typed_arena: double free");
    few.deallocate_one(one);
    few.deallocate_n(three, 3);
    few.deallocate_one(nullptr);
    EXPECT_EQ(few.live(), 0u);
    acre::typed_arena<int, 8> limited;
    limited.limit_slots(1);
    limited.allocate_one();
    EXPECT_EQ(limited.try_allocate_one(), nullptr);
}
