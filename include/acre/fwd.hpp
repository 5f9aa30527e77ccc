// Names of acre's types, for headers that only mention them: as a pointer, a reference, a parameter or a result.
//
// Use it in a header in place of the types' own, which the source file includes. Cost: a compiler takes a
// twentieth of the time of acre.hpp.
//
// A template over a resource, as synchronized<R>, can be named once R is defined: include R's header. Not declared here
// is what needs a header of the standard library: acre::unique_ptr (<memory>), and the default lock of synchronized
// (<mutex>), which is named as synchronized<R, Lock>. Nor are allocators of one resource, as ambient_allocator, and the
// hooks of other libraries (acre/adapt/hooks).
//
//     #include <acre/fwd.hpp>
//     struct level {
//         acre::arena& storage;
//         acre::object_pool<Orc>* orcs;
//     };
#pragma once

#include <acre/core/detail/declarations.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/statistics_options.hpp>
#include <acre/core/typed_arena_options.hpp>

namespace acre {

// What acre.hpp leaves out, in the order of the rooms.
class general_heap;
struct general_heap_options;
struct general_heap_figures;
enum class huge_pages;
struct virtual_memory_options;
struct virtual_memory_grants;
class virtual_memory;
struct system_refusal;
class system_refused;
struct hardened_options;
enum class leak_rule : unsigned char;
struct checked_options;
template <class R>
class checked_scratch;
template <class T>
class checked_ptr;
template <class T, detail::owner_of_objects R>
class resource_delete;
class program_pools;
template <class Promise>
class pooled_frames;
class ambient;
class use_resource;
class ambient_arena;
class use_arena;
template <resource R>
class malloc_face;

}  // namespace acre
