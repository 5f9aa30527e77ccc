// Bump allocation against the machine's limit: 8 bytes in one warm block, 8 bytes with growth, mixed sizes, and objects
// with destructors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../harness.hpp"

namespace bench {

inline constexpr std::size_t bump_alignment = 8;
inline constexpr std::size_t few = 500;       // 4,000 bytes of 8: no arena here needs a second block
inline constexpr std::size_t many = 100'000;  // 800 kB of 8: growth and reset are included
inline constexpr std::size_t mixed_count = 10'000;

/// An `Arena` has `allocate(bytes)` at an alignment of 8, and `reset()`.
template <class Arena, std::size_t Count>
class bump_8 {
public:
    void operator()() {
        for (std::size_t i = 0; i < Count; ++i) touch(arena_.allocate(8));
        arena_.reset();
    }

private:
    Arena arena_;
};

/// The same through a cursor of the arena; `Bulk::front()` makes the cursor.
template <class Bulk, std::size_t Count>
class bulk_8 {
public:
    void operator()() {
        {
            auto front = bulk_.front();
            for (std::size_t i = 0; i < Count; ++i) touch(front.allocate(8, bump_alignment));
        }
        bulk_.reset();
    }

private:
    Bulk bulk_;
};

template <class Arena>
class bump_mixed {
public:
    bump_mixed() {
        random_numbers random{31};
        for (std::uint32_t& bytes : sizes_) bytes = static_cast<std::uint32_t>(8 + random.below(249));
    }

    void operator()() {
        for (const std::uint32_t bytes : sizes_) touch(arena_.allocate(bytes));
        arena_.reset();
    }

private:
    Arena arena_;
    std::array<std::uint32_t, mixed_count> sizes_;
};

/// One double at a time, freed at once: W6 (a).
template <class Arena>
class one_double {
public:
    void operator()() {
        Arena& arena = *hide(&arena_);
        for (std::size_t i = 0; i < few; ++i) {
            auto* value = static_cast<double*>(arena.allocate(sizeof(double)));
            *value = 1.0;
            escape(value);
            arena.reset();
        }
    }

private:
    Arena arena_;
};

/// The list of pointers that a user of new and delete must keep to free everything.
template <class T>
class remembered {
public:
    explicit remembered(std::size_t most) : places_(most) {}

    T* add(T* p) noexcept { return places_[count_++] = p; }

    template <class GiveBack>
    void give_back_all(const GiveBack& give_back) {
        for (std::size_t i = 0; i < count_; ++i) give_back(places_[i]);
        count_ = 0;
    }

private:
    std::vector<T*> places_;
    std::size_t count_ = 0;
};

template <class Bulk>
void add_bulk(suite& entries, const std::string& name) {
    entries.add({"bump 8 B", "8 B, 500 in one warm block: the hot path alone", few}, name,
                [] { return make_round<bulk_8<Bulk, few>>(); });
    entries.add({"bump 8 B x 100,000", "8 B, 100,000 and all given back: growth and reset are paid", many}, name,
                [] { return make_round<bulk_8<Bulk, many>>(); });
}

template <class Arena>
void add_bump(suite& entries, const std::string& name) {
    entries.add({"bump 8 B", "8 B, 500 in one warm block: the hot path alone", few}, name,
                [] { return make_round<bump_8<Arena, few>>(); });
    entries.add({"bump 8 B x 100,000", "8 B, 100,000 and all given back: growth and reset are paid", many}, name,
                [] { return make_round<bump_8<Arena, many>>(); });
    entries.add({"bump 8..256 B", "8..256 B mixed, 10,000 and all given back", mixed_count}, name,
                [] { return make_round<bump_mixed<Arena>>(); });
    entries.add({.id = "W6 a",
                 .title = "one double, allocated and given back at once",
                 .operations = few,
                 .in_fresh_processes = true},
                name, [] { return make_round<one_double<Arena>>(); });
}

/// 16 bytes with a destructor that reads its object and that the compiler must call. It counts nothing: a shared
/// counter would make every destructor wait for the previous one in all variants, and hide the difference.
struct observed_object {
    explicit observed_object(std::uint64_t first) noexcept : a{first}, b{1} {}
    ~observed_object() {
        if (b != 0) escape(this);
    }
    observed_object(const observed_object&) = delete;
    observed_object& operator=(const observed_object&) = delete;

    std::uint64_t a;
    std::uint64_t b;
};
static_assert(sizeof(observed_object) == 16);

inline constexpr std::size_t object_count = 1000;

/// An `Arena` has `create(value)`, which creates an observed_object, and `reset()`, which destroys all.
template <class Arena>
class created_objects {
public:
    void operator()() {
        for (std::size_t i = 0; i < object_count; ++i) escape(arena_.create(i));
        arena_.reset();
    }

private:
    Arena arena_;
};

template <class Arena>
void add_objects(suite& entries, const std::string& name) {
    entries.add({"objects", "16 B objects with a destructor: 1,000 created, all destroyed", object_count}, name,
                [] { return make_round<created_objects<Arena>>(); });
}

}  // namespace bench
