// Runs under Valgrind's memcheck, built with ACRE_VALGRIND: each misuse of pooled memory is an error there, right use
// is none, and its leak check knows what only pooled memory points to. Prints what went wrong; exits with 0 if nothing
// did.
#include <valgrind/memcheck.h>
#include <acre/acre.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
    if (holds) return;
    ++failures;
    std::printf("not so: %s\n", what);
}

// True when the calls of `work` are errors to memcheck.
template <class Work>
bool is_reported(Work work) {
    const auto before = VALGRIND_COUNT_ERRORS;
    work();
    return VALGRIND_COUNT_ERRORS != before;
}

[[gnu::noinline]] void read(const void* p) {
    (void)*static_cast<const volatile char*>(p);
}
[[gnu::noinline]] void write(void* p) {
    *static_cast<volatile char*>(p) = 1;
}

// Errors behind, after a free (if there is one), and none within.
template <class Resource>
void check(const char* name, Resource& tested, bool frees) {
    for (const std::size_t bytes : {13u, 64u}) {
        char* first = nullptr;
        char* next = nullptr;
        expect(!is_reported([&] {
            first = static_cast<char*>(tested.allocate(bytes));
            next = static_cast<char*>(tested.allocate(bytes));
            for (std::size_t i = 0; i < bytes; ++i) {
                write(first + i);
                write(next + i);
                read(first + i);
            }
        }),
               name);
        expect(is_reported([&] { write(first + bytes); }), name);
        expect(is_reported([&] { write(next + bytes); }), name);
        expect(is_reported([&] {
                   char* fresh = static_cast<char*>(tested.allocate(bytes));
                   if (*static_cast<volatile char*>(fresh) == 17) std::puts("contents that nobody wrote");
               }),
               name);
        if (!frees) continue;
        expect(!is_reported([&] { tested.deallocate(first, bytes); }), name);
        expect(is_reported([&] { read(first); }), name);
        expect(!is_reported([&] { tested.deallocate(next, bytes); }), name);
    }
}

void check_types() {
    acre::arena level;
    check("arena", level, true);
    {
        acre::scratch temp{level};
        check("scratch", temp, true);
    }
    acre::inline_arena<4096> near;
    check("inline_arena", near, true);
    acre::concurrent_arena shared;
    check("concurrent_arena", shared, true);
    acre::multi_arena arenas{{.arenas = 8, .bytes = 1024}};
    check("multi_arena", arenas, true);
    acre::concurrent_multi_arena shared_arenas{{.arenas = 8, .bytes = 1024}};
    check("concurrent_multi_arena", shared_arenas, true);
    acre::recycling<acre::arena> recycled;
    check("recycling", recycled, true);
}

void check_resets() {
    acre::arena level;
    char* kept = level.allocate<char>(16).data();
    const auto here = level.mark();
    char* after = level.allocate<char>(16).data();
    level.rewind(here);
    expect(is_reported([&] { read(after); }), "a read after a rewind is reported");
    char* temporary = nullptr;
    {
        acre::scratch temp{level};
        temporary = temp.allocate<char>(16).data();
        expect(!is_reported([&] { write(temporary); }), "a write in a scratch is right");
    }
    expect(is_reported([&] { read(temporary); }), "a read after a scratch is reported");
    expect(!is_reported([&] { write(kept); }), "what came before the scratch is in use");
    level.reset();
    expect(is_reported([&] { read(kept); }), "a read after a reset is reported");
}

// What grows where it is keeps its contents, which were written and so may be read.
void check_growth() {
    acre::arena level;
    expect(!is_reported([&] {
        acre::arena_vector<int> values{level};
        long sum = 0;
        for (int i = 0; i < 5000; ++i) values.push_back(i);
        for (const int each : values) sum += each;
        acre::recycling<acre::arena> around;
        std::vector<int, acre::allocator<int, acre::recycling<acre::arena>>> more{around};
        for (int i = 0; i < 5000; ++i) more.push_back(i);
        for (const int each : more) sum += each;
        if (sum == 17) std::puts("another sum");
    }),
           "contents stay readable where storage grows");
}

struct node {
    void* block;
};

[[gnu::noinline]] unsigned long leaked() {
    unsigned long lost = 0;
    [[maybe_unused]] unsigned long dubious = 0;
    [[maybe_unused]] unsigned long reachable = 0;
    [[maybe_unused]] unsigned long suppressed = 0;
    VALGRIND_DO_QUICK_LEAK_CHECK;
    VALGRIND_COUNT_LEAKS(lost, dubious, reachable, suppressed);
    return lost;
}
// Blocks that only a node in `owner` points to. Several, as one might be left in a register or on the stack.
template <class Resource>
[[gnu::noinline]] void hold_blocks(Resource& owner) {
    for (int i = 0; i < 20; ++i) ::new (owner.allocate(sizeof(node), alignof(node))) node{std::malloc(100)};
}
[[gnu::noinline]] void overwrite_stack() {
    volatile char zeros[4096] = {};
    (void)zeros[17];
}

void check_leaks() {
    const unsigned long before = leaked();
    acre::arena level;
    acre::multi_arena arenas{{.arenas = 8, .bytes = 1024}};
    hold_blocks(level);
    hold_blocks(arenas);
    overwrite_stack();
    expect(leaked() == before, "what live pooled memory points to is no leak");
    level.reset();
    overwrite_stack();
    const unsigned long after = leaked();
    expect(after >= before + 1000, "what only memory points to that was reset is a leak");
    arenas.reset();
    overwrite_stack();
    expect(leaked() >= after + 1000, "the same in a multi_arena");
}

}  // namespace

int main() {
    if (RUNNING_ON_VALGRIND == 0) {
        std::puts("to be run by valgrind");
        return 2;
    }
    check_types();
    check_resets();
    check_growth();
    check_leaks();
    std::printf("%d not so\n", failures);
    return failures == 0 ? 0 : 1;
}
