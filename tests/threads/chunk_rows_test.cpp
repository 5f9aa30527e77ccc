// The recorder's rows, read while they are written: here because these tests run under ThreadSanitizer and on aarch64.
#include "record/chunk_rows.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "conformance/refusal.hpp"

namespace {

namespace raw = acre::raw;

constexpr std::uint64_t rows_in_chunk = 24;

/// A chunk with its rows behind it.
struct chunk {
    raw::chunk_head head{};
    raw::row rows[rows_in_chunk]{};
};

raw::row row_of(std::uint32_t thread, std::uint64_t number) {
    return {number, ~number, static_cast<std::uint32_t>(number), thread};
}

bool is_row_of(const raw::row& read, std::uint32_t thread, std::uint64_t number) {
    const raw::row expected = row_of(thread, number);
    return read.ticks == expected.ticks && read.pointer_and_kind == expected.pointer_and_kind &&
           read.node == expected.node && read.size == expected.size;
}

TEST(chunk_rows, are_those_for_which_the_chunk_was_begun) {
    if (sizeof(void*) < 8) GTEST_SKIP() << "the recorder is for 64 bits";
    const std::uint64_t chunks = acre_test::sanitized ? 20'000 : 40'000;
    const auto shared = std::make_unique<chunk>();
    std::atomic<bool> done = false;
    std::thread program{[&] {
        std::uint64_t number[2] = {};
        for (std::uint64_t i = 0; i < chunks; ++i) {
            const auto thread = static_cast<std::uint32_t>(i % 3 == 0);  // a thread that has ended leaves its chunk
            raw::begin_entries(shared->head, raw::chunk_kind::rows, thread, number[thread]);
            for (raw::row& place : shared->rows) raw::append_row(shared->head, place, row_of(thread, number[thread]++));
        }
        done.store(true, std::memory_order_release);
    }};
    std::uint64_t kept = 0;
    std::uint64_t wrong = 0;
    for (bool last = false; !last;) {
        last = done.load(std::memory_order_acquire);
        const raw::seen_rows seen = raw::look_at(shared->head);
        raw::row rows[rows_in_chunk];
        if (seen.count > rows_in_chunk || !raw::copy_rows(shared->head, seen, 0, seen.count, rows)) continue;
        for (std::uint64_t i = 0; i < seen.count; ++i, ++kept)
            wrong += is_row_of(rows[i], seen.thread, seen.first + i) ? 0U : 1U;
    }
    program.join();
    EXPECT_EQ(wrong, 0U);
    EXPECT_GE(kept, rows_in_chunk);  // the last chunk at least
}

}  // namespace
