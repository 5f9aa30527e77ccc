// Tables of the live objects by number: memory in proportion to the live objects, not to all objects of a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "seeded_hash.hpp"

namespace acre::tool {

/// Where objects are in a hash table with linear probing; removal shifts slots back, so there are no tombstones. `Keys`
/// tells of a slot: `is_empty(slot)`, and `object(slot)` if it is not. A slot is empty at first.
template <typename Slot>
class probing_slots {
public:
    explicit probing_slots(std::uint64_t seed = hash_seed()) : seed_{seed} {}

    /// The object must not be in the table.
    template <typename Keys>
    Slot& insert(std::uint64_t object, Slot filled, const Keys& keys) {
        if ((count_ + 1) * 4 > slots_.size() * 3) grow(keys);
        std::size_t index = home(object);
        while (!keys.is_empty(slots_[index])) index = next(index);
        ++count_;
        slots_[index] = std::move(filled);
        return slots_[index];
    }

    /// Null if the object is not in the table.
    template <typename Keys>
    Slot* find(std::uint64_t object, const Keys& keys) noexcept {
        if (slots_.empty()) return nullptr;
        std::size_t index = home(object);
        while (!keys.is_empty(slots_[index])) {
            if (keys.object(slots_[index]) == object) return &slots_[index];
            index = next(index);
        }
        return nullptr;
    }

    /// Removes what find() has returned.
    template <typename Keys>
    void remove(Slot* found, const Keys& keys) {
        auto hole = static_cast<std::size_t>(found - slots_.data());
        for (std::size_t index = next(hole); !keys.is_empty(slots_[index]); index = next(index)) {
            const std::size_t wanted = home(keys.object(slots_[index]));
            const std::size_t mask = slots_.size() - 1;
            if (((index - wanted) & mask) < ((index - hole) & mask)) continue;
            slots_[hole] = std::move(slots_[index]);
            hole = index;
        }
        slots_[hole] = Slot{};
        --count_;
    }

    std::size_t size() const noexcept { return count_; }
    std::vector<Slot>& all() noexcept { return slots_; }

private:
    static constexpr std::uint64_t neighbours = 8;

    /// Consecutive numbers are of objects that are allocated, and mostly freed, at about the same time, so they share a
    /// cache line. The groups are small, which keeps probing short. A product alone would not do: it puts numbers at
    /// equal distances into equal slots for some seeds.
    std::size_t home(std::uint64_t object) const noexcept {
        const std::uint64_t group = mixed(object / neighbours, seed_) >> shift_;
        return static_cast<std::size_t>(group & ~(neighbours - 1)) | static_cast<std::size_t>(object % neighbours);
    }
    std::size_t next(std::size_t index) const noexcept { return (index + 1) & (slots_.size() - 1); }

    template <typename Keys>
    void grow(const Keys& keys) {
        std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
        old.swap(slots_);
        shift_ = 64;
        for (std::size_t size = slots_.size(); size > 1; size /= 2) --shift_;
        count_ = 0;
        for (Slot& each : old) {
            if (keys.is_empty(each)) continue;
            const std::uint64_t object = keys.object(each);
            insert(object, std::move(each), keys);
        }
    }

    std::vector<Slot> slots_;
    std::size_t count_ = 0;
    unsigned shift_ = 64;
    std::uint64_t seed_;
};

/// A value for each live object.
template <typename Value>
class live_table {
public:
    /// The object must not be in the table.
    Value& insert(std::uint64_t object, Value value) {
        return slots_.insert(object, {object + 1, std::move(value)}, keys{}).value;
    }

    /// Null if the object is not live.
    Value* find(std::uint64_t object) noexcept {
        slot* found = slots_.find(object, keys{});
        return found == nullptr ? nullptr : &found->value;
    }

    /// Removes the object into `taken`; false if it is not live.
    bool take(std::uint64_t object, Value& taken) {
        slot* found = slots_.find(object, keys{});
        if (found == nullptr) return false;
        taken = std::move(found->value);
        slots_.remove(found, keys{});
        return true;
    }

    std::size_t size() const noexcept { return slots_.size(); }

    /// Calls `visit(object, value)` for each live object, in no particular order.
    template <typename Visit>
    void for_each(Visit&& visit) {
        for (slot& each : slots_.all()) {
            if (!keys{}.is_empty(each)) visit(each.key - 1, each.value);
        }
    }

private:
    struct slot {
        std::uint64_t key = 0;  // object number + 1
        Value value{};
    };
    struct keys {
        bool is_empty(const slot& each) const noexcept { return each.key == 0; }
        std::uint64_t object(const slot& each) const noexcept { return each.key - 1; }
    };

    probing_slots<slot> slots_;
};

/// The live objects, each linked to those allocated before and after it: among all objects, and among those of its
/// site. All operations take constant time. Memory: 45 to 91 bytes per live object.
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

    /// Room for more sites.
    void grow(std::size_t sites) { newest_of_site_.resize(sites, end); }

    /// Object numbers must grow.
    void insert(std::uint64_t object, std::uint64_t size, std::uint32_t site) {
        const position at = new_entry();
        entries_[at] = {.object = object, .size = size, .site = site};
        append<&entry::among_all>(at, newest_);
        append<&entry::of_site>(at, newest_of_site_[site]);
        places_.insert(object, {at}, keys{entries_});
    }

    /// Removes the object and sets its size and its neighbours; false if it is not live.
    bool take(std::uint64_t object, std::uint64_t& size, neighbours& found) {
        place* there = places_.find(object, keys{entries_});
        if (there == nullptr) return false;
        const position at = there->at;
        places_.remove(there, keys{entries_});
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
    std::size_t size() const noexcept { return places_.size(); }

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

    /// Four bytes: the entry has the object's number.
    struct place {
        position at = end;
    };
    struct keys {
        const std::vector<entry>& entries;

        bool is_empty(const place& each) const noexcept { return each.at == end; }
        std::uint64_t object(const place& each) const noexcept { return entries[each.at].object; }
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

    probing_slots<place> places_;
    std::vector<entry> entries_;
    std::vector<position> newest_of_site_;
    position newest_ = end;
    position unused_ = end;
};

}  // namespace acre::tool
