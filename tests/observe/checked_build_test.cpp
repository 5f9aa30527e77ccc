// Tests of the library that hold for any resource, with the names of acre::by_build: compiled with ACRE_CHECKED, they
// run over checked resources. In this file `acre` stands for acre::by_build, after all headers of acre.
#include <acre/acre.hpp>
#include <acre/adapt/allocator.hpp>
#include <acre/adapt/pmr.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <acre/observe/checked_names.hpp>
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
