// W8: blocks of 100 bytes, one at a time, in rounds of 10,000, and randomly in and out of a table; by direct calls and
// by class-level new; before and after a thread was started, and in two and four threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../harness.hpp"
#include "../peers/threads.hpp"

namespace bench {

inline constexpr std::size_t static_block_bytes = 100;
inline constexpr std::size_t static_round = 10'000;
inline constexpr std::size_t churn_steps = 100'000;

/// The index of the next of 10,000 blocks; a contestant that costs nothing finds its storage by it.
inline constinit thread_local std::size_t block_at_hand = 0;

/// A `Blocks` has static `void* allocate()` and `void deallocate(void*)`.
template <class Blocks>
class single_pairs {
public:
    void operator()() {
        for (std::size_t i = 0; i < static_round; ++i) {
            void* p = Blocks::allocate();
            touch(p);
            Blocks::deallocate(p);
        }
    }
};

template <class Blocks, bool NewestFirst>
class rounds_of_blocks {
public:
    void operator()() {
        for (std::size_t i = 0; i < static_round; ++i) {
            block_at_hand = i;
            touch(taken_[i] = Blocks::allocate());
        }
        for (std::size_t i = 0; i < static_round; ++i)
            Blocks::deallocate(taken_[NewestFirst ? static_round - 1 - i : i]);
    }

private:
    std::vector<void*> taken_ = std::vector<void*>(static_round);
};

/// Its table persists from round to round.
template <class Blocks>
class churn {
public:
    churn() = default;
    churn(const churn&) = delete;
    churn& operator=(const churn&) = delete;
    ~churn() {
        for (void* each : table_) {
            if (each != nullptr) Blocks::deallocate(each);
        }
    }

    void operator()() {
        for (std::size_t step = 0; step < churn_steps; ++step) {
            state_ ^= state_ << 13;
            state_ ^= state_ >> 7;
            state_ ^= state_ << 17;
            block_at_hand = static_cast<std::size_t>(state_ >> 32) % static_round;
            void*& entry = table_[block_at_hand];
            if (entry == nullptr) {
                touch(entry = Blocks::allocate());
            } else {
                Blocks::deallocate(std::exchange(entry, nullptr));
            }
        }
    }

private:
    std::uint64_t state_ = 88172645463325252;
    std::vector<void*> table_ = std::vector<void*>(static_round);
};

/// The same work in several threads at once, each with its `Blocks<thread>`.
template <template <class> class Work, template <std::size_t> class Blocks, std::size_t... Thread>
[[nodiscard]] round_function in_threads(std::index_sequence<Thread...>) {
    return [threads = std::make_shared<threads_in_rounds>(std::vector<std::function<void()>>{
                [work = std::make_shared<Work<Blocks<Thread>>>()] { (*work)(); }...})] { (*threads)(); };
}

template <class Blocks>
using rounds_newest_first = rounds_of_blocks<Blocks, true>;
template <class Blocks>
using rounds_oldest_first = rounds_of_blocks<Blocks, false>;

template <template <class> class Work, template <std::size_t> class Blocks>
void add_static_work(suite& entries, const std::string& id, const std::string& title, std::size_t operations,
                     const std::string& name) {
    const auto add = [&](const std::string& how, time_kind time, std::function<round_function()> prepare) {
        entries.add({.id = "W8 " + id + how,
                     .title = title + how + (time == time_kind::wall ? "; **wall time**" : ""),
                     .operations = operations,
                     .time = time,
                     .in_fresh_processes = true},
                    name, std::move(prepare));
    };
    add("", time_kind::processor, [] { return make_round<Work<Blocks<0>>>(); });
    add(", a thread was started", time_kind::processor, [] {
        std::thread{[] {}}.join();
        return make_round<Work<Blocks<0>>>();
    });
    add(", 2 threads", time_kind::wall, [] { return in_threads<Work, Blocks>(std::make_index_sequence<2>{}); });
    add(", 4 threads", time_kind::wall, [] { return in_threads<Work, Blocks>(std::make_index_sequence<4>{}); });
}

/// `Blocks<thread>` is the type that this thread uses.
template <template <std::size_t> class Blocks>
void add_static_blocks(suite& entries, const std::string& name) {
    add_static_work<single_pairs, Blocks>(entries, "pair", "a block of 100 B allocated and freed", static_round, name);
    add_static_work<rounds_newest_first, Blocks>(entries, "LIFO", "10,000 blocks of 100 B, freed newest first",
                                                 static_round, name);
    add_static_work<rounds_oldest_first, Blocks>(entries, "FIFO", "10,000 blocks of 100 B, freed oldest first",
                                                 static_round, name);
    add_static_work<churn, Blocks>(entries, "churn", "one of 10,000 blocks of 100 B, at random, freed or allocated",
                                   churn_steps, name);
}

/// By a class's operators: `Item<thread>` has static_block_bytes bytes.
template <class Item>
struct blocks_of_class {
    static void* allocate() { return new Item; }
    static void deallocate(void* p) { delete static_cast<Item*>(p); }
};

}  // namespace bench
