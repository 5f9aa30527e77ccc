// acre::describe and acre::dump: the line about each kind of resource, with the numbers that the resource publishes.
// tests/conformance describes every resource.
#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <acre/adapt/malloc_face.hpp>
#include <acre/adapt/program_pools.hpp>
#include <acre/observe/describe.hpp>
#include <acre/observe/dump.hpp>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

template <class R>
std::string line_of(const R& r) {
    std::string text;
    acre::describe(r, [&text](std::string_view line) { text = line; });
    return text;
}

std::string bytes_of(std::size_t used, std::size_t capacity) {
    return std::to_string(used) + " of " + std::to_string(capacity) + " bytes used";
}

TEST(describe, an_arena) {
    acre::arena level;
    EXPECT_EQ(line_of(level), "acre::arena: 0 of 0 bytes used, 0 bytes wasted");
    (void)level.allocate(100);
    EXPECT_EQ(line_of(level), "acre::arena: " + bytes_of(level.used(), level.capacity()) + ", " +
                                  std::to_string(level.wasted()) + " bytes wasted");
}

TEST(describe, pools) {
    acre::object_pool<int> numbers;
    for (int i = 0; i < 5; ++i) numbers.create(i);
    EXPECT_EQ(line_of(numbers), "acre::object_pool: " + bytes_of(numbers.used(), numbers.capacity()) + ", 5 live, " +
                                    std::to_string(numbers.slots()) + " slots");
    acre::multi_pool nodes;
    for (const std::size_t bytes : {8U, 100U, 100'000U}) (void)nodes.allocate(bytes);
    EXPECT_EQ(line_of(nodes), "acre::multi_pool: " + bytes_of(nodes.used(), nodes.capacity()) + ", 3 live");
}

TEST(describe, equal_arenas) {
    acre::multi_arena frames{{.arenas = 4, .bytes = 256}};
    for (int i = 0; i < 3; ++i) (void)frames.allocate(100);
    EXPECT_EQ(line_of(frames),
              "acre::multi_arena: " + bytes_of(frames.used(), 1024) + ", 3 live, 2 of 4 arenas of 256 bytes busy");
}

TEST(describe, a_scratch_by_its_arena) {
    acre::arena level;
    acre::scratch temp{level};
    (void)temp.allocate(100);
    EXPECT_EQ(line_of(temp), "acre::scratch: " + line_of(level));
    temp.end();
    EXPECT_EQ(line_of(temp), "acre::scratch: ended");
}

TEST(describe, what_a_wrapper_counts) {
    acre::limited<acre::pool<64>> few{{.limit_bytes = 1000}};
    void* freed = few.allocate(64, 8);
    (void)few.allocate(64, 8);
    few.deallocate(freed, 64, 8);
    EXPECT_NE(line_of(few).find("acre::pool: " + bytes_of(few.used(), few.capacity()) + ", 1 live"), std::string::npos);
    EXPECT_NE(line_of(few).find("limited to 1000 bytes, 64 live in 1 allocations, 128 at the peak"), std::string::npos);

    acre::statistics<acre::arena> watched;
    (void)watched.allocate(100);
    EXPECT_NE(line_of(watched).find("counted 1 allocations of 100 bytes live, 100 bytes at the peak, 0 refused"),
              std::string::npos);
}

TEST(describe, a_resource_in_others) {
    acre::synchronized<acre::statistics<acre::multi_pool>> nodes;
    (void)nodes.allocate(24, 8);
    EXPECT_EQ(line_of(nodes).find("acre::synchronized: acre::multi_pool: "), 0u);
    EXPECT_NE(line_of(nodes).find("counted 1 allocations of 24 bytes live"), std::string::npos);

    acre::pmr<acre::arena> face;
    (void)face->allocate(40);
    EXPECT_EQ(line_of(face), line_of(*face));
    const acre::unique_resource<acre::arena> owned{acre::arena_options{}};
    EXPECT_EQ(line_of(owned), "acre::unique_resource: " + line_of(*owned));
}

TEST(describe, what_consists_of_two_by_both) {
    acre::fallback<acre::inline_buffer<256>, acre::arena> request;
    (void)request.allocate(16, 16);
    EXPECT_EQ(line_of(request), "acre::fallback: " + line_of(request.primary()) + ", " + line_of(request.secondary()));
    acre::segregate<64, acre::heap, acre::fallback<acre::pool<64>, acre::heap>> by_size;
    (void)by_size.large().primary().allocate(64, 8);
    EXPECT_EQ(line_of(by_size),
              "acre::segregate: acre::heap, acre::fallback: " + line_of(by_size.large().primary()) + ", acre::heap");
}

TEST(describe, what_stands_for_another_by_that) {
    acre::multi_pool nodes;
    acre::malloc_face memory{nodes};
    void* p = memory.malloc(100);
    EXPECT_EQ(line_of(memory), "acre::malloc_face: " + line_of(nodes));
    memory.free(p);
    EXPECT_EQ(line_of(acre::program_pools{}), "acre::program_pools: " + line_of(acre::program_pools::get()));
}

// As general_heap, which not every target has.
struct heap_like {
    struct held {
        std::size_t slot_bytes = 1, free_slot_bytes = 2, large_bytes = 3, free_run_bytes = 4;
    };
    static constexpr const char* name = "a heap";
    static held figures() { return {}; }
};

TEST(describe, the_figures_of_a_heap) {
    EXPECT_EQ(line_of(heap_like{}),
              "a heap: 1 bytes in slots, 3 in large allocations, 2 in free slots, 4 in free runs");
}

TEST(describe, resources_without_numbers) {
    EXPECT_EQ(line_of(acre::heap{}), acre::heap::name);
    acre::arena level;
    EXPECT_EQ(line_of(acre::resource_ref{level}), "resource");
}

// The sink runs without the lock: it may use the resource.
TEST(describe, the_sink_may_use_a_synchronized_resource) {
    acre::synchronized<acre::pool<32>> slots;
    acre::describe(slots, [&](std::string_view line) {
        EXPECT_FALSE(line.empty());
        slots.deallocate(slots.allocate(32, 8), 32, 8);
    });
}

TEST(dump, prints_the_line) {
    acre::arena level;
    std::FILE* file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    acre::dump(level, file);
    std::rewind(file);
    char text[100] = "";
    EXPECT_NE(std::fgets(text, sizeof text, file), nullptr);
    EXPECT_EQ(text, line_of(level) + "\n");
    std::fclose(file);
}

}  // namespace
