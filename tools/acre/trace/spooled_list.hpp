// A list that is written once and then iterated: in memory while it is short, in a temporary file beyond that.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "packed_blocks.hpp"

namespace acre::tool {

/// Calls a visitor of a for_each function: false if it returned false, which ends the iteration.
template <typename Visit, typename Element>
bool visit_goes_on(Visit& visit, const Element& element) {
    if constexpr (std::same_as<std::invoke_result_t<Visit&, const Element&>, bool>) {
        return visit(element);
    } else {
        visit(element);
        return true;
    }
}

template <typename T>
class spooled_list {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    static constexpr std::size_t usual_memory = std::size_t{256} << 20;  // bytes

    explicit spooled_list(std::size_t max_bytes = usual_memory)
        : max_blocks_{std::max<std::size_t>(max_bytes / (block_elements * sizeof(T)), 1)} {}

    void push(const T& element) {
        if (blocks_.empty() || blocks_.back().size() == block_elements) begin_block();
        blocks_.back().push_back(element);
        ++size_;
    }

    std::uint64_t size() const noexcept { return size_; }
    bool is_in_memory() const noexcept { return file_.size() == 0; }

    /// Calls `visit(const T&)` for each element in order until it returns false. May be called repeatedly and
    /// concurrently.
    template <typename Visit>
    void for_each(Visit&& visit) const {
        const auto visit_all = [&](const std::vector<T>& block) {
            return std::ranges::all_of(block, [&](const T& each) { return visit_goes_on(visit, each); });
        };
        const std::size_t before_file = is_in_memory() ? blocks_.size() : blocks_.size() - 1;
        for (std::size_t i = 0; i < before_file; ++i) {
            if (!visit_all(blocks_[i])) return;
        }
        if (is_in_memory()) return;
        std::vector<T> block(block_elements);
        for (std::uint64_t i = 0; i < file_.size(); ++i) {
            file_.read(i, std::as_writable_bytes(std::span{block}));
            if (!visit_all(block)) return;
        }
        visit_all(blocks_.back());
    }

private:
    static constexpr std::size_t block_elements = 65'536;

    void begin_block() {
        if (blocks_.size() == max_blocks_) {
            file_.push(std::as_bytes(std::span{blocks_.back()}));
            blocks_.back().clear();
            return;
        }
        blocks_.emplace_back().reserve(block_elements);
    }

    std::size_t max_blocks_;
    std::vector<std::vector<T>> blocks_;  // if there is a file, the last block follows those in it
    std::uint64_t size_ = 0;
    packed_blocks file_;
};

}  // namespace acre::tool
