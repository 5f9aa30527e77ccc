// acre/fwd.hpp declares what acre.hpp defines, and its names suffice where a type is only mentioned.
#include <acre/fwd.hpp>

namespace {

struct orc;

// What a header may hold before any type is defined.
struct mentions {
    acre::arena* arena;
    acre::scratch& scratch;
    acre::arena_string* name;
    acre::arena_vector<int>* numbers;
    acre::typed_arena<orc, 100>* orcs;
    acre::inline_multi_arena<4, 64>* arenas;
    acre::pool<64>* slots;
    acre::object_pool<orc>* pool;
    acre::multi_pool* sizes;
    acre::concurrent_multi_pool* shared_sizes;
    acre::chunk_pool<10, 32, 64>* chunks;
    acre::inline_buffer<64>* storage;
    acre::static_pool<64>* everywhere;
};
using takes = void(acre::arena& level, acre::resource_ref upstream, acre::pooled<orc>* base);

// A template over a resource can be named, too, once its resource is defined.
class block {
public:
    void* allocate(std::size_t bytes, std::size_t alignment);
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept;
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept;
    bool owns(const void* p) const noexcept;
};
using names = void(acre::fallback<block, block&>&, acre::segregate<64, block, block>&, acre::statistics<block>&,
                   acre::synchronized<block, acre::no_lock>&, acre::pmr<block>&, acre::containers_in<block>&,
                   acre::allocator<int, block>&);
template <class Group>
struct in {};
template <class Name>
using groups = in<acre::static_pool<64, acre::shared_group<Name>>>;

}  // namespace

#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <type_traits>

namespace {

struct orc {
    int strength = 0;
};

static_assert(std::is_same_v<std::remove_pointer_t<decltype(mentions::arena)>, acre::arena>);
static_assert(std::is_same_v<std::remove_pointer_t<decltype(mentions::arenas)>,
                             acre::inline_multi_arena<4, 64, 0, acre::large_requests::refuse>>);
static_assert(std::is_same_v<std::remove_pointer_t<decltype(mentions::numbers)>, acre::arena_vector<int, acre::arena>>);
static_assert(
    std::is_same_v<std::remove_pointer_t<decltype(mentions::slots)>, acre::pool<64, acre::default_alignment>>);
static_assert(std::is_same_v<takes, void(acre::arena&, acre::resource_ref, acre::pooled<orc>*)>);
static_assert(
    std::is_same_v<names, void(acre::fallback<block, block&>&, acre::segregate<64, block, block>&,
                               acre::statistics<block>&, acre::synchronized<block, acre::no_lock>&, acre::pmr<block>&,
                               acre::containers_in<block>&, acre::allocator<int, block>&)>);
static_assert(std::is_same_v<groups<orc>, in<acre::static_pool<64, acre::shared_group<orc, acre::heap>>>>);
static_assert(acre::resource<acre::statistics<acre::arena>> && acre::resource<acre::synchronized<acre::pool<64>>>);

TEST(Fwd, WhatIsMentionedIsWhatIsDefined) {
    acre::arena level;
    acre::scratch inner{level};
    acre::arena_string name{"Ugluk", level};
    acre::arena_vector<int> numbers{level};
    acre::typed_arena<orc, 100> orcs;
    acre::inline_multi_arena<4, 64> arenas;
    acre::pool<64> slots;
    acre::object_pool<orc> pool;
    acre::multi_pool sizes;
    acre::concurrent_multi_pool shared_sizes;
    acre::chunk_pool<10, 32, 64> chunks;
    acre::inline_buffer<64> storage;
    const mentions all{&level, inner,  &name,         &numbers, &orcs,    &arenas, &slots,
                       &pool,  &sizes, &shared_sizes, &chunks,  &storage, nullptr};
    EXPECT_EQ(all.name->view(), "Ugluk");
    EXPECT_EQ(all.pool->create(7)->strength, 7);
}

}  // namespace
