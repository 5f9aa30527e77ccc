#include "tour.hpp"

#include <acre/acre.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#if ACRE_HAS_STANDARD_ERROR
#include <cstdio>
#include <map>
#include <memory_resource>
#include <string>
#include <thread>
#include <vector>
// Not with musl: the target's libc++ is built for glibc, and its <format> needs glibc's locales.
#if defined(__cpp_lib_format) && defined(__GLIBC__)
#include <format>
#endif
#endif

namespace {

using namespace acre::literals;

// All memory of the resources that have an upstream: nothing comes from the heap.
alignas(16_KiB) std::byte storage[192_KiB];

struct node {
    static inline int live = 0;
    explicit node(int number, node* after = nullptr) : value(number), next(after) { ++live; }
    ~node() { --live; }
    int value;
    node* next;
};

bool starts_aligned(const void* p, std::size_t alignment) {
    return p != nullptr && acre::is_aligned(p, alignment);
}

bool arena_serves_and_resets() {
    acre::buffer below{storage};
    acre::arena level{{.first_block_bytes = 1_KiB, .max_block_bytes = 16_KiB}, below};
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 100; ++i) level.create<node>(i);
        if (node::live != 100 || level.copy("Ugluk").size() != 5) return false;
        if (!starts_aligned(level.allocate(100, 64), 64)) return false;
        level.reset();
        if (node::live != 0) return false;
    }
    return level.try_allocate(sizeof storage) == nullptr && level.try_allocate(SIZE_MAX) == nullptr;
}

bool inline_arena_and_scratch_nest() {
    acre::inline_arena<1024> level{acre::no_memory{}};
    void* before = level.try_allocate(16);
    void* first = nullptr;
    {
        acre::scratch temp{level};
        first = temp.try_allocate(200);
    }
    acre::scratch again{level};
    return before != nullptr && again.try_allocate(200) == first && again.try_allocate(1024) == nullptr;
}

bool cursor_builds_a_list() {
    acre::buffer below{storage};
    acre::arena level{below};
    struct link {
        int value;
        link* next;
    };
    link* head = nullptr;
    {
        acre::cursor building{level};
        for (int i = 0; i < 500; ++i) head = building.create<link>(i, head);
    }
    int sum = 0;
    for (; head != nullptr; head = head->next) sum += head->value;
    return sum == 499 * 500 / 2;
}

bool lists_and_texts_grow_in_an_arena() {
    acre::buffer below{storage};
    acre::arena level{below};
    acre::arena_vector<int> numbers{level};
    for (int i = 0; i < 1000; ++i) numbers.push_back(i);
    acre::arena_string path{level};
    for (int i = 0; i < 10; ++i) path.append("/part");
    return numbers.size() == 1000 && numbers[999] == 999 && path.size() == 50;
}

struct orc {
    int strength = 0;
    static void* operator new(std::size_t bytes) noexcept;
    static void operator delete(void* p, std::size_t bytes) noexcept;
};
constinit acre::typed_arena<orc, 8, acre::typed_arena_options{.when_full = acre::exhaustion::null, .reuse = true},
                            acre::no_memory>
    orcs;
void* orc::operator new(std::size_t bytes) noexcept {
    return orcs.class_new(bytes);
}
void orc::operator delete(void* p, std::size_t bytes) noexcept {
    orcs.class_delete(p, bytes);
}

bool typed_arena_is_the_new_of_a_class() {
    std::array<orc*, 8> all{};
    for (int round = 0; round < 3; ++round) {
        for (orc*& each : all) each = new orc;
        if (all[7] == nullptr || new orc != nullptr || !orcs.owns(all[0])) return false;
        for (orc* each : all) delete each;
    }
    return orcs.used() == 0;
}

bool typed_arena_of_all_threads_counts() {
    static constinit acre::typed_arena<node, 4, acre::typed_arena_options{.synchronized = true}, acre::no_memory> four;
    for (int i = 0; i < 4; ++i) {
        if (four.try_create(i) == nullptr) return false;
    }
    const bool full = four.try_create(5) == nullptr;
    node::live = 0;
    return full && four.used() == four.capacity();
}

bool multi_arena_frees_in_order() {
    acre::inline_multi_arena<4, 256> messages;
    std::array<void*, 3> queue{};
    for (std::size_t i = 0; i < 300; ++i) {
        messages.deallocate(queue[i % 3], 100);
        queue[i % 3] = messages.try_allocate(100);
        if (!starts_aligned(queue[i % 3], acre::default_alignment)) return false;
    }
    for (void* each : queue) messages.deallocate(each, 100);
    return messages.busy_arenas() == 0;
}

bool pool_gives_slots_again() {
    acre::buffer below{storage};
    acre::pool<24> slots{below};
    std::array<void*, 300> all{};
    for (int round = 0; round < 3; ++round) {
        for (void*& each : all) each = slots.try_allocate();
        for (void* each : all) {
            if (!starts_aligned(each, 8)) return false;
            slots.deallocate(each);
        }
    }
    return slots.used() == 0;
}

bool object_pool_destroys() {
    acre::buffer below{storage};
    {
        acre::object_pool<node> nodes{below};
        node* list = nullptr;
        for (int i = 0; i < 200; ++i) list = nodes.create(i, list);
        int sum = 0;
        for (const node& each : nodes) sum += each.value;
        if (sum != 199 * 200 / 2) return false;
        for (int i = 0; i < 100; ++i) nodes.destroy(std::exchange(list, list->next));
        if (node::live != 100) return false;
    }
    return node::live == 0;
}

bool multi_pool_serves_many_sizes() {
    acre::buffer below{storage};
    acre::multi_pool nodes{below};
    std::array<void*, 6> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = nodes.try_allocate(40 * i + 1);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!starts_aligned(all[i], 8)) return false;
        nodes.deallocate(all[i], 40 * i + 1);
    }
    return nodes.used() == 0;
}

bool chunk_pool_has_few_sizes() {
    acre::buffer below{storage};
    acre::chunk_pool<10, 16, 64> chunks{below};
    std::array<void*, 20> all{};
    for (void*& each : all) each = chunks.try_allocate(10);
    if (all[19] == nullptr || chunks.try_allocate(10) != nullptr) return false;
    for (void* each : all) chunks.deallocate(each, 10);
    return chunks.live() == 0;
}

bool resources_combine() {
    acre::buffer below{storage};
    acre::arena level{below};
    acre::limited<acre::resource_ref> part{{.limit_bytes = 100}, level};
    acre::recycling<acre::arena> again{below};
    acre::fallback<acre::inline_buffer<64>, acre::no_memory> small;
    acre::segregate<32, acre::inline_buffer<64>, acre::no_memory> by_size;
    void* freed = again.try_allocate(100);
    again.deallocate(freed, 100);
    return part.try_allocate(60) != nullptr && part.try_allocate(60) == nullptr && again.try_allocate(100) == freed &&
           small.try_allocate(64) != nullptr && small.try_allocate(64) == nullptr &&
           by_size.try_allocate(16) != nullptr && by_size.try_allocate(40) == nullptr;
}

bool a_sentence_says_what_was_asked() {
    char text[60];
    const acre::detail::word words[] = {"acre::arena", std::size_t{4000000000}, static_cast<const void*>(nullptr)};
    acre::detail::sentence::write(text, sizeof text, "%: % bytes at %", words);
    const char* expected = "acre::arena: 4000000000 bytes at 0x0";
    for (std::size_t i = 0; text[i] != '\0' || expected[i] != '\0'; ++i) {
        if (text[i] != expected[i]) return false;
    }
    return true;
}

#if ACRE_HAS_STANDARD_ERROR
bool containers_use_resources() {
    acre::multi_pool nodes;
    std::map<int, int, std::less<>, acre::allocator<std::pair<const int, int>, acre::multi_pool>> scores{nodes};
    for (int i = 0; i < 1000; ++i) scores[i % 300] += i;
    acre::pmr<acre::arena> frame;
    std::pmr::vector<int> visible{&frame};
    for (int i = 0; i < 1000; ++i) visible.push_back(i);
    return scores.size() == 300 && visible[999] == 999;
}

// Hazard Y20, with the standard libraries that have <format>.
bool a_string_is_formatted_as_text() {
#if defined(__cpp_lib_format) && defined(__GLIBC__)
    acre::arena level;
    acre::arena_string text{"abc", level};
    std::format_to(std::back_inserter(text), "{}", 42);
    return std::format("{:>6}", text) == " abc42";
#else
    return true;
#endif
}

bool errors_are_thrown() {
    acre::limited<acre::arena> part{{.limit_bytes = 10}};
    try {
        (void)part.allocate(1000);
    } catch (const acre::limit_exceeded& error) {
        return error.bytes_needed() == 1000 && std::string{error.what()}.starts_with("acre::limited: limit exceeded");
    }
    return false;
}

bool statistics_count() {
    acre::statistics<acre::heap, acre::statistics_options{.live_map = true, .histogram = true}> watched;
    void* p = watched.allocate(100);
    const bool counted = watched.report().find("100") != std::string::npos;
    watched.deallocate(p, 100);
    return counted;
}
#endif

#if ACRE_HAS_THREADS
// Four threads at once.
template <class Function>
void in_threads(Function function) {
    std::vector<std::thread> all;
    for (int i = 0; i < 4; ++i) all.emplace_back(function);
    for (std::thread& each : all) each.join();
}

template <class Resource>
bool serves_threads(Resource& shared, std::size_t bytes) {
    std::atomic<bool> right = true;
    in_threads([&] {
        std::vector<unsigned char*> all;
        for (int round = 0; round < 500; ++round) {
            auto* p = static_cast<unsigned char*>(shared.try_allocate(bytes));
            if (p == nullptr) continue;
            p[0] = p[bytes - 1] = static_cast<unsigned char>(round);
            all.push_back(p);
            if (all.size() < 20) continue;
            for (unsigned char* each : all) {
                if (each[0] != each[bytes - 1]) right = false;
                shared.deallocate(each, bytes);
            }
            all.clear();
        }
        for (unsigned char* each : all) shared.deallocate(each, bytes);
    });
    return right;
}

bool concurrent_arena_serves_threads() {
    acre::concurrent_arena level;
    return serves_threads(level, 40) && level.used() > 0;
}
bool concurrent_multi_arena_serves_threads() {
    acre::concurrent_multi_arena frames{{.arenas = 16, .bytes = 1_KiB}};
    return serves_threads(frames, 100) && frames.busy_arenas() == 0;
}
bool concurrent_pools_serve_threads() {
    acre::concurrent_pool<64> slots;
    acre::concurrent_multi_pool nodes;
    return serves_threads(slots, 64) && serves_threads(nodes, 100) && nodes.used() == 0;
}
bool synchronized_serves_threads() {
    acre::synchronized<acre::pool<64>, acre::spin_lock> slots;
    acre::synchronized<acre::multi_pool> nodes;
    return serves_threads(slots, 64) && serves_threads(nodes, 100);
}
bool wait_free_pool_serves() {
    acre::wait_free_pool<256, 64> frames{{.slots = 64}};
    void* p = frames.try_allocate();
    std::thread{[&] { frames.deallocate(p); }}.join();
    return p != nullptr && frames.try_allocate() != nullptr;
}
struct troll : acre::pooled<troll> {
    int strength[5] = {};
};
bool pooled_serves_threads() {
    in_threads([] {
        for (int i = 0; i < 500; ++i) delete new troll;
    });
    return acre::static_pool<sizeof(troll)>::live() == 0;
}
bool thread_scratch_ends_with_its_thread() {
    std::atomic<int> served = 0;
    in_threads([&] {
        acre::scratch temp = acre::thread_scratch();
        served += temp.try_allocate(1000) != nullptr;
    });
    return served == 4;
}
#endif

bool realtime_heap_keeps_its_word() {
    constexpr acre::allocation_peak peaks[] = {{.bytes = 64, .count = 100}, {.bytes = 512, .count = 10}};
    constexpr acre::realtime_heap_options options{.arenas = acre::required_arenas(peaks, 1024), .bytes = 1024};
    acre::buffer below{storage};
    acre::realtime_heap control{options, below};
    std::array<void*, 100> small{};
    std::array<void*, 10> large{};
    for (int round = 0; round < 3; ++round) {
        for (void*& each : small) each = control.try_allocate(60);
        for (void*& each : large) each = control.try_allocate(500);
        for (void* each : small) {
            if (!starts_aligned(each, 8)) return false;
            control.deallocate(each, 60);
        }
        for (void* each : large) {
            if (each == nullptr) return false;
            control.deallocate(each, 500);
        }
    }
    return control.busy_arenas() == 0 && control.most_busy_arenas() == options.arenas;
}

struct test_case {
    const char* name;
    bool (*passes)();
};

constexpr test_case cases[] = {
    {"arena_serves_and_resets", &arena_serves_and_resets},
    {"inline_arena_and_scratch_nest", &inline_arena_and_scratch_nest},
    {"cursor_builds_a_list", &cursor_builds_a_list},
    {"lists_and_texts_grow_in_an_arena", &lists_and_texts_grow_in_an_arena},
    {"typed_arena_is_the_new_of_a_class", &typed_arena_is_the_new_of_a_class},
    {"typed_arena_of_all_threads_counts", &typed_arena_of_all_threads_counts},
    {"multi_arena_frees_in_order", &multi_arena_frees_in_order},
    {"pool_gives_slots_again", &pool_gives_slots_again},
    {"object_pool_destroys", &object_pool_destroys},
    {"multi_pool_serves_many_sizes", &multi_pool_serves_many_sizes},
    {"chunk_pool_has_few_sizes", &chunk_pool_has_few_sizes},
    {"realtime_heap_keeps_its_word", &realtime_heap_keeps_its_word},
    {"resources_combine", &resources_combine},
    {"a_sentence_says_what_was_asked", &a_sentence_says_what_was_asked},
#if ACRE_HAS_STANDARD_ERROR
    {"containers_use_resources", &containers_use_resources},
    {"a_string_is_formatted_as_text", &a_string_is_formatted_as_text},
    {"errors_are_thrown", &errors_are_thrown},
    {"statistics_count", &statistics_count},
#endif
#if ACRE_HAS_THREADS
    {"concurrent_arena_serves_threads", &concurrent_arena_serves_threads},
    {"concurrent_multi_arena_serves_threads", &concurrent_multi_arena_serves_threads},
    {"concurrent_pools_serve_threads", &concurrent_pools_serve_threads},
    {"synchronized_serves_threads", &synchronized_serves_threads},
    {"wait_free_pool_serves", &wait_free_pool_serves},
    {"pooled_serves_threads", &pooled_serves_threads},
    {"thread_scratch_ends_with_its_thread", &thread_scratch_ends_with_its_thread},
#endif
};

}  // namespace

int acre_test::run_tour(void (*print)(const char* text)) {
    std::size_t failed = 0;
    for (const test_case& each : cases) {
        const bool passes = each.passes();
        print(passes ? "ok " : "FAILED ");
        print(each.name);
        print("\n");
        failed += !passes;
    }
    char line[64];
    const acre::detail::word words[] = {failed == 0 ? std::size(cases) : failed, failed == 0 ? "passed" : "failed"};
    acre::detail::sentence::write(line, sizeof line, "% %\n", words);
    print(line);
    return failed == 0 ? 0 : 1;
}

#if ACRE_HAS_STANDARD_ERROR
int main() {
    return acre_test::run_tour([](const char* text) { std::fputs(text, stdout); });
}
#endif
