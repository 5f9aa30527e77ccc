// Recognises a buffer that takes the place of a smaller one: a std::vector or std::string that grows. All buffers of
// one container are one thing, judged by the last of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "change_places.hpp"
#include "history.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Which contexts are those of a std::vector or std::string, and which of these are allocated to grow one.
class growing_contexts {
public:
    growing_contexts(const history& run, const call_paths& paths, const change_places& places);

    /// A std::vector or a std::string: `clear()` keeps its buffer, and `reserve()` makes it large at once.
    bool is_buffer(std::uint32_t context) const noexcept { return places_[context] != no_place; }
    bool is_vector(std::uint32_t context) const noexcept { return is_vector_[context]; }
    bool grows(std::uint32_t context) const noexcept { return grows_[context]; }
    bool any_grows() const noexcept { return any_grows_; }
    /// Whether a larger buffer of `to` may take the place of one of `from`: they are of one type, in one place.
    bool may_replace(std::uint32_t from, std::uint32_t to) const noexcept {
        return grows_[to] && places_[from] == places_[to];
    }

private:
    static constexpr std::uint32_t no_place = 0xffff'ffff;

    std::vector<std::uint32_t> places_;  // by context
    std::vector<bool> grows_;            // likewise
    std::vector<bool> is_vector_;        // likewise
    bool any_grows_ = false;
};

/// A larger buffer in the place of a smaller one of the same container.
struct growth_link {
    std::uint32_t from_slot = 0;
    std::uint32_t to_slot = 0;
    std::uint32_t to_context = 0;
    std::uint64_t to_size = 0;
};

/// Hears all events of a run in order.
class growth_links {
public:
    growth_links(const history& run, const growing_contexts& growing) : growing_{growing}, last_(run.threads()) {}

    /// At the free of a smaller buffer right after its thread allocated the larger one: that.
    std::optional<growth_link> hear(const recorded_event& each) {
        allocation& last = last_[each.thread];
        if (each.allocates) {
            last = {each.slot, each.context, each.size, true};
            return std::nullopt;
        }
        const allocation before = last;
        last.is_newest = false;
        const bool is_link = before.is_newest && before.slot != each.slot && each.size < before.size &&
                             growing_.is_buffer(each.context) && growing_.may_replace(each.context, before.context);
        if (!is_link) return std::nullopt;
        return growth_link{each.slot, before.slot, before.context, before.size};
    }

private:
    struct allocation {
        std::uint32_t slot = 0;
        std::uint32_t context = 0;
        std::uint64_t size = 0;
        bool is_newest = false;  // the thread's last event
    };

    const growing_contexts& growing_;
    std::vector<allocation> last_;  // by thread
};

}  // namespace acre::tool
