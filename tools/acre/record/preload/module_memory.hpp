// Memory of a module (the program or a library), of which parts may be unmapped or damaged: it is read only where the
// kernel says that it can be.
#pragma once

#include "../raw_log.hpp"
#include "system.hpp"

namespace acre::recorder {

/// Remembers which pages can be read. Zeroed memory remembers none.
class readable_pages {
public:
    bool has(std::uintptr_t page) {
        std::uintptr_t& known = known_[page / raw::page_bytes % limit];
        if (known == page && page != 0) return true;
        if (!can_read(page)) return false;
        known = page;
        return true;
    }

    /// To be called when pages may have been unmapped.
    void forget() { std::memset(known_, 0, sizeof known_); }

private:
    static constexpr std::size_t limit = 1024;

    std::uintptr_t known_[limit];
};

/// The addresses from the module's first segment to its last one. There may be holes between segments.
class module_memory {
public:
    module_memory(readable_pages& pages, std::uintptr_t begin, std::uintptr_t end)
        : pages_(pages), begin_(begin), end_(end) {}

    std::uintptr_t end() const { return end_; }

    /// Copies from the module; false if it does not hold the whole. Damaged tables lead anywhere in it, in tests also
    /// to what AddressSanitizer guards.
    template <typename T>
    [[gnu::no_sanitize_address]] bool read(std::uintptr_t at, T& out) {
        if (!holds(at, sizeof out)) return false;
        std::memcpy(&out, reinterpret_cast<const void*>(at), sizeof out);
        return true;
    }

    /// Whether these bytes belong to the module and can be read.
    bool holds(std::uintptr_t at, std::size_t bytes) {
        if (at < begin_ || at > end_ || bytes > end_ - at) return false;
        return (at >= probed_begin_ && at + bytes <= probed_end_) || probe(at, bytes);
    }

private:
    [[gnu::noinline]] bool probe(std::uintptr_t at, std::size_t bytes) {
        constexpr std::uintptr_t in_page = raw::page_bytes - 1;
        for (std::uintptr_t page = at & ~in_page; page < at + bytes; page += raw::page_bytes) {
            if (!pages_.has(page)) return false;
        }
        probed_begin_ = at & ~in_page;
        probed_end_ = (at + bytes + in_page) & ~in_page;
        return true;
    }

    readable_pages& pages_;
    std::uintptr_t begin_;
    std::uintptr_t end_;
    std::uintptr_t probed_begin_ = 0;  // the part that was found readable last
    std::uintptr_t probed_end_ = 0;
};

}  // namespace acre::recorder
