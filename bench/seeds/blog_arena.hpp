// W6 (b): an unordered_map is filled from empty; its memory is freed at the end of the scope. W6 (a) is in
// limits/bump.hpp, (c) in vector_growth.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../harness.hpp"

namespace bench {

/// A `Source` has `scoped(f)`: it calls f with an allocator whose memory ends with the call.
template <class Source>
class filled_map {
public:
    explicit filled_map(std::size_t count) : keys_(count) {
        random_numbers random{777};
        for (int& key : keys_) key = static_cast<int>(random() & 0x7fffffff);
    }

    void operator()() {
        source_.scoped([this](auto allocator) { this->fill(allocator); });
    }

private:
    template <class Allocator>
    void fill(const Allocator& allocator) {
        using entry_allocator =
            typename std::allocator_traits<Allocator>::template rebind_alloc<std::pair<const int, long long>>;
        std::unordered_map<int, long long, std::hash<int>, std::equal_to<>, entry_allocator> map(
            (entry_allocator(allocator)));
        for (const int key : keys_) map.emplace(key, 1LL);
        escape(&map);
    }

    Source source_;
    std::vector<int> keys_;
};

template <class Source>
void add_filled_map(suite& entries, const std::string& name) {
    const auto add = [&](const std::string& id, std::size_t count) {
        entries.add({.id = id,
                     .title = "unordered_map<int, long long>, random keys inserted from empty",
                     .operations = count,
                     .in_fresh_processes = true},
                    name, [count] { return make_round<filled_map<Source>>(count); });
    };
    add("W6 b 100", 100);
    add("W6 b 1,000", 1000);
    add("W6 b 10,000", 10'000);
}

}  // namespace bench
