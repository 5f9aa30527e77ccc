// The runs of units below acre::general_heap, against a model: which units are in use, and what lies in them.
#include <gtest/gtest.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <acre/core/literals.hpp>
#include <acre/heaps/detail/heap_range.hpp>
#include <acre/memory/detail/pages.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "memory/limits.hpp"
#include "own_process.hpp"

namespace {

using acre::detail::heap_range;
using acre::detail::unit_number;
using acre_test::in_a_process_of_its_own;
using namespace acre::literals;

constexpr std::size_t unit = heap_range::unit_bytes;

// What a run that went back to the system may keep: where a page is larger than a unit, the parts of pages at its ends.
std::size_t parts_of_pages() {
    const std::size_t page = acre::detail::pages::bytes();
    return page > unit ? 2 * page : 0;
}

// A range, and what should be in it. A range is never given back to the system: the heap that it is made for lasts as
// long as the process.
class modelled_range {
public:
    modelled_range() { EXPECT_TRUE(tested.reserve()); }

    void take(std::size_t count, std::size_t alignment) {
        bool is_zero = false;
        const unit_number first = tested.take(count, alignment, is_zero);
        if (first == 0 && has_a_limit) return void(++refused);
        ASSERT_NE(first, 0u);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tested.address(first)) % (alignment * unit), 0u);
        expect_free(first, count);
        if (is_zero) expect_zero(first, count);
        set(first, count);
    }
    void give(std::size_t which) {
        const auto run = at(which);
        expect_whole(run->first, run->second);
        tested.give(run->first, static_cast<unit_number>(run->second));
        runs.erase(run);
    }
    void extend(std::size_t which, std::size_t more) {
        const auto run = at(which);
        const std::size_t length = run->second + more;
        if (!tested.extend(run->first, length)) return;
        expect_free(run->first + static_cast<unit_number>(run->second), more);
        set(run->first, length);
    }
    void shrink(std::size_t which) {
        const auto run = at(which);
        if (run->second == 1) return;
        tested.shrink(run->first, static_cast<unit_number>(run->second / 2));
        set(run->first, run->second / 2);
    }
    std::size_t units() const {
        std::size_t sum = 0;
        for (const auto& [first, count] : runs) sum += count;
        return sum;
    }

    // Too large for a stack.
    std::unique_ptr<heap_range> owner = std::make_unique<heap_range>();
    heap_range& tested = *owner;
    std::map<unit_number, std::size_t> runs;  // in use: the first unit, and how many
    bool has_a_limit = false;                 // on memory, so that a run may be refused
    int refused = 0;

private:
    std::map<unit_number, std::size_t>::iterator at(std::size_t which) {
        auto found = runs.begin();
        std::advance(found, which % runs.size());
        return found;
    }
    void expect_free(unit_number first, std::size_t count) const {
        for (const auto& [other, length] : runs) {
            EXPECT_TRUE(other + length <= first || first + count <= other) << first << " overlaps " << other;
        }
    }
    // Each unit begins and ends with its number and that of its run.
    void set(unit_number first, std::size_t count) {
        runs[first] = count;
        for (unit_number each = first; each != first + count; ++each) {
            const std::uint32_t written[2] = {each, first};
            std::memcpy(tested.address(each), written, sizeof written);
            std::memcpy(tested.address(each) + unit - sizeof written, written, sizeof written);
        }
    }
    void expect_whole(unit_number first, std::size_t count) const {
        for (unit_number each = first; each != first + count; ++each) {
            const std::uint32_t written[2] = {each, first};
            EXPECT_EQ(std::memcmp(tested.address(each), written, sizeof written), 0);
            EXPECT_EQ(std::memcmp(tested.address(each) + unit - sizeof written, written, sizeof written), 0);
        }
    }
    void expect_zero(unit_number first, std::size_t count) const {
        const std::byte* const begin = tested.address(first);
        EXPECT_TRUE(std::all_of(begin, begin + count * unit, [](std::byte each) { return each == std::byte{0}; }));
    }
};

void take_and_give_at_random(modelled_range& model) {
    std::minstd_rand random{20};
    for (int step = 0; step < 4000; ++step) {
        const std::size_t choice = random() % 16;
        if (choice < 6 && model.units() < 2000) {
            const std::size_t count = random() % 4 != 0 ? 1 + random() % 6 : 1 + random() % 120;
            model.take(count, random() % 4 != 0 ? 1 : std::size_t{1} << random() % 5);
        } else if (!model.runs.empty()) {
            if (choice < 12) model.give(random());
            if (choice == 12) model.extend(random(), 1 + random() % 20);
            if (choice == 13) model.shrink(random());
            if (choice == 14 && step % 8 == 0) model.tested.give_back(random() % 100, 1 + random() % 8);
        }
        ASSERT_EQ(model.tested.bytes_in_use(), model.units() * unit);
        if (testing::Test::HasFailure()) return;
    }
    while (!model.runs.empty()) model.give(0);
    EXPECT_EQ(model.tested.bytes_in_use(), 0u);
    model.tested.give_back(0, 1);
    EXPECT_LE(model.tested.bytes_free_with_data(), parts_of_pages());
}

TEST(heap_range, runs_are_as_the_model_says) {
    modelled_range model;
    take_and_give_at_random(model);
}

#if defined(__linux__)
// Y28. What was freed stayed charged, in holes that no request fitted: the limit was reached with little in use.
TEST(heap_range, what_is_free_does_not_count_against_a_limit_on_memory) {
    in_a_process_of_its_own([] {
        modelled_range model;
        model.has_a_limit = true;
        acre_test::limit(RLIMIT_DATA, acre_test::data_bytes() + 36_MiB);
        void* const more = mmap(nullptr, 64_MiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more != MAP_FAILED) return;  // an emulator does not pass the limit on
        take_and_give_at_random(model);
        EXPECT_EQ(model.refused, 0);
        // A half in pieces, of which every other one is free, then one piece.
        for (int each = 0; each < 280; ++each) model.take(6, 1);
        for (std::size_t each = 0; each < 140; ++each) model.give(each);
        model.take(1000, 1);
        EXPECT_EQ(model.refused, 0);
        model.take(1000, 1);
        EXPECT_EQ(model.refused, 1);
        while (!model.runs.empty()) model.give(0);
        take_and_give_at_random(model);
        EXPECT_EQ(model.refused, 1);
    });
}
#endif

TEST(heap_range, free_neighbours_merge) {
    modelled_range model;
    for (int each = 0; each < 3; ++each) model.take(10, 1);
    const unit_number first = model.runs.begin()->first;
    for (const std::size_t which : {2U, 0U, 0U}) model.give(which);
    model.take(30, 1);
    EXPECT_EQ(model.runs.begin()->first, first);
}

// A range that keeps only what a peak allows, and a block of 64 MiB in runs of 1 MiB that was freed.
class range_after_a_peak {
public:
    static constexpr std::size_t period = 10;  // milliseconds
    static constexpr std::size_t run = 1_MiB / unit;

    range_after_a_peak() {
        model.tested.set_allowance(0, period);
        for (int each = 0; each < 64; ++each) take(run);
        while (!taken.empty()) give();
    }
    void take(std::size_t count) {
        bool is_zero = false;
        taken.push_back(model.tested.take(count, 1, is_zero));
        ASSERT_NE(taken.back(), 0u);
    }
    void give() {
        model.tested.give(taken.back(), model.tested.record(taken.back()).length);
        taken.pop_back();
    }
    static void wait_for_periods() { std::this_thread::sleep_for(std::chrono::milliseconds{10 * period}); }

    modelled_range model;
    std::vector<unit_number> taken;
};

// Two periods and more after a peak the first free gives its memory back.
TEST(heap_range, a_peak_of_long_ago_is_forgotten_at_the_first_look) {
    in_a_process_of_its_own([] {
        range_after_a_peak subject;
        subject.wait_for_periods();
        subject.take(1);
        subject.give();
        EXPECT_LE(subject.model.tested.bytes_free_with_data(), 4 * unit + parts_of_pages());
    });
}

// However long nobody looked: what was in use just before a free stays.
TEST(heap_range, a_peak_of_just_now_counts_though_the_last_look_is_long_ago) {
    in_a_process_of_its_own([] {
        range_after_a_peak subject;
        for (int each = 0; each < 2; ++each) {
            subject.wait_for_periods();
            subject.take(64 * subject.run);
            subject.give();
            EXPECT_GE(subject.model.tested.bytes_free_with_data(), 64_MiB);
        }
    });
}

TEST(heap_range, a_long_run_begins_at_a_huge_page_and_is_used_again) {
    constexpr std::size_t count = 16_MiB / unit;
    modelled_range model;
    model.take(1, 1);
    model.take(count, 1);
    const unit_number first = model.runs.rbegin()->first;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(model.tested.address(first)) % heap_range::huge_bytes, 0u);
    // What lies between the two is used, too.
    model.take(first - 2, 1);
    EXPECT_EQ(std::next(model.runs.begin())->first, 2u);
    model.give(2);
    model.take(count, 1);
    EXPECT_EQ(model.runs.rbegin()->first, first) << "it fits, without room for another alignment";
}

#if defined(__linux__)
// An emulator of larger pages counts in those of the machine that it runs on.
bool mincore_counts_pages() {
    return acre::detail::pages::bytes() == 4096;
}

// Of so many units.
std::size_t resident_bytes(std::byte* start, std::size_t units) {
    std::vector<unsigned char> pages(units * unit / 4096);
    EXPECT_EQ(mincore(start, units * unit, pages.data()), 0);
    return 4096 * static_cast<std::size_t>(
                      std::count_if(pages.begin(), pages.end(), [](unsigned char each) { return each & 1; }));
}

// A huge page for each block would take the memory of all that the alignment skips.
TEST(heap_range, small_runs_of_a_large_alignment_take_memory_for_themselves_alone) {
    if (!mincore_counts_pages()) GTEST_SKIP() << "mincore may count in pages of another size";
    in_a_process_of_its_own([] {
        modelled_range model;
        model.take(heap_range::huge_units, 1);  // a heap of this size asks for huge pages
        constexpr std::size_t blocks = 50;
        const unit_number end = model.runs.rbegin()->first + heap_range::huge_units;
        for (std::size_t i = 0; i < blocks; ++i) {
            model.take(1, heap_range::huge_units);
            *reinterpret_cast<volatile std::byte*>(model.tested.address(model.runs.rbegin()->first)) = std::byte{1};
        }
        const std::size_t resident = resident_bytes(model.tested.address(end), model.runs.rbegin()->first + 1 - end);
        // What the heap had asked for before that may be huge.
        EXPECT_LE(resident, blocks * unit + 2 * heap_range::huge_bytes);
    });
}

// A sparse table of 1,000 MiB took all of it in memory, and 256 buffers of 1 MiB, a page of each touched, 268 MiB.
TEST(heap_range, long_runs_have_few_huge_pages) {
    if (!mincore_counts_pages()) GTEST_SKIP() << "mincore may count in pages of another size";
    in_a_process_of_its_own([] {
        heap_range range;  // the model would touch all of it
        ASSERT_TRUE(range.reserve());
        constexpr unit_number long_units = heap_range::huge_units;
        bool is_zero = false;
        const unit_number first = range.take(long_units * 128, 1, is_zero);
        ASSERT_NE(first, 0u);
        for (unit_number each = 0; each < 128; ++each) {
            *reinterpret_cast<volatile std::byte*>(range.address(first + each * long_units)) = std::byte{1};
        }
        EXPECT_LE(resident_bytes(range.address(first), long_units * 128), 33_MiB);
    });
}

// Of this process.
std::size_t writable_bytes() {
    std::ifstream maps{"/proc/self/maps"};
    std::size_t sum = 0;
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t from = 0;
        std::uintptr_t to = 0;
        char rights[5] = {};
        EXPECT_EQ(std::sscanf(line.c_str(), "%zx-%zx %4s", &from, &to, rights), 3);
        if (rights[1] == 'w') sum += to - from;
    }
    return sum;
}

// A program that has locked its memory (mlockall) had all of the tables resident, 1 GiB.
TEST(heap_range, tables_become_usable_as_they_are_needed) {
    in_a_process_of_its_own([] {
        const std::size_t before = writable_bytes();
        modelled_range model;
        model.take(heap_range::first_records + 1, 1);
        EXPECT_LE(writable_bytes() - before, heap_range::first_records * unit + 4_MiB);
    });
}
#endif

TEST(heap_range, keeps_what_was_in_use_a_moment_ago_and_no_more) {
    modelled_range model;
    model.tested.set_allowance(0, 1'000'000);
    model.take(1000, 1);
    model.take(1000, 1);
    model.give(0);
    EXPECT_EQ(model.tested.bytes_free_with_data(), 1000 * unit);
    model.tested.set_allowance(0, 0);
    model.give(0);
    EXPECT_LE(model.tested.bytes_free_with_data(), parts_of_pages());
}

TEST(heap_range, what_it_does_not_have_is_refused) {
    modelled_range model;
    bool is_zero;
    EXPECT_EQ(model.tested.take(std::size_t{1} << 40, 1, is_zero), 0u);
    EXPECT_EQ(model.tested.take(1, std::size_t{1} << 40, is_zero), 0u);
    model.take(1, 1);
    EXPECT_FALSE(model.tested.extend(model.runs.begin()->first, std::size_t{1} << 40));
    EXPECT_EQ(model.tested.bytes_in_use(), unit);
}

}  // namespace
