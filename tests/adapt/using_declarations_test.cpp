// Code that uses the standard's make_unique and make_shared without std:: keeps them, also when an argument is of acre.
#include <gtest/gtest.h>

#include <acre/adapt/smart_ptr.hpp>
#include <acre/pools/multi_pool.hpp>
#include <memory>

namespace {

/// Is given its pool, or does without one: each function could make it.
struct world {
    world() = default;
    explicit world(acre::multi_pool& given) : from(&given) {}
    acre::multi_pool* from = nullptr;
};

template <class Maker>
void expect_all_arguments_passed_on(Maker make) {
    acre::multi_pool nodes;
    const auto made = make(nodes);
    EXPECT_EQ(made->from, &nodes);
    EXPECT_EQ(nodes.live(), 0u);
}

TEST(using_declarations, of_std_stay_the_standards) {
    using std::make_shared;
    using std::make_unique;
    expect_all_arguments_passed_on([](auto& nodes) { return make_unique<world>(nodes); });
    expect_all_arguments_passed_on([](auto& nodes) { return make_shared<world>(nodes); });
}

TEST(using_declarations, of_acre_are_acres) {
    using acre::make_shared;
    using acre::make_unique;
    acre::multi_pool nodes;
    const auto one = make_unique<world>(nodes);
    const auto shared = make_shared<world>(nodes);
    const auto full_name = acre::make_unique<world>(nodes);
    EXPECT_EQ(nodes.live(), 3u);
    EXPECT_TRUE(one->from == nullptr && shared->from == nullptr);
}

}  // namespace

namespace of_std {
using namespace std;

TEST(using_declarations, of_namespace_std_stay_the_standards) {
    expect_all_arguments_passed_on([](auto& nodes) { return make_unique<world>(nodes); });
    expect_all_arguments_passed_on([](auto& nodes) { return make_shared<world>(nodes); });
}
}  // namespace of_std
