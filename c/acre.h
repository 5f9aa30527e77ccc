// acre in C: arenas, pools and multi-arenas behind opaque handles, and malloc's functions over any of them.
//
// Errors. A function that cannot do its work returns null, false or zero bytes, and changes nothing. The reason is then
// this thread's last error: acre_last_status() and, as a sentence, acre_last_error(). A null handle refuses every
// request with ACRE_NULL_HANDLE, so a failed create needs no check of its own. A misuse that would corrupt memory, such
// as a double free or a handle of another kind, calls the misuse handler, which by default prints a sentence and
// aborts.
//
// Options are a struct; zero is the default of each member, and a null pointer means all defaults:
//
//     acre_arena* level = acre_arena_create(&(acre_arena_options){.limit_bytes = 1 << 20});
//
// Alignments are powers of two in bytes; 0 stands for 16, which suits every type of C. What takes a size and an
// alignment at a free takes those of the allocation. No request is above half of the address space.
//
// Threads. A handle whose name says `concurrent` is for all threads; of any other, one thread at a time uses it.
// Destroy and reset while no other thread uses the handle. A handle itself lies in the C++ heap; what it hands out
// comes from its upstream. Destroying gives back all that was handed out. Each type's cost and rules are those of the
// C++ type of the same name: docs/c.md.
#ifndef ACRE_H
#define ACRE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) && !defined(_WIN32)
#define ACRE_EXPORT __attribute__((visibility("default")))
#else
#define ACRE_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------- Errors

typedef enum acre_status {
    ACRE_OK = 0,
    ACRE_OUT_OF_MEMORY = 1,      // upstream had none left
    ACRE_REQUEST_TOO_LARGE = 2,  // more than the resource can ever serve
    ACRE_LIMIT_EXCEEDED = 3,     // beyond a limit that its options set
    ACRE_OUT_OF_ARENAS = 4,      // every arena of a multi-arena is in use
    ACRE_BAD_ALIGNMENT = 5,      // no power of two, or too large
    ACRE_BAD_OPTION = 6,         // an option or argument out of range; the sentence says what is allowed
    ACRE_NULL_HANDLE = 7,        // a null pointer in place of a handle
    ACRE_FAILED = 8,             // anything else; the sentence says what
    ACRE_REFUSED = 9             // functions with _try_, which do not look for the reason
} acre_status;

// Why the last call of this thread that failed did so; ACRE_OK before the first and after acre_clear_error. A call that
// succeeds leaves it as it is.
ACRE_EXPORT acre_status acre_last_status(void);
// The same as one sentence, empty for ACRE_OK. It is valid until the thread's next call that fails.
ACRE_EXPORT const char* acre_last_error(void);
ACRE_EXPORT void acre_clear_error(void);

// The version of this header: major version * 10,000 + minor version * 100 + patch.
#define ACRE_VERSION_NUMBER 100
// The version of the library, such as "0.1.0".
ACRE_EXPORT const char* acre_version(void);

typedef struct acre_misuse {
    const char* resource;  // the type that noticed it, such as "acre::pool"
    const char* what;      // the mistake, such as "double free"
    const void* pointer;   // the address that was given
    const char* details;   // further lines, or null
} acre_misuse;

// A function that is called with each misuse. It may end the program; when it returns, the program aborts. It must not
// use the resource.
typedef void (*acre_misuse_handler)(const acre_misuse* noticed);

// Sets the handler and returns the one before; null stands for the default, which prints a sentence and aborts.
ACRE_EXPORT acre_misuse_handler acre_set_misuse_handler(acre_misuse_handler handler);

// ------------------------------------------------------------------------------------------------------- Resources

// What every handle below also is: something that hands out and takes back storage. A resource can be the upstream of
// others. It must live longer than they do: destroying it before aborts with a sentence.
typedef struct acre_resource acre_resource;

// A number that the resource does not know.
#define ACRE_UNKNOWN SIZE_MAX

typedef struct acre_usage {
    size_t capacity;  // bytes held from upstream
    size_t used;      // bytes of what is handed out, with rounding
    size_t live;      // number of live allocations
} acre_usage;

// The heap of the program: the upstream of all that names no other. It is never destroyed.
ACRE_EXPORT acre_resource* acre_heap(void);

// Storage of `bytes` bytes; a distinct pointer for zero bytes.
ACRE_EXPORT void* acre_resource_allocate(acre_resource* resource, size_t bytes, size_t alignment);
// The same for refusals that are part of the plan: they cost little, and the last error is ACRE_REFUSED.
ACRE_EXPORT void* acre_resource_try_allocate(acre_resource* resource, size_t bytes, size_t alignment);
// Takes it back; a null `p` is a no-op.
ACRE_EXPORT void acre_resource_free(acre_resource* resource, void* p, size_t bytes, size_t alignment);
// Makes the allocation larger or smaller where it is; false, and nothing changed, when the resource cannot. That is no
// error: it leaves the last error as it is.
ACRE_EXPORT bool acre_resource_resize(acre_resource* resource, void* p, size_t old_bytes, size_t new_bytes);
// True when `p` lies in its storage; always false for the heap and for functions of the program.
ACRE_EXPORT bool acre_resource_owns(const acre_resource* resource, const void* p);
// ACRE_UNKNOWN for what it does not know.
ACRE_EXPORT acre_usage acre_resource_usage(const acre_resource* resource);

// Storage of the program: allocations are cut out of it one after the other, and freed in the reverse order or at once.
typedef struct acre_buffer acre_buffer;

ACRE_EXPORT acre_buffer* acre_buffer_create(void* storage, size_t bytes);
ACRE_EXPORT void acre_buffer_destroy(acre_buffer* buffer);
ACRE_EXPORT void acre_buffer_reset(acre_buffer* buffer);
ACRE_EXPORT acre_resource* acre_buffer_resource(acre_buffer* buffer);

// Functions of the program, as an upstream. `allocate` returns null when it has no memory; a pointer that is not
// aligned is a misuse. They are called by the threads that use what is above them, one at a time where that is one
// handle.
typedef struct acre_functions {
    void* context;
    void* (*allocate)(void* context, size_t bytes, size_t alignment);
    void (*deallocate)(void* context, void* p, size_t bytes, size_t alignment);
} acre_functions;

typedef struct acre_custom acre_custom;

ACRE_EXPORT acre_custom* acre_custom_create(const acre_functions* functions);
ACRE_EXPORT void acre_custom_destroy(acre_custom* custom);
ACRE_EXPORT acre_resource* acre_custom_resource(acre_custom* custom);

// ---------------------------------------------------------------------------------------------------------- Arenas

// Allocations of any size that end together: acre_arena_reset takes all back.
typedef struct acre_arena acre_arena;

typedef struct acre_arena_options {
    size_t first_block_bytes;  // 0: 4 KiB
    size_t max_block_bytes;    // blocks double up to this; 0: 1 MiB
    size_t limit_bytes;        // never holds more than this; 0: no limit
    size_t fixed_bytes;        // if not 0, alone: the usable bytes, taken when it is created; it never grows
    acre_resource* upstream;   // null: the heap
    size_t reserved[4];        // zero: new members of later versions take their places, here and below
} acre_arena_options;

// How much storage a reset keeps for the next round.
typedef enum acre_keep { ACRE_KEEP_ALL = 0, ACRE_KEEP_LARGEST = 1, ACRE_KEEP_NOTHING = 2 } acre_keep;

// A state of an arena to go back to.
typedef struct acre_mark {
    uint64_t opaque[6];
} acre_mark;

ACRE_EXPORT acre_arena* acre_arena_create(const acre_arena_options* options);
ACRE_EXPORT void acre_arena_destroy(acre_arena* arena);
ACRE_EXPORT void* acre_arena_allocate(acre_arena* arena, size_t bytes, size_t alignment);
// `count` elements of `size` bytes; null when the product is too large.
ACRE_EXPORT void* acre_arena_allocate_array(acre_arena* arena, size_t count, size_t size, size_t alignment);
// A copy of the text, which ends with a zero byte.
ACRE_EXPORT char* acre_arena_copy(acre_arena* arena, const char* text);
// Resizes in place: the last allocation while there is room, and any that shrinks.
ACRE_EXPORT bool acre_arena_resize(acre_arena* arena, void* p, size_t old_bytes, size_t new_bytes);
ACRE_EXPORT acre_mark acre_arena_mark(const acre_arena* arena);
// Takes back what was allocated since the mark, and makes later marks void. A reset makes all marks void.
ACRE_EXPORT void acre_arena_rewind(acre_arena* arena, acre_mark mark);
ACRE_EXPORT void acre_arena_reset(acre_arena* arena, acre_keep keep);
ACRE_EXPORT acre_resource* acre_arena_resource(acre_arena* arena);

// A `type` or `count` of them in an arena, uninitialised.
#define ACRE_NEW(arena, type) ((type*)acre_arena_allocate((arena), sizeof(type), alignof(type)))
#define ACRE_NEW_ARRAY(arena, type, count) \
    ((type*)acre_arena_allocate_array((arena), (count), sizeof(type), alignof(type)))

// An arena that all threads allocate from.
typedef struct acre_concurrent_arena acre_concurrent_arena;

typedef struct acre_concurrent_arena_options {
    size_t first_block_bytes;  // as in acre_arena_options
    size_t max_block_bytes;
    size_t limit_bytes;
    size_t window_bytes;  // what a thread takes for itself at once, at most; 0: 16 KiB
    acre_resource* upstream;
    size_t reserved[4];
} acre_concurrent_arena_options;

ACRE_EXPORT acre_concurrent_arena* acre_concurrent_arena_create(const acre_concurrent_arena_options* options);
ACRE_EXPORT void acre_concurrent_arena_destroy(acre_concurrent_arena* arena);
ACRE_EXPORT void* acre_concurrent_arena_allocate(acre_concurrent_arena* arena, size_t bytes, size_t alignment);
ACRE_EXPORT void acre_concurrent_arena_reset(acre_concurrent_arena* arena, acre_keep keep);
ACRE_EXPORT acre_resource* acre_concurrent_arena_resource(acre_concurrent_arena* arena);

// ----------------------------------------------------------------------------------------------------------- Pools

// Options of all pools.
typedef struct acre_pool_options {
    size_t limit_bytes;   // never holds more than this; 0: no limit
    size_t thread_bytes;  // concurrent pools: free slots that one thread keeps, in bytes; 0: 64 KiB
    bool report_live;     // a line on standard error when it is destroyed with live allocations
    acre_resource* upstream;
    size_t reserved[4];
} acre_pool_options;

// Slots of one size, freed in any order.
typedef struct acre_pool acre_pool;

// Slots of at least `slot_bytes` bytes, aligned to 16, or to 8 where they have 8 bytes. They are rounded up to a
// multiple of 16 and, above 128 bytes, by at most a quarter; acre_pool_slot_bytes says to what.
ACRE_EXPORT acre_pool* acre_pool_create(size_t slot_bytes, const acre_pool_options* options);
ACRE_EXPORT void acre_pool_destroy(acre_pool* pool);
ACRE_EXPORT void* acre_pool_allocate(acre_pool* pool);
ACRE_EXPORT void acre_pool_free(acre_pool* pool, void* slot);
ACRE_EXPORT size_t acre_pool_slot_bytes(const acre_pool* pool);
// Takes all slots back.
ACRE_EXPORT void acre_pool_reset(acre_pool* pool);
// Gives memory without live slots back to upstream; returns the bytes.
ACRE_EXPORT size_t acre_pool_release_unused(acre_pool* pool);
ACRE_EXPORT acre_resource* acre_pool_resource(acre_pool* pool);

// The same for all threads: any thread frees what any thread allocated.
typedef struct acre_concurrent_pool acre_concurrent_pool;

ACRE_EXPORT acre_concurrent_pool* acre_concurrent_pool_create(size_t slot_bytes, const acre_pool_options* options);
ACRE_EXPORT void acre_concurrent_pool_destroy(acre_concurrent_pool* pool);
ACRE_EXPORT void* acre_concurrent_pool_allocate(acre_concurrent_pool* pool);
ACRE_EXPORT void acre_concurrent_pool_free(acre_concurrent_pool* pool, void* slot);
ACRE_EXPORT size_t acre_concurrent_pool_slot_bytes(const acre_concurrent_pool* pool);
ACRE_EXPORT void acre_concurrent_pool_reset(acre_concurrent_pool* pool);
ACRE_EXPORT size_t acre_concurrent_pool_release_unused(acre_concurrent_pool* pool);
ACRE_EXPORT acre_resource* acre_concurrent_pool_resource(acre_concurrent_pool* pool);

// Any size, freed in any order.
typedef struct acre_multi_pool acre_multi_pool;

ACRE_EXPORT acre_multi_pool* acre_multi_pool_create(const acre_pool_options* options);
ACRE_EXPORT void acre_multi_pool_destroy(acre_multi_pool* pool);
ACRE_EXPORT void* acre_multi_pool_allocate(acre_multi_pool* pool, size_t bytes, size_t alignment);
ACRE_EXPORT void acre_multi_pool_free(acre_multi_pool* pool, void* p, size_t bytes, size_t alignment);
ACRE_EXPORT void acre_multi_pool_reset(acre_multi_pool* pool);
ACRE_EXPORT size_t acre_multi_pool_release_unused(acre_multi_pool* pool);
ACRE_EXPORT acre_resource* acre_multi_pool_resource(acre_multi_pool* pool);

// The same for all threads.
typedef struct acre_concurrent_multi_pool acre_concurrent_multi_pool;

ACRE_EXPORT acre_concurrent_multi_pool* acre_concurrent_multi_pool_create(const acre_pool_options* options);
ACRE_EXPORT void acre_concurrent_multi_pool_destroy(acre_concurrent_multi_pool* pool);
ACRE_EXPORT void* acre_concurrent_multi_pool_allocate(acre_concurrent_multi_pool* pool, size_t bytes, size_t alignment);
ACRE_EXPORT void acre_concurrent_multi_pool_free(acre_concurrent_multi_pool* pool, void* p, size_t bytes,
                                                 size_t alignment);
ACRE_EXPORT void acre_concurrent_multi_pool_reset(acre_concurrent_multi_pool* pool);
ACRE_EXPORT size_t acre_concurrent_multi_pool_release_unused(acre_concurrent_multi_pool* pool);
ACRE_EXPORT acre_resource* acre_concurrent_multi_pool_resource(acre_concurrent_multi_pool* pool);

// ---------------------------------------------------------------------------------------------------- Multi-arenas

// Equal arenas that each count their live allocations, for what is freed in about the order it was allocated: messages,
// frames. All memory is taken when it is created.
typedef struct acre_multi_arena acre_multi_arena;

typedef struct acre_multi_arena_options {
    size_t arenas;     // at least 1
    size_t bytes;      // of each arena, at least 1
    size_t open;       // arenas with room left that are tried besides the active one, at most 8
    bool takes_runs;   // a request larger than an arena takes neighbouring ones; otherwise it is refused
    bool report_live;  // a line on standard error when it is destroyed with live allocations
    acre_resource* upstream;
    size_t reserved[4];
} acre_multi_arena_options;

ACRE_EXPORT acre_multi_arena* acre_multi_arena_create(const acre_multi_arena_options* options);
ACRE_EXPORT void acre_multi_arena_destroy(acre_multi_arena* arenas);
ACRE_EXPORT void* acre_multi_arena_allocate(acre_multi_arena* arenas, size_t bytes, size_t alignment);
ACRE_EXPORT void acre_multi_arena_free(acre_multi_arena* arenas, void* p, size_t bytes, size_t alignment);
ACRE_EXPORT bool acre_multi_arena_resize(acre_multi_arena* arenas, void* p, size_t old_bytes, size_t new_bytes);
ACRE_EXPORT void acre_multi_arena_reset(acre_multi_arena* arenas);
// Arenas that hold a live allocation.
ACRE_EXPORT size_t acre_multi_arena_busy(const acre_multi_arena* arenas);
ACRE_EXPORT acre_resource* acre_multi_arena_resource(acre_multi_arena* arenas);

// The same for all threads. It takes the options .arenas, .bytes, .report_live and .upstream.
typedef struct acre_concurrent_multi_arena acre_concurrent_multi_arena;

ACRE_EXPORT acre_concurrent_multi_arena* acre_concurrent_multi_arena_create(const acre_multi_arena_options* options);
ACRE_EXPORT void acre_concurrent_multi_arena_destroy(acre_concurrent_multi_arena* arenas);
ACRE_EXPORT void* acre_concurrent_multi_arena_allocate(acre_concurrent_multi_arena* arenas, size_t bytes,
                                                       size_t alignment);
ACRE_EXPORT void acre_concurrent_multi_arena_free(acre_concurrent_multi_arena* arenas, void* p, size_t bytes,
                                                  size_t alignment);
ACRE_EXPORT bool acre_concurrent_multi_arena_resize(acre_concurrent_multi_arena* arenas, void* p, size_t old_bytes,
                                                    size_t new_bytes);
ACRE_EXPORT void acre_concurrent_multi_arena_reset(acre_concurrent_multi_arena* arenas);
ACRE_EXPORT size_t acre_concurrent_multi_arena_busy(const acre_concurrent_multi_arena* arenas);
ACRE_EXPORT acre_resource* acre_concurrent_multi_arena_resource(acre_concurrent_multi_arena* arenas);

// ------------------------------------------------------------------------------------------------------ Statistics

// A resource that counts the requests to the one below it. It sees what is allocated through acre_statistics_resource:
// by the functions of a resource, by malloc's functions and by what has it as upstream.
typedef struct acre_statistics acre_statistics;

typedef struct acre_statistics_options {
    bool for_threads;  // it has a lock, and threads may share it
    bool live_map;     // it knows each live allocation; a free of what is not live is a misuse
    size_t reserved[4];
} acre_statistics_options;

typedef struct acre_counter {
    uint64_t value;  // now
    uint64_t peak;
    uint64_t total;  // of all increases
} acre_counter;

typedef struct acre_counts {
    acre_counter allocations;
    acre_counter bytes;  // as requested, without rounding
    uint64_t failures;   // refused requests
    uint64_t largest;    // bytes of the largest request served
} acre_counts;

typedef struct acre_live_allocation {
    const void* address;
    size_t bytes;
} acre_live_allocation;

ACRE_EXPORT acre_statistics* acre_statistics_create(acre_resource* below, const acre_statistics_options* options);
ACRE_EXPORT void acre_statistics_destroy(acre_statistics* statistics);
ACRE_EXPORT acre_counts acre_statistics_counts(const acre_statistics* statistics);
// Peaks equal what is live, totals and failures are 0.
ACRE_EXPORT void acre_statistics_reset_counts(acre_statistics* statistics);
// Writes the counts as text of several lines to `to`, cut after `bytes` bytes with the zero byte at its end; returns
// the bytes that the whole text needs, without the zero byte.
ACRE_EXPORT size_t acre_statistics_report(const acre_statistics* statistics, char* to, size_t bytes);
// Writes up to `count` live allocations to `to`, oldest first, and returns how many there are; 0 without .live_map.
ACRE_EXPORT size_t acre_statistics_live(const acre_statistics* statistics, acre_live_allocation* to, size_t count);
ACRE_EXPORT acre_resource* acre_statistics_resource(acre_statistics* statistics);

// ------------------------------------------------------------------------------------------ malloc's functions

// malloc, calloc, realloc and free over any resource, for code that does not say how large a block is that it frees: a
// block has 16 bytes in front, or its alignment where that is more. A free needs the resource of the allocation;
// another one is a misuse. For zero bytes acre_malloc returns a distinct block, and acre_realloc frees.
ACRE_EXPORT void* acre_malloc(acre_resource* resource, size_t bytes);
ACRE_EXPORT void* acre_calloc(acre_resource* resource, size_t count, size_t size);
ACRE_EXPORT void* acre_aligned_alloc(acre_resource* resource, size_t alignment, size_t bytes);
ACRE_EXPORT void* acre_realloc(acre_resource* resource, void* p, size_t bytes);
ACRE_EXPORT void acre_free(acre_resource* resource, void* p);
// acre_malloc and acre_realloc for refusals that are part of the plan: they cost little, and the last error is
// ACRE_REFUSED.
ACRE_EXPORT void* acre_try_malloc(acre_resource* resource, size_t bytes);
ACRE_EXPORT void* acre_try_realloc(acre_resource* resource, void* p, size_t bytes);
// Bytes that the block has for its user; 0 for null.
ACRE_EXPORT size_t acre_usable_size(const acre_resource* resource, const void* p);

// --------------------------------------------------------------------------------------------------- The general heap

// One heap for any size, alignment and thread: a faster malloc, whose blocks have nothing in front and whose frees need
// neither a handle nor a size. Not on Windows. It has its own memory: acre_general_heap_owns tells its blocks from
// those of malloc, so that one line can free both. libacre.so has one such heap and each libacre.a another one; a block
// that is freed to another heap than its own is a misuse.
#ifndef _WIN32
// It as a resource, for the options .upstream. It is never destroyed.
ACRE_EXPORT acre_resource* acre_general_heap(void);
// As the functions of C. Null, and why in acre_last_error(), where there is no memory. For zero bytes
// acre_general_heap_malloc returns a distinct block, and acre_general_heap_realloc frees.
ACRE_EXPORT void* acre_general_heap_malloc(size_t bytes);
ACRE_EXPORT void* acre_general_heap_calloc(size_t count, size_t size);
ACRE_EXPORT void* acre_general_heap_aligned_alloc(size_t alignment, size_t bytes);
// A block that moves is aligned to 16 bytes.
ACRE_EXPORT void* acre_general_heap_realloc(void* p, size_t bytes);
ACRE_EXPORT void acre_general_heap_free(void* p);
// Bytes that the block has for its user, at least as many as were asked for; 0 for null.
ACRE_EXPORT size_t acre_general_heap_usable_size(const void* p);
// True when `p` lies in memory of this heap. Costs a subtraction and a comparison.
ACRE_EXPORT bool acre_general_heap_owns(const void* p);
// Gives free memory but for `keep_bytes` back to the system; returns the bytes.
ACRE_EXPORT size_t acre_general_heap_release_unused(size_t keep_bytes);
#endif

#ifdef __cplusplus
}
#endif

#endif  // ACRE_H
