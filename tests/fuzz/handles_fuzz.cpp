// Handles of the C interface: each record creates one, destroys one, or allocates, frees, resizes, resets and asks.
// Handles are the upstreams of others; functions of the program, below all, refuse requests. Null handles and odd
// requests fail with an error.
#include <acre.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "fuzz/records.hpp"

namespace {

using acre_test::record_choices;

constexpr std::size_t max_steps = 500;
constexpr std::size_t max_handles = 12;
constexpr std::size_t max_blocks = 200;

void require(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "handles: %s (the last error: %s)\n", what, acre_last_error());
    std::abort();
}

/// The program's functions: the heap, which refuses where it is told to.
struct program_heap {
    std::size_t live = 0;
    bool refuses = false;

    static void* allocate(void* context, std::size_t bytes, std::size_t alignment) {
        auto& self = *static_cast<program_heap*>(context);
        void* p = nullptr;
        if (self.refuses || posix_memalign(&p, std::max(alignment, sizeof p), bytes) != 0) return nullptr;
        ++self.live;
        return p;
    }
    static void deallocate(void* context, void* p, std::size_t, std::size_t) {
        --static_cast<program_heap*>(context)->live;
        std::free(p);
    }
};

/// The functions of one kind of handle; null where it has none.
struct kind {
    void* (*create)(acre_resource* upstream, record_choices& choose);
    void (*destroy)(void* handle);
    acre_resource* (*resource)(void* handle);
    void* (*allocate)(void* handle, std::size_t& bytes, std::size_t& alignment);
    void (*free)(void* handle, void* p, std::size_t bytes, std::size_t alignment);
    void (*reset)(void* handle, record_choices& choose);
    std::size_t (*release_unused)(void* handle);
};

std::size_t limit_of(record_choices& choose) {
    return choose() % 4 == 0 ? 65'536 : 0;
}
acre_keep keep_of(record_choices& choose) {
    return static_cast<acre_keep>(choose() % 3);
}

/// Options with an upstream, and with a limit where the type has one.
template <class Options>
Options options_over(acre_resource* upstream, record_choices& choose) {
    Options options{};
    options.upstream = upstream;
    if constexpr (requires { options.limit_bytes; }) options.limit_bytes = limit_of(choose);
    return options;
}
acre_multi_arena_options arenas_over(acre_resource* upstream, record_choices& choose) {
    auto options = options_over<acre_multi_arena_options>(upstream, choose);
    options.arenas = 1 + choose() % 8;
    options.bytes = 1 + choose() % 4096;
    return options;
}

// The calls of a handle type whose functions begin with `prefix`, by name: C has no other way.
#define HANDLE_CALLS(type)                                            \
    [](void* handle) { type##_destroy(static_cast<type*>(handle)); }, \
        [](void* handle) { return type##_resource(static_cast<type*>(handle)); }
#define SIZED_CALLS(type)                                                     \
    [](void* handle, std::size_t& bytes, std::size_t& alignment) {            \
        return type##_allocate(static_cast<type*>(handle), bytes, alignment); \
    },                                                                        \
        [](void* handle, void* p, std::size_t bytes, std::size_t alignment) { \
            type##_free(static_cast<type*>(handle), p, bytes, alignment);     \
        }
#define SLOT_CALLS(type)                                           \
    [](void* handle, std::size_t& bytes, std::size_t& alignment) { \
        bytes = type##_slot_bytes(static_cast<type*>(handle));     \
        alignment = 8;                                             \
        return type##_allocate(static_cast<type*>(handle));        \
    },                                                             \
        [](void* handle, void* p, std::size_t, std::size_t) { type##_free(static_cast<type*>(handle), p); }
#define ARENA_CALLS(type)                                                                         \
    [](void* handle, std::size_t& bytes, std::size_t& alignment) {                                \
        return type##_allocate(static_cast<type*>(handle), bytes, alignment);                     \
    },                                                                                            \
        [](void* handle, void* p, std::size_t bytes, std::size_t alignment) {                     \
            acre_resource_free(type##_resource(static_cast<type*>(handle)), p, bytes, alignment); \
        },                                                                                        \
        [](void* handle, record_choices& choose) { type##_reset(static_cast<type*>(handle), keep_of(choose)); }
#define RESET_CALL(type) [](void* handle, record_choices&) { type##_reset(static_cast<type*>(handle)); }
#define RELEASE_CALL(type) [](void* handle) { return type##_release_unused(static_cast<type*>(handle)); }

const kind kinds[] = {
    {[](acre_resource* upstream, record_choices& choose) -> void* {
         auto options = options_over<acre_arena_options>(upstream, choose);
         if (options.limit_bytes == 0 && choose() % 4 == 0) options.fixed_bytes = 1 + choose() % 8192;
         return acre_arena_create(&options);
     },
     HANDLE_CALLS(acre_arena), ARENA_CALLS(acre_arena), nullptr},
    {[](acre_resource* upstream, record_choices& choose) -> void* {
         const auto options = options_over<acre_concurrent_arena_options>(upstream, choose);
         return acre_concurrent_arena_create(&options);
     },
     HANDLE_CALLS(acre_concurrent_arena), ARENA_CALLS(acre_concurrent_arena), nullptr},
    {[](acre_resource* upstream, record_choices& choose) -> void* {
         const auto options = options_over<acre_pool_options>(upstream, choose);
         return acre_pool_create(choose() % 1200, &options);
     },
     HANDLE_CALLS(acre_pool), SLOT_CALLS(acre_pool), RESET_CALL(acre_pool), RELEASE_CALL(acre_pool)},
    {[](acre_resource* upstream, record_choices& choose) -> void* {
         const auto options = options_over<acre_pool_options>(upstream, choose);
         return acre_concurrent_pool_create(choose() % 1200, &options);
     },
     HANDLE_CALLS(acre_concurrent_pool), SLOT_CALLS(acre_concurrent_pool), RESET_CALL(acre_concurrent_pool),
     RELEASE_CALL(acre_concurrent_pool)},
    {[](acre_resource* upstream, record_choices& choose) -> void* {
         const auto options = options_over<acre_pool_options>(upstream, choose);
         return acre_multi_pool_create(&options);
     },
     HANDLE_CALLS(acre_multi_pool), SIZED_CALLS(acre_multi_pool), RESET_CALL(acre_multi_pool),
     RELEASE_CALL(acre_multi_pool)},
    {[](acre_resource* upstream, record_choices& choose) -> void* {
         const auto options = options_over<acre_pool_options>(upstream, choose);
         return acre_concurrent_multi_pool_create(&options);
     },
     HANDLE_CALLS(acre_concurrent_multi_pool), SIZED_CALLS(acre_concurrent_multi_pool),
     RESET_CALL(acre_concurrent_multi_pool), RELEASE_CALL(acre_concurrent_multi_pool)},
    {[](acre_resource* upstream, record_choices& choose) -> void* {
         acre_multi_arena_options options = arenas_over(upstream, choose);
         options.open = choose() % 10;
         options.takes_runs = choose() % 2 == 0;
         return acre_multi_arena_create(&options);
     },
     HANDLE_CALLS(acre_multi_arena), SIZED_CALLS(acre_multi_arena), RESET_CALL(acre_multi_arena), nullptr},
    {[](acre_resource* upstream, record_choices& choose) -> void* {
         const acre_multi_arena_options options = arenas_over(upstream, choose);
         return acre_concurrent_multi_arena_create(&options);
     },
     HANDLE_CALLS(acre_concurrent_multi_arena), SIZED_CALLS(acre_concurrent_multi_arena),
     RESET_CALL(acre_concurrent_multi_arena), nullptr},
    {[](acre_resource* upstream, record_choices& choose) -> void* {
         acre_statistics_options options{};
         options.for_threads = choose() % 2 == 0;
         options.live_map = choose() % 2 == 0;
         return acre_statistics_create(upstream, &options);
     },
     HANDLE_CALLS(acre_statistics), nullptr, nullptr, nullptr, nullptr}};

enum class way { resource, handle, malloc };

struct block {
    unsigned char* p;
    std::size_t bytes;
    std::size_t alignment;
    unsigned char pattern;
    way made;

    void fill(std::size_t from = 0) const { std::memset(p + from, pattern, bytes - from); }
    void check(std::size_t end) const {
        for (std::size_t i = 0; i < end; ++i) require(p[i] == pattern, "a block was overwritten");
    }
};

struct live_handle {
    const kind* of;
    void* handle;
    acre_resource* resource;
    live_handle* upstream;  // null for the program's heap
    std::size_t users = 0;
    std::vector<block> blocks;
};

class handles_run {
public:
    handles_run() {
        const acre_functions functions{&below_, program_heap::allocate, program_heap::deallocate};
        custom_ = acre_custom_create(&functions);
    }

    void step(record_choices& choose) {
        below_.refuses = choose() % 16 == 0;
        acre_clear_error();
        switch (choose() % 16) {
            case 0:
            case 1:
                return create(choose);
            case 2:
                return destroy(choose() % max_handles);
            case 3:
                return reset(choose);
            case 4:
                return rewind(choose);
            case 5:
                return ask_oddly(choose);
            case 6:
                return ask(choose);
            case 7:
            case 8:
                return free(choose);
            case 9:
                return resize(choose);
            default:
                return allocate(choose);
        }
    }

    void finish() {
        below_.refuses = false;
        // Users end before what they use.
        while (!all_.empty()) {
            for (std::size_t i = all_.size(); i > 0; --i) destroy(i - 1);
        }
        acre_custom_destroy(custom_);
        require(below_.live == 0, "memory was not given back");
    }

private:
    live_handle* any(record_choices& choose) { return all_.empty() ? nullptr : all_[choose() % all_.size()].get(); }

    void create(record_choices& choose) {
        if (all_.size() == max_handles) return;
        const kind& wanted = kinds[choose() % std::size(kinds)];
        live_handle* upstream = choose() % 2 == 0 ? any(choose) : nullptr;
        acre_resource* below = upstream == nullptr ? acre_custom_resource(custom_) : upstream->resource;
        void* handle = wanted.create(below, choose);
        if (handle == nullptr) return require(acre_last_status() != ACRE_OK, "a handle was refused without an error");
        if (upstream != nullptr) ++upstream->users;
        all_.push_back(
            std::make_unique<live_handle>(live_handle{&wanted, handle, wanted.resource(handle), upstream, 0, {}}));
    }

    void destroy(std::size_t index) {
        if (index >= all_.size() || all_[index]->users != 0) return;
        live_handle& ended = *all_[index];
        // What statistics hand out is its upstream's, and stays: it is freed here.
        while (!ended.blocks.empty()) free_block(ended, ended.blocks.size() - 1);
        ended.of->destroy(ended.handle);
        if (ended.upstream != nullptr) --ended.upstream->users;
        all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(index));
    }

    void reset(record_choices& choose) {
        live_handle* in = any(choose);
        if (in == nullptr || in->users != 0) return;
        if (in->of->release_unused != nullptr && choose() % 2 == 0) {
            (void)in->of->release_unused(in->handle);
        } else if (in->of->reset != nullptr) {
            in->of->reset(in->handle, choose);
            in->blocks.clear();
        }
    }

    void rewind(record_choices& choose) {
        live_handle* in = any(choose);
        if (in == nullptr || in->users != 0 || in->of != &kinds[0]) return;
        auto* arena = static_cast<acre_arena*>(in->handle);
        const acre_mark mark = acre_arena_mark(arena);
        const std::size_t blocks = in->blocks.size();
        for (std::uint32_t i = choose() % 8; i > 0; --i) allocate_in(*in, choose);
        acre_arena_rewind(arena, mark);
        in->blocks.resize(blocks);
    }

    static std::size_t odd_size(record_choices& choose) {
        const std::size_t odd[] = {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 2, SIZE_MAX / 2 + 1, SIZE_MAX / 4};
        return odd[choose() % std::size(odd)];
    }

    // Requests that no resource serves, and null handles.
    void ask_oddly(record_choices& choose) {
        live_handle* in = any(choose);
        acre_resource* memory = in == nullptr ? nullptr : in->resource;
        const bool wide = choose() % 2 == 0;
        const std::size_t bytes = wide ? 8 : odd_size(choose);
        const std::size_t alignment = wide ? 3 + choose() % 100 * 2 : 0;
        require(acre_resource_allocate(memory, bytes, alignment) == nullptr, "an odd request was served");
        require(acre_last_status() != ACRE_OK, "an odd request was refused without an error");
        require(acre_malloc(memory, odd_size(choose)) == nullptr, "an odd malloc was served");
        require(acre_calloc(memory, odd_size(choose), 16) == nullptr, "an odd calloc was served");
        require(acre_pool_allocate(nullptr) == nullptr && acre_last_status() == ACRE_NULL_HANDLE,
                "a null handle served");
        acre_free(memory, nullptr);
    }

    void ask(record_choices& choose) {
        live_handle* in = any(choose);
        if (in == nullptr) return;
        const acre_usage usage = acre_resource_usage(in->resource);
        require(usage.live == ACRE_UNKNOWN || usage.live >= in->blocks.size(), "live allocations are missing");
        require(!acre_resource_owns(in->resource, &usage), "a foreign address is owned");
        for (const block& each : in->blocks) {
            each.check(each.bytes);
            require(
                acre_resource_owns(in->resource, each.p) || in->of == &kinds[std::size(kinds) - 1] || each.bytes == 0,
                "a block is not owned");
        }
        if (in->of != &kinds[std::size(kinds) - 1]) return;
        const auto* statistics = static_cast<acre_statistics*>(in->handle);
        char text[64];
        require(acre_statistics_report(statistics, text, sizeof text) > 0, "there is no report");
        acre_live_allocation live[4];
        const std::size_t count = acre_statistics_live(statistics, live, 4);
        require(count == 0 || count == acre_statistics_counts(statistics).allocations.value, "the counts disagree");
    }

    void allocate(record_choices& choose) {
        if (live_handle* in = any(choose)) allocate_in(*in, choose);
    }

    void allocate_in(live_handle& in, record_choices& choose) {
        if (in.blocks.size() == max_blocks) return;
        block made{nullptr, choose() % 4 == 0 ? choose() % 20'000 : choose() % 300, 0, 0,
                   static_cast<way>(choose() % 3)};
        made.alignment = choose() % 4 == 0 ? std::size_t{1} << choose() % 10 : 16;
        made.pattern = static_cast<unsigned char>(choose());
        made.p = static_cast<unsigned char*>(request(in, made, choose));
        if (made.p == nullptr) return require(acre_last_status() != ACRE_OK, "a request was refused without an error");
        require(reinterpret_cast<std::uintptr_t>(made.p) % made.alignment == 0, "a block is misaligned");
        made.fill();
        in.blocks.push_back(made);
    }

    static void* request(const live_handle& in, block& made, record_choices& choose) {
        if (made.made == way::handle && in.of->allocate == nullptr) made.made = way::resource;
        if (made.made == way::resource) return acre_resource_allocate(in.resource, made.bytes, made.alignment);
        if (made.made == way::handle) return in.of->allocate(in.handle, made.bytes, made.alignment);
        if (choose() % 2 == 0) return acre_aligned_alloc(in.resource, made.alignment, made.bytes);
        made.alignment = 16;
        return acre_malloc(in.resource, made.bytes);
    }

    void free(record_choices& choose) {
        live_handle* in = any(choose);
        if (in != nullptr && !in->blocks.empty()) free_block(*in, choose() % in->blocks.size());
    }

    static void free_block(live_handle& in, std::size_t index) {
        const block freed = in.blocks[index];
        in.blocks[index] = in.blocks.back();
        in.blocks.pop_back();
        freed.check(freed.bytes);
        switch (freed.made) {
            case way::resource:
                return acre_resource_free(in.resource, freed.p, freed.bytes, freed.alignment);
            case way::handle:
                return in.of->free(in.handle, freed.p, freed.bytes, freed.alignment);
            case way::malloc:
                return acre_free(in.resource, freed.p);
        }
    }

    void resize(record_choices& choose) {
        live_handle* in = any(choose);
        if (in == nullptr || in->blocks.empty()) return;
        block& resized = in->blocks[choose() % in->blocks.size()];
        const std::size_t bytes = 1 + choose() % 2000;
        const std::size_t kept = std::min(bytes, resized.bytes);
        if (resized.made == way::malloc) {
            void* moved = acre_realloc(in->resource, resized.p, bytes);
            if (moved == nullptr) return require(acre_last_status() != ACRE_OK, "a realloc failed without an error");
            resized.p = static_cast<unsigned char*>(moved);
        } else if (resized.made == way::handle ||
                   !acre_resource_resize(in->resource, resized.p, resized.bytes, bytes)) {
            return;
        }
        resized.bytes = bytes;
        resized.check(kept);
        resized.fill(kept);
    }

    program_heap below_;
    acre_custom* custom_ = nullptr;
    std::vector<std::unique_ptr<live_handle>> all_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    handles_run run;
    acre_test::for_each_record({data, bytes}, max_steps, [&](record_choices& choose) { run.step(choose); });
    run.finish();
    return 0;
}
