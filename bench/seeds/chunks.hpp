// W2: 300,000 objects of three sizes, each stored with the function that destroys it and frees its storage. Then all
// are destroyed in the order of their creation. Two passes, in a fresh process each time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "../harness.hpp"

namespace bench {

/// Of each size.
inline constexpr std::size_t chunk_count = 100'000;

template <std::size_t Bytes>
struct zeroed {
    std::byte bytes[Bytes] = {};
};

/// An object and the function that destroys and frees it.
template <class Home>
struct finalised {
    void* object;
    void (*finalise)(Home& home, void* object);
};

template <class T, class Home>
void make_chunk(Home& home, finalised<Home>& slot) {
    T* object = home.template create<T>();
    escape(object);
    slot = {object, [](Home& its, void* ended) { its.destroy(static_cast<T*>(ended)); }};
}

template <class Home>
double make_and_finalise(Home& home, std::vector<finalised<Home>>& slots) {
    const double start = cpu_seconds();
    for (std::size_t i = 0; i < chunk_count; ++i) {
        make_chunk<zeroed<30>>(home, slots[3 * i]);
        make_chunk<zeroed<60>>(home, slots[3 * i + 1]);
        make_chunk<zeroed<100>>(home, slots[3 * i + 2]);
    }
    for (const finalised<Home>& each : slots) each.finalise(home, each.object);
    return cpu_seconds() - start;
}

template <class Home>
std::vector<double> run_chunks(bool on_fragmented_heap) {
    std::optional<fragmented_heap> heap;
    if (on_fragmented_heap) heap.emplace();
    Home home;
    std::vector<finalised<Home>> slots(3 * chunk_count);
    const double first = make_and_finalise(home, slots);
    return {first, make_and_finalise(home, slots)};
}

/// A `Home` has `create<T>()` and `destroy(T*)`; it is constructed before the clock starts.
template <class Home>
void add_chunks(suite& entries, const std::string& name) {
    for (const bool on_fragmented_heap : {false, true}) {
        const std::string heap = on_fragmented_heap ? fragmented : std::string{};
        entries.add_isolated({"100,000 objects of 30, 60 and 100 B each, made and finalised" + heap,
                              {"W2 first pass" + heap, "W2 second pass" + heap},
                              3 * chunk_count,
                              {}},
                             name, [on_fragmented_heap] { return run_chunks<Home>(on_fragmented_heap); });
    }
}

}  // namespace bench
