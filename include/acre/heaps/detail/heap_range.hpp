// The address space of acre::general_heap: one reserved range, divided into units of 16 KiB, of which runs are taken
// and given back.
//
// Used by the library, not directly. The range begins with its tables: a byte for each unit (its size class, 0 without
// slots), a record for each unit (runs of units know their neighbours by those of their first and last units), a record
// for each slab. So `p - range` is all that a free needs to find a slot's class. Then come the units, from the bottom
// up to the frontier. Nothing is touched before it is used, so the tables cost as much memory as the units in use need.
//
// Free runs are kept in lists by length, and merge with their neighbours. Their memory stays with the heap until the
// free runs hold more than the options allow; then the longest go back to the system.
//
// Cost: take and give are constant time, but for growth of the range and memory that goes back: a system call each.
// The caller holds the heap's lock. No function allocates memory.
#pragma once

#include <acre/core/detail/target.hpp>
#if ACRE_HAS_GENERAL_HEAP
#include <acre/core/alignment.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/literals.hpp>
#include <acre/heaps/detail/heap_classes.hpp>
#include <acre/memory/detail/pages.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

/// The number of a unit, from the start of the range. Unit 0 holds tables: 0 stands for none.
using unit_number = std::uint32_t;

/// A slab: slots of one class. Beside the slots, so that these are not touched before they are used.
struct heap_slab {
    std::uint32_t next = 0;  // in the list of its class: slabs with a free slot
    std::uint32_t previous = 0;
    unit_number first = 0;
    std::uint16_t units = 0;
    std::uint8_t size_class = 0;
    std::uint8_t first_word = 0;  // words before it have no free slot
    std::uint32_t free_slots = 0;
    std::uint32_t slots = 0;
    std::uint64_t free_bits[heap_classes::max_slots / 64] = {};
};

/// What a unit is part of. Exact for the first and the last unit of a run, and for each unit of a slab.
struct unit_record {
    enum class kind : std::uint32_t { none, slab, large, free };

    unit_number length = 0;  // units of the run, in its first and last unit
    unit_number next = 0;    // of a free run, in its list
    unit_number previous = 0;
    std::uint32_t what = 0;  // kind in the top bits; below the slab's number, or how many units of a free run may hold
                             // data

    kind is() const noexcept { return static_cast<kind>(what >> 30); }
    std::uint32_t number() const noexcept { return what & 0x3fffffffu; }
    void set(kind is, std::uint32_t number) noexcept { what = static_cast<std::uint32_t>(is) << 30 | number; }
};

/// The range and its runs of units.
class heap_range {
    using kind = unit_record::kind;

public:
    static constexpr std::size_t unit_bytes = heap_classes::unit_bytes;
    static constexpr std::size_t huge_bytes = 2_MiB;

    constexpr heap_range() noexcept = default;
    heap_range(const heap_range&) = delete;
    heap_range& operator=(const heap_range&) = delete;

    /// Reserves the range, once. False when the system has no address space.
    bool reserve() noexcept {
        if (start_ != nullptr) return true;
        for (std::size_t bytes = most_reserved; bytes >= least_reserved; bytes /= 2) {
            void* start;
            if (pages::reserve(bytes, unit_bytes, start) != 0) continue;
            if (lay_out(static_cast<std::byte*>(start), bytes)) return true;
            pages::release(start, bytes);
        }
        return false;
    }

    /// The start of the range: where the units are counted from, and where their classes are.
    std::byte* start() const noexcept { return start_; }
    /// Bytes from the start to the frontier.
    std::size_t bytes() const noexcept { return __atomic_load_n(&bytes_, __ATOMIC_RELAXED); }

    bool owns(const void* p) const noexcept {
        return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(start_)) <
               bytes();
    }
    std::byte* address(unit_number unit) const noexcept { return start_ + std::size_t{unit} * unit_bytes; }
    unit_number unit_of(const void* p) const noexcept {
        return static_cast<unit_number>(static_cast<std::size_t>(static_cast<const std::byte*>(p) - start_) >>
                                        heap_classes::unit_shift);
    }
    std::uint8_t& class_of(unit_number unit) noexcept { return reinterpret_cast<std::uint8_t*>(start_)[unit]; }
    unit_record& record(unit_number unit) noexcept { return records_[unit]; }
    heap_slab& slab(std::uint32_t number) noexcept { return slabs_[number]; }

    /// Takes `count` units whose first is a multiple of `alignment` units. 0 when there are none. `is_zero` says whether
    /// their bytes are zero.
    unit_number take(std::size_t count, std::size_t alignment, bool& is_zero) noexcept {
        const std::size_t wanted = count + (alignment - 1);
        if (wanted >= most_units) return 0;
        unit_number first = take_free(static_cast<unit_number>(wanted), is_zero);
        if (first == 0) first = take_at_frontier(static_cast<unit_number>(wanted), is_zero);
        if (first == 0) return 0;
        units_in_use_ += wanted;
        if (alignment > 1) first = trim_to(first, static_cast<unit_number>(count), alignment, is_zero);
        set_run(first, static_cast<unit_number>(count), kind::large, 0);
        return first;
    }

    /// Takes back the run of `count` units from `first` on, which may hold data.
    void give(unit_number first, unit_number count) noexcept {
        units_in_use_ -= count;
        put_free(first, count, count);
        if (units_with_data_ > allowed_free()) give_back(allowed_free() / 2, least_given_back);
    }

    /// Makes the large run at `first` longer in place, to `count` units. False when its neighbour is in use.
    bool extend(unit_number first, std::size_t count) noexcept {
        const unit_number length = record(first).length;
        const unit_number after = first + length;
        if (count >= most_units) return false;
        const auto more = static_cast<unit_number>(count - length);
        if (after < frontier_) {
            unit_record& next = record(after);
            if (next.is() != kind::free || next.length < more) return false;
            bool is_zero;
            take_from(after, more, is_zero);
        } else {
            bool is_zero;
            if (take_at_frontier(more, is_zero) == 0) return false;
        }
        units_in_use_ += more;
        set_run(first, static_cast<unit_number>(count), kind::large, 0);
        return true;
    }

    /// Makes the large run at `first` shorter.
    void shrink(unit_number first, unit_number count) noexcept {
        const unit_number length = record(first).length;
        set_run(first, count, kind::large, 0);
        give(first + count, length - count);
    }

    /// Gives the memory of the longest free runs back to the system until at most `kept` units of free runs may hold
    /// data, by runs of at least `least` units. Returns the bytes that went back.
    std::size_t give_back(std::size_t kept, std::size_t least) noexcept {
        const std::size_t before = units_with_data_;
        for (unsigned list = lists; list-- > 0 && units_with_data_ > kept;) {
            for (unit_number first = first_in(list); first != 0 && units_with_data_ > kept; first = record(first).next) {
                give_back_run(first, least);
            }
        }
        return (before - units_with_data_) * unit_bytes;
    }

    /// Takes the number of a slab's record, whose contents are those of an earlier one, or zero. 0 when there is none.
    std::uint32_t take_slab() noexcept {
        if (free_slab_ != 0) {
            const std::uint32_t number = free_slab_;
            free_slab_ = slab(number).next;
            return number;
        }
        if (!reach(slab_table_, (std::size_t{slab_count_} + 1) * sizeof(heap_slab))) return 0;
        return slab_count_++;
    }
    void give_slab(std::uint32_t number) noexcept {
        slab(number).next = free_slab_;
        free_slab_ = number;
    }

    /// Memory for the heap itself, zero at first, which is never given back. Null when there is none.
    void* take_for_heap(std::size_t bytes) noexcept {
        if (!reach(heap_table_, heap_bytes_ + bytes)) return nullptr;
        void* p = heap_table_.start + heap_bytes_;
        heap_bytes_ += bytes;
        return p;
    }

    /// The bytes that free runs may hold: the larger of a number of bytes and a part of what is in use, in percent.
    void allow_free(std::size_t bytes, std::size_t percent) noexcept {
        allowed_units_ = bytes / unit_bytes;
        allowed_percent_ = percent;
    }

    std::size_t bytes_in_use() const noexcept { return units_in_use_ * unit_bytes; }
    std::size_t bytes_free_with_data() const noexcept { return units_with_data_ * unit_bytes; }

private:
    static constexpr std::size_t most_reserved = sizeof(void*) == 8 ? std::size_t{1} << (sizeof(void*) == 8 ? 40 : 30)
                                                                    : std::size_t{1} << 30;
    static constexpr std::size_t least_reserved = 64_MiB;
    static constexpr std::size_t most_units = std::size_t{1} << 30;
    static constexpr std::size_t least_given_back = 4;  // units: fewer are not worth a system call

    // Part of the range that becomes usable from its start on.
    struct growing {
        std::byte* start = nullptr;
        std::size_t usable = 0;
        std::size_t bytes = 0;
    };

    bool lay_out(std::byte* start, std::size_t bytes) noexcept {
        const std::size_t units = bytes / unit_bytes;
        std::byte* at = start;
        const auto place = [&at](growing& table, std::size_t size) {
            table = {at, 0, align_up(size, unit_bytes)};
            at += table.bytes;
        };
        growing all_tables;
        place(class_table_, units);
        place(record_table_, units * sizeof(unit_record));
        place(slab_table_, units * sizeof(heap_slab));
        place(heap_table_, bytes / 64);
        // All tables at once where the system does not count what is never touched.
        const auto table_bytes = static_cast<std::size_t>(at - start);
        if (pages::commit(start, table_bytes) == 0) {
            pages::refuse_huge(start, table_bytes);
            for (growing* each : {&class_table_, &record_table_, &slab_table_, &heap_table_}) each->usable = each->bytes;
        }
        end_ = static_cast<unit_number>(units);
        frontier_ = static_cast<unit_number>(table_bytes / unit_bytes);
        usable_end_ = frontier_;
        first_unit_ = frontier_;
        records_ = reinterpret_cast<unit_record*>(record_table_.start);
        slabs_ = reinterpret_cast<heap_slab*>(slab_table_.start);
        start_ = start;
        if (grow_to(frontier_ + first_growth)) return true;
        start_ = nullptr;
        return false;
    }

    // Makes the first `bytes` bytes of a table usable.
    static bool reach(growing& table, std::size_t bytes) noexcept {
        if (bytes <= table.usable) [[likely]]
            return true;
        if (bytes > table.bytes) return false;
        const std::size_t wanted =
            min(table.bytes, align_up(max(bytes, table.usable + table.usable / 2 + 64_KiB), unit_bytes));
        if (pages::commit(table.start + table.usable, wanted - table.usable) != 0) return false;
        table.usable = wanted;
        return true;
    }

    // Makes the units up to `end` usable.
    bool grow_to(std::size_t end) noexcept {
        if (end > end_ || !reach(class_table_, end) || !reach(record_table_, (end + 1) * sizeof(unit_record))) return false;
        if (pages::commit(address(usable_end_), (end - usable_end_) * unit_bytes) != 0) return false;
        usable_end_ = static_cast<unit_number>(end);
        return true;
    }

    static constexpr unit_number first_growth = 64;  // 1 MiB

    bool grow(unit_number needed_end) noexcept {
        if (needed_end <= usable_end_) return true;
        const unit_number usable = usable_end_ - first_unit_;
        std::size_t end = max<std::size_t>(needed_end, std::size_t{usable_end_} + max<unit_number>(first_growth, usable / 8));
        constexpr std::size_t huge_units = huge_bytes / unit_bytes;
        const bool huge = usable >= huge_from;
        if (huge) end = first_unit_ + (end - first_unit_ + huge_units - 1) / huge_units * huge_units;
        const unit_number before = usable_end_;
        if (!grow_to(min<std::size_t>(end, end_)) && !grow_to(needed_end)) return false;
        if (huge) {
            const std::uintptr_t from = align_up(reinterpret_cast<std::uintptr_t>(address(before)), huge_bytes);
            const std::uintptr_t to = reinterpret_cast<std::uintptr_t>(address(usable_end_)) / huge_bytes * huge_bytes;
            if (from < to) pages::advise_huge(reinterpret_cast<void*>(from), to - from);
        }
        return true;
    }
    static constexpr unit_number huge_from = 8_MiB / unit_bytes;

    unit_number take_at_frontier(unit_number count, bool& is_zero) noexcept {
        if (count > end_ - frontier_ || !grow(frontier_ + count)) return 0;
        const unit_number first = frontier_;
        frontier_ += count;
        __atomic_store_n(&bytes_, std::size_t{frontier_} * unit_bytes, __ATOMIC_RELAXED);
        is_zero = true;
        return first;
    }

    // Free runs of up to `exact_lists` units have a list for each length, then there are four for each doubling.
    static constexpr unsigned exact_lists = 32;
    static constexpr unsigned lists = 128;
    static unsigned list_of(unit_number count) noexcept {
        if (count <= exact_lists) return count - 1;
        const auto doubling = static_cast<unsigned>(std::bit_width(count) - 1);  // at least 5
        return exact_lists + (doubling - 5) * 4 + (count >> (doubling - 2) & 3);
    }
    static_assert(sizeof(unit_number) == 4);

    unit_number first_in(unsigned list) const noexcept { return free_runs_[list]; }

    unit_number take_free(unit_number count, bool& is_zero) noexcept {
        unsigned list = list_of(count);
        if (count > exact_lists) {
            // Runs of this list may be too short.
            int tries = 8;
            for (unit_number each = free_runs_[list]; each != 0 && tries-- > 0; each = record(each).next) {
                if (record(each).length >= count) return take_from(each, count, is_zero);
            }
            ++list;
        }
        const unit_number found = first_from(list);
        return found != 0 ? take_from(found, count, is_zero) : 0;
    }

    // The first run of the first list from `list` on that has one.
    unit_number first_from(unsigned list) const noexcept {
        if (list < 64) {
            const std::uint64_t low = filled_[0] >> list << list;
            if (low != 0) return free_runs_[std::countr_zero(low)];
            list = 64;
        }
        if (list >= lists) return 0;
        const std::uint64_t high = filled_[1] >> (list - 64) << (list - 64);
        return high != 0 ? free_runs_[64 + std::countr_zero(high)] : 0;
    }

    // Takes the first `count` units of a free run.
    unit_number take_from(unit_number first, unit_number count, bool& is_zero) noexcept {
        const unit_number length = record(first).length;
        const unit_number with_data = record(first).number();
        unlink(first);
        is_zero = with_data == 0;
        if (length > count) {
            // Where in the run the data are is not known.
            const unit_number rest = length - count;
            const unit_number left = with_data == 0 ? 0 : min(rest, max<unit_number>(1, with_data - min(with_data, count)));
            link(first + count, rest, left);
        }
        return first;
    }

    // Of a run that is longer by `alignment` - 1 units, keeps `count` aligned ones.
    unit_number trim_to(unit_number first, unit_number count, std::size_t alignment, bool is_zero) noexcept {
        const std::uintptr_t address_of_first = reinterpret_cast<std::uintptr_t>(address(first));
        const auto front = static_cast<unit_number>(padding_to(address_of_first, alignment * unit_bytes) / unit_bytes);
        const auto back = static_cast<unit_number>(alignment - 1 - front);
        units_in_use_ -= front + back;
        if (front != 0) put_free(first, front, is_zero ? 0 : front);
        if (back != 0) put_free(first + front + count, back, is_zero ? 0 : back);
        return first + front;
    }

    void set_run(unit_number first, unit_number count, kind is, std::uint32_t number) noexcept {
        unit_record& begin = record(first);
        unit_record& last = record(first + count - 1);
        last.length = count;
        last.set(is == kind::large ? kind::none : is, number);
        begin.length = count;
        begin.set(is, number);
    }

    // Frees a run: merges it with free neighbours.
    void put_free(unit_number first, unit_number count, unit_number with_data) noexcept {
        if (first > first_unit_ && record(first - 1).is() == kind::free) {
            const unit_number before = record(first - 1).length;
            first -= before;
            count += before;
            with_data += record(first).number();
            unlink(first);
        }
        const unit_number after = first + count;
        if (after < frontier_ && record(after).is() == kind::free) {
            count += record(after).length;
            with_data += record(after).number();
            unlink(after);
        }
        link(first, count, with_data);
    }

    void link(unit_number first, unit_number count, unit_number with_data) noexcept {
        const unsigned list = list_of(count);
        set_run(first, count, kind::free, with_data);
        unit_record& run = record(first);
        run.previous = 0;
        run.next = free_runs_[list];
        if (run.next != 0) record(run.next).previous = first;
        free_runs_[list] = first;
        filled_[list / 64] |= std::uint64_t{1} << list % 64;
        units_with_data_ += with_data;
    }
    void unlink(unit_number first) noexcept {
        const unit_record& run = record(first);
        const unsigned list = list_of(run.length);
        if (run.previous != 0) {
            record(run.previous).next = run.next;
        } else {
            free_runs_[list] = run.next;
            if (run.next == 0) filled_[list / 64] &= ~(std::uint64_t{1} << list % 64);
        }
        if (run.next != 0) record(run.next).previous = run.previous;
        units_with_data_ -= run.number();
    }

    void give_back_run(unit_number first, std::size_t least) noexcept {
        unit_record& run = record(first);
        if (run.number() == 0 || run.length < least) return;
        if (pages::discard(address(first), std::size_t{run.length} * unit_bytes) != 0) return;
        units_with_data_ -= run.number();
        set_run(first, run.length, kind::free, 0);
    }

    std::size_t allowed_free() const noexcept { return max(allowed_units_, units_in_use_ * allowed_percent_ / 100); }

    std::byte* start_ = nullptr;
    std::size_t bytes_ = 0;
    unit_record* records_ = nullptr;
    heap_slab* slabs_ = nullptr;
    unit_number first_unit_ = 0;  // the units before it hold tables
    unit_number frontier_ = 0;    // the units from here on were never in use
    unit_number usable_end_ = 0;  // the units from here on are only reserved
    unit_number end_ = 0;
    std::uint32_t slab_count_ = 1;
    std::uint32_t free_slab_ = 0;
    std::size_t heap_bytes_ = 0;
    std::size_t units_in_use_ = 0;
    std::size_t units_with_data_ = 0;  // of free runs
    std::size_t allowed_units_ = 16_MiB / unit_bytes;
    std::size_t allowed_percent_ = 25;
    growing class_table_;
    growing record_table_;
    growing slab_table_;
    growing heap_table_;
    std::uint64_t filled_[lists / 64] = {};  // a bit for each list with a run
    unit_number free_runs_[lists] = {};
};

}  // namespace acre::detail

#endif  // ACRE_HAS_GENERAL_HEAP
