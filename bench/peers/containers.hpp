// P4: 1,000 values of 24 bytes are inserted into a list, a map and an unordered_map, then erased in shuffled order.
// Each round makes and destroys the container; its memory source lives on.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../harness.hpp"

namespace bench {

struct value24 {
    std::uint64_t words[3];
};

inline constexpr std::size_t container_size = 1000;

/// A `Source` has `get()`, which returns an allocator of any value type.
template <class Source, class T>
using allocator_of = typename std::allocator_traits<decltype(std::declval<Source&>().get())>::template rebind_alloc<T>;

/// Single nodes from `Inner`, arrays from new: for peers that are fast for nodes and slow for arrays.
template <class Inner>
struct arrays_by_new {
    using value_type = typename std::allocator_traits<Inner>::value_type;
    template <class U>
    struct rebind {
        using other = arrays_by_new<typename std::allocator_traits<Inner>::template rebind_alloc<U>>;
    };

    explicit arrays_by_new(const Inner& nodes) : inner{nodes} {}
    template <class Other>
    explicit(false) arrays_by_new(const arrays_by_new<Other>& other) : inner{other.inner} {}

    value_type* allocate(std::size_t n) {
        return n == 1 ? inner.allocate(1) : static_cast<value_type*>(::operator new(n * sizeof(value_type)));
    }
    void deallocate(value_type* p, std::size_t n) {
        if (n == 1) {
            inner.deallocate(p, 1);
        } else {
            ::operator delete(p);
        }
    }
    bool operator==(const arrays_by_new&) const noexcept = default;

    Inner inner;
};

/// A source whose arrays come from new.
template <class Source>
struct nodes_only {
    auto get() { return arrays_by_new<decltype(source.get())>{source.get()}; }
    Source source;
};

template <class Source>
class list_work {
public:
    using list = std::list<value24, allocator_of<Source, value24>>;

    void operator()() {
        list values(typename list::allocator_type(source_.get()));
        for (auto& node : nodes_) node = values.insert(values.end(), value24{{1, 2, 3}});
        for (const std::uint32_t index : order_) values.erase(nodes_[index]);
        escape(&values);
    }

private:
    Source source_;
    std::vector<typename list::iterator> nodes_{container_size};
    std::vector<std::uint32_t> order_ = shuffled(container_size, 11);
};

template <class Source, class Map>
class map_work {
public:
    map_work() {
        random_numbers random{12345};
        for (std::uint64_t& key : keys_) key = random();
    }

    void operator()() {
        Map values(typename Map::allocator_type(source_.get()));
        for (const std::uint64_t key : keys_) values.emplace(key, value24{{1, 2, 3}});
        for (const std::uint32_t index : order_) values.erase(keys_[index]);
        escape(&values);
    }

private:
    Source source_;
    std::vector<std::uint64_t> keys_ = std::vector<std::uint64_t>(container_size);
    std::vector<std::uint32_t> order_ = shuffled(container_size, 11);
};

template <class Source>
using map_entry_allocator = allocator_of<Source, std::pair<const std::uint64_t, value24>>;

template <class Source>
using tree = std::map<std::uint64_t, value24, std::less<>, map_entry_allocator<Source>>;

template <class Source>
using hash_table =
    std::unordered_map<std::uint64_t, value24, std::hash<std::uint64_t>, std::equal_to<>, map_entry_allocator<Source>>;

template <class Source>
void add_list(suite& entries, const std::string& name) {
    entries.add({.id = "P4 list",
                 .title = "std::list of 24 B, 1,000 inserted and erased in shuffled order",
                 .operations = container_size,
                 .in_fresh_processes = true},
                name, [] { return make_round<list_work<Source>>(); });
}

template <class Source>
void add_map(suite& entries, const std::string& name) {
    entries.add({.id = "P4 map",
                 .title = "std::map to 24 B, random keys",
                 .operations = container_size,
                 .in_fresh_processes = true},
                name, [] { return make_round<map_work<Source, tree<Source>>>(); });
}

template <class Source>
void add_unordered_map(suite& entries, const std::string& name) {
    entries.add({.id = "P4 unordered_map",
                 .title = "std::unordered_map to 24 B, bucket arrays included",
                 .operations = container_size,
                 .in_fresh_processes = true},
                name, [] { return make_round<map_work<Source, hash_table<Source>>>(); });
}

template <class Source>
void add_containers(suite& entries, const std::string& name) {
    add_list<Source>(entries, name);
    add_map<Source>(entries, name);
    add_unordered_map<Source>(entries, name);
}

}  // namespace bench
