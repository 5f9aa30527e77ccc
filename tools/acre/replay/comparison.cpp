#include "comparison.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <string>

#include "resources.hpp"

namespace acre::tool {

namespace {

constexpr std::uint32_t min_rounds = 11;
constexpr std::uint32_t min_slow_rounds = min_interval_rounds;
constexpr std::uint32_t min_very_slow_rounds = 2;
constexpr double very_late = 2;  // times the seconds that were wanted
constexpr std::uint32_t max_rounds = 101;
constexpr double shortest_wait = 1;             // seconds that rounds may take in any case
constexpr std::uint32_t rounds_to_give_up = 3;  // when nothing is saved
constexpr std::uint32_t max_repeats = 100'000;
constexpr unsigned max_attempts = 20;  // at finding a parameter, which doubles each time

/// Runs the rounds and collects their results.
class tournament {
public:
    tournament(replay_host& host, const sequence_view& sequence, const std::vector<contender>& contenders,
               const comparison_options& options)
        : host_{host}, sequence_{sequence}, options_{options} {
        if (options_.memory_limit == 0) {
            options_.memory_limit = std::min(default_memory_limit(), usual_memory()) + reserved_bytes();
        }
        entries_.push_back({.resource = system_number});
        entries_.push_back({.resource = loop_number});
        entries_.push_back({.resource = loop_number, .without_frees = true});
        entries_.insert(entries_.end(), contenders.begin(), contenders.end());
        times_.resize(entries_.size());
        walls_.resize(entries_.size());
        standings_.resize(entries_.size());
        skips_frees_ =
            std::any_of(contenders.begin(), contenders.end(), [](const contender& c) { return c.without_frees; });
    }

    comparison run() {
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (options_.prepared == nullptr || !take_over(i)) prepare(i);
        }
        choose_repeats();
        const auto start = std::chrono::steady_clock::now();
        while (!enough(start)) {
            round();
            ++rounds_;
            if (options_.progress) options_.progress(progress(start));
        }
        return summary();
    }

private:
    using time_point = std::chrono::steady_clock::time_point;

    // Indices of the entries that are always there.
    static constexpr std::size_t system_index = 0;
    static constexpr std::size_t loop_index = 1;
    static constexpr std::size_t loop_without_frees_index = 2;
    static constexpr std::size_t first_index = 3;

    /// Bytes that are live but never touched, at most: they take no memory. Far more than any machine has is refused.
    std::uint64_t reserved_bytes() const noexcept {
        constexpr std::uint64_t most = std::uint64_t{1} << 46;
        return sequence_.touched == ~std::uint64_t{0} ? 0 : std::min(sequence_.peak_bytes, most);
    }

    /// Room for what is live, with as much again for what a resource wastes; more where most of it is never touched. An
    /// arena of which nothing is freed needs more in a long run, but then it is no choice for the run.
    std::uint64_t usual_memory() const noexcept {
        constexpr std::uint64_t least = std::uint64_t{768} << 20;
        constexpr std::uint64_t untouched = std::uint64_t{8} << 30;
        return sequence_.touched == ~std::uint64_t{0} ? std::max(least, 2 * sequence_.peak_bytes) : untouched;
    }

    trial_request request(std::size_t entry, trial_purpose purpose) const {
        const bool times = purpose == trial_purpose::time;
        return {.resource = entries_[entry].resource,
                .repeats = times ? repeats_of(entry) : 1,
                .parameters = entries_[entry].parameters,
                .memory_limit = options_.memory_limit,
                .fragmentation_blocks =
                    times && entries_[entry].resource != loop_number ? options_.fragmentation_blocks : 0,
                .purpose = purpose,
                .without_frees = entries_[entry].without_frees};
    }

    /// Fewer for an entry that is far slower than malloc, which would take far longer than the others.
    std::uint32_t repeats_of(std::size_t entry) const {
        constexpr std::uint64_t far_slower = 8;  // times
        const std::uint64_t most = far_slower * std::max<std::uint64_t>(standings_[system_index].last.nanoseconds, 1);
        const std::uint64_t taken = standings_[entry].last.nanoseconds;
        if (taken <= most) return repeats_;
        return static_cast<std::uint32_t>(std::max<std::uint64_t>(repeats_ * most / taken, 1));
    }

    /// The memory and the parameters that another comparison found; false if there are none.
    bool take_over(std::size_t entry) {
        if (entries_[entry].resource == loop_number) return true;
        const standing& found =
            entry == system_index ? options_.prepared->system : options_.prepared->standings[entry - first_index];
        if (found.failed()) return false;
        entries_[entry].parameters = found.parameters;
        standings_[entry].parameters = found.parameters;
        standings_[entry].last = found.last;
        standings_[entry].peak_bytes = found.peak_bytes;
        standings_[entry].system_bytes = found.system_bytes;
        return true;
    }

    /// Before the rounds: measures the memory and finds the contenders that cannot play the sequence; where the memory
    /// is not wanted, plays it once all the same. The first play of a malloc with huge pages finds none that the
    /// machine has ready, and may take several times as long as all others. The empty loop has no blocks to write to.
    void prepare(std::size_t entry) {
        const contender& entering = entries_[entry];
        if (entering.resource == loop_number) return;
        standing& found = standings_[entry];
        if (entering.time_only && resources()[entering.resource].complete == nullptr) {
            found.last = host_.measure(request(entry, trial_purpose::time));
            return;
        }
        if (!settle_parameters(entry)) return;
        found.peak_bytes = found.last.peak_bytes;
        found.system_bytes = found.last.system_bytes;
        if (options_.check) found.last = host_.measure(request(entry, trial_purpose::check));
    }

    /// Increases the parameters that were not given until the resource no longer runs out of memory.
    bool settle_parameters(std::size_t entry) {
        contender& entering = entries_[entry];
        const resource_parameters given = entering.parameters;
        const auto complete = resources()[entering.resource].complete;
        for (unsigned attempt = 0; attempt < max_attempts; ++attempt) {
            if (complete != nullptr) entering.parameters = complete(given, sequence_, attempt);
            standings_[entry].parameters = entering.parameters;
            standings_[entry].last = host_.measure(request(entry, trial_purpose::footprint));
            if (standings_[entry].last.failure != trial_failure::out_of_memory || complete == nullptr) break;
            const resource_parameters next = complete(given, sequence_, attempt + 1);
            if (next == entering.parameters ||
                next.count > options_.memory_limit / std::max<std::uint64_t>(next.bytes, 1))
                break;
        }
        return !standings_[entry].failed();
    }

    /// Plays short sequences several times in one trial. The footprint trial is slower than a timed one; if it took
    /// twice the shortest trial, a single play is long enough and is not timed again.
    void choose_repeats() {
        std::uint64_t once = standings_[system_index].last.nanoseconds;
        if (once < 2 * options_.shortest_trial)
            once = host_.measure(request(system_index, trial_purpose::time)).nanoseconds;
        once = std::max<std::uint64_t>(once, 1);
        repeats_ =
            static_cast<std::uint32_t>(std::clamp<std::uint64_t>(options_.shortest_trial / once, 1, max_repeats));
    }

    void round() {
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (standings_[i].failed() || (i == loop_without_frees_index && !skips_frees_)) continue;
            standings_[i].last = host_.measure(request(i, trial_purpose::time));
            times_[i].push_back(static_cast<double>(standings_[i].last.nanoseconds));
            walls_[i].push_back(static_cast<double>(standings_[i].last.wall_nanoseconds));
        }
    }

    bool enough(time_point start) const {
        if (standings_[system_index].failed()) return true;
        const double seconds = seconds_since(start);
        const bool late = seconds > options_.max_seconds;
        if (options_.rounds != 0) {
            return rounds_ >= options_.rounds || (late && options_.min_rounds != 0 && rounds_ >= options_.min_rounds);
        }
        if (options_.min_saving > 0 && rounds_ >= rounds_to_give_up && saves_too_little()) return true;
        if (seconds > latest_seconds() && rounds_ >= min_very_slow_rounds) return true;
        if (rounds_ < (late ? min_slow_rounds : min_rounds)) return false;
        return late || rounds_ >= max_rounds || well_known();
    }

    double latest_seconds() const {
        if (options_.latest_seconds > 0) return options_.latest_seconds;
        return very_late * std::max(options_.max_seconds, shortest_wait);
    }

    bool saves_too_little() const {
        return std::ranges::all_of(saved(first_index), [&](double each) { return each < options_.min_saving / 2; });
    }

    /// The uncertainty is relative to malloc's time for ratios below 1, and to the ratio above.
    bool well_known() const {
        for (std::size_t i = first_index; i < entries_.size(); ++i) {
            if (standings_[i].failed()) continue;
            const interval found = ratio(i);
            if (found.high - found.low > 2 * options_.wanted_uncertainty * std::max(found.median, 1.0)) return false;
        }
        return true;
    }

    static double seconds_since(time_point start) {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    double progress(time_point start) const {
        if (options_.rounds != 0) return rounds_ / static_cast<double>(options_.rounds);
        return std::min(
            1.0, std::max(rounds_ / static_cast<double>(max_rounds), seconds_since(start) / options_.max_seconds));
    }

    /// Nanoseconds minus those of the loop in the same round. A contender that failed has fewer rounds than the others.
    std::vector<double> net(std::size_t entry) const {
        const std::size_t loop = entries_[entry].without_frees ? loop_without_frees_index : loop_index;
        std::vector<double> nanoseconds;
        nanoseconds.reserve(times_[entry].size());
        for (std::size_t i = 0; i < times_[entry].size(); ++i) {
            nanoseconds.push_back(times_[entry][i] - times_[loop][i]);
        }
        return nanoseconds;
    }

    /// Compares times of the same round, since what slows the machine down then slows both.
    interval ratio(std::size_t entry) const {
        const std::vector<double> system = net(system_index);
        std::vector<double> ratios = net(entry);
        for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = std::max(ratios[i], 0.0) / std::max(system[i], 1.0);
        return median_interval(std::move(ratios));
    }

    std::vector<double> saved(std::size_t entry) const {
        const std::vector<double> system = net(system_index);
        std::vector<double> differences = net(entry);
        for (std::size_t i = 0; i < differences.size(); ++i) differences[i] = system[i] - differences[i];
        return differences;
    }

    comparison summary() {
        comparison result;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            standings_[i].nanoseconds = median_interval(times_[i]);
            standings_[i].wall_nanoseconds = median_interval(walls_[i]);
            standings_[i].net_nanoseconds = median_interval(net(i));
            standings_[i].ratio = ratio(i);
        }
        result.system = standings_[system_index];
        result.loop_nanoseconds = standings_[loop_index].nanoseconds;
        for (std::size_t i = first_index; i < entries_.size(); ++i) {
            result.standings.push_back(standings_[i]);
            result.saved.push_back(saved(i));
        }
        result.rounds = rounds_;
        result.repeats = repeats_;
        return result;
    }

    replay_host& host_;
    sequence_view sequence_;
    comparison_options options_;
    std::vector<contender> entries_;
    std::vector<standing> standings_;
    std::vector<std::vector<double>> times_;  // by entry and round
    std::vector<std::vector<double>> walls_;
    bool skips_frees_ = false;
    std::uint32_t rounds_ = 0;
    std::uint32_t repeats_ = 1;
};

}  // namespace

interval comparison::saved_nanoseconds(std::size_t contender) const {
    return median_interval(saved[contender]);
}

comparison compare(replay_host& host, const sequence_view& sequence, const std::vector<contender>& contenders,
                   const comparison_options& options) {
    host.stage(sequence);
    return tournament{host, sequence, contenders, options}.run();
}

std::uint64_t default_memory_limit() {
    std::ifstream file{"/proc/meminfo"};
    std::string name;
    for (std::uint64_t kibibytes = 0; file >> name >> kibibytes; file.ignore(std::numeric_limits<int>::max(), '\n')) {
        if (name == "MemAvailable:") return kibibytes * 1024 / 2;
    }
    return std::uint64_t{1} << 30;
}

}  // namespace acre::tool
