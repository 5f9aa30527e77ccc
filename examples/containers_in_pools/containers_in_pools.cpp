// The standard's containers over each pool that can serve them: an order book of a std::list, a std::map and a
// std::unordered_map, once for each source of memory.
//
// It shows how each pool gets under a container, by acre::allocator where the container's type may name it and as a
// std::pmr::memory_resource where not, what each says is live, and that all comes back: nodes when they are erased, the
// array of buckets, which an unordered_map keeps when it is cleared, at the container's end.
// Copy it where containers are to have their nodes from a pool: multi_pool where sizes are not known, pool where they
// are, chunk_pool where the number is known, too, the concurrent, synchronized and static ones where threads share
// them.
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

/// What is for sale: in the order in which it came, where to find each number there, and how much there is at each
/// price.
template <class Allocator>
class order_book {
public:
    explicit order_book(const Allocator& from) : orders_(from), volumes_(from), places_(from) {}

    void add(const order& added) {
        places_[added.number] = orders_.insert(orders_.end(), added);
        volumes_[added.price] += added.volume;
    }

    void cancel(int number) {
        const auto place = places_.find(number);
        const order& gone = *place->second;
        const auto level = volumes_.find(gone.price);
        level->second -= gone.volume;
        if (level->second == 0) volumes_.erase(level);
        orders_.erase(place->second);
        places_.erase(place);
    }

    void clear() {
        orders_.clear();
        volumes_.clear();
        places_.clear();
    }

    std::size_t orders() const { return orders_.size(); }
    std::size_t prices() const { return volumes_.size(); }
    std::size_t places() const { return places_.size(); }

private:
    // A container allocates nodes, not elements: its allocator is made from one of any type over the same source.
    template <class T>
    using allocator_of = typename std::allocator_traits<Allocator>::template rebind_alloc<T>;
    using order_list = std::list<order, allocator_of<order>>;
    using order_place = typename order_list::iterator;

    order_list orders_;
    std::map<int, long, std::less<>, allocator_of<std::pair<const int, long>>> volumes_;
    std::unordered_map<int, order_place, std::hash<int>, std::equal_to<>,
                       allocator_of<std::pair<const int, order_place>>>
        places_;
};

// 4,000 orders at 100 prices, of which every third is cancelled, and all at two of the prices.
template <class Allocator>
void trade(order_book<Allocator>& book) {
    for (int i = 0; i < 4000; ++i) book.add({.number = i, .price = i % 100, .volume = 1 + i % 7});
    for (int i = 0; i < 4000; ++i) {
        if (i % 3 == 0 || i % 100 < 2) book.cancel(i);
    }
}

// What all pools have their memory from but the static one, to see that they give it back.
using counted_heap = acre::statistics<acre::heap>;

// One line of the table: what the source says is live, by `live()`. Returns what is live at the end of the book.
template <class Allocator, class Live>
std::size_t trade_in(const char* source, const Allocator& from, Live live) {
    {
        order_book<Allocator> book{from};
        trade(book);
        std::printf("%-30s %6zu %6zu %6zu %5zu", source, book.orders(), book.prices(), book.places(), live());
        book.clear();
        std::printf(" %7zu", live());
    }
    const std::size_t left = live();
    std::printf(" %4zu\n", left);
    return left;
}

// By acre::allocator: the containers' types name the source.
template <class Source>
std::size_t trade_in(const char* name, Source& source) {
    return trade_in(name, acre::allocator<order, Source>{source}, [&] { return source.live(); });
}

// No node is larger than the map's 48 bytes: acre::statistics with a histogram tells which sizes containers ask for.
// The buckets are larger; these pools have them from upstream.
std::size_t trade_in_slots_of_one_size(counted_heap& below) {
    std::size_t left = 0;
    {
        acre::pool<48> slots{below};
        left += trade_in("pool<48>", slots);
    }
    {
        acre::concurrent_pool<48> slots{below};  // also for containers in several threads
        left += trade_in("concurrent_pool<48>", slots);
    }
    acre::static_pool<48> slots;  // for several threads, too; all such objects are the same pool, which nobody ends
    left += trade_in("static_pool<48>", slots);
    slots.release_unused();
    return left;
}

// Each node in slots of its size. The buckets are upstream's here as well, but counted.
std::size_t trade_in_slots_of_many_sizes(counted_heap& below) {
    std::size_t left = 0;
    {
        acre::multi_pool nodes{below};
        left += trade_in("multi_pool", nodes);
    }
    {
        acre::synchronized<acre::multi_pool> nodes{below};  // for containers in several threads
        left += trade_in("synchronized<multi_pool>", nodes);
    }
    {
        // For no more than 4,000 orders; more of them, and what no slot has room for, are upstream's.
        acre::chunk_pool<4000, 24, 32, 48> nodes{{.when_full = acre::exhaustion::fall_back}, below};
        left += trade_in("chunk_pool<4000, 24, 32, 48>", nodes);
    }
    return left;
}

// By a std::pmr::memory_resource: the containers are those of std::pmr, whatever the source.
std::size_t trade_in_memory_resources(counted_heap& below) {
    using allocator = std::pmr::polymorphic_allocator<order>;
    std::size_t left = 0;
    {
        acre::pmr<acre::multi_pool> nodes{below};
        left += trade_in("pmr<multi_pool>", allocator{&nodes}, [&] { return nodes->live(); });
    }
    {
        acre::pmr below_as_standard{below};
        acre::unsynchronized_pool_resource nodes{&below_as_standard};  // in place of std::pmr's; its pool counts nodes
        left += trade_in("unsynchronized_pool_resource", allocator{&nodes}, [&] { return nodes.pool().live(); });
    }
    return left;
}

}  // namespace

int main() {
    std::printf("%-30s %6s %6s %6s %5s %7s %4s\n", "", "orders", "prices", "places", "live", "cleared", "left");
    counted_heap below;
    std::size_t left = trade_in_slots_of_one_size(below);
    left += trade_in_slots_of_many_sizes(below);
    left += trade_in_memory_resources(below);
    const bool all_back = left == 0 && below.counts().allocations.value == 0;
    std::printf("everything came back: %s\n", all_back ? "yes" : "no");
    return 0;
}
