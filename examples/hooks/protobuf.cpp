#include <google/protobuf/struct.pb.h>
#include <acre/adapt/hooks/protobuf.hpp>
#include <acre/adapt/program_pools.hpp>
#include <cstdio>

int main() {
    for (int request = 1; request <= 3; ++request) {
        google::protobuf::Arena arena{acre::protobuf_options<acre::program_pools>()};
        auto* list = google::protobuf::Arena::CreateMessage<google::protobuf::ListValue>(&arena);
        for (int i = 0; i < request; ++i) list->add_values()->set_number_value(i);
        std::printf("%d values\n", list->values_size());
    }
}
