// The address space of acre::general_heap: one reserved range, divided into units of 16 KiB, of which runs are taken
// and given back.
//
// Used by the library, not directly. Before the first unit lie the tables: a byte for each unit (its size class, 0
// without slots), in descending order, so that `p - start` is all that a free needs to find a slot's class; a record
// for each unit (runs of units know their neighbours by those of their first and last units); a record for each slab.
// Units are taken from the bottom up to the frontier. Nothing is touched before it is used, and a small program's
// records lie in the heap's object, so the tables cost as much memory as the units in use need.
//
// Free runs are kept in lists by length, and merge with their neighbours. Their memory stays with the heap until the
// free runs hold more than the options allow; then the longest go back to the system. What they keep because of a peak
// goes back when a run is freed later, or, as the heap looks from time to time, when ten periods have passed.
// Where growth meets a limit on memory, the pages of free runs become unusable, so that they do not count; they become
// usable again where a run is taken.
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
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

/// The number of a unit, from the start of the range. Unit 0 holds tables: 0 stands for none.
using unit_number = std::uint32_t;

/// A slab: slots of one class. Beside the slots, so that these are not touched before they are used.
struct heap_slab {
    std::byte* start = nullptr;  // of its first slot
    std::uint32_t next = 0;      // in the list of its class: slabs with a free slot
    std::uint32_t previous = 0;
    std::uint32_t number = 0;
    std::uint16_t units = 0;
    std::uint16_t size_class = 0;
    std::uint32_t slots = 0;
    std::uint32_t free_slots = 0;
    std::uint64_t free_bits[heap_classes::max_slots / 64] = {};
};

/// What a unit is part of. Exact for the first and the last unit of a run, and for each unit of a slab.
struct unit_record {
    enum class kind : std::uint32_t { none, slab, large, free };

    struct neighbours {
        unit_number next;
        unit_number previous;
    };

    union {
        heap_slab* slab = nullptr;  // of a slab's unit
        neighbours in_list;         // of a free run's first unit
    };
    unit_number length = 0;  // units of the run, in its first and last unit
    std::uint32_t what = 0;  // kind in the top bits; of a free run two flags and how many units may hold data

    // Of a free run: some of its pages are only reserved; some are usable, and count against limits on memory.
    static constexpr std::uint32_t is_partly_reserved = std::uint32_t{1} << 29;
    static constexpr std::uint32_t is_partly_usable = std::uint32_t{1} << 28;
    static constexpr std::uint32_t flags_of_pages = is_partly_reserved | is_partly_usable;

    kind is() const noexcept { return static_cast<kind>(what >> 30); }
    /// Null for a unit of another kind.
    heap_slab* slab_of_unit() const noexcept {
        return what == static_cast<std::uint32_t>(kind::slab) << 30 ? slab : nullptr;
    }
    std::uint32_t with_data() const noexcept { return what & (is_partly_usable - 1); }
    std::uint32_t pages() const noexcept { return what & flags_of_pages; }
    void set(kind is, std::uint32_t with_data) noexcept { what = static_cast<std::uint32_t>(is) << 30 | with_data; }
};

/// The range and its runs of units.
class heap_range {
    using kind = unit_record::kind;

public:
    static constexpr std::size_t unit_bytes = heap_classes::unit_bytes;
    static constexpr std::size_t huge_bytes = 2_MiB;
    static constexpr std::size_t huge_units = huge_bytes / unit_bytes;
    static constexpr unit_number first_records = 256;  // in the object, not in a table
    /// What becomes usable at once is a multiple of it: the largest page that a processor is set to.
    static constexpr std::size_t largest_page = 64_KiB;

    /// Of a long run, which a program may touch little of.
    static constexpr std::size_t max_huge_bytes = 32_MiB;

    static constexpr std::size_t default_kept_bytes = 4_MiB;
    static constexpr std::size_t default_kept_milliseconds = 100;

    // All zero, so that the heap's object takes no space in a file.
    constexpr heap_range() noexcept = default;
    heap_range(const heap_range&) = delete;
    heap_range& operator=(const heap_range&) = delete;

    /// Reserves the range, once. False when the system has no address space.
    bool reserve() noexcept {
        if (start_ != nullptr) return true;
        for (std::size_t bytes = max_reserved; bytes >= min_reserved; bytes /= 2) {
            void* start = nullptr;
            if (pages::reserve(bytes, 1, start) != 0) continue;
            if (lay_out(static_cast<std::byte*>(start), bytes)) return true;
            pages::release(start, bytes);
        }
        return false;
    }

    /// The first unit: where units are counted from.
    std::byte* start() const noexcept { return __atomic_load_n(&start_, __ATOMIC_RELAXED); }
    /// Bytes from the start to the frontier.
    std::size_t bytes() const noexcept { return __atomic_load_n(&bytes_, __ATOMIC_RELAXED); }

    std::size_t offset_of(const void* p) const noexcept {
        return narrowed<std::size_t>(reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(start()));
    }
    bool owns(const void* p) const noexcept { return offset_of(p) < bytes(); }
    std::byte* address(unit_number unit) const noexcept { return start_ + std::size_t{unit} * unit_bytes; }
    unit_number unit_of(const void* p) const noexcept {
        return static_cast<unit_number>(offset_of(p) >> heap_classes::unit_shift);
    }
    /// The size class of the unit that contains `p`, which the range owns.
    std::size_t class_of(const void* p) const noexcept { return class_at(start(), offset_of(p)); }
    /// The same for an offset from the start.
    [[gnu::always_inline]] static std::size_t class_at(const std::byte* start, std::size_t offset) noexcept {
        // Another thread may give the class another number meanwhile.
        return __atomic_load_n(reinterpret_cast<const std::uint8_t*>(start - (offset >> heap_classes::unit_shift) - 1),
                               __ATOMIC_RELAXED);
    }
    void set_class(unit_number unit, std::size_t size_class) noexcept {
        __atomic_store_n(reinterpret_cast<std::uint8_t*>(start_ - std::size_t{unit} - 1),
                         static_cast<std::uint8_t>(size_class), __ATOMIC_RELAXED);
    }
    /// Gives all units of one class to another one. Linear in the units up to the frontier.
    void rename_class(std::size_t from, std::size_t to) noexcept {
        for (unit_number unit = 1; unit < frontier_; ++unit) {
            if (class_of(address(unit)) == from) set_class(unit, to);
        }
    }
    unit_record& record(unit_number unit) noexcept { return records()[unit]; }

    /// Where the records of the units are: for as long as the caller keeps units in use.
    struct unit_records {
        std::byte* start;
        unit_record* few;
        unit_record* all;

        unit_record& operator[](std::size_t unit) const noexcept {
            return unit < first_records ? few[unit] : all[unit];
        }
        std::size_t unit_of(const void* p) const noexcept {
            return static_cast<std::size_t>(static_cast<const std::byte*>(p) - start) >> heap_classes::unit_shift;
        }
    };
    unit_records records() noexcept {
        return {start_, small_.records, reinterpret_cast<unit_record*>(record_table_.start)};
    }
    heap_slab& slab(std::uint32_t number) noexcept {
        return number < first_slabs ? small_.slabs[number] : reinterpret_cast<heap_slab*>(slab_table_.start)[number];
    }

    /// Takes `count` units whose first is a multiple of `alignment` units. 0 when there are none. `is_zero` says
    /// whether their bytes are zero. A long run that was never in use begins at a huge page where it can.
    /// `for_slots`: it becomes a slab of slots of at most a page, so all of its pages will be touched.
    unit_number take(std::size_t count, std::size_t alignment, bool& is_zero, bool for_slots = false) noexcept {
        const std::size_t wanted = count + (alignment - 1);
        if (wanted >= max_units) return 0;
        unit_number first = take_free(static_cast<unit_number>(wanted), is_zero);
        if (first != 0) return cut(first, count, alignment, is_zero);
        const growth what = for_slots ? growth::for_short : growth_for(count);
        if (count >= huge_request && alignment < huge_units) first = take_new(count, huge_units, is_zero, what);
        if (first == 0) first = take_new(count, alignment, is_zero, what);
        return first;
    }

    /// Takes back the run of `count` units from `first` on. Without data its bytes are zero.
    void give(unit_number first, unit_number count, bool with_data = true) noexcept {
        units_in_use_ -= count;
        put_free(first, count, with_data ? count : 0);
        keep_to_allowance();
    }

    /// Makes the large run at `first` longer in place, to `count` units. False when its neighbour is in use.
    bool extend(unit_number first, std::size_t count) noexcept {
        const unit_number length = record(first).length;
        const unit_number after = first + length;
        if (count >= max_units) return false;
        const auto more = static_cast<unit_number>(count - length);
        if (after < frontier_) {
            unit_record& next = record(after);
            if (next.is() != kind::free || next.length < more) return false;
            bool is_zero;
            if (take_from(after, more, is_zero) == 0) return false;
        } else {
            bool is_zero;
            if (take_at_frontier(more, is_zero, growth_for(count)) == 0) return false;
        }
        use(more);
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
        const int error = errno;  // free() leaves it as it is
        for (unsigned list = lists; list-- > 0 && units_with_data_ > kept;) {
            for (unit_number first = first_in(list); first != 0 && units_with_data_ > kept;
                 first = record(first).in_list.next) {
                give_back_run(first, least);
            }
        }
        errno = error;
        return (before - units_with_data_) * unit_bytes;
    }

    /// Takes the number of a slab's record, whose contents are those of an earlier one, or zero. 0 when there is none.
    std::uint32_t take_slab() noexcept {
        if (free_slab_ != 0) {
            const std::uint32_t number = free_slab_;
            free_slab_ = slab(number).next;
            return number;
        }
        // From 1 on: 0 stands for none.
        const std::uint32_t number = slab_count_ + 1;
        if (number >= first_slabs && !reach(slab_table_, (std::size_t{number} + 1) * sizeof(heap_slab))) return 0;
        return slab_count_ = number;
    }
    void give_slab(std::uint32_t number) noexcept {
        slab(number).next = free_slab_;
        free_slab_ = number;
    }

    /// Memory for the heap itself, zero at first, which is never given back. Null when there is none.
    void* take_for_heap(std::size_t bytes) noexcept {
        if (heap_bytes_ + bytes <= unit_bytes) {
            heap_bytes_ += bytes;
            return start_ + heap_bytes_ - bytes;
        }
        if (!reach(heap_table_, heap_table_bytes_ + bytes)) return nullptr;
        heap_table_bytes_ += bytes;
        return heap_table_.start + heap_table_bytes_ - bytes;
    }

    /// How much memory the heap keeps beyond what is in use: `bytes`, or as much as was in use within the last one to
    /// two periods of so many milliseconds.
    void set_allowance(std::size_t bytes, std::size_t milliseconds) noexcept {
        kept_units_ = bytes / unit_bytes;
        period_ = milliseconds;
    }

    /// True while free runs hold memory only because of a peak, and ten periods have passed since that was looked at:
    /// the caller is to call look_at_peak(). Needs no lock. A load, or, while there is such memory, the clock too.
    bool is_peak_to_be_looked_at() const noexcept {
        const std::uint64_t when = look_again_.load(std::memory_order_relaxed);
        return when != 0 && pages::milliseconds() >= when;
    }

    // Memory that was in use a moment ago is likely to be needed again, and keeping it does not raise the peak. So free
    // runs may hold data up to the highest use of the last one to two periods, and a quarter of it: what is in use may
    // lie less densely later. Since the last check, no more was freed than the heap keeps anyway. So usage is still
    // near that peak, and it counts as current.
    [[gnu::noinline]] void look_at_peak() noexcept {
        const std::uint64_t now = pages::milliseconds();
        begin_period(now);
        peak_now_ = detail::max(peak_now_, peak_);
        peak_ = units_in_use_;
        const std::size_t recently = period_ == 0 ? 0 : detail::max(peak_now_, peak_before_);
        const std::size_t allowed = recently + recently / 4 - detail::min(recently, units_in_use_);
        if (units_with_data_ > detail::max(kept_units_, allowed)) {
            give_back(detail::max(kept_units_, allowed) * 3 / 4, min_given_back);
        }
        const bool is_kept_for_peak = period_ != 0 && units_with_data_ > kept_units_;
        look_again_.store(is_kept_for_peak ? now + 10 * period_ : 0, std::memory_order_relaxed);
    }

    /// What in the records of runs does not agree, or null. Linear in the runs up to the frontier.
    const char* broken_invariant() noexcept {
        std::size_t in_use = 0;
        std::size_t with_data = 0;
        std::size_t unlisted = 0;
        for (unit_number first = 1; first < frontier_;) {
            const unit_record& run = record(first);
            const kind is = run.is();
            const unit_number length = is == kind::slab ? run.slab->units : run.length;
            if (is == kind::none || length == 0 || length > frontier_ - first)
                return "the record of a run was overwritten";
            if (is != kind::slab && record(first + length - 1).length != length) return "the ends of a run differ";
            (is == kind::free ? with_data : in_use) += is == kind::free ? run.with_data() : length;
            unlisted += is == kind::free;
            first += length;
        }
        if (in_use != units_in_use_ || with_data != units_with_data_) return "runs hold other units than counted";
        for (unsigned list = 0; list < lists; ++list) {
            for (unit_number each = first_in(list); each != 0; each = record(each).in_list.next)
                if (unlisted-- == 0 || record(each).is() != kind::free || list_of(record(each).length) != list)
                    return "the list of free runs was overwritten";
        }
        return unlisted == 0 ? nullptr : "a free run is not listed";
    }

    std::size_t bytes_in_use() const noexcept { return units_in_use_ * unit_bytes; }
    std::size_t bytes_free_with_data() const noexcept { return units_with_data_ * unit_bytes; }

private:
    // 1 TiB, or 1 GiB on 32-bit systems.
    static constexpr std::size_t max_reserved = std::size_t{1} << (sizeof(void*) == 8 ? 40 : 30);
    static constexpr std::size_t min_reserved = 4_MiB;
    static constexpr std::size_t max_units = std::size_t{1} << 30;
    static constexpr std::size_t min_given_back = 4;  // units: fewer are not worth a system call

    // For what the range grows: slabs and short runs, a long run, or one that may not have huge pages.
    enum class growth : std::uint8_t { for_short, for_long, without_huge };

    static growth growth_for(std::size_t count) noexcept {
        return count < long_request ? growth::for_short : growth::for_long;
    }

    // Takes them from the frontier on.
    unit_number take_new(std::size_t count, std::size_t alignment, bool& is_zero, growth what) noexcept {
        const std::size_t wanted = count + (alignment - 1);
        if (wanted >= max_units) return 0;
        // A huge page would give memory to what the alignment skips.
        if (count <= alignment / 2) what = growth::without_huge;
        unit_number first = take_at_frontier(static_cast<unit_number>(wanted), is_zero, what);
        if (first == 0) return 0;
        first = cut(first, count, alignment, is_zero);
        keep_to_allowance();
        return first;
    }

    // Of a run of `count` + `alignment` - 1 units that was taken, keeps `count` aligned ones.
    unit_number cut(unit_number first, std::size_t count, std::size_t alignment, bool is_zero) noexcept {
        use(count + (alignment - 1));
        if (alignment > 1) return trim_to(first, static_cast<unit_number>(count), alignment, is_zero);
        set_run(first, static_cast<unit_number>(count), kind::large, 0);
        return first;
    }

    void use(std::size_t units) noexcept {
        units_in_use_ += units;
        peak_ = detail::max(peak_, units_in_use_);
    }

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
            table = {at, 0, align_up(size, largest_page)};
            at += table.bytes;
        };
        place(heap_table_, bytes / 64);
        place(slab_table_, units * sizeof(heap_slab));
        place(record_table_, units * sizeof(unit_record));
        class_bytes_ = align_up(units, largest_page);
        at += class_bytes_;
        std::byte* const first = at + padding_to(reinterpret_cast<std::uintptr_t>(at), largest_page);
        const auto room = static_cast<std::size_t>(start + bytes - first);
        end_ = static_cast<unit_number>(room / largest_page * largest_page / unit_bytes);
        page_units_ = static_cast<unit_number>(detail::max(pages::bytes(), unit_bytes) / unit_bytes);
        set_allowance(default_kept_bytes, default_kept_milliseconds);
        // Unit 0 is the heap's own.
        frontier_ = 1;
        usable_end_ = first_growth;
        usable_classes_ = largest_page;
        if (pages::commit(first - usable_classes_, usable_classes_ + first_growth * unit_bytes) != 0) return false;
        __atomic_store_n(&start_, first, __ATOMIC_RELAXED);
        return true;
    }

    // Makes the first `bytes` bytes of a table usable, and as much again: where a program has locked its memory
    // (mlockall), all that is usable is resident.
    static bool reach(growing& table, std::size_t bytes) noexcept {
        if (bytes <= table.usable) [[likely]]
            return true;
        if (bytes > table.bytes) return false;
        const std::size_t wanted = detail::min(
            table.bytes, align_up(detail::max(bytes, detail::max(2 * table.usable, least_growth)), largest_page));
        std::byte* const from = table.start + table.usable;
        if (pages::commit(from, wanted - table.usable) != 0) return false;
        pages::refuse_huge(from, wanted - table.usable);
        table.usable = wanted;
        return true;
    }
    static constexpr std::size_t least_growth = 128_KiB;

    // As above for the classes, which lie before the units in descending order.
    bool reach_classes(std::size_t units) noexcept {
        if (units <= usable_classes_) [[likely]]
            return true;
        if (units > class_bytes_) return false;
        const std::size_t wanted =
            detail::min(class_bytes_, align_up(detail::max(units, 2 * usable_classes_), largest_page));
        if (pages::commit(start_ - wanted, wanted - usable_classes_) != 0) return false;
        usable_classes_ = wanted;
        return true;
    }

    // Makes the units up to `end` usable.
    bool grow_to(std::size_t end) noexcept {
        if (end > end_ || !reach_classes(end)) return false;
        if (end >= first_records && !reach(record_table_, (end + 1) * sizeof(unit_record))) return false;
        if (pages::commit(address(usable_end_), (end - usable_end_) * unit_bytes) != 0) return false;
        usable_end_ = static_cast<unit_number>(end);
        return true;
    }

    static constexpr unit_number first_growth = 64;  // 1 MiB

    // How many of `count` units may have huge pages.
    unit_number may_be_huge(growth what, unit_number count) const noexcept {
        if (what == growth::without_huge) return 0;
        return what == growth::for_short ? count : detail::min(count, max_huge_for_long - huge_for_long_);
    }

    // What grows for a request that may not have huge pages is for that one alone: those that follow may have them.
    bool grow(unit_number needed_end, growth what) noexcept {
        if (needed_end <= usable_end_) return true;
        const unit_number usable = usable_end_;
        const unit_number needed = needed_end - usable;
        const unit_number more = may_be_huge(what, needed) == needed ? detail::max(first_growth, usable / 8) : 0;
        std::size_t end = detail::max<std::size_t>(needed_end, std::size_t{usable} + more);
        const bool huge = usable >= huge_from || needed >= huge_growth;
        constexpr std::size_t page = largest_page / unit_bytes;
        const std::size_t step = huge ? huge_units : page;
        end = (end + step - 1) / step * step;
        const std::size_t least = (needed_end + page - 1) / page * page;
        if (!grow_to(detail::min<std::size_t>(end, end_)) && !grow_to(least)) {
            // At a limit on memory. What was freed counts against it until its pages are reserved again.
            if (!reserve_free_runs() || !grow_to(least)) return false;
        }
        if (huge) ask_for_huge(usable, what);
        return true;
    }

    // For the whole huge pages between the unit and the usable end, as many of them as may be.
    void ask_for_huge(unit_number from, growth what) noexcept {
        const std::uintptr_t start = align_up(reinterpret_cast<std::uintptr_t>(address(from)), huge_bytes);
        const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(address(usable_end_)) / huge_bytes * huge_bytes;
        if (start >= end) return;
        const unit_number units = may_be_huge(what, static_cast<unit_number>((end - start) / unit_bytes));
        if (units < huge_units) return;
        const std::size_t bytes = align_down(std::size_t{units} * unit_bytes, huge_bytes);
        if (what == growth::for_long) huge_for_long_ += static_cast<unit_number>(bytes / unit_bytes);
        pages::advise_huge(reinterpret_cast<void*>(start), bytes);
    }
    // Of a smaller heap a huge page would be a large part. A limit of 16 MiB took 4,400 page faults in place of 900,
    // and 1.05 of the time, in the mean of programs with 20 to 150 MiB (bench/results/whole_programs.md).
    static constexpr unit_number huge_from = 2_MiB / unit_bytes;
    // Of a request this large it is a small part, however small the heap is: sort took .87 of the time with it
    // z3 .85.
    static constexpr unit_number huge_growth = 4_MiB / unit_bytes;
    // And this large it begins at one.
    static constexpr unit_number huge_request = 16_MiB / unit_bytes;
    // A program may touch little of a long run: a sparse table, the buffers of many connections. With huge pages each
    // touch takes 2 MiB, so long runs have at most so much of them, and beyond cost what is touched, as where malloc
    // maps them. Shorter than glibc's limit for mapping a request, runs lie between slabs and share their pages.
    static constexpr unit_number long_request = 128_KiB / unit_bytes;
    static constexpr unit_number max_huge_for_long = max_huge_bytes / unit_bytes;

    // Takes units from the frontier on, and the free ones right before it.
    unit_number take_at_frontier(unit_number count, bool& is_zero, growth what) noexcept {
        const unit_record& last = record(frontier_ - 1);
        const unit_number before = frontier_ > 1 && last.is() == kind::free ? last.length : 0;
        if (count - before > end_ - frontier_ || !grow(frontier_ + count - before, what)) return 0;
        const unit_number first = frontier_ - before;
        if (before != 0 && make_usable(first, before) == 0) return 0;
        is_zero = before == 0 || record(first).with_data() == 0;
        if (before != 0) unlink(first);
        frontier_ = first + count;
        __atomic_store_n(&bytes_, std::size_t{frontier_} * unit_bytes, __ATOMIC_RELAXED);
        return first;
    }

    // Free runs of up to `exact_lists` units have a list for each length, then there are four for each doubling.
    static constexpr unsigned exact_lists = 32;
    static constexpr unsigned lists = 128;
    static unsigned list_of(unit_number count) noexcept {
        if (count <= exact_lists) return count - 1;
        const auto doubling = narrowed<unsigned>(std::bit_width(count) - 1);  // at least 5
        return exact_lists + (doubling - 5) * 4 + (count >> (doubling - 2) & 3);
    }
    static_assert(sizeof(unit_number) == 4);

    unit_number first_in(unsigned list) const noexcept { return free_runs_[list]; }

    unit_number take_free(unit_number count, bool& is_zero) noexcept {
        if (count >= frontier_) return 0;  // longer than any free run, and perhaps than those of the last list
        unsigned list = list_of(count);
        if (count > exact_lists) {
            // Runs of this list may be too short.
            int tries = 8;
            for (unit_number each = free_runs_[list]; each != 0 && tries-- > 0; each = record(each).in_list.next) {
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

    // Takes the first `count` units of a free run. 0 where a limit on memory is reached.
    unit_number take_from(unit_number first, unit_number count, bool& is_zero) noexcept {
        const unit_number usable = make_usable(first, count);
        if (usable == 0) [[unlikely]]
            return 0;
        const unit_number length = record(first).length;
        const unit_number with_data = record(first).with_data();
        const std::uint32_t pages = record(first).pages();
        unlink(first);
        is_zero = with_data == 0;
        if (length > count) {
            link_rest(first + count, usable - count, with_data - detail::min(with_data, count), with_data != 0,
                      unit_record::is_partly_usable);
            link_rest(first + usable, length - usable, with_data - detail::min(with_data, usable), with_data != 0,
                      pages);
        }
        return first;
    }

    // What is left of a free run, in which at most `with_data` units hold data, and where is not known.
    void link_rest(unit_number first, unit_number count, unit_number with_data, bool any_data,
                   std::uint32_t pages) noexcept {
        if (count != 0) link(first, count, any_data ? detail::clamp<unit_number>(with_data, 1, count) : 0, pages);
    }

    // Of a run that is longer by `alignment` - 1 units, keeps `count` aligned ones.
    unit_number trim_to(unit_number first, unit_number count, std::size_t alignment, bool is_zero) noexcept {
        const std::uintptr_t address_of_first = reinterpret_cast<std::uintptr_t>(address(first));
        const auto front = static_cast<unit_number>(padding_to(address_of_first, alignment * unit_bytes) / unit_bytes);
        const auto back = static_cast<unit_number>(alignment - 1 - front);
        units_in_use_ -= front + back;
        // Before its neighbours are freed, which would take it for a free run that it once was.
        set_run(first + front, count, kind::large, 0);
        if (front != 0) put_free(first, front, is_zero ? 0 : front);
        if (back != 0) put_free(first + front + count, back, is_zero ? 0 : back);
        return first + front;
    }

    void set_run(unit_number first, unit_number count, kind is, std::uint32_t with_data) noexcept {
        unit_record& begin = record(first);
        unit_record& last = record(first + count - 1);
        last.length = count;
        last.set(is == kind::large ? kind::none : is, with_data);
        begin.length = count;
        begin.set(is, with_data);
    }

    // Frees a run: merges it with free neighbours.
    void put_free(unit_number first, unit_number count, unit_number with_data) noexcept {
        std::uint32_t pages = unit_record::is_partly_usable;
        if (first > 1 && record(first - 1).is() == kind::free) {
            const unit_number before = record(first - 1).length;
            first -= before;
            count += before;
            with_data += record(first).with_data();
            pages |= record(first).pages();
            unlink(first);
        }
        const unit_number after = first + count;
        if (after < frontier_ && record(after).is() == kind::free) {
            count += record(after).length;
            with_data += record(after).with_data();
            pages |= record(after).pages();
            unlink(after);
        }
        link(first, count, with_data, pages);
    }

    void link(unit_number first, unit_number count, unit_number with_data, std::uint32_t pages) noexcept {
        const unsigned list = list_of(count);
        set_run(first, count, kind::free, with_data);
        unit_record& run = record(first);
        run.what |= pages;
        run.in_list = {free_runs_[list], 0};
        if (run.in_list.next != 0) record(run.in_list.next).in_list.previous = first;
        free_runs_[list] = first;
        filled_[list / 64] |= std::uint64_t{1} << list % 64;
        units_with_data_ += with_data;
    }
    void unlink(unit_number first) noexcept {
        const unit_record& run = record(first);
        const auto [next, previous] = run.in_list;
        const unsigned list = list_of(run.length);
        if (previous != 0) {
            record(previous).in_list.next = next;
        } else {
            free_runs_[list] = next;
            if (next == 0) filled_[list / 64] &= ~(std::uint64_t{1} << list % 64);
        }
        if (next != 0) record(next).in_list.previous = previous;
        units_with_data_ -= run.with_data();
    }

    void give_back_run(unit_number first, std::size_t least) noexcept {
        unit_record& run = record(first);
        if (run.with_data() == 0 || run.length < least) return;
        // Whole pages, of which some systems have such of several units.
        const unit_number begin = (first + page_units_ - 1) / page_units_ * page_units_;
        const unit_number end = (first + run.length) / page_units_ * page_units_;
        if (begin >= end || pages::discard(address(begin), std::size_t{end - begin} * unit_bytes) != 0) return;
        const unit_number rest = detail::min(run.with_data(), run.length - (end - begin));
        units_with_data_ -= run.with_data() - rest;
        const std::uint32_t pages = run.pages();
        set_run(first, run.length, kind::free, rest);
        run.what |= pages;
    }

    // Makes the pages of free runs unusable, so that they no longer count against a limit on memory. They become usable
    // again where the run is taken. False when there are no such pages.
    [[gnu::noinline, gnu::cold]] bool reserve_free_runs() noexcept {
        bool any = false;
        const int error = errno;
        for (unsigned list = lists; list-- > list_of(min_given_back);) {
            for (unit_number first = first_in(list); first != 0; first = record(first).in_list.next) {
                unit_record& run = record(first);
                if ((run.pages() & unit_record::is_partly_usable) == 0) continue;
                const unit_number begin = (first + page_units_ - 1) / page_units_ * page_units_;
                const unit_number end = (first + run.length) / page_units_ * page_units_;
                if (begin >= end || pages::decommit(address(begin), std::size_t{end - begin} * unit_bytes) != 0)
                    continue;
                const bool is_whole = end - begin == run.length;
                const unit_number rest = detail::min(run.with_data(), run.length - (end - begin));
                units_with_data_ -= run.with_data() - rest;
                set_run(first, run.length, kind::free, rest);
                run.what |= is_whole ? unit_record::is_partly_reserved : unit_record::flags_of_pages;
                any = true;
            }
        }
        errno = error;
        return any;
    }

    // Makes at least the first `count` units of a free run usable. Returns how many of the run are, from its first on;
    // 0 where a limit on memory is reached.
    unit_number make_usable(unit_number first, unit_number count) noexcept {
        if ((record(first).pages() & unit_record::is_partly_reserved) == 0) [[likely]]
            return record(first).length;
        return make_usable_slow(first, count);
    }
    [[gnu::noinline, gnu::cold]] unit_number make_usable_slow(unit_number first, unit_number count) noexcept {
        const auto commit = [&](unit_number units) {
            const unit_number begin = first / page_units_ * page_units_;
            const unit_number end = (first + units + page_units_ - 1) / page_units_ * page_units_;
            return pages::commit(address(begin), std::size_t{end - begin} * unit_bytes) == 0 ? units : 0;
        };
        // More than is needed: not a system call for each slab.
        if (const unit_number units = commit(detail::min(record(first).length, detail::max(count, first_growth))))
            return units;
        if (const unit_number units = commit(count)) return units;
        return reserve_free_runs() ? commit(count) : 0;
    }

    // Nothing if the period has not ended. After two periods both peaks are too old.
    void begin_period(std::uint64_t now) noexcept {
        const std::uint64_t passed = now - period_start_;
        if (passed < period_) return;
        const bool is_next = passed - period_ < period_;
        peak_before_ = is_next ? peak_now_ : 0;
        peak_now_ = 0;
        period_start_ = is_next ? period_start_ + period_ : now;
    }

    void keep_to_allowance() noexcept {
        if (units_with_data_ > kept_units_) [[unlikely]]
            look_at_peak();
    }

    std::byte* start_ = nullptr;
    std::size_t bytes_ = 0;
    unit_number frontier_ = 0;    // the units from here on were never in use
    unit_number usable_end_ = 0;  // the units from here on are only reserved
    unit_number end_ = 0;
    unit_number page_units_ = 0;     // units of a page, if it has several; else 1
    unit_number huge_for_long_ = 0;  // that have huge pages
    std::uint32_t slab_count_ = 0;
    std::uint32_t free_slab_ = 0;
    std::size_t heap_bytes_ = 0;        // of unit 0 that are taken
    std::size_t heap_table_bytes_ = 0;  // of the table that are taken
    std::size_t class_bytes_ = 0;
    std::size_t usable_classes_ = 0;
    std::size_t units_in_use_ = 0;
    std::size_t units_with_data_ = 0;  // of free runs
    std::size_t kept_units_ = 0;
    std::uint64_t period_ = 0;  // milliseconds
    std::uint64_t period_start_ = 0;
    std::size_t peak_ = 0;                      // the most units in use since the last look
    std::size_t peak_now_ = 0;                  // and at the looks of this period
    std::size_t peak_before_ = 0;               // and of the one before
    std::atomic<std::uint64_t> look_again_{0};  // when the peak is to be looked at without a free run; 0: never
    growing record_table_;
    growing slab_table_;
    growing heap_table_;
    std::uint64_t filled_[lists / 64] = {};  // a bit for each list with a run
    unit_number free_runs_[lists] = {};

    // The first records: a small program touches no table, each of which would need pages of its own.
    static constexpr std::uint32_t first_slabs = 64;
    struct {
        unit_record records[first_records];
        heap_slab slabs[first_slabs];
    } small_{};
};

}  // namespace acre::detail

#endif  // ACRE_HAS_GENERAL_HEAP
