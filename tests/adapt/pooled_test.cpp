// acre::pooled and ACRE_POOLED: every form of new and delete, for the class, for derived ones, for arrays. Each test
// has classes of its own. Classes of one size share a pool, so tests compare live counts before and after.
#include <acre/adapt/pooled.hpp>

#include <gtest/gtest.h>

#include <acre/pools/static_pool.hpp>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "sizes.hpp"

namespace {

using acre::pooled;
using acre::static_pool;

template <class T>
using pool_of = static_pool<sizeof(T)>;

class troll {
public:
    int hunger = 3;
    ACRE_POOLED(troll);
};

TEST(pooled, example) {
    struct orc : pooled<orc> {
        int strength = 100;
    };
    auto* one = new orc;
    EXPECT_TRUE(pool_of<orc>::owns(one));
    delete one;
    auto other = std::make_unique<troll>();
    EXPECT_TRUE(pool_of<troll>::owns(other.get()));
    EXPECT_EQ(other->hunger, 3);
}

struct plain_orc {
    std::array<int, 10> numbers{};
    void* owner = nullptr;
};
struct pooled_orc : pooled<pooled_orc> {
    std::array<int, 10> numbers{};
    void* owner = nullptr;
};
struct macro_orc {
    std::array<int, 10> numbers{};
    void* owner = nullptr;
    ACRE_POOLED(macro_orc);
};

// Hazard P9.
TEST(pooled, the_size_does_not_change) {
    static_assert(sizeof(pooled_orc) == sizeof(plain_orc) && alignof(pooled_orc) == alignof(plain_orc));
    static_assert(sizeof(macro_orc) == sizeof(plain_orc));
    static_assert(std::is_empty_v<pooled<pooled_orc>> && !std::is_polymorphic_v<pooled_orc>);
}

template <class T>
void expect_new_and_delete_from_the_pool() {
    const std::size_t before = pool_of<T>::live();
    T* p = new T;
    EXPECT_TRUE(pool_of<T>::owns(p));
    EXPECT_TRUE(acre::is_aligned(p, alignof(T)));
    EXPECT_EQ(pool_of<T>::live(), before + 1);
    T* q = new (std::nothrow) T;
    EXPECT_TRUE(pool_of<T>::owns(q));
    EXPECT_TRUE(acre::is_aligned(q, alignof(T)));
    delete p;
    delete q;
    delete static_cast<T*>(nullptr);
    EXPECT_EQ(pool_of<T>::live(), before);
}

TEST(pooled, new_and_delete) {
    expect_new_and_delete_from_the_pool<pooled_orc>();
    expect_new_and_delete_from_the_pool<macro_orc>();
}

template <std::size_t Alignment>
struct alignas(Alignment) aligned : pooled<aligned<Alignment>> {
    std::array<char, 3 * Alignment> bytes{};
};

// Hazards B3, N1, P1.
// Hazards B3, N1, P1.
TEST(pooled, classes_of_every_alignment) {
    expect_new_and_delete_from_the_pool<aligned<1>>();
    expect_new_and_delete_from_the_pool<aligned<8>>();
    expect_new_and_delete_from_the_pool<aligned<16>>();
    expect_new_and_delete_from_the_pool<aligned<32>>();
    expect_new_and_delete_from_the_pool<aligned<64>>();
    expect_new_and_delete_from_the_pool<aligned<128>>();
    expect_new_and_delete_from_the_pool<aligned<4096>>();
}

// Hazard N7.
TEST(pooled, placement_and_nothrow_new_compile) {
    alignas(macro_orc) std::array<std::byte, sizeof(macro_orc)> storage;
    auto* placed = new (storage.data()) macro_orc;
    EXPECT_EQ(static_cast<void*>(placed), storage.data());
    placed->~macro_orc();
    alignas(pooled_orc) std::array<std::byte, 3 * sizeof(pooled_orc) + 64> room;
    EXPECT_EQ(static_cast<void*>(new (room.data()) pooled_orc), room.data());
    std::vector<pooled_orc> in_a_container(3);
    EXPECT_FALSE(pool_of<pooled_orc>::owns(in_a_container.data()));
    delete[] new (std::nothrow) macro_orc[3];
    delete[] new (std::nothrow) aligned<64>[ 3 ];
}

struct with_a_name : pooled<with_a_name> {
    std::string name = "a text that is too long to lie in the string itself";
    ~with_a_name() { ++gone; }
    static inline int gone = 0;
};

// Hazards B2, B10.
// Hazards B2, B10.
TEST(pooled, arrays) {
    const std::size_t before = pool_of<with_a_name>::live();
    for (const std::size_t count : {0u, 1u, 2u, 3u, 100u}) {
        with_a_name::gone = 0;
        auto* several = new with_a_name[count];
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(several[i].name.back(), 'f');
        delete[] several;
        EXPECT_EQ(with_a_name::gone, static_cast<int>(count));
        delete[] new pooled_orc[count];
        auto* wide = new aligned<64>[count];
        EXPECT_TRUE(acre::is_aligned(wide, 64));
        delete[] wide;
        auto* narrow = new aligned<1>[count];
        delete[] narrow;
    }
    EXPECT_EQ(pool_of<with_a_name>::live(), before);
}

struct unit : pooled<unit> {
    virtual ~unit() = default;
    int strength = 1;
};
struct captain : unit {
    std::array<int, 50> orders{};
};
struct alignas(64) knight : unit {
    int lance = 2;
};
struct squire : unit {};

// Hazards B4, N2, P8.
// Hazards B4, N2, P8.
TEST(pooled, derived_classes_of_other_sizes) {
    const std::size_t before = pool_of<unit>::live();
    unit* of_unit = new unit;
    unit* of_captain = new captain;
    unit* of_knight = new knight;
    unit* of_squire = new squire;
    EXPECT_TRUE(pool_of<unit>::owns(of_unit));
    EXPECT_FALSE(pool_of<unit>::owns(of_captain));
    EXPECT_FALSE(pool_of<unit>::owns(of_knight));
    EXPECT_TRUE(pool_of<unit>::owns(of_squire)) << "of the same size";
    EXPECT_TRUE(acre::is_aligned(of_knight, 64));
    EXPECT_EQ(pool_of<unit>::live(), before + 2);
    static_cast<captain*>(of_captain)->orders.fill(7);
    for (unit* each : {of_unit, of_captain, of_knight, of_squire}) delete each;
    EXPECT_EQ(pool_of<unit>::live(), before);
    delete[] new captain[5];
    delete[] new knight[5];
    delete new (std::nothrow) captain;
}

// A derived class of its base's size may be more strictly aligned, and is.
struct loose : pooled<loose> {
    std::array<char, 48> bytes{};
};
struct empty_base : pooled<empty_base> {};
struct strict : empty_base {
    long double number = 1;
};

// Hazard P1.
TEST(pooled, derived_classes_of_stricter_alignment) {
    for (int i = 0; i < 50; ++i) {
        auto p = std::make_unique<strict>();
        auto q = std::make_unique<loose>();
        EXPECT_TRUE(acre::is_aligned(p.get(), alignof(strict)));
        EXPECT_TRUE(acre::is_aligned(q.get(), alignof(loose)));
    }
}

// Records the requests that reach a pool.
struct asked_pool {
    [[gnu::noinline]] static void* allocate(std::size_t bytes, std::size_t alignment) {
        asked_bytes = bytes;
        asked_alignment = alignment;
        ++live;
        return acre::heap{}.allocate(bytes, alignment);
    }
    [[gnu::noinline]] static void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        ++live;
        return refuses ? (--live, nullptr) : acre::heap{}.try_allocate(bytes, alignment);
    }
    [[gnu::noinline]] static void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        given_back_bytes = bytes;
        given_back_alignment = alignment;
        if (p != nullptr) --live;
        acre::heap{}.deallocate(p, bytes, alignment);
    }
    static bool owns(const void*) noexcept { return true; }
    static inline std::size_t asked_bytes = 0;
    static inline std::size_t asked_alignment = 0;
    static inline std::size_t given_back_bytes = 0;
    static inline std::size_t given_back_alignment = 0;
    static inline int live = 0;
    static inline bool refuses = false;
};

struct byte_base : pooled<byte_base, asked_pool> {
    std::array<char, 16> bytes{};
};
struct same_size : pooled<same_size, asked_pool> {
    virtual ~same_size() = default;
    std::array<char, 8> bytes{};
};

TEST(pooled, another_type_of_pool) {
    delete new byte_base;
    EXPECT_EQ(asked_pool::asked_bytes, 16u);
    EXPECT_GE(asked_pool::asked_alignment, 16u) << "a derived class of 16 bytes may need that much";
    EXPECT_EQ(asked_pool::given_back_bytes, 16u);
    EXPECT_EQ(asked_pool::given_back_alignment, asked_pool::asked_alignment);
    delete new same_size;
    EXPECT_EQ(asked_pool::given_back_bytes, sizeof(same_size));
    EXPECT_EQ(asked_pool::live, 0);
    asked_pool::refuses = true;
    EXPECT_EQ(new (std::nothrow) byte_base, nullptr);
    asked_pool::refuses = false;
}

struct my_group;
struct grouped : pooled<grouped, static_pool<64, my_group>> {
    std::array<int, 12> numbers{};
};
struct grouped_by_macro {
    std::array<int, 12> numbers{};
    // A comma in the pool's name.
    ACRE_POOLED_IN(grouped_by_macro, acre::static_pool<64, my_group>);
};
struct grouped_by_size : pooled<grouped_by_size, acre::in_group<my_group>> {
    std::array<int, 15> numbers{};
};
struct grouped_for_all {
    std::array<int, 15> numbers{};
    ACRE_POOLED_IN(grouped_for_all, acre::in_group<acre::shared_group<my_group>>);
};
struct too_large_for_the_group : pooled<too_large_for_the_group, static_pool<64, my_group>> {
    std::array<int, 100> numbers{};
};

struct its_own_group : acre::pooled<its_own_group, acre::in_group<its_own_group>> {
    int value = 0;
};
TEST(pooled, a_named_group) {
    using pool = static_pool<64, my_group>;
    auto* one = new grouped;
    auto* other = new grouped_by_macro;
    auto* large = new too_large_for_the_group;
    EXPECT_TRUE(pool::owns(one) && pool::owns(other));
    EXPECT_FALSE(pool::owns(large));
    EXPECT_EQ(pool::live(), 2u);
    delete one;
    delete other;
    delete large;
    EXPECT_EQ(pool::live(), 0u);
    using shared = static_pool<sizeof(grouped_for_all), acre::shared_group<my_group>>;
    auto* by_size = new grouped_by_size;
    auto* for_all = new grouped_for_all;
    EXPECT_TRUE(pool::owns(by_size) && shared::owns(for_all));
    delete by_size;
    std::thread{[=] { delete for_all; }}.join();
    EXPECT_EQ(pool::live() + shared::live(), 0u);
    EXPECT_GT(grouped_for_all::class_pool::release_unused(), 0u);
    EXPECT_GT(grouped::release_unused(), 0u);
    EXPECT_EQ(pool::capacity(), 0u);
    auto* alone = new its_own_group;
    EXPECT_TRUE((static_pool<sizeof(its_own_group), its_own_group>::owns(alone)));
    delete alone;
}

struct walker : pooled<walker> {
    virtual ~walker() = default;
    int legs = 2;
};
struct swimmer : pooled<swimmer> {
    virtual ~swimmer() = default;
    std::array<int, 5> fins{};
};
struct frog : walker, swimmer {
    int tongue = 1;
    ACRE_POOLED(frog);
};

TEST(pooled, two_pooled_bases) {
    const std::size_t before = pool_of<frog>::live();
    auto* both = new frog;
    EXPECT_TRUE(pool_of<frog>::owns(both));
    swimmer* by_the_other = new frog;
    EXPECT_EQ(pool_of<frog>::live(), before + 2);
    delete static_cast<walker*>(both);
    delete by_the_other;
    EXPECT_EQ(pool_of<frog>::live(), before);
    delete[] new frog[3];
}

template <class T, class Group>
class holder {
    T held{};
    ACRE_POOLED(holder);
};

TEST(pooled, templates_and_incomplete_classes) {
    delete new holder<std::array<int, 3>, my_group>;
    struct list : pooled<list> {
        std::unique_ptr<list> next;
    };
    auto first = std::make_unique<list>();
    first->next = std::make_unique<list>();
    EXPECT_TRUE(pool_of<list>::owns(first->next.get()));
}

// A pool for each class, which all threads share, in one line.
struct lone : pooled<lone, acre::own_pool> {
    std::array<int, 14> numbers{};
};
struct lone_by_macro {
    std::array<int, 14> numbers{};
    ACRE_POOLED_IN(lone_by_macro, acre::own_pool);
};

TEST(pooled, a_pool_of_its_own_for_all_threads) {
    using own = static_pool<sizeof(lone), acre::shared_group<lone>>;
    const std::size_t by_size = pool_of<lone>::live();
    const lone* one = new lone;
    const lone_by_macro* other = new lone_by_macro;
    EXPECT_TRUE(own::owns(one));
    EXPECT_EQ(own::live(), 1u) << "no other class is in there";
    EXPECT_EQ(pool_of<lone>::live(), by_size);
    std::thread{[=] {
        delete one;
        delete other;
    }}.join();
    EXPECT_EQ(own::live(), 0u);
    EXPECT_GT(lone::release_unused(), 0u);
    EXPECT_EQ(own::capacity(), 0u);
    EXPECT_GT(lone_by_macro::class_pool::release_unused(), 0u);
}

struct lone_final final : pooled<lone_final, acre::only_final<acre::own_pool>> {
    std::array<int, 14> numbers{};
};

TEST(pooled, final_classes_on_demand) {
    const lone_final* one = new lone_final;
    EXPECT_TRUE((static_pool<sizeof(lone_final), acre::shared_group<lone_final>>::owns(one)));
    delete one;
}

struct prepared : pooled<prepared, acre::own_pool> {
    std::array<int, 40> numbers{};
};

TEST(pooled, prepares_by_class) {
    using own = static_pool<sizeof(prepared), acre::shared_group<prepared>>;
    ASSERT_TRUE(prepared::prepare(500));
    const std::size_t held = own::capacity();
    EXPECT_GE(held, 500 * sizeof(prepared));
    std::vector<std::unique_ptr<prepared>> all;
    for (int i = 0; i < 500; ++i) all.push_back(std::make_unique<prepared>());
    EXPECT_EQ(own::capacity(), held) << "the heap was not asked again";
    ASSERT_TRUE(lone_by_macro::class_pool::prepare(1));
    lone_by_macro::class_pool::release_unused();
}

struct refusing_pool : asked_pool {
    static void* allocate(std::size_t, std::size_t) { return nullptr; }
    static void* try_allocate(std::size_t, std::size_t) noexcept { return nullptr; }
};
struct may_fail : acre::nothrow_pooled<may_fail> {
    std::array<int, 5> numbers{1, 2, 3, 4, 5};
};
struct fails : acre::nothrow_pooled<fails, refusing_pool> {
    std::string never_constructed = "a text that is too long to lie in the string itself";
};
struct alignas(64) fails_by_macro {
    std::string never_constructed = "a text that is too long to lie in the string itself";
    ACRE_POOLED_NOTHROW_IN(fails_by_macro, refusing_pool);
};
struct may_fail_by_macro {
    int number = 7;
    ACRE_POOLED_NOTHROW(may_fail_by_macro);
};

// The published macros with the suffix NOTHROW.
TEST(pooled, null_in_place_of_an_exception) {
    static_assert(noexcept(may_fail::operator new(1)) && !noexcept(lone::operator new(1)));
    const may_fail* one = new may_fail;
    EXPECT_TRUE(pool_of<may_fail>::owns(one));
    EXPECT_EQ(one->numbers[4], 5);
    delete one;
    delete[] new may_fail[3];
    const may_fail_by_macro* other = new may_fail_by_macro;
    EXPECT_EQ(other->number, 7);
    delete other;
    EXPECT_TRUE(may_fail::prepare(10));
    may_fail::release_unused();
    EXPECT_EQ(new fails, nullptr);
    EXPECT_EQ(new fails[3], nullptr);
    EXPECT_EQ(new fails_by_macro, nullptr);
}

#if defined(__cpp_exceptions)

struct refusal {};

template <class Base>
struct refuses : Base {
    refuses() {
        if (++made == refused) throw refusal{};
    }
    ~refuses() { --made; }
    static inline int made = 0;
    static inline int refused = 1;
    std::string name = "a text that is too long to lie in the string itself";
};
struct picky : refuses<pooled<picky>> {};
struct alignas(64) picky_and_wide : refuses<pooled<picky_and_wide>> {};
struct alignas(64) picky_large_and_wide : refuses<unit> {};
struct picky_by_macro : refuses<macro_orc> {
    ACRE_POOLED(picky_by_macro);
};
// A derived class, larger than the slots of its base's pool.
struct picky_and_larger : refuses<unit> {};

// The sanitizers report leaks on the heap.
template <class T>
void expect_nothing_kept() {
    const std::size_t before = pool_of<T>::live();
    const std::size_t of_units = pool_of<unit>::live();
    using base =
        std::remove_reference_t<decltype([]<class B>(refuses<B>& r) -> refuses<B>& { return r; }(std::declval<T&>()))>;
    const auto refuse_at = [](int at) {
        base::made = 0;
        base::refused = at;
    };
    refuse_at(1);
    EXPECT_THROW(delete new T, refusal);
    refuse_at(1);
    EXPECT_THROW(delete new (std::nothrow) T, refusal);
    constexpr auto alignment = std::align_val_t{alignof(T)};
    refuse_at(1);
    EXPECT_THROW(new (alignment) T, refusal);
    refuse_at(1);
    EXPECT_THROW(new (alignment, std::nothrow) T, refusal);
    refuse_at(1);
    EXPECT_THROW(new (alignment) T[2], refusal);
    alignas(T) std::array<std::byte, sizeof(T)> storage;
    refuse_at(1);
    EXPECT_THROW(new (storage.data()) T, refusal);
    for (const int at : {1, 3}) {
        refuse_at(at);
        EXPECT_THROW(delete[] new T[3], refusal);
        refuse_at(at);
        EXPECT_THROW(delete[] new (std::nothrow) T[3], refusal);
    }
    EXPECT_EQ(pool_of<T>::live(), before);
    EXPECT_EQ(pool_of<unit>::live(), of_units);
    refuse_at(0);
    delete new T;
    delete[] new T[3];
    EXPECT_EQ(pool_of<T>::live(), before);
}

// Hazard M10.
TEST(pooled, constructors_that_throw_keep_nothing) {
    expect_nothing_kept<picky>();
    expect_nothing_kept<picky_and_wide>();
    expect_nothing_kept<picky_by_macro>();
    expect_nothing_kept<picky_large_and_wide>();
    expect_nothing_kept<picky_and_larger>();
}

TEST(pooled, too_much_is_refused) {
    if (!acre_test::sizes_have_64_bits) GTEST_SKIP() << "a heap of 32 bits may have as much";
    volatile std::size_t many = SIZE_MAX / sizeof(pooled_orc) / 2;
    EXPECT_THROW(delete[] new pooled_orc[many], std::bad_alloc);
    EXPECT_EQ(new (std::nothrow) pooled_orc[many], nullptr);
}

#endif

// Hazard M8.
TEST(pooled, a_double_delete_is_reported) {
    auto* twice = new macro_orc;
    void* volatile of_it = twice;
    delete twice;
    EXPECT_DEATH(macro_orc::operator delete(of_it, sizeof(macro_orc)), "acre::static_pool: double free");
}

}  // namespace
