// Counts the requests to a resource: allocations, bytes, peaks and failures. Options add live allocations, a histogram
// of sizes, the counts between two points, and leaks.
//
// statistics<R> is an R with R's interface. It counts calls by size (allocate/deallocate), by object (create/destroy),
// by text (copy, format) and for everything at once (reset, rewind, release). It does not see allocations of an
// acre::scratch of the inner arena, nor those through a reference to the plain R: count the upstream, too, if they
// matter.
//
// Cost: about fourteen instructions per call, no memory. An option costs nothing unless it is given:
//   .live_map          address and bytes of each live allocation: a hash table, 32 to 64 bytes per allocation;
//                      percentiles, mean and deviation of the sizes that are live; a free of what is not live aborts
//   .leak_report       the destructor writes live allocations to standard error; needs .live_map
//   .histogram         the same figures of all sizes ever requested: a hash table of the sizes that occur
//   .scopes            push_scope() and pop_scope(): totals and peak between the two
//   .peak_busy_arenas  peak number of arenas in use, where R has busy_arenas()
// Memory for these records never comes from R, but from a separate upstream: acre::heap, or that of records_in. When it
// is used up, allocating goes on, and unrecorded() counts what has no record.
// Thread rules: those of R; the counters are not atomic. For several threads use synchronized<statistics<R>>
// (combine/synchronized.hpp), whose getters take the lock, too. An R that threads share by itself does not compile.
//
//     acre::statistics<acre::object_pool<Bullet>> bullets;
//     bullets.destroy(bullets.create(position, speed));
//     std::puts(bullets.report().c_str());
//
//     acre::statistics<acre::heap, acre::statistics_options{.live_map = true, .histogram = true}> watched;
//     void* p = watched.allocate(100);
//     watched.report_leaks(stderr);                            // an address, 100 bytes
//     assert(watched.live_sizes().percentile(0.5) == 100);     // of what is live
//     assert(watched.requested_sizes().percentile(0.5) == 100);  // of all requests
#pragma once

#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/forwarding.hpp>
#include <acre/core/detail/instrumented.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/statistics_options.hpp>
#include <acre/memory/heap.hpp>
#include <acre/observe/live_map.hpp>
#include <acre/observe/size_histogram.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace acre {

/// A quantity that goes up and down: {value, peak, total} as in RMM's statistics adaptor.
struct statistics_counter {
    std::uint64_t value = 0;  // current
    std::uint64_t peak = 0;   // greatest value so far
    std::uint64_t total = 0;  // sum of all increases

    /// Raises the value and the total by `amount`, and the peak to the value where it is higher.
    void add(std::uint64_t amount) noexcept {
        value += amount;
        total += amount;
        if (value > peak) peak = value;
    }
    /// Lowers the value by `amount`, to no less than 0.
    void subtract(std::uint64_t amount) noexcept { value -= amount < value ? amount : value; }
    /// Lowers the value to `max` if it is greater.
    void lower_to(std::uint64_t max) noexcept { value = max < value ? max : value; }
};

/// The counts of a statistics resource: plain values, to be copied and compared.
struct statistics_counts {
    statistics_counter allocations;  // live, peak, total
    statistics_counter bytes;        // as requested, without rounding
    std::uint64_t failures = 0;      // requests that were refused, or whose constructor threw
    std::uint64_t largest = 0;       // bytes of the largest request served

    /// Counts a request of `size` bytes that was served.
    void note_served(std::size_t size) noexcept {
        allocations.add(1);
        bytes.add(size);
        if (size > largest) largest = size;
    }
    /// Counts `count` allocations of `size` bytes together as freed.
    void note_freed(std::uint64_t count, std::uint64_t size) noexcept {
        allocations.subtract(count);
        bytes.subtract(size);
    }
    /// Counts an allocation that was resized in place, in bytes.
    void note_resized(std::size_t old_size, std::size_t new_size) noexcept {
        if (new_size >= old_size) {
            bytes.add(new_size - old_size);
        } else {
            bytes.subtract(old_size - new_size);
        }
    }
    /// Lowers the live values to at most these, as for a reset to a mark.
    void lower_to(std::uint64_t count, std::uint64_t size) noexcept {
        allocations.lower_to(count);
        bytes.lower_to(size);
    }

    /// The counts to start again from: the same live values, peaks equal to them, totals 0.
    statistics_counts restarted() const noexcept {
        return {.allocations = {allocations.value, allocations.value, 0}, .bytes = {bytes.value, bytes.value, 0}};
    }

    /// A report of several lines.
    std::string report(const char* name) const {
        char text[512];
        std::snprintf(text, sizeof text,
                      "%s\n"
                      "  allocations  %llu live, peak %llu, %llu in all, %llu failed\n"
                      "  bytes        %llu live, peak %llu, %llu in all, largest request %llu\n",
                      name, as_printed(allocations.value), as_printed(allocations.peak), as_printed(allocations.total),
                      as_printed(failures), as_printed(bytes.value), as_printed(bytes.peak), as_printed(bytes.total),
                      as_printed(largest));
        return text;
    }

private:
    static unsigned long long as_printed(std::uint64_t value) noexcept { return value; }
};

/// The counts between a push_scope() and its pop_scope().
struct statistics_scope {
    /// `total`, `failures` and `largest` count requests within the scope. `value` and `peak` include what was live
    /// before the scope began.
    statistics_counts counts;
    std::uint64_t allocations_before = 0;  // live when the scope began
    std::uint64_t bytes_before = 0;
};

/// The upstream for a statistics resource's records: the first argument of its constructor.
struct records_in {
    /// Where the records come from; it must live longer.
    resource_ref upstream;
};

namespace detail {

/// The counts of all open scopes. Cost: one more set of counts per call, and about 100 bytes of upstream per open
/// scope.
class scope_stack {
public:
    constexpr scope_stack() noexcept = default;
    explicit scope_stack(resource_ref upstream) noexcept : upstream_(upstream) {}
    scope_stack(scope_stack&& other) noexcept
        : innermost_(std::exchange(other.innermost_, {})),
          outer_(std::exchange(other.outer_, nullptr)),
          upstream_(other.upstream_) {}
    scope_stack& operator=(scope_stack&& other) noexcept {
        if (this == &other) return *this;
        detail::destroy_at(this);
        return *detail::construct_at(this, std::move(other));
    }
    ~scope_stack() {
        while (outer_ != nullptr) drop();
    }

    /// Counts of the innermost scope.
    statistics_counts& innermost() noexcept { return innermost_; }

    /// Begins a scope with the live values of `live`. Throws out_of_memory; without exceptions returns false.
    bool push(const statistics_counts& live) {
        void* storage = upstream_.try_allocate(sizeof(saved), alignof(saved));
        if (storage == nullptr) {
            raise<out_of_memory>("acre::statistics", sizeof(saved), alignof(saved));
            return false;
        }
        outer_ = ::new (storage) saved{innermost_, outer_, live.allocations.value, live.bytes.value};
        innermost_ = live.restarted();
        return true;
    }

    /// Ends the innermost scope, adds its counts to the next outer one and returns them.
    statistics_scope pop() noexcept {
        if (outer_ == nullptr) abort_on_misuse("acre::statistics", "a scope was ended that had not begun", this);
        const statistics_scope result{innermost_, outer_->allocations_before, outer_->bytes_before};
        innermost_ = outer_->counts;
        drop();
        merge(innermost_.allocations, result.counts.allocations);
        merge(innermost_.bytes, result.counts.bytes);
        innermost_.failures += result.counts.failures;
        innermost_.largest = detail::max(innermost_.largest, result.counts.largest);
        return result;
    }

    /// Restarts the counts of all scopes, as if they began now with the live values of `live`.
    void restart(const statistics_counts& live) noexcept {
        innermost_ = live.restarted();
        for (saved* each = outer_; each != nullptr; each = each->outer) {
            each->counts = innermost_;
            each->allocations_before = live.allocations.value;
            each->bytes_before = live.bytes.value;
        }
    }

private:
    struct saved {
        statistics_counts counts;  // of the next outer scope
        saved* outer;
        std::uint64_t allocations_before;
        std::uint64_t bytes_before;
    };

    static void merge(statistics_counter& outer, const statistics_counter& inner) noexcept {
        outer.value = inner.value;
        outer.peak = detail::max(outer.peak, inner.peak);
        outer.total += inner.total;
    }

    void drop() noexcept { upstream_.deallocate(std::exchange(outer_, outer_->outer), sizeof(saved), alignof(saved)); }

    statistics_counts innermost_;
    saved* outer_ = nullptr;
    resource_ref upstream_ = heap{};
};

/// Stands for a member whose option is not given. One type per member, so that [[no_unique_address]] saves its space.
template <class Member>
struct absent {
    constexpr absent() noexcept = default;
    explicit absent(resource_ref) noexcept {}
};

template <bool Wanted, class Member>
using member_if = std::conditional_t<Wanted, Member, absent<Member>>;

/// Peak number of arenas in use.
struct busy_peak {
    constexpr busy_peak() noexcept = default;
    explicit busy_peak(resource_ref) noexcept {}
    std::size_t arenas = 0;
};

/// Counts R's events.
template <class R, statistics_options Options>
class statistics_meter {
    static_assert(Options.live_map || !Options.leak_report, "acre: statistics_options: .leak_report needs .live_map");
    static_assert(
        !Options.peak_busy_arenas || requires(const R& r) { r.busy_arenas(); },
        "acre: statistics_options: .peak_busy_arenas needs a resource with busy_arenas()");

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
        if constexpr (Options.peak_busy_arenas)
            busy_.arenas = detail::max<std::size_t>(busy_.arenas, from.busy_arenas());
    }
    void freed([[maybe_unused]] const void* p, std::size_t bytes) noexcept {
        for_each_count([bytes](statistics_counts& counts) { counts.note_freed(1, bytes); });
        if constexpr (Options.live_map) {
            // An arena's container may free its storage after the arena was reset.
            if (!live_.remove(p) && !requires(const R& r) { r.mark(); }) [[unlikely]]
                abort_on_misuse(resource_name(), "a pointer was freed that is not live, or was freed before", p);
        }
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
    // With the map, exact. Without it, allocations that were live at the mark and freed since count as live again.
    void rewind(const mark_type& where) noexcept {
        if constexpr (Options.live_map) {
            const live_map::amount removed = live_.remove_from(where.next_number);
            for_each_count([=](statistics_counts& counts) { counts.note_freed(removed.count, removed.bytes); });
        } else {
            for_each_count([=](statistics_counts& counts) { counts.lower_to(where.allocations, where.bytes); });
        }
    }

    void restart([[maybe_unused]] const R& of) noexcept {
        counts_ = counts_.restarted();
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
    [[no_unique_address]] member_if<Options.live_map, live_map> live_;
    [[no_unique_address]] member_if<Options.histogram, size_histogram> sizes_;
    [[no_unique_address]] member_if<Options.scopes, scope_stack> scopes_;
    [[no_unique_address]] member_if<Options.peak_busy_arenas, busy_peak> busy_;
};

}  // namespace detail

/// An R that counts its requests.
template <resource R, statistics_options Options>
class statistics : public detail::instrumented<R, detail::statistics_meter<R, Options>> {
    using meter_type = detail::statistics_meter<R, Options>;
    using base = detail::instrumented<R, meter_type>;

public:
    using base::base;
    statistics() = default;
    /// Records use the upstream `where`; R is constructed from `arguments`.
    template <class... Arguments>
        requires std::is_constructible_v<R, Arguments...>
    explicit statistics(records_in where, Arguments&&... arguments)
        : base(meter_type{where}, std::forward<Arguments>(arguments)...) {}
    /// As above, with R's options: statistics<R, ...> s{records_in{own}, {.name = value}}.
    explicit statistics(records_in where, const detail::options_of<R>& given, resource_ref upstream = heap{})
        requires std::is_constructible_v<R, const detail::options_of<R>&, resource_ref>
        : base(meter_type{where}, given, upstream) {}

    /// The counts so far.
    const statistics_counts& counts() const noexcept { return this->meter().counts(); }
    /// A report of several lines; some options add lines. Throws std::bad_alloc.
    std::string report() const {
        std::string text = counts().report(meter_type::resource_name());
        if constexpr (Options.histogram) append_sizes(text);
        if constexpr (Options.peak_busy_arenas) {
            text += "  busy arenas  peak " + std::to_string(peak_busy_arenas()) + "\n";
        }
        return text;
    }
    /// Restarts all counts, in all scopes too, from the current live values: peaks equal these, totals, failures and
    /// the histogram are empty.
    void reset_counts() noexcept { this->meter().restart(*this); }

    /// All live allocations, oldest first. Throws std::bad_alloc: the vector uses the general heap.
    std::vector<live_allocation> live_allocations() const
        requires(Options.live_map)
    {
        return this->meter().live().allocations();
    }
    /// Calls `function(const live_allocation&)` for each live allocation, in no order and without memory.
    template <class Function>
        requires(Options.live_map)
    void for_each_live(Function function) const {
        this->meter().live().for_each(function);
    }
    /// Requested bytes of the live allocation at `p`; empty when none begins there. Constant time.
    std::optional<std::size_t> live_bytes_at(const void* p) const noexcept
        requires(Options.live_map)
    {
        return this->meter().live().bytes_at(p);
    }
    /// Writes a line with address and bytes for each live allocation, oldest first, and returns their number. Writes
    /// nothing when there are none.
    std::size_t report_leaks(std::FILE* to) const noexcept
        requires(Options.live_map)
    {
        return this->meter().live().report(to, meter_type::resource_name());
    }

    /// Bytes of each live allocation by its address, for look-up: live_by_address().at(p), or as a std::map. Throws
    /// std::bad_alloc: it uses the general heap.
    detail::sorted_entries<const void*, std::size_t> live_by_address() const
        requires(Options.live_map)
    {
        return this->meter().live().by_address();
    }
    /// The sizes that are live now: percentiles, mean, deviation, and look-up by size. In memory of the records'
    /// upstream. Linear in the live allocations.
    size_histogram live_sizes() const noexcept
        requires(Options.live_map)
    {
        return this->meter().live().sizes();
    }

    /// The sizes of all requests served so far, or since reset_counts(), whether live or freed.
    const size_histogram& requested_sizes() const noexcept
        requires(Options.histogram)
    {
        return this->meter().sizes();
    }
    /// Number of live allocations and sizes without a record, for lack of memory.
    std::uint64_t unrecorded() const noexcept
        requires(Options.live_map || Options.histogram)
    {
        std::uint64_t count = 0;
        if constexpr (Options.live_map) count += this->meter().live().unrecorded();
        if constexpr (Options.histogram) count += this->meter().sizes().unrecorded();
        return count;
    }

    /// Begins a scope inside the open ones. Throws out_of_memory when there is no memory for its record; without
    /// exceptions returns false instead, and no scope begins.
    bool push_scope()
        requires(Options.scopes)
    {
        return this->meter().scopes().push(counts());
    }
    /// Ends the innermost scope and returns its counts. Aborts when no scope is open.
    statistics_scope pop_scope() noexcept
        requires(Options.scopes)
    {
        return this->meter().scopes().pop();
    }

    /// Peak number of arenas in use.
    std::size_t peak_busy_arenas() const noexcept
        requires(Options.peak_busy_arenas)
    {
        return this->meter().busy().arenas;
    }

private:
    void append_sizes(std::string& text) const
        requires(Options.histogram)
    {
        const size_histogram& sizes = requested_sizes();
        char line[160];
        std::snprintf(line, sizeof line, "  requested    mean %.1f, deviation %.1f, median %zu, 99 %% up to %zu\n",
                      sizes.mean(), sizes.standard_deviation(), sizes.percentile(0.5), sizes.percentile(0.99));
        text += line;
    }
};

}  // namespace acre
