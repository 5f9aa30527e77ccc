// The allocation functions that the program would call if it were not recorded: those of glibc, or of an allocator that
// the program is linked with or that is preloaded, as jemalloc. The hooks call them, so each program keeps its own
// heap.
#pragma once

#include <cstddef>
#include <cstdint>

namespace acre::recorder {

/// Functions of one heap, or of several if the program itself mixes them. Before the first call they are functions that
/// look up all of them.
struct allocator_family {
    void* (*malloc)(std::size_t);
    void* (*calloc)(std::size_t, std::size_t);
    void* (*realloc)(void*, std::size_t);
    void (*free)(void*);
    void* (*memalign)(std::size_t, std::size_t);
    void* (*aligned_alloc)(std::size_t, std::size_t);
    int (*posix_memalign)(void**, std::size_t, std::size_t);
    void* (*valloc)(std::size_t);
    void* (*pvalloc)(std::size_t);

    // As malloc and memalign, for operator new: they return null where the operator is to call its next definition.
    void* (*new_plain)(std::size_t);
    void* (*new_aligned)(std::size_t, std::size_t);

    // Null where nothing defines them.
    void* (*reallocarray)(void*, std::size_t, std::size_t) = nullptr;
    void (*free_sized)(void*, std::size_t) = nullptr;
    void (*free_aligned_sized)(void*, std::size_t, std::size_t) = nullptr;
    void* (*mallocx)(std::size_t, int) = nullptr;
    void* (*rallocx)(void*, std::size_t, int) = nullptr;
    std::size_t (*xallocx)(void*, std::size_t, std::size_t, int) = nullptr;
    std::size_t (*sallocx)(const void*, int) = nullptr;
    void (*dallocx)(void*, int) = nullptr;
    void (*sdallocx)(void*, std::size_t, int) = nullptr;
};
extern constinit allocator_family family [[gnu::visibility("hidden")]];

/// The forms of operator new and delete.
enum class operator_form : std::uint8_t {
    new_single,
    new_array,
    new_nothrow,
    new_array_nothrow,
    new_aligned,
    new_array_aligned,
    new_aligned_nothrow,
    new_array_aligned_nothrow,
    delete_single,
    delete_array,
    delete_sized,
    delete_array_sized,
    delete_nothrow,
    delete_array_nothrow,
    delete_aligned,
    delete_array_aligned,
    delete_sized_aligned,
    delete_array_sized_aligned,
    delete_aligned_nothrow,
    delete_array_aligned_nothrow,
    end
};

/// What a hook of an operator does.
enum class operator_use : std::uint8_t {
    unknown,      // before the first call
    as_malloc,    // calls malloc or free at once: the C++ library's operators would do no more
    forwarded,    // calls the next definition, and records that as one event
    not_followed  // calls the next definition: the program has operators or a malloc in front of the recorder
};
extern constinit operator_use operators_are [[gnu::visibility("hidden")]];

/// The next definition of a form, after this library; null if there is none.
void* next_operator(operator_form form);

/// A form's name among the symbols.
const char* name_of_operator(operator_form form);

/// Looks up the family and the operators, unless that has been done.
void find_allocator_family();

/// Whether the program itself contains its malloc, which no preloaded library can stand in front of.
bool program_has_own_malloc();

/// Whether malloc is that of the C library.
extern constinit bool malloc_is_the_c_librarys [[gnu::visibility("hidden")]];

/// The file that malloc is in; empty in a static program.
const char* path_of_allocator();

/// The definition of a function in the library of a hook's caller, or in one that it is linked with; null: none. It is
/// what a library would call that was loaded into a scope of its own, if the recorder's definition did not hide it.
/// `return_address` is in the caller.
void* definition_for_caller(std::uintptr_t return_address, const char* name);

/// No dynamic loader has loaded this program.
bool is_static_program();

}  // namespace acre::recorder
