// Plays all allocations of a run with the program's malloc, in a process of its own, and finds how much memory is
// resident, and whose objects keep pages that are otherwise free. The same with chosen sites in memory of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace acre::tool {

inline constexpr std::uint64_t resident_page_bytes = 4096;

/// An allocation or a free, as it is sent to the process.
struct resident_step {
    std::uint64_t size : 56 = 0;
    std::uint64_t alignment_log2 : 8 = 0;  // 0: the default
    std::uint32_t slot : 30 = 0;           // of the object while it lives
    std::uint32_t allocates : 1 = 0;
    std::uint32_t by_realloc : 1 = 0;
    std::uint32_t site = 0;
};
static_assert(sizeof(resident_step) == 16);

/// What the objects of a site keep.
struct pinning_site {
    std::uint32_t site = 0;
    std::uint64_t objects = 0;       // live
    std::uint64_t live_bytes = 0;    // of these
    std::uint64_t pinned_bytes = 0;  // free bytes on the pages that they lie on, shared with other sites' objects there
};

/// At one moment. All bytes are those of malloc: the program's code and stacks do not count.
struct resident_moment {
    std::uint64_t resident_bytes = 0;
    std::uint64_t live_bytes = 0;
    std::uint64_t pinned_bytes = 0;     // free bytes on pages with live objects
    std::uint64_t free_bytes = 0;       // on pages without any, which malloc keeps
    std::vector<pinning_site> sites{};  // most pinned bytes first
    /// The site of the last object of the heap that grows: malloc cannot give back what is free before it.
    std::optional<std::uint32_t> last_site{};
};

struct resident_result {
    std::uint64_t max_resident_bytes = 0;
    resident_moment peak;  // when most bytes are live
    resident_moment end;   // after the last step
};

struct resident_request {
    std::uint32_t slots = 0;       // peak of live objects
    std::uint32_t sites = 0;       // their numbers are less
    std::uint64_t peak_event = 0;  // number of the event after which most bytes are live
    std::vector<bool> separate{};  // by site; empty: none
    std::string preload{};         // the malloc that the program uses; empty: this system's
};

/// Calls its argument for each step.
using resident_steps = std::function<void(const std::function<void(const resident_step&)>&)>;

/// Nothing if the process could not be started, or ended before it had played all.
std::optional<resident_result> play_resident(const resident_request& request, const resident_steps& steps);

/// More live bytes are not played.
inline constexpr std::uint64_t max_resident_live_bytes = std::uint64_t{1} << 30;

}  // namespace acre::tool
