// A document is parsed, with handlers that count, and the parser destroyed. The argument names the memory.
#include <acre/acre.hpp>
#include <acre/adapt/hooks/expat.hpp>

#include "measure.hpp"

namespace {

void parse(const std::string& text, const XML_Memory_Handling_Suite* memory) {
    XML_Parser parser = XML_ParserCreate_MM(nullptr, memory, nullptr);
    long elements = 0;
    XML_SetUserData(parser, &elements);
    XML_SetElementHandler(
        parser, [](void* count, const XML_Char*, const XML_Char**) { ++*static_cast<long*>(count); },
        [](void*, const XML_Char*) {});
    if (XML_Parse(parser, text.data(), static_cast<int>(text.size()), XML_TRUE) != XML_STATUS_OK) std::exit(1);
    XML_ParserFree(parser);
}

}  // namespace

int main(int, char** arguments) {
    // "large": the registry of Vulkan; "small": messages of 1 KiB each with its parser, as a server reads them.
    std::vector<std::string> texts{acre_bench::contents(acre_bench::document)};
    if (arguments[1] == std::string_view{"small"}) {
        std::string message = "<?xml version='1.0'?><message from='a' to='b' id='17'>";
        for (int i = 0; i < 12; ++i) {
            const std::string n = std::to_string(i);
            message +=
                "<field" + n + " type='string' name='name " + n + "'>the value of field " + n + "</field" + n + ">";
        }
        texts.assign(1000, message + "</message>");
    }
    const std::string_view memory = arguments[2];
    const XML_Memory_Handling_Suite suite = acre::expat_memory();
    if (memory == "default") {
        return acre_bench::measure([&] {
            for (const std::string& each : texts) parse(each, nullptr);
        });
    }
    if (memory == "arena") {
        acre::arena request;
        const acre::use_resource use{request};
        return acre_bench::measure([&] {
            for (const std::string& each : texts) {
                parse(each, &suite);
                request.reset();
            }
        });
    }
    if (memory == "multi_pool") {
        acre::multi_pool nodes;
        const acre::use_resource use{nodes};
        return acre_bench::measure([&] {
            for (const std::string& each : texts) parse(each, &suite);
        });
    }
    acre_bench::unknown(memory);
}
