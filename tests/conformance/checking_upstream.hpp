// An upstream for tests: it fails chosen calls, fills fresh memory with garbage, puts guard bytes around every block,
// checks size and alignment of freed blocks, and reports leaks at its end. Each error fails the running test.
//
//     checking_upstream upstream;
//     acre::arena tested{upstream};
//     upstream.fail_at(2);   // the second call from now on
#pragma once

#include <gtest/gtest.h>

#include <acre/core/alignment.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/sanitizer.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <vector>

namespace acre_test {

/// A resource that checks its user.
class checking_upstream {
public:
    static constexpr const char* name = "acre_test::checking_upstream";
    static constexpr std::size_t never = SIZE_MAX;

    checking_upstream() = default;
    checking_upstream(const checking_upstream&) = delete;
    checking_upstream& operator=(const checking_upstream&) = delete;

    ~checking_upstream() {
        EXPECT_EQ(blocks_.size(), 0u) << "leaked: " << live_bytes_ << " bytes were not given back";
        for (const auto& [p, block] : blocks_) free_block(p, block);
    }

    /// Fails only the `n`-th request from now on, counted from 1.
    void fail_at(std::size_t n) noexcept { fail_from(n, 1); }
    /// Fails `count` requests, from the `n`-th from now on.
    void fail_from(std::size_t n, std::size_t count = never) noexcept {
        fail_first_ = requests_ + n;
        fail_count_ = count;
    }
    /// Serves all further requests.
    void recover() noexcept { fail_count_ = 0; }

    void* allocate(std::size_t bytes, std::size_t alignment) {
        if (void* p = try_allocate(bytes, alignment)) return p;
        return acre::raise<acre::out_of_memory>(name, bytes, alignment);
    }

    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_sane(bytes, alignment)) return nullptr;
        ++requests_;
        if (requests_ >= fail_first_ && requests_ - fail_first_ < fail_count_) {
            ++failures_;
            return nullptr;
        }
        if (bytes > largest_served) return nullptr;
        return serve(bytes, alignment);
    }

    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (p == nullptr) return;
        const auto found = blocks_.find(static_cast<std::byte*>(p));
        if (found == blocks_.end()) {
            ADD_FAILURE() << "a block was given back twice, or was never handed out";
            return;
        }
        const block_record block = found->second;
        EXPECT_EQ(block.bytes, bytes) << "given back with another size";
        EXPECT_EQ(block.alignment, alignment) << "given back with another alignment";
        check_block(found->first, block);
        live_bytes_ -= block.bytes;
        free_block(found->first, block);
        blocks_.erase(found);
    }

    /// Number of requests, including refused ones.
    std::size_t requests() const noexcept { return requests_; }
    /// Number of requests failed by fail_at() and its kin.
    std::size_t failures() const noexcept { return failures_; }
    std::size_t live_blocks() const noexcept { return blocks_.size(); }
    std::size_t live_bytes() const noexcept { return live_bytes_; }
    std::size_t total_bytes() const noexcept { return total_bytes_; }
    std::size_t peak_bytes() const noexcept { return peak_bytes_; }
    /// Sizes in bytes of all blocks handed out, in order.
    const std::vector<std::size_t>& sizes() const noexcept { return sizes_; }

private:
    struct block_record {
        std::size_t bytes;
        std::size_t alignment;
        std::byte* storage;
        std::size_t front;
    };

    static constexpr std::size_t guard_bytes = 64;
    static constexpr std::byte guard{0xFD};
    static constexpr std::byte garbage{0xA5};
    // No test needs more; larger requests are refused, as a machine would.
    static constexpr std::size_t largest_served = std::size_t{1} << 24;

    static constexpr std::size_t max_alignment = std::size_t{1} << 20;

    static bool is_sane(std::size_t bytes, std::size_t alignment) noexcept {
        EXPECT_TRUE(acre::is_alignment(alignment)) << "upstream was asked for alignment " << alignment;
        EXPECT_LE(bytes, acre::max_request) << "upstream was asked for a size that wrapped";
        return acre::is_alignment(alignment) && bytes <= acre::max_request && alignment <= max_alignment;
    }

    void* serve(std::size_t bytes, std::size_t alignment) noexcept {
        const std::size_t front = std::max(alignment, guard_bytes);
        const std::size_t all = front + bytes + guard_bytes;
        auto* storage = static_cast<std::byte*>(::operator new(all, std::align_val_t{front}, std::nothrow));
        if (storage == nullptr) return nullptr;
        std::memset(storage, static_cast<int>(guard), all);
        std::memset(storage + front, static_cast<int>(garbage), bytes);
        blocks_.emplace(storage + front, block_record{bytes, alignment, storage, front});
        live_bytes_ += bytes;
        total_bytes_ += bytes;
        peak_bytes_ = std::max(peak_bytes_, live_bytes_);
        sizes_.push_back(bytes);
        return storage + front;
    }

    static void check_block(const std::byte* p, const block_record& block) noexcept {
        const auto is_guard = [](std::byte each) { return each == guard; };
        EXPECT_TRUE(std::all_of(p - guard_bytes, p, is_guard)) << "written in front of a block of " << block.bytes;
        EXPECT_TRUE(std::all_of(p + block.bytes, p + block.bytes + guard_bytes, is_guard))
            << "written past the end of a block of " << block.bytes;
#if defined(ACRE_HAS_ADDRESS_SANITIZER)
        EXPECT_EQ(__asan_region_is_poisoned(const_cast<std::byte*>(p), block.bytes), nullptr)
            << "given back while still poisoned";
#endif
    }

    static void free_block(std::byte* p, const block_record& block) noexcept {
        acre::unpoison(p, block.bytes);
        ::operator delete(block.storage, std::align_val_t{block.front});
    }

    std::map<std::byte*, block_record> blocks_;
    std::vector<std::size_t> sizes_;
    std::size_t requests_ = 0;
    std::size_t failures_ = 0;
    std::size_t live_bytes_ = 0;
    std::size_t total_bytes_ = 0;
    std::size_t peak_bytes_ = 0;
    std::size_t fail_first_ = never;
    std::size_t fail_count_ = 0;
};

static_assert(acre::resource<checking_upstream>);

}  // namespace acre_test
