#include <acre/acre.hpp>
#include <acre/adapt/hooks/boost_json.hpp>
#include <boost/json.hpp>
#include <cstdio>

int main() {
    acre::arena request;  // kept, and reset after each document
    acre::boost_pmr memory{request};
    for (const char* text : {R"({"items": [1, 2, 3]})", R"({"items": []})"}) {
        {
            const boost::json::value order = boost::json::parse(text, &memory);
            std::printf("%zu items\n", order.at("items").as_array().size());
        }
        request.reset();
    }
    // A value that owns its arena.
    const boost::json::value kept =
        boost::json::parse("[1, 2]", boost::json::make_shared_resource<acre::boost_pmr<acre::arena>>());
    std::printf("%zu numbers\n", kept.as_array().size());
}
