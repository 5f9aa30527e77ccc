#include "fit_check.hpp"

#include <acre/arenas/arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/heaps/realtime_heap.hpp>
#include <cstddef>
#include <new>

#include "arena_model.hpp"
#include "deterministic_threads.hpp"
#include "fit_wording.hpp"
#include "trace/live_table.hpp"

namespace acre::tool {

namespace {

/// A multi_arena, a realtime_heap, or an arena that is reset when it is empty, for all threads.
template <typename Resource>
struct same_for_all_threads {
    template <typename... Arguments>
    explicit same_for_all_threads(const Arguments&... arguments) : resource{arguments...} {}

    void* try_allocate(std::size_t bytes, std::size_t alignment, std::uint32_t) {
        return resource.try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::uint32_t) {
        if constexpr (requires { resource.deallocate_unsized(p); }) {
            resource.deallocate_unsized(p);
        } else {
            resource.deallocate(p, bytes);
        }
    }

    Resource resource;
};

/// Plays events over a resource until a request fails.
template <typename Resource>
class size_trial {
public:
    size_trial(Resource& resource, bool resets) : resource_{resource}, resets_{resets} {}

    void allocate(const event& e) {
        if (failed_) return;
        const auto bytes = static_cast<std::size_t>(e.size);
        void* p = resource_.try_allocate(bytes, static_cast<std::size_t>(alignment_of(e)), e.thread);
        failed_ = p == nullptr;
        if (!failed_) live_.insert(e.object, {p, bytes});
    }

    void release(std::uint64_t object, std::uint32_t thread) {
        live_object gone;
        if (failed_ || !live_.take(object, gone)) return;
        resource_.deallocate(gone.p, gone.bytes, thread);
        if constexpr (requires { resource_.resource.reset(); }) {
            if (resets_ && live_.size() == 0) resource_.resource.reset();
        }
    }

    void reallocate(const event& acquired, std::uint64_t released) {
        allocate(acquired);
        release(released, acquired.thread);
    }

    bool failed() const noexcept { return failed_; }

private:
    struct live_object {
        void* p = nullptr;
        std::size_t bytes = 0;
    };

    Resource& resource_;
    bool resets_;
    live_array<live_object> live_;
    bool failed_ = false;
};

template <typename Resource>
bool serves(const event_source& source, Resource&& resource, bool resets = false) {
    size_trial trial{resource, resets};
    play(source, trial);
    return !trial.failed();
}

/// Calls serves_with(found) and, if one_less has a value, serves_with(*one_less).
template <typename ServesWith>
size_check check_size(std::uint64_t found, std::optional<std::uint64_t> one_less, ServesWith serves_with) {
    size_check result;
    try {
        result.suffices = serves_with(found);
        if (one_less) result.one_less_fails = !serves_with(*one_less);
    } catch (const std::bad_alloc&) {
        result.failure = "this machine has too little memory";
    }
    return result;
}

std::optional<std::uint64_t> one_less(const acre::multi_arena_fit& pair) {
    return pair.arenas > 1 ? std::optional<std::uint64_t>{pair.arenas - 1} : std::nullopt;
}

// Arenas of more bytes are not made: a trace may claim any size.
constexpr std::uint64_t max_checked = std::uint64_t{8} << 30;

size_check too_large_to_check() {
    size_check result;
    result.failure = "the sizes take more than 8 GiB";
    return result;
}

size_check check_multi_arena(const event_source& source, const acre::multi_arena_fit& pair) {
    if (required_bytes(pair, arena_sharing::one_thread) > max_checked) return too_large_to_check();
    return check_size(pair.arenas, one_less(pair), [&](std::uint64_t arenas) {
        acre::multi_arena_options options = pair.options();
        options.arenas = static_cast<std::size_t>(arenas);
        return serves(source, same_for_all_threads<acre::multi_arena>{options});
    });
}

size_check check_concurrent(const event_source& source, const acre::multi_arena_fit& pair) {
    if (required_bytes(pair, arena_sharing::all_threads) > max_checked) return too_large_to_check();
    return check_size(pair.arenas, one_less(pair), [&](std::uint64_t arenas) {
        return serves(source, deterministic_threads{{.arenas = static_cast<std::size_t>(arenas), .bytes = pair.bytes}});
    });
}

size_check check_arena(const event_source& source, const census& of) {
    const std::uint64_t found = arena_block_bytes(of);
    if (found > max_checked) return too_large_to_check();
    // For stricter alignments the model assumes the worst case.
    const bool exact = found > arena_model::smallest_block && of.strictest <= acre::default_alignment;
    const auto less = exact ? std::optional<std::uint64_t>{found - acre::arena::granule} : std::nullopt;
    return check_size(found, less, [&](std::uint64_t bytes) {
        const auto block = static_cast<std::size_t>(bytes);
        ::operator delete(::operator new(block));  // throws bad_alloc if there is too little memory
        const acre::arena_options options{.first_block_bytes = block, .max_block_bytes = block, .limit_bytes = block};
        return serves(source, same_for_all_threads<acre::arena>{options}, dies_together(of));
    });
}

// Fewer arenas may serve the recorded order, so none are tried: the number is for every order.
size_check check_realtime_heap(const event_source& source, const realtime_fit& found) {
    if (found.total_bytes > max_checked) return too_large_to_check();
    return check_size(found.arenas, std::nullopt, [&](std::uint64_t arenas) {
        return serves(source, same_for_all_threads<acre::realtime_heap>{
                                  acre::realtime_heap_options{.arenas = static_cast<std::size_t>(arenas),
                                                              .bytes = static_cast<std::size_t>(found.arena_bytes),
                                                              .join = false,
                                                              .prefault = false}});
    });
}

}  // namespace

fit_checks check_sizes(const event_source& source, const fit_result& result, bool arena) {
    fit_checks checks;
    if (!result.multi_arena.empty()) checks.multi_arena = check_multi_arena(source, result.multi_arena.best());
    if (!result.concurrent_multi_arena.empty())
        checks.concurrent_multi_arena = check_concurrent(source, result.concurrent_multi_arena.best());
    if (arena) checks.arena = check_arena(source, result.figures);
    if (result.realtime_heap.arenas != 0) checks.realtime_heap = check_realtime_heap(source, result.realtime_heap);
    return checks;
}

}  // namespace acre::tool
