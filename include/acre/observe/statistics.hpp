// Counts what a resource is asked for: allocations, bytes, peaks, failures.
//
// statistics<R> is an R: it keeps R's interface and counts the calls made through it, whether by size
// (allocate/deallocate), by object (create/destroy), by text (copy, format) or by all at once (reset, rewind, release).
// What an acre::scratch of the arena inside allocates, and what is allocated through a reference to the plain R, is not
// seen: count the upstream as well if that matters.
//
// Cost: about eight instructions a call, no memory. Thread rules: those of R; the counters are not atomic.
//
//     acre::statistics<acre::object_pool<Bullet>> bullets;
//     bullets.destroy(bullets.create(position, speed));
//     std::puts(bullets.report().c_str());
//
// The counter of {value, peak, total} is that of RMM's statistics adaptor.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/resource.hpp>
#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace acre {

/// A quantity that goes up and down.
struct statistics_counter {
    std::uint64_t value = 0;  // now
    std::uint64_t peak = 0;   // the most it ever was
    std::uint64_t total = 0;  // the sum of all increases

    void add(std::uint64_t amount) noexcept {
        value += amount;
        total += amount;
        if (value > peak) peak = value;
    }
    void subtract(std::uint64_t amount) noexcept { value -= amount < value ? amount : value; }
};

/// What a statistics resource has counted.
struct statistics_counts {
    statistics_counter allocations;  // live, most live at once, all
    statistics_counter bytes;        // as asked for, without rounding
    std::uint64_t failures = 0;      // requests that could not be served
    std::uint64_t largest = 0;       // bytes of the largest request served

    /// Several lines for people.
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

/// An R that counts what is asked of it.
template <resource R>
class statistics : public R {
public:
    using R::R;
    statistics() = default;
    /// The counts go along with what they count.
    statistics(statistics&& other) noexcept
        requires std::is_move_constructible_v<R>
        : R(std::move(static_cast<R&>(other))), counts_(std::exchange(other.counts_, {})) {}
    statistics& operator=(statistics&& other) noexcept
        requires std::is_move_assignable_v<R>
    {
        if (this == &other) return *this;
        R::operator=(std::move(static_cast<R&>(other)));
        counts_ = std::exchange(other.counts_, {});
        return *this;
    }
    statistics(const statistics&) = delete;
    statistics& operator=(const statistics&) = delete;

    /// What was counted so far.
    const statistics_counts& counts() const noexcept { return counts_; }
    /// The same for people, several lines.
    std::string report() const { return counts_.report(resource_name()); }
    /// Starts counting anew: what is live now is forgotten.
    void reset_counts() noexcept { counts_ = {}; }

    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        return counted(bytes, [&] { return R::allocate(bytes, alignment); });
    }
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        void* p = R::try_allocate(bytes, alignment);
        note(p != nullptr, bytes);
        return p;
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (p != nullptr) note_freed(bytes);
        R::deallocate(p, bytes, alignment);
    }

    /// Slots of a pool.
    void* allocate()
        requires requires(R& r) { r.allocate(); }
    {
        return counted(R::geometry.slot_bytes, [&] { return R::allocate(); });
    }
    void* try_allocate() noexcept
        requires requires(R& r) { r.try_allocate(); }
    {
        void* p = R::try_allocate();
        note(p != nullptr, R::geometry.slot_bytes);
        return p;
    }
    void deallocate(void* p) noexcept
        requires requires(R& r, void* slot) { r.deallocate(slot); }
    {
        if (p != nullptr) note_freed(R::geometry.slot_bytes);
        R::deallocate(p);
    }

    /// Objects of an object pool.
    template <class... Arguments>
        requires requires { typename R::value_type; }
    auto create(Arguments&&... arguments) {
        return counted(sizeof(typename R::value_type),
                       [&] { return R::create(std::forward<Arguments>(arguments)...); });
    }
    template <class... Arguments>
        requires requires { typename R::value_type; }
    auto try_create(Arguments&&... arguments) {
        return counted(sizeof(typename R::value_type),
                       [&] { return R::try_create(std::forward<Arguments>(arguments)...); });
    }
    template <class Pointer>
        requires requires(R& r, Pointer object) { r.destroy(object); }
    void destroy(Pointer object) noexcept {
        if (object != nullptr) note_freed(sizeof(typename R::value_type));
        R::destroy(object);
    }

    /// Objects and arrays in an arena.
    template <class T>
        requires requires(R& r, std::size_t count) { r.template allocate<T>(count); }
    std::span<T> allocate(std::size_t count) {
        return counted(count * sizeof(T), [&] { return R::template allocate<T>(count); });
    }
    template <class T>
        requires requires(R& r, std::size_t count) { r.template try_allocate<T>(count); }
    std::span<T> try_allocate(std::size_t count) noexcept {
        return counted(count * sizeof(T), [&] { return R::template try_allocate<T>(count); });
    }
    template <class T, class... Arguments>
        requires requires(R& r, Arguments&&... a) { r.template create<T>(std::forward<Arguments>(a)...); } &&
                 (!requires { typename R::value_type; })
    T* create(Arguments&&... arguments) {
        return counted(sizeof(T), [&] { return R::template create<T>(std::forward<Arguments>(arguments)...); });
    }
    template <class T, class... Arguments>
        requires requires(R& r, Arguments&&... a) { r.template try_create<T>(std::forward<Arguments>(a)...); } &&
                 (!requires { typename R::value_type; })
    T* try_create(Arguments&&... arguments) {
        return counted(sizeof(T), [&] { return R::template try_create<T>(std::forward<Arguments>(arguments)...); });
    }
    template <class T>
        requires requires(R& r, std::size_t count) { r.template create_array<T>(count); }
    std::span<T> create_array(std::size_t count) {
        return counted(count * sizeof(T), [&] { return R::template create_array<T>(count); });
    }
    template <class T>
        requires requires(R& r, std::size_t count) { r.template try_create_array<T>(count); }
    std::span<T> try_create_array(std::size_t count) {
        return counted(count * sizeof(T), [&] { return R::template try_create_array<T>(count); });
    }

    /// Texts in an arena, their zero byte included.
    std::string_view copy(std::string_view text)
        requires requires(R& r) { r.copy(text); }
    {
        return counted(text.size() + 1, [&] { return R::copy(text); });
    }
    std::string_view try_copy(std::string_view text) noexcept
        requires requires(R& r) { r.try_copy(text); }
    {
        return counted(text.size() + 1, [&] { return R::try_copy(text); });
    }
    [[gnu::format(printf, 2, 3)]] std::string_view format(const char* pattern, ...)
        requires requires(R& r, std::va_list list) { r.format_list(pattern, list); }
    {
        std::va_list arguments;
        va_start(arguments, pattern);
        const std::string_view result = format_list(pattern, arguments);
        va_end(arguments);
        return result;
    }
    [[gnu::format(printf, 2, 0)]] std::string_view format_list(const char* pattern, std::va_list arguments)
        requires requires(R& r) { r.format_list(pattern, arguments); }
    {
        failure_guard guard{counts_};
        const std::string_view result = R::format_list(pattern, arguments);
        guard.failed = false;
        note(served(result), result.size() + 1);
        return result;
    }

    /// The place reached, with what is live there.
    auto mark() const
        requires requires(const R& r) { r.mark(); }
    {
        return marked<decltype(R::mark())>{R::mark(), counts_.allocations.value, counts_.bytes.value};
    }
    template <class Mark>
        requires requires(R& r, const Mark& where) { r.rewind(where.place); }
    void rewind(const Mark& where) noexcept {
        R::rewind(where.place);
        counts_.allocations.value = std::min(counts_.allocations.value, where.allocations);
        counts_.bytes.value = std::min(counts_.bytes.value, where.bytes);
    }

    /// Everything at once: nothing is live afterwards.
    template <class... Arguments>
        requires requires(R& r, Arguments&&... a) { r.reset(std::forward<Arguments>(a)...); }
    void reset(Arguments&&... arguments) {
        R::reset(std::forward<Arguments>(arguments)...);
        forget_live();
    }
    void release() noexcept
        requires requires(R& r) { r.release(); }
    {
        R::release();
        forget_live();
    }
    void clear() noexcept
        requires requires(R& r) { r.clear(); }
    {
        R::clear();
        forget_live();
    }

private:
    static constexpr const char* resource_name() noexcept {
        if constexpr (requires { R::name; })
            return R::name;
        else
            return "resource";
    }

    template <class Place>
    struct marked {
        Place place;
        std::uint64_t allocations;
        std::uint64_t bytes;
    };

    static bool served(const void* p) noexcept { return p != nullptr; }
    static bool served(std::string_view text) noexcept { return text.data() != nullptr; }
    template <class T>
    static bool served(std::span<T> storage) noexcept {
        return storage.data() != nullptr;
    }

    // Counts a failure when the request throws.
    struct failure_guard {
        statistics_counts& counts;
        bool failed = true;
        ~failure_guard() { counts.failures += failed ? 1 : 0; }
    };

    template <class Request>
    auto counted(std::size_t bytes, Request request) {
        failure_guard guard{counts_};
        auto result = request();
        guard.failed = false;
        note(served(result), bytes);
        return result;
    }

    void note(bool success, std::size_t bytes) noexcept {
        if (!success) {
            ++counts_.failures;
            return;
        }
        counts_.allocations.add(1);
        counts_.bytes.add(bytes);
        if (bytes > counts_.largest) counts_.largest = bytes;
    }

    void note_freed(std::size_t bytes) noexcept {
        counts_.allocations.subtract(1);
        counts_.bytes.subtract(bytes);
    }

    void forget_live() noexcept {
        counts_.allocations.value = 0;
        counts_.bytes.value = 0;
    }

    statistics_counts counts_;
};

}  // namespace acre
