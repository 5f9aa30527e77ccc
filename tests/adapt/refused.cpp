// What the adapters refuse at compile time. CMakeLists.txt lists the cases; each is compiled with ACRE_TEST_CASE set to
// its number. Case 0 is the rest of the file, which compiles.
#include <acre/adapt/allocator.hpp>
#include <acre/adapt/ambient.hpp>
#include <acre/adapt/ambient_arena.hpp>
#include <acre/adapt/pmr.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <acre/adapt/unique_resource.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/combine/fallback.hpp>
#include <acre/combine/recycling.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC diagnostic error "-Wunused-result"
#if defined(__clang__)
#pragma GCC diagnostic error "-Wunused-value"
#endif

template <class T, class R>
using list_in = std::list<T, acre::allocator<T, R>>;

struct monster {
    virtual ~monster() = default;
};
struct orc : monster {};
struct plain_monster {};
struct plain_orc : plain_monster {
    int axes[10] = {};
};
struct flying_orc : virtual monster {};

void nodes_fit_the_slots() {
    acre::pool<64> slots;
    list_in<int, acre::pool<64>> numbers{slots};
    numbers.push_back(1);
    // An array larger than a slot is a block of its own on purpose.
    std::vector<int, acre::allocator<int, acre::pool<64>>> array{slots};
    array.resize(1000);
    acre::object_pool<int> integers;
    auto one = acre::make_unique<int>(integers, 1);
}

// An object pool takes its own class, and what is destroyed as one of it.
struct same_size_orc : monster {};
struct same_size_plain_orc : plain_monster {};
void objects_of_their_pool() {
    acre::object_pool<monster> monsters;
    auto one = acre::make_unique<const monster>(monsters);
    acre::unique_ptr<monster, acre::object_pool<monster>> derived = acre::make_unique<same_size_orc>(monsters);
    std::shared_ptr<monster> shared{acre::make_unique<monster>(monsters)};
    acre::object_pool<plain_monster> plain;
    auto plain_one = acre::make_unique<same_size_plain_orc>(plain);
    acre::pmr<acre::pool<64>> slots;
    acre::pmr<acre::arena> memory;
    std::vector<int, acre::allocator<int, acre::arena>> numbers{*memory};
    acre::recycling<acre::pool<64>> freed;
}

// A resource is a variable, a pointer to one or a handle, or an argument of the object where its constructor takes it.
struct lives_in {
    explicit lives_in(acre::arena*, int = 0) {}
    explicit lives_in(const acre::arena&) {}
};
void resources_by_name() {
    acre::arena level;
    acre::pmr<acre::arena> memory;
    auto one = acre::make_unique<int>(level, 1);
    auto another = acre::make_unique<int>(memory.get(), 1);
    auto third = acre::make_unique<int>(&memory, 1);
    auto fourth = acre::make_shared<int>(&memory, 1);
    acre::unique_resource<acre::arena> handle;
    auto fifth = acre::make_shared<int>(handle, 1);
    auto sixth = acre::make_unique<int>(&level, 1);
    acre::multi_pool nodes{&level};
    acre::fallback either{handle, acre::heap{}};
    acre::statistics<acre::arena> counted;
    acre::use_arena in_it{level};
    acre::use_resource of_it{nodes};
    acre::inline_arena<64> inside;
    std::vector<int, acre::allocator<int, acre::arena>> numbers{inside};
    std::queue<int, list_in<int, acre::multi_pool>> waiting{acre::allocator<int, acre::multi_pool>{nodes}};
    acre::resource_ref any{level};
    std::vector<int, acre::allocator<int, acre::resource_ref>> anywhere{any};
}
void resources_for_the_object() {
    using namespace std;
    using namespace acre;
    acre::arena level;
    auto one = make_unique<lives_in>(&level);
    auto two = make_unique<lives_in>(std::as_const(level));
}

struct remembering {
    using allocator_type = acre::allocator<char, acre::arena>;
    explicit remembering(int) {}
    remembering(int, allocator_type) {}
    remembering(const remembering&, allocator_type) {}
};
// It has no constructor for a number and an allocator.
struct forgetful {
    using allocator_type = acre::allocator<char, acre::arena>;
    explicit forgetful(int) {}
    forgetful(const forgetful&, allocator_type) {}
};

void elements_take_the_allocator() {
    acre::arena level;
    std::vector<remembering, acre::allocator<remembering, acre::arena>> all{level};
    all.emplace_back(1);
}

void arrays_and_complete_classes() {
    acre::arena level;
    auto several = acre::make_unique<int[]>(level, 5);
    acre::unique_ptr<const int[], acre::arena> read_only = std::move(several);
    struct holder {
        acre::unique_ptr<monster, acre::arena> one;
    };
}

struct large_orc : monster {
    char axes[(std::size_t{1} << 29) - 64];
};
void bases_have_virtual_destructors() {
    acre::arena level;
    acre::unique_ptr<monster, acre::arena> largest = acre::make_unique<large_orc>(level);
    acre::unique_ptr<monster, acre::arena> any = acre::make_unique<orc>(level);
}

// Upstreams of the same type, and elements that hold a string.
using text_in_level = std::basic_string<char, std::char_traits<char>, acre::allocator<char, acre::arena>>;
void upstreams_and_texts() {
    acre::arena level;
    acre::arena other{&level};
    acre::statistics<acre::multi_pool> counted;
    acre::multi_pool nodes{&counted};
    std::vector<std::optional<text_in_level>, acre::allocator<std::optional<text_in_level>, acre::arena>> all{level};
    all.emplace_back(text_in_level{"text", level});
    all.emplace_back(std::nullopt);
    std::vector<int*, acre::allocator<int*, acre::arena>> none(3, nullptr, level);
    std::vector<acre::multi_pool*, acre::allocator<acre::multi_pool*, acre::arena>> pools{{&nodes, nullptr}, &level};
    acre::object_pool<int> numbers;
    numbers.destroy(numbers.create(1));
    static_assert(!std::is_copy_constructible_v<acre::arena> && !std::is_move_constructible_v<acre::arena>);
    static_assert(!std::is_copy_constructible_v<acre::statistics<acre::arena>>);
    static_assert(!std::is_convertible_v<std::nullptr_t, acre::resource_ref>);
    static_assert(!std::is_convertible_v<int, text_in_level::allocator_type>);
}

#if ACRE_TEST_CASE == 1
void nodes_of_a_list() {
    acre::object_pool<int> integers;
    list_in<int, acre::object_pool<int>> numbers{integers};
    numbers.push_back(1);
}
#elif ACRE_TEST_CASE == 2
void nodes_under_a_lock() {
    acre::synchronized<acre::pool<16>> slots;
    list_in<int, acre::synchronized<acre::pool<16>>> numbers{slots};
    numbers.push_back(1);
}
#elif ACRE_TEST_CASE == 3
void nodes_in_a_static_pool() {
    list_in<int, acre::static_pool<16>> numbers;
    numbers.push_back(1);
}
#elif ACRE_TEST_CASE == 4
void shared_objects_with_their_counts() {
    acre::object_pool<int> integers;
    auto shared = acre::make_shared<int>(integers, 1);
}
#elif ACRE_TEST_CASE == 5
void unique_objects_of_another_class() {
    acre::object_pool<int> integers;
    auto owned = acre::make_unique<plain_orc>(integers);
}
#elif ACRE_TEST_CASE == 6
void bases_without_a_virtual_destructor() {
    acre::arena level;
    acre::unique_ptr<plain_monster, acre::arena> any = acre::make_unique<plain_orc>(level);
}
#elif ACRE_TEST_CASE == 8
struct unknown;
void pointers_that_end_before_their_class_is_defined() {
    acre::unique_ptr<unknown, acre::arena> one;
}
#elif ACRE_TEST_CASE == 9
void arrays_of_a_known_length() {
    acre::arena level;
    auto several = acre::make_unique<int[5]>(level);
}
#elif ACRE_TEST_CASE == 10
void elements_that_would_lose_their_allocator() {
    acre::arena level;
    std::vector<forgetful, acre::allocator<forgetful, acre::arena>> all{level};
    all.emplace_back(1);
}
#elif ACRE_TEST_CASE == 7
void virtual_bases() {
    acre::arena level;
    acre::unique_ptr<monster, acre::arena> any = acre::make_unique<flying_orc>(level);
}
#elif ACRE_TEST_CASE == 11
void nodes_in_a_larger_slot() {
    acre::object_pool<plain_orc> orcs;
    list_in<int, acre::object_pool<plain_orc>> numbers{orcs};
    numbers.push_back(1);
}
#elif ACRE_TEST_CASE == 12
void nodes_in_a_larger_slot_under_a_lock() {
    acre::synchronized<acre::statistics<acre::object_pool<plain_orc>>> orcs;
    list_in<int, acre::synchronized<acre::statistics<acre::object_pool<plain_orc>>>> numbers{orcs};
    numbers.push_back(1);
}
#elif ACRE_TEST_CASE == 13
void nodes_in_a_pool_with_a_fallback() {
    acre::fallback<acre::object_pool<plain_orc>, acre::heap> orcs;
    list_in<int, acre::fallback<acre::object_pool<plain_orc>, acre::heap>> numbers{orcs};
    numbers.push_back(1);
}
#elif ACRE_TEST_CASE == 14
void unique_objects_of_another_class_that_fit() {
    acre::object_pool<plain_orc> orcs;
    auto number = acre::make_unique<int>(orcs, 1);
}
#elif ACRE_TEST_CASE == 15
void unique_arrays_of_another_class() {
    acre::object_pool<plain_orc> orcs;
    auto numbers = acre::make_unique<int[]>(orcs, 2);
}
#elif ACRE_TEST_CASE == 16
void a_memory_resource_of_an_object_pool() {
    acre::pmr<acre::object_pool<plain_orc>> memory;
}
#elif ACRE_TEST_CASE == 17
void a_unique_object_by_a_pointer_to_a_const_resource() {
    acre::arena level;
    const acre::arena* read_only = &level;
    auto number = acre::make_unique<int>(read_only, 1);
}
#elif ACRE_TEST_CASE == 18
void a_unique_object_by_a_temporary_handle() {
    auto number = acre::make_unique<int>(acre::unique_resource<acre::arena>{}, 1);
}
#elif ACRE_TEST_CASE == 19
void a_unique_object_in_a_const_resource() {
    const acre::arena level;
    auto number = acre::make_unique<int>(level, 1);
}
#elif ACRE_TEST_CASE == 20
void a_handle_of_a_temporary() {
    acre::allocator<int, acre::resource_ref> numbers(acre::arena{});
}
#elif ACRE_TEST_CASE == 21
void an_upstream_that_is_const() {
    const acre::arena level;
    acre::multi_pool nodes{level};
}
#elif ACRE_TEST_CASE == 22
void a_shared_object_in_a_temporary() {
    auto number = acre::make_shared<int>(acre::arena{}, 1);
}
#elif ACRE_TEST_CASE == 23
void a_part_by_a_temporary_handle() {
    acre::fallback either{acre::unique_resource<acre::arena>{}, acre::heap{}};
}
#elif ACRE_TEST_CASE == 24
void a_container_by_a_temporary_handle() {
    std::vector<int, acre::allocator<int, acre::arena>> numbers{acre::unique_resource<acre::arena>{}};
}
#elif ACRE_TEST_CASE == 25
void a_container_in_a_const_resource() {
    const acre::arena level;
    std::vector<int, acre::allocator<int, acre::arena>> numbers{level};
}
#elif ACRE_TEST_CASE == 26
void a_vector_of_the_pools_own_class() {
    acre::object_pool<plain_orc> orcs;
    std::vector<plain_orc, acre::allocator<plain_orc, acre::object_pool<plain_orc>>> band{orcs};
    band.reserve(1);
}
#elif ACRE_TEST_CASE == 27
void unique_arrays_of_the_pools_own_class() {
    acre::object_pool<plain_orc> orcs;
    auto band = acre::make_unique<plain_orc[]>(orcs, 0);
}
#elif ACRE_TEST_CASE == 28
void recycling_of_an_object_pool() {
    acre::recycling<acre::object_pool<plain_orc>> orcs;
}
#elif ACRE_TEST_CASE == 29
void clear_of_a_handle() {
    acre::unique_resource<acre::arena> level;
    level.clear();
}
#elif ACRE_TEST_CASE == 30
void clear_under_a_lock() {
    acre::synchronized<acre::object_pool<int>> numbers;
    numbers.clear();
}
#elif ACRE_TEST_CASE == 31
void statistics_of_a_reference() {
    acre::statistics<acre::arena&> counted;
}
#elif ACRE_TEST_CASE == 32
void an_arena_used_in_no_scope() {
    acre::arena level;
    acre::use_arena{level};
}
#elif ACRE_TEST_CASE == 33
void a_resource_used_in_no_scope() {
    acre::multi_pool nodes;
    acre::use_resource{nodes};
}
#elif ACRE_TEST_CASE == 34
void an_upstream_of_its_own_type() {
    acre::arena level;
    acre::arena other{level};
}
#elif ACRE_TEST_CASE == 35
void an_upstream_that_counts_its_own_type() {
    acre::statistics<acre::multi_pool> counted;
    acre::multi_pool nodes{counted};
}
#elif ACRE_TEST_CASE == 36
void an_upstream_that_ends_at_once() {
    acre::multi_pool nodes{acre::arena{}};
}
#elif ACRE_TEST_CASE == 37
void an_upstream_that_is_null() {
    acre::multi_pool nodes{nullptr};
}
#elif ACRE_TEST_CASE == 38
void a_container_in_null() {
    std::vector<int, acre::allocator<int, acre::arena>> numbers{nullptr};
}
#elif ACRE_TEST_CASE == 39
void a_container_by_a_pointer_to_another_resource() {
    acre::multi_pool nodes;
    std::vector<int, acre::allocator<int, acre::arena>> numbers{&nodes};
}
#elif ACRE_TEST_CASE == 40
void a_container_in_another_resource() {
    acre::multi_pool nodes;
    std::vector<int, acre::allocator<int, acre::arena>> numbers{nodes};
}
#elif ACRE_TEST_CASE == 41
void a_container_by_a_reference_wrapper() {
    acre::arena level;
    std::vector<int, acre::allocator<int, acre::arena>> numbers{std::ref(level)};
}
#elif ACRE_TEST_CASE == 42
void a_text_for_an_optional_string() {
    acre::arena level;
    std::vector<std::optional<text_in_level>, acre::allocator<std::optional<text_in_level>, acre::arena>> all{level};
    all.emplace_back("text");
}
#elif ACRE_TEST_CASE == 43
void a_copy_of_a_handle() {
    acre::unique_resource<acre::arena> level;
    acre::unique_resource<acre::arena> other{level};
}
#elif ACRE_TEST_CASE == 44
void a_copy_of_a_pool() {
    const acre::multi_pool nodes;
    acre::multi_pool other = nodes;
}
#elif ACRE_TEST_CASE == 45
void remove_of_an_object_pool() {
    acre::object_pool<int> numbers;
    numbers.remove(numbers.create(1));
}
#elif ACRE_TEST_CASE == 46
struct vast_orc : monster {
    char axes[std::size_t{1} << 29];
};
void an_object_too_large_for_its_base() {
    acre::multi_pool nodes;
    auto one = acre::make_unique<vast_orc>(nodes);
}
#elif ACRE_TEST_CASE == 47
void a_queue_in_a_resource() {
    acre::multi_pool nodes;
    std::queue<int, list_in<int, acre::multi_pool>> waiting{nodes};
}
#elif ACRE_TEST_CASE == 48
// As std::regex, EnTT and plf::hive do: the caller's allocator serves some members, and others make their own.
template <class T, class Allocator>
struct foreign_registry {
    explicit foreign_registry(const Allocator& given) : elements(given) {}
    std::vector<T, Allocator> elements;
    std::vector<int, typename std::allocator_traits<Allocator>::template rebind_alloc<int>> sparse;
};
void an_allocator_that_a_library_makes() {
    acre::multi_pool nodes;
    foreign_registry<char, acre::allocator<char, acre::multi_pool>> entities{nodes};
}
#elif ACRE_TEST_CASE == 49
struct late_base;
struct owner_of_a_base {
    acre::unique_ptr<late_base, acre::arena> any;
};
struct late_base {
    virtual ~late_base() = default;
};
void a_base_that_is_defined_late() {
    owner_of_a_base ended;
}
#endif
