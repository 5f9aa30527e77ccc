// Finds the number and size of arenas that a workload needs by running it: with larger arenas until no request is too
// large, with more until they suffice, and then with fewer until they do not.
//
// Use it in a test or a program of its own, with a workload close to the real one; `acre fit` does the same with a
// recorded trace. The answer is a Pareto front: larger arenas are fewer, and the better choice depends on what else the
// memory could be used for.
//
// A request aligned more strictly than an arena (more than the largest power of two that divides the arena's size) may
// fit in the search only by the luck of an address: add one arena if there are such requests.
//
// Cost: about ten runs of the workload for each arena size tried; sizes double. The workload must do the same each
// time, whatever was refused.
//
//     const auto front = acre::fit_multi_arena([](acre::multi_arena& arenas) { run_camera(arenas, 1000); });
//     for (const acre::multi_arena_fit& each : front) std::printf("%zu x %zu\n", each.arenas, each.bytes);
//     acre::multi_arena chosen{acre::smallest_fit(front).options()};
#pragma once

#include <acre/arenas/multi_arena.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/error.hpp>
#include <cstddef>
#include <utility>
#include <vector>

namespace acre {

/// Where the search begins and ends.
struct fit_options {
    std::size_t first_bytes = 32;           // size of the smallest arenas tried
    std::size_t largest_bytes = 64 << 20;   // size of the largest arenas tried
    std::size_t max_total_bytes = 1 << 30;  // of all arenas together
    std::size_t open = 0;                   // as in multi_arena_options
};

/// A number of arenas, and their size in bytes, with which no request fails.
struct multi_arena_fit {
    /// Number of arenas.
    std::size_t arenas;
    /// Bytes of each.
    std::size_t bytes;
    std::size_t open = 0;  // as in fit_options

    /// Bytes of all arenas together.
    std::size_t total_bytes() const noexcept { return arenas * bytes; }
    /// The options of a multi_arena of this kind.
    multi_arena_options options() const noexcept { return {.arenas = arenas, .bytes = bytes, .open = open}; }
    friend bool operator==(const multi_arena_fit&, const multi_arena_fit&) noexcept = default;
};

namespace detail {
template <class Workload>
class multi_arena_search {
public:
    multi_arena_search(Workload& workload, const fit_options& options) : workload_(workload), options_(options) {
        require_at_least(1, "acre::fit_multi_arena", "first_bytes", options.first_bytes);
    }

    std::vector<multi_arena_fit> front() {
        std::vector<multi_arena_fit> found;
        std::size_t arenas = 1;
        for (std::size_t bytes = options_.first_bytes; bytes <= options_.largest_bytes;) {
            const std::size_t larger = find_min(bytes, arenas);
            if (larger != 0) {
                bytes = larger;
                continue;
            }
            if (arenas != 0) {
                const std::size_t each = align_up(bytes, multi_arena::granule);
                if (found.empty() || arenas < found.back().arenas) found.push_back({arenas, each, options_.open});
                if (arenas == 1) break;
            } else {
                arenas = 1;
            }
            if (bytes > options_.largest_bytes / 2) break;
            bytes *= 2;
        }
        return found;
    }

private:
    struct outcome {
        std::size_t too_large;  // bytes that an arena would have needed, or 0
        bool out_of_arenas;
        bool served() const noexcept { return too_large == 0 && !out_of_arenas; }
    };

    // Sets `arenas` to the smallest sufficient number of arenas of `bytes` bytes, searching from its value; to 0 if
    // that exceeds max_total_bytes. Returns the size of a request that no such arena can serve, else 0.
    std::size_t find_min(std::size_t bytes, std::size_t& arenas) {
        std::size_t too_few = 0;
        const std::size_t max_arenas = options_.max_total_bytes / bytes;
        for (;; arenas = detail::min(2 * arenas, max_arenas)) {
            if (arenas > max_arenas || too_few == max_arenas) return arenas = 0;
            const outcome tried = run(arenas, bytes);
            if (tried.too_large != 0) return tried.too_large;
            if (tried.served()) break;
            too_few = arenas;
        }
        while (arenas - too_few > 1) {
            const std::size_t middle = too_few + (arenas - too_few) / 2;
            (run(middle, bytes).served() ? arenas : too_few) = middle;
        }
        return 0;
    }

    outcome run(std::size_t arenas, std::size_t bytes) {
        multi_arena tried{{.arenas = arenas, .bytes = bytes, .open = options_.open}};
        serve(tried);
        const auto& refused = tried.refusals();
        return {refused.largest_bytes, refused.out_of_arenas != 0};
    }

    // The workload may end at a refusal or go on; refusals() has it in either case.
    void serve(multi_arena& tried) {
#if defined(__cpp_exceptions)
        try {
            workload_(tried);
        } catch (const request_too_large&) {
        } catch (const out_of_arenas&) {
        }
#else
        workload_(tried);
#endif
    }

    Workload& workload_;
    const fit_options& options_;
};
}  // namespace detail

/// The pairs of number and size of arenas for which `workload`, called with an acre::multi_arena&, has no request
/// refused. Sorted by size; each number is the smallest for its size, and smaller than the one before. Empty when the
/// options allow none. Throws what the workload throws, except refusals.
template <class Workload>
std::vector<multi_arena_fit> fit_multi_arena(Workload&& workload, const fit_options& options = {}) {
    return detail::multi_arena_search<std::remove_reference_t<Workload>>{workload, options}.front();
}

/// The element with the fewest total bytes; `front` must not be empty.
inline multi_arena_fit smallest_fit(const std::vector<multi_arena_fit>& front) noexcept {
    const multi_arena_fit* smallest = &front.front();
    for (const multi_arena_fit& each : front) {
        if (each.total_bytes() < smallest->total_bytes()) smallest = &each;
    }
    return *smallest;
}

}  // namespace acre
