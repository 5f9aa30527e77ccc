// Promise 3 and 7 for every operation of every type: upstream refuses the 1st, 2nd, ... n-th request, and the k-th
// constructor throws, until the operation succeeds. Each failure leaks nothing and changes nothing, and afterwards the
// same operation succeeds. Hazards B9, P3.
#include <gtest/gtest.h>

#include "conformance/probe.hpp"

#if defined(__cpp_exceptions)

#include <acre/acre.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <new>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "conformance/checking_upstream.hpp"

namespace acre_test {
namespace {

constexpr acre::statistics_options everything{.live_map = true, .histogram = true, .scopes = true};

/// What a failed operation must leave as it was, as far as `tested` has it.
template <class T>
std::vector<std::uint64_t> state_of(const T& tested) {
    std::vector<std::uint64_t> state{probe::alive()};
    const auto note = [&](std::uint64_t figure) { state.push_back(figure); };
    if constexpr (requires { tested.used(); }) note(tested.used());
    if constexpr (requires { tested.live(); }) note(tested.live());
    if constexpr (requires { tested.live_bytes(); }) note(tested.live_bytes());
    if constexpr (requires { tested.counts(); }) {
        note(tested.counts().allocations.value);
        note(tested.counts().bytes.value);
    }
    if constexpr (requires { tested.live_allocations(); }) note(tested.live_allocations().size());
    if constexpr (requires { tested.size(); }) note(tested.size());
    // A resource may keep a block that it took before the failure; a container has what it had.
    if constexpr (requires { tested.capacity(); } && !acre::resource<T>) note(tested.capacity());
    if constexpr (requires { tested.begin(); }) {
        for (const auto& each : tested) {
            if constexpr (requires { each.value(); }) note(each.value());
        }
    }
    return state;
}

/// What may have changed when an operation failed.
enum class after_failure { nothing, anything };

/// Whether the operation succeeded.
template <class Operation>
bool succeeds(Operation operation) {
    try {
        operation();
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    } catch (const refused_object&) {
        return false;
    }
}

/// A tested object over an upstream, behind one interface: the loops over all failures are compiled once.
class trial {
public:
    virtual ~trial() = default;
    virtual void prepare() = 0;
    virtual void operate() = 0;
    virtual std::vector<std::uint64_t> state() const = 0;
};

template <class T>
using operation_on = std::function<void(T&)>;

template <class T>
class trial_of final : public trial {
public:
    trial_of(checking_upstream& below, const operation_on<T>& prepare, const operation_on<T>& operation)
        : prepare_(prepare), operation_(operation), tested_{below} {}
    void prepare() override { prepare_(tested_); }
    void operate() override { operation_(tested_); }
    std::vector<std::uint64_t> state() const override { return state_of(tested_); }

private:
    const operation_on<T>& prepare_;
    const operation_on<T>& operation_;
    T tested_;
};

using make_trial = std::function<std::unique_ptr<trial>(checking_upstream&)>;

/// How many failures are tried before the operation must have succeeded.
constexpr std::size_t max_failures = 1000;

/// A failure that is made due, and whether it came.
struct injection {
    std::function<void(checking_upstream&, std::size_t)> inject;
    bool (*came)(const checking_upstream&);
};

const injection injections[] = {
    {[](checking_upstream& below, std::size_t n) { below.fail_at(n); },
     [](const checking_upstream& below) { return below.failures() != 0; }},
    {[](checking_upstream& below, std::size_t n) { below.fail_from(n); },
     [](const checking_upstream& below) { return below.failures() != 0; }},
    {[](checking_upstream&, std::size_t n) { probe::throw_at(n); },
     [](const checking_upstream&) { return !probe::throws_later(); }},
};

/// Whether the n-th failure came. The checking upstream reports what leaks.
bool fails_and_goes_on(const make_trial& make, after_failure changed, const injection& how, std::size_t n) {
    checking_upstream below;
    bool failed = false;
    {
        const std::unique_ptr<trial> tried = make(below);
        tried->prepare();
        const auto before = tried->state();
        how.inject(below, n);
        const bool succeeded = succeeds([&] { tried->operate(); });
        failed = how.came(below);
        EXPECT_TRUE(succeeded || failed) << "failed of itself";
        if (!succeeded && changed == after_failure::nothing) {
            EXPECT_EQ(tried->state(), before);
        }
        below.recover();
        probe::throw_at(0);
        EXPECT_TRUE(succeeds([&] { tried->operate(); })) << "does not work afterwards";
    }
    EXPECT_EQ(probe::alive(), 0u) << "not destroyed";
    return failed;
}

void expect_each_failure_survived(const char* what, const make_trial& make, after_failure changed) {
    SCOPED_TRACE(what);
    for (const injection& how : injections) {
        std::size_t n = 1;
        while (n < max_failures && !testing::Test::HasFailure() && fails_and_goes_on(make, changed, how, n)) ++n;
        EXPECT_LT(n, max_failures) << "fails for ever";
    }
}

/// Expects that `operation` on a T survives each failure.
template <class T>
void expect_survives(
    const char* what, const operation_on<T>& operation, const operation_on<T>& prepare = [](T&) {},
    after_failure changed = after_failure::nothing) {
    const auto make = [&](checking_upstream& below) -> std::unique_ptr<trial> {
        return std::make_unique<trial_of<T>>(below, prepare, operation);
    };
    expect_each_failure_survived(what, make, changed);
}

/// As expect_survives, for making a Made over the checking upstream.
template <class Make>
void expect_made(const char* what, Make make) {
    expect_survives<acre::resource_ref>(what, [=](acre::resource_ref& upstream) { (void)make(upstream); });
}

/// All that an arena can be asked for, also by the wrappers around one.
template <class R>
void expect_arena_survives() {
    const auto some_objects = [](R& r) {
        r.template create<probe>(1u);
        (void)r.allocate(100, 8);
    };
    expect_survives<R>("allocate", [](R& r) { (void)r.allocate(3000, 64); }, some_objects);
    expect_survives<R>(
        "try_allocate",
        [](R& r) {
            if (r.try_allocate(3000, 64) == nullptr) throw std::bad_alloc{};
        },
        some_objects);
    expect_survives<R>("allocate<T>", [](R& r) { (void)r.template allocate<double>(500); }, some_objects);
    expect_survives<R>("create", [](R& r) { r.template create<probe>(7u); }, some_objects);
    expect_survives<R>("create_array", [](R& r) { (void)r.template create_array<probe>(60); }, some_objects);
    expect_survives<R>("copy", [](R& r) { (void)r.copy(std::string(2000, 'x')); }, some_objects);
    expect_survives<R>("format", [](R& r) { (void)r.format("%2000d", 7); }, some_objects);
    expect_survives<R>("make_unique", [](R& r) { (void)acre::make_unique<probe>(r, 7u); }, some_objects);
    expect_survives<R>("make_unique of an array", [](R& r) { (void)acre::make_unique<probe[]>(r, 20); }, some_objects);
    expect_survives<R>("make_shared", [](R& r) { (void)acre::make_shared<probe>(r, 7u); }, some_objects);
    if constexpr (requires(R& r) { r.rewind(r.mark()); }) {
        expect_survives<R>("mark and rewind", [](R& r) {
            const auto start = r.mark();
            struct undo {
                R& r;
                const decltype(start)& to;
                ~undo() { r.rewind(to); }
            } back{r, start};
            r.template create<probe>(1u);
            (void)r.allocate(5000, 8);
            (void)r.template create_array<probe>(3);
        });
    }
    expect_survives<R>(
        "reset",
        [](R& r) {
            r.reset(acre::release);
            (void)r.allocate(100, 8);
        },
        some_objects, after_failure::anything);
}

TEST(injected_failures, arenas) {
    expect_arena_survives<acre::arena>();
    expect_arena_survives<acre::inline_arena<200>>();
    expect_arena_survives<acre::statistics<acre::arena, everything>>();
    expect_arena_survives<acre::traced<acre::arena>>();
    expect_arena_survives<acre::synchronized<acre::arena>>();
    expect_arena_survives<acre::synchronized<acre::statistics<acre::arena, everything>>>();
}

/// acre::logged writes each request to standard error.
TEST(injected_failures, logged) {
    testing::internal::CaptureStderr();
    expect_survives<acre::logged<acre::arena>>("arena", [](auto& r) { r.template create<probe>(7u); });
    expect_survives<acre::logged<acre::object_pool<probe>>>("object_pool", [](auto& r) { r.create(7u); });
    expect_survives<acre::logged<acre::multi_pool>>("multi_pool", [](auto& r) { r.deallocate(r.allocate(24), 24); });
    EXPECT_NE(testing::internal::GetCapturedStderr().find("refused 24 bytes"), std::string::npos);
}

/// A scratch and a cursor, whose end takes back what was made within.
TEST(injected_failures, scratch_and_cursor) {
    expect_survives<acre::arena>("scratch", [](acre::arena& around) {
        acre::scratch outer{around};
        outer.create<probe>(1u);
        acre::scratch inner{around};
        (void)inner.create_array<probe>(3);
        (void)inner.allocate(5000, 8);
    });
    const auto build = [](acre::arena& around) {
        acre::cursor building{around};
        for (int i = 0; i < 50; ++i) (void)building.allocate<std::uint64_t>(40);
    };
    expect_survives<acre::arena>("cursor", build, [](acre::arena&) {}, after_failure::anything);
}

struct own_arena {
    acre::arena arena;
};

/// A container in an arena of its own.
template <class Container>
struct in_arena : own_arena, Container {
    explicit in_arena(checking_upstream& below) : own_arena{acre::arena{below}}, Container(arena) {}
};

TEST(injected_failures, arena_vector) {
    using vector = in_arena<acre::arena_vector<probe>>;
    const auto full = [](vector& v) {
        v.reserve(20);
        while (v.size() < v.capacity()) v.emplace_back(v.size());
    };
    // Something else was allocated, so the vector cannot grow in place.
    const auto full_and_blocked = [=](vector& v) {
        full(v);
        (void)v.arena.allocate(8, 8);
    };
    for (const auto& prepare : {std::function<void(vector&)>{full}, std::function<void(vector&)>{full_and_blocked}}) {
        expect_survives<vector>("emplace_back", [](vector& v) { v.emplace_back(7u); }, prepare);
        expect_survives<vector>("push_back", [](vector& v) { v.push_back(v.front()); }, prepare);
        expect_survives<vector>("reserve", [](vector& v) { v.reserve(v.size() + 1000); }, prepare);
        expect_survives<vector>("resize", [](vector& v) { v.resize(v.size() + 30); }, prepare, after_failure::anything);
        expect_survives<vector>(
            "resize to copies", [](vector& v) { v.resize(v.size() + 30, v.front()); }, prepare,
            after_failure::anything);
        expect_survives<vector>(
            "append", [](vector& v) { v.append(std::vector<probe>(30)); }, prepare, after_failure::anything);
        expect_survives<vector>(
            "append of its own", [](vector& v) { v.append(std::span<const probe>{v}); }, prepare,
            after_failure::anything);
        expect_survives<vector>("assign", [](vector& v) { v.assign(400, probe{1}); }, prepare, after_failure::anything);
        expect_survives<vector>(
            "insert", [](vector& v) { v.insert(v.begin() + 1, probe{9}); }, prepare, after_failure::anything);
        expect_survives<vector>("copy", [](vector& v) { const acre::arena_vector<probe> copy{v}; }, prepare);
        expect_survives<vector>(
            "copy assignment",
            [](vector& v) {
                const acre::arena_vector<probe> longer{std::vector<probe>(100), v.arena};
                static_cast<acre::arena_vector<probe>&>(v) = longer;
            },
            prepare, after_failure::anything);
        expect_survives<vector>(
            "try_reserve",
            [](vector& v) {
                if (!v.try_reserve(v.size() + 1000)) throw std::bad_alloc{};
            },
            prepare);
        expect_survives<vector>(
            "try_emplace_back",
            [](vector& v) {
                if (v.try_emplace_back(7u) == nullptr) throw std::bad_alloc{};
            },
            prepare);
    }
}

TEST(injected_failures, arena_string) {
    using text = in_arena<acre::arena_string>;
    const auto some = [](text& s) {
        s.append("some text that is there before");
        s.shrink_to_fit();
    };
    const std::string much(3000, 'x');
    const auto kept = [&](const char* what, auto operation) {
        expect_survives<text>(
            what,
            [&](text& s) {
                const std::string before{s.view()};
                try {
                    operation(s);
                } catch (...) {
                    EXPECT_EQ(s.view(), before) << what;
                    throw;
                }
            },
            some);
    };
    kept("append", [&](text& s) { s.append(much); });
    kept("append of characters", [&](text& s) { s.append(3000, 'x'); });
    kept("append of its own", [&](text& s) { s.append(s.view()); });
    kept("push_back", [&](text& s) { s.push_back('x'); });
    kept("assignment", [&](text& s) { static_cast<acre::arena_string&>(s) = much; });
    kept("reserve", [&](text& s) { s.reserve(s.size() + 3000); });
    kept("try_append", [&](text& s) {
        if (!s.try_append(much)) throw std::bad_alloc{};
    });
}

/// All that a pool of objects can be asked for.
template <class Pool>
void expect_object_pool_survives() {
    const auto some = [](Pool& pool) {
        pool.create(1u);
        (void)pool.try_create(2u);
    };
    expect_survives<Pool>("create", [](Pool& pool) { pool.create(7u); }, some);
    expect_survives<Pool>(
        "try_create",
        [](Pool& pool) {
            if (pool.try_create(7u) == nullptr) throw std::bad_alloc{};
        },
        some);
    const auto many = [](Pool& pool) {
        for (int i = 0; i < 2000; ++i) pool.create(7u);
    };
    expect_survives<Pool>("create in a new slab", [](Pool& pool) { (void)acre::make_unique<probe>(pool, 7u); }, many);
    expect_survives<Pool>("make_unique", [](Pool& pool) { (void)acre::make_unique<probe>(pool, 7u); }, some);
    expect_survives<Pool>(
        "release",
        [](Pool& pool) {
            pool.release();
            pool.create(7u);
        },
        some, after_failure::anything);
}

TEST(injected_failures, object_pools) {
    expect_object_pool_survives<acre::object_pool<probe>>();
    expect_object_pool_survives<acre::concurrent_object_pool<probe>>();
    expect_object_pool_survives<acre::statistics<acre::object_pool<probe>, everything>>();
    expect_object_pool_survives<acre::traced<acre::object_pool<probe>>>();
    expect_object_pool_survives<acre::synchronized<acre::object_pool<probe>>>();
}

/// What any resource can be asked for, and containers through its allocator.
template <class R>
void expect_resource_survives(std::size_t max_bytes = 3000) {
    const auto some = [](R& r) { (void)r.allocate(24, 8); };
    const auto freed = [](R& r, void* p, std::size_t bytes, std::size_t alignment) {
        if (p == nullptr) throw std::bad_alloc{};
        r.deallocate(p, bytes, alignment);
    };
    for (const std::size_t bytes : {std::size_t{24}, max_bytes}) {
        expect_survives<R>("allocate", [=](R& r) { freed(r, r.allocate(bytes, 8), bytes, 8); }, some);
        expect_survives<R>("try_allocate", [=](R& r) { freed(r, r.try_allocate(bytes, 8), bytes, 8); }, some);
    }
    expect_survives<R>("over-aligned", [=](R& r) { freed(r, r.allocate(100, 512), 100, 512); }, some);
    // A concurrent arena counts a thread's window as used; an arena keeps the padding in front of what it takes back.
    constexpr bool keeps = std::same_as<R, acre::concurrent_arena> || std::same_as<R, acre::recycling<acre::arena>>;
    expect_survives<R>(
        "make_shared", [](R& r) { (void)acre::make_shared<probe>(r, 7u); }, [](R&) {},
        keeps ? after_failure::anything : after_failure::nothing);
}

/// A standard container over a resource of its own.
template <class R, class Container>
struct over {
    explicit over(checking_upstream& below) : resource(below), content(typename Container::allocator_type{resource}) {}
    std::size_t size() const { return content.size(); }

    R resource;
    Container content;
};

template <class R>
void expect_containers_survive() {
    const auto filled = [](auto& of) {
        for (unsigned i = 0; i < 8; ++i) of.content.insert(of.content.end(), probe{i});
    };
    const auto filled_map = [](auto& of) {
        for (int i = 0; i < 8; ++i) of.content.emplace(i, probe{});
    };
    using vector = over<R, std::vector<probe, acre::allocator<probe, R>>>;
    using list = over<R, std::list<probe, acre::allocator<probe, R>>>;
    using deque = over<R, std::deque<probe, acre::allocator<probe, R>>>;
    using pair = std::pair<const int, probe>;
    using map = over<R, std::map<int, probe, std::less<>, acre::allocator<pair, R>>>;
    using table = over<R, std::unordered_map<int, probe, std::hash<int>, std::equal_to<>, acre::allocator<pair, R>>>;
    expect_survives<vector>("vector", [](vector& of) { of.content.push_back(probe{7}); }, filled);
    expect_survives<list>("list", [](list& of) { of.content.push_back(probe{7}); }, filled);
    expect_survives<list>("list::resize", [](list& of) { of.content.resize(40); }, filled);
    expect_survives<deque>("deque", [](deque& of) { of.content.push_back(probe{7}); }, filled);
    expect_survives<map>("map", [](map& of) { of.content.emplace(of.size() + 100, probe{}); }, filled_map);
    expect_survives<table>(
        "unordered_map", [](table& of) { of.content.emplace(of.size() + 100, probe{}); }, filled_map);
    expect_survives<table>(
        "unordered_map::rehash", [](table& of) { of.content.rehash(of.content.bucket_count() * 3); }, filled_map);
}

TEST(injected_failures, resources_and_containers) {
    expect_resource_survives<acre::multi_pool>();
    expect_resource_survives<acre::concurrent_multi_pool>();
    expect_resource_survives<acre::concurrent_arena>();
    expect_resource_survives<acre::recycling<acre::arena>>();
    expect_resource_survives<acre::statistics<acre::multi_pool, everything>>();
    expect_resource_survives<acre::traced<acre::multi_pool>>();
    expect_resource_survives<acre::pool<64>>();
    expect_resource_survives<acre::concurrent_pool<64>>();
    expect_containers_survive<acre::arena>();
    expect_containers_survive<acre::multi_pool>();
    expect_containers_survive<acre::synchronized<acre::multi_pool>>();
}

/// The types that take their memory at construction, and wrappers around these.
TEST(injected_failures, construction) {
    using acre::resource_ref;
    expect_made("arena", [](resource_ref up) { return acre::arena{{.fixed_bytes = 4096}, up}.capacity(); });
    expect_made("multi_arena",
                [](resource_ref up) { return acre::multi_arena{{.arenas = 8, .bytes = 512}, up}.capacity(); });
    expect_made("realtime_heap",
                [](resource_ref up) { return acre::realtime_heap{{.arenas = 8, .bytes = 1024}, up}.capacity(); });
    expect_made("concurrent_multi_arena", [](resource_ref up) {
        return acre::concurrent_multi_arena{{.arenas = 8, .bytes = 512}, up}.capacity();
    });
    expect_made("wait_free_pool", [](resource_ref up) { return acre::wait_free_pool<24>{{.slots = 50}, up}.live(); });
    expect_made("wait_free_object_pool", [](resource_ref up) {
        acre::wait_free_object_pool<probe> pool{{.slots = 50}, up};
        pool.create(7u);
        return pool.live();
    });
    expect_made("chunk_pool", [](resource_ref up) {
        acre::chunk_pool<10, 16, 64> pool{up};
        pool.destroy(pool.create<probe>(7u));
        return pool.live();
    });
    expect_made("unique_resource", [](resource_ref up) {
        acre::unique_resource<acre::multi_arena> owned{{.arenas = 8, .bytes = 512}, up};
        return owned->capacity();
    });
    expect_made("synchronized", [](resource_ref up) {
        return acre::synchronized<acre::multi_arena>{acre::multi_arena_options{.arenas = 8, .bytes = 512}, up}
            .capacity();
    });
    expect_made("statistics", [](resource_ref up) {
        acre::statistics<acre::multi_arena, everything> counted{acre::multi_arena_options{.arenas = 8, .bytes = 512},
                                                                up};
        return counted.capacity();
    });
    expect_made("fallback", [](resource_ref up) {
        acre::fallback<acre::multi_arena, acre::multi_pool> both{
            std::piecewise_construct, std::forward_as_tuple(acre::multi_arena_options{.arenas = 8, .bytes = 512}, up),
            std::forward_as_tuple(up)};
        return both.allocate(100, 8);
    });
    expect_made("pmr", [](resource_ref up) {
        acre::pmr<acre::multi_arena> face{{.arenas = 8, .bytes = 512}, up};
        const std::pmr::vector<int> numbers(20, 1, &face);
        return numbers.size();
    });
    expect_made("a moved pool", [](resource_ref up) {
        acre::object_pool<probe> first{up};
        first.create(1u);
        acre::object_pool<probe> second{std::move(first)};
        second.create(2u);
        first = std::move(second);
        return first.live();
    });
}

/// Records of statistics come from a resource of their own; when that refuses, allocating goes on.
TEST(injected_failures, records_of_statistics) {
    for (std::size_t n = 1; n <= 6; ++n) {
        checking_upstream below;
        checking_upstream records;
        acre::statistics<acre::multi_pool, everything> counted{acre::records_in{records}, below};
        records.fail_from(n);
        std::vector<void*> made;
        for (int i = 0; i < 200; ++i) made.push_back(counted.allocate(16 + static_cast<std::size_t>(i), 8));
        EXPECT_EQ(counted.counts().allocations.value, 200u);
        records.recover();
        for (std::size_t i = 0; i < made.size(); ++i) counted.deallocate(made[i], 16 + i, 8);
        EXPECT_EQ(counted.counts().allocations.value, 0u);
    }
}

/// `new` of a pooled class takes a slot, and gives it back when the constructor throws.
struct pooled_probe : probe, acre::pooled<pooled_probe> {
    using probe::probe;
};

TEST(injected_failures, new_of_a_pooled_class) {
    for (std::size_t k = 1; k <= 5; ++k) {
        probe::throw_at(k);
        EXPECT_FALSE(succeeds([] { delete[] new pooled_probe[5]; })) << k;
        probe::throw_at(1);
        EXPECT_FALSE(succeeds([] { delete new pooled_probe; }));
        probe::throw_at(0);
        EXPECT_EQ(probe::alive(), 0u);
    }
    EXPECT_EQ(acre::static_pool<sizeof(pooled_probe)>::live(), 0u);
}

}  // namespace
}  // namespace acre_test

#endif
