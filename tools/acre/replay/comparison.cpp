#include "comparison.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <string>

#include "resources.hpp"

namespace acre::tool {

namespace {

constexpr std::uint32_t fewest_rounds = 11;
constexpr std::uint32_t most_rounds = 101;
constexpr std::uint64_t shortest_trial = 10'000'000;  // nanoseconds; shorter sequences are played several times
constexpr std::uint32_t most_repeats = 100'000;

/// Runs the rounds and gathers what they give.
class tournament {
public:
    tournament(replay_host& host, const std::vector<contender>& contenders, const comparison_options& options)
        : host_{host}, options_{options} {
        entries_.push_back({system_number, {}});
        entries_.push_back({loop_number, {}});
        entries_.insert(entries_.end(), contenders.begin(), contenders.end());
        times_.resize(entries_.size());
        standings_.resize(entries_.size());
    }

    comparison run() {
        measure_footprints();
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

    trial_request request(std::size_t entry) const {
        return {.resource = entries_[entry].resource,
                .repeats = repeats_,
                .parameters = entries_[entry].parameters,
                .memory_limit = options_.memory_limit == 0 ? default_memory_limit() : options_.memory_limit,
                .litter = options_.litter,
                .footprint = false};
    }

    /// Also finds out who cannot play the sequence at all, before the rounds begin.
    void measure_footprints() {
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            trial_request asked = request(i);
            asked.footprint = true;
            note(i, host_.measure(asked));
        }
    }

    void choose_repeats() {
        const std::uint64_t once = std::max<std::uint64_t>(host_.measure(request(0)).nanoseconds, 1);
        repeats_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(shortest_trial / once, 1, most_repeats));
    }

    void round() {
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (standings_[i].failed()) continue;
            const trial_result result = host_.measure(request(i));
            standings_[i].signal = result.signal;
            standings_[i].failed_step = result.failed_step;
            times_[i].push_back(static_cast<double>(result.nanoseconds));
        }
    }

    void note(std::size_t entry, const trial_result& result) {
        standings_[entry].peak_bytes = result.peak_bytes;
        standings_[entry].failed_step = result.failed_step;
        standings_[entry].signal = result.signal;
    }

    bool enough(time_point start) const {
        if (standings_[0].failed()) return true;
        if (options_.rounds != 0) return rounds_ >= options_.rounds;
        if (rounds_ < fewest_rounds) return false;
        return rounds_ >= most_rounds || seconds_since(start) > options_.most_seconds || well_known();
    }

    bool well_known() const {
        for (std::size_t i = 2; i < entries_.size(); ++i) {
            if (!standings_[i].failed() && ratio(i).uncertainty() > options_.wanted_uncertainty) return false;
        }
        return true;
    }

    static double seconds_since(time_point start) {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    double progress(time_point start) const {
        if (options_.rounds != 0) return rounds_ / static_cast<double>(options_.rounds);
        return std::min(
            1.0, std::max(rounds_ / static_cast<double>(most_rounds), seconds_since(start) / options_.most_seconds));
    }

    /// In each round both ran one after the other, so what slowed the machine down then slowed both.
    interval ratio(std::size_t entry) const {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < times_[entry].size(); ++i) {
            ratios.push_back(times_[entry][i] / std::max(times_[0][i], 1.0));
        }
        return median_interval(std::move(ratios));
    }

    std::vector<double> saved(std::size_t entry) const {
        std::vector<double> differences;
        for (std::size_t i = 0; i < times_[entry].size(); ++i) {
            differences.push_back(times_[0][i] - times_[entry][i]);
        }
        return differences;
    }

    comparison summary() {
        comparison result;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            standings_[i].nanoseconds = median_interval(times_[i]);
            standings_[i].ratio = ratio(i);
        }
        result.system = standings_[0];
        result.loop_nanoseconds = standings_[1].nanoseconds;
        for (std::size_t i = 2; i < entries_.size(); ++i) {
            result.standings.push_back(standings_[i]);
            result.saved.push_back(saved(i));
        }
        result.rounds = rounds_;
        result.repeats = repeats_;
        return result;
    }

    replay_host& host_;
    comparison_options options_;
    std::vector<contender> entries_;
    std::vector<standing> standings_;
    std::vector<std::vector<double>> times_;  // by entry and round
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
    return tournament{host, contenders, options}.run();
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
