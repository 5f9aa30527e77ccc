// Standard containers over each suitable pool: an order book made of a std::list, a std::map and a std::unordered_map,
// run once for each memory source.
//
// It shows how to put a pool under a container: through acre::allocator if the container's type may name the pool, else
// as a std::pmr::memory_resource. It prints what each pool reports as live. Nodes are freed when they are erased. An
// unordered_map keeps its array of buckets until its destructor runs. Copy it to give containers their nodes from a
// pool: multi_pool if the sizes are unknown, pool if they are known, chunk_pool if the number is known too; the
// concurrent, synchronized and static pools if threads share them.
#include <acre/adapt/allocator.hpp>
#include <acre/adapt/pmr.hpp>
#include <acre/adapt/pool_resource.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/memory/heap.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <unordered_map>
#include <utility>

namespace {

struct order {
    int number;
    int price;
    int volume;
};

/// An order book: the orders in arrival order, an index from order number to list node, and the volume at each price.
template <class Allocator>
class order_book {
public:
    explicit order_book(const Allocator& from) : orders_(from), volumes_(from), index_(from) {}

    void add(const order& added) {
        index_[added.number] = orders_.insert(orders_.end(), added);
        volumes_[added.price] += added.volume;
    }

    void cancel(int number) {
        const auto found = index_.find(number);
        const order& gone = *found->second;
        const auto level = volumes_.find(gone.price);
        level->second -= gone.volume;
        if (level->second == 0) volumes_.erase(level);
        orders_.erase(found->second);
        index_.erase(found);
    }

    void clear() {
        orders_.clear();
        volumes_.clear();
        index_.clear();
    }

    std::size_t orders() const { return orders_.size(); }
    std::size_t prices() const { return volumes_.size(); }
    std::size_t indexed() const { return index_.size(); }

private:
    // A container allocates nodes, not elements, so it rebinds its allocator to the node type.
    template <class T>
    using allocator_of = typename std::allocator_traits<Allocator>::template rebind_alloc<T>;
    using order_list = std::list<order, allocator_of<order>>;
    using order_node = typename order_list::iterator;

    order_list orders_;
    std::map<int, long, std::less<>, allocator_of<std::pair<const int, long>>> volumes_;
    std::unordered_map<int, order_node, std::hash<int>, std::equal_to<>, allocator_of<std::pair<const int, order_node>>>
        index_;
};

// Adds 4,000 orders at 100 prices. Cancels every third, and all orders at two of the prices.
template <class Allocator>
void trade(order_book<Allocator>& book) {
    for (int i = 0; i < 4000; ++i) book.add({.number = i, .price = i % 100, .volume = 1 + i % 7});
    for (int i = 0; i < 4000; ++i) {
        if (i % 3 == 0 || i % 100 < 2) book.cancel(i);
    }
}

// The upstream of all pools but the static one; it counts, to check that they free everything.
using counted_heap = acre::statistics<acre::heap>;

// Prints one line of the table; `live()` is the number of allocations the source reports as live. Returns the number
// live after the book is destroyed.
template <class Allocator, class Live>
std::size_t trade_in(const char* source, const Allocator& from, Live live) {
    {
        order_book<Allocator> book{from};
        trade(book);
        std::printf("%-30s %6zu %6zu %6zu %5zu", source, book.orders(), book.prices(), book.indexed(), live());
        book.clear();
        std::printf(" %7zu", live());
    }
    const std::size_t leaked = live();
    std::printf(" %6zu\n", leaked);
    return leaked;
}

// Through acre::allocator: the containers' types name the source.
template <class Source>
std::size_t trade_in(const char* name, Source& source) {
    return trade_in(name, acre::allocator<order, Source>{source}, [&] { return source.live(); });
}

// The largest node is the map's, with 48 bytes; acre::statistics with a histogram shows which sizes containers request.
// The arrays of buckets are larger, so these pools take them from upstream.
std::size_t trade_in_slots_of_one_size(counted_heap& below) {
    std::size_t leaked = 0;
    {
        acre::pool<48> slots{below};
        leaked += trade_in("pool<48>", slots);
    }
    {
        acre::concurrent_pool<48> slots{below};  // also for containers in several threads
        leaked += trade_in("concurrent_pool<48>", slots);
    }
    acre::static_pool<48> slots;  // threads may share it; all its objects are one pool, which is never destroyed
    leaked += trade_in("static_pool<48>", slots);
    slots.release_unused();
    return leaked;
}

// Each node gets a slot of its size. Here too the arrays of buckets come from upstream, but the pools count them.
std::size_t trade_in_slots_of_many_sizes(counted_heap& below) {
    std::size_t leaked = 0;
    {
        acre::multi_pool nodes{below};
        leaked += trade_in("multi_pool", nodes);
    }
    {
        acre::synchronized<acre::multi_pool> nodes{below};  // for containers in several threads
        leaked += trade_in("synchronized<multi_pool>", nodes);
    }
    {
        // Room for 4,000 orders; further orders, and requests larger than any slot, go to upstream.
        acre::chunk_pool<4000, 24, 32, 48> nodes{{.when_full = acre::exhaustion::fall_back}, below};
        leaked += trade_in("chunk_pool<4000, 24, 32, 48>", nodes);
    }
    return leaked;
}

// As a std::pmr::memory_resource: std::pmr containers, whose types do not name the source.
std::size_t trade_in_memory_resources(counted_heap& below) {
    using allocator = std::pmr::polymorphic_allocator<order>;
    std::size_t leaked = 0;
    {
        acre::pmr<acre::multi_pool> nodes{below};
        leaked += trade_in("pmr<multi_pool>", allocator{&nodes}, [&] { return nodes->live(); });
    }
    {
        acre::pmr below_as_standard{below};
        acre::unsynchronized_pool_resource nodes{&below_as_standard};  // replaces std::pmr's; its pool counts nodes
        leaked += trade_in("unsynchronized_pool_resource", allocator{&nodes}, [&] { return nodes.pool().live(); });
    }
    return leaked;
}

}  // namespace

int main() {
    std::printf("%-30s %6s %6s %6s %5s %7s %6s\n", "", "orders", "prices", "index", "live", "cleared", "leaked");
    counted_heap below;
    std::size_t leaked = trade_in_slots_of_one_size(below);
    leaked += trade_in_slots_of_many_sizes(below);
    leaked += trade_in_memory_resources(below);
    const bool all_back = leaked == 0 && below.counts().allocations.value == 0;
    std::printf("everything came back: %s\n", all_back ? "yes" : "no");
    return 0;
}
