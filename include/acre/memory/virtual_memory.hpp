// The system's pages as a resource: one range of reserved addresses, whose pages are made usable as they are allocated.
//
// Use it as the upstream of arenas, pools and multi-arenas: for guard pages around each block, huge pages, memory that
// is locked or touched in advance, and memory that goes back to the system when it is free. Use it directly for a large
// array that grows in place (try_resize). Use acre::heap where none of these matters, and for small requests: every
// allocation takes whole pages.
//
// Nothing is silently less than was asked: without huge pages, without room to lock, an allocation fails with
// acre::system_refused, whose sentence says what to do. With .if_possible it is served without, and obtained() and
// last_refusal() tell. Transparent huge pages are the system's choice page by page; only being switched off is refused.
//
// Cost: construction reserves addresses, a few system calls. allocate and deallocate look at a few free runs of pages,
// in bounded time until the reserved range is full; then at all of them. A pair takes about 25 ns while free
// pages up to .keep_bytes are used again, and 4 microseconds where pages become usable and go back to the system; each
// page that is touched for the first time costs a page fault, 1.5 microseconds in a virtual machine. owns() is a
// subtraction and a comparison. Memory: 16 bytes a page of the highest address in use, apart from the pages: no
// overflow of an allocation reaches them. A double free, a wrong size and a pointer that is not of this resource abort
// with a message, in every build. Not thread-safe. Not movable. After a fork the child has a copy of its own, in which
// nothing is locked.
//
//     using namespace acre::literals;
//     acre::virtual_memory pages{{.reserve_bytes = 1_GiB, .guard_pages = 1}};
//     acre::arena frame{{.first_block_bytes = 64_MiB}, pages};  // pages are backed as the arena reaches them
#pragma once

#include <acre/core/detail/target.hpp>
#if !ACRE_HAS_VIRTUAL_MEMORY
static_assert(false,
              "acre::virtual_memory needs mmap or VirtualAlloc, and this target has neither: use acre::buffer over a "
              "static array");
#else

#include <acre/core/alignment.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/no_clear.hpp>
#include <acre/core/error.hpp>
#include <acre/core/literals.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/detail/pages.hpp>
#include <acre/memory/system_refused.hpp>
#include <acre/memory/virtual_memory_options.hpp>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace acre {

/// One range of reserved addresses, handed out in runs of pages. Honours any alignment that fits the range.
class virtual_memory : public detail::no_clear<virtual_memory> {
public:
    static constexpr const char* name = "acre::virtual_memory";
    using options_type = virtual_memory_options;

    /// Reserves addresses and takes no memory. Throws system_refused or bad_option; without exceptions prints the
    /// sentence and aborts.
    virtual_memory() : virtual_memory(virtual_memory_options{}) {}
    explicit virtual_memory(const virtual_memory_options& options) : virtual_memory(name, options) {}
    /// The same, for the resource named `resource`, whose name an error has.
    virtual_memory(const char* resource, const virtual_memory_options& options)
        : name_(resource),
          options_(options),
          obtained_{options.huge, options.prefault, options.lock},
          unit_(detail::pages::bytes()),
          granule_(unit_) {
        require_option(options.guard_pages == 0 || options.huge == huge_pages::none, name_, "guard_pages",
                       options.guard_pages, "0 together with huge pages, which guard pages would split");
        require_option(options.guard_pages <= 1024, name_, "guard_pages", options.guard_pages, "0 to 1024");
        require_option(options.reserve_bytes <= max_request / 4, name_, "reserve_bytes", options.reserve_bytes,
                       "at most an eighth of the address space");
        find_granule();
        reserve_range();
        advise();
    }

    virtual_memory(const virtual_memory&) = delete;
    virtual_memory& operator=(const virtual_memory&) = delete;

    /// Gives everything back to the system, live allocations included.
    ~virtual_memory() { release_range(); }

    /// Storage of `bytes` bytes aligned to `alignment`, in pages of its own. Fresh pages are zero, used ones have what
    /// was in them. Throws system_refused, limit_exceeded, request_too_large or bad_alignment.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (void* p = try_allocate(bytes, alignment)) return p;
        return fail(bytes, alignment);
    }

    /// As allocate, but null when it cannot; last_refusal() tells whether the system refused.
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        latest_ = {};
        if (!is_alignment(alignment) || bytes > bytes_ || alignment > bytes_) return nullptr;
        const page_count wanted = pages_for(bytes) + 2 * guard();
        page_count first;
        if (!take_run(wanted, alignment, first)) return nullptr;
        if (!open(first, wanted)) {
            give_run(first, wanted);
            return nullptr;
        }
        runs_[first] = {wanted, 0, 0, run_kind::live};
        used_ += (wanted - 2 * guard()) * unit_;
        void* p = address(first + guard());
        annotate(p, bytes, wanted - 2 * guard());
        return p;
    }

    /// Takes back what allocate gave; null is a no-op. Where the system refuses to take memory back, it is kept, counts
    /// in capacity(), and last_refusal() tells.
    void deallocate(void* p, std::size_t bytes, [[maybe_unused]] std::size_t alignment = default_alignment) noexcept {
        deallocate_of(name, p, bytes);
    }
    /// As deallocate, for the resource named `resource`, of which a misuse is reported.
    void deallocate_of(const char* resource, void* p, std::size_t bytes) noexcept {
        if (p == nullptr) return;
        const page_count first = live_run(p, resource);
        const page_count count = runs_[first].pages;
        if (count != pages_for(bytes) + 2 * guard()) abort_on_misuse(resource, detail::mistake::wrong_size, p);
        const std::size_t freed = (count - 2 * guard()) * unit_;
        used_ -= freed;
        poison(p, freed);
        const run_bounds merged = give_run(first, count);
        if (committed_ > used_ && committed_ - used_ > options_.keep_bytes) close(merged.first, merged.end);
    }

    /// Grows or shrinks an allocation in place. False when the pages behind it are in use, or the system refuses more:
    /// then nothing changed.
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
        latest_ = {};
        const page_count first = live_run(p, name, true);
        const page_count before = runs_[first].pages;
        if (before != pages_for(old_bytes) + 2 * guard()) abort_on_misuse(name, detail::mistake::wrong_size_resized, p);
        if (new_bytes > bytes_) return false;
        const page_count after = pages_for(new_bytes) + 2 * guard();
        if (after > before ? !grow_run(first, before, after) : !shrink_run(first, before, after)) return false;
        used_ = used_ - before * unit_ + after * unit_;
        annotate(p, new_bytes, after - 2 * guard());
        return true;
    }

    /// Gives the memory under the pages that lie wholly in [p, p + bytes) back to the system. They stay allocated and
    /// usable, and are zero: for the unused end of an arena's block. The range lies in one live allocation: one that
    /// reaches into another, or begins behind all, aborts with a sentence. Linear in the pages of the range. False when
    /// the system refuses, as it does for locked pages.
    bool discard(void* p, std::size_t bytes) noexcept {
        latest_ = {};
        const std::size_t offset = reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(start_);
        if (offset > bytes_ || bytes > bytes_ - offset) {
            abort_on_misuse(name, "a range was discarded that is not of this resource", p);
        }
        if (!is_of_one_run(offset, bytes))
            abort_on_misuse(name, "a range was discarded that is not in one allocation", p);
        const std::uintptr_t start = align_up(reinterpret_cast<std::uintptr_t>(p), granule_);
        const std::uintptr_t end = align_down(reinterpret_cast<std::uintptr_t>(p) + bytes, granule_);
        if (start >= end) return true;
        const detail::system_code code = detail::pages::discard(reinterpret_cast<void*>(start), end - start);
        return code == 0 || (refuse("given back", code, "locked pages stay in memory"), false);
    }

    /// Gives the memory of all free pages back to the system and returns its bytes. Linear in the free runs.
    std::size_t release_unused() noexcept {
        const std::size_t before = committed_;
        for (page_count head : free_runs_) {
            for (page_count each = head; each != no_page; each = runs_[each].next)
                close(each, each + runs_[each].pages);
        }
        close(frontier_, highest_);
        return before - committed_;
    }

    /// Takes everything back; pages up to .keep_bytes stay usable. Linear in the highest page in use.
    void reset() noexcept {
        forget_runs();
        if (committed_ > options_.keep_bytes) close(static_cast<page_count>(options_.keep_bytes / unit_), highest_);
    }

    /// Takes everything back and gives the memory to the system; the addresses stay reserved.
    void release() noexcept {
        forget_runs();
        if (!close(0, highest_)) return;
        unpoison_defined(start_, std::size_t{highest_} * unit_);
        highest_ = 0;
        run_table_.shrink();
        map_table_.shrink();
    }

    /// Bytes that the system was asked to make usable: pages in use, free pages that were kept, and records.
    std::size_t capacity() const noexcept { return committed_ + run_table_.bytes() + map_table_.bytes(); }
    /// Bytes of the pages of live allocations, guard pages aside.
    std::size_t used() const noexcept { return used_; }
    /// Bytes of the reserved addresses that allocations can have.
    std::size_t reserved() const noexcept { return bytes_; }
    /// The first of these addresses.
    void* start() const noexcept { return start_; }
    /// Bytes of a page: each allocation takes a multiple of it.
    std::size_t page_bytes() const noexcept { return unit_; }
    /// True when `p` points into the reserved range.
    bool owns(const void* p) const noexcept {
        return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(start_) < bytes_;
    }
    /// What the system granted of the options, for all allocations so far: less than asked only with .if_possible.
    virtual_memory_grants obtained() const noexcept { return obtained_; }
    /// The latest refusal of the system; its operation is null when there was none.
    const system_refusal& last_refusal() const noexcept { return last_refusal_; }

private:
    using page_count = std::uint32_t;
    static constexpr page_count no_page = 0xFFFF'FFFF;

    // freed: an allocation began here, and the page is now in the middle of a free run, or of a run allocated since.
    enum class run_kind : std::uint32_t { none, live, free, freed };

    // One for each page; meaningful at the first page of a run, and at the last of a free one.
    struct run {
        page_count pages;
        page_count previous;
        page_count next;
        run_kind kind;
    };
    struct run_bounds {
        page_count first;
        page_count end;
    };

    // A table at the front of the range, which grows as its entries are used.
    class growing_table {
    public:
        void put(std::byte* start) noexcept { start_ = start; }
        bool reach(std::size_t bytes, detail::system_code& code) noexcept {
            if (bytes <= committed_) return true;
            const std::size_t wanted = align_up(bytes, step);
            code = detail::pages::commit(start_ + committed_, wanted - committed_);
            if (code != 0) return false;
            committed_ = wanted;
            return true;
        }
        void shrink() noexcept {
            if (committed_ != 0 && detail::pages::decommit(start_, committed_) == 0) committed_ = 0;
        }
        std::size_t bytes() const noexcept { return committed_; }

        static constexpr std::size_t step = 64_KiB;

    private:
        std::byte* start_ = nullptr;
        std::size_t committed_ = 0;
    };

    static constexpr std::size_t default_reserve =
        sizeof(void*) == 8 ? std::size_t{1} << (sizeof(void*) * 4 + 4) : 256_MiB;
    static constexpr std::size_t min_default_reserve = 16_MiB;

    page_count guard() const noexcept { return static_cast<page_count>(options_.guard_pages); }
    page_count pages_for(std::size_t bytes) const noexcept {
        if (bytes > bytes_) return no_page / 2;  // of no allocation
        return bytes <= unit_ ? 1 : static_cast<page_count>((bytes - 1) / unit_ + 1);
    }
    std::byte* address(page_count page) const noexcept { return start_ + std::size_t{page} * unit_; }

    // ---- construction -------------------------------------------------------------------------------------------

    void find_granule() {
        if (options_.huge == huge_pages::none) return;
        granule_ = detail::pages::huge_bytes();
        if (granule_ != 0) return;
        granule_ = unit_;
        refuse("put into huge pages", 0, detail::pages::meaning_of_huge(0));
        without_huge_pages();
    }

    void reserve_range() {
        std::size_t wanted = options_.reserve_bytes != 0 ? options_.reserve_bytes : default_reserve;
        while (!try_reserve(wanted)) {
            if (options_.reserve_bytes != 0 || wanted <= min_default_reserve) fail_construction(wanted);
            wanted /= 2;
        }
        search_for_leaks_in(start_, bytes_);
        for (page_count& head : free_runs_) head = no_page;
    }

    // [records of runs][map of usable granules][no access][pages][no access]
    bool try_reserve(std::size_t wanted) noexcept {
        bytes_ = align_up(wanted, granule_);
        const std::size_t pages = bytes_ / unit_;
        if (pages >= no_page / 2) {
            refuse("reserved", 0, "one range has at most 2,147,483,646 pages: reserve less");
            return false;
        }
        const std::size_t run_bytes = align_up(pages * sizeof(run), growing_table::step);
        const std::size_t map_bytes = align_up(bytes_ / granule_ / 8 + 8, growing_table::step);
        const std::size_t front = align_up(run_bytes + map_bytes + unit_, granule_);
        whole_bytes_ = front + bytes_ + align_up(unit_, granule_);
        void* whole = nullptr;
        const detail::system_code code = detail::pages::reserve(whole_bytes_, granule_, whole);
        if (code != 0) {
            refuse("reserved", code, detail::pages::meaning_of_reserve(code));
            return false;
        }
        whole_ = static_cast<std::byte*>(whole);
        start_ = whole_ + front;
        runs_ = reinterpret_cast<run*>(whole_);
        usable_ = reinterpret_cast<std::uint64_t*>(whole_ + run_bytes);
        run_table_.put(whole_);
        map_table_.put(whole_ + run_bytes);
        return true;
    }

    void advise() {
        if (obtained_.huge != huge_pages::transparent) return;
        // The system takes the advice where huge pages are switched off, too.
        detail::system_code code = detail::pages::huge_pages_are_off();
        if (code == 0) code = detail::pages::advise_huge(start_, bytes_);
        if (code == 0) return;
        refuse("put into huge pages", code, detail::pages::meaning_of_huge(code));
        without_huge_pages();
    }

    void without_huge_pages() {
        if (!options_.if_possible)
            fail_construction(bytes_ != 0                   ? bytes_
                              : options_.reserve_bytes != 0 ? options_.reserve_bytes
                                                            : default_reserve);
        obtained_.huge = huge_pages::none;
    }

    [[noreturn, gnu::noinline, gnu::cold]] void fail_construction(std::size_t bytes) {
        release_range();
        raise<system_refused>(name_, bytes, granule_, last_refusal_);
        abort_with(system_refused{name_, bytes, granule_, last_refusal_});
    }

    void release_range() noexcept {
        if (whole_ == nullptr) return;
        unpoison_defined(start_, std::size_t{highest_} * unit_);
        end_search_for_leaks_in(start_, bytes_);
        detail::pages::release(whole_, whole_bytes_);
        whole_ = nullptr;
    }

    // ---- runs of pages ------------------------------------------------------------------------------------------

    // Free runs of 2^n to 2^(n+1) - 1 pages are in list n.
    static std::size_t list_of(page_count pages) noexcept {
        return static_cast<std::size_t>(std::bit_width(pages)) - 1;
    }

    // The first page of a run of `wanted` pages in [first, end) whose storage is aligned; no_page when there is none.
    page_count place(page_count first, std::size_t end, page_count wanted, std::size_t alignment) const noexcept {
        const auto start = reinterpret_cast<std::uintptr_t>(address(first + guard()));
        const std::size_t at = first + padding_to(start, detail::max(alignment, unit_)) / unit_;
        return at <= end && wanted <= end - at ? static_cast<page_count>(at) : no_page;
    }

    bool take_run(page_count wanted, std::size_t alignment, page_count& first) noexcept {
        constexpr std::size_t few = 8;
        return take_free_run(wanted, alignment, few, first) || take_fresh_run(wanted, alignment, first) ||
               take_free_run(wanted, alignment, SIZE_MAX, first);
    }

    // Looks at up to `looks` runs of each list.
    bool take_free_run(page_count wanted, std::size_t alignment, std::size_t looks, page_count& first) noexcept {
        for (std::size_t list = list_of(wanted); list < lists; ++list) {
            std::size_t left = looks;
            for (page_count each = free_runs_[list]; each != no_page && left > 0; each = runs_[each].next, --left) {
                first = place(each, std::size_t{each} + runs_[each].pages, wanted, alignment);
                if (first == no_page) continue;
                carve(each, first, wanted);
                return true;
            }
        }
        return false;
    }

    // Cuts [first, first + wanted) out of the free run that begins with `each`.
    void carve(page_count each, page_count first, page_count wanted) noexcept {
        const page_count end = each + runs_[each].pages;
        unlink(each);
        if (first != each) link(each, first - each);
        if (first + wanted != end) link(first + wanted, end - first - wanted);
    }

    bool take_fresh_run(page_count wanted, std::size_t alignment, page_count& first) noexcept {
        first = place(frontier_, bytes_ / unit_, wanted, alignment);
        if (first == no_page || !reach(first + wanted)) return false;
        const page_count before = frontier_;
        frontier_ = first + wanted;
        if (first != before) give_run(before, first - before);
        return true;
    }

    // Makes the tables cover the pages before `end`.
    bool reach(page_count end) noexcept {
        detail::system_code code = 0;
        const std::size_t granules = (std::size_t{end} * unit_ - 1) / granule_ + 1;
        if (run_table_.reach(std::size_t{end} * sizeof(run), code) &&
            map_table_.reach((granules + 63) / 64 * sizeof(std::uint64_t), code)) {
            highest_ = detail::max(highest_, end);
            return true;
        }
        refuse("made usable", code, detail::pages::meaning_of_commit(code));
        return false;
    }

    // Makes [first, first + count) free, joined with free neighbours; returns the bounds of the joined run.
    run_bounds give_run(page_count first, page_count count) noexcept {
        page_count end = first + count;
        runs_[first].kind = run_kind::freed;
        if (end != frontier_ && runs_[end].kind == run_kind::free) {
            const page_count behind = end;
            end += runs_[behind].pages;
            unlink(behind);
        }
        if (first != 0 && runs_[first - 1].kind == run_kind::free) {
            first -= runs_[first - 1].pages;
            unlink(first);
        }
        if (end == frontier_) {
            frontier_ = first;
        } else {
            link(first, end - first);
        }
        return {first, end};
    }

    void link(page_count first, page_count count) noexcept {
        page_count& head = free_runs_[list_of(count)];
        runs_[first + count - 1] = {count, no_page, no_page, run_kind::free};
        runs_[first] = {count, no_page, head, run_kind::free};
        if (head != no_page) runs_[head].previous = first;
        head = first;
    }

    void unlink(page_count first) noexcept {
        const run removed = runs_[first];
        (removed.previous == no_page ? free_runs_[list_of(removed.pages)] : runs_[removed.previous].next) =
            removed.next;
        if (removed.next != no_page) runs_[removed.next].previous = removed.previous;
        runs_[first + removed.pages - 1].kind = run_kind::none;
        runs_[first].kind = run_kind::freed;
    }

    void forget_runs() noexcept {
        poison(start_, std::size_t{frontier_} * unit_);
        if (frontier_ != 0) std::memset(static_cast<void*>(runs_), 0, frontier_ * sizeof(run));
        for (page_count& head : free_runs_) head = no_page;
        frontier_ = 0;
        used_ = 0;
    }

    // The run of a live allocation; a misuse of `resource` when `p` is none.
    page_count live_run(const void* p, const char* resource, bool resized = false) const noexcept {
        using namespace detail::mistake;
        const auto refuse = [&](const char* freed_wrongly, const char* resized_wrongly) {
            abort_on_misuse(resource, resized ? resized_wrongly : freed_wrongly, p);
        };
        if (!owns(p)) refuse(foreign_pointer, foreign_resized);
        const auto offset = reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(start_);
        const std::size_t page = offset / unit_;
        if (page >= frontier_ || page < guard()) refuse(double_free, used_after_free);
        const auto first = static_cast<page_count>(page) - guard();
        if (offset % unit_ != 0 || runs_[first].kind == run_kind::none) refuse(inside_an_allocation, inside_resized);
        if (runs_[first].kind != run_kind::live) refuse(double_free, used_after_free);
        return first;
    }

    // False when a run begins in the range behind its first page, or free pages do at it.
    bool is_of_one_run(std::size_t offset, std::size_t bytes) const noexcept {
        if (bytes == 0) return true;
        const std::size_t first = offset / unit_;
        const std::size_t last = (offset + bytes - 1) / unit_;
        if (last >= frontier_ || runs_[first].kind == run_kind::free) return false;
        for (std::size_t page = first + 1; page <= last; ++page) {
            if (runs_[page].kind == run_kind::live || runs_[page].kind == run_kind::free) return false;
        }
        return true;
    }

    bool grow_run(page_count first, page_count before, page_count after) noexcept {
        const page_count more = after - before;
        const page_count behind = first + before;
        if (behind == frontier_) {
            if (more > bytes_ / unit_ - frontier_ || !reach(frontier_ + more)) return false;
            frontier_ += more;
        } else {
            if (runs_[behind].kind != run_kind::free || runs_[behind].pages < more) return false;
            carve(behind, behind, more);
        }
        // The guard moves to the new end.
        const page_count end = behind + more;
        if (!close(end - guard(), end) || !commit(behind - guard(), more)) {
            close(behind - guard(), behind);
            give_run(behind, more);
            return false;
        }
        runs_[first].pages = after;
        return true;
    }

    bool shrink_run(page_count first, page_count before, page_count after) noexcept {
        if (before == after) return true;
        const page_count end = first + after;
        // The pages that become the guard behind it.
        if (!close(end - guard(), end)) return false;
        poison(address(end), std::size_t{before - after} * unit_);
        runs_[first].pages = after;
        const run_bounds merged = give_run(end, before - after);
        const std::size_t left = used_ - std::size_t{before - after} * unit_;
        if (committed_ > left && committed_ - left > options_.keep_bytes) close(merged.first, merged.end);
        return true;
    }

    // ---- usable pages -------------------------------------------------------------------------------------------

    // Makes a run usable between its guards.
    bool open(page_count first, page_count count) noexcept {
        const page_count end = first + count;
        return close(first, first + guard()) && close(end - guard(), end) &&
               commit(first + guard(), count - 2 * guard());
    }

    // The first granule in [from, end) that is usable or not, as `usable` says; `end` when there is none.
    std::size_t next_granule(std::size_t from, std::size_t end, bool usable) const noexcept {
        while (from < end) {
            const std::uint64_t word = usable ? usable_[from / 64] : ~usable_[from / 64];
            const std::uint64_t left = word >> from % 64;
            if (left != 0) return detail::min(from + static_cast<std::size_t>(std::countr_zero(left)), end);
            from = (from / 64 + 1) * 64;
        }
        return end;
    }

    void mark(std::size_t from, std::size_t end, bool usable) noexcept {
        while (from < end) {
            const std::size_t bits = detail::min(end - from, 64 - from % 64);
            const std::uint64_t mask = (bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1) << from % 64;
            std::uint64_t& word = usable_[from / 64];
            word = usable ? word | mask : word & ~mask;
            from += bits;
        }
    }

    // Makes pages usable, each granule that they touch.
    bool commit(page_count first, page_count count) noexcept {
        const std::size_t end =
            (std::size_t{first} + count) * unit_ / granule_ + ((std::size_t{first} + count) * unit_ % granule_ != 0);
        for (std::size_t at = std::size_t{first} * unit_ / granule_;;) {
            at = next_granule(at, end, false);
            if (at == end) return true;
            const std::size_t until = next_granule(at, end, true);
            if (!commit_granules(start_ + at * granule_, (until - at) * granule_)) return false;
            mark(at, until, true);
            committed_ += (until - at) * granule_;
            at = until;
        }
    }

    bool commit_granules(std::byte* p, std::size_t bytes) noexcept {
        if (!commit_memory(p, bytes)) return false;
        if (lock_and_prefault(p, bytes)) return true;
        (void)detail::pages::decommit(p, bytes);
        return false;
    }

    bool commit_memory(std::byte* p, std::size_t bytes) noexcept {
        if (options_.huge == huge_pages::preallocated && granule_ != unit_) {
            const detail::system_code code = detail::pages::commit_huge(p, bytes);
            if (code == 0) return true;
            refuse("put into huge pages", code, detail::pages::meaning_of_huge(code));
            if (!options_.if_possible) return false;
            obtained_.huge = huge_pages::none;
        }
        const detail::system_code code = detail::pages::commit(p, bytes);
        if (code != 0) {
            refuse("made usable", code, detail::pages::meaning_of_commit(code));
            return false;
        }
        // Again: pages that went back to the system in between have lost it.
        if (obtained_.huge == huge_pages::transparent) (void)detail::pages::advise_huge(p, bytes);
        return true;
    }

    bool lock_and_prefault(std::byte* p, std::size_t bytes) noexcept {
        if (options_.lock) {
            const detail::system_code code = detail::pages::lock(p, bytes);
            if (code != 0) {
                refuse("locked", code, detail::pages::meaning_of_lock(code));
                if (!options_.if_possible) return false;
                obtained_.locked = false;
            }
        }
        if (options_.prefault) {
            const detail::system_code code = detail::pages::prefault(p, bytes);
            if (code != 0) {
                refuse("backed by memory", code, detail::pages::meaning_of_commit(code));
                if (!options_.if_possible) return false;
                obtained_.prefaulted = false;
            }
        }
        return true;
    }

    // Makes the granules that lie wholly in [first, end) unusable. False when the system refuses; they stay usable.
    bool close(page_count first, page_count end) noexcept {
        // Behind the frontier all is free: there a granule may reach beyond `end`.
        const std::size_t rounding = end > frontier_ ? granule_ - 1 : 0;
        const std::size_t last = (std::size_t{detail::min(end, highest_)} * unit_ + rounding) / granule_;
        for (std::size_t at = (std::size_t{first} * unit_ + granule_ - 1) / granule_;;) {
            at = next_granule(at, last, true);
            if (at >= last) return true;
            const std::size_t until = next_granule(at, last, false);
            const detail::system_code code = detail::pages::decommit(start_ + at * granule_, (until - at) * granule_);
            if (code != 0) {
                refuse("given back", code, detail::pages::meaning_of_commit(code));
                return false;
            }
            mark(at, until, false);
            committed_ -= (until - at) * granule_;
            at = until;
        }
    }

    // ---- errors -------------------------------------------------------------------------------------------------

    [[gnu::noinline, gnu::cold]] void refuse(const char* operation, detail::system_code code,
                                             const char* meaning) noexcept {
        latest_ = last_refusal_ = {operation, code, meaning};
    }

    [[gnu::noinline, gnu::cold]] void* fail(std::size_t bytes, std::size_t alignment) const {
        if (!detail::can_be_honoured(alignment)) return raise<bad_alignment>(name_, alignment);
        if (bytes > bytes_ || alignment > bytes_) {
            const std::size_t needed = detail::with_padding(bytes, alignment > unit_ ? alignment - unit_ : 0);
            return raise<request_too_large>(name_, bytes, alignment, needed, bytes_);
        }
        if (latest_.operation != nullptr) return raise<system_refused>(name_, bytes, alignment, latest_);
        return raise<limit_exceeded>(name_, bytes, used_, bytes_);
    }

    // Tells AddressSanitizer which bytes of `pages` pages at `p` are in use.
    void annotate(void* p, std::size_t bytes, page_count pages) noexcept {
        unpoison(p, bytes);
        poison(static_cast<std::byte*>(p) + bytes, std::size_t{pages} * unit_ - bytes);
    }

    static constexpr std::size_t lists = 32;

    const char* name_;  // in errors
    virtual_memory_options options_;
    virtual_memory_grants obtained_;
    system_refusal latest_;        // of the request at hand
    system_refusal last_refusal_;  // ever
    std::size_t unit_;             // bytes of a page
    std::size_t granule_;          // bytes that become usable at once: a page, or a huge page
    std::byte* whole_ = nullptr;
    std::size_t whole_bytes_ = 0;
    std::byte* start_ = nullptr;
    std::size_t bytes_ = 0;
    run* runs_ = nullptr;
    std::uint64_t* usable_ = nullptr;  // a bit for each granule
    growing_table run_table_;
    growing_table map_table_;
    page_count frontier_ = 0;  // the pages from here on are free and in no list
    page_count highest_ = 0;   // the pages from here on were never in use, and have no records
    std::size_t used_ = 0;
    std::size_t committed_ = 0;
    page_count free_runs_[lists];
};

static_assert(owning_resource<virtual_memory> && resettable_resource<virtual_memory> &&
              resizable_resource<virtual_memory>);

}  // namespace acre

#endif  // ACRE_HAS_VIRTUAL_MEMORY
