// Hazard Y16. A fiber uses each type that knows threads in one thread, is suspended, and goes on in another one: there
// it must use what that thread keeps. Compilers keep the address of a thread-local variable across the switch, so
// fibers.sh compiles this at each level, with each compiler, for a program and for a library.
#include <ucontext.h>
#include <acre/adapt/ambient.hpp>
#include <acre/adapt/ambient_arena.hpp>
#include <acre/adapt/pooled.hpp>
#include <acre/arenas/concurrent_arena.hpp>
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/thread_scratch.hpp>
#include <acre/heaps/general_heap.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/static_pool.hpp>

#include <cstddef>
#include <cstdio>
#include <thread>

namespace {

ucontext_t fiber;
ucontext_t* resumer;
alignas(16) std::byte stack[256 * 1024];

[[gnu::noinline]] void suspend() {
    swapcontext(&fiber, resumer);
}
[[gnu::noinline]] void resume() {
    ucontext_t here;
    resumer = &here;
    swapcontext(&here, &fiber);
}

// What the last use gave.
std::byte* given;

// Whether the thread's next use gives `next` after the fiber's gave `before`: then both used the same data.
struct same_place {
    static bool follows(const std::byte* before, const std::byte* next) { return next == before; }
};
struct next_place {
    static bool follows(const std::byte* before, const std::byte* next) { return next == before + 48; }
};

template <class T>
T* made() {
    static T object;
    return &object;
}
[[gnu::always_inline]] inline void keep(void* p) {
    asm volatile("" ::"r"(p) : "memory");
    given = static_cast<std::byte*>(p);
}

template <class Pool>
struct pool_of_bytes : same_place {
    [[gnu::always_inline]] static void use() {
        Pool& pool = *made<Pool>();
        void* p = pool.allocate(48, 8);
        keep(p);
        pool.deallocate(p, 48, 8);
    }
};
struct object {
    int x[12];
};
struct object_pool : same_place {
    [[gnu::always_inline]] static void use() {
        auto& pool = *made<acre::concurrent_object_pool<object>>();
        object* p = pool.create();
        keep(p);
        pool.destroy(p);
    }
};
struct pooled_object : acre::pooled<pooled_object> {
    int x[12];
};
struct class_operators : same_place {
    [[gnu::always_inline]] static void use() {
        auto* p = new pooled_object;
        keep(p);
        delete p;
    }
};
template <class Arena>
struct growing : next_place {
    [[gnu::always_inline]] static void use() { keep(made<Arena>()->allocate(48, 8)); }
};
struct scratch : same_place {
    [[gnu::always_inline]] static void use() {
        acre::scratch of_the_thread = acre::thread_scratch();
        keep(of_the_thread.allocate(48, 8));
    }
};
// Each thread has a scope of an arena of its own.
template <class Resource, std::size_t Header>
struct in_scopes {
    static bool follows(const std::byte* before, const std::byte* next) { return next == before + 48 + Header; }
    [[gnu::always_inline]] static void use() {
        Resource resource;
        keep(resource.allocate(48, 8));
    }
};

template <class Subject>
void body() {
    for (;;) {
        Subject::use();
        suspend();
    }
}

struct no_scope {
    explicit no_scope(acre::arena&) {}
};

template <class Subject, class Scope = no_scope>
int check(const char* name) {
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = sizeof stack;
    makecontext(&fiber, &body<Subject>, 0);
    bool is_right = true;
    const auto in_a_thread = [&](auto then) {
        std::thread{[&] {
            acre::arena own;
            const Scope scope{own};
            Subject::use();
            resume();
            const std::byte* const by_fiber = given;
            then();
            Subject::use();
            is_right = is_right && Subject::follows(by_fiber, given);
        }}.join();
    };
    // The first thread lives while the fiber is in the second one.
    in_a_thread([&] { in_a_thread([] {}); });
    if (!is_right) std::printf("%s: the fiber used another thread's data\n", name);
    return is_right ? 0 : 1;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int check_fibers() {
    using acre::ambient;
    using acre::ambient_arena;
    int wrong = 0;
    wrong += check<pool_of_bytes<acre::concurrent_pool<48>>>("concurrent_pool");
    wrong += check<object_pool>("concurrent_object_pool");
    wrong += check<pool_of_bytes<acre::concurrent_multi_pool>>("concurrent_multi_pool");
    wrong += check<pool_of_bytes<acre::static_pool<48>>>("static_pool");
    wrong += check<pool_of_bytes<acre::static_pool<48, acre::shared_group<struct group>>>>("static_pool of a group");
    wrong += check<class_operators>("pooled");
    wrong += check<growing<acre::concurrent_arena>>("concurrent_arena");
    wrong += check<growing<acre::inline_concurrent_multi_arena<64, 4096>>>("concurrent_multi_arena");
    wrong += check<pool_of_bytes<acre::general_heap>>("general_heap");
    wrong += check<scratch>("thread_scratch");
    wrong += check<in_scopes<ambient, 16>, acre::use_resource>("ambient");
    wrong += check<in_scopes<ambient_arena, 0>, acre::use_arena>("ambient_arena");
    if (wrong == 0) std::puts("ok");
    return wrong;
}

#if !defined(__PIC__) || defined(__PIE__)
int main() {
    return check_fibers();
}
#endif
