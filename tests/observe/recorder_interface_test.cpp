// What traced resources and the marks of observe/recording.hpp tell a recorder. This program defines the recorder's
// functions itself, as the recorder that `acre record` preloads does, and writes down the calls.
#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/observe/recording.hpp>
#include <acre/observe/traced.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

/// The calls since the last forget(), each as text.
std::vector<std::string> calls;
std::uint64_t resources = 0;
std::uint64_t moments = 0;
bool is_inside = false;

std::vector<std::string> taken() {
    return std::exchange(calls, {});
}

void note(const std::string& call) {
    calls.push_back(call);
}

std::string of(const char* what, std::uint64_t resource) {
    return std::string(what) + " " + std::to_string(resource - resources);
}

}  // namespace

extern "C" {
void acre_record_pause() noexcept {
    note("pause");
}
void acre_record_resume() noexcept {
    note("resume");
}
void acre_record_scope_begin(const char* name) noexcept {
    note(std::string("begin ") + name);
}
void acre_record_scope_end() noexcept {
    note("end");
}
std::uint64_t acre_record_new_resource() noexcept {
    return ++resources;
}
void acre_record_allocated(std::uint64_t resource, const void*, std::size_t bytes, std::size_t alignment) noexcept {
    note(of("allocated", resource) + ": " + std::to_string(bytes) + " aligned to " + std::to_string(alignment));
}
void acre_record_deallocated(std::uint64_t resource, const void*) noexcept {
    note(of("freed", resource));
}
void acre_record_reset(std::uint64_t resource) noexcept {
    note(of("reset", resource));
}
std::uint64_t acre_record_moment() noexcept {
    return ++moments;
}
void acre_record_rewound(std::uint64_t resource, std::uint64_t moment) noexcept {
    note(of("rewound", resource) + " to " + std::to_string(moment - moments));
}
bool acre_record_inside_resource(bool inside) noexcept {
    return std::exchange(is_inside, inside);
}
}

namespace {

using list = std::vector<std::string>;

/// An upstream that notes whether the recorder knows that a resource asks.
struct asked_upstream {
    bool was_inside = false;

    void* allocate(std::size_t bytes, std::size_t alignment) { return try_allocate(bytes, alignment); }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        was_inside = is_inside;
        return acre::heap{}.try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        acre::heap{}.deallocate(p, bytes, alignment);
    }
};

TEST(recorder_interface, scopes_and_pauses) {
    taken();
    {
        const acre::trace_scope level{"level"};
        acre::pause_recording();
        acre::resume_recording();
    }
    EXPECT_EQ(taken(), (list{"begin level", "pause", "resume", "end"}));
}

TEST(recorder_interface, each_allocation_of_a_traced_resource) {
    taken();
    asked_upstream below;
    {
        acre::traced<acre::pool<64>> tested{below};
        void* p = tested.allocate(40, 8);
        EXPECT_TRUE(below.was_inside) << "what the pool takes from upstream is its own affair";
        EXPECT_FALSE(is_inside);
        tested.deallocate(p, 40, 8);
        EXPECT_EQ(taken(), (list{"allocated 0: 40 aligned to 8", "freed 0"}));
    }
    EXPECT_EQ(taken(), (list{"reset 0"}));
}

TEST(recorder_interface, resizes_marks_and_resets) {
    acre::traced<acre::arena> tested;
    taken();
    const auto mark = tested.mark();
    void* p = tested.allocate(16, 8);
    EXPECT_TRUE(tested.try_resize(p, 16, 32));
    EXPECT_EQ(taken(), (list{"allocated 0: 16 aligned to 8", "freed 0", "allocated 0: 32 aligned to 1"}));
    tested.rewind(mark);
    EXPECT_EQ(taken(), (list{"rewound 0 to 0"}));
    tested.reset();
    EXPECT_EQ(taken(), (list{"reset 0"}));
}

// The constructor's own allocations are the program's, not the pool's.
struct allocates {
    explicit allocates(bool& seen) { seen = is_inside; }
    int value = 1;
};

TEST(recorder_interface, constructors_run_outside_of_the_resource) {
    acre::traced<acre::object_pool<allocates>> tested;
    bool seen = true;
    allocates* object = tested.create(seen);
    EXPECT_FALSE(seen);
    tested.destroy(object);
}

TEST(recorder_interface, a_request_that_fails_is_not_recorded) {
    acre::traced<acre::arena> tested{acre::arena_options{.limit_bytes = 0}};
    taken();
    EXPECT_EQ(tested.try_allocate(40, 8), nullptr);
    EXPECT_EQ(taken(), list{});
}

// Live allocations keep the number of the resource that moved.
TEST(recorder_interface, a_moved_resource_keeps_its_number) {
    acre::traced<acre::heap> one;
    void* p = one.allocate(8, 8);
    void* q = nullptr;
    {
        acre::traced<acre::heap> other{std::move(one)};
        taken();
        other.deallocate(p, 8, 8);
        EXPECT_EQ(taken(), (list{"freed 0"}));
        q = other.allocate(8, 8);
        taken();
        one = std::move(other);
    }
    EXPECT_EQ(taken(), list{}) << "nothing ended with the one that was moved from";
    one.deallocate(q, 8, 8);
    EXPECT_EQ(taken(), (list{"freed 0"}));
}

}  // namespace
