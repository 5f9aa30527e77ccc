// A whole run that can be read several times: what was allocated where, and when and where it died. Memory:
// proportional to the peak of live objects and the trace's tables, plus a limit for the events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/call_paths.hpp"
#include "trace/coarse.hpp"
#include "trace/live_table.hpp"
#include "trace/reader.hpp"
#include "trace/spooled_list.hpp"

namespace acre::tool {

/// An allocation or a free in 16 bytes. A free names its object by its slot; all else is known from the allocation.
struct stored_event {
    static constexpr std::uint32_t last_slot = (std::uint32_t{1} << 30) - 1;  // more than a reader allows to live

    std::uint32_t slot : 30 = 0;
    std::uint32_t allocates : 1 = 0;
    std::uint32_t by_realloc : 1 = 0;     // one of the two events of a realloc
    std::uint32_t context_or_stack = 0;   // context of an allocation, stack of a free
    std::uint32_t shape_or_function = 0;  // shape of an allocation, owner of the lifetime of a free
    std::uint32_t thread_of_allocation = 0;
};
static_assert(sizeof(stored_event) == 16);

/// In memory while they are few, else in a temporary file.
using event_store = spooled_list<stored_event>;

/// The request of an allocation.
struct requested_shape {
    std::uint64_t size = 0;
    std::uint8_t alignment_log2 = 0;
    bool by_new = false;  // of operator new

    friend bool operator==(const requested_shape&, const requested_shape&) = default;
};

/// Numbers the shapes: a run has few different ones.
class shape_table {
public:
    /// When there are more different shapes than this, sizes of new ones are rounded up.
    static constexpr std::size_t max_exact = std::size_t{1} << 20;

    std::uint32_t number_of(requested_shape shape) {
        const auto found = numbers_.find(shape);
        if (found != numbers_.end()) return found->second;
        if (shapes_.size() >= max_exact) shape.size = coarse(shape.size);
        const auto [entry, added] = numbers_.try_emplace(shape, static_cast<std::uint32_t>(shapes_.size()));
        if (added) shapes_.push_back(shape);
        return entry->second;
    }

    const requested_shape& operator[](std::uint32_t number) const noexcept { return shapes_[number]; }

private:
    struct hash {
        std::size_t operator()(const requested_shape& shape) const noexcept {
            const std::uint64_t both =
                shape.size ^ std::uint64_t{shape.alignment_log2} << 56 ^ (shape.by_new ? std::uint64_t{1} << 55 : 0);
            return static_cast<std::size_t>((both * 0x9e37'79b9'7f4a'7c15) >> 16);
        }
    };

    std::vector<requested_shape> shapes_;
    std::unordered_map<requested_shape, std::uint32_t, hash> numbers_;
};

/// An allocation or a free with all that is known of its object.
struct recorded_event {
    std::uint64_t object = 0;  // number, in the order of the allocations
    std::uint64_t size = 0;
    std::uint32_t slot = 0;      // of the object while it lives; reused afterwards
    std::uint32_t context = 0;   // of the object
    std::uint32_t thread = 0;    // that allocated the object
    std::uint32_t stack = 0;     // of a free
    std::uint32_t function = 0;  // of a free: the function that owned the lifetime
    std::uint8_t alignment_log2 = 0;
    bool allocates = false;
    bool by_realloc = false;  // one of the two events of a realloc
    bool by_new = false;      // the object was allocated by operator new

    /// The trace's event, without stack and time.
    event original() const;
};

/// The allocations of one site reached through one path of functions.
struct allocation_context {
    std::uint32_t site = 0;
    std::uint32_t node = 0;           // in the tree of functions
    std::uint32_t stack = 0;          // one of its stacks
    std::uint32_t owner = 0;          // node of the function in which, or in whose calls, all of its freed objects died
    std::uint32_t usual_owner = 0;    // the same for nearly all of them, if lead_of_usual says so
    std::uint64_t lead_of_usual = 0;  // at most so many more died there than elsewhere
    bool by_new = false;              // operator new allocates
    bool by_realloc = false;          // realloc makes or ends some of its objects
    bool by_calloc = false;           // calloc makes some of them
    bool any_aligned = false;         // some have an alignment of their own
    bool any_freed = false;
    bool crosses_threads = false;
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    std::uint64_t smallest = ~std::uint64_t{0};
    std::uint64_t largest = 0;
    std::uint64_t never_freed = 0;
    std::uint64_t freed_elsewhere = 0;  // by another thread
    std::uint64_t longest_life = 0;     // in events

    /// Whether nearly all objects died in the usual owner, and a few outlived it.
    bool escapes_rarely() const noexcept {
        constexpr double nearly_all = 0.9;
        return any_freed && !crosses_threads && usual_owner != owner &&
               static_cast<double>(lead_of_usual) >= nearly_all * static_cast<double>(objects);
    }
    /// At least so many outlived it.
    std::uint64_t escaped() const noexcept { return (objects - never_freed - lead_of_usual) / 2 + never_freed; }
};

/// How many objects of a context have a size.
struct size_count {
    std::uint32_t context = 0;
    std::uint64_t size = 0;
    std::uint64_t objects = 0;
};

class history {
public:
    /// Calls its argument for each event of a trace, which come from a trace_reader: slots are the events' places.
    using event_reading = std::function<void(const std::function<void(const event&)>&)>;

    /// Decodes the trace in a thread of its own.
    history(trace_reader& reader, const call_paths& paths, std::size_t memory_for_events = event_store::usual_memory);
    history(const event_reading& read, const call_paths& paths,
            std::size_t memory_for_events = event_store::usual_memory);

    const std::vector<allocation_context>& contexts() const noexcept { return contexts_; }

    /// Sorted by context and size. Pairs beyond the first `max_size_counts` are missing.
    const std::vector<size_count>& sizes() const noexcept { return sizes_; }

    std::uint32_t threads() const noexcept { return threads_; }
    std::uint64_t object_count() const noexcept { return objects_; }
    /// Whether the events are of a resource that the program traced, not of malloc.
    bool is_of_resource() const noexcept { return of_resource_; }
    std::uint64_t event_count() const noexcept { return events_.size(); }
    /// What playing all events costs, and the peak of the bytes that it writes to at least.
    std::uint64_t replay_cost() const noexcept { return replay_cost_; }
    std::uint64_t peak_first_pages() const noexcept { return peak_first_pages_; }

    /// Gives back the memory of the events; what is known of contexts and sizes stays.
    void forget_events() { events_ = event_store{}; }

    /// Number of slots: the peak of live objects.
    std::uint32_t slots() const noexcept { return slots_; }

    /// A context, and a stack of frees of its objects.
    struct freeing {
        std::uint32_t context = 0;
        std::uint32_t stack = 0;
        std::uint64_t objects = 1;  // freed so
    };
    /// Each pair once, in the order of their first frees. Pairs beyond the first `max_freeings` are missing.
    const std::vector<freeing>& freeings() const noexcept { return freeings_; }

    /// Number of freed objects whose lifetime the function owned, in all contexts.
    std::uint64_t freed_in(std::uint32_t function) const noexcept { return freed_in_[function]; }

    /// Calls `visit(const recorded_event&)` for each event in order, until it returns false. May be called repeatedly,
    /// and by several threads at once.
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
    static constexpr std::size_t max_freeings = std::size_t{1} << 20;
    static constexpr std::size_t max_owners = std::size_t{4} << 20;  // cached at a time

    /// What for_each knows about the object in a slot.
    struct living_object {
        std::uint64_t number = 0;
        std::uint32_t context = 0;
        std::uint32_t shape = 0;
        std::uint32_t thread = 0;
    };
    /// What reading the trace knows about a live object.
    struct read_object {
        std::uint64_t born = 0;  // number of its event
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
    /// State while the trace is read.
    struct reading {
        live_array<read_object> living;                                    // by slot
        std::unordered_map<std::uint64_t, std::uint32_t> context_numbers;  // by node and site
        std::unordered_map<std::uint64_t, std::uint32_t> owners;           // by both nodes
        std::unordered_map<context_and_size, std::uint64_t, hash> sizes;
        std::unordered_map<std::uint64_t, std::uint32_t> freeings;  // by context and stack
        std::vector<std::uint32_t> last_freeing;                    // by context
        // The last answers: many programs ask for the same again and again.
        struct {
            std::uint32_t stack = ~std::uint32_t{0};
            std::uint32_t context = 0;
        } last_context;
        struct {
            std::uint64_t nodes = ~std::uint64_t{0};
            std::uint32_t owner = 0;
        } last_owner;
        std::pair<const context_and_size, std::uint64_t>* last_size = nullptr;
    };

    void allocate(const event& e, reading& state);
    static void count_size(const context_and_size& sized, reading& state);
    void release(const event& e, reading& state);
    static void vote_for_owner(allocation_context& context, std::uint32_t owner) noexcept;
    void note_freeing(freeing each, reading& state);
    void finish_lives(reading& state);
    void sort_sizes(const reading& state);
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
    std::vector<freeing> freeings_;
    std::vector<std::uint64_t> freed_in_;  // by function
    std::uint64_t objects_ = 0;
    std::uint64_t replay_cost_ = 0;
    std::uint64_t first_pages_ = 0;  // of the live objects
    std::uint64_t peak_first_pages_ = 0;
    std::uint32_t slots_ = 0;
    std::uint32_t threads_ = 0;
    bool of_resource_ = false;
};

}  // namespace acre::tool
