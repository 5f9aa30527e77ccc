// Static concurrent resources: used before main, in threads that end after them, and after main, when the main thread's
// per-thread state is gone. A failure there ends the program with status 7.
#include <gtest/gtest.h>

#include <unistd.h>

#include <acre/adapt/pool_resource.hpp>
#include <acre/arenas/concurrent_arena.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <thread>
#include <vector>

#include "threads/in_threads.hpp"

namespace {

using acre_test::patterned_block;

// For failures that are found after GoogleTest has ended.
void require(bool condition, const char* sentence) {
    if (condition) return;
    std::fprintf(stderr, "%s\n", sentence);
    std::_Exit(7);
}

// The heap with a count of its live bytes. Relaxed: only the sum matters.
class counted_heap {
public:
    void* allocate(std::size_t bytes, std::size_t alignment) { return try_allocate(bytes, alignment); }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        void* p = acre::heap{}.try_allocate(bytes, alignment);
        if (p != nullptr) live_bytes_.fetch_add(bytes, std::memory_order_relaxed);
        return p;
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        live_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
        acre::heap{}.deallocate(p, bytes, alignment);
    }
    std::size_t live_bytes() const noexcept { return live_bytes_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::size_t> live_bytes_{0};
};

// In order of construction; destroyed in reverse.
counted_heap upstream;

struct sees_all_end {
    ~sees_all_end() { require(upstream.live_bytes() == 0, "a static resource did not give everything back"); }
} witness;

// A thread that uses the resources and ends after them.
class outliving_thread {
public:
    outliving_thread() = default;
    outliving_thread(const outliving_thread&) = delete;
    outliving_thread& operator=(const outliving_thread&) = delete;
    ~outliving_thread() {
        may_end_.count_down();
        thread_.join();
    }
    template <class Use>
    void start(Use use) {
        thread_ = std::thread{[this, use] {
            use();
            used_.count_down();
            may_end_.wait();
        }};
        used_.wait();
    }

private:
    std::latch used_{1};
    std::latch may_end_{1};
    std::thread thread_;
} outliving;

acre::concurrent_pool<64> slots{upstream};
acre::concurrent_multi_pool sizes{upstream};
acre::concurrent_arena arena{upstream};
acre::synchronized_pool_resource standard;

// Blocks that live until after main.
template <class R>
class long_lived {
public:
    explicit long_lived(R& from) : from_(&from) {}
    void add(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t bytes = 1 + i % 64;
            const patterned_block made{from_->allocate(bytes, 8), bytes, kept_.size() + 1};
            require(made.p != nullptr, "a static resource gave nothing");
            made.fill();
            kept_.push_back(made);
        }
    }
    void give_back() {
        for (const patterned_block& each : kept_) {
            require(each.is_whole(), "somebody wrote into a block of a static resource");
            from_->deallocate(each.p, each.bytes, 8);
        }
        kept_.clear();
    }

private:
    R* from_;
    std::vector<patterned_block> kept_;
};

template <class R>
void allocate_and_free(R& used) {
    long_lived<R> blocks{used};
    blocks.add(300);
    blocks.give_back();
}

void use_all() {
    allocate_and_free(slots);
    allocate_and_free(sizes);
    allocate_and_free(arena);
    allocate_and_free(standard);
}

// Allocates before main, in it and after it. Destroyed before the resources.
struct users {
    users() {
        add();
        outliving.start([] { use_all(); });
        // Never destroyed.
        std::latch used{1};
        std::thread{[&used] {
            use_all();
            used.count_down();
            for (;;) pause();
        }}.detach();
        used.wait();
    }
    ~users() {
        use_all();
        std::thread{use_all}.join();
        add();
        of_slots.give_back();
        of_sizes.give_back();
        of_arena.give_back();
        of_standard.give_back();
        require(slots.live() == 0, "a static concurrent_pool lost count");
        require(sizes.live() == 0, "a static concurrent_multi_pool lost count");
        require(standard.pool().live() == 0, "a static synchronized_pool_resource lost count");
    }
    void add() {
        of_slots.add(200);
        of_sizes.add(200);
        of_arena.add(200);
        of_standard.add(200);
    }
    long_lived<acre::concurrent_pool<64>> of_slots{slots};
    long_lived<acre::concurrent_multi_pool> of_sizes{sizes};
    long_lived<acre::concurrent_arena> of_arena{arena};
    long_lived<acre::synchronized_pool_resource> of_standard{standard};
} all;

// Destroyed at the end of the main thread: before any static object, after the resources' state for that thread.
struct uses_all_at_the_end {
    ~uses_all_at_the_end() { use_all(); }
};

// Hazards B7, B8, N5.
TEST(thread_statics, from_before_main_to_after_it) {
    EXPECT_EQ(slots.live(), 200u);
    EXPECT_EQ(sizes.live(), 200u);
    EXPECT_EQ(standard.pool().live(), 200u);
    all.add();
    EXPECT_EQ(slots.live(), 400u);
    EXPECT_EQ(sizes.live(), 400u);
    EXPECT_EQ(standard.pool().live(), 400u);
    all.of_arena.add(5000);
}

// Hazards B7, N5.
TEST(thread_statics, when_the_main_thread_ends) {
    thread_local uses_all_at_the_end ends;
    (void)&ends;
    use_all();
    EXPECT_EQ(slots.live(), sizes.live());
    EXPECT_EQ(slots.live(), standard.pool().live());
}

}  // namespace
