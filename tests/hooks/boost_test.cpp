// Boost.Container's pmr containers and Boost.JSON over acre's resources.
#include <gtest/gtest.h>

#include <acre/adapt/hooks/boost_container.hpp>
#include <acre/adapt/hooks/boost_json.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/core/error.hpp>
#include <acre/pools/multi_pool.hpp>
#include <boost/container/pmr/map.hpp>
#include <boost/container/pmr/string.hpp>
#include <boost/container/pmr/vector.hpp>
#include <boost/json.hpp>
#include <utility>

#include "each_request_fails.hpp"

namespace {

namespace json = boost::json;
using acre_test::checking_upstream;

constexpr const char* order =
    R"({"customer": "a name that is longer than a short string", "items": [{"id": 1, "price": 2.5}, {"id": 2}],
        "paid": true, "note": null})";

TEST(boost_container, containers_lie_in_a_resource) {
    acre::boost_pmr<acre::multi_pool> nodes;
    {
        boost::container::pmr::map<int, boost::container::pmr::string> names{&nodes};
        for (int i = 0; i < 100; ++i) names[i] = "a name that is longer than a short string";
        EXPECT_GE(nodes->live(), 200u) << "the strings lie in the pool, too";
    }
    EXPECT_EQ(nodes->live(), 0u);
}

TEST(boost_container, equality_is_identity) {
    acre::arena below;
    acre::boost_pmr a{below};
    acre::boost_pmr b{below};
    EXPECT_TRUE(a.is_equal(a));
    EXPECT_FALSE(a.is_equal(b));
    EXPECT_EQ(&a.get(), &below);
}

TEST(boost_container, each_failed_request_is_an_exception) {
    acre_test::each_request_fails([](checking_upstream& below) {
        acre::boost_pmr memory{below};
        boost::container::pmr::vector<boost::container::pmr::string> words{&memory};
        try {
            for (int i = 0; i < 20; ++i) words.emplace_back("a word that is longer than a short string");
        } catch (const acre::allocation_error&) {
            EXPECT_GT(below.failures(), 0u);
        }
    });
}

TEST(boost_json, values_lie_in_an_arena_and_are_not_destroyed) {
    acre::arena request;
    acre::boost_pmr memory{request};
    const json::storage_ptr storage{&memory};
    EXPECT_TRUE(storage.is_deallocate_trivial());
    const json::value document = json::parse(order, storage);
    EXPECT_EQ(json::parse(json::serialize(document)), json::parse(order));
    EXPECT_TRUE(request.owns(&document.at("items").at(1)));
}

TEST(boost_json, values_own_a_shared_resource) {
    json::value document = json::parse(
        order, json::make_shared_resource<acre::boost_pmr<acre::arena>>(acre::arena_options{.max_block_bytes = 65536}));
    const json::value other(document.at("items"));
    EXPECT_EQ(other.at(0).at("id"), 1);
}

TEST(boost_json, values_in_a_pool_are_freed) {
    acre::boost_pmr<acre::multi_pool> nodes;
    EXPECT_FALSE(json::storage_ptr{&nodes}.is_deallocate_trivial());
    {
        json::value document = json::parse(order, &nodes);
        json::value items(document.at("items"), document.storage());
        document.as_object()["more"] = std::move(items);
        EXPECT_GT(nodes->live(), 0u);
    }
    EXPECT_EQ(nodes->live(), 0u);
}

TEST(boost_json, each_failed_request_is_an_exception) {
    acre_test::each_request_fails([](checking_upstream& below) {
        acre::boost_pmr memory{below};
        try {
            json::value document = json::parse(order, &memory);
            json::value items(document.at("items"), document.storage());
            document.as_object()["more"] = std::move(items);
        } catch (const acre::allocation_error&) {
            EXPECT_GT(below.failures(), 0u);
        }
    });
}

}  // namespace
