#include <rapidjson/document.h>
#include <acre/acre.hpp>
#include <acre/adapt/hooks/rapidjson.hpp>
#include <cstdio>

int main() {
    using document = rapidjson::GenericDocument<rapidjson::UTF8<>, acre::rapidjson_allocator<acre::arena>>;
    acre::arena request;  // kept, and reset after each document
    acre::rapidjson_allocator<acre::arena> memory{request};
    for (const char* text : {R"({"items": [1, 2, 3]})", R"({"items": []})"}) {
        {
            document order{&memory};
            order.Parse(text);
            order.AddMember("seen", true, memory);
            std::printf("%u items\n", order["items"].Size());
        }
        request.reset();
    }
}
