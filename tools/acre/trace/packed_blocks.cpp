#include "packed_blocks.hpp"

#include <zstd.h>

#include "error.hpp"

namespace acre::tool {

void packed_blocks::push(std::span<const std::byte> block) {
    constexpr int fast = -4;
    std::vector<std::byte> packed(ZSTD_compressBound(block.size()));
    const std::size_t bytes = ZSTD_compress(packed.data(), packed.size(), block.data(), block.size(), fast);
    if (ZSTD_isError(bytes) != 0)
        throw tool_error{"cannot compress events for want of memory: free some and try again"};
    file_.write(std::span{packed}.first(bytes));
    ends_.push_back(begin_of(ends_.size()) + bytes);
}

void packed_blocks::read(std::uint64_t number, std::span<std::byte> block) const {
    std::vector<std::byte> packed(ends_[number] - begin_of(number));
    file_.read(begin_of(number), packed);
    const std::size_t bytes = ZSTD_decompress(block.data(), block.size(), packed.data(), packed.size());
    if (bytes != block.size()) throw tool_error{"a temporary file changed while it was read: try again"};
}

}  // namespace acre::tool
