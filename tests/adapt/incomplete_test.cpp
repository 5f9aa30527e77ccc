// A class that owns its like. Every pointer type of acre, and the containers that std allows it for, as
// members of a class that is not defined yet.
#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <acre/adapt/ambient.hpp>
#include <acre/adapt/containers.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <acre/heaps/general_heap.hpp>
#include <acre/memory/virtual_memory.hpp>
#include <acre/observe/checked.hpp>
#include <acre/observe/checked_ptr.hpp>
#include <acre/pools/hardened_multi_pool.hpp>
#include <acre/pools/hardened_object_pool.hpp>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <type_traits>
#include <utility>

namespace {

/// `Resource<node>` is the resource that the nodes lie in.
template <template <class> class Resource>
struct node {
    using resource = Resource<node>;

    explicit node(int& counted) noexcept : alive(counted) { ++alive; }
    node(const node&) = delete;
    node& operator=(const node&) = delete;
    ~node() { --alive; }

    int& alive;
    acre::unique_ptr<node, resource> left, right;
};

template <class R>
struct whatever_the_class {
    template <class>
    using type = R;
};
template <class T>
using typed_arena = acre::typed_arena<T, 100>;
template <class T>
using reused_typed_arena = acre::typed_arena<T, 100, acre::typed_arena_options{.reuse = true}>;
template <class T>
using checked_object_pool = acre::checked<acre::object_pool<T>>;

template <template <class> class Resource>
void expect_nodes_own_each_other(typename node<Resource>::resource& from) {
    static_assert(sizeof(acre::unique_ptr<node<Resource>, Resource<node<Resource>>>) <= 3 * sizeof(void*));
    int alive = 0;
    {
        auto root = acre::make_unique<node<Resource>>(from, alive);
        root->left = acre::make_unique<node<Resource>>(from, alive);
        root->left->right = acre::make_unique<node<Resource>>(from, alive);
        root->right = std::move(root->left->right);
        EXPECT_EQ(alive, 3);
    }
    EXPECT_EQ(alive, 0);
}

template <class R>
void expect_nodes_own_each_other_in(R& from) {
    expect_nodes_own_each_other<whatever_the_class<R>::template type>(from);
}

// Hazard Y19.
TEST(incomplete, nodes_that_own_nodes_of_an_object_pool) {
    acre::object_pool<node<acre::object_pool>> objects;
    expect_nodes_own_each_other<acre::object_pool>(objects);
    acre::concurrent_object_pool<node<acre::concurrent_object_pool>> concurrent;
    expect_nodes_own_each_other<acre::concurrent_object_pool>(concurrent);
    acre::wait_free_object_pool<node<acre::wait_free_object_pool>> wait_free{{.slots = 100}};
    expect_nodes_own_each_other<acre::wait_free_object_pool>(wait_free);
    acre::hardened_object_pool<node<acre::hardened_object_pool>> hardened;
    expect_nodes_own_each_other<acre::hardened_object_pool>(hardened);
    typed_arena<node<typed_arena>> typed;
    expect_nodes_own_each_other<typed_arena>(typed);
    reused_typed_arena<node<reused_typed_arena>> reused;
    expect_nodes_own_each_other<reused_typed_arena>(reused);
    checked_object_pool<node<checked_object_pool>> checked;
    expect_nodes_own_each_other<checked_object_pool>(checked);
}

// Hazard Y19.
TEST(incomplete, nodes_that_own_nodes_of_any_resource) {
    acre::arena arena;
    expect_nodes_own_each_other_in(arena);
    acre::inline_arena<4096> inline_arena;
    expect_nodes_own_each_other_in(inline_arena);
    acre::concurrent_arena concurrent_arena;
    expect_nodes_own_each_other_in(concurrent_arena);
    acre::multi_arena multi_arena{{.arenas = 4, .bytes = 4096}};
    expect_nodes_own_each_other_in(multi_arena);
    acre::concurrent_multi_arena concurrent_multi_arena{{.arenas = 4, .bytes = 4096}};
    expect_nodes_own_each_other_in(concurrent_multi_arena);
    acre::pool<64> slots;
    expect_nodes_own_each_other_in(slots);
    acre::concurrent_pool<64> concurrent_slots;
    expect_nodes_own_each_other_in(concurrent_slots);
    acre::multi_pool multi_pool;
    expect_nodes_own_each_other_in(multi_pool);
    acre::concurrent_multi_pool concurrent_multi_pool;
    expect_nodes_own_each_other_in(concurrent_multi_pool);
    acre::hardened_multi_pool hardened;
    expect_nodes_own_each_other_in(hardened);
    acre::chunk_pool<100, 64> chunks;
    expect_nodes_own_each_other_in(chunks);
    acre::static_pool<64> static_slots;
    expect_nodes_own_each_other_in(static_slots);
    acre::realtime_heap realtime{{.arenas = 8, .bytes = 4096}};
    expect_nodes_own_each_other_in(realtime);
    acre::general_heap general;
    expect_nodes_own_each_other_in(general);
    acre::heap heap;
    expect_nodes_own_each_other_in(heap);
    acre::ambient ambient;
    expect_nodes_own_each_other_in(ambient);
    acre::virtual_memory pages{{.reserve_bytes = 1 << 20}};
    expect_nodes_own_each_other_in(pages);
    acre::resource_ref any{multi_pool};
    expect_nodes_own_each_other_in(any);
    acre::fallback<acre::pool<64>, acre::multi_pool> fallback;
    expect_nodes_own_each_other_in(fallback);
    acre::statistics<acre::multi_pool> counted;
    expect_nodes_own_each_other_in(counted);
}

// A pointer costs nothing for it.
static_assert(sizeof(acre::unique_ptr<int, acre::heap>) == sizeof(void*));
static_assert(sizeof(acre::unique_ptr<int, acre::object_pool<int>>) == 2 * sizeof(void*));
static_assert(sizeof(acre::unique_ptr<int, acre::static_pool<8>>) == sizeof(void*));

struct part;
struct whole {
    acre::unique_ptr<part, acre::multi_pool> one;
    acre::unique_ptr<part[], acre::multi_pool> several;
    acre::unique_ptr<const part, acre::object_pool<part>> constant;
    acre::checked_ptr<part> checked;
    acre::unique_resource<acre::arena> own;
    std::shared_ptr<part> shared;
    acre::arena_vector<part>* listed = nullptr;
    whole();
    ~whole();
    whole(whole&&) noexcept;
};

/// A class as its own element, wherever std's containers allow it.
struct branch {
    explicit branch(acre::multi_pool& from) : of_vector{from}, of_list{from}, of_memory{from} {}
    std::vector<branch, acre::allocator<branch, acre::multi_pool>> of_vector;
    std::list<branch, acre::allocator<branch, acre::multi_pool>> of_list;
    acre::containers_in<acre::multi_pool>::vector<branch> of_memory;
    acre::checked_ptr<branch> parent;
};

struct part final {
    virtual ~part() = default;
    int number = 7;
};
whole::whole() = default;
whole::~whole() = default;
whole::whole(whole&&) noexcept = default;

TEST(incomplete, members_of_a_class_whose_parts_are_defined_later) {
    acre::multi_pool pool;
    acre::object_pool<part> parts;
    {
        whole made;
        made.one = acre::make_unique<part>(pool);
        made.several = acre::make_unique<part[]>(pool, 3);
        made.constant = acre::make_unique<part>(parts);
        made.shared = acre::make_shared<part>(pool);
        made.checked = acre::checked_ptr<part>{pool, made.one.get()};
        const whole other{std::move(made)};
        EXPECT_EQ(other.one->number + other.several[2].number + other.constant->number + other.checked->number, 28);
        EXPECT_EQ(parts.live(), 1u);
    }
    EXPECT_EQ(pool.live(), 0u);
    EXPECT_EQ(parts.live(), 0u);

    branch root{pool};
    root.of_vector.emplace_back(pool);
    root.of_list.emplace_back(pool);
    root.of_memory.emplace_back(pool);
    root.of_vector.front().of_list.emplace_back(pool);
}

}  // namespace
