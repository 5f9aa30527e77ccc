// The instructions of one call of a resource of arenas, on a path that is prepared on a fresh resource.
#pragma once

#include <acre/core/alignment.hpp>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../harness.hpp"

namespace bench {

/// What a resource that is constructed with options has.
inline constexpr std::size_t counted_arenas = 8;
inline constexpr std::size_t counted_arena_bytes = 1024;

/// The counted call: a deallocation of `p`, or an allocation if `p` is null.
struct call {
    void* p = nullptr;
    std::size_t bytes = 16;
    std::size_t alignment = acre::default_alignment;
};

/// How to prepare the state before the call, and by how many the call changes the busy arenas. The latter verifies that
/// the call took the path in its name.
template <class Arenas>
struct path {
    std::string name;
    call (*set_up)(Arenas&);
    int busy_change;
};

// The names of these two match counted_functions.
template <class Arenas>
[[gnu::noinline]] void* the_counted_allocation(Arenas& arenas, std::size_t bytes, std::size_t alignment) {
    return arenas.allocate(bytes, alignment);
}

template <class Arenas>
[[gnu::noinline]] void the_counted_deallocation(Arenas& arenas, void* p, std::size_t bytes, std::size_t alignment) {
    arenas.deallocate(p, bytes, alignment);
}

/// Makes the call of one path, once.
template <class Arenas>
class counted_path {
public:
    explicit counted_path(const path<Arenas>& which)
        : about_{which}, arenas_{make()}, next_{which.set_up(*arenas_)}, busy_{arenas_->busy_arenas()} {}

    void operator()() {
        if (next_.p == nullptr) {
            touch(the_counted_allocation(*arenas_, next_.bytes, next_.alignment));
        } else {
            the_counted_deallocation(*arenas_, next_.p, next_.bytes, next_.alignment);
        }
        const auto change = static_cast<int>(arenas_->busy_arenas()) - static_cast<int>(busy_);
        if (change != about_.busy_change) throw std::logic_error(about_.name + ": another path was taken");
    }

private:
    static std::unique_ptr<Arenas> make() {
        if constexpr (requires { typename Arenas::options_type; }) {
            return std::make_unique<Arenas>(
                typename Arenas::options_type{.arenas = counted_arenas, .bytes = counted_arena_bytes});
        } else {
            return std::make_unique<Arenas>();
        }
    }

    path<Arenas> about_;
    std::unique_ptr<Arenas> arenas_;
    call next_;
    std::size_t busy_;
};

/// Adds the paths of acre::`type` to its table.
template <class Arenas>
void add_counted_paths(suite& entries, const std::string& type, const std::vector<path<Arenas>>& paths) {
    for (const path<Arenas>& each : paths) {
        entries.add_counted({type + " instructions", "acre::" + type + ", instructions of one call", 1}, each.name,
                            [each] { return make_round<counted_path<Arenas>>(each); });
    }
}

}  // namespace bench
