// Measures pieces of work side by side: the variants of one group run round by round, each round in a new order, and
// what counts is the median over the rounds.
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

/// The compiler must assume that somebody reads what `p` points to, and all other memory that is reachable. By value:
/// handing a member by reference to an asm statement made g++ 12 lose a store.
inline void escape(const void* p) noexcept {
    asm volatile("" : : "r"(p) : "memory");
}

/// The same pointer, about which the compiler knows nothing any more.
template <class T>
[[nodiscard]] T* hide(T* p) noexcept {
    asm volatile("" : "+r"(p));
    return p;
}

/// What every allocation pays on every side: one byte written, and the pointer given to somebody.
inline void touch(void* p) noexcept {
    *static_cast<char*>(p) = 1;
    escape(p);
}

/// Random numbers that are the same in every run.
class random_numbers {
public:
    explicit random_numbers(std::uint64_t seed) noexcept : state_{seed} {}
    std::uint64_t operator()() noexcept;
    /// Uniform in [0, bound), to within the bias that a benchmark can bear.
    std::size_t below(std::size_t bound) noexcept { return static_cast<std::size_t>((*this)() % bound); }

private:
    std::uint64_t state_;
};

/// 0..n-1 in a fixed random order.
[[nodiscard]] std::vector<std::uint32_t> shuffled(std::size_t n, std::uint64_t seed);

/// Seconds that this thread has had a processor: other programs on the machine do not count.
[[nodiscard]] double cpu_seconds() noexcept;

/// Seconds that the threads of this process have had processors, all together.
[[nodiscard]] double process_seconds() noexcept;

/// Seconds on the clock, for work of several threads: waiting for each other is part of it.
[[nodiscard]] double wall_seconds() noexcept;

/// What malloc's heap looks like after a program has run for a while: 100,000 blocks of 16 to 4,096 bytes, small ones
/// more often than large ones, and then every other one of them freed. The rest lives as long as this object.
class littered_heap {
public:
    littered_heap();

private:
    std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

enum class heap_kind { clean, littered };

/// What the id of a group ends with where its heap was littered.
inline const std::string littered = ", littered";

using round_function = std::function<void()>;

/// A round function that owns its work.
template <class Work, class... Args>
[[nodiscard]] round_function make_round(Args... args) {
    return [work = std::make_shared<Work>(std::move(args)...)] { (*work)(); };
}

struct variant {
    std::string name;
    std::function<round_function()> prepare;  // builds the work; what it costs is not measured
};

/// What counts in a group: this thread's processor time, or the clock on the wall. Beside the latter the processor time
/// of all threads is taken, as a group of its own.
enum class time_kind { processor, wall };

/// The variant that every other is compared with, where a group names no other.
inline const std::string baseline = "new/delete";

/// What the id of a group of threads ends with where it is their processor time.
inline const std::string of_processors = ", processor time";

struct group_description {
    std::string id;
    std::string title;
    std::size_t operations;  // in one round: times and instructions are divided by it
    time_kind time = time_kind::processor;
    bool in_fresh_processes = false;  // one whose heap is clean and one whose heap is littered, reported apart
    std::string compared_with = baseline;
};

struct group {
    group_description about;
    std::vector<variant> variants;
};

/// One workload in a number of threads: a column of the workload's table.
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

/// Work that must start in a fresh process each time, because what it measures is how memory is obtained.
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

/// Bytes taken from upstream at the peak, per live byte.
struct footprint {
    std::size_t live_bytes;
    std::size_t upstream_bytes;
    std::size_t upstream_calls;  // 0: not known
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

/// A figure that needs no repeating: `text` is how the report shows it.
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

/// All that can be measured. Contestants enter; a group exists from its first entry on, and keeps that place.
class suite {
public:
    void enter(const group_description& about, std::string name, std::function<round_function()> prepare);
    void enter_isolated(const isolated_group& about, std::string name, std::function<std::vector<double>()> run);
    void enter_footprint(const std::string& id, const std::string& title, std::string name,
                         std::function<footprint()> run);
    void enter_figure(const figure_group& about, std::string name, std::function<figure()> run);
    /// A round whose call of count_this is counted, instruction by instruction, and which nobody times.
    void enter_counted(const group_description& about, std::string name, std::function<round_function()> prepare);
    void enter_scaling(const scaling_step& at, std::string name, std::function<round_function()> prepare);
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
/// Measures the group in a process of its own with a clean heap, and in another with a littered one.
void measure_in_fresh_processes(const group& work, const effort& how_much, samples& into);

[[nodiscard]] double median(std::vector<double> values);
/// The median over the rounds of what one variant took relative to another in the same round.
[[nodiscard]] double median_ratio(const std::vector<double>& numerator, const std::vector<double>& denominator);

}  // namespace bench
