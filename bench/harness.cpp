// Interleaved measuring, and the fresh processes that isolated work runs in.
#include "harness.hpp"

#include <malloc.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <stdexcept>

namespace bench {

std::uint64_t random_numbers::operator()() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ >> 11;
}

std::vector<std::uint32_t> shuffled(std::size_t n, std::uint64_t seed) {
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    random_numbers random{seed};
    for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

namespace {

double seconds_of(clockid_t clock) noexcept {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double cpu_seconds() noexcept {
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

double process_seconds() noexcept {
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

double wall_seconds() noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

fragmented_heap::fragmented_heap() {
    constexpr std::size_t count = 100'000;
    random_numbers random{2021};
    blocks_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t least = std::size_t{16} << random.below(8);  // each doubling up to 4,096 is equally likely
        blocks_.emplace_back(new std::byte[least + random.below(least)]);
        touch(blocks_.back().get());
    }
    for (std::size_t i = 0; i < count; i += 2) blocks_[i].reset();
}

namespace {

/// Finds the group with this id, or adds one.
template <class Group, class Id>
Group& find_or_make(std::vector<Group>& groups, Id Group::* id, const Group& about) {
    for (Group& each : groups) {
        if (each.*id == about.*id) return each;
    }
    return groups.emplace_back(about);
}

}  // namespace

namespace {

void add_variant(std::vector<group>& groups, const group_description& about, std::string name,
                 std::function<round_function()> prepare) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const group& g) { return g.about.id == about.id; });
    if (found == groups.end()) found = groups.insert(found, group{about, {}});
    found->variants.push_back({std::move(name), std::move(prepare)});
}

}  // namespace

void suite::add(const group_description& about, std::string name, std::function<round_function()> prepare) {
    add_variant(groups_, about, std::move(name), std::move(prepare));
}

void suite::add_counted(const group_description& about, std::string name, std::function<round_function()> prepare) {
    add_variant(counted_, about, std::move(name), std::move(prepare));
}

void suite::add_scaling(const scaling_step& at, std::string name, std::function<round_function()> prepare) {
    const std::string id = at.workload + " x " + std::to_string(at.threads);
    auto found = std::find_if(scaling_.begin(), scaling_.end(),
                              [&](const scaling_group& each) { return each.work.about.id == id; });
    if (found == scaling_.end()) {
        const group_description about{
            .id = id, .title = at.title, .operations = at.operations, .time = time_kind::wall};
        found = scaling_.insert(found, {at, {about, {}}});
    }
    found->work.variants.push_back({std::move(name), std::move(prepare)});
}

void suite::add_figure(const figure_group& about, std::string name, std::function<figure()> run) {
    find_or_make(figures_, &figure_group::id, about).variants.push_back({std::move(name), std::move(run)});
}

void suite::add_isolated(const isolated_group& about, std::string name, std::function<std::vector<double>()> run) {
    find_or_make(isolated_, &isolated_group::phase_ids, about).variants.push_back({std::move(name), std::move(run)});
}

void suite::add_footprint(const std::string& id, const std::string& title, std::string name,
                          std::function<footprint()> run) {
    find_or_make(footprints_, &footprint_group::id, footprint_group{id, title, {}})
        .variants.push_back({std::move(name), std::move(run)});
}

namespace {

const variant* find_in(const group& searched, const std::string& id, const std::string& name) noexcept {
    if (searched.about.id != id) return nullptr;
    const auto found = std::find_if(searched.variants.begin(), searched.variants.end(),
                                    [&](const variant& each) { return each.name == name; });
    return found == searched.variants.end() ? nullptr : &*found;
}

}  // namespace

const variant* suite::find(const std::string& group_id, const std::string& name) const noexcept {
    for (const std::vector<group>* groups : {&groups_, &counted_}) {
        for (const group& each : *groups) {
            if (const variant* found = find_in(each, group_id, name)) return found;
        }
    }
    for (const scaling_group& each : scaling_) {
        if (const variant* found = find_in(each.work, group_id, name)) return found;
    }
    return nullptr;
}

namespace {

struct contender {
    std::string name;
    round_function round;
    std::size_t calls = 1;  // in one sample
};

struct elapsed {
    double seconds;        // by the clock chosen for the group
    double of_processors;  // processor time of all threads of this process
};

elapsed timed(const round_function& round, std::size_t calls, time_kind kind) {
    const auto now = kind == time_kind::wall ? wall_seconds : cpu_seconds;
    const double process_start = process_seconds();
    const double start = now();
    for (std::size_t i = 0; i < calls; ++i) round();
    const double end = now();
    return {end - start, process_seconds() - process_start};
}

/// Returns how many calls fill a sample. Runs the work until it is warm.
std::size_t calibrate(const round_function& round, time_kind kind, double sample_seconds) {
    std::size_t calls = 1;
    for (double seconds = timed(round, 1, kind).seconds; seconds < sample_seconds;
         seconds = timed(round, calls, kind).seconds) {
        const double wanted = std::ceil(static_cast<double>(calls) * sample_seconds / std::max(seconds, 1e-7));
        calls = std::min(std::max(static_cast<std::size_t>(wanted), calls + 1), calls * 10);
    }
    return calls;
}

std::vector<contender> prepare(const group& work, double sample_seconds) {
    std::vector<contender> contenders;
    for (const variant& each : work.variants) {
        contender made{each.name, each.prepare()};
        made.calls = calibrate(made.round, work.about.time, sample_seconds);
        contenders.push_back(std::move(made));
    }
    return contenders;
}

/// The ids under which a group's samples are stored.
std::vector<std::string> sample_ids(const group_description& about) {
    if (about.time == time_kind::processor) return {about.id};
    return {about.id, about.id + of_processors};
}

}  // namespace

void measure(const group& work, const effort& how_much, samples& into) {
    const std::vector<contender> contenders = prepare(work, how_much.sample_seconds);
    const std::vector<std::string> ids = sample_ids(work.about);
    const auto operations = static_cast<double>(work.about.operations);
    for (std::size_t round = 0; round < how_much.rounds; ++round) {
        for (const std::uint32_t index : shuffled(contenders.size(), 0x9e3779b9U + round)) {
            const contender& each = contenders[index];
            each.round();  // brings its memory back into the cache
            const elapsed taken = timed(each.round, each.calls, work.about.time);
            const double each_ns = 1e9 / (static_cast<double>(each.calls) * operations);
            into[ids.front()][each.name].push_back(taken.seconds * each_ns);
            if (ids.size() > 1) into[ids.back()][each.name].push_back(taken.of_processors * each_ns);
        }
    }
}

namespace {

void write_all(int file, const std::vector<double>& values) {
    const auto* at = reinterpret_cast<const char*>(values.data());
    for (std::size_t left = values.size() * sizeof(double); left != 0;) {
        const ssize_t written = write(file, at, left);
        if (written <= 0) _exit(1);
        at += written;
        left -= static_cast<std::size_t>(written);
    }
}

/// Returns false when the other end closes first.
bool read_all(int file, std::vector<double>& values) {
    auto* at = reinterpret_cast<char*>(values.data());
    for (std::size_t left = values.size() * sizeof(double); left != 0;) {
        const ssize_t got = read(file, at, left);
        if (got <= 0) return false;
        at += got;
        left -= static_cast<std::size_t>(got);
    }
    return true;
}

/// Runs `run` in a child whose heap holds no freed memory, and returns the child's numbers.
std::vector<double> in_fresh_process(const std::function<std::vector<double>()>& run, std::size_t count) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe to a fresh process");
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no fresh process");
    if (child == 0) {
        close(ends[0]);
        malloc_trim(0);
        write_all(ends[1], run());
        _exit(0);
    }
    close(ends[1]);
    std::vector<double> values(count);
    const bool complete = read_all(ends[0], values);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0 || !complete) throw std::runtime_error("a fresh process failed");
    return values;
}

/// The samples of one group, by id and then by variant.
std::vector<double> flattened(const group& work, const samples& measured) {
    std::vector<double> all;
    for (const std::string& id : sample_ids(work.about)) {
        for (const variant& each : work.variants) {
            const std::vector<double>& own = measured.at(id).at(each.name);
            all.insert(all.end(), own.begin(), own.end());
        }
    }
    return all;
}

}  // namespace

void measure(const isolated_group& work, const effort& how_much, samples& into) {
    const std::size_t rounds = std::max<std::size_t>(5, how_much.rounds / 3);
    const auto operations = static_cast<double>(work.operations);
    for (std::size_t round = 0; round < rounds; ++round) {
        for (const std::uint32_t index : shuffled(work.variants.size(), 0x9e3779b9U + round)) {
            const isolated_variant& each = work.variants[index];
            const std::vector<double> seconds = in_fresh_process(each.run, work.phase_ids.size());
            for (std::size_t phase = 0; phase < seconds.size(); ++phase) {
                into[work.phase_ids[phase]][each.name].push_back(1e9 * seconds[phase] / operations);
            }
        }
    }
}

void measure_in_fresh_process(const group& work, const effort& how_much, heap_kind heap, samples& into) {
    const std::function<std::vector<double>()> run = [&] {
        std::optional<fragmented_heap> fragmentation;
        if (heap == heap_kind::fragmented) fragmentation.emplace();
        samples measured;
        measure(work, how_much, measured);
        return flattened(work, measured);
    };
    group_description about = work.about;
    if (heap == heap_kind::fragmented) about.id += fragmented;
    const std::vector<std::string> ids = sample_ids(about);
    const std::vector<double> all = in_fresh_process(run, ids.size() * work.variants.size() * how_much.rounds);
    auto at = all.begin();
    for (const std::string& id : ids) {
        for (const variant& each : work.variants) {
            into[id][each.name].assign(at, at + static_cast<std::ptrdiff_t>(how_much.rounds));
            at += static_cast<std::ptrdiff_t>(how_much.rounds);
        }
    }
}

void measure_in_fresh_processes(const group& work, const effort& how_much, samples& into) {
    for (const heap_kind heap : {heap_kind::clean, heap_kind::fragmented}) {
        measure_in_fresh_process(work, how_much, heap, into);
    }
}

double median(std::vector<double> values) {
    if (values.empty()) throw std::logic_error("a median of nothing");
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double median_ratio(const std::vector<double>& numerator, const std::vector<double>& denominator) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(numerator.size(), denominator.size()); ++i) {
        ratios.push_back(numerator[i] / denominator[i]);
    }
    return median(std::move(ratios));
}

}  // namespace bench
