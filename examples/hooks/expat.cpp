#include <acre/acre.hpp>
#include <acre/adapt/hooks/expat.hpp>
#include <cstdio>
#include <string_view>

int main() {
    const XML_Memory_Handling_Suite memory = acre::expat_memory();
    acre::arena request;  // kept, and reset after each document
    for (const std::string_view text : {"<order><item n='1'/><item n='2'/></order>", "<order/>"}) {
        {
            const acre::use_resource use{request};
            XML_Parser parser = XML_ParserCreate_MM(nullptr, &memory, nullptr);
            int elements = 0;
            XML_SetUserData(parser, &elements);
            XML_SetStartElementHandler(
                parser, [](void* count, const XML_Char*, const XML_Char**) { ++*static_cast<int*>(count); });
            XML_Parse(parser, text.data(), static_cast<int>(text.size()), XML_TRUE);
            XML_ParserFree(parser);
            std::printf("%d elements\n", elements);
        }
        request.reset();
    }
}
