#include "site_match.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

namespace acre::tool {

namespace {

// Distances between so many sites of one function are looked at, at most.
constexpr std::size_t most_moved = 500;

/// The sites that are still to be matched, in the order of their places.
class open_sites {
public:
    explicit open_sites(const std::vector<site_place>& places) : places_{places}, numbers_(places.size()) {
        std::iota(numbers_.begin(), numbers_.end(), std::size_t{0});
        std::sort(numbers_.begin(), numbers_.end(),
                  [&](std::size_t a, std::size_t b) { return places_[a] < places_[b]; });
    }

    const std::vector<std::size_t>& numbers() const noexcept { return numbers_; }
    const site_place& place(std::size_t number) const { return places_[number]; }

    /// Takes out all for which `is_matched(number)`.
    template <typename Is>
    void erase_if(Is&& is_matched) {
        std::erase_if(numbers_, is_matched);
    }

    /// By function and file.
    std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> functions() const {
        std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> found;
        for (const std::size_t number : numbers_) {
            found[{places_[number].function, places_[number].file}].push_back(number);
        }
        return found;
    }

private:
    const std::vector<site_place>& places_;
    std::vector<std::size_t> numbers_;
};

class matcher {
public:
    matcher(const std::vector<site_place>& before, const std::vector<site_place>& after)
        : before_{before},
          after_{after},
          partner_of_before_(before.size(), no_site),
          partner_of_after_(after.size(), no_site) {}

    std::vector<site_pair> match() {
        match_equal();
        match_moved();
        std::vector<site_pair> pairs;
        for (std::size_t i = 0; i < partner_of_before_.size(); ++i) pairs.push_back({i, partner_of_before_[i]});
        for (const std::size_t number : after_.numbers()) pairs.push_back({no_site, number});
        return pairs;
    }

private:
    void pair(std::size_t before, std::size_t after) {
        partner_of_before_[before] = after;
        partner_of_after_[after] = before;
    }

    void forget_matched() {
        before_.erase_if([&](std::size_t number) { return partner_of_before_[number] != no_site; });
        after_.erase_if([&](std::size_t number) { return partner_of_after_[number] != no_site; });
    }

    void match_equal() {
        std::map<site_place, std::size_t> places;
        for (const std::size_t number : after_.numbers()) places.try_emplace(after_.place(number), number);
        for (const std::size_t number : before_.numbers()) {
            const auto found = places.find(before_.place(number));
            if (found == places.end()) continue;
            pair(number, found->second);
            places.erase(found);
        }
        forget_matched();
    }

    void match_moved() {
        const auto candidates = after_.functions();
        for (const auto& [function, before] : before_.functions()) {
            const auto after = candidates.find(function);
            if (after == candidates.end()) continue;
            match_in_function(before, after->second);
        }
        forget_matched();
    }

    void match_in_function(std::vector<std::size_t> before, std::vector<std::size_t> after) {
        if (before.size() <= most_moved && after.size() <= most_moved) {
            match_at_usual_distance(before, after);
            std::erase_if(before, [&](std::size_t number) { return partner_of_before_[number] != no_site; });
            std::erase_if(after, [&](std::size_t number) { return partner_of_after_[number] != no_site; });
        }
        if (before.size() != after.size()) return;
        for (std::size_t i = 0; i < before.size(); ++i) pair(before[i], after[i]);
    }

    /// Modulo 2^64.
    std::uint64_t distance(std::size_t before, std::size_t after) const {
        return after_.place(after).where - before_.place(before).where;
    }

    void match_at_usual_distance(std::span<const std::size_t> before, std::span<const std::size_t> after) {
        std::map<std::uint64_t, std::size_t> counts;
        for (const std::size_t from : before) {
            for (const std::size_t to : after) ++counts[distance(from, to)];
        }
        const auto usual = std::max_element(counts.begin(), counts.end(),
                                            [](const auto& a, const auto& b) { return a.second < b.second; });
        // One alone may be chance.
        if (usual == counts.end() || usual->second < 2) return;
        for (const std::size_t from : before) {
            const auto to = std::find_if(after.begin(), after.end(), [&](std::size_t number) {
                return partner_of_after_[number] == no_site && distance(from, number) == usual->first;
            });
            if (to != after.end()) pair(from, *to);
        }
    }

    open_sites before_;
    open_sites after_;
    std::vector<std::size_t> partner_of_before_;
    std::vector<std::size_t> partner_of_after_;
};

}  // namespace

std::vector<site_pair> match_sites(const std::vector<site_place>& before, const std::vector<site_place>& after) {
    return matcher{before, after}.match();
}

}  // namespace acre::tool
