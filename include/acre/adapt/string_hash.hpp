// std::hash for strings over acre::allocator, so that they are keys of std::unordered_map and std::unordered_set.
//
// Not every standard library hashes strings with an allocator that is not its own. Included by acre.hpp and by
// acre/adapt/containers.hpp; include it beside acre/adapt/allocator.hpp alone. The code of a text is that of its
// std::string_view. Strings of char, wchar_t, char8_t, char16_t and char32_t have it, with their std::char_traits.
//
// A look-up in such a container takes a key, so a string is made for each one of another type. Those of
// acre::containers_in find keys by any text.
//
// Cost: that of the hash of a std::string, whose code the containers keep beside each key where the standard library
// does so for a std::string. Thread rules: none, a hash has no state.
//
//     #include <unordered_set>
//     acre::multi_pool nodes;
//     using text = std::basic_string<char, std::char_traits<char>, acre::allocator<char, acre::multi_pool>>;
//     std::unordered_set<text> names;  // or with an acre::allocator<text, acre::multi_pool>
//     names.insert(text{"Ugluk", nodes});
#pragma once

#include <acre/adapt/allocator.hpp>
#include <acre/core/resource.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace acre::detail {

template <class Character, resource R>
using string_in = std::basic_string<Character, std::char_traits<Character>, allocator<Character, R>>;

template <class Character, resource R>
struct string_hash {
    // Not noexcept, as that of acre::containers_in: libstdc++ would keep no codes.
    std::size_t operator()(const string_in<Character, R>& text) const {
        return std::hash<std::basic_string_view<Character>>{}(text);
    }
};

}  // namespace acre::detail

// One for each character: one for all would be ambiguous where a standard library has its own for all allocators.
// A specialisation for a type of the program, which clang-tidy does not see inside of a std::basic_string.
// NOLINTBEGIN(cert-dcl58-cpp)
/// The code of a string over acre::allocator: that of its view.
template <acre::resource R>
struct std::hash<acre::detail::string_in<char, R>> : acre::detail::string_hash<char, R> {};
template <acre::resource R>
struct std::hash<acre::detail::string_in<wchar_t, R>> : acre::detail::string_hash<wchar_t, R> {};
#ifdef __cpp_char8_t
template <acre::resource R>
struct std::hash<acre::detail::string_in<char8_t, R>> : acre::detail::string_hash<char8_t, R> {};
#endif
template <acre::resource R>
struct std::hash<acre::detail::string_in<char16_t, R>> : acre::detail::string_hash<char16_t, R> {};
template <acre::resource R>
struct std::hash<acre::detail::string_in<char32_t, R>> : acre::detail::string_hash<char32_t, R> {};
// NOLINTEND(cert-dcl58-cpp)
