#include "site_match.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "site_alignment.hpp"

namespace acre::tool {

namespace {

// Functions of so many sites are aligned, at most.
constexpr std::size_t max_aligned = 500;

using numbers = std::vector<std::size_t>;

/// The sites of each function and file, in the order of their places.
std::map<std::pair<std::string, std::string>, numbers> by_function(const std::vector<site_place>& places) {
    std::map<std::pair<std::string, std::string>, numbers> found;
    for (std::size_t i = 0; i < places.size(); ++i) found[{places[i].function, places[i].file}].push_back(i);
    for (auto& [function, sites] : found) {
        std::sort(sites.begin(), sites.end(), [&](std::size_t a, std::size_t b) {
            return std::pair{places[a].where, a} < std::pair{places[b].where, b};
        });
    }
    return found;
}

class matcher {
public:
    matcher(const std::vector<site_place>& before, const std::vector<site_place>& after)
        : before_{before}, after_{after}, partners_(before.size(), no_site), is_matched_(after.size(), false) {}

    std::vector<site_pair> match() {
        const auto candidates = by_function(after_);
        for (const auto& [function, sites] : by_function(before_)) {
            const auto found = candidates.find(function);
            if (found != candidates.end()) match_function(sites, found->second);
        }
        std::vector<site_pair> pairs;
        for (std::size_t i = 0; i < partners_.size(); ++i) pairs.push_back({i, partners_[i]});
        for (std::size_t i = 0; i < is_matched_.size(); ++i) {
            if (!is_matched_[i]) pairs.push_back({no_site, i});
        }
        return pairs;
    }

private:
    void match_function(const numbers& before, const numbers& after) {
        site_pair from{0, 0};
        for (const site_pair& each : found_again(before, after)) {
            match_between(before, after, from, each);
            pair(before[each.before], after[each.after]);
            from = {each.before + 1, each.after + 1};
        }
        match_between(before, after, from, {before.size(), after.size()});
    }

    std::vector<site_pair> found_again(const numbers& before, const numbers& after) const {
        std::vector<site_pair> same = at_the_same_place(before, after);
        const bool nothing_moved = same.size() == before.size() && same.size() == after.size();
        if (nothing_moved || before.size() > max_aligned || after.size() > max_aligned) return same;
        return align_sites(sites_of(before_, before), sites_of(after_, after));
    }

    std::vector<site_pair> at_the_same_place(const numbers& before, const numbers& after) const {
        std::vector<site_pair> same;
        for (std::size_t i = 0, j = 0; i < before.size() && j < after.size();) {
            const std::uint64_t from = before_[before[i]].where;
            const std::uint64_t to = after_[after[j]].where;
            if (from == to) same.push_back({i, j});
            if (from <= to) ++i;
            if (to <= from) ++j;
        }
        return same;
    }

    static function_sites sites_of(const std::vector<site_place>& places, const numbers& of) {
        function_sites sites;
        for (const std::size_t number : of) sites.push_back(&places[number]);
        return sites;
    }

    /// What is left between two pairs.
    void match_between(const numbers& before, const numbers& after, site_pair from, site_pair to) {
        if (to.before - from.before != to.after - from.after) return;
        for (; from.before < to.before; ++from.before, ++from.after) pair(before[from.before], after[from.after]);
    }

    void pair(std::size_t before, std::size_t after) {
        partners_[before] = after;
        is_matched_[after] = true;
    }

    const std::vector<site_place>& before_;
    const std::vector<site_place>& after_;
    std::vector<std::size_t> partners_;
    std::vector<bool> is_matched_;
};

}  // namespace

std::vector<site_pair> match_sites(const std::vector<site_place>& before, const std::vector<site_place>& after) {
    return matcher{before, after}.match();
}

}  // namespace acre::tool
