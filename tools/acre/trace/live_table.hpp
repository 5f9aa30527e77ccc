// Tables of the live objects by number or by place: memory in proportion to the live objects, not to all objects of a
// trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "huge_pages.hpp"
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
    std::span<Slot> all() noexcept { return slots_; }

private:
    static constexpr std::uint64_t neighbours = 8;

    /// Consecutive numbers are of objects that are allocated, and mostly freed, at about the same time, so they share a
    /// cache line. The groups are small, which keeps probing short. Mixed once, small numbers at equal distances would
    /// be multiplied only, and for one seed in ten fall into few slots.
    std::size_t home(std::uint64_t object) const noexcept {
        const std::uint64_t group = mixed(mixed(object / neighbours, seed_), seed_) >> shift_;
        return static_cast<std::size_t>(group & ~(neighbours - 1)) | static_cast<std::size_t>(object % neighbours);
    }
    std::size_t next(std::size_t index) const noexcept { return (index + 1) & (slots_.size() - 1); }

    template <typename Keys>
    void grow(const Keys& keys) {
        decltype(slots_) old(slots_.empty() ? 64 : slots_.size() * 2);
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

    std::vector<Slot, huge_page_allocator<Slot>> slots_;
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

/// A value for each live object, by a small number that the object has while it lives, as event::place is.
template <typename Value>
class live_array {
public:
    /// There must be no live object with that number.
    void insert(std::size_t number, Value value) {
        if (number >= slots_.size()) slots_.resize(number + 1);
        slots_[number] = {std::move(value), true};
        ++count_;
    }

    /// Removes the object into `taken`; false if there is none.
    bool take(std::size_t number, Value& taken) {
        if (number >= slots_.size() || !slots_[number].lives) return false;
        taken = std::move(slots_[number].value);
        slots_[number].lives = false;
        --count_;
        return true;
    }

    std::size_t size() const noexcept { return count_; }

    /// Calls `visit(number, value)` for each live object, in the order of the numbers.
    template <typename Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t number = 0; number < slots_.size(); ++number) {
            if (slots_[number].lives) visit(number, slots_[number].value);
        }
    }

private:
    struct slot {
        Value value{};
        bool lives = false;
    };

    std::vector<slot, huge_page_allocator<slot>> slots_;
    std::size_t count_ = 0;
};

/// An array that grows without moving what it has, in parts of 64 Ki values.
template <typename Value>
class steady_array {
public:
    std::size_t size() const noexcept { return size_; }
    Value& operator[](std::size_t at) noexcept { return parts_[at / part_size][at % part_size]; }
    const Value& operator[](std::size_t at) const noexcept { return parts_[at / part_size][at % part_size]; }

    void grow() {
        parts_.push_back(owned_.emplace_back(part_size).data());
        size_ += part_size;
    }

private:
    static constexpr std::size_t part_size = std::size_t{1} << 16;

    std::vector<Value*> parts_;
    std::vector<std::vector<Value, huge_page_allocator<Value>>> owned_;
    std::size_t size_ = 0;
};

/// The live objects, each linked to those allocated before and after it: among all objects, and among those of its
/// site. Each is at a place, a small number that its owner chooses. All operations take constant time. Memory: 32 bytes
/// per place.
class linked_objects {
public:
    using place = std::uint32_t;

    static constexpr std::uint64_t none = ~std::uint64_t{0};
    static constexpr place max_places = ~place{0} - 1;

    /// The live objects allocated directly before and after an object; `none` if there is no such object.
    struct neighbours {
        std::uint64_t older = none;
        std::uint64_t newer = none;
        std::uint64_t older_of_site = none;
        std::uint64_t newer_of_site = none;
    };

    /// Sites are numbered from 0.
    explicit linked_objects(std::size_t sites) : newest_of_site_(sites, end) {}

    /// Room for more sites.
    void grow(std::size_t sites) { newest_of_site_.resize(sites, end); }

    /// Object numbers must grow, and no object may be at the place.
    void insert(place at, std::uint64_t object, std::uint64_t size, std::uint32_t site) {
        while (at >= entries_.size()) entries_.grow();
        const bool is_large = size >= large;
        if (is_large) [[unlikely]]
            large_sizes_[at] = size;
        entry& made = entries_[at];
        made = {.object = object,
                .among_all = {newest_, end},
                .of_site = {newest_of_site_[site], end},
                .site = site,
                .size = is_large ? large : static_cast<std::uint32_t>(size)};
        if (made.among_all.older != end) entries_[made.among_all.older].among_all.newer = at;
        if (made.of_site.older != end) entries_[made.of_site.older].of_site.newer = at;
        newest_ = newest_of_site_[site] = at;
        ++count_;
    }

    /// Removes the object at a place, and returns its neighbours.
    neighbours remove(place at) {
        entry& gone = entries_[at];
        const neighbours found{.older = unlink_older<&entry::among_all>(gone),
                               .newer = unlink_newer<&entry::among_all>(gone),
                               .older_of_site = unlink_older<&entry::of_site>(gone),
                               .newer_of_site = unlink_newer<&entry::of_site>(gone)};
        if (gone.among_all.newer == end) newest_ = gone.among_all.older;
        if (gone.of_site.newer == end) newest_of_site_[gone.site] = gone.of_site.older;
        gone.object = none;
        --count_;
        return found;
    }

    /// The size of the object at a place, which must have one.
    std::uint64_t size_in(place at) const {
        const std::uint32_t size = entries_[at].size;
        return size == large ? large_sizes_.at(at) : size;
    }

    /// The object at a place; `none` if there is none.
    std::uint64_t object_in(place at) const noexcept { return at < entries_.size() ? entries_[at].object : none; }

    /// To be called some events before a place is used. Inlined, since g++ drops calls of functions that only prefetch.
    [[gnu::always_inline]] void prefetch(place at) const noexcept {
        if (at < entries_.size()) __builtin_prefetch(&entries_[at]);
    }

    /// The same before the object there is removed, when prefetch() has had its time.
    [[gnu::always_inline]] void prefetch_neighbours(place at) const noexcept {
        if (at >= entries_.size()) return;
        const entry& each = entries_[at];
        for (const place other : {each.among_all.older, each.among_all.newer, each.of_site.older, each.of_site.newer}) {
            if (other != end) __builtin_prefetch(&entries_[other]);
        }
    }

    std::uint64_t newest() const noexcept { return newest_ == end ? none : entries_[newest_].object; }
    std::size_t size() const noexcept { return count_; }

private:
    static constexpr place end = ~place{0};

    struct links {
        place older = end;
        place newer = end;
    };

    /// Stands for sizes that are elsewhere, for want of bits.
    static constexpr std::uint32_t large = ~std::uint32_t{0};

    /// Two in a cache line.
    struct entry {
        std::uint64_t object = none;
        links among_all = {};
        links of_site = {};
        std::uint32_t site = 0;
        std::uint32_t size = 0;
    };
    static_assert(sizeof(entry) == 32);

    /// Takes an entry out of the list of the next older one, and returns the object there.
    template <links entry::* List>
    std::uint64_t unlink_older(const entry& gone) noexcept {
        const links& of = gone.*List;
        if (of.older == end) return none;
        entry& other = entries_[of.older];
        (other.*List).newer = of.newer;
        return other.object;
    }

    template <links entry::* List>
    std::uint64_t unlink_newer(const entry& gone) noexcept {
        const links& of = gone.*List;
        if (of.newer == end) return none;
        entry& other = entries_[of.newer];
        (other.*List).older = of.older;
        return other.object;
    }

    steady_array<entry> entries_;
    std::unordered_map<place, std::uint64_t> large_sizes_;
    std::vector<place> newest_of_site_;
    place newest_ = end;
    std::size_t count_ = 0;
};

/// Places for live objects: small numbers, the one that was given back last first.
class free_places {
public:
    std::uint32_t take() {
        if (returned_.empty()) return count_++;
        const std::uint32_t place = returned_.back();
        returned_.pop_back();
        return place;
    }
    void give_back(std::uint32_t place) { returned_.push_back(place); }

private:
    std::vector<std::uint32_t> returned_;
    std::uint32_t count_ = 0;
};

/// Linked objects that are found by their numbers. Memory: 38 to 51 bytes per object that
/// was live at a time.
class live_objects {
public:
    using neighbours = linked_objects::neighbours;

    static constexpr std::uint64_t none = linked_objects::none;

    /// As of linked_objects.
    explicit live_objects(std::size_t sites) : objects_{sites} {}
    void grow(std::size_t sites) { objects_.grow(sites); }

    /// Object numbers must grow. Returns the object's place.
    linked_objects::place insert(std::uint64_t object, std::uint64_t size, std::uint32_t site) {
        const linked_objects::place at = free_.take();
        objects_.insert(at, object, size, site);
        places_.insert(object, {at}, keys{objects_});
        return at;
    }

    struct gone {
        std::uint64_t size = 0;
        linked_objects::place place = 0;
        neighbours among;
    };

    /// Removes the object and says where it was; nothing if it is not live.
    std::optional<gone> take(std::uint64_t object) {
        slot* there = places_.find(object, keys{objects_});
        if (there == nullptr) return std::nullopt;
        const linked_objects::place at = there->at;
        places_.remove(there, keys{objects_});
        const std::uint64_t size = objects_.size_in(at);
        free_.give_back(at);
        return gone{size, at, objects_.remove(at)};
    }

    std::uint64_t newest() const noexcept { return objects_.newest(); }
    std::size_t size() const noexcept { return objects_.size(); }

private:
    /// Four bytes: the place has the object's number.
    struct slot {
        linked_objects::place at = linked_objects::max_places;
    };
    struct keys {
        const linked_objects& objects;

        bool is_empty(const slot& each) const noexcept { return each.at == slot{}.at; }
        std::uint64_t object(const slot& each) const noexcept { return objects.object_in(each.at); }
    };

    linked_objects objects_;
    free_places free_;
    probing_slots<slot> places_;
};

}  // namespace acre::tool
