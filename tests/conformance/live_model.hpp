// A model of a resource's live blocks: each is filled with a pattern of its own, which is verified when the block is
// freed, and no two blocks may overlap.
#pragma once

#include <gtest/gtest.h>

#include <acre/core/alignment.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <vector>

namespace acre_test {

/// One block handed out.
struct live_block {
    std::byte* p;
    std::size_t bytes;
    std::size_t alignment;
    std::uint64_t number;  // in order of allocation
};

/// The live blocks.
class live_model {
public:
    /// Call after an allocation: checks the block and fills it.
    void add(void* address, std::size_t bytes, std::size_t alignment) {
        auto* p = static_cast<std::byte*>(address);
        ASSERT_NE(p, nullptr);
        ASSERT_TRUE(acre::is_aligned(p, alignment)) << bytes << " bytes at " << address << ", alignment " << alignment;
        check_apart(p, bytes);
        const live_block added{p, bytes, alignment, next_number_++};
        blocks_[p] = added;
        live_bytes_ += bytes;
        fill(added);
    }

    /// Call before a free: verifies the pattern.
    void remove(std::byte* p) {
        const auto found = blocks_.find(p);
        ASSERT_NE(found, blocks_.end());
        verify(found->second);
        live_bytes_ -= found->second.bytes;
        blocks_.erase(found);
    }

    /// Call after the block at `p` was resized in place.
    void resize(std::byte* p, std::size_t new_bytes) {
        live_block changed = blocks_.at(p);
        const std::size_t common = new_bytes < changed.bytes ? new_bytes : changed.bytes;
        verify({p, common, changed.alignment, changed.number});
        blocks_.erase(p);
        check_apart(p, new_bytes);
        live_bytes_ += new_bytes - changed.bytes;
        changed.bytes = new_bytes;
        blocks_[p] = changed;
        fill(changed);
    }

    /// Call after all blocks from number `first` on were freed; call verify_all() before that.
    void forget_from(std::uint64_t first) {
        std::erase_if(blocks_, [&](const auto& each) {
            if (each.second.number < first) return false;
            live_bytes_ -= each.second.bytes;
            return true;
        });
    }
    void forget_all() { forget_from(0); }

    void verify_all() const {
        for (const auto& [p, block] : blocks_) verify(block);
    }

    /// A live block selected by `number`. Requires that there is one.
    live_block any(std::size_t number) const {
        auto each = blocks_.begin();
        std::advance(each, static_cast<std::ptrdiff_t>(number % blocks_.size()));
        return each->second;
    }

    /// The newest live block. Requires that there is one.
    live_block newest() const {
        return std::ranges::max_element(blocks_, {}, [](const auto& each) { return each.second.number; })->second;
    }

    bool empty() const noexcept { return blocks_.empty(); }
    std::size_t size() const noexcept { return blocks_.size(); }
    std::size_t live_bytes() const noexcept { return live_bytes_; }
    std::uint64_t next_number() const noexcept { return next_number_; }
    const std::map<std::byte*, live_block>& blocks() const noexcept { return blocks_; }

private:
    // Every block's pattern repeats after 256 bytes, so it is a part of one table: filled and compared many bytes at
    // once, since a loop over each byte is most of the time of a sanitized build.
    static constexpr std::size_t period = 256;
    static constexpr std::size_t chunk = 16 * 1024;
    static const std::byte* pattern(const live_block& of) {
        static const std::vector<std::byte> table = [] {
            std::vector<std::byte> made(chunk + period);
            for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::byte>(i);
            return made;
        }();
        return table.data() + (of.number * 131 + 1) % period;
    }
    static void fill(const live_block& filled) {
        for (std::size_t at = 0; at < filled.bytes; at += chunk) {
            std::memcpy(filled.p + at, pattern(filled), std::min(chunk, filled.bytes - at));
        }
    }
    static void verify(const live_block& checked) {
        for (std::size_t at = 0; at < checked.bytes; at += chunk) {
            const std::size_t bytes = std::min(chunk, checked.bytes - at);
            if (std::memcmp(checked.p + at, pattern(checked), bytes) == 0) continue;
            const auto [written, expected] = std::mismatch(checked.p + at, checked.p + at + bytes, pattern(checked));
            FAIL() << "byte " << written - checked.p << " of a live block of " << checked.bytes << " was overwritten";
        }
    }

    // A block of zero bytes counts as one byte: its address must be distinct.
    void check_apart(const std::byte* p, std::size_t bytes) const {
        const auto length = [](std::size_t of) { return of == 0 ? 1 : of; };
        auto after = blocks_.lower_bound(const_cast<std::byte*>(p));
        if (after != blocks_.end()) {
            ASSERT_LE(p + length(bytes), after->first) << "overlaps the next block";
        }
        if (after != blocks_.begin()) {
            const live_block& before = std::prev(after)->second;
            ASSERT_LE(before.p + length(before.bytes), p) << "overlaps the block before";
        }
    }

    std::map<std::byte*, live_block> blocks_;
    std::size_t live_bytes_ = 0;
    std::uint64_t next_number_ = 0;
};

}  // namespace acre_test
