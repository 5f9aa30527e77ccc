#include <libxml/parser.h>
#include <libxml/tree.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/libxml2.hpp>
#include <cstdio>
#include <string_view>

int main() {
    acre::use_in_libxml2();  // before any other function of libxml2; what it keeps lies in the heap

    acre::arena request;
    constexpr std::string_view text = "<order><item n='1'/><item n='2'/></order>";
    for (int i = 0; i < 3; ++i) {
        {
            const acre::use_resource use{request};
            xmlDocPtr document =
                xmlReadMemory(text.data(), static_cast<int>(text.size()), "order.xml", nullptr, XML_PARSE_NONET);
            std::printf("%lu items\n", xmlChildElementCount(xmlDocGetRootElement(document)));
        }
        request.reset();  // frees the tree: no xmlFreeDoc
    }
    xmlCleanupParser();
}
