// Parses and destroys a document.
#include <rapidjson/document.h>
#include <acre/acre.hpp>
#include <acre/adapt/hooks/rapidjson.hpp>
#include <acre/adapt/program_pools.hpp>

#include "json_text.hpp"
#include "measure.hpp"

namespace {

template <class Memory>
using document_in = rapidjson::GenericDocument<rapidjson::UTF8<>, Memory>;

}  // namespace

int main(int, char** arguments) {
    const std::string_view memory = arguments[1];
    const std::string text = acre_bench::json_text();
    if (memory == "default") return acre_bench::measure([&] { rapidjson::Document{}.Parse(text.data(), text.size()); });
    if (memory == "default_malloc") {
        return acre_bench::measure([&] { document_in<rapidjson::CrtAllocator>{}.Parse(text.data(), text.size()); });
    }
    if (memory == "arena") {
        acre::arena request;
        acre::rapidjson_allocator<acre::arena> below{request};
        return acre_bench::measure([&] {
            document_in<acre::rapidjson_allocator<acre::arena>>{&below}.Parse(text.data(), text.size());
            request.reset();
        });
    }
    if (memory == "program_pools") {
        using pools = acre::rapidjson_allocator<acre::program_pools>;
        return acre_bench::measure([&] { document_in<pools>{}.Parse(text.data(), text.size()); });
    }
    acre_bench::unknown(memory);
}
