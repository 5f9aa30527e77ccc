// Tables of the live objects by number: memory in proportion to the live objects, not to all objects of a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "seeded_hash.hpp"

namespace acre::tool {

/// A hash table with linear probing; removal shifts entries back, so there are no tombstones.
template <typename Value>
class live_table {
public:
    /// The object must not be in the table.
    Value& insert(std::uint64_t object, Value value) {
        if ((count_ + 1) * 4 > slots_.size() * 3) grow();
        std::size_t index = home(object);
        while (slots_[index].key != empty) index = next(index);
        ++count_;
        slots_[index] = {object + 1, std::move(value)};
        return slots_[index].value;
    }

    /// Null if the object is not live.
    Value* find(std::uint64_t object) noexcept {
        if (slots_.empty()) return nullptr;
        const std::size_t index = find_index(object);
        return slots_[index].key == empty ? nullptr : &slots_[index].value;
    }

    /// Removes the object into `taken`; false if it is not live.
    bool take(std::uint64_t object, Value& taken) {
        if (slots_.empty()) return false;
        const std::size_t index = find_index(object);
        if (slots_[index].key == empty) return false;
        taken = std::move(slots_[index].value);
        remove(index);
        return true;
    }

    std::size_t size() const noexcept { return count_; }

    /// Calls `visit(object, value)` for each live object, in no particular order.
    template <typename Visit>
    void for_each(Visit&& visit) {
        for (slot& each : slots_) {
            if (each.key != empty) visit(each.key - 1, each.value);
        }
    }

private:
    static constexpr std::uint64_t empty = 0;
    static constexpr std::uint64_t neighbours = 8;

    struct slot {
        std::uint64_t key = empty;  // object number + 1
        Value value{};
    };

    /// Consecutive numbers are of objects that are allocated, and mostly freed, at about the same time, so they share a
    /// cache line. The groups are small, which keeps probing short.
    std::size_t home(std::uint64_t object) const noexcept {
        const std::uint64_t group = ((object / neighbours) * multiplier_) >> shift_;
        return static_cast<std::size_t>(group & ~(neighbours - 1)) | static_cast<std::size_t>(object % neighbours);
    }
    std::size_t next(std::size_t index) const noexcept { return (index + 1) & (slots_.size() - 1); }

    std::size_t find_index(std::uint64_t object) const noexcept {
        std::size_t index = home(object);
        while (slots_[index].key != empty && slots_[index].key != object + 1) index = next(index);
        return index;
    }

    void remove(std::size_t hole) {
        for (std::size_t index = next(hole); slots_[index].key != empty; index = next(index)) {
            const std::size_t wanted = home(slots_[index].key - 1);
            const std::size_t mask = slots_.size() - 1;
            if (((index - wanted) & mask) < ((index - hole) & mask)) continue;
            slots_[hole] = std::move(slots_[index]);
            hole = index;
        }
        slots_[hole].key = empty;
        --count_;
    }

    void grow() {
        std::vector<slot> old(slots_.empty() ? 64 : slots_.size() * 2);
        old.swap(slots_);
        shift_ = 64;
        for (std::size_t size = slots_.size(); size > 1; size /= 2) --shift_;
        count_ = 0;
        for (slot& each : old) {
            if (each.key != empty) insert(each.key - 1, std::move(each.value));
        }
    }

    std::vector<slot> slots_;
    std::size_t count_ = 0;
    unsigned shift_ = 64;
    std::uint64_t multiplier_ = hash_seed() | 1;
};

/// The live objects, each linked to those allocated before and after it: among all objects, and among those of its
/// site. All operations take constant time. Memory: 61 to 123 bytes per live object.
class live_objects {
public:
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    /// The live objects allocated directly before and after an object; `none` if there is no such object.
    struct neighbours {
        std::uint64_t older = none;
        std::uint64_t newer = none;
        std::uint64_t older_of_site = none;
        std::uint64_t newer_of_site = none;
    };

    /// Sites are numbered from 0.
    explicit live_objects(std::size_t sites) : newest_of_site_(sites, end) {}

    /// Object numbers must grow.
    void insert(std::uint64_t object, std::uint64_t size, std::uint32_t site) {
        const position at = new_entry();
        entries_[at] = {.object = object, .size = size, .site = site};
        append<&entry::among_all>(at, newest_);
        append<&entry::of_site>(at, newest_of_site_[site]);
        positions_.insert(object, at);
    }

    /// Removes the object and sets its size and its neighbours; false if it is not live.
    bool take(std::uint64_t object, std::uint64_t& size, neighbours& found) {
        position at = end;
        if (!positions_.take(object, at)) return false;
        const entry& gone = entries_[at];
        size = gone.size;
        found = {object_at(gone.among_all.older), object_at(gone.among_all.newer), object_at(gone.of_site.older),
                 object_at(gone.of_site.newer)};
        unlink<&entry::among_all>(at, newest_);
        unlink<&entry::of_site>(at, newest_of_site_[gone.site]);
        entries_[at].among_all.older = unused_;
        unused_ = at;
        return true;
    }

    std::uint64_t newest() const noexcept { return object_at(newest_); }
    std::size_t size() const noexcept { return positions_.size(); }

private:
    using position = std::uint32_t;
    static constexpr position end = ~position{0};

    struct links {
        position older = end;
        position newer = end;
    };

    struct entry {
        std::uint64_t object = 0;
        std::uint64_t size = 0;
        std::uint32_t site = 0;
        links among_all = {};  // of an unused entry: `older` is the next unused one
        links of_site = {};
    };

    std::uint64_t object_at(position at) const noexcept { return at == end ? none : entries_[at].object; }

    position new_entry() {
        if (unused_ == end) {
            entries_.emplace_back();
            return static_cast<position>(entries_.size() - 1);
        }
        const position at = unused_;
        unused_ = entries_[at].among_all.older;
        return at;
    }

    template <links entry::* List>
    void append(position at, position& newest) noexcept {
        (entries_[at].*List).older = newest;
        if (newest != end) (entries_[newest].*List).newer = at;
        newest = at;
    }

    template <links entry::* List>
    void unlink(position at, position& newest) noexcept {
        const links gone = entries_[at].*List;
        if (gone.older != end) (entries_[gone.older].*List).newer = gone.newer;
        (gone.newer == end ? newest : (entries_[gone.newer].*List).older) = gone.older;
    }

    live_table<position> positions_;
    std::vector<entry> entries_;
    std::vector<position> newest_of_site_;
    position newest_ = end;
    position unused_ = end;
};

}  // namespace acre::tool
