#include "event_store.hpp"

#include <algorithm>

namespace acre::tool {

event_store::event_store(std::size_t most_bytes)
    : most_blocks_{std::max<std::size_t>(most_bytes / (block_events * sizeof(stored_event)), 1)} {}

void event_store::begin_block() {
    if (blocks_.size() == most_blocks_) {
        file_.write(std::as_bytes(std::span{blocks_.back()}));
        ++blocks_in_file_;
        blocks_.back().clear();
        return;
    }
    blocks_.emplace_back().reserve(block_events);
}

}  // namespace acre::tool
