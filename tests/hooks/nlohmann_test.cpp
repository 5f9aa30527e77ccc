// nlohmann::json in arenas, in the program's pools and in memory that fails.
#include <gtest/gtest.h>

#include <acre/adapt/ambient.hpp>
#include <acre/adapt/hooks/nlohmann.hpp>
#include <acre/core/error.hpp>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "conformance/checking_upstream.hpp"

namespace {

constexpr const char* order =
    R"({"customer": "a name that is longer than a short string", "items": [{"id": 1, "price": 2.5}, {"id": 2}],
        "paid": true, "note": null})";

struct point {
    int x = 0;
    int y = 0;
};
template <class Json>
void to_json(Json& to, const point& from) {
    to = Json{{"x", from.x}, {"y", from.y}};
}
template <class Json>
void from_json(const Json& from, point& to) {
    from.at("x").get_to(to.x);
    from.at("y").get_to(to.y);
}

template <class Json>
class json_in_memory : public testing::Test {
    acre::arena arena_;
    acre::use_arena use_{arena_};
};
using documents = testing::Types<acre::arena_json, acre::json_in<acre::ambient>>;
TYPED_TEST_SUITE(json_in_memory, documents);

TYPED_TEST(json_in_memory, says_what_nlohmann_says) {
    auto document = TypeParam::parse(order);
    const auto expected = nlohmann::json::parse(order);
    EXPECT_EQ(std::string(document.dump().c_str()), expected.dump());
    document["items"].push_back({{"id", 3}});
    const TypeParam copy = document;
    EXPECT_EQ(copy["items"].size(), 3u);
    EXPECT_EQ(copy, document);
    document.erase("items");
    EXPECT_FALSE(document.contains("items"));
    EXPECT_EQ(copy.at(typename TypeParam::json_pointer("/items/0/id")), 1);
    EXPECT_THROW(const TypeParam refused = TypeParam::parse("[1, "), typename TypeParam::parse_error);
    EXPECT_TRUE(TypeParam::parse("{", nullptr, false).is_discarded());
}

TYPED_TEST(json_in_memory, converts_standard_strings_and_types_of_the_user) {
    auto document = TypeParam::parse(order);
    const std::string customer = document["customer"];
    EXPECT_EQ(customer, "a name that is longer than a short string");
    document["note"] = std::string("set by a standard string, which is longer than a short one");
    EXPECT_EQ(document["note"].template get<std::string>().size(), 58u);
    EXPECT_THROW((void)document["paid"].template get<std::string>(), typename TypeParam::type_error);
    document["at"] = point{3, 4};
    EXPECT_EQ(document["at"].template get<point>().y, 4);
    const TypeParam words = std::vector<std::string>{"one", "two"};
    EXPECT_EQ(words.template get<std::vector<std::string>>().back(), "two");
}

TYPED_TEST(json_in_memory, takes_standard_strings_as_keys) {
    auto document = TypeParam::parse(order);
    const std::string key = "customer";
    EXPECT_TRUE(document.contains(key));
    EXPECT_EQ(&document[key], &document["customer"]);
    EXPECT_EQ(document.at(key), document["customer"]);
    EXPECT_EQ(document.find(key)->size(), 1u);
    EXPECT_EQ(document.value(std::string("none"), 7), 7);
    document[std::string("a new key that is longer than a short string")] = 1;
    EXPECT_EQ(document.erase(key), 1u);
    const typename TypeParam::string_t text = "b";
    EXPECT_TRUE(text == std::string("b") && std::string("a") < text && text < std::string("c"));
}

TEST(arena_json, lies_in_the_arena_of_the_scope) {
    acre::arena request;
    const acre::use_arena use{request};
    const auto document = acre::arena_json::parse(order);
    EXPECT_TRUE(request.owns(&document["items"][1]["id"]));
    EXPECT_TRUE(request.owns(document["customer"].get_ref<const acre::arena_json::string_t&>().data()));
}

TEST(arena_json, a_parsed_document_needs_no_destructor) {
    acre_test::checking_upstream below;
    acre::arena request{below};
    for (int round = 0; round < 3; ++round) {
        const acre::arena_json& document = acre::parse_json(request, order);
        EXPECT_TRUE(request.owns(&document));
        EXPECT_EQ(document["items"][0]["price"], 2.5);
        request.reset();
    }
}

TEST(arena_json, is_read_outside_of_scopes) {
    acre::arena request;
    const acre::arena_json& document = acre::parse_json(request, order);
    const std::string name = "a name that is longer than a short string";
    const acre::arena_json& customer = document["customer"];
    EXPECT_TRUE(customer == "a name that is longer than a short string" && customer == name.c_str());
    EXPECT_TRUE(name == customer && customer == std::string_view(name));
    EXPECT_TRUE(customer != "another name that is longer" && "another" != customer && !(document["paid"] == "true"));
    EXPECT_TRUE(customer.get_ref<const acre::arena_json::string_t&>() == name && customer.get<std::string>() == name);
    EXPECT_TRUE(customer == customer.get_ref<const acre::arena_json::string_t&>());
    EXPECT_TRUE(document["paid"] == true && document["items"][0]["price"] == 2.5 && document["note"] == nullptr);
    EXPECT_EQ(document.find("customer"), document.begin());
    EXPECT_TRUE(document.contains("items") && document.at("items").size() == 2);
    int ids = 0;
    for (const auto& item : document["items"]) ids += item["id"].get<int>();
    for (const auto& member : document.items()) ids += member.key().size() > 8;
    EXPECT_EQ(ids, 3);
}

TEST(arena_json, is_destroyed_in_another_scope_and_thread) {
    acre::arena first;
    acre::arena second;
    acre::arena_json document;
    {
        const acre::use_arena use{first};
        document = acre::arena_json::parse(order);
    }
    {
        const acre::use_arena use{second};
        const auto other = acre::arena_json::parse(order);
        document["items"].push_back(7);  // this array moves to `second`
        document.erase("customer");
        EXPECT_TRUE(second.owns(&document["items"][2]));
    }
    std::thread{[moved = std::move(document)]() mutable { moved = nullptr; }}.join();
}

#if NLOHMANN_JSON_VERSION_MAJOR == 3 && NLOHMANN_JSON_VERSION_MINOR >= 10
TEST(arena_json, is_destroyed_after_a_reset_of_its_arena) {
    acre::arena request;
    const acre::use_arena use{request};
    auto list = acre::arena_json::parse("[[1, 2], {}]");
    auto document = acre::arena_json::parse(order);
    const std::size_t used = request.used();
    request.reset();
    void* reused = request.allocate(used);
    std::memset(reused, 0xff, used);
    document = acre::arena_json::parse("[3]");  // destroys what the arena no longer holds
    EXPECT_EQ(document[0], 3);
    list = nullptr;
}
#endif

TEST(arena_json_death, outside_of_a_scope_is_refused) {
    acre::arena request;
    const acre::arena_json& document = acre::parse_json(request, order);
    EXPECT_DEATH((void)document.dump(), "allocated outside of a scope");
    EXPECT_DEATH(const auto refused = acre::arena_json::parse(order), "allocated outside of a scope");
}

TEST(pooled_json, moves_between_threads) {
    const std::size_t before = acre::program_pools::get().live();
    auto document = acre::pooled_json::parse(order);
    EXPECT_GT(acre::program_pools::get().live(), before);
    std::thread{[moved = std::move(document)]() mutable { moved = nullptr; }}.join();
    EXPECT_EQ(acre::program_pools::get().live(), before);
}

TEST(json_without_memory, each_failed_call_is_an_exception_and_nothing_leaks) {
    std::size_t failed = 0;
    for (std::size_t call = 1;; ++call) {
        acre_test::checking_upstream below;  // reports what leaks
        const acre::use_resource use{below};
        below.fail_at(call);
        try {
            auto document = acre::json_in<acre::ambient>::parse(order);
            document["more"] = document["items"];
            if (below.failures() == 0) break;
        } catch (const acre::allocation_error&) {
            ++failed;
        }
    }
    EXPECT_GT(failed, 20u);
}

TEST(json_without_memory, an_arena_at_its_limit_throws) {
    acre::arena small{{.fixed_bytes = 512}};
    // Longer than an arena with redzones, which is larger.
    const std::string text = '"' + std::string(10'000, 'x') + '"';
    EXPECT_THROW(acre::parse_json(small, text), acre::allocation_error);
    small.reset();
    EXPECT_EQ(acre::parse_json(small, "[1, 2]")[1], 2);
}

}  // namespace
