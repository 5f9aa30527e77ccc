// T1: threads that allocate and free for themselves. T2: producers whose blocks consumers free. T3: threads that end
// and leave their blocks to their successors. T4: threads that allocate from one arena. All run in two threads; all but
// T3 also run in one to sixteen for the scaling tables. Except in T3, threads are started once and wait at a gate
// between rounds.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
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

/// A bounded queue from one thread to one thread. Each end reads the other's position only when it must.
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
        // With fewer processors than threads, the other end needs this processor.
        if (now == seen) std::this_thread::yield();
        return now;
    }

    alignas(64) std::atomic<std::size_t> head_ = 0;
    std::size_t tail_seen_ = 0;
    alignas(64) std::atomic<std::size_t> tail_ = 0;
    std::size_t head_seen_ = 0;
    alignas(64) std::array<void*, ring_slots> slots_{};
};

/// The numbers of threads in the scaling tables.
inline constexpr std::array<std::size_t, 5> scaling_threads{1, 2, 4, 8, 16};
inline constexpr std::size_t max_threads = scaling_threads.back();

/// A `Blocks` has `void* allocate()` and `void deallocate(void*)` for blocks of shared_block_bytes, from any thread.
template <class Blocks>
class local_threads {
public:
    explicit local_threads(std::size_t threads)
        : threads_{std::vector<std::function<void()>>(threads, [this] { run(); })} {}

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
    threads_in_rounds threads_;
};

/// Pairs of threads, each with its own ring; all use the same `Blocks`.
template <class Blocks>
class producers_and_consumers {
public:
    explicit producers_and_consumers(std::size_t pairs) : rings_{new ring[pairs]}, threads_{works(pairs)} {}

    void operator()() { threads_(); }

private:
    std::vector<std::function<void()>> works(std::size_t pairs) {
        std::vector<std::function<void()>> all;
        for (std::size_t i = 0; i < pairs; ++i) {
            all.push_back([this, &between = rings_[i]] { produce(between); });
            all.push_back([this, &between = rings_[i]] { consume(between); });
        }
        return all;
    }

    void produce(ring& to) {
        for (std::size_t i = 0; i < sent_blocks; ++i) {
            void* p = blocks_.allocate();
            touch(p);
            to.push(p);
        }
    }
    void consume(ring& from) {
        for (std::size_t i = 0; i < sent_blocks; ++i) {
            void* p = from.pop();
            escape(p);
            blocks_.deallocate(p);
        }
    }

    Blocks blocks_;
    std::unique_ptr<ring[]> rings_;
    threads_in_rounds threads_;
};

/// Sizes in bytes, in the order in which a thread requests them.
template <std::size_t Bytes>
struct equal_bytes {
    static constexpr std::size_t at(std::size_t) noexcept { return Bytes; }
};
template <std::size_t Least, std::size_t Most>
struct mixed_bytes {
    static std::size_t at(std::size_t i) noexcept {
        static const std::vector<std::size_t> sizes = [] {
            random_numbers random{41};
            std::vector<std::size_t> made(1024);
            for (std::size_t& each : made) each = Least + random.below(Most - Least + 1);
            return made;
        }();
        return sizes[i % 1024];
    }
};

inline constexpr std::size_t inherited_slots = 1000;
inline constexpr std::size_t replacements = 25'000;  // by each thread
inline constexpr std::size_t generations = 4;        // of threads in a round
inline constexpr std::size_t successions = 2;

/// Two successions of threads. Each thread inherits slots full of blocks. 25,000 times it frees a random one and
/// allocates another in its slot. Then it ends and its successor starts. A `Blocks` has `void* allocate(bytes)` and
/// `void deallocate(void*, bytes)`, from any thread.
template <class Blocks, class Sizes>
class threads_that_inherit {
public:
    threads_that_inherit() {
        for (std::vector<slot>& inherited : successions_) {
            for (slot& each : inherited) fill(each, static_cast<std::size_t>(&each - inherited.data()));
        }
    }
    threads_that_inherit(const threads_that_inherit&) = delete;
    threads_that_inherit& operator=(const threads_that_inherit&) = delete;
    ~threads_that_inherit() {
        for (std::vector<slot>& inherited : successions_) {
            for (slot& each : inherited) blocks_.deallocate(each.block, each.bytes);
        }
    }

    void operator()() { threads_(); }

private:
    struct slot {
        void* block;
        std::size_t bytes;
    };

    void fill(slot& empty, std::size_t turn) {
        empty.bytes = Sizes::at(turn);
        touch(empty.block = blocks_.allocate(empty.bytes));
    }

    /// Runs in a thread that only waits, so two such threads and their two successors never occupy more than two
    /// processors.
    void run(std::vector<slot>& inherited) {
        for (std::size_t i = 0; i < generations; ++i) std::thread{[&, i] { replace(inherited, i); }}.join();
    }

    void replace(std::vector<slot>& inherited, std::size_t generation) {
        for (std::size_t i = 0; i < replacements; ++i) {
            const std::size_t turn = generation * replacements + i;
            slot& each = inherited[order_[turn % order_.size()]];
            blocks_.deallocate(each.block, each.bytes);
            fill(each, turn);
        }
    }

    static std::vector<std::uint32_t> random_order() {
        random_numbers random{43};
        std::vector<std::uint32_t> made(8192);
        for (std::uint32_t& each : made) each = static_cast<std::uint32_t>(random.below(inherited_slots));
        return made;
    }

    Blocks blocks_;
    const std::vector<std::uint32_t> order_ = random_order();
    std::array<std::vector<slot>, successions> successions_{std::vector<slot>(inherited_slots),
                                                            std::vector<slot>(inherited_slots)};
    threads_in_rounds threads_{{[this] { run(successions_[0]); }, [this] { run(successions_[1]); }}};
};

/// Ignores the size, for T3 with blocks of one size.
template <class Blocks>
struct blocks_by_size {
    void* allocate(std::size_t) { return blocks.allocate(); }
    void deallocate(void* p, std::size_t) { blocks.deallocate(p); }
    Blocks blocks;
};

// For each thread. A round is long compared with waking the threads, and its bytes fit a cache, or a few times that.
inline constexpr std::size_t equal_allocations = 400'000;
inline constexpr std::size_t mixed_allocations = 50'000;

/// An `Arena` has `void* allocate(thread, bytes)` and `void reset()`, and serves max_threads.
template <class Arena, class Sizes, std::size_t Count>
class threads_of_one_arena {
public:
    explicit threads_of_one_arena(std::size_t threads) : threads_{works(threads)} {}

    void operator()() {
        threads_();
        arena_.reset();
    }

private:
    std::vector<std::function<void()>> works(std::size_t threads) {
        std::vector<std::function<void()>> all;
        for (std::size_t i = 0; i < threads; ++i) all.push_back([this, i] { run(i); });
        return all;
    }

    void run(std::size_t thread) {
        for (std::size_t i = 0; i < Count; ++i) touch(arena_.allocate(thread, Sizes::at(i)));
    }

    Arena arena_;
    threads_in_rounds threads_;
};

template <class Arena>
void add_shared_arena(suite& entries, const std::string& name) {
    const auto add = [&]<class Sizes, std::size_t Count>(const std::string& id, const std::string& sizes, Sizes,
                                                         std::integral_constant<std::size_t, Count>) {
        entries.add({.id = id,
                     .title = "two threads allocate " + sizes + " from one arena, " + std::to_string(Count) +
                              " each, then a reset; **wall time** for one of each thread",
                     .operations = Count,
                     .time = time_kind::wall,
                     .in_fresh_processes = true},
                    name, [] { return make_round<threads_of_one_arena<Arena, Sizes, Count>>(std::size_t{2}); });
    };
    add("T4 8 B", "8 B", equal_bytes<8>{}, std::integral_constant<std::size_t, equal_allocations>{});
    add("T4 8..256 B", "8..256 B", mixed_bytes<8, 256>{}, std::integral_constant<std::size_t, mixed_allocations>{});
    for (const std::size_t threads : scaling_threads) {
        entries.add_scaling(
            {.workload = "T4",
             .title = "all allocate 8 B from one arena, 400,000 each, then a reset",
             .threads = threads,
             .operations = threads * equal_allocations},
            name,
            [threads] { return make_round<threads_of_one_arena<Arena, equal_bytes<8>, equal_allocations>>(threads); });
    }
}

template <class Blocks>
void add_producer_and_consumer(suite& entries, const std::string& name) {
    entries.add({.id = "T2",
                 .title = "one thread allocates 64 B, another frees it, through a ring of 4,096; **wall time** an item",
                 .operations = sent_blocks,
                 .time = time_kind::wall,
                 .in_fresh_processes = true},
                name, [] { return make_round<producers_and_consumers<Blocks>>(std::size_t{1}); });
}

template <class Blocks>
void add_local_threads(suite& entries, const std::string& name) {
    entries.add({.id = "T1",
                 .title = "two threads, each for itself: 1,000 blocks of 64 B allocated, then freed newest first; "
                          "**wall time** for a pair of each thread",
                 .operations = local_batch * local_batches,
                 .time = time_kind::wall,
                 .in_fresh_processes = true},
                name, [] { return make_round<local_threads<Blocks>>(std::size_t{2}); });
}

template <class Blocks, class Sizes>
void add_successors_of(suite& entries, const std::string& name, const std::string& id, const std::string& sizes) {
    entries.add({.id = id,
                 .title = "two threads at a time, each with 1,000 blocks of " + sizes +
                          " that it inherited from one that ended, replaces one at random, 25,000 times, and ends; "
                          "four in a row; **wall time** for a replacement of each",
                 .operations = generations * replacements,
                 .time = time_kind::wall,
                 .in_fresh_processes = true},
                name, [] { return make_round<threads_that_inherit<Blocks, Sizes>>(); });
}

template <class Blocks>
void add_successors(suite& entries, const std::string& name) {
    add_successors_of<blocks_by_size<Blocks>, equal_bytes<shared_block_bytes>>(entries, name, "T3", "64 B");
}

/// A `Blocks` for any size.
template <class Blocks>
void add_mixed_successors(suite& entries, const std::string& name) {
    add_successors_of<Blocks, mixed_bytes<16, 512>>(entries, name, "T3 16..512 B", "16..512 B");
}

template <class Blocks>
void add_threads(suite& entries, const std::string& name) {
    add_local_threads<Blocks>(entries, name);
    add_producer_and_consumer<Blocks>(entries, name);
    add_successors<Blocks>(entries, name);
}

/// T1 and T2 in the scaling tables.
template <class Blocks>
void add_scaling_threads(suite& entries, const std::string& name) {
    for (const std::size_t threads : scaling_threads) {
        entries.add_scaling({.workload = "T1",
                             .title = "each for itself: 1,000 blocks of 64 B allocated, then freed newest first",
                             .threads = threads,
                             .operations = threads * local_batch * local_batches},
                            name, [threads] { return make_round<local_threads<Blocks>>(threads); });
    }
    for (const std::size_t threads : scaling_threads) {
        if (threads == 1) continue;
        entries.add_scaling({.workload = "T2",
                             .title = "one of each pair allocates 64 B, the other frees it, through a ring of 4,096",
                             .threads = threads,
                             .operations = threads / 2 * sent_blocks},
                            name, [threads] { return make_round<producers_and_consumers<Blocks>>(threads / 2); });
    }
}

}  // namespace bench
