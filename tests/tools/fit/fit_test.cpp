// The front of number and size, the sites that keep arenas busy, and the check with the real types.
#include "fit/fit.hpp"

#include <gtest/gtest.h>

#include <acre/core/sanitizer.hpp>

#include <algorithm>
#include <map>
#include <random>

#include "fit/event_source.hpp"
#include "fit/fit_check.hpp"
#include "fit/multi_arena_model.hpp"
#include "made_workload.hpp"
#include "trace/error.hpp"

namespace {

using namespace acre::test;

fit_result fit_of(const made_trace& made, const fit_request& request = {}) {
    return fit(source_of(made), request, [&](std::uint32_t stack) { return stack; });
}

/// Plays over the real type.
bool serves(const made_trace& made, const acre::multi_arena_fit& pair) {
    acre::multi_arena arenas{pair.options()};
    std::map<std::uint64_t, void*> live;
    for (const event& e : made.events) {
        if (!e.allocates) {
            arenas.deallocate(live[e.object], e.size);
            continue;
        }
        live[e.object] = arenas.try_allocate(e.size, alignment_of(e));
        if (live[e.object] == nullptr) return false;
    }
    return true;
}

made_trace random_lives(unsigned seed) {
    std::mt19937 random{seed};
    made_trace made;
    const auto stack = made.stack({"main", "work"});
    std::vector<std::uint64_t> live;
    for (int i = 0; i < 3000; ++i) {
        if (live.empty() || (live.size() < 80 && random() % 2 == 0)) {
            live.push_back(made.allocate(stack, random() % 700));
            if (random() % 50 == 0) made.events.back().alignment_log2 = 6;
        } else {
            const std::size_t which = random() % 8 == 0 ? random() % live.size() : 0;
            made.release(live[which], stack);
            live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
        }
    }
    return made;
}

TEST(fit, every_pair_of_the_front_suffices_and_one_arena_less_does_not) {
    for (unsigned seed = 1; seed <= 8; ++seed) {
        const made_trace made = random_lives(seed);
        for (const std::size_t open : {0U, 2U}) {
            const fit_result found = fit_of(made, {.open = open});
            ASSERT_FALSE(found.multi_arena.empty());
            for (acre::multi_arena_fit each : found.multi_arena.tried) {
                EXPECT_EQ(each.open, open);
                EXPECT_TRUE(serves(made, each)) << seed << ": " << each.arenas << " x " << each.bytes;
                if (--each.arenas == 0) continue;
                EXPECT_FALSE(serves(made, each)) << seed << ": " << each.arenas << " x " << each.bytes;
            }
        }
    }
}

TEST(fit, no_pair_of_the_front_beats_another) {
    const multi_arena_front found = fit_of(random_lives(20)).multi_arena;
    for (const auto& a : found.pairs) {
        for (const auto& b : found.tried) {
            const bool beaten = b.arenas <= a.arenas && b.bytes <= a.bytes && !(a == b);
            EXPECT_FALSE(beaten) << b.arenas << " x " << b.bytes << " beats " << a.arenas << " x " << a.bytes;
        }
    }
    for (const auto& each : found.pairs) {
        EXPECT_GE(required_bytes(each, arena_sharing::one_thread),
                  required_bytes(found.best(), arena_sharing::one_thread));
    }
}

TEST(fit, finds_what_a_queue_of_equal_messages_needs) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take room that an ordinary build does not need";
    made_trace made;
    add_messages(made, 2000, 64, 1000);
    const multi_arena_front found = fit_of(made).multi_arena;
    // 65 messages of 1008 bytes are live at a time; an arena with any live message is occupied.
    EXPECT_EQ(found.tried.front().bytes, 1008U);
    EXPECT_EQ(found.tried.front().arenas, 65U);
    EXPECT_LT(required_bytes(found.best(), arena_sharing::one_thread), 65U * 1008U * 11 / 10);
    EXPECT_LE(found.pairs.back().arenas, 2U);
}

TEST(fit, arenas_are_multiples_of_the_strictest_alignment) {
    made_trace made;
    const auto stack = made.stack({"main", "work"});
    for (int i = 0; i < 40; ++i) {
        made.allocate(stack, 100);
        if (i % 4 == 0) made.events.back().alignment_log2 = 10;
    }
    const fit_result found = fit_of(made);
    for (const auto& each : found.multi_arena.tried) {
        EXPECT_EQ(each.bytes % 1024, 0U);
        EXPECT_TRUE(serves(made, each));
    }
}

TEST(fit, alignments_beyond_those_of_arenas_have_no_front) {
    made_trace made;
    made.allocate(made.stack({"main", "work"}), 100);
    made.events.back().alignment_log2 = 13;
    const fit_result found = fit_of(made);
    EXPECT_TRUE(found.multi_arena.empty());
    EXPECT_NE(found.multi_arena.impossible.find("8192"), std::string::npos);
}

TEST(fit, an_empty_selection_has_no_front) {
    EXPECT_EQ(fit_of(made_trace{}).multi_arena.impossible, "nothing is selected");
}

/// One object in 50 is never freed; two sites allocate those.
made_trace messages_with_survivors(std::uint32_t& first, std::uint32_t& second) {
    made_trace made;
    const auto works = made.stack({"main", "receive:5"});
    first = made.stack({"main", "remember:3"});
    second = made.stack({"main", "log:8"});
    std::deque<std::uint64_t> queue;
    for (int i = 0; i < 5000; ++i) {
        if (i % 100 == 0) made.allocate(first, 48);
        if (i % 100 == 50) made.allocate(second, 80);
        queue.push_back(made.allocate(works, 200));
        if (queue.size() < 20) continue;
        made.release(queue.front(), works);
        queue.pop_front();
    }
    return made;
}

TEST(fit, names_the_sites_that_keep_arenas_busy) {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    const made_trace made = messages_with_survivors(first, second);
    const blocker_figures found = fit_of(made).blockers;
    ASSERT_EQ(found.sites.size(), 2U);
    EXPECT_EQ(found.sites[0].site + found.sites[1].site, first + second);
    EXPECT_EQ(found.sites[0].objects + found.sites[1].objects, 100U);
    EXPECT_GT(found.with.arenas, 8 * found.without.arenas);
    ASSERT_FALSE(found.front.empty());

    // The figures without these sites equal a fit of the other sites.
    const event_source without = [&](const std::function<void(const event&)>& visit) {
        std::vector<bool> left_out(made.events.size());
        for (const event& e : made.events) {
            if (e.allocates) left_out[e.object] = e.stack == first || e.stack == second;
            if (!left_out[e.object]) visit(e);
        }
    };
    const fit_result again = fit(without, {}, [](std::uint32_t stack) { return stack; });
    EXPECT_EQ(again.multi_arena.best().arenas, found.front.best().arenas);
    EXPECT_EQ(again.multi_arena.best().bytes, found.front.best().bytes);
    EXPECT_TRUE(again.blockers.sites.empty());
}

TEST(fit, names_no_site_if_all_objects_live_alike) {
    made_trace made;
    add_messages(made, 3000, 500, 200);
    EXPECT_TRUE(fit_of(made).blockers.sites.empty());
}

TEST(fit, the_real_types_agree) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take room that an ordinary build does not need";
    for (unsigned seed = 30; seed < 34; ++seed) {
        made_trace made = random_lives(seed);
        for (std::size_t i = 0; i < made.events.size(); ++i) {
            made.events[i].thread = static_cast<std::uint32_t>(i / 7 % 3);
            made.events[i].alignment_log2 = 0;
        }
        const fit_result found = fit_of(made);
        const fit_checks checks = check_sizes(source_of(made), found, true);
        ASSERT_TRUE(checks.multi_arena && checks.concurrent_multi_arena && checks.arena);
        EXPECT_TRUE(checks.multi_arena->suffices);
        EXPECT_TRUE(checks.multi_arena->one_less_fails.value());
        EXPECT_TRUE(checks.concurrent_multi_arena->suffices);
        EXPECT_TRUE(checks.arena->suffices);
        EXPECT_TRUE(checks.arena->one_less_fails.value());
    }
}

TEST(fit, a_check_notices_too_few_arenas) {
    made_trace made;
    add_messages(made, 500, 30, 100);
    fit_result found = fit_of(made);
    auto& best = found.multi_arena.pairs[found.multi_arena.smallest];
    ASSERT_GT(best.arenas, 1U);
    --best.arenas;
    EXPECT_FALSE(check_sizes(source_of(made), found, false).multi_arena->suffices);
    best.arenas += 2;
    EXPECT_FALSE(check_sizes(source_of(made), found, false).multi_arena->one_less_fails.value());
}

// With few live objects more pairs are tried at once than with many; the result is the same.
TEST(fit, batches_do_not_change_the_answer) {
    const made_trace made = random_lives(40);
    census few = take_census(source_of(made));
    std::vector<multi_arena_trial> trials;
    for (std::uint64_t bytes = 1024; bytes < 8192; bytes += 512) trials.push_back({bytes, 0, 0});
    const auto at_once = try_multi_arenas(source_of(made), few, trials);
    few.peak_objects = std::uint64_t{1} << 40;
    EXPECT_EQ(try_multi_arenas(source_of(made), few, trials), at_once);
}

/// The fields of an event that a fit uses, but for the object.
bool alike(const event& a, const event& b) {
    const bool reallocates = (a.op == operation::realloc) == (b.op == operation::realloc);
    const bool same = a.size == b.size && a.thread == b.thread && a.allocates == b.allocates;
    return same && reallocates && (!a.allocates || (a.stack == b.stack && a.alignment_log2 == b.alignment_log2));
}

/// Threads whose reallocs' halves have events of other threads between them; some lack the second half.
std::vector<event> events_of_threads(unsigned seed) {
    constexpr std::uint32_t threads = 4;
    std::mt19937 random{seed};
    std::vector<event> events;
    free_places places;
    std::vector<event> living;
    std::vector<bool> is_open(threads);
    std::uint64_t objects = 0;
    for (int i = 0; i < 20'000; ++i) {
        event e;
        e.thread = static_cast<std::uint32_t>(random() % threads);
        const bool ends_realloc = is_open[e.thread] && random() % 8 != 0;
        is_open[e.thread] = false;
        if (ends_realloc || living.empty() || (living.size() < 50 && random() % 2 == 0)) {
            e.op = ends_realloc ? operation::realloc : operation::malloc;
            e.object = objects++;
            e.size = random() % 100;
            e.place = places.take();
            living.push_back(e);
        } else {
            const std::size_t which = random() % living.size();
            const std::uint32_t thread = e.thread;
            e = living[which];
            living.erase(living.begin() + static_cast<std::ptrdiff_t>(which));
            e.thread = thread;
            e.allocates = false;
            e.op = random() % 2 == 0 ? operation::realloc : operation::free;
            is_open[thread] = e.op == operation::realloc;
            places.give_back(e.place);
        }
        events.push_back(e);
    }
    return events;
}

/// What a sink of event_pairing sees, each live object by its number there.
struct numbers_model {
    void allocate(const event& e) {
        EXPECT_TRUE(sizes.emplace(e.object, e.size).second) << "a live object has that number";
        largest = std::max(largest, e.object);
    }
    void release(std::uint64_t object, std::uint32_t) {
        const auto found = sizes.find(object);
        ASSERT_NE(found, sizes.end());
        released.push_back(found->second);
        sizes.erase(found);
    }
    void reallocate(const event& e, std::uint64_t object) {
        allocate(e);
        release(object, e.thread);
    }

    std::map<std::uint64_t, std::uint64_t> sizes;
    std::vector<std::uint64_t> released;
    std::uint64_t largest = 0;
};

TEST(small_numbers, tell_live_objects_apart_also_between_the_halves_of_a_realloc) {
    for (const unsigned seed : {1U, 2U, 3U}) {
        const std::vector<event> events = events_of_threads(seed);
        const event_source large = [&](const auto& visit) {
            for (const event& e : events) visit(e);
        };
        const event_source small = [&](const auto& visit) {
            small_numbers numbers;
            for (event e : events) {
                numbers.renumber(e);
                visit(e);
            }
        };
        numbers_model expected;
        play(large, expected);
        const kept_events kept{small};
        for (const event_source& each : {small, kept.source()}) {
            numbers_model found;
            play(each, found);
            EXPECT_EQ(found.released, expected.released);
            EXPECT_LT(found.largest, 50U + 4 + 4) << "live objects, and a held one and a new one of each thread";
        }
    }
}

TEST(kept_events, are_the_same_in_memory_and_in_a_file) {
    made_trace made = random_lives(9);
    for (std::size_t i = 0; i + 1 < made.events.size(); ++i) {
        event& first = made.events[i];
        event& second = made.events[i + 1];
        first.thread = static_cast<std::uint32_t>(i % 3);
        if (!first.allocates && second.allocates && i % 4 == 0) first.op = second.op = operation::realloc;
    }
    std::vector<event> many;
    const std::uint64_t objects = static_cast<std::uint64_t>(
        std::count_if(made.events.begin(), made.events.end(), [](const event& e) { return e.allocates; }));
    for (std::uint64_t again = 0; again < 60; ++again) {
        for (event e : made.events) {
            e.object += again * objects;
            many.push_back(e);
        }
    }
    const event_source source = [&](const std::function<void(const event&)>& visit) {
        for (const event& e : many) visit(e);
    };
    for (const std::size_t memory : {std::size_t{0}, std::size_t{1} << 30}) {
        const kept_events kept{source, memory};
        double told = 0;
        const event_source again = kept.source([&](double done) { told = done; });
        for (int pass = 0; pass < 2; ++pass) {
            std::size_t at = 0;
            bool right = true;
            again([&](const event& e) { right = right && alike(e, many[at++]); });
            EXPECT_TRUE(right);
            EXPECT_EQ(at, many.size());
            EXPECT_GT(told, 0.5);
        }
    }
}

TEST(kept_events, impossible_sizes_are_refused) {
    made_trace made;
    made.allocate(0, std::uint64_t{1} << 48);
    EXPECT_THROW(kept_events{source_of(made)}, tool_error);
}

}  // namespace
