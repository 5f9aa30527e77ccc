// A whole run, to be gone through as often as an advice needs: who allocated what, when it died and where. Memory: in
// proportion to the objects that live at a time, to the tables of the trace and to a limit for its events.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "event_store.hpp"
#include "shape_table.hpp"
#include "trace/call_paths.hpp"
#include "trace/live_table.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

/// An allocation or a free, in the order of the run.
struct recorded_event {
    std::uint64_t object = 0;  // number, in the order of the allocations
    std::uint64_t size = 0;
    std::uint32_t slot = 0;      // of the object while it lives; another one has it afterwards
    std::uint32_t context = 0;   // of the object
    std::uint32_t thread = 0;    // that allocated the object
    std::uint32_t stack = 0;     // of a free
    std::uint32_t function = 0;  // of a free: that owned the object's lifetime
    std::uint8_t alignment_log2 = 0;
    bool allocates = false;
    bool by_realloc = false;  // a half of a realloc
    bool by_new = false;      // the object was allocated by operator new

    /// As a trace has it, without stack and time.
    event original() const;
};

/// Allocations from one place reached on one path of functions.
struct allocation_context {
    std::uint32_t site = 0;
    std::uint32_t node = 0;   // in the tree of functions
    std::uint32_t stack = 0;  // one of those that it stands for
    std::uint32_t owner = 0;  // node of the function that all of its freed objects died in or beneath
    bool any_freed = false;
    bool crosses_threads = false;
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    std::uint64_t smallest = ~std::uint64_t{0};
    std::uint64_t largest = 0;
    std::uint64_t never_freed = 0;
    std::uint64_t freed_elsewhere = 0;  // by another thread
    std::uint64_t longest_life = 0;     // in events
};

/// How many objects of a context have a size.
struct size_count {
    std::uint32_t context = 0;
    std::uint64_t size = 0;
    std::uint64_t objects = 0;
};

class history {
public:
    history(trace_reader& reader, const call_paths& paths, std::size_t memory_for_events = event_store::usual_memory);

    const std::vector<allocation_context>& contexts() const noexcept { return contexts_; }

    /// In the order of contexts and sizes. Different ones beyond `max_size_counts` are not in it.
    const std::vector<size_count>& sizes() const noexcept { return sizes_; }

    std::uint32_t threads() const noexcept { return threads_; }
    std::uint64_t object_count() const noexcept { return objects_; }
    /// Whether the events are those of a resource that the program had traced, not malloc's.
    bool is_of_resource() const noexcept { return of_resource_; }
    std::uint64_t event_count() const noexcept { return events_.size(); }

    /// Slots that were ever taken: the most objects that lived at a time.
    std::uint32_t slots() const noexcept { return slots_; }

    /// How many objects that function owned the lifetime of, in all contexts.
    std::uint64_t freed_in(std::uint32_t function) const noexcept { return freed_in_[function]; }

    /// Calls `visit(const recorded_event&)` for each event in order, to the end or until it returns false; may be
    /// called again, and by several at a time.
    template <typename Visit>
    void for_each(Visit&& visit) const {
        std::vector<living_object> living(slots_);
        std::uint64_t objects = 0;
        events_.for_each([&](const stored_event& stored) {
            living_object& object = living[stored.slot];
            if (stored.allocates != 0) {
                object = {objects++, stored.context_or_stack, stored.shape_or_function, stored.thread_of_allocation};
            }
            return visit_goes_on(visit, resolved(stored, object));
        });
    }

private:
    static constexpr std::size_t max_size_counts = std::size_t{4} << 20;
    static constexpr std::size_t max_owners = std::size_t{4} << 20;  // remembered at a time

    /// What for_each knows of the object in a slot.
    struct living_object {
        std::uint64_t number = 0;
        std::uint32_t context = 0;
        std::uint32_t shape = 0;
        std::uint32_t thread = 0;
    };
    /// What the reading knows of it.
    struct newborn {
        std::uint64_t born = 0;  // number of its event
        std::uint32_t slot = 0;
        std::uint32_t context = 0;
        std::uint32_t thread = 0;
    };
    struct context_and_size {
        std::uint32_t context = 0;
        std::uint64_t size = 0;

        friend bool operator==(const context_and_size&, const context_and_size&) = default;
    };
    struct hash {
        std::size_t operator()(const context_and_size& key) const noexcept {
            return static_cast<std::size_t>((key.size ^ std::uint64_t{key.context} << 40) * 0x9e37'79b9'7f4a'7c15 >>
                                            16);
        }
    };
    /// Needed while the trace is read.
    struct reading {
        live_table<newborn> living;
        std::vector<std::uint32_t> free_slots;
        std::unordered_map<std::uint64_t, std::uint32_t> context_numbers;  // by node and site
        std::unordered_map<std::uint64_t, std::uint32_t> owners;           // by both nodes
        std::unordered_map<context_and_size, std::uint64_t, hash> sizes;
    };

    void allocate(const event& e, reading& state);
    void release(const event& e, reading& state);
    void finish_lives(reading& state);
    void sort_sizes(const reading& state);
    std::uint32_t take_slot(reading& state);
    std::uint32_t context_of(std::uint32_t stack, reading& state);
    std::uint32_t owner_of(std::uint32_t allocation_node, std::uint32_t free_node, reading& state) const;

    recorded_event resolved(const stored_event& stored, const living_object& object) const {
        const requested_shape& shape = shapes_[object.shape];
        const bool allocates = stored.allocates != 0;
        return {.object = object.number,
                .size = shape.size,
                .slot = stored.slot,
                .context = object.context,
                .thread = object.thread,
                .stack = allocates ? 0 : stored.context_or_stack,
                .function = allocates ? 0 : stored.shape_or_function,
                .alignment_log2 = shape.alignment_log2,
                .allocates = allocates,
                .by_realloc = stored.by_realloc != 0,
                .by_new = shape.by_new};
    }

    const call_paths& paths_;
    event_store events_;
    shape_table shapes_;
    std::vector<allocation_context> contexts_;
    std::vector<size_count> sizes_;
    std::vector<std::uint64_t> freed_in_;  // by function
    std::uint64_t objects_ = 0;
    std::uint32_t slots_ = 0;
    std::uint32_t threads_ = 0;
    bool of_resource_ = false;
};

}  // namespace acre::tool
