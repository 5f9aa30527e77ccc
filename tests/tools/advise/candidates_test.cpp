// Programs with known answers, for each rule and its limits.
#include "advise/candidates.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <acre/core/sanitizer.hpp>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <random>

#include "advise/advice_code.hpp"
#include "advise/measure.hpp"
#include "advise/unseen_uses.hpp"
#include "advise/wording.hpp"
#include "programs/elf_file.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/reader.hpp"

namespace {

using namespace acre::test;

class candidates : public testing::Test {
protected:
    /// The advices for the trace as made so far.
    const advice_list& advised(std::uint64_t sampling_period = 1) {
        reader_.emplace(made.write(directory_ / "a.acre"));
        paths_.emplace(reader_->tables());
        run_.emplace(*reader_, *paths_);
        list_ = find_candidates(*run_, *paths_, sampling_period);
        return list_;
    }

    std::string function_of(const advice& each) const { return paths_->functions()[each.function].name; }
    std::string site_of(const advice& each) const { return paths_->site_text(each.site); }
    const call_paths& paths() const { return *paths_; }
    const advice_list& list() const { return list_; }
    const history& run() const { return *run_; }

    /// The advice whose busiest site is in this function.
    const advice* about(const std::string& function) const {
        const auto found = std::find_if(list_.advices.begin(), list_.advices.end(), [&](const advice& each) {
            return paths_->functions()[paths_->sites()[each.site].function].name == function;
        });
        return found == list_.advices.end() ? nullptr : &*found;
    }

    /// The first with that candidate.
    const advice* with(verdict candidate) const {
        const auto found = std::ranges::find(list_.advices, candidate, &advice::candidate);
        return found == list_.advices.end() ? nullptr : &*found;
    }

    /// Allocates `count` objects of one size (0: of any size) and frees them in any order.
    void churn(const char* site, std::uint64_t size, int count, std::size_t max_live, std::uint32_t thread = 0) {
        const auto makes = made.stack({"main", "loop:1", site, "operator new(unsigned long)"});
        const auto frees = made.stack({"main", "loop:2", "remove"});
        std::vector<std::uint64_t> live;
        for (int i = 0; i < count; ++i) {
            live.push_back(made.allocate(makes, size == 0 ? 1 + random() % 900 : size, thread));
            if (live.size() < max_live) continue;
            const std::size_t which = random() % live.size();
            made.release(live[which], frees, thread);
            live[which] = live.back();
            live.pop_back();
        }
        for (const std::uint64_t object : live) made.release(object, frees, thread);
    }

    /// As above, with these stacks.
    void churn(std::uint32_t makes, std::uint32_t frees, std::uint64_t size) {
        std::vector<std::uint64_t> live;
        for (int i = 0; i < 4000; ++i) {
            live.push_back(made.allocate(makes, size == 0 ? 1 + random() % 900 : size));
            if (live.size() < 100) continue;
            const std::size_t which = random() % live.size();
            made.release(live[which], frees);
            live[which] = live.back();
            live.pop_back();
        }
    }

    /// Requests that allocate a few objects of several sizes, and free them in order at their end.
    void requests(int count, std::uint32_t thread = 0) {
        const auto text = made.stack({"main", "request:5", "copy_text:7", "malloc"});
        const auto node = made.stack({"main", "request:6", "insert:9", "operator new(unsigned long)"});
        const auto end = made.stack({"main", "request:8", "~map"});
        for (int i = 0; i < count; ++i) {
            std::vector<std::uint64_t> objects;
            for (std::uint64_t n = 0; n < 6; ++n) {
                objects.push_back(made.allocate(text, 20 + 13 * n, thread));
                objects.push_back(made.allocate(node, 48, thread));
            }
            for (const std::uint64_t object : objects) made.release(object, end, thread);
        }
    }

    made_trace made;
    std::mt19937 random{42};

private:
    temporary_directory directory_;
    std::optional<trace_reader> reader_;
    std::optional<call_paths> paths_;
    std::optional<history> run_;
    advice_list list_;
};

TEST_F(candidates, one_size_in_any_order_is_an_object_pool) {
    churn("spawn:3", 48, 5000, 100);
    ASSERT_EQ(advised().advices.size(), 1U);
    const advice& only = advised().advices[0];
    EXPECT_EQ(only.candidate, verdict::object_pool);
    EXPECT_EQ(only.slot_bytes, 48U);
    EXPECT_EQ(site_of(only), "spawn (made.cpp:3)");
    EXPECT_EQ(only.figures.objects, 5000U);
    EXPECT_EQ(only.figures.peak_objects, 100U);
    EXPECT_FALSE(only.figures.reallocated);
    EXPECT_EQ(only.figures.aligned_to_8, 0U);
    EXPECT_NE(code_of(only, paths()).find("acre::object_pool<T> spawn_pool;     // T: the type of 48 bytes"),
              std::string::npos);
}

TEST_F(candidates, objects_of_realloc_are_known_and_which_alignment_their_sizes_need) {
    const auto grows = made.stack({"main", "line:3", "grow:5", "realloc"});
    const auto frees = made.stack({"main", "line:4", "free"});
    for (int i = 0; i < 2000; ++i) {
        const std::uint64_t first = made.allocate(grows, 24, 0, operation::realloc);
        made.release(first, grows, 0, operation::realloc);
        made.release(made.allocate(grows, i == 0 ? 32 : 40, 0, operation::realloc), frees);
    }
    const group_figures& figures = advised().advices.at(0).figures;
    EXPECT_TRUE(figures.reallocated);
    EXPECT_EQ(figures.objects, 4000U);
    EXPECT_EQ(figures.aligned_to_8, 3999U);
}

TEST_F(candidates, nodes_of_containers_come_from_a_multi_pool) {
    const auto makes = made.stack({"main", "loop:1", "insert:7", "std::list<int>::_M_get_node()",
                                   "std::__new_allocator<int>::allocate(unsigned long, void const*)"});
    const auto frees = made.stack({"main", "loop:2", "remove"});
    std::deque<std::uint64_t> live;
    for (int i = 0; i < 4000; ++i) {
        live.push_back(made.allocate(makes, 48));
        if (live.size() < 100) continue;
        const std::size_t which = random() % live.size();
        made.release(live[which], frees);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    }
    const advice& only = advised().advices.at(0);
    EXPECT_EQ(only.candidate, verdict::multi_pool);
    EXPECT_NE(code_of(only, paths()).find("std::list<int, acre::allocator<int, acre::multi_pool>>"), std::string::npos);
}

// Strings are copied from one place to another, and a copy to another type costs more than it saves.
TEST_F(candidates, all_strings_and_containers_of_them_are_one_change) {
    const char* creates =
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create(unsigned long&, "
        "unsigned long)";
    const char* node =
        "std::list<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, "
        "std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > "
        "> >::_M_get_node()";
    const char* allocates = "std::__new_allocator<char>::allocate(unsigned long, void const*)";
    const auto frees = made.stack({"main", "loop:9", "remove"});
    churn(made.stack({"main", "loop:1", "load:7", creates, allocates}), frees, 0);
    churn(made.stack({"main", "loop:2", "put:8", creates, allocates}), frees, 0);
    churn(made.stack({"main", "loop:2", "put:9", node, allocates}), frees, 48);
    churn(made.stack({"main", "loop:3", "make:4", "std::make_unique<orc>()", "operator new(unsigned long)"}), frees,
          64);
    ASSERT_EQ(advised().advices.size(), 2U);
    const advice* strings = with(verdict::general_heap);
    ASSERT_NE(strings, nullptr);
    EXPECT_EQ(strings->decision, verdict::general_heap);
    EXPECT_EQ(strings->in_plan, verdict::general_heap);
    EXPECT_EQ(strings->figures.objects, 12'000U);
    EXPECT_EQ(title_of(*strings, paths()), "acre's general heap for std::string and the containers that hold it");
    const std::string code = code_of(*strings, paths());
    EXPECT_NE(code.find("#include <acre/heaps/general_heap.hpp>\n"), std::string::npos) << code;
    EXPECT_NE(code.find("_string = std::basic_string<char, std::char_traits<char>, acre::allocator<char, "
                        "acre::general_heap>>;\n"),
              std::string::npos)
        << code;
    EXPECT_NE(code.find("_list container_2;  // for std::list<std::string>: no argument is needed"), std::string::npos)
        << code;
    const std::vector<std::string> cautions = cautions_of(*strings, paths());
    EXPECT_TRUE(std::ranges::any_of(cautions, [](const std::string& each) {
        return each.starts_with("Change the type wherever these strings go");
    }));
}

// A pipeline: one thread's function had its words in an arena, and another thread called the same function.
TEST_F(candidates, an_arena_says_that_its_lines_serve_others) {
    requests(100);
    const auto text = made.stack({"main", "reply:3", "copy_text:7", "malloc"});
    const auto end = made.stack({"main", "send:8"});
    for (int i = 0; i < 40; ++i) made.release(made.allocate(text, 30, 1), end, 1);
    const auto& advices = advised().advices;
    const auto arena = std::ranges::find(advices, verdict::arena, &advice::candidate);
    ASSERT_NE(arena, advices.end());
    ASSERT_TRUE(arena->others.has_value());
    EXPECT_EQ(arena->others->objects, 40U);
    const std::vector<std::string> cautions = cautions_of(*arena, paths());
    EXPECT_TRUE(std::ranges::any_of(cautions, [](const std::string& each) {
        return each.starts_with(
            "copy_text (made.cpp:7) allocates for others as well (40 objects, as in copy_text < reply "
            "< main), whose objects must not come from this arena");
    })) << arena->others->objects;
}

TEST_F(candidates, make_unique_makes_objects) {
    churn("std::make_unique<orc>(int)", 48, 4000, 100);
    EXPECT_EQ(advised().advices.at(0).candidate, verdict::object_pool);
}

TEST_F(candidates, a_little_noise_in_the_size_is_still_an_object_pool) {
    churn("spawn", 48, 5000, 100);
    for (std::size_t i = 0; i < made.events.size(); i += 50) {
        if (made.events[i].allocates) made.events[i].size = 56;
    }
    advised();
    EXPECT_EQ(advised().advices.at(0).candidate, verdict::object_pool);
    EXPECT_EQ(advised().advices.at(0).slot_bytes, 48U);
}

TEST_F(candidates, many_sizes_in_any_order_are_a_multi_pool) {
    churn("load", 0, 5000, 100);
    ASSERT_EQ(advised().advices.size(), 1U);
    EXPECT_EQ(advised().advices[0].candidate, verdict::multi_pool);
}

TEST_F(candidates, what_dies_together_is_an_arena_in_the_function_that_owns_it) {
    requests(200);
    ASSERT_EQ(advised().advices.size(), 1U);
    const advice& only = advised().advices[0];
    EXPECT_EQ(only.candidate, verdict::arena);
    EXPECT_EQ(function_of(only), "request");
    EXPECT_EQ(only.sites.size(), 2U);
    EXPECT_EQ(only.share, 1.0);
    EXPECT_EQ(only.generations.count, 200U);
    EXPECT_EQ(only.generations.objects, 2400U);
    // 20, 33, 46, 59, 72 and 85 bytes in steps of 16, and six of 48.
    EXPECT_EQ(only.generations.max_bytes, 32U + 48 + 48 + 64 + 80 + 96 + 6 * 48);
    EXPECT_EQ(only.generations.p50_bytes, only.generations.max_bytes);
    EXPECT_EQ(only.block_bytes, 1024U);
    EXPECT_TRUE(only.blockers.empty());
    EXPECT_EQ(only.resets.count, 199U);
    EXPECT_TRUE(only.resets.is_safe());
    EXPECT_NE(evidence_of(only, paths()).find("At each of the 199 passes through the place of the reset"),
              std::string::npos);
    const std::string code = code_of(only, paths());
    EXPECT_NE(code.find("acre::arena request_memory{{.first_block_bytes = 1_KiB"), std::string::npos) << code;
    EXPECT_NE(code.find("acre::scratch request_scope{request_memory};  // first in "), std::string::npos) << code;
    EXPECT_NE(code.find("or in its loop around these objects (lines 5 to 8): reset"), std::string::npos) << code;
    EXPECT_NE(location_of(only, paths()).find("made.cpp:8"), std::string::npos) << location_of(only, paths());
}

TEST_F(candidates, each_thread_has_generations_of_its_own) {
    // Interleaved, so that objects are always live in one of the threads.
    made_trace one;
    const auto text = made.stack({"thread", "request:5", "copy_text:7"});
    const auto end = made.stack({"thread", "request:8"});
    std::array<std::vector<std::uint64_t>, 2> objects;
    for (int i = 0; i < 100; ++i) {
        for (std::uint32_t thread = 0; thread < 2; ++thread) {
            for (int n = 0; n < 8; ++n)
                objects[thread].push_back(made.allocate(text, 20 + 10 * static_cast<unsigned>(n), thread));
            const std::uint32_t other = 1 - thread;
            for (const std::uint64_t object : objects[other]) made.release(object, end, other);
            objects[other].clear();
        }
    }
    for (const std::uint64_t object : objects[1]) made.release(object, end, 1);
    ASSERT_EQ(advised().advices.size(), 1U);
    EXPECT_EQ(advised().advices[0].candidate, verdict::arena);
    EXPECT_EQ(advised().advices[0].generations.count, 200U);
    EXPECT_NE(code_of(advised().advices[0], paths()).find("thread_local acre::arena"), std::string::npos);
}

TEST_F(candidates, a_recursive_function_is_no_scope) {
    // `walk` allocates, calls itself, and frees: a reset in the inner call would free the outer call's objects.
    const auto outer = made.stack({"main", "request:1", "walk:2", "malloc"});
    const auto inner = made.stack({"main", "request:1", "walk:3", "walk:2", "malloc"});
    const auto outer_end = made.stack({"main", "request:1", "walk:4"});
    const auto inner_end = made.stack({"main", "request:1", "walk:3", "walk:4"});
    for (int i = 0; i < 500; ++i) {
        std::vector<std::uint64_t> outer_nodes;
        std::vector<std::uint64_t> inner_nodes;
        for (std::uint64_t n = 0; n < 4; ++n) outer_nodes.push_back(made.allocate(outer, 30 + 20 * n));
        for (std::uint64_t n = 0; n < 4; ++n) inner_nodes.push_back(made.allocate(inner, 30 + 20 * n));
        for (const std::uint64_t each : inner_nodes) made.release(each, inner_end);
        for (const std::uint64_t each : outer_nodes) made.release(each, outer_end);
    }
    ASSERT_FALSE(advised().advices.empty());
    for (const advice& each : advised().advices) {
        EXPECT_NE(each.candidate, verdict::arena) << code_of(each, paths());
        EXPECT_FALSE(each.of_scope);
    }
}

TEST_F(candidates, without_stacks_at_frees_no_scratch_is_advised) {
    const auto parses = made.stack({"main", "parse:2"});
    for (int i = 0; i < 500; ++i) {
        const auto a = made.allocate(parses, 100);
        const auto b = made.allocate(parses, 40);
        made.release(b, no_stack);
        made.release(a, no_stack);
    }
    ASSERT_FALSE(advised().advices.empty());
    for (const advice& each : advised().advices)
        EXPECT_FALSE(traits_of(each.candidate).in_owner) << code_of(each, paths());
}

// What holds the objects, as a std::unique_ptr member, has one type for those that die and those that live on.
TEST_F(candidates, no_arena_has_a_part_of_the_objects_of_a_class) {
    const auto dies = made.stack({"main", "request:6", "parse:3", "std::make_unique<node>()", "operator new<node>"});
    const auto stays = made.stack({"main", "request:6", "copy:4", "std::make_unique<node>()", "operator new<node>"});
    const auto end = made.stack({"main", "request:8"});
    std::vector<std::uint64_t> kept;
    for (int i = 0; i < 400; ++i) {
        std::vector<std::uint64_t> objects;
        for (int n = 0; n < 12; ++n) objects.push_back(made.allocate(dies, 48));
        if (i % 10 == 0) kept.push_back(made.allocate(stays, 48));
        for (const std::uint64_t object : objects) made.release(object, end);
    }
    for (const std::uint64_t object : kept) made.release(object, made.stack({"main"}));
    ASSERT_FALSE(advised().advices.empty());
    for (const advice& each : advised().advices) EXPECT_FALSE(each.of_scope) << code_of(each, paths());
}

TEST_F(candidates, a_few_that_live_on_are_left_out_and_named) {
    const auto keeps = made.stack({"main", "request:6", "remember:4"});
    std::vector<std::uint64_t> kept;
    for (int i = 0; i < 40; ++i) {
        requests(5);
        kept.push_back(made.allocate(keeps, 500));
        requests(5);
    }
    const auto end = made.stack({"main", "request:9"});
    for (const std::uint64_t object : kept) made.release(object, end);
    advised();
    const advice* arena = about("copy_text");
    if (arena == nullptr) arena = about("insert");
    ASSERT_NE(arena, nullptr);
    EXPECT_EQ(arena->candidate, verdict::arena);
    EXPECT_EQ(function_of(*arena), "request");
    EXPECT_EQ(arena->generations.count, 400U);
    ASSERT_EQ(arena->blockers.size(), 1U);
    EXPECT_EQ(arena->blockers[0].objects, 40U);
    const std::vector<std::string> cautions = cautions_of(*arena, paths());
    ASSERT_FALSE(cautions.empty());
    EXPECT_NE(cautions[0].find("remember (made.cpp:4)"), std::string::npos) << cautions[0];
}

// Hazard Y12: a reset point that is passed while objects live.
TEST_F(candidates, what_lives_on_at_one_pass_in_many_is_no_arena) {
    // The buffers of the two sites die together in `request`, but once in ten runs both live until the next run.
    const auto reads = made.stack({"main:3", "request:6", "read:4"});
    const auto parses = made.stack({"main:3", "request:7", "parse:9"});
    const auto ends = made.stack({"main:3", "request:8"});
    const auto outside = made.stack({"main:4"});
    std::vector<std::uint64_t> live;
    for (int i = 0; i < 400; ++i) {
        for (std::uint64_t n = 0; n < 4; ++n) {
            live.push_back(made.allocate(reads, 40 + 30 * n));
            live.push_back(made.allocate(parses, 20 + 10 * n));
        }
        if (i % 10 != 9) {
            for (const std::uint64_t object : live) made.release(object, ends);
            live.clear();
        }
        made.release(made.allocate(outside, 3000), outside);
    }
    for (const std::uint64_t object : live) made.release(object, ends);
    advised();
    for (const char* site : {"read", "parse"}) {
        ASSERT_NE(about(site), nullptr);
        EXPECT_FALSE(about(site)->of_scope);
        ASSERT_TRUE(about(site)->refused);
        EXPECT_EQ(paths().functions()[about(site)->refused->function].name, "request");
        EXPECT_EQ(about(site)->refused->passes.count, 400U);
        EXPECT_EQ(about(site)->refused->passes.occupied, 40U);
        const std::string evidence = evidence_of(*about(site), paths());
        EXPECT_NE(evidence.find("No arena in request: at 40 of the 400 passes"), std::string::npos) << evidence;
    }
}

TEST_F(candidates, what_outlives_its_function_once_in_a_thousand_is_named) {
    // All die in `request`, but one of `parse` in a thousand requests is freed by `main`, much later.
    const auto reads = made.stack({"main:3", "request:6", "read:4"});
    const auto parses = made.stack({"main:3", "request:7", "parse:9"});
    const auto ends = made.stack({"main:3", "request:8"});
    const auto drops = made.stack({"main:5"});
    std::vector<std::uint64_t> kept;
    for (int i = 0; i < 3000; ++i) {
        std::vector<std::uint64_t> live;
        for (std::uint64_t n = 0; n < 4; ++n) {
            live.push_back(made.allocate(reads, 40 + 30 * n));
            live.push_back(made.allocate(parses, 20 + 10 * n));
        }
        if (i % 1000 == 500) {
            kept.push_back(live.back());
            live.pop_back();
        }
        for (const std::uint64_t object : live) made.release(object, ends);
    }
    for (const std::uint64_t object : kept) made.release(object, drops);
    advised();
    const advice* arena = about("read");
    ASSERT_NE(arena, nullptr);
    EXPECT_EQ(arena->candidate, verdict::arena);
    EXPECT_EQ(function_of(*arena), "request");
    ASSERT_EQ(arena->blockers.size(), 1U);
    EXPECT_EQ(arena->blockers[0].objects, 12'000U);
    const advice* pool = about("parse");
    ASSERT_NE(pool, nullptr);
    ASSERT_TRUE(pool->escape);
    EXPECT_EQ(paths().functions()[pool->escape->function].name, "request");
    EXPECT_EQ(pool->escape->objects, 12'000U);
    EXPECT_EQ(pool->escape->lived_on, 3U);
    const std::string evidence = evidence_of(*pool, paths());
    EXPECT_NE(evidence.find("No arena in request: of 12,000 objects"), std::string::npos) << evidence;
    EXPECT_NE(evidence.find("3 lived on when it ended, most of them from parse (made.cpp:9), freed by main."),
              std::string::npos)
        << evidence;
}

// Hazard Y12.
TEST_F(candidates, what_is_live_where_a_loop_resets_is_left_out) {
    // All in one run of `main`: its loop would reset the arena, and the cache lives on over many of its rounds.
    const auto words = made.stack({"main:5", "split:2"});
    const auto caches = made.stack({"main:6", "cache:3"});
    const auto ends = made.stack({"main:7"});
    const auto clears = made.stack({"main:9"});
    std::vector<std::uint64_t> cached;
    for (int i = 0; i < 300; ++i) {
        std::vector<std::uint64_t> live;
        for (std::uint64_t n = 0; n < 40; ++n) live.push_back(made.allocate(words, 20 + 10 * n));
        if (i % 10 == 3) cached.push_back(made.allocate(caches, 64));
        for (const std::uint64_t word : live) made.release(word, ends);
        if (i % 10 != 7) continue;
        for (const std::uint64_t each : cached) made.release(each, clears);
        cached.clear();
    }
    advised();
    const advice* arena = about("split");
    ASSERT_NE(arena, nullptr);
    EXPECT_EQ(arena->candidate, verdict::arena);
    EXPECT_TRUE(arena->resets.is_safe());
    EXPECT_EQ(arena->resets.count, 299U);
    ASSERT_EQ(arena->blockers.size(), 1U);
    EXPECT_EQ(arena->blockers[0].objects, 30U);
}

TEST_F(candidates, a_scratch_serves_only_what_dies_in_one_function) {
    // `take` serves two callers: what `work` takes dies there, but `play` hands it out.
    const auto works = made.stack({"main", "loop:5", "work:3", "take:4"});
    const auto worked = made.stack({"main", "loop:5", "work:6"});
    const auto plays = made.stack({"main", "loop:6", "play:3", "take:4"});
    const auto played = made.stack({"main", "loop:7"});
    for (std::uint64_t i = 0; i < 600; ++i) {
        for (const auto& [takes, gives] : {std::pair{works, worked}, std::pair{plays, played}}) {
            const auto a = made.allocate(takes, 2000 + i % 7);
            const auto b = made.allocate(takes, 3000);
            made.release(b, gives);
            made.release(a, gives);
        }
    }
    for (const advice& each : advised().advices) {
        const bool is_of_work = traits_of(each.candidate).in_owner && function_of(each) == "work";
        EXPECT_TRUE(!is_of_work || each.figures.objects == 1200) << code_of(each, paths());
    }
}

TEST_F(candidates, advice_about_c_is_in_c) {
    for (int i = 0; i < 40; ++i) requests(5);
    advised();
    const advice* found = about("copy_text");
    if (found == nullptr) found = about("insert");
    ASSERT_NE(found, nullptr);
    const auto is_about_c = [](const std::string& caution) { return caution.starts_with("made.c is C: "); };
    EXPECT_TRUE(std::ranges::none_of(cautions_of(*found, paths()), is_about_c));
    for (frame_info& frame : made.tables.frames) frame.locations[0].file = "made.c";
    EXPECT_TRUE(std::ranges::any_of(cautions_of(*found, call_paths{made.tables}), is_about_c));
    EXPECT_TRUE(code_of(*found, call_paths{made.tables}).starts_with("#include <acre.h>\n"));
}

TEST_F(candidates, objects_that_outlive_requests_do_not_spoil_their_arena) {
    // Both die in the same function; one should be an arena, the other a pool.
    const auto spawns = made.stack({"main", "frame:1", "spawn:3"});
    const auto draws = made.stack({"main", "frame:2", "draw:4"});
    const auto ends = made.stack({"main", "frame:3"});
    std::deque<std::uint64_t> orcs;
    for (int frame = 0; frame < 300; ++frame) {
        std::vector<std::uint64_t> lines;
        for (std::uint64_t i = 0; i < 10; ++i) lines.push_back(made.allocate(draws, 30 + 20 * i));
        for (int i = 0; i < 4; ++i) orcs.push_back(made.allocate(spawns, 64));
        for (const std::uint64_t line : lines) made.release(line, ends);
        while (orcs.size() > 100) {
            const std::size_t which = random() % orcs.size();
            made.release(orcs[which], ends);
            orcs.erase(orcs.begin() + static_cast<std::ptrdiff_t>(which));
        }
    }
    advised();
    ASSERT_NE(about("draw"), nullptr);
    EXPECT_EQ(about("draw")->candidate, verdict::arena);
    EXPECT_EQ(function_of(*about("draw")), "frame");
    EXPECT_EQ(about("draw")->generations.count, 300U);
    ASSERT_NE(about("spawn"), nullptr);
    EXPECT_EQ(about("spawn")->candidate, verdict::object_pool);
}

TEST_F(candidates, what_dies_in_a_callee_does_not_end_a_generation) {
    // Nothing is live after `scan` has freed its buffer, but the request has only begun.
    const auto scans = made.stack({"main", "request:1", "scan:2"});
    const auto scanned = made.stack({"main", "request:1", "scan:3"});
    const auto keeps = made.stack({"main", "request:4", "keep:5"});
    const auto end = made.stack({"main", "request:6"});
    for (int i = 0; i < 50; ++i) {
        for (int n = 0; n < 3; ++n) {
            const auto a = made.allocate(scans, 100);
            const auto b = made.allocate(scans, 50);
            made.release(a, scanned);
            made.release(b, scanned);
        }
        std::vector<std::uint64_t> kept;
        for (std::uint64_t n = 0; n < 20; ++n) kept.push_back(made.allocate(keeps, 10 + n));
        for (const std::uint64_t object : kept) made.release(object, end);
    }
    const advice* arena = nullptr;
    for (const advice& each : advised().advices) {
        if (each.of_scope && function_of(each) == "request") arena = &each;
    }
    ASSERT_NE(arena, nullptr);
    EXPECT_EQ(arena->generations.count, 50U);
    EXPECT_EQ(arena->figures.objects, 50U * 26);
}

TEST_F(candidates, youngest_first_in_a_function_is_a_scratch) {
    const auto buffer = made.stack({"main", "work:1", "step:5", "malloc"});
    const auto inner = made.stack({"main", "work:1", "step:6", "malloc"});
    const auto end = made.stack({"main", "work:1", "step:9"});
    for (std::uint64_t i = 0; i < 300; ++i) {
        const auto a = made.allocate(buffer, 100 + i);
        const auto b = made.allocate(inner, 50);
        made.release(b, end);
        made.release(a, end);
    }
    ASSERT_EQ(advised().advices.size(), 1U);
    const advice& only = advised().advices[0];
    EXPECT_EQ(only.candidate, verdict::scratch);
    EXPECT_EQ(function_of(only), "step");
    EXPECT_NE(code_of(only, paths()).find("acre::scratch temp{scratch_memory};"), std::string::npos);
}

TEST_F(candidates, what_is_never_freed_is_a_monotonic_arena) {
    const auto interns = made.stack({"main", "intern:5"});
    for (std::uint64_t i = 0; i < 1000; ++i) made.allocate(interns, 10 + i % 70);
    ASSERT_EQ(advised().advices.size(), 1U);
    EXPECT_EQ(advised().advices[0].candidate, verdict::monotonic_arena);
    EXPECT_EQ(advised().advices[0].figures.never_freed, 1000U);
}

TEST_F(candidates, one_size_freed_by_another_thread_is_a_concurrent_type) {
    const auto produces = made.stack({"produce:3"});
    const auto consumes = made.stack({"consume:4"});
    std::deque<std::uint64_t> queue;
    for (int i = 0; i < 1000; ++i) {
        queue.push_back(made.allocate(produces, 96, 0));
        if (queue.size() < 20) continue;
        made.release(queue.front(), consumes, 1);
        queue.pop_front();
    }
    ASSERT_EQ(advised().advices.size(), 1U);
    EXPECT_EQ(advised().advices[0].candidate, verdict::concurrent_object_pool);
    EXPECT_NE(code_of(advised().advices[0], paths()).find("acre::concurrent_object_pool<T> produce_pool"),
              std::string::npos);
    EXPECT_NE(title_of(advised().advices[0], paths()).find("concurrent"), std::string::npos);
}

TEST_F(candidates, a_single_free_by_another_thread_rules_out_a_pool_of_one_thread) {
    churn("spawn:3", 48, 5000, 100);
    churn("load:4", 0, 5000, 100);
    for (const char* site : {"spawn:3", "load:4"}) {
        const auto makes = made.stack({"main", "loop:1", site, "operator new(unsigned long)"});
        made.release(made.allocate(makes, 48, 0), made.stack({"shut_down:9"}), 1);
    }
    EXPECT_EQ(advised().advices.size(), 2U);
    for (const advice& each : advised().advices) {
        EXPECT_GT(each.figures.freed_elsewhere, 0U);
        const bool concurrent =
            each.candidate == verdict::concurrent_object_pool || each.candidate == verdict::concurrent_multi_pool;
        EXPECT_TRUE(concurrent) << code_of(each, paths());
    }
}

TEST_F(candidates, many_sizes_freed_by_another_thread_are_a_concurrent_multi_pool) {
    const auto produces = made.stack({"produce:3"});
    const auto consumes = made.stack({"consume:4"});
    for (std::uint64_t i = 0; i < 1000; ++i) made.release(made.allocate(produces, 10 + i % 40, 0), consumes, 1);
    ASSERT_EQ(advised().advices.size(), 1U);
    EXPECT_EQ(advised().advices[0].candidate, verdict::concurrent_multi_pool);
}

TEST_F(candidates, objects_freed_at_the_end_of_a_phase_are_a_phase_arena) {
    const auto loads = made.stack({"main", "load:5"});
    const auto end = made.stack({"main", "unload:4"});
    std::vector<std::uint64_t> objects;
    for (std::uint64_t i = 0; i < 1000; ++i) objects.push_back(made.allocate(loads, 10 + i % 300));
    for (const std::uint64_t object : objects) made.release(object, end);
    ASSERT_EQ(advised().advices.size(), 1U);
    EXPECT_EQ(advised().advices[0].candidate, verdict::phase_arena);
}

TEST_F(candidates, too_little_reuse_is_left) {
    const auto loads = made.stack({"main", "load:5"});
    const auto end = made.stack({"main", "other:4"});
    for (const int count : {500, 400}) {
        std::vector<std::uint64_t> objects;
        for (int i = 0; i < count; ++i) objects.push_back(made.allocate(loads, 1 + random() % 300));
        for (const std::uint64_t object : objects) made.release(object, end);
    }
    ASSERT_EQ(advised().advices.size(), 1U);
    EXPECT_EQ(advised().advices[0].candidate, verdict::leave);
    EXPECT_NE(advised().advices[0].reason, "");
}

TEST_F(candidates, a_pool_may_suit_what_is_reused_a_few_times) {
    churn("order", 64, 500, 125);
    EXPECT_EQ(advised().advices.at(0).candidate, verdict::object_pool);
}

class candidates_of_wrappers : public candidates {
protected:
    /// Orcs of one size and texts of many, from get_memory, freed in any order with these stacks.
    void orcs_and_texts(std::uint32_t end_of_orcs, std::uint32_t end_of_texts) {
        const auto orcs = made.stack({"main", "loop:1", "spawn:2", "get_memory:9"});
        const auto texts = made.stack({"main", "loop:2", "say:2", "get_memory:9"});
        std::vector<std::pair<std::uint64_t, std::uint32_t>> live;
        for (int i = 0; i < 3000; ++i) {
            live.emplace_back(made.allocate(orcs, 64), end_of_orcs);
            live.emplace_back(made.allocate(texts, 1 + random() % 500), end_of_texts);
            while (live.size() > 100) {
                std::swap(live[random() % live.size()], live.back());
                made.release(live.back().first, live.back().second);
                live.pop_back();
            }
        }
    }
};

TEST_F(candidates_of_wrappers, uses_are_distinguished_by_callers) {
    orcs_and_texts(made.stack({"main", "loop:3", "kill:3"}), made.stack({"main", "loop:4", "forget:3"}));
    std::map<std::string, verdict> found;
    for (const advice& each : advised().advices) found[function_of(each)] = each.candidate;
    EXPECT_EQ(found.at("spawn"), verdict::object_pool);
    EXPECT_EQ(found.at("say"), verdict::multi_pool);
}

TEST_F(candidates_of_wrappers, what_one_call_frees_gets_one_verdict) {
    // put_memory cannot tell an orc from a text.
    const auto end = made.stack({"main", "loop:3", "put_memory:3"});
    orcs_and_texts(end, end);
    ASSERT_EQ(advised().advices.size(), 1U);
    const advice& only = advised().advices[0];
    EXPECT_EQ(only.place.kind, place_kind::hook);
    EXPECT_EQ(only.candidate, verdict::multi_pool);
    EXPECT_EQ(only.figures.objects, 6000U);
    EXPECT_EQ(title_of(only, paths()), "a multi_pool for everything behind get_memory");
}

/// As lua_Alloc: one function allocates and frees, for many.
class candidates_of_hooks : public candidates {
protected:
    void hook(operation allocates) {
        std::vector<std::uint32_t> makes;
        for (const char* caller : {"new_string:1", "new_table:2", "new_function:3"})
            makes.push_back(made.stack({"main", "run:1", caller, "alloc_hook:7"}));
        const auto ends = made.stack({"main", "run:2", "collect:5", "alloc_hook:9"});
        std::vector<std::uint64_t> live;
        for (std::uint64_t i = 0; i < 6000; ++i) {
            const std::uint64_t size = i % 3 == 0 ? 1 + random() % 90 : 32 * (i % 3);
            live.push_back(made.allocate(makes[i % 3], size, 0, allocates));
            if (live.size() < 200) continue;
            std::swap(live[random() % live.size()], live.back());
            made.release(live.back(), ends);
            live.pop_back();
        }
    }
};

TEST_F(candidates_of_hooks, by_operator_new_are_told_from_those_by_malloc) {
    hook(operation::new_single);
    ASSERT_EQ(advised().advices.size(), 1U);
    EXPECT_EQ(advised().advices[0].place.kind, place_kind::hook);
    EXPECT_EQ(code_of(advised().advices[0], paths()).find("malloc"), std::string::npos);
}

TEST_F(candidates_of_hooks, get_one_verdict) {
    hook(operation::malloc);
    ASSERT_EQ(advised().advices.size(), 1U);
    EXPECT_EQ(advised().advices[0].place.kind, place_kind::hook);
    EXPECT_EQ(advised().advices[0].place.name, "alloc_hook");
    EXPECT_NE(code_of(advised().advices[0], paths()).find("for malloc"), std::string::npos);
    EXPECT_EQ(advised().advices[0].candidate, verdict::multi_pool);
}

TEST_F(candidates_of_wrappers, a_function_that_returns_a_vector_is_no_hook) {
    // A vector that grows in it frees there, too.
    const std::string grows = "std::vector<int, std::allocator<int> >::_M_realloc_insert(int)";
    const std::string allocates = "std::__new_allocator<int>::allocate(unsigned long, void const*)";
    const auto frees_within = made.stack({"main", "smooth:1", "neighbours:9", grows});
    const auto frees_result = made.stack({"main", "smooth:3"});
    std::vector<std::uint32_t> makes;
    for (const char* caller : {"smooth:1", "walk:2", "count:3"})
        makes.push_back(made.stack({"main", caller, "neighbours:9", grows, allocates}));
    for (std::uint64_t i = 0; i < 6000; ++i) {
        const std::uint64_t small = made.allocate(makes[i % 3], 8);
        const std::uint64_t large = made.allocate(makes[i % 3], 16);
        made.release(small, frees_within);
        made.release(large, frees_result);
    }
    for (const advice& each : advised().advices) {
        EXPECT_EQ(each.place.kind, place_kind::container);
        EXPECT_EQ(each.place.name, "std::vector<int>");
    }
}

// The code of a header of another library is not to be changed: acre's hook puts all of it elsewhere.
TEST_F(candidates_of_wrappers, a_library_with_a_hook_is_one_group) {
    const std::string json = "nlohmann::json_abi_v3_11_2::basic_json<std::map>::";
    const std::string map = "std::map<std::string, int, std::less<std::string> >::operator[](std::string const&)";
    const auto texts = made.stack({"main", "load:1", json + "create<std::string>(char const*&):3"});
    const auto members = made.stack({"main", "store:2", json + "operator[](char const*):5", map});
    const auto ends = made.stack({"main", "drop:3", json + "~basic_json():9"});
    std::vector<std::uint64_t> live;
    for (std::uint64_t i = 0; i < 6000; ++i) {
        live.push_back(made.allocate(i % 2 == 0 ? texts : members, 32 + random() % 100));
        if (live.size() < 100) continue;
        std::swap(live[random() % live.size()], live.back());
        made.release(live.back(), ends);
        live.pop_back();
    }
    ASSERT_EQ(advised().advices.size(), 1U);
    const advice& only = advised().advices[0];
    EXPECT_EQ(title_of(only, paths()), "a multi_pool for nlohmann::json");
    EXPECT_NE(code_of(only, paths()).find("using json = acre::pooled_json;"), std::string::npos);
    EXPECT_EQ(cautions_of(only, paths()).size(), 1U);
}

TEST_F(candidates_of_wrappers, hooks_of_other_libraries_are_over_the_general_heap) {
    const auto frees = made.stack({"main", "drop:3", "sqlite3_close:9"});
    const auto frees_json = made.stack({"main", "drop:3", "rapidjson::CrtAllocator::Free(void*):9"});
    churn(made.stack({"main", "query:1", "sqlite3_step:2", "libsqlite3.so.0.8.6+0x1234:0"}), frees, 0);
    churn(made.stack({"main", "open:4", "sqlite3_prepare_v2:2"}), frees, 0);
    churn(made.stack({"main", "load:1", "boost::json::parse(char const*):2"}), frees_json, 0);
    churn(made.stack({"main", "load:1", "void* rapidjson::CrtAllocator::Malloc(unsigned long):2"}), frees_json, 0);
    std::map<std::string, std::uint64_t> found;
    for (const advice& each : advised().advices) {
        EXPECT_EQ(each.candidate, verdict::general_heap) << each.place.name;
        EXPECT_NE(code_of(each, paths()).find("#include <acre/adapt/hooks/"), std::string::npos);
        found[each.place.name] += each.figures.objects;
    }
    const std::map<std::string, std::uint64_t> wanted{{"Boost.JSON", 4000}, {"RapidJSON", 4000}, {"SQLite", 8000}};
    EXPECT_EQ(found, wanted);
}

class candidates_of_groups : public candidates {};

TEST_F(candidates_of_groups, a_member_container_is_one_however_it_grows) {
    const std::string vector = "std::vector<order, std::allocator<order> >::";
    const std::string allocates = "std::__new_allocator<order>::allocate(unsigned long, void const*)";
    const auto grows =
        made.stack({"main", "book::book():1", "book::add:2", vector + "_M_realloc_insert(int)", allocates});
    const auto reserves = made.stack({"main", "book::book():1", "book::load:4", vector + "reserve(int)", allocates});
    const auto ends = made.stack({"main", "book::drop:7"});
    std::deque<std::uint64_t> live;
    for (std::uint64_t i = 0; i < 4000; ++i) {
        live.push_back(made.allocate(i % 4 == 0 ? reserves : grows, i % 4 == 0 ? 48 : 16 + random() % 1000));
        if (live.size() < 60) continue;
        std::swap(live[random() % live.size()], live.front());
        made.release(live.front(), ends);
        live.pop_front();
    }
    ASSERT_EQ(advised().advices.size(), 1U);
    const advice& only = advised().advices[0];
    EXPECT_EQ(only.place.kind, place_kind::container);
    EXPECT_EQ(only.sites.size(), 2U);
    EXPECT_EQ(title_of(only, paths()),
              "a multi_pool for std::vector<order> in functions of book, and reserve() for its vectors");
}

TEST_F(candidates_of_groups, a_class_is_one_wherever_its_objects_are_made) {
    const auto ends = made.stack({"main", "remove:7"});
    const auto ambush = made.stack({"main", "ambush:1", "std::make_unique<game::orc, int>(int&&)"});
    const auto spawns = made.stack({"main", "spawn:1", "std::make_unique<game::orc>()"});
    std::vector<std::uint64_t> live;
    for (int i = 0; i < 3000; ++i) {
        live.push_back(made.allocate(i % 2 == 0 ? ambush : spawns, 48));
        if (live.size() < 60) continue;
        std::swap(live[random() % live.size()], live.back());
        made.release(live.back(), ends);
        live.pop_back();
    }
    ASSERT_EQ(advised().advices.size(), 1U);
    const advice& only = advised().advices[0];
    EXPECT_EQ(title_of(only, paths()), "an object pool for class game::orc");
    EXPECT_NE(code_of(only, paths()).find("ACRE_POOLED(orc);"), std::string::npos);
}

TEST_F(candidates_of_groups, objects_of_make_unique_are_not_called_those_of_a_new_expression) {
    const auto ends = made.stack({"main", "remove:7"});
    const auto plain = made.stack({"main", "spawn:1", "std::make_unique<game::orc>()"});
    const auto with_new = made.stack({"main", "spawn:2", "std::make_unique<game::orc>()", "operator new<game::orc>"});
    for (int i = 0; i < 3000; ++i) {
        made.release(made.allocate(i % 2 == 0 ? plain : with_new, 48, 0, operation::new_single), ends);
    }
    const std::vector<change_place>& places = advised().advices.at(0).places;
    ASSERT_EQ(places.size(), 1U);
    EXPECT_EQ(places[0].name, "game::orc");
    EXPECT_TRUE(places[0].by_make_unique);
    EXPECT_FALSE(places[0].by_new);
}

TEST_F(candidates_of_groups, small_sites_with_one_owner_are_judged_together) {
    churn("many", 48, 20'000, 50);
    std::vector<std::uint64_t> live;
    const auto end = made.stack({"main", "read_page:1", "close_page:3"});
    std::vector<std::uint32_t> makes;
    for (const char* site : {"font:1", "colour:2", "path:3", "image:4"})
        makes.push_back(made.stack({"main", "read_page:1", site}));
    for (int i = 0; i < 600; ++i) {
        live.push_back(made.allocate(makes[static_cast<std::size_t>(i % 4)], 1 + random() % 200));
        if (live.size() < 20) continue;
        std::swap(live[random() % live.size()], live.back());
        made.release(live.back(), end);
        live.pop_back();
    }
    for (const std::uint64_t object : live) made.release(object, end);
    ASSERT_EQ(advised().advices.size(), 2U);
    const advice& together = advised().advices[1];
    EXPECT_EQ(together.place.kind, place_kind::several);
    EXPECT_EQ(together.candidate, verdict::multi_pool);
    EXPECT_EQ(together.sites.size(), 4U);
    EXPECT_EQ(subject_of(together, paths()), "4 sites whose objects die in read_page");
    EXPECT_NE(location_of(together, paths()).find("colour (made.cpp:2)"), std::string::npos);
    EXPECT_EQ(advised().small_sites, 0U);
}

// Hazard Y12: one container split between two verdicts.
TEST_F(candidates_of_groups, an_arena_gets_all_of_a_container_or_nothing) {
    // The vector's first buffers die with each request; its last ones live on, in the same function.
    const std::string vector = "std::vector<int, std::allocator<int> >::";
    const auto grows = made.stack({"main", "request:5", vector + "_M_realloc_insert(int)"});
    const auto copies = made.stack({"main", "request:5", vector + "vector(std::vector<int> const&)"});
    const auto text = made.stack({"main", "request:6", "copy_text:7"});
    const auto end = made.stack({"main", "request:8"});
    std::vector<std::uint64_t> kept;
    for (int i = 0; i < 300; ++i) {
        std::vector<std::uint64_t> objects;
        for (std::uint64_t n = 0; n < 8; ++n) objects.push_back(made.allocate(text, 20 + 13 * n));
        objects.push_back(made.allocate(grows, 64));
        if (i % 20 == 0) kept.push_back(made.allocate(copies, 128));
        for (const std::uint64_t object : objects) made.release(object, end);
    }
    for (const std::uint64_t object : kept) made.release(object, end);
    advised();
    const advice* arena = about("copy_text");
    ASSERT_NE(arena, nullptr);
    EXPECT_EQ(arena->candidate, verdict::arena);
    EXPECT_EQ(arena->figures.objects, 2400U);  // not the 300 that would have fitted
}

TEST_F(candidates_of_groups, an_arena_gets_all_of_a_member_container_or_nothing) {
    // A deque allocates its first node where it is constructed, and others where it grows: these live on.
    const std::string deque = "std::deque<int, std::allocator<int> >::";
    const auto first = made.stack({"main", "request:5", "loop::loop():1", deque + "deque()"});
    const auto later = made.stack({"main", "request:6", "loop::post:2", deque + "push_back(int)"});
    const auto text = made.stack({"main", "request:7", "copy_text:7"});
    const auto end = made.stack({"main", "request:8"});
    std::vector<std::uint64_t> kept;
    for (int i = 0; i < 300; ++i) {
        std::vector<std::uint64_t> objects;
        for (std::uint64_t n = 0; n < 8; ++n) objects.push_back(made.allocate(text, 20 + 13 * n));
        objects.push_back(made.allocate(first, 512));
        kept.push_back(made.allocate(later, 512));
        for (const std::uint64_t object : objects) made.release(object, end);
    }
    advised();
    const advice* arena = about("copy_text");
    ASSERT_NE(arena, nullptr);
    EXPECT_EQ(arena->candidate, verdict::arena);
    EXPECT_EQ(arena->figures.objects, 2400U);  // not the first nodes
}

TEST_F(candidates_of_groups, a_base_with_an_operator_new_is_not_the_class_of_its_objects) {
    const auto makes = made.stack({"main", "loop:1", "spawn:3", "counted<orc>::operator new(unsigned long)"});
    const auto frees = made.stack({"main", "loop:2", "remove"});
    std::deque<std::uint64_t> live;
    for (int i = 0; i < 4000; ++i) {
        live.push_back(made.allocate(makes, 48, 0, operation::new_single));
        if (live.size() < 60) continue;
        std::swap(live[random() % live.size()], live.front());
        made.release(live.front(), frees);
        live.pop_front();
    }
    const advice& only = advised().advices.at(0);
    const std::string code = code_of(only, paths());
    EXPECT_EQ(code.find("counted"), code.find("counted_")) << code;
    EXPECT_NE(code.find("T: the type of 48 bytes"), std::string::npos) << code;
    EXPECT_NE(cautions_of(only, paths()).back().find("counted<orc> has an operator new of its own"), std::string::npos);
}

TEST_F(candidates, of_code_without_optimisation_say_so) {
    const char* allocate = "std::__new_allocator<int>::allocate(unsigned long, void const*)";
    const auto at = made.stack({"main", "work:7", allocate, "operator new(unsigned long)"});
    for (int i = 0; i < 1000; ++i) made.release(made.allocate(at, 40, 0, operation::new_single), at);
    const auto says = [&] {
        const std::vector<std::string> cautions = cautions_of(advised().advices.at(0), paths());
        return std::ranges::any_of(cautions, [](const std::string& each) {
            return each.starts_with("made.cpp was compiled without optimisation");
        });
    };
    EXPECT_TRUE(says());
    // Inlined.
    for (frame_info& frame : made.tables.frames) {
        if (frame.locations[0].function == allocate) frame.locations.push_back({"work", "made.cpp", 7});
    }
    EXPECT_FALSE(says());
}

TEST_F(candidates, of_the_frames_of_coroutines_are_pools_for_the_promise_type) {
    const char* resume = "std::coroutine_handle<p>::resume() const";
    const char* destroy = "std::coroutine_handle<p>::destroy() const";
    const char* call_new = "operator new(unsigned long)";
    const auto makes = made.stack({"main", "walk(tree const*):25", call_new});
    const auto makes_deeper = made.stack({"main", resume, "walk(tree const*):26", "walk(tree const*):25", call_new});
    const auto inner = made.stack({"main", resume, "walk(tree const*):27", call_new});
    const auto jumps = made.stack({"main", "generator::~generator()", destroy});
    const auto calls = made.stack({"main", destroy, "walk(tree const*):25"});
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t frame = made.allocate(i % 2 == 0 ? makes : makes_deeper, 72, 0, operation::new_single);
        const std::uint64_t object = made.allocate(inner, 24, 0, operation::new_single);
        made.release(object, calls, 0, operation::delete_single);
        made.release(frame, i % 2 == 0 ? jumps : calls, 0, operation::delete_single);
    }
    const advice_list& list = advised();
    const auto of_frames =
        std::ranges::find_if(list.advices, [](const advice& each) { return is_coroutine_frame(each.place); });
    ASSERT_NE(of_frames, list.advices.end());
    EXPECT_EQ(of_frames->candidate, verdict::multi_pool);
    EXPECT_EQ(of_frames->figures.objects, 1000u) << "not what it allocates itself";
    EXPECT_EQ(title_of(*of_frames, paths()), "a multi_pool for the frames of coroutine walk");
    EXPECT_EQ(code_of(*of_frames, paths()),
              "#include <acre/acre.hpp>\nstatic acre::multi_pool walk_pool;\n// in the promise_type of walk:\n"
              "static void* operator new(std::size_t bytes) { return walk_pool.allocate(bytes); }\n"
              "static void operator delete(void* p, std::size_t bytes) noexcept { walk_pool.deallocate(p, bytes); }\n");
}

TEST(names_of_places, are_found_in_functions) {
    EXPECT_EQ(class_in("void book::add(order const&)"), "book");
    EXPECT_EQ(class_in("(anonymous namespace)::f(int)"), "(anonymous namespace)");
    EXPECT_EQ(class_in("main"), "");
    EXPECT_EQ(class_in("bool std::vector<a::b<1>, c>::operator<(int) const"), "std::vector<a::b<1>, c>");
    const auto of = [](const char* function) { return container_in(function) ? container_in(function)->name : ""; };
    EXPECT_EQ(of("void std::vector<int, std::allocator<int> >::_M_realloc_insert<int>(int&&)"), "std::vector<int>");
    EXPECT_EQ(of("std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create(unsigned "
                 "long&, unsigned long)"),
              "std::string");
    EXPECT_EQ(of("std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int, "
                 "std::less<int>, std::allocator<std::pair<int const, int> > >::operator[](int const&)"),
              "std::map<std::string, int>");
    EXPECT_EQ(of("std::string::_Rep::_S_create(unsigned long, unsigned long, std::allocator<char> const&)"),
              "std::string");
    EXPECT_EQ(of("std::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >::_Rep::_S_create("
                 "unsigned long, unsigned long, std::allocator<wchar_t> const&)"),
              "std::basic_string<wchar_t>");
    EXPECT_EQ(of("std::vector<std::unique_ptr<orc, std::default_delete<orc> >, std::allocator<std::unique_ptr<orc, "
                 "std::default_delete<orc> > > >::push_back(int)"),
              "std::vector<std::unique_ptr<orc>>");
    EXPECT_EQ(
        of("std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::pmr::polymorphic_allocator<char> "
           ">, std::vector<int, std::pmr::polymorphic_allocator<int> >, std::less<std::__cxx11::basic_string<char, "
           "std::char_traits<char>, std::pmr::polymorphic_allocator<char> > >, "
           "std::pmr::polymorphic_allocator<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, "
           "std::pmr::polymorphic_allocator<char> > const, std::vector<int, std::pmr::polymorphic_allocator<int> > > "
           "> >::clear()"),
        "std::pmr::map<std::pmr::string, std::pmr::vector<int>>");
    EXPECT_EQ(of("std::pmr::monotonic_buffer_resource::_M_new_buffer(unsigned long, unsigned long)"),
              "std::pmr::monotonic_buffer_resource");
    EXPECT_EQ(of("std::pmr::memory_resource::allocate(unsigned long, unsigned long)"), "");
    EXPECT_EQ(of("std::make_unique<std::vector<int>>()"), "");
    EXPECT_EQ(of("my::vector<int>::grow()"), "");
    EXPECT_EQ(type_made_in("std::_MakeUniq<orc>::__single_object std::make_unique<orc, int>(int&&)"), "orc");
    EXPECT_EQ(type_made_in("std::make_unique<int []>(unsigned long)"), "");
    EXPECT_EQ(type_made_in("game::orc::operator new(unsigned long)"), "game::orc");
    EXPECT_EQ(type_made_in("operator new(unsigned long)"), "");
    EXPECT_EQ(type_made_in("operator new<game::wagon<game::orc>>"), "game::wagon<game::orc>");
}

TEST(names_of_places, library_memory_is_told_from_what_passes_through_a_library) {
    const auto of = [](const char* function) {
        return library_memory_of(function) ? library_memory_of(function)->name : "";
    };
    EXPECT_EQ(of("void std::_Function_base::_Base_manager<main::{lambda()#1}>::_M_create<main::{lambda()#1}>(int)"),
              "std::function");
    EXPECT_EQ(of("std::function<long int(long int)>::function<make(long int)::<lambda(long int)> >"), "std::function");
    EXPECT_EQ(of("std::_Function_handler<void (), f()::{lambda()#1}>::_M_manager(std::_Any_data&)"), "std::function");
    EXPECT_EQ(of("std::__1::__function::__value_func<void ()>::__value_func[abi:ne190107]<f()::$_0>(f()::$_0&&)"),
              "std::function");
    EXPECT_EQ(of("std::_Function_handler<void (), f()::{lambda()#1}>::_M_invoke(std::_Any_data const&)"), "");
    EXPECT_EQ(of("std::function<void ()>::operator()() const"), "");
    EXPECT_EQ(of("__cxa_allocate_exception"), "an exception");
    EXPECT_EQ(of("std::runtime_error::runtime_error(char const*)"), "the text of an exception");
    EXPECT_EQ(of("std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count<item*>(item*)"),
              "the counts of std::shared_ptr");
    EXPECT_EQ(of("std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count<item, std::allocator<void>>(item*&, "
                 "std::_Sp_alloc_shared_tag<std::allocator<void> >)"),
              "");
    EXPECT_EQ(of("void std::stable_sort<int*>(int*, int*)"), "the buffer of a standard algorithm");
    EXPECT_EQ(
        of("std::__detail::_NFA<std::__cxx11::regex_traits<char> >::_M_insert_state(std::__detail::_State<char>)"),
        "std::regex");
    EXPECT_EQ(of("std::__cxx11::basic_stringbuf<char, std::char_traits<char>, std::allocator<char> >::overflow(int)"),
              "a stream of the standard library");
    EXPECT_EQ(of("std::__detail::_Hashtable_alloc<std::allocator<int> >::_M_allocate_node()"), "");
    EXPECT_EQ(of("std::vector<int, std::allocator<int> >::push_back(int&&)"), "");
    EXPECT_EQ(of("my::function<int>::function(int)"), "");
    EXPECT_EQ(of("qsort"), "the C library");
    EXPECT_EQ(of("main"), "");
}

TEST_F(candidates, what_a_library_allocates_for_itself_is_left_and_is_in_no_arena) {
    const auto callable =
        made.stack({"main", "loop:1", "listen:4", "std::function<void ()>::function<lambda>(lambda&&)",
                    "std::_Function_base::_Base_manager<lambda>::_M_create<lambda>(lambda&&)", "operator new<lambda>",
                    "operator new(unsigned long)"});
    const auto own = made.stack({"main", "loop:1", "listen:5", "operator new(unsigned long)"});
    const auto frees = made.stack({"main", "loop:1", "listen:8"});
    for (int i = 0; i < 2000; ++i) {
        std::vector<std::uint64_t> objects;
        for (std::uint64_t n = 0; n < 6; ++n) {
            objects.push_back(made.allocate(callable, 32));
            objects.push_back(made.allocate(own, 40 + 8 * n));
        }
        for (const std::uint64_t object : objects) made.release(object, frees);
    }
    const std::vector<advice>& advices = advised().advices;
    ASSERT_EQ(advices.size(), 2U);
    const auto is_of_library = [](const advice& each) { return each.place.kind == place_kind::library; };
    const auto of_library = std::ranges::find_if(advices, is_of_library);
    ASSERT_NE(of_library, advices.end());
    const advice& left = *of_library;
    EXPECT_EQ(left.candidate, verdict::leave);
    EXPECT_EQ(left.in_plan, verdict::object_pool);
    EXPECT_EQ(title_of(left, paths()), "leave std::function in listen as it is");
    EXPECT_NE(left.reason.find("16 bytes"), std::string::npos) << left.reason;
    EXPECT_EQ(left.figures.objects, 12000U);
    const auto arena = std::ranges::find_if_not(advices, is_of_library);
    ASSERT_NE(arena, advices.end());
    EXPECT_EQ(arena->candidate, verdict::arena);
    EXPECT_EQ(arena->figures.objects, 12000U);
}

TEST_F(candidates, functions_of_the_c_library_that_allocate_for_the_program_are_named) {
    const auto copies = made.stack({"main", "loop:1", "name:3", "__strdup"});
    const auto frees = made.stack({"main", "loop:2", "remove"});
    for (std::uint64_t i = 0; i < 2000; ++i) made.release(made.allocate(copies, 16 + i % 90), frees);
    const advice& only = advised().advices.at(0);
    EXPECT_EQ(only.c_functions, std::set<std::string>{"strdup"});
    bool is_said = false;
    for (const std::string& each : cautions_of(only, paths()))
        is_said |= each.starts_with("Some are allocated in strdup:");
    EXPECT_TRUE(is_said);
}

TEST_F(candidates, what_a_captured_container_allocates_is_not_the_librarys) {
    const auto copies = made.stack({"main", "loop:1", "listen:4", "std::function<void ()>::function<lambda>(lambda&&)",
                                    "std::_Function_base::_Base_manager<lambda>::_M_create<lambda>(lambda&&)",
                                    "std::vector<int, std::allocator<int> >::vector(std::vector<int, "
                                    "std::allocator<int> > const&)",
                                    "operator new(unsigned long)"});
    const auto frees = made.stack({"main", "loop:2", "remove"});
    for (int i = 0; i < 2000; ++i) made.release(made.allocate(copies, 48), frees);
    ASSERT_EQ(advised().advices.size(), 1U);
    EXPECT_EQ(advised().advices.front().places.front().kind, place_kind::container);
}

TEST_F(candidates, small_sites_are_counted_together) {
    churn("spawn", 48, 5000, 100);
    churn("rare", 16, 20, 2);
    advised();
    EXPECT_EQ(advised().advices.size(), 1U);
    EXPECT_EQ(advised().small_sites, 1U);
    EXPECT_EQ(advised().small_objects, 20U);
}

TEST_F(candidates, the_most_allocations_come_first_and_the_same_each_time) {
    churn("few", 32, 1000, 50);
    churn("many", 48, 4000, 50);
    requests(50);
    std::vector<std::string> first;
    for (const advice& each : advised().advices)
        first.push_back(evidence_of(each, paths()) + location_of(each, paths()));
    std::vector<std::string> second;
    for (const advice& each : advised().advices)
        second.push_back(evidence_of(each, paths()) + location_of(each, paths()));
    EXPECT_EQ(first, second);
    ASSERT_EQ(first.size(), 3U);
    EXPECT_NE(first[0].find("many"), std::string::npos);
    const std::vector<advice>& advices = advised().advices;
    EXPECT_TRUE(std::is_sorted(advices.begin(), advices.end(),
                               [](const advice& a, const advice& b) { return a.figures.objects > b.figures.objects; }));
}

TEST_F(candidates, many_sizes_that_live_about_equally_long_are_a_multi_arena) {
    const auto captures = made.stack({"main", "stream:1", "capture:3"});
    const auto forgets = made.stack({"main", "stream:2", "forget:4"});
    std::deque<std::uint64_t> packets;
    for (int i = 0; i < 3000; ++i) {
        packets.push_back(made.allocate(captures, 100 + random() % 1300));
        if (packets.size() < 50) continue;
        const auto oldest = packets.begin() + static_cast<std::ptrdiff_t>(random() % 4);
        made.release(*oldest, forgets);
        packets.erase(oldest);
    }
    for (const std::uint64_t object : packets) made.release(object, forgets);
    ASSERT_EQ(advised().advices.size(), 1U);
    const advice& only = advised().advices[0];
    EXPECT_EQ(only.candidate, verdict::multi_arena);
    EXPECT_GE(only.arenas * only.arena_bytes, only.figures.peak_bytes);
    EXPECT_GE(only.arena_bytes, only.figures.largest);
}

TEST_F(candidates, arenas_of_each_thread_fit_the_neediest_thread) {
    const auto stream = [&](std::uint32_t threads) {
        made = made_trace{};
        const auto captures = made.stack({"main", "stream:1", "capture:3"});
        const auto forgets = made.stack({"main", "stream:2", "forget:4"});
        std::vector<std::deque<std::uint64_t>> packets(threads);
        for (int i = 0; i < 3000; ++i) {
            for (std::uint32_t thread = 0; thread < threads; ++thread) {
                packets[thread].push_back(
                    made.allocate(captures, 100 + static_cast<std::uint64_t>(i * 7919 % 1300), thread));
                if (packets[thread].size() < (thread == 0 ? 50U : 20U)) continue;
                made.release(packets[thread].front(), forgets, thread);
                packets[thread].pop_front();
            }
        }
        for (std::uint32_t thread = 0; thread < threads; ++thread) {
            for (const std::uint64_t object : packets[thread]) made.release(object, forgets, thread);
        }
        const advice_list& list = advised();
        return list.advices.at(0);
    };
    const advice one = stream(1);
    const advice four = stream(4);
    EXPECT_EQ(one.candidate, verdict::multi_arena);
    EXPECT_EQ(four.candidate, verdict::multi_arena);
    EXPECT_EQ(four.figures.threads, 4U);
    EXPECT_EQ(four.arenas, one.arenas);
    EXPECT_EQ(four.arena_bytes, one.arena_bytes);
}

TEST_F(candidates, small_and_dead_before_its_function_returns_is_a_stack_buffer) {
    const auto takes = made.stack({"main", "format:3", "malloc"});
    const auto gives = made.stack({"main", "format:9"});
    for (std::uint64_t i = 0; i < 500; ++i) made.release(made.allocate(takes, 20 + i % 180), gives);
    ASSERT_EQ(advised().advices.size(), 1U);
    const advice& only = advised().advices[0];
    EXPECT_EQ(only.candidate, verdict::stack_buffer);
    EXPECT_EQ(function_of(only), "format");
    EXPECT_EQ(only.escape_depth, 0U);
    EXPECT_GE(only.buffer_bytes, 199U);
}

TEST_F(candidates, large_arrays_allocated_at_entry_and_freed_at_exit_are_left) {
    const auto takes = made.stack({"main", "transform:3"});
    const auto gives = made.stack({"main", "transform:9"});
    for (std::uint64_t i = 0; i < 500; ++i) {
        const auto from = made.allocate(takes, 50'000 + i);
        const auto to = made.allocate(takes, 50'000 + i);
        made.release(to, gives);
        made.release(from, gives);
    }
    ASSERT_EQ(advised().advices.size(), 1U);
    EXPECT_EQ(advised().advices[0].candidate, verdict::leave);
    EXPECT_NE(advised().advices[0].reason.find("on average"), std::string::npos);
}

TEST_F(candidates, a_function_that_jumps_to_free_keeps_what_it_owns) {
    // The frame of `work` is gone when free is called; the call that remains in the stack is one of `work`.
    const auto takes = made.stack({"main", "loop:5", "work:3", "malloc"});
    const auto frees = made.stack({"main", "loop:5", "work:4"});
    const auto jumps = made.stack({"main", "loop:5"});
    for (int i = 0; i < 300; ++i) {
        const auto a = made.allocate(takes, 2000);
        const auto b = made.allocate(takes, 3000);
        made.release(b, frees);
        made.release(a, jumps);
    }
    ASSERT_EQ(advised().advices.size(), 1U);
    EXPECT_EQ(advised().advices[0].candidate, verdict::scratch);
    EXPECT_EQ(function_of(advised().advices[0]), "work");
}

TEST_F(candidates, a_sample_gets_no_advice_that_needs_all_allocations) {
    requests(200);
    churn("spawn", 48, 5000, 100);
    for (const advice& each : advised(100).advices) {
        const bool pool = each.candidate == verdict::object_pool;
        EXPECT_TRUE(pool || each.candidate == verdict::leave) << name_of(each.candidate);
        if (!pool) {
            EXPECT_NE(each.reason.find("sample"), std::string::npos) << each.reason;
        }
    }
    EXPECT_EQ(about("spawn")->candidate, verdict::object_pool);
}

class candidates_in_c : public candidates {
protected:
    /// The advice about a function of a program in C.
    const advice* advised_in_c(const std::string& function) {
        for (frame_info& frame : made.tables.frames) frame.locations[0].file = "made.c";
        advised();
        return about(function);
    }

    /// Objects of a site that are all live at once, and end with these stacks in turn.
    void phase(const char* site, int count, std::initializer_list<std::uint32_t> ends) {
        const auto makes = made.stack({"main", "load:5", site, "malloc"});
        std::vector<std::uint64_t> objects;
        for (int i = 0; i < count; ++i)
            objects.push_back(made.allocate(makes, 10 + static_cast<std::uint64_t>(i) % 300));
        for (std::size_t i = 0; i < objects.size(); ++i)
            made.release(objects[i], ends.begin()[i % ends.size()], 0, operation::free);
    }

    /// Two rounds of objects that end together, each of which uses the memory of the one before once.
    void reuse_little(const char* site, const char* end, int count) {
        const auto makes = made.stack({"main", site, "malloc"});
        const auto ends = made.stack({"main", end});
        for (const int round : {count * 5 / 9, count * 4 / 9}) {
            std::vector<std::uint64_t> objects;
            for (int i = 0; i < round; ++i) objects.push_back(made.allocate(makes, 1 + random() % 300));
            for (const std::uint64_t object : objects) made.release(object, ends, 0, operation::free);
        }
    }

    std::string cautions_text(const advice& each) const {
        std::string text;
        for (const std::string& caution : cautions_of(each, paths())) text += caution + "\n";
        return text;
    }
};

TEST_F(candidates_in_c, an_arena_names_the_lines_that_free_its_objects_and_what_it_keeps) {
    const auto drops = made.stack({"main", "unload:4", "drop:8"});
    const auto clears = made.stack({"main", "unload:6", "clear:9"});
    phase("tag:3", 1000, {drops, drops, clears});
    const advice* tags = advised_in_c("tag");
    ASSERT_NE(tags, nullptr);
    EXPECT_EQ(tags->candidate, verdict::phase_arena);
    ASSERT_EQ(tags->freed_at.size(), 2U);
    EXPECT_EQ(tags->freed_at[0].objects, 667U);
    EXPECT_EQ(tags->freed_at[1].objects, 333U);
    const std::string text = cautions_text(*tags);
    EXPECT_NE(text.find("Today they are freed at drop (made.c:8), clear (made.c:9): free must no longer be called for "
                        "them there."),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("Without a reset it grows each time that the work is repeated, by 146 KiB"), std::string::npos)
        << text;
}

TEST_F(candidates_in_c, no_arena_for_objects_that_are_freed_at_a_line_that_frees_others) {
    const auto drops = made.stack({"main", "unload:4", "drop:8"});
    phase("tag:3", 1000, {drops});
    phase("value:4", 300, {drops});
    const advice* tags = advised_in_c("tag");
    ASSERT_NE(tags, nullptr);
    EXPECT_EQ(tags->candidate, verdict::leave);
    EXPECT_EQ(tags->decision, verdict::leave);
    EXPECT_EQ(tags->in_plan, verdict::phase_arena);
    EXPECT_EQ(tags->reason,
              "an arena for tag, freed as a whole would fit, but they are freed at drop (made.c:8), which also frees "
              "others (23.1 % of what it frees, mostly from value (made.c:4)): code there cannot tell them apart");
    EXPECT_EQ(about("value")->decision, verdict::leave);
}

TEST_F(candidates_in_c, a_line_that_frees_others_may_free_to_the_heap) {
    const auto drops = made.stack({"main", "unload:4", "drop:8"});
    const auto tag = made.stack({"main", "tag:3", "malloc"});
    const auto value = made.stack({"main", "value:4", "malloc"});
    std::vector<std::uint64_t> live;
    std::uint64_t step = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        live.push_back(i % 4 == 0 ? made.allocate(value, 80) : made.allocate(tag, 40));
        if (live.size() < 100) continue;
        step = (step + 37) % live.size();
        std::swap(live[step], live.back());
        made.release(live.back(), drops);
        live.pop_back();
    }
    for (const std::uint64_t object : live) made.release(object, drops);
    const advice* tags = advised_in_c("tag");
    ASSERT_NE(tags, nullptr);
    EXPECT_EQ(tags->candidate, verdict::general_heap);
    EXPECT_EQ(tags->decision, verdict::general_heap);
    EXPECT_EQ(tags->in_plan, verdict::general_heap);
    const std::string text = cautions_text(*tags);
    EXPECT_NE(text.find("These are allocated and freed by drop (made.c), tag (made.c), value (made.c): put"),
              std::string::npos)
        << text;
}

// Its free takes no other objects, so it cannot stand for all calls in a function.
TEST_F(candidates_in_c, a_pool_behind_a_wrapper_is_followed_line_by_line) {
    const auto frees = made.stack({"main", "drop:9"});
    for (const char* caller : {"text:3", "node:5", "table:7"}) {
        churn(made.stack({"main", caller, "new_node:8", "malloc"}), frees, 48);
    }
    advised_in_c("new_node");
    const advice* pool = with(verdict::object_pool);
    ASSERT_NE(pool, nullptr);
    EXPECT_EQ(pool->place.kind, place_kind::hook);
    EXPECT_TRUE(pool->malloc_callers.empty());
    EXPECT_NE(cautions_text(*pool).find("Today they are freed at drop (made.c:9)"), std::string::npos)
        << cautions_text(*pool);
}

TEST_F(candidates_in_c, a_pool_is_of_one_size) {
    const auto grows = made.stack({"main", "grow:3", "realloc"});
    const auto frees = made.stack({"main", "drop:4"});
    std::vector<std::uint64_t> live;
    for (std::uint64_t i = 0; i < 4000; ++i) {
        live.push_back(made.allocate(grows, i % 50 == 0 ? 4096 : 128));
        if (live.size() < 100) continue;
        std::swap(live[random() % live.size()], live.back());
        made.release(live.back(), frees);
        live.pop_back();
    }
    const advice* arrays = advised_in_c("grow");
    ASSERT_NE(arrays, nullptr);
    EXPECT_EQ(arrays->candidate, verdict::general_heap) << "though nearly all are of one size";
}

// cmark gains a third of its time, by fewer page faults above all.
TEST_F(candidates_in_c, too_little_reuse_for_a_pool_may_suit_the_general_heap) {
    reuse_little("load:5", "unload:4", 900);
    const advice* texts = advised_in_c("load");
    ASSERT_NE(texts, nullptr);
    EXPECT_EQ(texts->candidate, verdict::general_heap);
    EXPECT_EQ(texts->decision, verdict::general_heap);
    EXPECT_EQ(texts->reason, "");
}

TEST_F(candidates_in_c, an_arena_for_the_smaller_part_of_what_functions_share_joins_the_rest) {
    phase("part:3", 500, {made.stack({"main", "unload:8"})});
    reuse_little("load:5", "unload:4", 900);
    const advice* all = advised_in_c("load");
    ASSERT_NE(all, nullptr);
    EXPECT_EQ(all->candidate, verdict::general_heap);
    EXPECT_EQ(all->figures.objects, 1400U);
    EXPECT_EQ(with(verdict::phase_arena), nullptr);
}

TEST_F(candidates_in_c, an_arena_for_the_larger_part_stays) {
    phase("part:3", 2000, {made.stack({"main", "unload:8"})});
    reuse_little("load:5", "unload:4", 900);
    advised_in_c("load");
    ASSERT_NE(with(verdict::phase_arena), nullptr);
    EXPECT_EQ(with(verdict::phase_arena)->figures.objects, 2000U);
}

// tree-sitter: most of its sites are in a header.
TEST_F(candidates_in_c, a_header_is_of_the_file_that_includes_it) {
    churn(made.stack({"main", "push:8", "malloc"}), made.stack({"main", "pop:9"}), 0);
    advised_in_c("push");
    for (const char* file : {"main.c", "main.cpp"}) {
        for (frame_info& frame : made.tables.frames)
            frame.locations[0].file = frame.locations[0].function == "main" ? file : "list.h";
        advised();
        EXPECT_EQ(is_in_c(*about("push"), paths()), file == std::string{"main.c"}) << file;
    }
}

TEST(code_in_c, of_several_files_is_not_defined_in_a_header) {
    const std::string code = c_code_for("@void* get(void) { return 0; }\n", {"util.h", "vector.c"});
    EXPECT_NE(code.find("\n// in vector.c, behind its own"), std::string::npos) << code;
    const std::string of_header = c_code_for("@void* get(void) { return 0; }\n", {"util.h"});
    EXPECT_NE(of_header.find("\n// in one of the program's .c files, behind its own"), std::string::npos) << of_header;
}

[[gnu::noinline]] void frees_unseen(void* p) {
    std::free(p);
}

[[gnu::noinline]] const void* where_it_is_called() {
    return __builtin_return_address(0);
}

// As a compiler ends a function with `return malloc(bytes)`.
asm(R"(
    .text
    .type acre_jumps_to_malloc, @function
    acre_jumps_to_malloc: jmp malloc@PLT
    .size acre_jumps_to_malloc, . - acre_jumps_to_malloc
)");

[[gnu::used]] void (*volatile set_to_free)(void*) = &std::free;

// Stands for a function that is left by a jump through a pointer, so that the call in the stack is its own.
extern "C" [[gnu::noinline]] const void* drop_by_jump() {
    return __builtin_return_address(0);
}

// This test's own file is the program: one function calls directly, and one by a pointer.
class program_in_c : public candidates_in_c {
protected:
    const advice* nodes() {
        const void* (*volatile pointer)() = where_it_is_called;
        return nodes("drop", pointer());
    }

    const advice* nodes(const std::string& freeing, const void* behind_its_call) {
        return nodes(freeing, behind_its_call, where_it_is_called());
    }

    const advice* nodes(const std::string& freeing, const void* behind_its_call, const void* behind_allocation) {
        churn(made.stack({"main", "new_node:8", "malloc"}), made.stack({"main", freeing + ":9"}), 0);
        const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
        const std::map<std::string, const void*> calls{{"new_node", behind_allocation}, {freeing, behind_its_call}};
        Dl_info file{};
        EXPECT_NE(::dladdr(behind_its_call, &file), 0);
        made.tables.modules.push_back({program, build_id_of(program), 0});
        for (frame_info& frame : made.tables.frames) {
            const auto call = calls.find(frame.locations[0].function);
            if (call == calls.end()) continue;
            frame.module = static_cast<std::uint32_t>(made.tables.modules.size() - 1);
            frame.module_offset = static_cast<std::uint64_t>(static_cast<const char*>(call->second) -
                                                             static_cast<const char*>(file.dli_fbase)) -
                                  1;
        }
        return advised_in_c("new_node");
    }
};

// cmark frees what its two functions allocate at thirteen places, by a pointer of a struct.
TEST_F(program_in_c, has_functions_that_call_by_a_pointer_and_do_not_change) {
    const advice* each = nodes();
    ASSERT_NE(each, nullptr);
    ASSERT_EQ(each->malloc_callers.size(), 2U);
    const std::string text = cautions_text(*each);
    EXPECT_NE(text.find("These are allocated and freed by new_node (made.c): put"), std::string::npos) << text;
    EXPECT_NE(text.find("drop (made.c) calls malloc, realloc or free by a pointer: where the program sets that to one "
                        "of these, set it to the code's."),
              std::string::npos)
        << text;
}

// cmark: four of the six functions that were named jumped through the pointer.
TEST_F(program_in_c, has_functions_that_jump_through_a_pointer_and_do_not_change) {
    const advice* each = nodes("drop_by_jump", drop_by_jump());
    ASSERT_NE(each, nullptr);
    const std::string text = cautions_text(*each);
    EXPECT_NE(text.find("drop_by_jump (made.c) calls malloc, realloc or free by a pointer"), std::string::npos) << text;
}

// gumbo: util.c sets two pointers, and 33 calls are through these.
TEST_F(program_in_c, calls_all_by_pointers) {
    const void* (*volatile pointer)() = where_it_is_called;
    const void* by_pointer = pointer();
    const advice* each = nodes("drop", by_pointer, by_pointer);
    ASSERT_NE(each, nullptr);
    advice_list completed = list();
    find_unseen_uses(completed, run(), paths());
    const advice& found = completed.advices.front();
    const std::string text = cautions_text(found);
    EXPECT_NE(
        text.find("These are allocated and freed by pointers alone: put the code at the top of the file that sets"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("new_node (made.c), drop (made.c) call malloc, realloc or free by a pointer"),
              std::string::npos)
        << text;
    EXPECT_TRUE(acre::poisoning || text.find("The address of one of these is in ") != std::string::npos) << text;
    EXPECT_NE(code_of(found, paths()).find("static void*"), std::string::npos) << code_of(found, paths());
}

// duktape: the function that the pointer is set to ends with a jump to malloc, so it is in no stack.
TEST_F(program_in_c, has_functions_that_jump_to_malloc) {
    if (acre::poisoning) GTEST_SKIP() << "a sanitizer may have its malloc in the program's file";
    ASSERT_NE(nodes(), nullptr);
    advice_list completed = list();
    find_unseen_uses(completed, run(), paths());
    const std::string text = cautions_text(completed.advices.front());
    EXPECT_NE(text.find("These end with a jump to malloc or a function like it, so no stack"), std::string::npos)
        << text;
    EXPECT_NE(text.find("acre_jumps_to_malloc"), std::string::npos) << text;
}

// yajl: a function that was inlined and left by a jump to free was in no stack, and not named.
TEST_F(program_in_c, has_functions_that_free_and_were_not_seen) {
    if (acre::poisoning) GTEST_SKIP() << "a sanitizer may have its free in the program's file";
    frees_unseen(std::malloc(1));
    ASSERT_NE(nodes(), nullptr);
    advice_list completed = list();
    find_unseen_uses(completed, run(), paths());
    const std::vector<source_location>& unseen = completed.advices.front().unseen.frees;
    EXPECT_TRUE(std::ranges::any_of(
        unseen, [](const source_location& each) { return each.function.find("frees_unseen") != std::string::npos; }));
    EXPECT_TRUE(std::ranges::none_of(
        unseen, [](const source_location& each) { return each.function == "drop" || each.function == "new_node"; }));
    EXPECT_NE(cautions_text(completed.advices.front()).find("Look at these, which call free or realloc as well"),
              std::string::npos);
}

// libyaml with another input: a line of its arena grew what outlived the reset.
class arenas_in_c : public candidates_in_c {
protected:
    arenas_in_c() {
        phase("part:3", 2000, {made.stack({"main", "unload:8"})});
        reuse_little("load:5", "unload:4", 900);
        advised_in_c("load");
    }

    /// The list, measured: the arena and what shares its functions save this, and the heap for all that.
    advice_list measured(double arena, double others, double heap) {
        advice_list measured = list();
        const auto save = [](advice& each, double nanoseconds) {
            each.saving.done = true;
            each.saving.nanoseconds = {nanoseconds, nanoseconds, nanoseconds};
        };
        for (advice& each : measured.advices) save(each, each.candidate == verdict::phase_arena ? arena : others);
        save(measured.heaps_instead.at(0), heap);
        choose_arenas_or_heap(measured, measured.heaps_instead.at(0), paths());
        return measured;
    }

    static const advice* with_candidate(const advice_list& of, verdict which) {
        const auto found = std::ranges::find(of.advices, which, &advice::candidate);
        return found == of.advices.end() ? nullptr : &*found;
    }
};

TEST_F(arenas_in_c, have_a_heap_beside_them_for_all_of_their_functions) {
    ASSERT_EQ(list().heaps_instead.size(), 1U);
    const advice& heap = list().heaps_instead.front();
    EXPECT_EQ(heap.candidate, verdict::general_heap);
    EXPECT_EQ(heap.figures.objects, 2900U);
    EXPECT_EQ(title_of(heap, paths()),
              "acre's general heap for all that unload, part and 1 more function allocate and free");
}

TEST_F(arenas_in_c, give_way_to_the_heap_unless_they_save_half_as_much_again) {
    const advice_list changed = measured(100e6, 20e6, 90e6);
    ASSERT_EQ(changed.advices.size(), list().advices.size() - 1);
    const advice* heap = with_candidate(changed, verdict::general_heap);
    ASSERT_NE(heap, nullptr);
    EXPECT_EQ(heap->figures.objects, 2900U);
    EXPECT_EQ(with_candidate(changed, verdict::phase_arena), nullptr);
    const std::string text = cautions_text(*heap);
    EXPECT_NE(text.find("In place of the heap, an arena for part, freed as a whole, saves 60.0 ms to 200.0 ms in a "
                        "replay; but what outlives its reset with another input would be lost."),
              std::string::npos)
        << text;
}

TEST_F(arenas_in_c, that_save_half_as_much_again_tell_of_the_heap) {
    const advice_list kept = measured(100e6, 20e6, 80e6);
    EXPECT_EQ(kept.advices.size(), list().advices.size());
    const advice* arena = with_candidate(kept, verdict::phase_arena);
    ASSERT_NE(arena, nullptr);
    const std::string text = cautions_text(*arena);
    EXPECT_NE(text.find("use acre's general heap for all that unload, part and 1 more function allocate and free "
                        "(docs/c.md): it has no reset, and saves 48.0 ms to 160.0 ms in a replay."),
              std::string::npos)
        << text;
}

// Each is freed at a line of its own, so it could be changed alone: a wrapper is one place.
TEST_F(candidates_in_c, all_that_goes_through_a_wrapper_of_malloc_is_one_change) {
    const auto through = [&](const char* caller) { return made.stack({"main", caller, "xmalloc:8", "malloc"}); };
    const auto frees = [&](const char* caller) { return made.stack({"main", caller, "xfree:9"}); };
    churn(through("text:3"), frees("drop_text:4"), 0);
    churn(through("node:5"), frees("drop_node:6"), 48);
    const auto keeps = through("table:7");
    for (int i = 0; i < 500; ++i) made.allocate(keeps, 100);
    churn(made.stack({"main", "own:2", "malloc"}), made.stack({"main", "own:3", "free"}), 64);
    EXPECT_NE(advised_in_c("own"), nullptr);
    const advice* behind = with(verdict::general_heap);
    ASSERT_NE(behind, nullptr);
    EXPECT_EQ(behind->figures.objects, 8'000U);
    ASSERT_NE(with(verdict::monotonic_arena), nullptr) << "what is never freed has an arena of its own";
    EXPECT_EQ(with(verdict::monotonic_arena)->figures.objects, 500U);
    EXPECT_EQ(behind->place.kind, place_kind::hook);
    EXPECT_EQ(title_of(*behind, paths()), "acre's general heap for everything behind xmalloc");
    const std::string text = cautions_text(*behind);
    EXPECT_NE(text.find("These are allocated and freed by xmalloc (made.c), xfree (made.c): put the code at the top of "
                        "that file"),
              std::string::npos)
        << text;
}

TEST_F(candidates_in_c, a_wrapper_of_free_is_told_apart_by_its_callers) {
    phase("tag:3", 1000, {made.stack({"main", "unload:4", "drop:8"})});
    phase("value:4", 300, {made.stack({"main", "unload:5", "drop:8"})});
    const advice* tags = advised_in_c("tag");
    ASSERT_NE(tags, nullptr);
    EXPECT_EQ(tags->candidate, verdict::phase_arena);
    EXPECT_NE(cautions_text(*tags).find("freed at unload (made.c:4): "), std::string::npos) << cautions_text(*tags);
}

TEST_F(candidates_in_c, a_few_others_at_a_line_that_frees_are_a_caution) {
    const auto drops = made.stack({"main", "unload:4", "drop:8"});
    phase("tag:3", 1000, {drops});
    phase("value:4", 20, {drops});
    const advice* tags = advised_in_c("tag");
    ASSERT_NE(tags, nullptr);
    EXPECT_EQ(tags->candidate, verdict::phase_arena);
    EXPECT_NE(cautions_text(*tags).find(
                  "drop (made.c:8) (with 20 others, mostly from value (made.c:4), which must stay as they are)"),
              std::string::npos)
        << cautions_text(*tags);
}

TEST_F(candidates_in_c, a_line_that_allocates_for_other_groups_may_use_the_heap) {
    // The same line also makes what lives through the requests.
    const auto copies = made.stack({"main", "request:5", "copy_text:7", "malloc"});
    const auto ends = made.stack({"main", "request:8"});
    const auto keeps = made.stack({"main", "configure:2", "copy_text:7", "malloc"});
    for (std::uint64_t i = 0; i < 100; ++i) made.allocate(keeps, 20 + i);
    for (int i = 0; i < 100; ++i) {
        std::vector<std::uint64_t> objects;
        for (std::uint64_t n = 0; n < 10; ++n) objects.push_back(made.allocate(copies, 20 + 13 * n));
        for (const std::uint64_t object : objects) made.release(object, ends);
    }
    const advice* texts = advised_in_c("copy_text");
    ASSERT_NE(texts, nullptr);
    EXPECT_EQ(texts->candidate, verdict::general_heap) << "it serves what the line allocates for others, too";
    EXPECT_EQ(texts->in_plan, verdict::general_heap);
}

}  // namespace
