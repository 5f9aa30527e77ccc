#include "fits.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>

#include "advise/advised_events.hpp"
#include "fit/fit.hpp"
#include "fit/fit_check.hpp"
#include "fit/fit_report.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

using nlohmann::json;

constexpr std::size_t max_file_bytes = std::size_t{64} << 20;

/// Also reads pipes, so the size is not known in advance.
std::string content_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    std::string text;
    std::array<char, 65536> part{};
    while (file.read(part.data(), part.size()) || file.gcount() > 0) {
        text.append(part.data(), static_cast<std::size_t>(file.gcount()));
        if (text.size() > max_file_bytes)
            throw tool_error{"'" + path + "' is too large for an output of 'acre fit --json'"};
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

/// Parts may be missing, as acre fit prints only the requested ones.
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

fit_targets targets_of(verdict candidate) {
    const verdict_traits& traits = traits_of(candidate);
    return {.multi_arena = traits.fits_multi_arena, .arena = traits.fits_arena, .pool = traits.fits_pool};
}

bool has_sizes(verdict which) {
    const verdict_traits& traits = traits_of(which);
    return which != verdict::leave && (traits.fits_multi_arena || traits.fits_arena || traits.fits_pool);
}

nlohmann::json found_for(const history& run, const advice& each, const call_paths& paths, const trace_header& header) {
    const std::optional<std::uint32_t> thread = neediest_thread(each, run);
    const event_source source = advised_source(each, run, thread);
    fit_outcome outcome;
    outcome.targets = targets_of(each.candidate);
    const fit_request request{.multi_arena = outcome.targets.multi_arena,
                              .blockers = false,  // the advice names its own
                              .concurrent_multi_arena = false};
    outcome.result = fit(source, request, [&](std::uint32_t stack) { return paths.site(stack); });
    outcome.checks = check_sizes(source, outcome.result, outcome.targets.arena);
    nlohmann::json found = fit_json(outcome, paths, header);
    found["thread"] = thread ? nlohmann::json(*thread) : nullptr;
    return found;
}

/// Whether a fit takes too long for a report.
bool is_too_large(const history& run, const advice& each) {
    const std::uint64_t most =
        each.decision == verdict::leave ? fit_limits::max_events_left : fit_limits::max_events_of_one;
    return run.slots() > fit_limits::max_live || each.figures.events() > most;
}

/// A damaged trace may have impossible sizes; the rest of the report must still be made.
nlohmann::json fit_one(const history& run, const advice& each, const call_paths& paths, const trace_header& header) {
    if (is_too_large(run, each)) {
        return {{"refused", "too many allocations to find sizes for in a report; 'acre fit' finds them"}};
    }
    try {
        return found_for(run, each, paths, header);
    } catch (const tool_error& error) {
        return {{"refused", error.what()}};
    }
}

template <typename Wanted>
std::vector<std::size_t> positions_of(const std::vector<advice>& advices, Wanted wanted) {
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < advices.size(); ++i) {
        if (wanted(advices[i])) positions.push_back(i);
    }
    return positions;
}

}  // namespace

nlohmann::json read_fit(const std::string& path) {
    json fit = json::parse(content_of(path), nullptr, false);
    if (!is_fit(fit)) {
        throw tool_error{"'" + path +
                         "' is not an output of 'acre fit --json': make it with 'acre fit --json TRACE > FILE'"};
    }
    fit.erase("advice");  // its number belongs to another report
    return fit;
}

void require_same_recording(const json& fit, const std::string& path, const trace_header& header) {
    // A name may have bytes that are no UTF-8, which the file has as U+FFFD.
    const auto differs = [&](const char* key, const json& value) {
        const auto text_of = [](const json& each) { return each.dump(-1, ' ', false, json::error_handler_t::replace); };
        return fit.contains(key) && text_of(fit[key]) != text_of(value);
    };
    if (!differs("recorded", header.date) && !differs("command", header.command)) return;
    throw tool_error{"'" + path +
                     "' has the sizes for another recording: make it with 'acre fit --json' from this trace"};
}

std::vector<std::size_t> advices_to_fit(const std::vector<advice>& advices, const fit_limits& limits) {
    std::vector<std::size_t> wanted =
        positions_of(advices, [](const advice& each) { return has_sizes(each.decision); });
    if (wanted.empty()) {
        wanted = positions_of(advices, [](const advice& each) { return has_sizes(each.candidate); });
        if (wanted.empty())
            wanted = positions_of(advices, [](const advice& each) { return each.candidate == verdict::leave; });
        wanted.resize(std::min<std::size_t>(wanted.size(), 1));
    }
    std::vector<std::size_t> taken;
    std::uint64_t events = 0;
    for (const std::size_t position : wanted) {
        events += advices[position].figures.events();
        if (taken.size() == limits.max_fits || (!taken.empty() && events > limits.max_events)) break;
        taken.push_back(position);
    }
    return taken;
}

nlohmann::json fit_advices(const history& run, const std::vector<advice>& advices, const call_paths& paths,
                           const trace_header& header, const fit_limits& limits) {
    nlohmann::json fits = nlohmann::json::array();
    for (const std::size_t position : advices_to_fit(advices, limits)) {
        fits.push_back(fit_one(run, advices[position], paths, header));
        fits.back()["advice"] = position + 1;
    }
    return fits;
}

}  // namespace acre::tool
