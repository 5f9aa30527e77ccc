#include "fit_check.hpp"

#include <acre/arenas/arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <cstddef>
#include <new>

#include "arena_model.hpp"
#include "deterministic_threads.hpp"
#include "fit_wording.hpp"
#include "trace/live_table.hpp"

namespace acre::tool {

namespace {

/// A multi_arena, or an arena that is reset when nothing is left.
template <typename Resource>
struct one_for_all {
    template <typename... Arguments>
    explicit one_for_all(const Arguments&... arguments) : resource{arguments...} {}

    void* try_allocate(std::size_t bytes, std::size_t alignment, std::uint32_t) {
        return resource.try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::uint32_t) { resource.deallocate(p, bytes); }

    Resource resource;
};

/// Plays events over a resource until it refuses one.
template <typename Resource>
class size_trial {
public:
    size_trial(Resource& resource, bool resets) : resource_{resource}, resets_{resets} {}

    void allocate(const event& e) {
        if (refused_) return;
        const auto bytes = static_cast<std::size_t>(e.size);
        void* p = resource_.try_allocate(bytes, static_cast<std::size_t>(alignment_of(e)), e.thread);
        refused_ = p == nullptr;
        if (!refused_) live_.insert(e.object, {p, bytes});
    }

    void release(std::uint64_t object, std::uint32_t thread) {
        live_object gone;
        if (refused_ || !live_.take(object, gone)) return;
        resource_.deallocate(gone.p, gone.bytes, thread);
        if constexpr (requires { resource_.resource.reset(); }) {
            if (resets_ && live_.size() == 0) resource_.resource.reset();
        }
    }

    void reallocate(const event& acquired, std::uint64_t released) {
        allocate(acquired);
        release(released, acquired.thread);
    }

    bool refused() const noexcept { return refused_; }

private:
    struct live_object {
        void* p = nullptr;
        std::size_t bytes = 0;
    };

    Resource& resource_;
    bool resets_;
    live_table<live_object> live_;
    bool refused_ = false;
};

template <typename Resource>
bool serves(const event_source& source, Resource&& resource, bool resets = false) {
    size_trial trial{resource, resets};
    play(source, trial);
    return !trial.refused();
}

/// `serves_with(n)` with the number found and, unless that is none, with one less.
template <typename ServesWith>
size_check check_size(std::uint64_t found, std::optional<std::uint64_t> one_less, ServesWith serves_with) {
    size_check result;
    try {
        result.suffices = serves_with(found);
        if (one_less) result.one_less_fails = !serves_with(*one_less);
    } catch (const std::bad_alloc&) {
        result.failure = "there is not so much memory on this machine";
    }
    return result;
}

std::optional<std::uint64_t> one_less(const acre::multi_arena_fit& pair) {
    return pair.arenas > 1 ? std::optional<std::uint64_t>{pair.arenas - 1} : std::nullopt;
}

size_check check_multi_arena(const event_source& source, const acre::multi_arena_fit& pair) {
    return check_size(pair.arenas, one_less(pair), [&](std::uint64_t arenas) {
        acre::multi_arena_options options = pair.options();
        options.arenas = static_cast<std::size_t>(arenas);
        return serves(source, one_for_all<acre::multi_arena>{options});
    });
}

size_check check_concurrent(const event_source& source, const acre::multi_arena_fit& pair) {
    return check_size(pair.arenas, one_less(pair), [&](std::uint64_t arenas) {
        return serves(source, deterministic_threads{{.arenas = static_cast<std::size_t>(arenas), .bytes = pair.bytes}});
    });
}

size_check check_arena(const event_source& source, const census& of) {
    const std::uint64_t found = arena_block_bytes(of);
    // Stricter alignments are counted at their worst.
    const bool exact = found > arena_model::smallest_block && of.strictest <= acre::default_alignment;
    const auto less = exact ? std::optional<std::uint64_t>{found - acre::arena::granule} : std::nullopt;
    return check_size(found, less, [&](std::uint64_t bytes) {
        const auto block = static_cast<std::size_t>(bytes);
        ::operator delete(::operator new(block));  // so that there being no memory is not taken for a refusal
        const acre::arena_options options{.first_block_bytes = block, .max_block_bytes = block, .limit_bytes = block};
        return serves(source, one_for_all<acre::arena>{options}, dies_together(of));
    });
}

}  // namespace

fit_checks check_sizes(const event_source& source, const fit_result& result, bool arena) {
    fit_checks checks;
    if (!result.multi_arena.empty()) checks.multi_arena = check_multi_arena(source, result.multi_arena.best());
    if (!result.concurrent_multi_arena.empty())
        checks.concurrent_multi_arena = check_concurrent(source, result.concurrent_multi_arena.best());
    if (arena) checks.arena = check_arena(source, result.figures);
    return checks;
}

}  // namespace acre::tool
