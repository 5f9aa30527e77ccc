#include "site_match.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace acre::tool {

namespace {

// Functions with more sites are not aligned.
constexpr std::size_t max_aligned = 500;

// The scores of a pair. More pairs beat better ones: all other scores in a function sum up to less than one_pair.
constexpr std::uint64_t one_pair = std::uint64_t{1} << 32;
constexpr std::uint64_t same_figures = 8;
constexpr std::uint64_t same_size = 6;
constexpr std::uint64_t same_count = 1;
constexpr std::uint64_t same_shift_as_previous = 2;
constexpr std::uint64_t same_position = 1;

double mean_size(const site_position& site) {
    return static_cast<double>(site.bytes) / static_cast<double>(site.allocations);
}

std::uint64_t likeness(const site_position& one, const site_position& other) {
    if (one.allocations == 0 || other.allocations == 0) return 0;
    if (one.allocations == other.allocations) return one.bytes == other.bytes ? same_figures : same_count;
    return mean_size(one) == mean_size(other) ? same_size : 0;
}

/// The sites of a function in one run, in the order of their positions.
using function_sites = std::vector<const site_position*>;

/// Finds the alignment of two sequences with the highest score, by dynamic programming over all pairs. Time and memory:
/// proportional to the product of the lengths.
class alignment {
public:
    alignment(const function_sites& before, const function_sites& after)
        : before_{before}, after_{after}, pairs_(before.size() * after.size()), best_(after.size() + 1, none) {
        for (const site_position* from : before) {
            for (const site_position* to : after) ++shift_counts_[shift(*from, *to)];
        }
    }

    std::vector<site_pair> find() {
        for (std::size_t i = 0; i < before_.size(); ++i) add_row(i);
        std::vector<site_pair> found;
        for (std::size_t at = best_.back(); at != none; at = pairs_[at].previous) found.push_back(site_pair_at(at));
        std::reverse(found.begin(), found.end());
        return found;
    }

private:
    static constexpr std::size_t none = no_site;

    /// A pair, and the best alignment that can precede it.
    struct scored_pair {
        std::uint64_t score = 0;  // including the preceding pairs; 0: not a pair
        std::size_t previous = none;
    };

    /// Wraps modulo 2^64.
    static std::uint64_t shift(const site_position& from, const site_position& to) {
        return to.position - from.position;
    }

    site_pair site_pair_at(std::size_t at) const { return {at / after_.size(), at % after_.size()}; }
    std::uint64_t score(std::size_t at) const { return at == none ? 0 : pairs_[at].score; }

    /// Updates `best_` by a row: best_[n] ends the best alignment of the rows so far with the first n sites after.
    void add_row(std::size_t i) {
        std::size_t before_here = best_[0];
        for (std::size_t j = 0; j < after_.size(); ++j) {
            const std::size_t at = i * after_.size() + j;
            pairs_[at] = scored(i, j, before_here);
            before_here = best_[j + 1];
            if (score(best_[j]) > score(best_[j + 1])) best_[j + 1] = best_[j];
            if (score(at) > score(best_[j + 1])) best_[j + 1] = at;
        }
        for (std::size_t j = 0; j < after_.size(); ++j) {
            const std::size_t at = i * after_.size() + j;
            if (score(at) != 0) last_of_shift_[shift(*before_[i], *after_[j])] = at;
        }
    }

    scored_pair scored(std::size_t i, std::size_t j, std::size_t best_before) const {
        const std::uint64_t own = score_of_pair(*before_[i], *after_[j]);
        if (own == 0) return {};
        scored_pair result{score(best_before) + own, best_before};
        const auto run = last_of_shift_.find(shift(*before_[i], *after_[j]));
        // Sites at the same position may be in the wrong order.
        if (run == last_of_shift_.end() || site_pair_at(run->second).after >= j) return result;
        const std::uint64_t with_run = score(run->second) + own + same_shift_as_previous;
        return with_run > result.score ? scored_pair{with_run, run->second} : result;
    }

    std::uint64_t score_of_pair(const site_position& from, const site_position& to) const {
        const std::uint64_t alike = likeness(from, to);
        const bool stayed = from.position == to.position;
        // The shift of a single pair may be chance.
        const bool plausible = stayed || alike >= same_size || shift_counts_.at(shift(from, to)) > 1;
        return plausible ? one_pair + alike + (stayed ? same_position : 0) : 0;
    }

    const function_sites& before_;
    const function_sites& after_;
    std::unordered_map<std::uint64_t, std::size_t> shift_counts_;
    std::unordered_map<std::uint64_t, std::size_t> last_of_shift_;
    std::vector<scored_pair> pairs_;  // row by row of the sites before
    std::vector<std::size_t> best_;
};

using numbers = std::vector<std::size_t>;

/// The sites of each function and file, in the order of their positions.
std::map<std::pair<std::string, std::string>, numbers> by_function(const std::vector<site_position>& all) {
    std::map<std::pair<std::string, std::string>, numbers> found;
    for (std::size_t i = 0; i < all.size(); ++i) found[{all[i].function, all[i].file}].push_back(i);
    for (auto& [function, sites] : found) {
        std::sort(sites.begin(), sites.end(), [&](std::size_t a, std::size_t b) {
            return std::pair{all[a].position, a} < std::pair{all[b].position, b};
        });
    }
    return found;
}

class matcher {
public:
    matcher(const std::vector<site_position>& before, const std::vector<site_position>& after)
        : before_{before}, after_{after}, partners_(before.size(), no_site), is_matched_(after.size(), false) {}

    std::vector<site_pair> match() {
        const auto candidates = by_function(after_);
        for (const auto& [function, sites] : by_function(before_)) {
            const auto found = candidates.find(function);
            if (found != candidates.end()) match_function(sites, found->second);
        }
        std::vector<site_pair> pairs;
        pairs.reserve(partners_.size());
        for (std::size_t i = 0; i < partners_.size(); ++i) pairs.push_back({i, partners_[i]});
        for (std::size_t i = 0; i < is_matched_.size(); ++i) {
            if (!is_matched_[i]) pairs.push_back({no_site, i});
        }
        return pairs;
    }

private:
    void match_function(const numbers& before, const numbers& after) {
        site_pair from{0, 0};
        for (const site_pair& each : aligned(before, after)) {
            match_between(before, after, from, each);
            pair(before[each.before], after[each.after]);
            from = {each.before + 1, each.after + 1};
        }
        match_between(before, after, from, {before.size(), after.size()});
    }

    std::vector<site_pair> aligned(const numbers& before, const numbers& after) const {
        std::vector<site_pair> same = at_the_same_position(before, after);
        const bool nothing_moved = same.size() == before.size() && same.size() == after.size();
        if (nothing_moved || before.size() > max_aligned || after.size() > max_aligned) return same;
        return alignment{sites_of(before_, before), sites_of(after_, after)}.find();
    }

    std::vector<site_pair> at_the_same_position(const numbers& before, const numbers& after) const {
        std::vector<site_pair> same;
        for (std::size_t i = 0, j = 0; i < before.size() && j < after.size();) {
            const std::uint64_t from = before_[before[i]].position;
            const std::uint64_t to = after_[after[j]].position;
            if (from == to) same.push_back({i, j});
            if (from <= to) ++i;
            if (to <= from) ++j;
        }
        return same;
    }

    static function_sites sites_of(const std::vector<site_position>& all, const numbers& of) {
        function_sites sites;
        for (const std::size_t number : of) sites.push_back(&all[number]);
        return sites;
    }

    /// Pairs the sites between two pairs in order, if there are equally many.
    void match_between(const numbers& before, const numbers& after, site_pair from, site_pair to) {
        if (to.before - from.before != to.after - from.after) return;
        for (; from.before < to.before; ++from.before, ++from.after) pair(before[from.before], after[from.after]);
    }

    void pair(std::size_t before, std::size_t after) {
        partners_[before] = after;
        is_matched_[after] = true;
    }

    const std::vector<site_position>& before_;
    const std::vector<site_position>& after_;
    std::vector<std::size_t> partners_;
    std::vector<bool> is_matched_;
};

}  // namespace

std::vector<site_pair> match_sites(const std::vector<site_position>& before, const std::vector<site_position>& after) {
    return matcher{before, after}.match();
}

}  // namespace acre::tool
