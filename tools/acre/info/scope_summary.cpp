#include "scope_summary.hpp"

#include <algorithm>

#include "text/text.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t key_of(std::uint32_t thread, std::uint32_t name) {
    return std::uint64_t{thread} << 32 | name;
}

}  // namespace

scope_summariser::scope_summariser(const trace_tables& tables) : scopes_(tables.scope_names.size()) {
    for (std::uint32_t i = 0; i < scopes_.size(); ++i) {
        scopes_[i].name = printable(tables.scope_names[i]);
        scopes_[i].number = i;
    }
}

/// The innermost open run that an object of its thread belongs to: what a run within allocated is handed on to it.
scope_summariser::run* scope_summariser::run_of(std::vector<run>& open, std::uint64_t object) {
    const auto behind = std::upper_bound(open.begin(), open.end(), object, [](std::uint64_t number, const run& each) {
        return number < each.first_object;
    });
    return behind == open.begin() ? nullptr : &*(behind - 1);
}

void scope_summariser::add(const event& e) {
    if (e.allocates) {
        objects_ = e.object + 1;
        const auto open = open_.find(e.thread);
        if (open == open_.end()) return;
        run& innermost = open->second.back();
        innermost.allocated.add(e.size);
        innermost.live.add(e.size);
        live_.insert(e.object, {e.size, e.thread});
        return;
    }
    live_object gone;
    if (!live_.take(e.object, gone)) return;
    const auto open = open_.find(gone.thread);
    if (open == open_.end()) return;
    if (run* of = run_of(open->second, e.object); of != nullptr) of->live.remove(gone.size);
}

void scope_summariser::add(const mark& m) {
    if (m.kind == mark_kind::scope_begin) begin(m);
    if (m.kind == mark_kind::scope_end) end(m.thread);
}

void scope_summariser::begin(const mark& m) {
    const std::uint64_t key = key_of(m.thread, m.name);
    scope_summary& scope = scopes_[m.name];
    ++scope.runs;
    if (threads_.insert(key).second) ++scope.threads;
    open_[m.thread].emplace_back(m.name, objects_, open_names_[key]++ == 0);
}

void scope_summariser::end(std::uint32_t thread) {
    const auto open = open_.find(thread);
    if (open == open_.end()) return;
    const run ended = open->second.back();
    open->second.pop_back();
    scope_summary& scope = scopes_[ended.name];
    scope.bytes.add(ended.allocated.bytes);
    if (ended.is_outermost) {
        scope.allocated.add(ended.allocated);
        scope.left.add(ended.live);
    }
    if (ended.live.count != 0) ++scope.runs_leaving;
    if (const auto name = open_names_.find(key_of(thread, ended.name)); --name->second == 0) open_names_.erase(name);
    if (open->second.empty()) {
        open_.erase(open);
    } else {
        open->second.back().allocated.add(ended.allocated);
        open->second.back().live.add(ended.live);
    }
}

std::vector<scope_summary> scope_summariser::finish() {
    while (!open_.empty()) end(open_.begin()->first);
    std::erase_if(scopes_, [](const scope_summary& scope) { return scope.runs == 0; });
    std::sort(scopes_.begin(), scopes_.end(), [](const scope_summary& a, const scope_summary& b) {
        return a.allocated.bytes != b.allocated.bytes ? a.allocated.bytes > b.allocated.bytes : a.number < b.number;
    });
    return std::move(scopes_);
}

}  // namespace acre::tool
