// Parses and destroys a document.
#include <acre/acre.hpp>
#include <acre/adapt/hooks/boost_json.hpp>
#include <boost/json.hpp>

#include "json_text.hpp"
#include "measure.hpp"

int main(int, char** arguments) {
    const std::string_view memory = arguments[1];
    const std::string text = acre_bench::json_text();
    if (memory == "default") return acre_bench::measure([&] { const auto all = boost::json::parse(text); });
    if (memory == "default_monotonic") {
        return acre_bench::measure([&] {
            boost::json::monotonic_resource below;
            const auto all = boost::json::parse(text, &below);
        });
    }
    if (memory == "arena") {
        acre::arena request;
        acre::boost_pmr below{request};
        return acre_bench::measure([&] {
            {
                const auto all = boost::json::parse(text, &below);
            }
            request.reset();
        });
    }
    if (memory == "multi_pool") {
        acre::boost_pmr<acre::multi_pool> below;
        return acre_bench::measure([&] { const auto all = boost::json::parse(text, &below); });
    }
    acre_bench::unknown(memory);
}
