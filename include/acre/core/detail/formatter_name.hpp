// The name of std::formatter, which is enough to specialise it. <format> takes a compiler longer than all of an arena.
#pragma once

#include <cstddef>

// NOLINTBEGIN(cert-dcl58-cpp): declares what the standard has.
#if defined(_LIBCPP_BEGIN_NAMESPACE_STD)
_LIBCPP_BEGIN_NAMESPACE_STD
template <class T, class Character>
struct formatter;
_LIBCPP_END_NAMESPACE_STD
#else
namespace std {
#if defined(_GLIBCXX_BEGIN_NAMESPACE_VERSION)
_GLIBCXX_BEGIN_NAMESPACE_VERSION
#endif
template <class T, class Character>
struct formatter;
#if defined(_GLIBCXX_BEGIN_NAMESPACE_VERSION)
_GLIBCXX_END_NAMESPACE_VERSION
#endif
}  // namespace std
#endif
// NOLINTEND(cert-dcl58-cpp)
