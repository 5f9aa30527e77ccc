// Counts what a resource is asked for: allocations, bytes, peaks, failures; and, where its options ask for it, what is
// live, how often each size is asked for, what happens between two points, and what was never given back.
//
// statistics<R> is an R: it keeps R's interface and counts the calls made through it, whether by size
// (allocate/deallocate), by object (create/destroy), by text (copy, format) or by all at once (reset, rewind, release).
// What an acre::scratch of the arena inside allocates, and what is allocated through a reference to the plain R, is not
// seen: count the upstream as well if that matters.
//
// Cost: about fourteen instructions a call, no memory. Each option adds its own, and nothing where it is not given:
//   .live_map          address and bytes of all that is live: a hash table, 32 to 64 bytes an allocation
//   .leak_report       at its end writes what is still live to standard error; needs .live_map
//   .histogram         each size's count, percentiles, mean, deviation: a hash table of the sizes that occur
//   .scopes            push_scope() and pop_scope(): what was allocated between, the peak within
//   .peak_busy_arenas  the most arenas in use at once, where R has busy_arenas()
// The memory for these comes from an upstream of their own, acre::heap or what records_in names, never from R. When it
// has none left, allocating goes on, and what could not be recorded is counted (unrecorded()).
// Thread rules: those of R; the counters are not atomic. For several threads: synchronized<statistics<R>>
// (acre/combine/synchronized.hpp), whose getters take the lock too.
//
//     acre::statistics<acre::object_pool<Bullet>> bullets;
//     bullets.destroy(bullets.create(position, speed));
//     std::puts(bullets.report().c_str());
//
//     acre::statistics<acre::heap, acre::statistics_options{.live_map = true, .histogram = true}> watched;
//     void* p = watched.allocate(100);
//     watched.report_leaks(stderr);  // an address, 100 bytes
#pragma once

#include <acre/core/detail/forwarding.hpp>
#include <acre/core/detail/instrumented.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/observe/detail/scope_stack.hpp>
#include <acre/observe/live_map.hpp>
#include <acre/observe/size_histogram.hpp>
#include <acre/observe/statistics_counts.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace acre {

/// What a statistics resource records beyond counts, bytes and peaks.
struct statistics_options {
    bool live_map = false;          // the address and bytes of each live allocation
    bool leak_report = false;       // what is live at its end is written to standard error; needs live_map
    bool histogram = false;         // how often each size was asked for
    bool scopes = false;            // counts between push_scope() and pop_scope()
    bool peak_busy_arenas = false;  // the most arenas in use at once
};

/// Where a statistics resource takes the memory for its records: the first argument of its constructor.
struct records_in {
    resource_ref upstream;
};

namespace detail {

/// In place of a part that was not asked for; of different types for different parts, so that none takes space.
template <class Part>
struct absent {
    constexpr absent() noexcept = default;
    explicit absent(resource_ref) noexcept {}
};

template <bool Wanted, class Part>
using part_if = std::conditional_t<Wanted, Part, absent<Part>>;

/// The most arenas that were in use at once.
struct busy_peak {
    constexpr busy_peak() noexcept = default;
    explicit busy_peak(resource_ref) noexcept {}
    std::size_t arenas = 0;
};

/// Records what R serves.
template <class R, statistics_options Options>
class statistics_meter {
    static_assert(Options.live_map || !Options.leak_report, "statistics_options: .leak_report needs .live_map");
    static_assert(
        !Options.peak_busy_arenas || requires(const R& r) { r.busy_arenas(); },
        "statistics_options: .peak_busy_arenas needs a resource with busy_arenas()");

public:
    struct mark_type {
        std::uint64_t allocations;
        std::uint64_t bytes;
        std::uint64_t next_number;
    };

    constexpr statistics_meter() noexcept = default;
    explicit statistics_meter(records_in where) noexcept
        : live_(where.upstream), sizes_(where.upstream), scopes_(where.upstream), busy_(where.upstream) {}
    statistics_meter(statistics_meter&& other) noexcept
        : counts_(std::exchange(other.counts_, {})),
          live_(std::move(other.live_)),
          sizes_(std::move(other.sizes_)),
          scopes_(std::move(other.scopes_)),
          busy_(std::exchange(other.busy_, {})) {}
    statistics_meter& operator=(statistics_meter&& other) noexcept {
        report_at_the_end();
        counts_ = std::exchange(other.counts_, {});
        live_ = std::move(other.live_);
        sizes_ = std::move(other.sizes_);
        scopes_ = std::move(other.scopes_);
        busy_ = std::exchange(other.busy_, {});
        return *this;
    }
    ~statistics_meter() { report_at_the_end(); }

    static constexpr bool reserve(std::size_t) noexcept { return true; }
    static constexpr void refuse(std::size_t) noexcept {}
    static constexpr void unreserve(std::size_t) noexcept {}

    void failed(std::size_t) noexcept {
        for_each_count([](statistics_counts& counts) { ++counts.failures; });
    }
    void served([[maybe_unused]] const R& from, [[maybe_unused]] const void* p, std::size_t bytes,
                std::size_t) noexcept {
        for_each_count([bytes](statistics_counts& counts) { counts.note_served(bytes); });
        if constexpr (Options.live_map) live_.add(p, bytes);
        if constexpr (Options.histogram) sizes_.add(bytes);
        if constexpr (Options.peak_busy_arenas) busy_.arenas = std::max<std::size_t>(busy_.arenas, from.busy_arenas());
    }
    void freed([[maybe_unused]] const void* p, std::size_t bytes) noexcept {
        for_each_count([bytes](statistics_counts& counts) { counts.note_freed(1, bytes); });
        if constexpr (Options.live_map) live_.remove(p);
    }
    void resized([[maybe_unused]] const void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
        for_each_count([=](statistics_counts& counts) { counts.note_resized(old_bytes, new_bytes); });
        if constexpr (Options.live_map) live_.resize(p, new_bytes);
    }
    void all_freed() noexcept {
        for_each_count([](statistics_counts& counts) { counts.lower_to(0, 0); });
        if constexpr (Options.live_map) live_.clear();
    }

    mark_type mark() const noexcept {
        mark_type here{counts_.allocations.value, counts_.bytes.value, 0};
        if constexpr (Options.live_map) here.next_number = live_.next_number();
        return here;
    }
    // With the map it is known what goes. Without, what was live at the mark and freed since is counted as live again.
    void rewind(const mark_type& where) noexcept {
        if constexpr (Options.live_map) {
            const live_map::amount gone = live_.remove_from(where.next_number);
            for_each_count([=](statistics_counts& counts) { counts.note_freed(gone.count, gone.bytes); });
        } else {
            for_each_count([=](statistics_counts& counts) { counts.lower_to(where.allocations, where.bytes); });
        }
    }

    void restart([[maybe_unused]] const R& of) noexcept {
        counts_ = counts_.anew();
        if constexpr (Options.peak_busy_arenas) busy_.arenas = of.busy_arenas();
        if constexpr (Options.histogram) sizes_.clear();
        if constexpr (Options.scopes) scopes_.restart(counts_);
    }

    const statistics_counts& counts() const noexcept { return counts_; }
    const auto& live() const noexcept { return live_; }
    const auto& sizes() const noexcept { return sizes_; }
    auto& scopes() noexcept { return scopes_; }
    const auto& busy() const noexcept { return busy_; }

    static constexpr const char* resource_name() noexcept {
        if constexpr (requires { R::name; })
            return R::name;
        else
            return "resource";
    }

private:
    template <class Function>
    void for_each_count(Function function) noexcept {
        function(counts_);
        if constexpr (Options.scopes) function(scopes_.innermost());
    }

    void report_at_the_end() const noexcept {
        if constexpr (Options.leak_report) live_.report(stderr, resource_name());
    }

    statistics_counts counts_;
    [[no_unique_address]] part_if<Options.live_map, live_map> live_;
    [[no_unique_address]] part_if<Options.histogram, size_histogram> sizes_;
    [[no_unique_address]] part_if<Options.scopes, scope_stack> scopes_;
    [[no_unique_address]] part_if<Options.peak_busy_arenas, busy_peak> busy_;
};

}  // namespace detail

/// An R that counts what is asked of it.
template <resource R, statistics_options Options = statistics_options{}>
class statistics : public detail::instrumented<R, detail::statistics_meter<R, Options>> {
    using meter_type = detail::statistics_meter<R, Options>;
    using base = detail::instrumented<R, meter_type>;

public:
    using base::base;
    statistics() = default;
    /// The memory for what is recorded comes from `where`; R is constructed from `arguments`.
    template <class... Arguments>
        requires std::is_constructible_v<R, Arguments...>
    explicit statistics(records_in where, Arguments&&... arguments)
        : base(meter_type{where}, std::forward<Arguments>(arguments)...) {}
    /// The same with R's options: statistics<R, ...> s{records_in{own}, {.name = value}}.
    explicit statistics(records_in where, const detail::options_of<R>& chosen, resource_ref upstream = heap{})
        requires std::is_constructible_v<R, const detail::options_of<R>&, resource_ref>
        : base(meter_type{where}, chosen, upstream) {}

    /// What was counted so far.
    const statistics_counts& counts() const noexcept { return this->meter().counts(); }
    /// The same for people, some lines, with what the options add. Throws std::bad_alloc.
    std::string report() const {
        std::string text = counts().report(meter_type::resource_name());
        if constexpr (Options.histogram) append_sizes(text);
        if constexpr (Options.peak_busy_arenas) {
            text += "  busy arenas  peak " + std::to_string(peak_busy_arenas()) + "\n";
        }
        return text;
    }
    /// Starts counting anew, in all scopes, from what is live now: peaks begin there, totals, failures and sizes at
    /// nothing.
    void reset_counts() noexcept { this->meter().restart(*this); }

    /// All that is live, oldest first. Throws std::bad_alloc: the vector is the general heap's.
    std::vector<live_allocation> live_allocations() const
        requires(Options.live_map)
    {
        return this->meter().live().allocations();
    }
    /// Bytes of the live allocation at `p`, as asked for; empty when none begins there. Constant time.
    std::optional<std::size_t> live_bytes_at(const void* p) const noexcept
        requires(Options.live_map)
    {
        return this->meter().live().bytes_at(p);
    }
    /// Writes a line for each live allocation, with its address and bytes, oldest first, and returns how many those
    /// are. Writes nothing when there are none.
    std::size_t report_leaks(std::FILE* to) const noexcept
        requires(Options.live_map)
    {
        return this->meter().live().report(to, meter_type::resource_name());
    }

    /// How often each size was asked for, ascending by size. Throws std::bad_alloc: the vector is the general heap's.
    std::vector<size_count> histogram() const
        requires(Options.histogram)
    {
        return this->meter().sizes().sizes();
    }
    /// The size that at least the part `p` of all requests do not exceed (the nearest rank), for p in (0, 1]:
    /// percentile(0.5) is the median, percentile(1) the largest. 0 when nothing was asked for.
    std::size_t percentile(double p) const noexcept
        requires(Options.histogram)
    {
        return this->meter().sizes().percentile(p);
    }
    /// Mean size of a request in bytes.
    double mean() const noexcept
        requires(Options.histogram)
    {
        return this->meter().sizes().mean();
    }
    /// Standard deviation of the sizes of all requests, in bytes.
    double standard_deviation() const noexcept
        requires(Options.histogram)
    {
        return this->meter().sizes().standard_deviation();
    }
    /// How many records there was no memory for: live allocations, sizes.
    std::uint64_t unrecorded() const noexcept
        requires(Options.live_map || Options.histogram)
    {
        std::uint64_t count = 0;
        if constexpr (Options.live_map) count += this->meter().live().unrecorded();
        if constexpr (Options.histogram) count += this->meter().sizes().unrecorded();
        return count;
    }

    /// Begins a scope, within others that are open. Throws out_of_memory when there is no memory to record it; without
    /// exceptions it is not begun and the result is false.
    bool push_scope()
        requires(Options.scopes)
    {
        return this->meter().scopes().push(counts());
    }
    /// Ends the scope begun last and says what it counted. Aborts when none is open.
    statistics_scope pop_scope() noexcept
        requires(Options.scopes)
    {
        return this->meter().scopes().pop();
    }

    /// The most arenas that were in use at once.
    std::size_t peak_busy_arenas() const noexcept
        requires(Options.peak_busy_arenas)
    {
        return this->meter().busy().arenas;
    }

private:
    void append_sizes(std::string& text) const
        requires(Options.histogram)
    {
        char line[160];
        std::snprintf(line, sizeof line, "  sizes        mean %.1f, deviation %.1f, median %zu, 99 %% up to %zu\n",
                      mean(), standard_deviation(), percentile(0.5), percentile(0.99));
        text += line;
    }
};

}  // namespace acre
