// How an acre::typed_arena behaves, as a template argument.
//
//     constinit acre::typed_arena<Orc, 1000, acre::typed_arena_options{.reuse = true, .report_live = true}> orcs;
#pragma once

#include <acre/core/detail/alignments.hpp>
#include <acre/core/exhaustion.hpp>
#include <cstddef>

namespace acre {

/// The behaviour of a typed_arena, as a template argument.
struct typed_arena_options {
    std::size_t limit_bytes = max_request;    // the compiler checks that N * sizeof(T) is no more than this
    exhaustion when_full = exhaustion::fail;  // what happens to a request when there is no room
    bool reuse = false;                       // freed storage is reused
    bool synchronized = false;                // any thread may allocate and deallocate
    bool require_final = false;  // the compiler refuses a class that is not final: no derived class shares the arena
    bool report_live = false;    // counts what is live; the arena's end writes a line to stderr if anything is
};

}  // namespace acre
