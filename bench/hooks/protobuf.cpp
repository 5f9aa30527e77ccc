// Requests, each with an arena of protobuf's: a message is filled, written and read again.
#include <google/protobuf/struct.pb.h>
#include <acre/acre.hpp>
#include <acre/adapt/hooks/protobuf.hpp>
#include <acre/adapt/program_pools.hpp>

#include "measure.hpp"

namespace {

using google::protobuf::Arena;

void serve(Arena& arena) {
    using google::protobuf::ListValue;
    auto* order = Arena::CreateMessage<ListValue>(&arena);
    for (int i = 0; i < 100; ++i) order->add_values()->mutable_list_value()->add_values()->set_number_value(i);
    const std::string text = order->SerializeAsString();
    Arena::CreateMessage<ListValue>(&arena)->ParseFromString(text);
}

int measure(const google::protobuf::ArenaOptions& options) {
    return acre_bench::measure([&] {
        for (int i = 0; i < 1000; ++i) {
            Arena arena{options};
            serve(arena);
        }
    });
}

}  // namespace

int main(int, char** arguments) {
    const std::string_view memory = arguments[1];
    if (memory == "default") return measure({});
    if (memory == "program_pools") return measure(acre::protobuf_options<acre::program_pools>());
    if (memory == "arena") {
        acre::arena below;
        const acre::use_resource use{below};
        return acre_bench::measure([&] {
            for (int i = 0; i < 1000; ++i) {
                {
                    Arena arena{acre::protobuf_options()};
                    serve(arena);
                }
                below.reset();
            }
        });
    }
    acre_bench::unknown(memory);
}
