// Options for a google::protobuf::Arena whose blocks come from a resource: block_alloc and block_dealloc.
//
// Use acre::program_pools: a server that makes an arena for each request takes its blocks from magazines of its thread
// instead of malloc, and any thread may destroy the arena. protobuf passes no context, so the resource has no state:
// with acre::ambient, the default, it is the one that this thread uses when protobuf takes a block
// (acre::use_resource), and the arena is destroyed in the thread that used it. Set start_block_size and max_block_size
// in the options that are returned: a few large blocks cost less than many of protobuf's 256 bytes to 8 KiB.
//
// Without memory the resource's exception passes through protobuf to the caller, as that of operator new does. Cost:
// that of the resource, once a block. Thread rules: those of the resource.
//
//     #include <google/protobuf/struct.pb.h>
//     #include <acre/adapt/program_pools.hpp>
//     google::protobuf::Arena request{acre::protobuf_options<acre::program_pools>()};
//     auto* order = google::protobuf::Arena::CreateMessage<google::protobuf::Struct>(&request);
#pragma once

#include <google/protobuf/arena.h>
#include <acre/adapt/ambient.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource_ref.hpp>
#include <cstddef>

namespace acre {

/// protobuf's default options, with blocks of an R, this thread's resource if none is named.
template <stateless_resource R = ambient>
google::protobuf::ArenaOptions protobuf_options() {
    google::protobuf::ArenaOptions options;
    options.block_alloc = [](std::size_t bytes) {
        void* p = R{}.allocate(bytes, default_alignment);
        // protobuf does not expect null.
        if (!exceptions_enabled && p == nullptr)
            abort_on_misuse("acre::protobuf_options", detail::mistake::out_of_memory, nullptr);
        return p;
    };
    options.block_dealloc = [](void* p, std::size_t bytes) { R{}.deallocate(p, bytes, default_alignment); };
    return options;
}

}  // namespace acre
