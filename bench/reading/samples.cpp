// What the replay of a sample says, beside that of all events and of the first ones, and how far the median of few
// rounds lies from that of many: the figures behind the rules of tools/acre/advise/measure.cpp.
//
// Usage: reading_samples TRACE...
//
// Prints two tables. The first one: saved by each installed malloc, and by the first two advices, in % of the CPU time
// of the run; the samples are those of the window that `acre advise` uses, and of windows of .7 to 1.3 times the
// events, so that they are of other stretches. The second one: how far the median of all rounds lies beyond the range
// of 1, 2, 3 or 4 consecutive ones, as a share of malloc's time, nine in ten at most.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "advise/advised_events.hpp"
#include "advise/candidates.hpp"
#include "advise/history.hpp"
#include "advise/measure.hpp"
#include "replay/comparison.hpp"
#include "replay/contender_list.hpp"
#include "replay/replay_host.hpp"
#include "replay/sequence_builder.hpp"
#include "trace/event_relay.hpp"
#include "trace/reader.hpp"

namespace {

using namespace acre::tool;

constexpr std::uint32_t rounds = 12;
constexpr std::array sizes_of_windows{0.7, 0.85, 1.0, 1.15, 1.3};
constexpr std::size_t most_advices = 2;
constexpr std::size_t most_rounds_together = 4;

/// No limit.
constexpr replay_window everything{~std::uint64_t{0}, ~std::uint64_t{0}};

replay_window scaled(const replay_window& of, double by) {
    const auto times = [by](std::uint64_t value) {
        return static_cast<std::uint64_t>(static_cast<double>(value) * by);
    };
    return {times(of.events), times(of.live_bytes)};
}

sequence first_steps_of(const history& run, const replay_window& window) {
    sequence_builder builder;
    run.for_each([&](const recorded_event& each) {
        if (builder.is_full(window)) return false;
        builder.add(each.original());
        return true;
    });
    return builder.finish();
}

/// How far the medians of many rounds lie beyond the ranges of few, as shares of malloc's time.
class doubts {
public:
    void add(const comparison& found) {
        const double of = found.system.net_nanoseconds.median;
        for (std::size_t i = 0; i < found.saved.size() && of > 0; ++i) {
            if (!found.standings[i].failed()) add(found.saved[i], of);
        }
    }

    void print() const {
        std::printf("\n| rounds | ranges | median beyond, nine in ten at most |\n|--:|--:|--:|\n");
        for (std::size_t i = 0; i < beyond_.size(); ++i) {
            std::vector<double> sorted = beyond_[i];
            std::ranges::sort(sorted);
            const double nine_in_ten = sorted.empty() ? std::nan("") : sorted[sorted.size() * 9 / 10];
            std::printf("| %zu | %zu | %.3f |\n", i + 1, sorted.size(), nine_in_ten);
        }
    }

private:
    void add(const std::vector<double>& saved, double of) {
        const double median = median_interval(saved).median;
        for (std::size_t together = 1; together <= most_rounds_together; ++together) {
            for (std::size_t first = 0; first + together <= saved.size(); ++first) {
                const auto begin = saved.begin() + static_cast<std::ptrdiff_t>(first);
                const auto [low, high] = std::minmax_element(begin, begin + static_cast<std::ptrdiff_t>(together));
                beyond_[together - 1].push_back(std::max({*low - median, median - *high, 0.0}) / of);
            }
        }
    }

    std::array<std::vector<double>, most_rounds_together> beyond_;
};

/// Measures sequences of one trace.
class trace_samples {
public:
    trace_samples(replay_host& host, const std::string& file, doubts& found)
        : host_{host},
          doubts_{found},
          reader_{file},
          paths_{reader_.tables()},
          run_{reader_, paths_},
          name_{reader_.path().stem().string()},
          cpu_{static_cast<double>(recorded_cpu_nanoseconds(reader_))} {}

    void show() {
        show_mallocs();
        advice_list list = find_candidates(run_, paths_);
        std::size_t shown = 0;
        for (std::size_t i = 0; i < list.advices.size() && shown < most_advices; ++i) {
            if (list.advices[i].candidate == verdict::leave) continue;
            show_advice(list.advices[i], i + 1);
            ++shown;
        }
    }

private:
    void show_mallocs() {
        const std::vector<contender> mallocs = installed_contenders("preloads");
        const replay_window window = window_of_whole_run(run_, mallocs.size());
        const auto shares = [&](const sequence& steps) { return saved_shares(steps, mallocs, run_.event_count()); };
        const std::vector<double> all = shares(steps_of(run_, everything));
        const std::vector<double> first = shares(first_steps_of(run_, window));
        std::vector<std::vector<double>> samples;
        for (const double size : sizes_of_windows) samples.push_back(shares(steps_of(run_, scaled(window, size))));
        for (std::size_t i = 0; i < mallocs.size(); ++i) {
            std::vector<double> of_malloc;
            for (const std::vector<double>& each : samples) of_malloc.push_back(each[i]);
            print(contender_text(mallocs[i]), window, all[i], first[i], of_malloc);
        }
    }

    void show_advice(const advice& each, std::size_t number) {
        const std::vector<contender> contenders{contender_of(each)};
        const replay_window window = scaled(window_of_whole_run(run_, 1), each.share);
        const auto share = [&](const replay_window& in) {
            return saved_shares(advised_sequence(run_, each, in), contenders, each.figures.events()).front();
        };
        std::vector<double> samples;
        for (const double size : sizes_of_windows) samples.push_back(share(scaled(window, size)));
        print("advice " + std::to_string(number), window, share(everything), std::nan(""), samples);
    }

    /// Saved by each contender in the whole run, of its CPU time.
    std::vector<double> saved_shares(const sequence& steps, const std::vector<contender>& contenders,
                                     std::uint64_t events) {
        comparison_options options;
        options.rounds = rounds;
        options.shortest_trial = 2'000'000;
        const comparison found = compare(host_, steps.view(), contenders, options);
        doubts_.add(found);
        std::vector<double> shares;
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            const bool failed = found.system.failed() || found.standings[i].failed();
            const double saved = failed ? std::nan("") : found.saved_nanoseconds(i).median;
            shares.push_back(saved / replayed_share(steps, events) / cpu_);
        }
        return shares;
    }

    void print(const std::string& what, const replay_window& window, double all, double first,
               const std::vector<double>& samples) const {
        const auto [low, high] = std::ranges::minmax(samples);
        std::printf("| %s, %s | %llu | %.1f | %.1f | %.1f | %.1f to %.1f |\n", name_.c_str(), what.c_str(),
                    static_cast<unsigned long long>(window.events), 100 * all, 100 * first,
                    100 * samples[samples.size() / 2], 100 * low, 100 * high);
        std::fflush(stdout);
    }

    replay_host& host_;
    doubts& doubts_;
    trace_reader reader_;
    call_paths paths_;
    history run_;
    std::string name_;
    double cpu_;
};

}  // namespace

int main(int count, char** words) {
    replay_host host;
    doubts found;
    std::printf("| | events of the window | all | the first | a sample | samples |\n|---|--:|--:|--:|--:|--:|\n");
    try {
        for (int i = 1; i < count; ++i) trace_samples{host, words[i], found}.show();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "reading_samples: %s\n", error.what());
        return 1;
    }
    found.print();
}
