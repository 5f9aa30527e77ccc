// What can be advised, as one table: a new verdict is an enumerator and a row in verdict.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace acre::tool {

enum class verdict : std::uint8_t {
    reserve,          // the size of a container that grows
    keep_buffer,      // of a container that is made in each turn of a loop
    arena,            // with a reset in the function that owns the lifetimes
    scratch,          // freed youngest first, within a function
    stack_buffer,     // small, and dead before its function returns
    object_pool,      // one size, freed in any order
    multi_pool,       // several sizes, freed in any order
    multi_arena,      // several sizes with about equal lifetimes
    monotonic_arena,  // never freed
    phase_arena,      // freed, but nearly all of it at the end of a phase
    concurrent_object_pool,
    concurrent_multi_pool,
    general_heap,  // any size from any thread: in C, and for the strings of C++
    leave,         // keep malloc
};

inline constexpr std::array all_verdicts{verdict::reserve,
                                         verdict::keep_buffer,
                                         verdict::arena,
                                         verdict::scratch,
                                         verdict::stack_buffer,
                                         verdict::object_pool,
                                         verdict::multi_pool,
                                         verdict::multi_arena,
                                         verdict::monotonic_arena,
                                         verdict::phase_arena,
                                         verdict::concurrent_object_pool,
                                         verdict::concurrent_multi_pool,
                                         verdict::general_heap,
                                         verdict::leave};

/// The options that the advised type takes.
enum class sized_by : std::uint8_t { nothing, first_block, slot, buffer, arenas };

/// When a replay resets the arena: never, each time nothing is live, or only when a free in the owner left nothing
/// live.
enum class reset_point : std::uint8_t { none, when_empty, in_owner };

/// C++ code: the lines that an advice writes are those for the places where its objects are allocated.
struct code_lines {
    const char* begin = "";      // declares the resource; empty: `object` does, for one type
    const char* plain = "";      // for malloc and free
    const char* object = "";     // for a new expression: {type}, {object}
    const char* array = "";      // the same with an array
    const char* unique = "";     // for std::make_unique: {type}, {object}
    const char* shared = "";     // for std::make_shared: {type}, {object}
    const char* container = "";  // {container} for {type}: {object}
    const char* end = "";        // frees all
    const char* resource = "";   // the type of the resource
    const char* variable = "";   // its name
};

struct verdict_traits {
    verdict which = verdict::leave;
    const char* name = "";      // in JSON and on the report's page
    const char* resource = "";  // replayed for it, by its name in `acre replay`
    sized_by size = sized_by::nothing;
    reset_point reset = reset_point::none;
    bool allocates_less = false;     // the program makes fewer allocations, from the same malloc
    bool is_in_plan = true;          // a plan for its sites does what is advised, or nearly
    bool in_owner = false;           // its code goes into the function that owns the lifetimes
    bool one_each_thread = false;    // several threads need one each
    bool shared_by_threads = false;  // several threads use one, and others may free
    bool freed_as_whole = false;     // no object alone
    bool serves_any = false;         // objects of other groups as well
    bool c_frees_any = false;        // its code for C frees what others allocated, too
    bool clearer_by_caller = false;  // telling its callers apart may give clearer verdicts
    verdict for_containers;          // advised instead where a container or std::make_shared allocates
    std::optional<verdict> in_c{};   // advised instead in a C file

    // Which sizes a report shows beside it, as `acre fit` finds them: its own, and all beside `leave`.
    bool fits_multi_arena = false;
    bool fits_arena = false;
    bool fits_pool = false;

    // Texts; names in braces stand for the values of filled() in wording.cpp.
    const char* title = "";
    const char* evidence = "";
    std::array<const char*, 2> cautions{};
    const char* caution_in_cpp = "";       // not in C
    const char* caution_for_threads = "";  // only where several threads allocate
    code_lines code{};
    /// For a C file.
    struct c_lines {
        const char* code = "";
        const char* realloc = "";    // {realloc} in it, where the objects are reallocated
        const char* of_thread = "";  // the type of what each of several threads has
        const char* free = "";       // {free} in it, where a line that frees these frees others, too
    };
    c_lines c{};
    c_lines c_for_threads{};    // where several allocate; empty: the same
    const char* c_calloc = "";  // behind the code, where calloc makes objects
};

const verdict_traits& traits_of(verdict which);

/// What is advised in a C file in place of this verdict.
inline verdict in_c(verdict which) {
    return traits_of(which).in_c.value_or(which);
}

/// Whether its memory is taken back as a whole while the program runs.
inline bool has_reset(verdict which) {
    return which == verdict::arena || which == verdict::phase_arena;
}

inline const char* name_of(verdict which) {
    return traits_of(which).name;
}

}  // namespace acre::tool
