// Measures pieces of work side by side. The variants of one group run round by round, each round in a new order; the
// result is the median over the rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Makes the compiler assume that `p` and all other reachable memory are read. By value: with a member passed by
/// reference to an asm statement, g++ 12 lost a store.
inline void escape(const void* p) noexcept {
    asm volatile("" : : "r"(p) : "memory");
}

/// Returns the same pointer, about which the compiler then knows nothing.
template <class T>
[[nodiscard]] T* hide(T* p) noexcept {
    asm volatile("" : "+r"(p));
    return p;
}

/// The work that every contestant does for an allocation: one byte is written, and the pointer escapes.
inline void touch(void* p) noexcept {
    *static_cast<char*>(p) = 1;
    escape(p);
}

/// Random numbers that are the same in every run.
class random_numbers {
public:
    explicit random_numbers(std::uint64_t seed) noexcept : state_{seed} {}
    std::uint64_t operator()() noexcept;
    /// Uniform in [0, bound), up to a bias that does not matter in a benchmark.
    std::size_t below(std::size_t bound) noexcept { return static_cast<std::size_t>((*this)() % bound); }

private:
    std::uint64_t state_;
};

/// 0..n-1 in a fixed random order.
[[nodiscard]] std::vector<std::uint32_t> shuffled(std::size_t n, std::uint64_t seed);

/// This thread's processor time in seconds; other programs on the machine do not count.
[[nodiscard]] double cpu_seconds() noexcept;

/// The processor time of all threads of this process in seconds.
[[nodiscard]] double process_seconds() noexcept;

/// Elapsed time in seconds, for work of several threads, where waiting for each other counts.
[[nodiscard]] double wall_seconds() noexcept;

/// Fragments malloc's heap, as in a program that has run for long: allocates 100,000 blocks of 16 to 4,096 bytes, small
/// ones more often, then frees every other one. The rest lives as long as this object.
class fragmented_heap {
public:
    fragmented_heap();

private:
    std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

enum class heap_kind { clean, fragmented };

/// The suffix of a group's id where its heap was fragmented.
inline const std::string fragmented = ", fragmented";

using round_function = std::function<void()>;

/// A round function that owns its work.
template <class Work, class... Args>
[[nodiscard]] round_function make_round(Args... args) {
    return [work = std::make_shared<Work>(std::move(args)...)] { (*work)(); };
}

struct variant {
    std::string name;
    std::function<round_function()> prepare;  // builds the work; not measured
};

/// The clock of a group: this thread's processor time, or elapsed time. With elapsed time, the processor time of all
/// threads is reported too, as a group of its own.
enum class time_kind { processor, wall };

/// The variant with which all others are compared, unless the group names another.
inline const std::string baseline = "new/delete";

/// The suffix of a group's id for the processor time of all its threads.
inline const std::string of_processors = ", processor time";

struct group_description {
    std::string id;
    std::string title;
    std::size_t operations;  // in one round: times and instructions are divided by it
    time_kind time = time_kind::processor;
    bool in_fresh_processes = false;  // one with a clean heap and one with a fragmented heap, reported separately
    std::string compared_with = baseline;
};

struct group {
    group_description about;
    std::vector<variant> variants;
};

/// One workload with a number of threads: a column of the workload's table.
struct scaling_step {
    std::string workload;
    std::string title;
    std::size_t threads;
    std::size_t operations;  // of all threads, in one round
};

struct scaling_group {
    scaling_step at;
    group work;
};

/// Work that must start in a fresh process each time, because it measures how memory is obtained.
struct isolated_variant {
    std::string name;
    std::function<std::vector<double>()> run;  // seconds of each phase
};

struct isolated_group {
    std::string title;
    std::vector<std::string> phase_ids;  // each phase is reported as a group of its own
    std::size_t operations;
    std::vector<isolated_variant> variants;
};

/// Peak bytes taken from upstream, per live byte.
struct footprint {
    std::size_t live_bytes;
    std::size_t upstream_bytes;
    std::size_t upstream_calls;  // 0: unknown
};

struct footprint_variant {
    std::string name;
    std::function<footprint()> run;
};

struct footprint_group {
    std::string id;
    std::string title;
    std::vector<footprint_variant> variants;
};

/// A figure that needs no repetition: the report shows `text`.
struct figure {
    double value;
    std::string text;
    std::string detail = {};
};

struct figure_variant {
    std::string name;
    std::function<figure()> run;
};

struct figure_group {
    std::string id;
    std::string title;
    std::string unit;
    std::vector<figure_variant> variants;
};

struct peer {
    std::string name;
    std::string version;  // empty: missing on this machine
};

/// All groups and their variants. The first variant added to a group also defines the group's order.
class suite {
public:
    void add(const group_description& about, std::string name, std::function<round_function()> prepare);
    void add_isolated(const isolated_group& about, std::string name, std::function<std::vector<double>()> run);
    void add_footprint(const std::string& id, const std::string& title, std::string name,
                       std::function<footprint()> run);
    void add_figure(const figure_group& about, std::string name, std::function<figure()> run);
    /// A round in which callgrind counts the instructions of one call of count_this; it is not timed.
    void add_counted(const group_description& about, std::string name, std::function<round_function()> prepare);
    void add_scaling(const scaling_step& at, std::string name, std::function<round_function()> prepare);
    void add_peer(std::string name, std::string version) { peers_.push_back({std::move(name), std::move(version)}); }

    [[nodiscard]] const std::vector<group>& groups() const noexcept { return groups_; }
    [[nodiscard]] const std::vector<isolated_group>& isolated() const noexcept { return isolated_; }
    [[nodiscard]] const std::vector<footprint_group>& footprints() const noexcept { return footprints_; }
    [[nodiscard]] const std::vector<figure_group>& figures() const noexcept { return figures_; }
    [[nodiscard]] const std::vector<group>& counted() const noexcept { return counted_; }
    [[nodiscard]] const std::vector<scaling_group>& scaling() const noexcept { return scaling_; }
    [[nodiscard]] const std::vector<peer>& peers() const noexcept { return peers_; }
    [[nodiscard]] const variant* find(const std::string& group_id, const std::string& name) const noexcept;

private:
    std::vector<group> groups_;
    std::vector<isolated_group> isolated_;
    std::vector<footprint_group> footprints_;
    std::vector<figure_group> figures_;
    std::vector<group> counted_;
    std::vector<scaling_group> scaling_;
    std::vector<peer> peers_;
};

/// Nanoseconds per operation, one value a round: by group, then by variant.
using samples = std::map<std::string, std::map<std::string, std::vector<double>>>;

struct effort {
    std::size_t rounds = 31;
    double sample_seconds = 0.003;
};

void measure(const group& work, const effort& how_much, samples& into);
void measure(const isolated_group& work, const effort& how_much, samples& into);
/// Measures the group in a process of its own.
void measure_in_fresh_process(const group& work, const effort& how_much, heap_kind heap, samples& into);
/// Measures the group in a process of its own with a clean heap, and in another with a fragmented one.
void measure_in_fresh_processes(const group& work, const effort& how_much, samples& into);

[[nodiscard]] double median(std::vector<double> values);
/// The median over the rounds of the ratio of two variants' times in the same round.
[[nodiscard]] double median_ratio(const std::vector<double>& numerator, const std::vector<double>& denominator);

}  // namespace bench
