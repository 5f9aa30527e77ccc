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
// A class from which none can be derived only to look at it.
class made_by_a_factory {
public:
    static made_by_a_factory* make();

private:
    virtual ~made_by_a_factory();
};
constinit acre::typed_arena<made_by_a_factory, 4> made;
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

struct with_cookie final {
    ~with_cookie() { strength = 0; }
    static void* operator new(std::size_t);
    static void* operator new[](std::size_t);
    int strength = 100;
};
constinit acre::typed_arena<with_cookie, 4> cookies;
#if ACRE_TEST_CASE == 15
void* with_cookie::operator new[](std::size_t bytes) {
    return cookies.allocate_n(bytes / sizeof(with_cookie));
}
#else
void* with_cookie::operator new[](std::size_t bytes) {
    return cookies.class_new_array(bytes);
}
#endif

// Operators of all kinds, which a larger derived class inherits.
struct inherited {
    static void* operator new(std::size_t);
    static void* operator new[](std::size_t);
    int strength = 100;
};
struct with_nothrow {
    static void* operator new(std::size_t, const std::nothrow_t&) noexcept;
    static void* operator new[](std::size_t, const std::nothrow_t&) noexcept;
    int strength = 100;
};
struct with_place {
    using arena = acre::typed_arena<with_place, 4>;
    static void* operator new(std::size_t, arena&);
    int strength = 100;
};
class with_protected {
public:
    virtual ~with_protected() = default;
    int strength = 100;

protected:
    static void* operator new(std::size_t);
    static void operator delete(void*) noexcept;
};
constinit acre::typed_arena<inherited, 4> inheriteds;
constinit acre::typed_arena<with_nothrow, 4> nothrows;
constinit acre::typed_arena<with_protected, 4> protecteds;
#if ACRE_TEST_CASE == 14
void* inherited::operator new(std::size_t) {
    return inheriteds.allocate_one();
}
#elif ACRE_TEST_CASE == 16
void* inherited::operator new[](std::size_t bytes) {
    return inheriteds.allocate_n(bytes / sizeof(inherited));
}
#elif ACRE_TEST_CASE == 17
void* with_nothrow::operator new(std::size_t, const std::nothrow_t&) noexcept {
    return nothrows.try_allocate_one();
}
#elif ACRE_TEST_CASE == 18
void* with_nothrow::operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return nothrows.try_allocate_n(bytes / sizeof(with_nothrow));
}
#elif ACRE_TEST_CASE == 19
void* with_place::operator new(std::size_t, arena& from) {
    return from.allocate_one();
}
#elif ACRE_TEST_CASE == 20
void* with_protected::operator new(std::size_t) {
    return protecteds.allocate_one();
}
#else
void* inherited::operator new(std::size_t bytes) {
    return inheriteds.class_new(bytes);
}
void* inherited::operator new[](std::size_t bytes) {
    return inheriteds.class_new_array(bytes);
}
void* with_nothrow::operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return nothrows.try_class_new(bytes);
}
void* with_nothrow::operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return nothrows.try_class_new_array(bytes);
}
void* with_place::operator new(std::size_t bytes, arena& from) {
    return from.class_new(bytes);
}
void* with_protected::operator new(std::size_t bytes) {
    return protecteds.class_new(bytes);
}
#endif

// Nothing inherits operators where there are none, and a union has no derived class.
struct without_operators {
    virtual ~without_operators() = default;
};
union either {
    static void* operator new(std::size_t);
    int number;
    float fraction;
};
constinit acre::typed_arena<without_operators, 4> plain;
constinit acre::typed_arena<either, 4> unions;
void* either::operator new(std::size_t) {
    return unions.allocate_one();
}

// Operators of a final class with a cookie, other than the usual one.
struct final_with_nothrow final {
    ~final_with_nothrow() { strength = 0; }
    static void* operator new[](std::size_t, const std::nothrow_t&) noexcept;
    int strength = 100;
};
struct final_with_place final {
    using arena = acre::typed_arena<final_with_place, 4>;
    ~final_with_place() { strength = 0; }
    static void* operator new[](std::size_t, arena&);
    int strength = 100;
};
constinit acre::typed_arena<final_with_nothrow, 4> final_nothrows;
#if ACRE_TEST_CASE == 21
void* final_with_nothrow::operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return final_nothrows.try_allocate_n(bytes / sizeof(final_with_nothrow));
}
#elif ACRE_TEST_CASE == 22
void* final_with_place::operator new[](std::size_t bytes, arena& from) {
    return from.allocate_n(bytes / sizeof(final_with_place));
}
#else
void* final_with_nothrow::operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return final_nothrows.try_class_new_array(bytes);
}
void* final_with_place::operator new[](std::size_t bytes, arena& from) {
    return from.class_new_array(bytes);
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
    plain.deallocate_one(plain.allocate_one());
    plain.deallocate_n(plain.allocate_n(2), 2);
    made.deallocate_one(made.allocate_one());
    made.deallocate_n(made.allocate_n(2), 2);
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
