// nlohmann::json in memory of acre's: objects, arrays, strings, keys and binaries.
//
// acre::arena_json lies in this thread's arena: the fastest, for documents that die together with a request. A document
// is made and changed in a scope, acre::use_arena. While the arena holds it, a const one is read anywhere by what
// allocates nothing: not by dump, operator<< and [] of a document that is not const. Its destructor does nothing and
// may run after the arena's reset, which frees the document (nlohmann::json 3.10 or newer). acre::parse_json(arena,
// text) places the document itself in the arena, too. acre::pooled_json lies in the program's pools: for documents that
// outlive scopes or move between threads. acre::json_in<R> lies in any resource without state; json_in<acre::ambient>
// is the slowest of them.
//
// The interface is nlohmann::json's. Its strings are not std::string, but standard strings serve as keys and values,
// and both compare: get<std::string>() copies, and get_ref<const acre::arena_json::string_t&>() does not. Functions
// to_json and from_json of your types are found when they take any basic_json: template <class Json> void to_json(Json&
// j, const point& p). nlohmann's readers of binary formats, such as from_cbor, compile for std::string only.
// nlohmann::json takes a stack from operator new while it destroys a document of another resource.
//
// Cost: that of the resource. Thread rules: nlohmann::json's, and those of the resource.
//
//     acre::arena request;
//     const acre::arena_json& order = acre::parse_json(request, text);
//     std::string who = order["customer"];
#pragma once

#include <acre/adapt/allocator.hpp>
#include <acre/adapt/ambient_arena.hpp>
#include <acre/adapt/program_pools.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/core/resource_ref.hpp>
#include <compare>
#include <cstdint>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace acre {

/// Strings in memory of acre's compare with standard ones, so that these serve as keys: document[name].
template <class C, class Traits, stateless_resource R>
constexpr bool operator==(const std::basic_string<C, Traits, allocator<C, R>>& a,
                          const std::basic_string<C, Traits>& b) noexcept {
    const std::basic_string_view<C, Traits> left = a, right = b;
    return left == right;
}
template <class C, class Traits, stateless_resource R>
constexpr auto operator<=>(const std::basic_string<C, Traits, allocator<C, R>>& a,
                           const std::basic_string<C, Traits>& b) noexcept {
    const std::basic_string_view<C, Traits> left = a, right = b;
    return left <=> right;
}

namespace detail {

/// basic_json takes a template of one argument.
template <stateless_resource R>
struct json_memory {
    template <class T>
    using allocator_type = allocator<T, R>;
};

/// nlohmann::json's own conversions, and those from and to std::string, which is not the documents' own string.
template <class T, class Condition = void>
struct json_serializer : nlohmann::adl_serializer<T, Condition> {};

template <>
struct json_serializer<std::string> {
    template <class Json>
    static void from_json(const Json& from, std::string& to) {
        const auto& text = from.template get_ref<const typename Json::string_t&>();
        to.assign(text.data(), text.size());
    }
    template <class Json>
    static void to_json(Json& to, const std::string& from) {
        to = typename Json::string_t(from.data(), from.size());
    }
};

}  // namespace detail

/// nlohmann::json in the memory of R.
template <stateless_resource R>
using json_in =
    nlohmann::basic_json<std::map, std::vector, std::basic_string<char, std::char_traits<char>, allocator<char, R>>,
                         bool, std::int64_t, std::uint64_t, double, detail::json_memory<R>::template allocator_type,
                         detail::json_serializer, std::vector<std::uint8_t, allocator<std::uint8_t, R>>>;

/// In the arena of the scope, acre::use_arena.
using arena_json = json_in<ambient_arena>;
/// In the pools of the program.
using pooled_json = json_in<program_pools>;

}  // namespace acre

#if NLOHMANN_JSON_VERSION_MAJOR == 3 && NLOHMANN_JSON_VERSION_MINOR >= 10
/// Destroying an acre::arena_json does nothing: all that it holds lies in arenas, whose reset frees it. nlohmann's own
/// destroy visits each value of the document, and takes a stack from operator new for that. An explicit specialisation
/// may name a private member. Versions 3.10 to 3.12 declare it so; with others the documents are destroyed by nlohmann.
template <>
inline void acre::arena_json::json_value::destroy(value_t) {}
#endif

namespace acre {

/// A string of a document compares with a text, also outside of scopes: nlohmann makes a document of the text before.
inline bool operator==(const arena_json& a, std::string_view text) noexcept {
    const auto* held = a.get_ptr<const arena_json::string_t*>();
    return held != nullptr && std::string_view(*held) == text;
}
inline bool operator==(const arena_json& a, const char* text) noexcept {
    return a == std::string_view(text);
}
inline bool operator==(const arena_json& a, const std::string& text) noexcept {
    return a == std::string_view(text);
}
inline bool operator==(const arena_json& a, const arena_json::string_t& text) noexcept {
    return a == std::string_view(text);
}

/// The document that `text` says, in `memory` until that is reset; its destructor does not run, and nothing needs it
/// to. Throws as nlohmann::json::parse, whose further arguments follow, and as the arena does.
template <class Text, class... Arguments>
arena_json& parse_json(arena& memory, Text&& text, Arguments&&... arguments) {
    const use_arena use{memory};
    void* place = memory.allocate(sizeof(arena_json), alignof(arena_json));
    return *::new (place)
        arena_json(arena_json::parse(std::forward<Text>(text), std::forward<Arguments>(arguments)...));
}

}  // namespace acre
