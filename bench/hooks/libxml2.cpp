// A document is read into a tree, which is destroyed. The argument names the memory.
#include <libxml/parser.h>
#include <libxml/tree.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/libxml2.hpp>

#include "measure.hpp"

namespace {

xmlDocPtr read(const std::string& text) {
    xmlDocPtr document = xmlReadMemory(text.data(), static_cast<int>(text.size()), "vk.xml", nullptr, 0);
    if (document == nullptr) std::exit(1);
    return document;
}

}  // namespace

int main(int, char** arguments) {
    const std::string_view memory = arguments[1];
    const std::string text = acre_bench::contents(acre_bench::document);
    if (memory != "default") acre::use_in_libxml2();
    xmlInitParser();
    if (memory == "default" || memory == "heap") return acre_bench::measure([&] { xmlFreeDoc(read(text)); });
    if (memory == "arena") {
        acre::arena request;
        const acre::use_resource use{request};
        return acre_bench::measure([&] {
            xmlFreeDoc(read(text));
            request.reset();
        });
    }
    if (memory == "arena_unfreed") {
        acre::arena request;
        const acre::use_resource use{request};
        return acre_bench::measure([&] {
            read(text);
            request.reset();
        });
    }
    if (memory == "multi_pool") {
        acre::multi_pool nodes;
        const acre::use_resource use{nodes};
        return acre_bench::measure([&] { xmlFreeDoc(read(text)); });
    }
    acre_bench::unknown(memory);
}
