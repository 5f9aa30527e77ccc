// A whole run in memory, small enough for millions of events: who allocated what, when it died and where.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/call_paths.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

/// An allocation or a free, in the order of the run.
struct recorded_event {
    std::uint32_t object = 0;
    std::uint32_t context : 31 = 0;  // of the object
    std::uint32_t allocates : 1 = 0;
    std::uint32_t stack = 0;     // of this event
    std::uint32_t function = 0;  // on a free: the function that owned the object's lifetime
};

struct recorded_object {
    static constexpr std::uint32_t never = 0xffff'ffff;

    std::uint64_t size = 0;
    std::uint32_t born = 0;      // number of its event
    std::uint32_t died = never;  // number of its event
    std::uint32_t thread = 0;    // that allocated it
    std::uint8_t alignment_log2 = 0;
    bool reallocates = false;      // born of a realloc
    bool reallocated = false;      // died of a realloc
    bool freed_elsewhere = false;  // by another thread
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
    std::uint64_t longest_life = 0;  // in events
};

class history {
public:
    history(trace_reader& reader, const call_paths& paths);

    const std::vector<recorded_event>& events() const noexcept { return events_; }
    const std::vector<recorded_object>& objects() const noexcept { return objects_; }
    const std::vector<allocation_context>& contexts() const noexcept { return contexts_; }
    std::uint32_t threads() const noexcept { return threads_; }

    /// The event as a trace has it, without its time.
    event original(const recorded_event& of) const;

private:
    void allocate(const event& e);
    void release(const event& e);
    void finish_lives();
    std::uint32_t context_of(std::uint32_t stack);
    std::uint32_t owner_of(std::uint32_t allocation_node, std::uint32_t free_node);

    const call_paths& paths_;
    std::vector<recorded_event> events_;
    std::vector<recorded_object> objects_;
    std::vector<allocation_context> contexts_;
    std::vector<std::uint32_t> object_context_;
    std::uint32_t threads_ = 0;
    std::unordered_map<std::uint64_t, std::uint32_t> context_numbers_;  // by node and site
    std::unordered_map<std::uint64_t, std::uint32_t> owners_;           // by both nodes
};

}  // namespace acre::tool
