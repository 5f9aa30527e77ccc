// The figures of a trace: totals, sizes, lifetimes, sites, and the scopes that the program marks.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "trace/call_paths.hpp"
#include "trace/live_table.hpp"
#include "trace/model.hpp"
#include "trace/reader.hpp"
#include "trace/tally.hpp"

namespace acre::tool {

/// Counts sizes in classes, 32 per power of two, in bounded memory: a percentile is at most 1/32 too large, and exact
/// below 64.
class run_sizes {
public:
    void add(std::uint64_t bytes) {
        ++counts_[class_of(bytes)];
        ++count_;
        largest_ = std::max(largest_, bytes);
    }

    /// The size that at least the fraction `share` of all runs does not exceed; 0 without runs.
    std::uint64_t percentile(double share) const {
        const double wanted = share * static_cast<double>(count_);
        std::uint64_t passed = 0;
        for (const auto& [number, count] : counts_) {
            passed += count;
            if (static_cast<double>(passed) >= wanted) return std::min(largest_in(number), largest_);
        }
        return largest_;
    }

    std::uint64_t largest() const noexcept { return largest_; }

private:
    static constexpr unsigned precision = 5;  // 2^5 classes to each power of two

    static unsigned shift_of(std::uint64_t bytes) {
        const auto width = static_cast<unsigned>(std::bit_width(bytes));
        return width > precision + 1 ? width - precision - 1 : 0;
    }
    static std::uint32_t class_of(std::uint64_t bytes) {
        const unsigned shift = shift_of(bytes);
        return (shift << precision) + static_cast<std::uint32_t>(bytes >> shift);
    }
    static std::uint64_t largest_in(std::uint32_t number) {
        if (number < 2u << precision) return number;
        const unsigned shift = (number >> precision) - 1;
        const std::uint64_t first = number - (shift << precision);
        return (first << shift) + ((std::uint64_t{1} << shift) - 1);
    }

    std::map<std::uint32_t, std::uint64_t> counts_;
    std::uint64_t count_ = 0;
    std::uint64_t largest_ = 0;
};

/// The figures of all scopes with one name. A run includes the allocations of its thread in nested scopes. A scope
/// nested in one of the same name counts as a run of its own, but its allocations count once.
struct scope_summary {
    std::string name;
    std::uint32_t number = 0;  // in trace_tables::scope_names
    std::uint64_t runs = 0;
    std::uint64_t threads = 0;
    tally allocated;
    tally left;                      // objects that outlived the run that allocated them
    std::uint64_t runs_leaving = 0;  // runs with such objects
    run_sizes bytes;                 // allocated by each run
};

/// Computes scope summaries from the events and marks, in order. Memory in proportion to the names, the open scopes and
/// the live objects in them.
class scope_summariser {
public:
    explicit scope_summariser(const trace_tables& tables);

    void add(const event& e);
    void add(const mark& m);

    /// Ends the open scopes and returns the scopes that ran, those with the most bytes first.
    std::vector<scope_summary> finish();

private:
    /// What an open scope allocated so far, without the open scopes nested in it.
    struct run {
        run(std::uint32_t of_name, std::uint64_t object, bool outermost)
            : name{of_name}, first_object{object}, is_outermost{outermost} {}

        std::uint32_t name;
        std::uint64_t first_object;
        bool is_outermost;  // not nested in one of the same name
        tally allocated;
        tally live;
    };
    struct live_object {
        std::uint64_t size = 0;
        std::uint32_t thread = 0;
    };

    void begin(const mark& m);
    void end(std::uint32_t thread);
    static run* run_of(std::vector<run>& open, std::uint64_t object);

    std::vector<scope_summary> scopes_;
    std::unordered_map<std::uint32_t, std::vector<run>> open_;     // by thread, innermost last
    std::unordered_map<std::uint64_t, std::uint64_t> open_names_;  // nesting of each thread in each name
    std::unordered_set<std::uint64_t> threads_;                    // pairs of thread and name
    live_array<live_object> live_;
    std::uint64_t objects_ = 0;
};

/// The figures of one site.
struct site_summary {
    std::uint32_t site = 0;
    tally allocated;
    tally never_freed;
    std::uint64_t peak_bytes = 0;  // peak of live bytes of this site
    std::uint64_t smallest = ~std::uint64_t{0};
    std::uint64_t largest = 0;
    std::uint64_t lifetime = 0;  // nanoseconds, sum over all freed objects
    std::uint32_t stack = no_stack;
};

/// Of a sampled trace, all figures but `events` are estimates.
struct trace_summary {
    static constexpr std::size_t size_classes = 65;      // class n: sizes below 2^n and not in a smaller class
    static constexpr std::size_t lifetime_classes = 10;  // below 1 us, below 10 us, ... and the rest

    std::uint64_t events = 0;
    std::uint64_t frees = 0;
    std::uint64_t reallocs = 0;
    std::uint64_t threads = 0;
    std::uint64_t freed_by_other_thread = 0;
    tally allocated;
    tally never_freed;
    std::uint64_t peak_bytes = 0;
    std::uint64_t peak_objects = 0;
    std::array<tally, size_classes> sizes{};
    std::array<tally, lifetime_classes> lifetimes{};
    std::vector<site_summary> sites;    // most bytes first
    std::vector<scope_summary> scopes;  // the same
};

/// Reads all events and marks; memory in proportion to the live objects, the open scopes and the tables.
/// Passes each event on to `also`, if there is one, so that reading once serves both.
trace_summary summarise(trace_reader& reader, const call_paths& paths,
                        const std::function<void(const event&)>& also = {});

}  // namespace acre::tool
