#include "site_alignment.hpp"

#include <algorithm>
#include <unordered_map>

namespace acre::tool {

namespace {

// What speaks for a pair. More pairs come before better ones: whatever speaks for all pairs of a function together is
// less than one pair.
constexpr std::uint64_t one_pair = std::uint64_t{1} << 32;
constexpr std::uint64_t same_figures = 8;
constexpr std::uint64_t same_size = 6;
constexpr std::uint64_t same_count = 1;
constexpr std::uint64_t same_shift_as_before_it = 2;
constexpr std::uint64_t same_place = 1;

double mean_size(const site_place& site) {
    return static_cast<double>(site.bytes) / static_cast<double>(site.allocations);
}

std::uint64_t likeness(const site_place& one, const site_place& other) {
    if (one.allocations == 0 || other.allocations == 0) return 0;
    if (one.allocations == other.allocations) return one.bytes == other.bytes ? same_figures : same_count;
    return mean_size(one) == mean_size(other) ? same_size : 0;
}

/// The alignment of two sequences for which most speaks, by dynamic programming over all pairs.
class alignment {
public:
    alignment(const function_sites& before, const function_sites& after)
        : before_{before}, after_{after}, pairs_(before.size() * after.size()), best_(after.size() + 1, none) {
        for (const site_place* from : before) {
            for (const site_place* to : after) ++shift_counts_[shift(*from, *to)];
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

    /// A pair and the best that can come before it.
    struct scored_pair {
        std::uint64_t score = 0;  // of all of that; 0: nothing speaks for the pair
        std::size_t previous = none;
    };

    /// Modulo 2^64.
    static std::uint64_t shift(const site_place& from, const site_place& to) { return to.where - from.where; }

    site_pair site_pair_at(std::size_t at) const { return {at / after_.size(), at % after_.size()}; }
    std::uint64_t score(std::size_t at) const { return at == none ? 0 : pairs_[at].score; }

    /// `best_` goes from the best alignments of the rows before, by how many sites after they have, to those with this
    /// row.
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
        const std::uint64_t own = what_speaks_for(*before_[i], *after_[j]);
        if (own == 0) return {};
        scored_pair result{score(best_before) + own, best_before};
        const auto run = last_of_shift_.find(shift(*before_[i], *after_[j]));
        // Of sites at the same place one may stand in the way.
        if (run == last_of_shift_.end() || site_pair_at(run->second).after >= j) return result;
        const std::uint64_t carried_on = score(run->second) + own + same_shift_as_before_it;
        return carried_on > result.score ? scored_pair{carried_on, run->second} : result;
    }

    std::uint64_t what_speaks_for(const site_place& from, const site_place& to) const {
        const std::uint64_t alike = likeness(from, to);
        const bool stayed = from.where == to.where;
        // A shift of one pair alone may be chance.
        const bool founded = stayed || alike >= same_size || shift_counts_.at(shift(from, to)) > 1;
        return founded ? one_pair + alike + (stayed ? same_place : 0) : 0;
    }

    const function_sites& before_;
    const function_sites& after_;
    std::unordered_map<std::uint64_t, std::size_t> shift_counts_;
    std::unordered_map<std::uint64_t, std::size_t> last_of_shift_;
    std::vector<scored_pair> pairs_;  // row by row of the sites before
    std::vector<std::size_t> best_;
};

}  // namespace

std::vector<site_pair> align_sites(const function_sites& before, const function_sites& after) {
    return alignment{before, after}.find();
}

}  // namespace acre::tool
