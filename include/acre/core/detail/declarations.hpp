// Names of the types that acre.hpp defines, with the default template arguments of all types: these stand here and
// nowhere else. Used by acre/fwd.hpp, which names the others too, and by the headers of types with default arguments.
//
// What acre.hpp leaves out is not declared here, so that a compiler says that there is no such name, and not that a
// type is incomplete. Templates are, because acre/core/detail/left_out.hpp can say which header they need.
#pragma once

#include <acre/core/detail/alignments.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/statistics_options.hpp>
#include <acre/core/typed_arena_options.hpp>
#include <cstddef>
#include <type_traits>

namespace acre {

// Core and memory.
class resource_ref;
class no_lock;
class spin_lock;
class priority_inheritance_mutex;
enum class exhaustion;
struct misuse;
using misuse_handler = void (*)(const misuse&);
class allocation_error;
class out_of_memory;
class request_too_large;
class limit_exceeded;
class out_of_arenas;
class bad_alignment;
class bad_option;
class heap;
class no_memory;
template <class Pointer>
struct allocation_result;
class pmr_upstream;
class buffer;
template <std::size_t Bytes, std::size_t Alignment = default_alignment>
class inline_buffer;

// Arenas.
struct arena_options;
struct reset_policy;
class arena;
class scratch;
class cursor;
template <std::size_t Bytes>
class inline_arena;
struct concurrent_arena_options;
class concurrent_arena;
template <class T, class R = arena>
class arena_vector;
template <class R>
class basic_arena_string;
using arena_string = basic_arena_string<arena>;
template <class T, std::size_t N = 0, typed_arena_options Options = typed_arena_options{}, class Fallback = heap>
class typed_arena;
enum class large_requests;
struct multi_arena_options;
class multi_arena;
template <std::size_t Arenas, std::size_t Bytes, std::size_t Open = 0, large_requests Large = large_requests{}>
class inline_multi_arena;
struct concurrent_multi_arena_options;
class concurrent_multi_arena;
template <std::size_t Arenas, std::size_t Bytes>
class inline_concurrent_multi_arena;
struct fit_options;
struct multi_arena_fit;

// Pools.
struct pool_options;
enum class double_free_check;
template <std::size_t Slot, std::size_t Align = natural_alignment(Slot), double_free_check Check = double_free_check{}>
class pool;
template <class T, double_free_check Check = double_free_check{}>
class object_pool;
struct default_size_classes;
template <std::size_t... Bytes>
struct size_class_list;
template <class Classes, double_free_check Check = double_free_check{}>
class basic_multi_pool;
using multi_pool = basic_multi_pool<default_size_classes>;
template <std::size_t Slot, std::size_t Align = natural_alignment(Slot)>
class hardened_pool;
template <class T>
class hardened_object_pool;
template <class Classes>
class basic_hardened_multi_pool;
using hardened_multi_pool = basic_hardened_multi_pool<default_size_classes>;
struct chunk_pool_options;
template <std::size_t N, auto... Sizes>
class chunk_pool;
struct every_thread;
template <class Group>
struct group_upstream;
template <std::size_t Size, class Group = every_thread>
class static_pool;
template <class Name, stateless_resource Upstream = heap, double_free_check Check = double_free_check{}>
struct shared_group;
template <class Name, stateless_resource Upstream = heap, double_free_check Check = double_free_check{}>
struct thread_group;
class pool_registry;
struct concurrent_pool_options;
template <std::size_t Slot, std::size_t Align = natural_alignment(Slot), double_free_check Check = double_free_check{}>
class concurrent_pool;
template <class T, double_free_check Check = double_free_check{}>
class concurrent_object_pool;
template <class Classes, double_free_check Check = double_free_check{}>
class basic_concurrent_multi_pool;
using concurrent_multi_pool = basic_concurrent_multi_pool<default_size_classes>;
struct wait_free_pool_options;
template <std::size_t Slot, std::size_t Align = natural_alignment(Slot)>
class wait_free_pool;
template <class T>
class wait_free_object_pool;

// Heaps.
struct realtime_heap_options;
struct allocation_peak;
class realtime_heap;

// Observing.
struct live_allocation;
class live_map;
struct size_count;
class size_histogram;
struct statistics_counter;
struct statistics_counts;
struct statistics_scope;
struct records_in;
template <resource R, statistics_options Options = statistics_options{}>
class statistics;
template <resource R>
class traced;
class trace_scope;
struct log_to;
template <resource R>
class logged;
template <class R>
class checked;

// Combining.
struct limited_options;
template <resource R>
class limited;
template <resettable_resource R>
class recycling;
template <resource R, class Lock>
class synchronized;
template <detail::resource_part Primary, detail::resource_part Secondary>
    requires owning_resource<std::remove_reference_t<Primary>>
class fallback;
template <std::size_t Threshold, detail::resource_part Small, detail::resource_part Large>
class segregate;

// Adapting.
template <resource R>
class resource_pointer;
template <resource R>
struct containers_in;
template <class T, class R>
class allocator;
template <resource R>
class unique_resource;
template <class R>
    requires resource<std::remove_reference_t<R>>
class pmr;
template <class Pool>
class pool_resource;
class unsynchronized_pool_resource;
class synchronized_pool_resource;
struct default_pool;
struct own_pool;
template <class Group>
struct in_group;
template <class Pool = default_pool>
struct only_final;
template <class T, class Pool = default_pool>
class class_operators;
template <class T, class Pool = default_pool>
class pooled;
template <class T, class Pool = default_pool>
class nothrow_pooled;

}  // namespace acre
