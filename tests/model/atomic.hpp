// std::atomic for a scenario of model::explore. Before each operation the scheduler may switch threads, and a load may
// return any value that the memory order allows.
//
// Code under test is a template on the atomic: `template <template <class> class Atomic = std::atomic>`.
// As the standard allows, compare_exchange may fail with a stale value that the thread may still read, and wait may
// return with one. wait sleeps only if the newest value is the old one, as a futex does. Outside of explore() the
// object is a plain value.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "model/execution.hpp"
#include "model/text.hpp"

namespace model {

/// An atomic T. The name is for the trace.
template <class T>
class atomic {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    using value_type = T;
    static constexpr bool is_always_lock_free = true;

    constexpr atomic() : atomic(T{}) {}
    constexpr atomic(T value, const char* name = nullptr) : values_(1, value) {
        if (execution* const now = execution::current(); now != nullptr) {
            id_ = now->add_object(name, {this, text, is_repeatable<T>});
            now->add_store(id_, relaxed, true);
        }
    }
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    ~atomic() {
        if (execution::current() != nullptr && id_ != no_object) execution::current()->remove_object(id_);
    }

    bool is_lock_free() const noexcept { return true; }

    T load(std::memory_order order = seq_cst) const noexcept {
        execution* const now = turn(kind::load, order);
        if (now == nullptr) return newest();
        const std::size_t oldest = now->oldest_readable(id_, order);
        const std::size_t position = values_.size() - 1 - now->choose(values_.size() - oldest);
        read("load", position, order);
        return values_[position];
    }

    void store(T value, std::memory_order order = seq_cst) noexcept {
        execution* const now = turn(kind::change, order);
        const bool changes = !same(newest(), value);
        keep(now, value);
        if (now == nullptr) return;
        now->add_store(id_, order, changes);
        if (now->traced()) now->trace(line("store", order) + " = " + text_of(value));
    }

    T exchange(T value, std::memory_order order = seq_cst) noexcept {
        return replace("exchange", order, [&](T) { return value; });
    }

    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) noexcept {
        return compare_exchange(expected, desired, success, failure, false);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order order = seq_cst) noexcept {
        return compare_exchange(expected, desired, order, of_failure(order), false);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure) noexcept {
        return compare_exchange(expected, desired, success, failure, true);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order order = seq_cst) noexcept {
        return compare_exchange(expected, desired, order, of_failure(order), true);
    }

    T fetch_add(auto by, std::memory_order order = seq_cst) noexcept {
        return replace("fetch_add", order, [by](T old) { return static_cast<T>(old + by); });
    }
    T fetch_sub(auto by, std::memory_order order = seq_cst) noexcept {
        return replace("fetch_sub", order, [by](T old) { return static_cast<T>(old - by); });
    }
    T fetch_or(T bits, std::memory_order order = seq_cst) noexcept {
        return replace("fetch_or", order, [bits](T old) { return static_cast<T>(old | bits); });
    }
    T fetch_and(T bits, std::memory_order order = seq_cst) noexcept {
        return replace("fetch_and", order, [bits](T old) { return static_cast<T>(old & bits); });
    }
    T fetch_xor(T bits, std::memory_order order = seq_cst) noexcept {
        return replace("fetch_xor", order, [bits](T old) { return static_cast<T>(old ^ bits); });
    }

    operator T() const noexcept { return load(); }
    T operator=(T value) noexcept {
        store(value);
        return value;
    }

    void wait(T old, std::memory_order order = seq_cst) const noexcept {
        for (;;) {
            execution* const now = turn(kind::wait, order);
            if (now == nullptr) return;
            // Sleeps if the newest value is the old one; returns with any other readable value.
            const bool may_sleep = same(newest(), old);
            const std::size_t oldest = now->oldest_readable(id_, order);
            std::size_t way = now->choose((may_sleep ? 1 : 0) + count_others(oldest, old));
            if (may_sleep && way-- == 0) {
                now->sleep(id_);
                if (now->traced()) now->trace(line("sleeps", order) + " = " + text_of(old));
                continue;
            }
            return read("wait ends", other(old, way), order);
        }
    }
    void notify_one() noexcept {
        if (execution* const now = turn(kind::notify, relaxed); now != nullptr) now->notify(id_, false);
    }
    void notify_all() noexcept {
        if (execution* const now = turn(kind::notify, relaxed); now != nullptr) now->notify(id_, true);
    }

private:
    static constexpr std::memory_order relaxed = std::memory_order_relaxed;
    static constexpr std::memory_order seq_cst = std::memory_order_seq_cst;

    static constexpr std::memory_order of_failure(std::memory_order order) noexcept {
        if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
        return order == std::memory_order_release ? relaxed : order;
    }

    static bool same(const T& a, const T& b) noexcept { return std::memcmp(&a, &b, sizeof(T)) == 0; }
    const T& newest() const noexcept { return values_.back(); }

    // The execution, once it is this thread's turn; null outside of one.
    execution* turn(kind what, std::memory_order order) const {
        execution* const now = execution::current();
        if (now == nullptr) return nullptr;
        if (id_ == no_object) now->fail("an atomic is used that was made outside of the scenario");
        now->take_turn({.what = what, .order = order, .object = id_});
        return now;
    }

    void read(const char* how, std::size_t position, std::memory_order order) const {
        execution* const now = execution::current();
        now->read(id_, position, order);
        if (!now->traced()) return;
        const std::size_t newer = values_.size() - 1 - position;
        now->trace(line(how, order) + " gives " + text_of(values_[position]) +
                   (newer == 0 ? "" : ", stale: " + std::to_string(newer) + " newer"));
    }

    void keep(execution* now, T value) {
        if (now == nullptr) values_.clear();
        values_.push_back(value);
    }

    template <class Change>
    T replace(const char* how, std::memory_order order, Change change) noexcept {
        execution* const now = turn(kind::change, order);
        const T old = newest();
        const T value = change(old);
        if (now != nullptr) now->read(id_, values_.size() - 1, order);
        keep(now, value);
        if (now == nullptr) return old;
        now->add_replacement(id_, order, !same(old, value));
        if (now->traced()) now->trace(line(how, order) + " " + text_of(old) + " -> " + text_of(value));
        return old;
    }

    bool compare_exchange(T& expected, T desired, std::memory_order success, std::memory_order failure,
                          bool weak) noexcept {
        execution* const now = turn(kind::change, success);
        const bool can_succeed = same(newest(), expected);
        if (now == nullptr) {
            if (can_succeed)
                keep(now, desired);
            else
                expected = newest();
            return can_succeed;
        }
        const bool may_fail_spuriously = can_succeed && weak && now->may_fail_spuriously();
        const std::size_t oldest = now->oldest_readable(id_, failure);
        std::size_t way =
            now->choose((can_succeed ? 1 : 0) + count_others(oldest, expected) + (may_fail_spuriously ? 1 : 0));
        if (can_succeed && way-- == 0) {
            now->read(id_, values_.size() - 1, success);
            keep(now, desired);
            now->add_replacement(id_, success, !same(expected, desired));
            if (now->traced())
                now->trace(line("compare_exchange", success) + " " + text_of(expected) + " -> " + text_of(desired));
            return true;
        }
        if (may_fail_spuriously && way-- == 0) {
            now->count_spurious_failure();
            read("compare_exchange fails spuriously,", values_.size() - 1, failure);
            return false;
        }
        const std::size_t position = other(expected, way);
        read("compare_exchange fails,", position, failure);
        expected = values_[position];
        return false;
    }

    // The stores from `oldest` on with another value.
    std::size_t count_others(std::size_t oldest, const T& value) const noexcept {
        std::size_t others = 0;
        for (std::size_t i = oldest; i < values_.size(); ++i) others += same(values_[i], value) ? 0 : 1;
        return others;
    }

    // Chooses one of them, the newest first.
    std::size_t other(const T& value, std::size_t number) const noexcept {
        for (std::size_t i = values_.size();;) {
            if (!same(values_[--i], value) && number-- == 0) return i;
        }
    }

    std::string line(const char* how, std::memory_order order) const {
        return std::string(how) + " " + execution::current()->name_of(id_) + " " + text_of(order);
    }

    static std::string text(const void* object) { return text_of(static_cast<const atomic*>(object)->newest()); }

    std::vector<T> values_;  // all stored values in modification order
    object_id id_ = no_object;
};

}  // namespace model
