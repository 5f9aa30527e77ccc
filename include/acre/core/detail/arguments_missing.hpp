// Refuses by a sentence a template that is written without its arguments, as in `acre::pool nodes;`. Without these
// deduction guides compilers list each constructor.
//
// Used by acre.hpp, not directly.
#pragma once

#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/referred.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// Clang refuses an unavailable guide in three lines. g++ knows no attributes of guides, and is short about a failed
// static_assert, after which clang lists the constructors.
#define ACRE_ARGUMENTS                                                                                             \
    "acre: write what the template is of: pool<64>, object_pool<Orc>, inline_arena<4096>, typed_arena<Orc, 100>, " \
    "chunk_pool<100, 48>"
namespace acre {

namespace detail {
template <class... Numbers>
struct arguments_missing {
#if !defined(__clang__)
    static_assert(sizeof...(Numbers) == SIZE_MAX, ACRE_ARGUMENTS);
#endif
    using type = int;
    static constexpr std::size_t number = 64;
};
template <class Number>
concept number = std::is_arithmetic_v<Number>;
}  // namespace detail

template <detail::number... Numbers>
ACRE_UNAVAILABLE(ACRE_ARGUMENTS)
pool(Numbers...) -> pool<detail::arguments_missing<Numbers...>::number>;
template <detail::number... Numbers>
ACRE_UNAVAILABLE(ACRE_ARGUMENTS)
object_pool(Numbers...) -> object_pool<typename detail::arguments_missing<Numbers...>::type>;
template <detail::number... Numbers>
ACRE_UNAVAILABLE(ACRE_ARGUMENTS)
concurrent_pool(Numbers...) -> concurrent_pool<detail::arguments_missing<Numbers...>::number>;
template <detail::number... Numbers>
ACRE_UNAVAILABLE(ACRE_ARGUMENTS)
concurrent_object_pool(Numbers...) -> concurrent_object_pool<typename detail::arguments_missing<Numbers...>::type>;
template <detail::number... Numbers>
ACRE_UNAVAILABLE(ACRE_ARGUMENTS)
inline_arena(Numbers...) -> inline_arena<detail::arguments_missing<Numbers...>::number>;
template <detail::number... Numbers>
ACRE_UNAVAILABLE(ACRE_ARGUMENTS)
typed_arena(Numbers...) -> typed_arena<int, detail::arguments_missing<Numbers...>::number>;
template <detail::number... Numbers>
ACRE_UNAVAILABLE(ACRE_ARGUMENTS)
chunk_pool(Numbers...) -> chunk_pool<detail::arguments_missing<Numbers...>::number, 64>;
template <detail::number... Numbers>
ACRE_UNAVAILABLE(ACRE_ARGUMENTS)
static_pool(Numbers...) -> static_pool<detail::arguments_missing<Numbers...>::number>;

}  // namespace acre

#undef ACRE_ARGUMENTS
