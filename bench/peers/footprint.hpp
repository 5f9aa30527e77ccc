// P5: the bytes that a pool takes from upstream to keep 10,000 objects live, per live byte.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <string>
#include <vector>

#include "../harness.hpp"

namespace bench {

inline constexpr std::size_t footprint_objects = 10'000;

/// Bytes taken from upstream: now, at the peak, and the number of upstream calls.
struct upstream_counts {
    std::size_t bytes = 0;
    std::size_t peak = 0;
    std::size_t calls = 0;

    void take(std::size_t amount) noexcept {
        bytes += amount;
        peak = bytes > peak ? bytes : peak;
        ++calls;
    }
    void give_back(std::size_t amount) noexcept { bytes -= amount; }
};

/// An upstream for everything that takes a std::pmr::memory_resource.
class counting_resource final : public std::pmr::memory_resource {
public:
    [[nodiscard]] const upstream_counts& counts() const noexcept { return counts_; }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        counts_.take(bytes);
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
        counts_.give_back(bytes);
        std::pmr::new_delete_resource()->deallocate(p, bytes, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

    upstream_counts counts_;
};

inline std::vector<std::size_t> equal_sizes(std::size_t bytes) {
    return std::vector<std::size_t>(footprint_objects, bytes);
}

inline std::vector<std::size_t> mixed_sizes() {
    std::vector<std::size_t> sizes(footprint_objects);
    random_numbers random{99};
    for (std::size_t& bytes : sizes) bytes = 8 + random.below(505);
    return sizes;
}

/// A `Store` has `allocate(bytes)`, `deallocate(p, bytes)` and `counts()`.
template <class Store>
footprint fill(Store& store, const std::vector<std::size_t>& sizes) {
    std::vector<void*> live;
    live.reserve(sizes.size());
    footprint result{0, 0, 0};
    for (const std::size_t bytes : sizes) {
        live.push_back(store.allocate(bytes));
        touch(live.back());
        result.live_bytes += bytes;
    }
    result.upstream_bytes = store.counts().peak;
    result.upstream_calls = store.counts().calls;
    for (std::size_t i = 0; i < sizes.size(); ++i) store.deallocate(live[i], sizes[i]);
    return result;
}

/// `Store` is constructed with the size of its objects.
template <class Store>
void add_equal_footprint(suite& entries, const std::string& name, std::size_t bytes) {
    const std::string size = std::to_string(bytes) + " B";
    entries.add_footprint("P5 " + size, "10,000 x " + size, name, [bytes] {
        Store store{bytes};
        return fill(store, equal_sizes(bytes));
    });
}

template <class Store>
void add_equal_footprints(suite& entries, const std::string& name) {
    add_equal_footprint<Store>(entries, name, 64);
    add_equal_footprint<Store>(entries, name, 72);
}

template <class Store>
void add_mixed_footprint(suite& entries, const std::string& name) {
    entries.add_footprint("P5 8..512 B", "10,000 x 8..512 B, random", name, [] {
        Store store{std::size_t{512}};
        return fill(store, mixed_sizes());
    });
}

template <class Store>
void add_footprints(suite& entries, const std::string& name) {
    add_equal_footprints<Store>(entries, name);
    add_mixed_footprint<Store>(entries, name);
}

}  // namespace bench
