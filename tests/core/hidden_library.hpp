// What the two shared libraries of hidden_libraries_test.cpp let a program do with resources that they make.
#pragma once

#include <acre/arenas/concurrent_arena.hpp>
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <cstddef>
#include <type_traits>

namespace hidden_libraries {

struct item {
    char bytes[64];
};

template <class R>
constexpr bool makes_objects = false;
template <class T>
constexpr bool makes_objects<acre::concurrent_object_pool<T>> = true;
template <class R>
constexpr bool has_slots = makes_objects<R>;
template <std::size_t Size, std::size_t Alignment>
constexpr bool has_slots<acre::concurrent_pool<Size, Alignment>> = true;

template <class R>
R* make() {
    if constexpr (std::is_same_v<R, acre::concurrent_multi_arena>) {
        return new R{{.arenas = 16, .bytes = 4096}};
    } else {
        return new R;
    }
}
template <class R>
void end(R* resource) {
    delete resource;
}
template <class R>
void* take(R& from) {
    if constexpr (makes_objects<R>) {
        return from.create();
    } else if constexpr (has_slots<R>) {
        return from.allocate();
    } else {
        return from.allocate(sizeof(item), alignof(std::max_align_t));
    }
}
template <class R>
void give(R& to, void* p) {
    if constexpr (makes_objects<R>) {
        to.destroy(static_cast<item*>(p));
    } else if constexpr (has_slots<R>) {
        to.deallocate(p);
    } else {
        to.deallocate(p, sizeof(item), alignof(std::max_align_t));
    }
}

/// One copy's code for a resource.
template <class R>
struct calls {
    R* (*make)() = &hidden_libraries::make<R>;
    void (*end)(R*) = &hidden_libraries::end<R>;
    void* (*take)(R&) = &hidden_libraries::take<R>;
    void (*give)(R&, void*) = &hidden_libraries::give<R>;
};

struct library : calls<acre::concurrent_arena>,
                 calls<acre::concurrent_multi_arena>,
                 calls<acre::concurrent_pool<sizeof(item)>>,
                 calls<acre::concurrent_object_pool<item>>,
                 calls<acre::concurrent_multi_pool> {};

[[gnu::visibility("default")]] library first_library();
[[gnu::visibility("default")]] library second_library();

}  // namespace hidden_libraries
