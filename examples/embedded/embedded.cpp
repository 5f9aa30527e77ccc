// A profile without heap, exceptions and RTTI: all memory is static and its size is known when the program is linked.
//
// It shows a pool over an inline_buffer, an inline_multi_arena, and an inline_arena that never grows (no_memory). A
// refused request returns a null pointer or an empty span, and the resource stays usable. Copy it for microcontrollers,
// for code before main or after the heap is gone, and where heap allocation is forbidden. A test checks that the object
// file calls no heap function: see no_heap.sh.
#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/core/literals.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/memory/no_memory.hpp>
#include <acre/pools/object_pool.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <span>
#include <string_view>

namespace {

using namespace acre::literals;

struct sensor {
    int number;
    std::array<int, 4> readings;
};

// All memory of the program.
using sensor_pool = acre::object_pool<sensor>;
constexpr std::size_t sensors_wanted = 20;
acre::inline_buffer<sensor_pool::required_buffer_bytes(sensors_wanted), sensor_pool::geometry.slab_bytes>
    sensor_storage;
sensor_pool sensors{sensor_storage};
constinit acre::inline_multi_arena<4, 128> messages;        // messages of up to 128 bytes, freed in any order
acre::inline_arena<1_KiB> cycle_memory{acre::no_memory{}};  // temporaries of one cycle, reset at its end

const char* answer(bool yes) {
    return yes ? "yes" : "no";
}

void fill_the_pool() {
    std::size_t made = 0;
    sensor* last = nullptr;
    while (sensor* each = sensors.create(static_cast<int>(made), std::array{1, 2, 3, 4})) {
        last = each;
        ++made;
    }
    std::printf("sensors: room for all that were wanted: %s, then null\n", answer(made >= sensors_wanted));
    sensors.destroy(last);
    std::printf("sensors: one destroyed, one created: %s\n", answer(sensors.create(0, std::array{5, 6, 7, 8}) == last));
}

// Messages end in another order than they began. An arena is reused when nothing in it is live.
void send_messages() {
    std::array<void*, 5> sent{};
    for (void*& each : sent) each = messages.allocate(100);
    std::printf("messages: %td sent, then null: %s\n", std::ranges::find(sent, nullptr) - sent.begin(),
                answer(sent.back() == nullptr));
    messages.deallocate(sent[2], 100);
    std::printf("messages: one freed, one sent: %s\n", answer(messages.allocate(100) == sent[2]));
    std::printf("messages: larger than an arena is null: %s\n", answer(messages.allocate(129) == nullptr));
    for (void* each : sent) messages.deallocate(each, 100);
    std::printf("messages: %zu arenas busy at the end\n", messages.busy_arenas());
}

void run_cycles() {
    for (int cycle = 1; cycle <= 3; ++cycle) {
        const std::span<int> samples = cycle_memory.allocate<int>(static_cast<std::size_t>(cycle) * 50);
        std::iota(samples.begin(), samples.end(), 1);
        const int sum = std::accumulate(samples.begin(), samples.end(), 0);
        const std::string_view line = cycle_memory.format("cycle %d: %zu samples, sum %d", cycle, samples.size(), sum);
        std::puts(line.data());
        const std::span<int> too_many = cycle_memory.allocate<int>(1000);
        if (too_many.data() != nullptr || !too_many.empty()) std::puts("cycle: a refusal was expected");
        cycle_memory.reset();
    }
}

}  // namespace

int main() {
    static char output[256];
    std::setvbuf(stdout, output, _IOFBF, sizeof output);  // without a buffer the C library allocates one from the heap
    fill_the_pool();
    send_messages();
    run_cycles();
    std::fflush(stdout);
    return 0;
}
