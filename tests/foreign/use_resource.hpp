// Included in front of a foreign test of std::pmr (g++ -include): what the test takes from the default resource, from
// std::pmr::new_delete_resource(), from operator new or from a test resource of libc++ then comes from a resource of
// acre's. The environment variable ACRE_FOREIGN_RESOURCE names it; without it the standard's own is used. At its end
// the program writes to stderr how many requests acre served.
//
// ACRE_FOREIGN_KEEPS_NEW: the test defines operator new itself.
#pragma once

#include <acre/adapt/pmr.hpp>
#include <acre/adapt/pool_resource.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/concurrent_arena.hpp>
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/combine/recycling.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/literals.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/pool.hpp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory_resource>
#include <new>
#include <string_view>

namespace acre_foreign {

using namespace acre::literals;

/// The resources below it must not take their memory from the operator new that they serve.
class malloc_resource : public std::pmr::memory_resource {
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (alignment < sizeof(void*)) alignment = sizeof(void*);
        if (bytes > SIZE_MAX - alignment) throw std::bad_alloc{};
        void* p = std::aligned_alloc(alignment, acre::align_up(bytes == 0 ? 1 : bytes, alignment));
        if (p == nullptr) throw std::bad_alloc{};
        return p;
    }
    void do_deallocate(void* p, std::size_t, std::size_t) override { std::free(p); }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};

/// Never destroyed, since static objects of the test may outlive it.
template <class R, class... Arguments>
std::pmr::memory_resource* forever(const Arguments&... arguments) {
    alignas(R) static std::byte storage[sizeof(R)];
    return ::new (static_cast<void*>(storage)) R(arguments...);
}

inline std::pmr::memory_resource* made(std::string_view name, std::pmr::memory_resource* below) {
    if (name == "arena") return forever<acre::pmr<acre::arena>>(below);
    if (name == "concurrent_arena") return forever<acre::pmr<acre::concurrent_arena>>(below);
    if (name == "pool") return forever<acre::pmr<acre::pool<64>>>(below);
    if (name == "multi_pool") return forever<acre::pmr<acre::multi_pool>>(below);
    if (name == "concurrent_multi_pool") return forever<acre::pmr<acre::concurrent_multi_pool>>(below);
    if (name == "multi_arena")
        return forever<acre::pmr<acre::multi_arena>>(acre::multi_arena_options{.arenas = 64, .bytes = 64_KiB}, below);
    if (name == "concurrent_multi_arena") {
        return forever<acre::pmr<acre::concurrent_multi_arena>>(
            acre::concurrent_multi_arena_options{.arenas = 64, .bytes = 64_KiB}, below);
    }
    if (name == "recycling") return forever<acre::pmr<acre::recycling<acre::arena>>>(below);
    if (name == "statistics") return forever<acre::pmr<acre::statistics<acre::multi_pool>>>(below);
    if (name == "synchronized") return forever<acre::pmr<acre::synchronized<acre::multi_pool>>>(below);
    if (name == "unsynchronized_pool_resource") return forever<acre::unsynchronized_pool_resource>(below);
    if (name == "synchronized_pool_resource") return forever<acre::synchronized_pool_resource>(below);
    std::fprintf(stderr, "there is no resource %.*s\n", static_cast<int>(name.size()), name.data());
    std::abort();
}

/// Counts what the chosen resource serves.
class counting : public std::pmr::memory_resource {
public:
    explicit counting(std::pmr::memory_resource* chosen) : chosen_(chosen) {}
    std::size_t served = 0;

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        void* p = chosen_->allocate(bytes, alignment);
        ++served;
        return p;
    }
    void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
        chosen_->deallocate(p, bytes, alignment);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    std::pmr::memory_resource* chosen_;
};

/// Null without a choice.
inline counting* chosen() {
    static counting* const one = [] {
        const char* name = std::getenv("ACRE_FOREIGN_RESOURCE");
        if (name == nullptr) return static_cast<counting*>(nullptr);
        return static_cast<counting*>(forever<counting>(made(name, forever<malloc_resource>())));
    }();
    return one;
}

/// The default resource of the test, from its first static object to its last.
struct installed {
    installed() {
        if (chosen() != nullptr) std::pmr::set_default_resource(chosen());
    }
    ~installed() {
        if (chosen() != nullptr) std::fprintf(stderr, "acre served %zu requests\n", chosen()->served);
    }
};
inline const installed for_the_test;

/// What libc++'s test resources take their memory from.
struct provider {
    void* allocate(std::size_t bytes, std::size_t alignment) {
        return chosen() != nullptr ? chosen()->allocate(bytes, alignment) : ::operator new(bytes);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) {
        if (chosen() != nullptr) return chosen()->deallocate(p, bytes, alignment);
        ::operator delete(p);
    }
    void reset() {}
};

#if !defined(ACRE_FOREIGN_KEEPS_NEW)
/// In front of what operator new returns.
struct header {
    std::size_t bytes;
    std::size_t alignment;
    bool from_acre;
};

inline std::size_t room_for(std::size_t alignment) {
    return acre::align_up(sizeof(header), alignment);
}

inline void* allocated(std::size_t bytes, std::size_t alignment) {
    if (alignment < alignof(std::max_align_t)) alignment = alignof(std::max_align_t);
    const std::size_t room = room_for(alignment);
    if (bytes > SIZE_MAX / 2 - room) throw std::bad_alloc{};
    void* p = chosen() != nullptr ? chosen()->allocate(room + bytes, alignment)
                                  : std::aligned_alloc(alignment, acre::align_up(room + bytes, alignment));
    if (p == nullptr) throw std::bad_alloc{};
    std::byte* returned = static_cast<std::byte*>(p) + room;
    ::new (static_cast<void*>(returned - sizeof(header))) header{bytes, alignment, chosen() != nullptr};
    return returned;
}

inline void freed(void* p) {
    if (p == nullptr) return;
    const header about = *reinterpret_cast<header*>(static_cast<std::byte*>(p) - sizeof(header));
    const std::size_t room = room_for(about.alignment);
    std::byte* start = static_cast<std::byte*>(p) - room;
    if (about.from_acre) return chosen()->deallocate(start, room + about.bytes, about.alignment);
    std::free(start);
}
#endif

}  // namespace acre_foreign

#if !defined(ACRE_FOREIGN_KEEPS_NEW)
void* operator new(std::size_t bytes) {
    return acre_foreign::allocated(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return acre_foreign::allocated(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept {
    acre_foreign::freed(p);
}
void operator delete(void* p, std::size_t) noexcept {
    acre_foreign::freed(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
    acre_foreign::freed(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
    acre_foreign::freed(p);
}
#endif

namespace std::pmr {
inline memory_resource* acre_new_delete_resource() noexcept {
    return acre_foreign::chosen() != nullptr ? acre_foreign::chosen() : new_delete_resource();
}
}  // namespace std::pmr
#define new_delete_resource acre_new_delete_resource

#if __has_include("test_std_memory_resource.h")
#include "test_std_memory_resource.h"
#define TestResource TestResourceImp<acre_foreign::provider, 0>
#define TestResource1 TestResourceImp<acre_foreign::provider, 1>
#define TestResource2 TestResourceImp<acre_foreign::provider, 2>
#define NewDeleteResource TestResourceImp<acre_foreign::provider, 0>
#endif
