// The arenas of one acre that free singly, and what is built on them, for `compare_pools.py --costs arena_costs.cpp`,
// which compiles it once for each tree, each time with other names for the namespaces acre and bench_tree. Frames are
// the workload of W3: 64 live blocks, each replaced at random by one of up to 4 KiB, without the writing.
#include <acre/arenas/arena.hpp>
#include <acre/arenas/arena_vector.hpp>
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/combine/recycling.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/pools/pool.hpp>
#include <array>
#include <memory>

#include "../harness.hpp"
#include "pool_costs.hpp"

namespace bench_tree {

using namespace bench;

constexpr std::size_t bytes = 64;
constexpr std::size_t count = 1000;

template <class Owner>
void pairs(Owner& tested) {
    for (std::size_t i = 0; i < count; ++i) {
        void* p = tested.allocate(bytes);
        touch(p);
        tested.deallocate(p, bytes);
    }
}

template <class Owner>
void newest_first(Owner& tested) {
    static std::array<void*, count> live;
    for (void*& each : live) {
        each = tested.allocate(bytes);
        touch(each);
    }
    for (std::size_t i = count; i > 0; --i) tested.deallocate(live[i - 1], bytes);
}

template <class Owner>
void oldest_first(Owner& tested) {
    static std::array<void*, count> live;
    for (void*& each : live) {
        each = tested.allocate(bytes);
        touch(each);
    }
    for (void* each : live) tested.deallocate(each, bytes);
}

template <class Owner>
void frames(Owner& tested) {
    struct frame {
        void* p;
        std::size_t size;
    };
    std::array<frame, 64> live{};
    random_numbers random{7};
    for (std::size_t i = 0; i < count; ++i) {
        frame& each = live[random.below(live.size())];
        if (each.p != nullptr) tested.deallocate(each.p, each.size);
        each.size = 4 * (1 + random.below(1023));
        each.p = tested.allocate(each.size);
        touch(each.p);
    }
    for (const frame& each : live) {
        if (each.p != nullptr) tested.deallocate(each.p, each.size);
    }
}

template <class Owner, class Make>
void add(pool_costs& all, const std::string& name, Make make) {
    const auto one = [&](const std::string& workload, void (*round)(Owner&)) {
        all.push_back({workload, name, count, false, [=] {
                           const std::shared_ptr<Owner> owner = make();
                           return [=] { round(*owner); };
                       }});
    };
    one("pairs of 64 B", &pairs<Owner>);
    one("1,000 of 64 B, newest first", &newest_first<Owner>);
    one("1,000 of 64 B, oldest first", &oldest_first<Owner>);
    one("frames", &frames<Owner>);
}

template <class Owner>
void add_pairs(pool_costs& all, const std::string& name) {
    all.push_back({"pairs of 64 B", name, count, false, [] {
                       const auto owner = std::make_shared<Owner>();
                       return [=] {
                           for (std::size_t i = 0; i < count; ++i) {
                               void* p = owner->allocate();
                               touch(p);
                               owner->deallocate(p);
                           }
                       };
                   }});
}

pool_costs all_costs() {
    pool_costs all;
    add<acre::multi_arena>(all, "multi_arena", [] {
        return std::make_shared<acre::multi_arena>(acre::multi_arena_options{.arenas = 64, .bytes = 4096});
    });
    using inline_arenas = acre::inline_multi_arena<64, 4096>;
    add<inline_arenas>(all, "inline_multi_arena", [] { return std::make_shared<inline_arenas>(); });
    add<acre::concurrent_multi_arena>(all, "concurrent_multi_arena", [] {
        return std::make_shared<acre::concurrent_multi_arena>(
            acre::concurrent_multi_arena_options{.arenas = 64, .bytes = 4096});
    });
    using recycled = acre::recycling<acre::arena>;
    add<recycled>(all, "recycling<arena>", [] { return std::make_shared<recycled>(); });
    add_pairs<acre::synchronized<acre::pool<bytes>>>(all, "synchronized<pool<64>>");
    add_pairs<acre::synchronized<acre::pool<bytes>, acre::spin_lock>>(all, "synchronized<pool<64>, spin_lock>");
    all.push_back({"push_back of int", "arena_vector", count, false, [] {
                       const auto level = std::make_shared<acre::arena>();
                       return [=] {
                           acre::arena_vector<int> values{*level};
                           for (int i = 0; i < static_cast<int>(count); ++i) values.push_back(i);
                           escape(values.data());
                       };
                   }});
    all.push_back({"allocate, then reset", "arena", count, false, [] {
                       const auto level = std::make_shared<acre::arena>();
                       return [=] {
                           for (std::size_t i = 0; i < count; ++i) touch(level->allocate(*hide(&bytes)));
                           level->reset();
                       };
                   }});
    return all;
}

}  // namespace bench_tree
