// An R with a limit on its live bytes: a budget for a part of a program.
//
// limited<R> is an R: it keeps R's interface and refuses requests beyond the limit (limit_exceeded). It counts the
// bytes requested; the option .limit_bytes of arenas and pools, or a limited<heap> as upstream, bounds what they take
// from upstream. It does not see calls through a reference to the plain R, an acre::scratch or acre::cursor of the
// arena inside, class-level functions of acre::typed_arena and acre::chunk_pool (allocate_one, class_new, new (chunks)
// T), or frees between a mark and the rewind to it. destroy() of an object of a chunk_pool does not compile where its
// class may be a base, which does not tell the object's bytes: use a final class, or acre::unique_ptr.
//
// Cost: about twelve instructions a call, no memory. Thread rules: for one thread at a time, since its counters are not
// atomic; for several threads synchronized<limited<R>> (acre/combine/synchronized.hpp). An R that threads share by
// itself does not compile: concurrent pools have a limit of their own (.limit_bytes).
//
//     using namespace acre::literals;
//     acre::limited<acre::multi_pool> plugin{{.limit_bytes = 64_MiB}};
//     acre::limited<acre::resource_ref> part{{.limit_bytes = 1_MiB}, level};  // of a resource that others use too
#pragma once

#include <acre/core/detail/forwarding.hpp>
#include <acre/core/detail/instrumented.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace acre {

/// The limit.
struct limited_options {
    std::size_t limit_bytes = 0;  // upper limit of the live bytes, as requested; required, at least 1
};

namespace detail {

/// Counts live bytes and refuses more than a limit.
class limit_meter {
public:
    struct mark_type {
        std::size_t bytes;
        std::size_t count;
    };

    explicit limit_meter(std::size_t limit) noexcept : limit_(limit) {}
    // The source keeps its limit, with nothing live.
    limit_meter(limit_meter&& other) noexcept
        : limit_(other.limit_),
          live_(std::exchange(other.live_, 0)),
          count_(std::exchange(other.count_, 0)),
          peak_(std::exchange(other.peak_, 0)) {}
    limit_meter& operator=(limit_meter&& other) noexcept {
        limit_ = other.limit_;
        live_ = std::exchange(other.live_, 0);
        count_ = std::exchange(other.count_, 0);
        peak_ = std::exchange(other.peak_, 0);
        return *this;
    }

    // Reserved before the request is served, so allocations in a constructor find only the rest of the budget.
    bool reserve(std::size_t bytes) noexcept {
        if (bytes > limit_ - live_) [[unlikely]]
            return false;
        live_ += bytes;
        return true;
    }
    void refuse(std::size_t bytes) const { raise<limit_exceeded>("acre::limited", bytes, live_, limit_); }
    void unreserve(std::size_t bytes) noexcept { live_ -= bytes < live_ ? bytes : live_; }
    void failed(std::size_t bytes) noexcept { unreserve(bytes); }
    template <class R>
    void served(const R&, const void*, std::size_t, std::size_t) noexcept {
        ++count_;
        note_peak();
    }
    void freed(const void*, std::size_t bytes) noexcept {
        unreserve(bytes);
        if (count_ != 0) --count_;
    }
    void resized(const void*, std::size_t old_bytes, std::size_t new_bytes) noexcept {
        if (new_bytes < old_bytes) unreserve(old_bytes - new_bytes);
        note_peak();
    }
    void all_freed() noexcept {
        live_ = 0;
        count_ = 0;
    }
    mark_type mark() const noexcept { return {live_, count_}; }
    void rewind(const mark_type& where) noexcept {
        if (where.bytes < live_) live_ = where.bytes;
        if (where.count < count_) count_ = where.count;
    }

    std::size_t limit() const noexcept { return limit_; }
    std::size_t live() const noexcept { return live_; }
    std::size_t peak() const noexcept { return peak_; }
    std::size_t count() const noexcept { return count_; }

private:
    void note_peak() noexcept {
        if (live_ > peak_) peak_ = live_;
    }

    std::size_t limit_;
    std::size_t live_ = 0;
    std::size_t count_ = 0;
    std::size_t peak_ = 0;
};

}  // namespace detail

/// An R with at most `limit_bytes` bytes live.
template <resource R>
class limited : public detail::instrumented<R, detail::limit_meter> {
    using base = detail::instrumented<R, detail::limit_meter>;

public:
    using options_type = limited_options;

    /// R is constructed from `arguments`. Throws bad_option, and what R's construction throws.
    template <class... Arguments>
        requires std::is_constructible_v<R, Arguments...>
    explicit limited(const limited_options& limits, Arguments&&... arguments)
        : base(meter_of(limits), std::forward<Arguments>(arguments)...) {}
    /// R is constructed from its options: limited<R> l{{.limit_bytes = 1_MiB}, {.name = value}}.
    explicit limited(const limited_options& limits, const detail::options_of<R>& chosen, resource_ref upstream = heap{})
        requires std::is_constructible_v<R, const detail::options_of<R>&, resource_ref>
        : base(meter_of(limits), chosen, upstream) {}

    /// Refused by a sentence: a number without its name.
    template <class Number>
        requires std::is_arithmetic_v<Number>
    __attribute__((unavailable("acre::limited: name the number, {{.limit_bytes = 1000}}"))) explicit limited(Number);

    /// The limit.
    std::size_t limit_bytes() const noexcept { return this->meter().limit(); }
    /// Live bytes, as requested.
    std::size_t live_bytes() const noexcept { return this->meter().live(); }
    /// Peak of live_bytes().
    std::size_t peak_bytes() const noexcept { return this->meter().peak(); }
    /// Bytes that fit without an upstream call and within the limit, where R says how many fit.
    std::size_t remaining() const noexcept
        requires requires(const R& r) { r.remaining(); }
    {
        return detail::min(limit_bytes() - live_bytes(), base::remaining());
    }
    /// Number of live allocations.
    std::size_t live_count() const noexcept { return this->meter().count(); }

private:
    static detail::limit_meter meter_of(const limited_options& options) {
        require_at_least(1, "acre::limited", "limit_bytes", options.limit_bytes);
        return detail::limit_meter{options.limit_bytes};
    }
};

}  // namespace acre
