#include "fit_file.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "trace/error.hpp"

namespace acre::tool {

namespace {

using nlohmann::json;

constexpr std::size_t most_bytes = std::size_t{64} << 20;

/// A pipe will do, so its size is not known before.
std::string content_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    std::string text;
    std::array<char, 65536> part{};
    while (file.read(part.data(), part.size()) || file.gcount() > 0) {
        text.append(part.data(), static_cast<std::size_t>(file.gcount()));
        if (text.size() > most_bytes) throw tool_error{"'" + path + "' is too large for what 'acre fit --json' prints"};
    }
    if (!file.eof()) throw tool_error{"cannot read '" + path + "'"};
    return text;
}

bool has_figures(const json& object, std::initializer_list<const char*> keys) {
    return object.is_object() && std::all_of(keys.begin(), keys.end(), [&](const char* key) {
               return object.contains(key) && object[key].is_number_unsigned();
           });
}

bool are_pairs(const json& list) {
    return list.is_array() && std::all_of(list.begin(), list.end(), [](const json& each) {
               return has_figures(each, {"arenas", "bytes", "total_bytes"}) && each["arenas"] != 0;
           });
}

bool is_text(const json& object, const char* key) {
    return object.contains(key) && object[key].is_string();
}

/// A part may be missing, as acre fit tells only what was asked for.
template <typename Check>
bool is_absent_or(const json& object, const char* key, Check check) {
    return !object.contains(key) || check(object[key]);
}

bool is_check(const json& check) {
    return check.is_null() || (check.is_object() && is_text(check, "failure") && check.contains("suffices") &&
                               check["suffices"].is_boolean() && check.contains("one_less_fails") &&
                               (check["one_less_fails"].is_null() || check["one_less_fails"].is_boolean()));
}

bool is_front(const json& front) {
    return front.is_object() && is_absent_or(front, "check", is_check) && front.contains("pairs") &&
           are_pairs(front["pairs"]) && front.contains("least") &&
           (front["least"].is_null() || are_pairs(json::array({front["least"]}))) && is_text(front, "impossible") &&
           is_text(front, "code");
}

bool are_slots(const json& slots) {
    return slots.is_object() && slots.contains("sizes") && slots["sizes"].is_array() &&
           std::all_of(slots["sizes"].begin(), slots["sizes"].end(), [](const json& each) {
               return has_figures(each, {"bytes", "allocations", "slots", "pool_bytes", "typed_arena_bytes"});
           });
}

bool is_arena(const json& arena) {
    return has_figures(arena, {"first_block_bytes"}) && is_absent_or(arena, "check", is_check) &&
           is_absent_or(arena, "bytes_without_reset", [](const json& each) { return each.is_number_unsigned(); }) &&
           is_absent_or(arena, "generations", [](const json& each) {
               return has_figures(each, {"count", "p50_bytes", "p99_bytes", "max_bytes"});
           });
}

bool is_fit(const json& fit) {
    return has_figures(fit, {"allocations", "peak_bytes"}) && is_text(fit, "selected") &&
           is_absent_or(fit, "multi_arena", is_front) && is_absent_or(fit, "concurrent_multi_arena", is_front) &&
           is_absent_or(fit, "slots", are_slots) && is_absent_or(fit, "arena", is_arena);
}

}  // namespace

nlohmann::json read_fit(const std::string& path) {
    json fit = json::parse(content_of(path), nullptr, false);
    if (!is_fit(fit)) {
        throw tool_error{"'" + path +
                         "' is not what 'acre fit --json' prints: make it with 'acre fit --json TRACE > FILE'"};
    }
    fit.erase("advice");  // it is about none of the report
    return fit;
}

}  // namespace acre::tool
