#include "shared_lines.hpp"

#include <algorithm>

#include "thresholds.hpp"

namespace acre::tool {

namespace {

bool is_noticeable(std::uint64_t part, std::uint64_t all) {
    return static_cast<double>(part) > threshold::not_told_apart * static_cast<double>(all);
}

std::uint64_t count_at(const std::map<std::uint32_t, std::uint64_t>& counts, std::uint32_t site) {
    const auto found = counts.find(site);
    return found == counts.end() ? 0 : found->second;
}

}  // namespace

bool line_of_frees::is_shared() const noexcept {
    return is_noticeable(others, objects + others);
}

shared_lines::shared_lines(const history& run, const call_paths& paths)
    : run_{run}, paths_{paths}, by_context_(run.contexts().size()) {
    for (const history::freeing& each : run.freeings()) {
        const two_lines at = lines_of(each.stack);
        by_context_[each.context].push_back(static_cast<std::uint32_t>(lines_.size()));
        lines_.push_back(at);
        inner_[at.inner] += each.objects;
        caller_[at.caller] += each.objects;
    }
    for (const allocation_context& each : run.contexts()) allocated_[each.site] += each.objects;
}

std::uint32_t shared_lines::line_of(std::uint32_t stack) const {
    const std::uint32_t site = paths_.site(stack);
    return paths_.sites()[site].line == 0 ? 0 : site;
}

shared_lines::two_lines shared_lines::lines_of(std::uint32_t stack) const {
    const std::uint32_t inner = line_of(stack);
    std::uint32_t caller = 0;
    while (stack != no_stack && (caller == 0 || caller == inner)) {
        stack = paths_.caller_of(stack);
        caller = stack == no_stack ? 0 : line_of(stack);
    }
    return {inner, caller};
}

std::vector<line_of_frees> shared_lines::frees_of(const context_set& group, bool names_others) const {
    counts inner;
    counts caller;
    std::vector<bool> is_of_group(run_.contexts().size());
    for (const std::uint32_t context : group) {
        is_of_group[context] = true;
        for (const std::uint32_t number : by_context_[context]) {
            inner[lines_[number].inner] += run_.freeings()[number].objects;
            caller[lines_[number].caller] += run_.freeings()[number].objects;
        }
    }
    std::map<std::uint32_t, line_of_frees> found;
    for (const std::uint32_t context : group) {
        for (const std::uint32_t number : by_context_[context]) {
            const two_lines& at = lines_[number];
            if (at.inner == 0) continue;
            const line_of_frees within{at.inner, inner[at.inner], count_at(inner_, at.inner) - inner[at.inner]};
            const line_of_frees around{at.caller, caller[at.caller], count_at(caller_, at.caller) - caller[at.caller]};
            const bool by_caller =
                within.is_shared() && at.caller != 0 && around.share_of_others() < within.share_of_others();
            line_of_frees& line = found[by_caller ? at.caller : at.inner];
            line.site = by_caller ? at.caller : at.inner;
            line.others = by_caller ? around.others : within.others;
            line.objects += run_.freeings()[number].objects;
        }
    }
    std::vector<line_of_frees> lines;
    for (auto& [site, line] : found) {
        if (names_others && line.others != 0) line.other = busiest_other(site, is_of_group);
        lines.push_back(line);
    }
    std::ranges::sort(lines, [](const line_of_frees& a, const line_of_frees& b) {
        return a.objects != b.objects ? a.objects > b.objects : a.site < b.site;
    });
    return lines;
}

std::uint32_t shared_lines::busiest_other(std::uint32_t line, const std::vector<bool>& is_of_group) const {
    counts others;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        const history::freeing& each = run_.freeings()[i];
        const bool is_there = lines_[i].inner == line || lines_[i].caller == line;
        if (!is_there || is_of_group[each.context]) continue;
        others[run_.contexts()[each.context].site] += each.objects;
    }
    const auto busiest = std::ranges::max_element(others, {}, [](const auto& each) { return each.second; });
    return busiest == others.end() ? 0 : busiest->first;
}

std::optional<line_of_frees> shared_lines::allocates_others(const context_set& group) const {
    counts own;
    for (const std::uint32_t context : group) own[run_.contexts()[context].site] += run_.contexts()[context].objects;
    std::uint64_t others = 0;
    std::uint64_t all = 0;
    line_of_frees worst;
    for (const auto& [site, objects] : own) {
        if (paths_.sites()[site].line == 0) continue;
        const line_of_frees each{site, objects, count_at(allocated_, site) - objects};
        others += each.others;
        all += objects + each.others;
        if (each.others > worst.others) worst = each;
    }
    if (!is_noticeable(others, all)) return std::nullopt;
    return worst;
}

bool are_freed_with_others(const std::vector<line_of_frees>& lines) {
    std::uint64_t all = 0;
    std::uint64_t shared = 0;
    for (const line_of_frees& each : lines) {
        all += each.objects;
        if (each.is_shared()) shared += each.objects;
    }
    return is_noticeable(shared, all);
}

}  // namespace acre::tool
