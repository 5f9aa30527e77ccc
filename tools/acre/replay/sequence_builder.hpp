// Turns events into the steps of a sequence.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sequence.hpp"
#include "trace/live_table.hpp"
#include "trace/model.hpp"

namespace acre::tool {

/// The two halves of a realloc become one step, which a resource without a realloc of its own plays as allocate, copy
/// and free.
class sequence_builder {
public:
    void add(const event& e);
    void reset();

    /// To be called once; the builder is then empty.
    sequence finish();

private:
    struct live_object {
        std::uint32_t slot = 0;
        std::uint32_t shape = 0;
    };
    struct half_realloc {
        bool open = false;
        std::uint64_t object = 0;
    };
    struct shape_hash {
        std::size_t operator()(const shape& s) const noexcept {
            return static_cast<std::size_t>((s.bytes ^ s.alignment << 48) * 0x9e37'79b9'7f4a'7c15);
        }
    };

    void allocate(const event& e);
    void release(std::uint64_t object);
    void reallocate(const event& acquired, std::uint64_t released);
    void close(half_realloc& half);
    std::uint32_t shape_of(const event& e);
    std::uint32_t take_slot();
    void count_bytes(std::uint64_t added);

    sequence sequence_;
    live_table<live_object> live_;
    std::vector<std::uint32_t> free_slots_;
    std::vector<half_realloc> halves_;  // by thread
    std::unordered_map<shape, std::uint32_t, shape_hash> shape_numbers_;
    std::uint64_t live_bytes_ = 0;
};

}  // namespace acre::tool
