// The objects that live, each linked to those allocated before and after it: among all of them, and among its site's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "live_table.hpp"

namespace acre::tool {

/// Everything takes constant time. Memory: 61 to 123 bytes an object that lives.
class live_objects {
public:
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    /// The objects, still alive, that were allocated next to another one; none where there is no such object.
    struct neighbours {
        std::uint64_t older = none;
        std::uint64_t newer = none;
        std::uint64_t older_of_site = none;
        std::uint64_t newer_of_site = none;
    };

    /// Sites are numbered from 0.
    explicit live_objects(std::size_t sites) : newest_of_site_(sites, end) {}

    /// Objects come with growing numbers.
    void insert(std::uint64_t object, std::uint64_t size, std::uint32_t site) {
        const position at = new_entry();
        entries_[at] = {.object = object, .size = size, .site = site};
        append<&entry::among_all>(at, newest_);
        append<&entry::of_site>(at, newest_of_site_[site]);
        positions_.insert(object, at);
    }

    /// False when the object does not live; else it is gone, and its size and what it stood between are known.
    bool take(std::uint64_t object, std::uint64_t& size, neighbours& stood_between) {
        position at = end;
        if (!positions_.take(object, at)) return false;
        const entry& gone = entries_[at];
        size = gone.size;
        stood_between = {object_at(gone.among_all.older), object_at(gone.among_all.newer),
                         object_at(gone.of_site.older), object_at(gone.of_site.newer)};
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
        links among_all = {};  // of an entry that is not used: `older` is the next such
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
