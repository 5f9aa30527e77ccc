// What a typed_arena refuses at compile time. CMakeLists.txt lists the cases; each is compiled with ACRE_TEST_CASE set
// to its number. Case 0 is the rest of the file, which compiles.
#include <acre/arenas/typed_arena.hpp>
#include <acre/core/literals.hpp>

namespace {

using namespace acre::literals;

struct orc {
    int strength = 100;
};
struct mean_orc : orc {
    int axes[10] = {};
};
struct named final {
    ~named() { id = 0; }
    int id = 1;
};
constinit acre::typed_arena<named, 4, acre::typed_arena_options{.require_final = true}> finals;
constinit acre::typed_arena<int, 4, acre::typed_arena_options{.require_final = true}> numbers;

// As published: right for classes that are final and have no cookie.
struct trivial final {
    static void* operator new(std::size_t);
    static void* operator new[](std::size_t);
    static void operator delete(void*) noexcept;
    static void operator delete[](void*) noexcept;
    int strength = 100;
};
constinit acre::typed_arena<trivial, 4> trivials;
void* trivial::operator new(std::size_t) {
    return trivials.allocate_one();
}
void* trivial::operator new[](std::size_t bytes) {
    return trivials.allocate_n(bytes / sizeof(trivial));
}

struct with_cookie {
    ~with_cookie() { strength = 0; }
    static void* operator new(std::size_t);
    static void* operator new[](std::size_t);
    int strength = 100;
};
constinit acre::typed_arena<with_cookie, 4> cookies;
#if ACRE_TEST_CASE == 14
void* with_cookie::operator new(std::size_t) {
    return cookies.allocate_one();
}
#elif ACRE_TEST_CASE == 15
void* with_cookie::operator new[](std::size_t bytes) {
    return cookies.allocate_n(bytes / sizeof(with_cookie));
}
#else
void* with_cookie::operator new(std::size_t bytes) {
    return cookies.class_new(bytes);
}
void* with_cookie::operator new[](std::size_t bytes) {
    return cookies.class_new_array(bytes);
}
#endif

#if ACRE_TEST_CASE == 1
constinit acre::typed_arena<orc, 300'000, acre::typed_arena_options{.limit_bytes = 1_MiB}> orcs;
#elif ACRE_TEST_CASE == 2
constinit acre::typed_arena<orc, SIZE_MAX / 2> orcs;
#elif ACRE_TEST_CASE == 3
constinit acre::typed_arena<orc, 0> orcs;
#elif ACRE_TEST_CASE == 4
constinit acre::typed_arena<const orc, 4> orcs;
#elif ACRE_TEST_CASE == 8
constinit acre::typed_arena<orc, 4, acre::typed_arena_options{.require_final = true}> orcs;
#elif ACRE_TEST_CASE == 10
constinit acre::typed_arena<orc, 4, acre::typed_arena_options{.reuse = true}> orcs;
#else
constinit acre::typed_arena<orc, 4, acre::typed_arena_options{.limit_bytes = 1_MiB}> orcs;
#endif

}  // namespace

void use() {
    auto* one = orcs.create();
    orcs.destroy(one);
#if ACRE_TEST_CASE == 5
    (void)orcs.create<mean_orc>();
#elif ACRE_TEST_CASE == 6
    mean_orc mean;
    orcs.destroy(&mean);
#elif ACRE_TEST_CASE == 12
    (void)orcs.create<int>(1);
#elif ACRE_TEST_CASE == 13
    named other;
    orcs.destroy(&other);
#elif ACRE_TEST_CASE == 7
    auto copy = orcs;
#elif ACRE_TEST_CASE == 9
    orcs.class_delete(static_cast<void*>(one));
#elif ACRE_TEST_CASE == 11
    finals.reset();
#else
    orcs.class_delete_array(one);
    orcs.class_delete(one, sizeof(orc));
    orcs.reset();
    finals.class_delete(finals.class_new(sizeof(named)));
    finals.deallocate_all();
    numbers.class_delete(numbers.create(1));
#endif
}
