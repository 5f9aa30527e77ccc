// Parses and destroys a document.
#include <acre/acre.hpp>
#include <acre/adapt/ambient.hpp>
#include <acre/adapt/hooks/nlohmann.hpp>

#include "json_text.hpp"
#include "measure.hpp"

int main(int, char** arguments) {
    const std::string_view memory = arguments[1];
    const std::string text = acre_bench::json_text();
    acre::arena request;
    if (memory == "default") return acre_bench::measure([&] { const auto all = nlohmann::json::parse(text); });
    if (memory == "program_pools") return acre_bench::measure([&] { const auto all = acre::pooled_json::parse(text); });
    if (memory == "arena_undestroyed") {
        return acre_bench::measure([&] {
            acre::parse_json(request, text);
            request.reset();
        });
    }
    if (memory == "arena") {
        return acre_bench::measure([&] {
            {
                const acre::use_arena use{request};
                const auto all = acre::arena_json::parse(text);
            }
            request.reset();
        });
    }
    if (memory == "ambient_over_an_arena") {
        return acre_bench::measure([&] {
            {
                const acre::use_resource use{request};
                const auto all = acre::json_in<acre::ambient>::parse(text);
            }
            request.reset();
        });
    }
    if (memory == "ambient_over_a_multi_pool") {
        acre::multi_pool pool;
        const acre::use_resource use{pool};
        return acre_bench::measure([&] { const auto all = acre::json_in<acre::ambient>::parse(text); });
    }
    acre_bench::unknown(memory);
}
