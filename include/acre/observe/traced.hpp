// An R whose allocations `acre record` records like malloc's: with size, thread, time, and the call stacks of
// allocation and free.
//
// Without it a recording shows only the blocks that an arena or a pool takes from upstream. traced<R> is an R with R's
// interface. It reports calls by size (allocate/deallocate), by object (create/destroy), by text (copy, format) and for
// everything at once (reset, rewind, release, its end), which frees all live allocations. Upstream calls of R while it
// serves a request are not recorded. Allocations that the program's constructors make in create() are recorded,
// those in create_array() are not. Allocations through a reference to the plain R, for example by an acre::scratch, are
// not seen.
//
// Cost: one word. Without a recorder, four to six instructions for a pair of calls by size; while recording, that of a
// recorded malloc. Thread rules: those of R; with a lock: synchronized<traced<R>>.
//
//     acre::traced<acre::arena> level;
//     Orc* orc = level.create<Orc>("URG");
//     level.reset();                                   // in the trace, the orc is freed here
//
//     acre::pmr<acre::traced<acre::multi_pool>> nodes;  // for std::pmr
//     std::pmr::list<int> numbers{&nodes};
//
//     acre::traced<acre::pmr_upstream> theirs{std::pmr::get_default_resource()};  // of any std::pmr resource
//     acre::pmr face{theirs};
//     std::pmr::vector<int> more{&face};
#pragma once

#include <acre/core/detail/instrumented.hpp>
#include <acre/core/resource.hpp>
#include <acre/observe/detail/recorder_interface.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace acre {

namespace detail {

/// Reports R's events to the recorder.
class trace_meter {
public:
    static constexpr bool shared_by_threads = true;
    static constexpr bool ignores_sizes = true;

    struct mark_type {
        std::uint64_t moment;
    };

    /// Guard: while it lives, this thread's allocations are internal to the resource, or are not.
    template <bool Inside>
    class period {
    public:
        period() noexcept : previous_(acre_record_inside_resource(Inside)) {}
        period(const period&) = delete;
        period& operator=(const period&) = delete;
        ~period() { acre_record_inside_resource(previous_); }

    private:
        bool previous_;
    };

    constexpr trace_meter() noexcept = default;
    // Live allocations keep their resource number.
    trace_meter(trace_meter&& other) noexcept : number_(other.take_number()) {}
    trace_meter& operator=(trace_meter&& other) noexcept {
        all_freed();
        number_.store(other.take_number(), std::memory_order_relaxed);
        return *this;
    }
    ~trace_meter() { all_freed(); }

    static bool is_watching() noexcept { return is_recorded(); }
    static period<true> working() noexcept { return {}; }
    static period<false> pausing() noexcept { return {}; }

    static constexpr bool reserve(std::size_t) noexcept { return true; }
    static constexpr void refuse(std::size_t) noexcept {}
    static constexpr void unreserve(std::size_t) noexcept {}
    static constexpr void failed(std::size_t) noexcept {}

    template <class R>
    void served(const R&, const void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (is_recorded()) acre_record_allocated(number(), p, bytes, alignment);
    }
    void freed(const void* p, std::size_t) noexcept {
        if (is_recorded()) acre_record_deallocated(number(), p);
    }
    void resized(const void* p, std::size_t, std::size_t new_bytes) noexcept {
        if (!is_recorded()) return;
        acre_record_deallocated(number(), p);
        acre_record_allocated(number(), p, new_bytes, 1);
    }
    void all_freed() noexcept {
        if (is_recorded() && has_number()) acre_record_reset(number());
    }
    mark_type mark() const noexcept { return {is_recorded() ? acre_record_moment() : 0}; }
    void rewind(const mark_type& where) noexcept {
        if (is_recorded() && has_number()) acre_record_rewound(number(), where.moment);
    }

private:
    bool has_number() const noexcept { return number_.load(std::memory_order_relaxed) != 0; }
    std::uint64_t take_number() noexcept { return number_.exchange(0, std::memory_order_relaxed); }

    // Assigned at the first use, which may happen in several threads at once.
    std::uint64_t number() noexcept {
        std::uint64_t known = number_.load(std::memory_order_relaxed);
        if (known != 0) [[likely]]
            return known;
        const std::uint64_t added = acre_record_new_resource();
        return number_.compare_exchange_strong(known, added, std::memory_order_relaxed) ? added : known;
    }

    std::atomic<std::uint64_t> number_ = 0;
};

}  // namespace detail

/// An R that reports its allocations to the recorder.
template <resource R>
class traced : public detail::instrumented<R, detail::trace_meter> {
    using base = detail::instrumented<R, detail::trace_meter>;

public:
    using base::base;
    traced() = default;
};

}  // namespace acre
