#include "fewer_allocations.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "function_names.hpp"
#include "joined_sets.hpp"
#include "thresholds.hpp"
#include "trace/coarse.hpp"

namespace acre::tool {

namespace {

/// Contexts of one line are one group, and so are lines between which a container grows.
class buffer_grouping {
public:
    buffer_grouping(const history& run, const change_places& places, const growing_contexts& growing)
        : run_{run}, growing_{growing}, sets_{run.contexts().size()} {
        join_lines(places);
        if (growing.any_grows()) join_grown();
    }

    /// The numbers of the groups, by context; no_group for what is no buffer.
    std::vector<std::uint32_t> groups(std::size_t& count) {
        std::map<std::uint32_t, std::uint32_t> numbers;
        std::vector<std::uint32_t> found(run_.contexts().size(), no_group);
        for (std::uint32_t i = 0; i < found.size(); ++i) {
            if (!growing_.is_buffer(i)) continue;
            found[i] = numbers.try_emplace(sets_.of(i), static_cast<std::uint32_t>(numbers.size())).first->second;
        }
        count = numbers.size();
        return found;
    }

private:
    void join_lines(const change_places& places) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> first;  // by place and site
        for (std::uint32_t i = 0; i < run_.contexts().size(); ++i) {
            if (!growing_.is_buffer(i)) continue;
            const auto [entry, added] = first.try_emplace({places.number_of(i), run_.contexts()[i].site}, i);
            if (!added) sets_.join(entry->second, i);
        }
    }

    void join_grown() {
        growth_links links{run_, growing_};
        run_.for_each([&](const recorded_event& each) {
            if (const auto link = links.hear(each)) sets_.join(each.context, link->to_context);
        });
    }

    const history& run_;
    const growing_contexts& growing_;
    joined_sets sets_;
};

/// Sums up the buffers of groups in one pass through the run.
class buffer_study {
public:
    buffer_study(const history& run, const growing_contexts& growing, const std::vector<std::uint32_t>& groups,
                 std::size_t count)
        : run_{run}, groups_{groups}, links_{run, growing}, found_(count), newest_(run.threads(), no_group) {}

    std::vector<growth_figures> study() {
        run_.for_each([&](const recorded_event& each) { hear(each); });
        for (std::uint32_t thread = 0; thread < newest_.size(); ++thread) settle(thread);
        std::vector<growth_figures> all;
        all.reserve(found_.size());
        for (const group& each : found_) all.push_back(finished(each));
        return all;
    }

private:
    struct group {
        growth_figures figures;
        std::map<std::uint64_t, std::uint64_t> sizes;            // of last buffers
        std::unordered_map<std::uint32_t, std::uint64_t> alive;  // by thread
        std::uint64_t common_divisor = 0;                        // of all sizes
        std::uint64_t smallest = ~std::uint64_t{0};
    };

    void hear(const recorded_event& each) {
        const std::optional<growth_link> link = links_.hear(each);
        // A container that grows has two buffers for a moment.
        if (!link) settle(each.thread);
        newest_[each.thread] = no_group;
        const std::uint32_t number = groups_[each.context];
        if (number == no_group) return;
        group& of = found_[number];
        if (each.allocates) {
            allocate(of, each);
            newest_[each.thread] = number;
        } else {
            --of.alive[each.thread];
            if (link) replace(of, each);
        }
    }

    static void allocate(group& of, const recorded_event& each) {
        ++of.figures.containers;
        ++of.alive[each.thread];
        ++of.sizes[size_class(of, each.size)];
        of.common_divisor = std::gcd(of.common_divisor, each.size);
        of.smallest = std::min(of.smallest, each.size);
    }

    static void replace(group& of, const recorded_event& old) {
        --of.figures.containers;
        ++of.figures.replaced;
        of.figures.copied_bytes += old.size;
        const auto known = of.sizes.find(size_class(of, old.size));
        if (known != of.sizes.end() && known->second != 0) --known->second;
    }

    /// Memory does not depend on the number of sizes.
    static std::uint64_t size_class(const group& of, std::uint64_t size) {
        constexpr std::size_t max_exact = 4096;
        return of.sizes.size() < max_exact || of.sizes.contains(size) ? size : coarse(size);
    }

    void settle(std::uint32_t thread) {
        if (newest_[thread] == no_group) return;
        group& of = found_[newest_[thread]];
        of.figures.most_alive = std::max(of.figures.most_alive, of.alive[thread]);
    }

    static growth_figures finished(const group& of) {
        growth_figures figures = of.figures;
        figures.median_bytes = percentile(of, 0.5);
        figures.p99_bytes = percentile(of, 0.99);
        figures.largest_bytes = percentile(of, 1);
        // From empty, push_back gets a buffer for one element first.
        if (figures.replaced != 0 && of.smallest == of.common_divisor) figures.element_bytes = of.smallest;
        return figures;
    }

    static std::uint64_t percentile(const group& of, double share) {
        const double wanted = share * static_cast<double>(of.figures.containers);
        double passed = 0;
        std::uint64_t last = 0;
        for (const auto& [size, count] : of.sizes) {
            if (count == 0) continue;
            last = size;
            passed += static_cast<double>(count);
            if (passed >= wanted) break;
        }
        return last;
    }

    const history& run_;
    const std::vector<std::uint32_t>& groups_;
    growth_links links_;
    std::vector<group> found_;
    std::vector<std::uint32_t> newest_;  // by thread: the group of its last event, if that allocated
};

/// Whether what a program need not do for these is a part of all that it allocates.
bool are_worth_a_look(const growth_figures& of, const history& run, std::uint64_t bytes) {
    const auto share = [](std::uint64_t part, std::uint64_t all) {
        return static_cast<double>(part) / static_cast<double>(std::max<std::uint64_t>(all, 1));
    };
    const bool many_calls =
        of.buffers() >= threshold::fewer_calls && share(of.buffers(), run.object_count()) >= threshold::fewer_share;
    const bool much_copied =
        of.copied_bytes >= threshold::fewer_copied_bytes && share(of.copied_bytes, bytes) >= threshold::fewer_share;
    return many_calls || much_copied;
}

}  // namespace

std::vector<buffer_group> find_buffer_groups(const history& run, const change_places& places,
                                             const growing_contexts& growing) {
    std::uint64_t bytes = 0;
    std::uint64_t bytes_of_buffers = 0;
    std::uint64_t buffers = 0;
    for (std::uint32_t i = 0; i < run.contexts().size(); ++i) {
        bytes += run.contexts()[i].bytes;
        if (!growing.is_buffer(i)) continue;
        bytes_of_buffers += run.contexts()[i].bytes;
        buffers += run.contexts()[i].objects;
    }
    // No group is more than all buffers. This spares two passes through most runs.
    if (!are_worth_a_look({.containers = buffers, .copied_bytes = bytes_of_buffers}, run, bytes)) return {};
    std::size_t count = 0;
    const std::vector<std::uint32_t> groups = buffer_grouping{run, places, growing}.groups(count);
    const std::vector<growth_figures> figures = buffer_study{run, growing, groups, count}.study();
    std::vector<buffer_group> found(count);
    for (std::uint32_t i = 0; i < groups.size(); ++i) {
        if (groups[i] != no_group) found[groups[i]].contexts.push_back(i);
    }
    for (std::size_t i = 0; i < count; ++i) found[i].figures = figures[i];
    std::erase_if(found, [&](const buffer_group& each) { return !are_worth_a_look(each.figures, run, bytes); });
    return found;
}

bool are_variables(const context_set& contexts, const history& run, const call_paths& paths) {
    return std::ranges::all_of(contexts, [&](std::uint32_t context) {
        const std::uint32_t first = run.contexts()[context].node;
        const std::uint32_t own = paths.own_code(first);
        std::uint32_t outermost = first;
        for (std::uint32_t node = first; node != own && node != 0; node = paths.nodes()[node].parent) outermost = node;
        if (outermost == own) return false;
        const std::string& name = paths.functions()[paths.nodes()[outermost].function].name;
        return container_in(name).has_value() || class_in(name).empty() || class_in(name) == "std";
    });
}

}  // namespace acre::tool
