// acre's names as the build chooses: in namespace acre::by_build, arena, pool and the other resources are the plain
// ones, or with ACRE_CHECKED the checked ones. A program that is written with these names is checked without a change
// to it.
//
// Use it as `namespace memory = acre::by_build;`, and link the CMake target acre::checked, or set the CMake option
// ACRE_CHECKED, or define the macro for every source file of the program. Everything else in namespace acre is found by
// the same name: memory::make_unique, memory::allocator. Include the resources' own headers as
// usual.
//
// The names of namespace acre itself never change. So acre's own types are the same in every translation unit, and a
// function of yours with a resource in its signature does not link with a caller that was compiled otherwise. A class
// of yours with a resource in it would differ between the two silently: therefore a program in which some units that
// include this header have the macro and others have not ends at its start, with a sentence.
//
// With ACRE_CHECKED there are no by_build names for what takes storage from one certain resource: cursor,
// thread_scratch, static_pool, pooled, the drop-ins for pools of std::pmr. They stay plain, and a cursor or a
// thread_scratch of a checked arena does not compile.
//
// Cost: a static initialiser of a few instructions for each source file. With ACRE_CHECKED that of acre::checked.
//
//     namespace memory = acre::by_build;
//     memory::arena level;
//     Orc* orc = level.create<Orc>("URG");
//     { memory::scratch temp{level}; std::span<Step> steps = temp.allocate<Step>(n); }
#pragma once

#if defined(ACRE_CHECKED)
#include <acre/observe/checked.hpp>
#include <acre/observe/checked_scratch.hpp>
#endif
#include <acre/core/detail/target.hpp>
#include <acre/core/error.hpp>
#include <acre/fwd.hpp>
#include <acre/observe/checked_ptr.hpp>
#include <cstddef>

namespace acre {

namespace detail {

// How the translation units of the program were compiled: 1 without the macro, 2 with it, 3 both.
inline constinit unsigned char kinds_of_units = 0;

inline bool note_kind_of_unit(unsigned char kind) noexcept {
    kinds_of_units = static_cast<unsigned char>(kinds_of_units | kind);
    if (kinds_of_units == 3) {
        abort_with(
            "acre::by_build: some source files of this program were compiled with ACRE_CHECKED and others without it: "
            "define it for all of them, for example by the CMake target acre::checked",
            nullptr);
    }
    return true;
}

}  // namespace detail

namespace by_build {

using namespace acre;

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wglobal-constructors"  // each unit says its kind before main
#endif
#if defined(ACRE_CHECKED)
[[maybe_unused]] static const bool unit_is_noted = detail::note_kind_of_unit(2);
/// True when the names here are those of checked resources.
static constexpr bool is_checked = true;

using arena = checked<acre::arena>;
using scratch = checked_scratch<acre::arena>;
template <std::size_t Bytes>
using inline_arena = checked<acre::inline_arena<Bytes>>;
template <class T, std::size_t N, typed_arena_options Options = typed_arena_options{}, class Fallback = heap>
using typed_arena = checked<acre::typed_arena<T, N, Options, Fallback>>;
using multi_arena = checked<acre::multi_arena>;
template <std::size_t Arenas, std::size_t Bytes, std::size_t Open = 0, large_requests Large = large_requests{}>
using inline_multi_arena = checked<acre::inline_multi_arena<Arenas, Bytes, Open, Large>>;
template <class T, class R = arena>
using arena_vector = acre::arena_vector<T, R>;
using arena_string = basic_arena_string<arena>;

// Checked resources notice a double free at once in any case.
template <std::size_t Slot, std::size_t Align = natural_alignment(Slot), double_free_check = double_free_check{}>
using pool = checked<acre::pool<Slot, Align>>;
template <class T, double_free_check = double_free_check{}>
using object_pool = checked<acre::object_pool<T>>;
template <class Classes, double_free_check = double_free_check{}>
using basic_multi_pool = checked<acre::basic_multi_pool<Classes>>;
using multi_pool = basic_multi_pool<default_size_classes>;
template <std::size_t Slot, std::size_t Align = natural_alignment(Slot)>
using hardened_pool = checked<acre::hardened_pool<Slot, Align>>;
template <class T>
using hardened_object_pool = checked<acre::hardened_object_pool<T>>;
template <class Classes>
using basic_hardened_multi_pool = checked<acre::basic_hardened_multi_pool<Classes>>;
using hardened_multi_pool = basic_hardened_multi_pool<default_size_classes>;
template <std::size_t N, auto... Sizes>
using chunk_pool = checked<acre::chunk_pool<N, Sizes...>>;

#if ACRE_HAS_THREADS
using concurrent_arena = checked<acre::concurrent_arena>;
using concurrent_multi_arena = checked<acre::concurrent_multi_arena>;
template <std::size_t Arenas, std::size_t Bytes>
using inline_concurrent_multi_arena = checked<acre::inline_concurrent_multi_arena<Arenas, Bytes>>;
template <std::size_t Slot, std::size_t Align = natural_alignment(Slot), double_free_check = double_free_check{}>
using concurrent_pool = checked<acre::concurrent_pool<Slot, Align>>;
template <class T, double_free_check = double_free_check{}>
using concurrent_object_pool = checked<acre::concurrent_object_pool<T>>;
template <class Classes, double_free_check = double_free_check{}>
using basic_concurrent_multi_pool = checked<acre::basic_concurrent_multi_pool<Classes>>;
using concurrent_multi_pool = basic_concurrent_multi_pool<default_size_classes>;
template <std::size_t Slot, std::size_t Align = natural_alignment(Slot)>
using wait_free_pool = checked<acre::wait_free_pool<Slot, Align>>;
template <class T>
using wait_free_object_pool = checked<acre::wait_free_object_pool<T>>;
#endif
#else
[[maybe_unused]] static const bool unit_is_noted = detail::note_kind_of_unit(1);
/// True when the names here are those of checked resources.
static constexpr bool is_checked = false;
#endif
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace by_build

}  // namespace acre
