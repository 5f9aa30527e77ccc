#include <acre/acre.hpp>
#include <acre/adapt/hooks/nlohmann.hpp>
#include <cstdio>
#include <string>

int main() {
    acre::arena request;  // kept, and reset after each document
    for (const char* text :
         {R"({"customer": "Ugluk", "items": [1, 2, 3]})", R"({"customer": "Grishnakh", "items": []})"}) {
        const acre::arena_json& order = acre::parse_json(request, text);
        const std::string customer = order["customer"];
        std::printf("%s: %zu items\n", customer.c_str(), order["items"].size());
        request.reset();  // frees the document; its destructor need not run
    }

    const acre::use_arena use{request};
    acre::arena_json answer{{"ok", true}};  // made and changed in the scope
    answer["count"] = 2;
    std::printf("%s\n", answer.dump().c_str());

    acre::pooled_json kept = acre::pooled_json::parse("[1, 2]");  // any thread may change and destroy it
    kept.push_back(3);
    std::printf("%s\n", kept.dump().c_str());
}
