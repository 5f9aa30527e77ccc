// The events of a run in 16 bytes each: in memory as long as they are few, in a file beyond that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "unnamed_file.hpp"

namespace acre::tool {

/// An allocation or a free. What a free says nothing of is known from the allocation of its object, which is named by the
/// slot that it has while it lives.
struct stored_event {
    static constexpr std::uint32_t last_slot = (std::uint32_t{1} << 30) - 1;  // beyond what a reader lets live

    std::uint32_t slot : 30 = 0;
    std::uint32_t allocates : 1 = 0;
    std::uint32_t by_realloc : 1 = 0;     // it is a half of a realloc
    std::uint32_t context_or_stack = 0;   // of an allocation its context, of a free its stack
    std::uint32_t shape_or_function = 0;  // of an allocation its shape, of a free the owner of the lifetime
    std::uint32_t thread_of_allocation = 0;
};
static_assert(sizeof(stored_event) == 16);

class event_store {
public:
    static constexpr std::size_t usual_memory = std::size_t{256} << 20;  // bytes

    explicit event_store(std::size_t most_bytes = usual_memory);

    void push(const stored_event& event) {
        if (blocks_.empty() || blocks_.back().size() == block_events) begin_block();
        blocks_.back().push_back(event);
        ++size_;
    }

    std::uint64_t size() const noexcept { return size_; }
    bool is_in_memory() const noexcept { return blocks_in_file_ == 0; }

    /// Calls `visit(const stored_event&)` for each event in order; may be called again, and by several at a time.
    template <typename Visit>
    void for_each(Visit&& visit) const {
        const auto visit_all = [&](const std::vector<stored_event>& block) {
            for (const stored_event& each : block) visit(each);
        };
        const std::size_t before_file = blocks_in_file_ == 0 ? blocks_.size() : blocks_.size() - 1;
        for (std::size_t i = 0; i < before_file; ++i) visit_all(blocks_[i]);
        if (blocks_in_file_ == 0) return;
        std::vector<stored_event> block(block_events);
        for (std::uint64_t i = 0; i < blocks_in_file_; ++i) {
            file_.read(i * block_events * sizeof(stored_event), std::as_writable_bytes(std::span{block}));
            visit_all(block);
        }
        visit_all(blocks_.back());
    }

private:
    static constexpr std::size_t block_events = 65'536;

    void begin_block();

    std::size_t most_blocks_;
    std::vector<std::vector<stored_event>> blocks_;  // when there is a file, the last one stands behind those in it
    std::uint64_t blocks_in_file_ = 0;
    std::uint64_t size_ = 0;
    unnamed_file file_;
};

}  // namespace acre::tool
