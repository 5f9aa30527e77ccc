// T1 and T2: two threads that allocate and free for themselves, and a producer whose blocks a consumer frees. T4: two
// threads that allocate from one arena. Threads are started once and wait at a gate between rounds.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../harness.hpp"
#include "../threads_in_rounds.hpp"

namespace bench {

inline constexpr std::size_t shared_block_bytes = 64;
inline constexpr std::size_t local_batch = 1000;
inline constexpr std::size_t local_batches = 50;
inline constexpr std::size_t ring_slots = 4096;
inline constexpr std::size_t sent_blocks = 100'000;

/// Bounded, one thread in, one out. Each end looks at the other's position only when it must.
class ring {
public:
    void push(void* p) noexcept {
        const std::size_t tail = tail_.load(std::memory_order_relaxed);
        while (tail - head_seen_ == ring_slots) head_seen_ = look_again(head_, head_seen_);
        slots_[tail % ring_slots] = p;
        tail_.store(tail + 1, std::memory_order_release);
    }
    void* pop() noexcept {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        while (head == tail_seen_) tail_seen_ = look_again(tail_, tail_seen_);
        void* p = slots_[head % ring_slots];
        head_.store(head + 1, std::memory_order_release);
        return p;
    }

private:
    static std::size_t look_again(const std::atomic<std::size_t>& position, std::size_t seen) noexcept {
        const std::size_t now = position.load(std::memory_order_acquire);
        // On a machine with fewer processors than threads the other end needs this one.
        if (now == seen) std::this_thread::yield();
        return now;
    }

    alignas(64) std::atomic<std::size_t> head_ = 0;
    std::size_t tail_seen_ = 0;
    alignas(64) std::atomic<std::size_t> tail_ = 0;
    std::size_t head_seen_ = 0;
    alignas(64) std::array<void*, ring_slots> slots_{};
};

/// A `Blocks` has `void* allocate()` and `void deallocate(void*)` for blocks of shared_block_bytes, from any thread.
template <class Blocks>
class two_local_threads {
public:
    void operator()() { threads_(); }

private:
    void run() {
        std::array<void*, local_batch> taken;
        for (std::size_t batch = 0; batch < local_batches; ++batch) {
            for (void*& each : taken) touch(each = blocks_.allocate());
            for (std::size_t i = local_batch; i > 0; --i) blocks_.deallocate(taken[i - 1]);
        }
    }

    Blocks blocks_;
    threads_in_rounds threads_{{[this] { run(); }, [this] { run(); }}};
};

template <class Blocks>
class producer_and_consumer {
public:
    void operator()() { threads_(); }

private:
    void produce() {
        for (std::size_t i = 0; i < sent_blocks; ++i) {
            void* p = blocks_.allocate();
            touch(p);
            ring_.push(p);
        }
    }
    void consume() {
        for (std::size_t i = 0; i < sent_blocks; ++i) {
            void* p = ring_.pop();
            escape(p);
            blocks_.deallocate(p);
        }
    }

    Blocks blocks_;
    ring ring_;
    threads_in_rounds threads_{{[this] { produce(); }, [this] { consume(); }}};
};

inline constexpr std::size_t shared_allocations = 50'000;

/// Sizes in bytes, in the order in which a thread asks for them.
struct eight_bytes {
    static constexpr std::size_t at(std::size_t) noexcept { return 8; }
};
struct mixed_bytes {
    static std::size_t at(std::size_t i) noexcept {
        static const std::vector<std::size_t> sizes = [] {
            random_numbers random{41};
            std::vector<std::size_t> made(1024);
            for (std::size_t& each : made) each = 8 + random.below(249);
            return made;
        }();
        return sizes[i % 1024];
    }
};

/// An `Arena` has `void* allocate(thread, bytes)` and `void reset()`.
template <class Arena, class Sizes>
class two_threads_one_arena {
public:
    void operator()() {
        threads_();
        arena_.reset();
    }

private:
    void run(std::size_t thread) {
        for (std::size_t i = 0; i < shared_allocations; ++i) touch(arena_.allocate(thread, Sizes::at(i)));
    }

    Arena arena_;
    threads_in_rounds threads_{{[this] { run(0); }, [this] { run(1); }}};
};

template <class Arena>
void enter_shared_arena(suite& entries, const std::string& name) {
    const auto enter = [&]<class Sizes>(const std::string& id, const std::string& sizes, Sizes) {
        entries.enter({.id = id,
                       .title = "two threads allocate " + sizes +
                                " from one arena, 50,000 each, then a reset; **wall time** for one of each thread",
                       .operations = shared_allocations,
                       .time = time_kind::wall,
                       .in_fresh_processes = true},
                      name, [] { return make_round<two_threads_one_arena<Arena, Sizes>>(); });
    };
    enter("T4 8 B", "8 B", eight_bytes{});
    enter("T4 8..256 B", "8..256 B", mixed_bytes{});
}

template <class Blocks>
void enter_producer_and_consumer(suite& entries, const std::string& name) {
    entries.enter(
        {.id = "T2",
         .title = "one thread allocates 64 B, another frees it, through a ring of 4,096; **wall time** an item",
         .operations = sent_blocks,
         .time = time_kind::wall,
         .in_fresh_processes = true},
        name, [] { return make_round<producer_and_consumer<Blocks>>(); });
}

template <class Blocks>
void enter_local_threads(suite& entries, const std::string& name) {
    entries.enter({.id = "T1",
                   .title = "two threads, each for itself: 1,000 blocks of 64 B allocated, then freed newest first; "
                            "**wall time** for a pair of each thread",
                   .operations = local_batch * local_batches,
                   .time = time_kind::wall,
                   .in_fresh_processes = true},
                  name, [] { return make_round<two_local_threads<Blocks>>(); });
}

template <class Blocks>
void enter_threads(suite& entries, const std::string& name) {
    enter_local_threads<Blocks>(entries, name);
    enter_producer_and_consumer<Blocks>(entries, name);
}

}  // namespace bench
