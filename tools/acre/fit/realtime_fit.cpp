#include "realtime_fit.hpp"

#include <acre/heaps/realtime_heap.hpp>
#include <algorithm>
#include <array>

#include "census.hpp"
#include "trace/live_table.hpp"

namespace acre::tool {

namespace {

using layout = acre::detail::realtime_layout;
using acre::detail::geometric_classes;

/// The live objects of each class, for arenas of one size. Classes of slots come first, then those of whole arenas.
class peaks_of_a_size {
public:
    explicit peaks_of_a_size(std::uint64_t arena_bytes) : arena_bytes_{arena_bytes} {}

    void allocate(std::uint64_t last_byte) {
        const std::size_t index = class_of(last_byte);
        if (index >= classes_.size()) classes_.resize(index + 1);
        use& found = classes_[index];
        found.peak = std::max(found.peak, ++found.live);
    }
    void release(std::uint64_t last_byte) { --classes_[class_of(last_byte)].live; }

    realtime_fit result() const {
        realtime_fit found{.arena_bytes = arena_bytes_, .arenas = 0, .total_bytes = 0, .classes = {}, .impossible = {}};
        for (std::size_t index = 0; index < classes_.size(); ++index) {
            const std::uint64_t peak = classes_[index].peak;
            if (peak == 0) continue;
            found.classes.push_back(index < layout::classes ? slots(index, peak) : runs(index, peak));
            found.arenas += found.classes.back().arenas;
        }
        found.total_bytes = acre::realtime_heap::required_bytes(
            {.arenas = static_cast<std::size_t>(found.arenas), .bytes = static_cast<std::size_t>(arena_bytes_)});
        return found;
    }

private:
    struct use {
        std::uint64_t live = 0;
        std::uint64_t peak = 0;
    };

    std::size_t class_of(std::uint64_t last_byte) const {
        if (last_byte < layout::largest_slot(arena_bytes_)) return layout::class_of_last(last_byte);
        return layout::classes + geometric_classes::class_of_last(last_byte / arena_bytes_);
    }
    realtime_class slots(std::size_t index, std::uint64_t peak) const {
        const std::uint64_t each = layout::slots(index, arena_bytes_);
        return {layout::slot_bytes(index), peak, (peak + each - 1) / each};
    }
    realtime_class runs(std::size_t index, std::uint64_t peak) const {
        const std::uint64_t length = geometric_classes::number_of(index - layout::classes);
        return {length * arena_bytes_, peak, length * peak};
    }

    std::uint64_t arena_bytes_;
    std::vector<use> classes_;
};

/// Counts for all sizes of arenas at once.
class realtime_counter {
public:
    realtime_counter() {
        for (std::uint64_t bytes = layout::min_arena_bytes; bytes <= layout::max_arena_bytes; bytes *= 2)
            sizes_.emplace_back(bytes);
    }

    void allocate(const event& e) {
        require_possible(e);
        const std::uint64_t last = layout::last_byte(e.size, alignment_of(e));
        strictest_ = std::max(strictest_, alignment_of(e));
        live_.insert(e.object, last);
        for (peaks_of_a_size& each : sizes_) each.allocate(last);
    }
    void release(std::uint64_t object, std::uint32_t) {
        std::uint64_t last = 0;
        if (!live_.take(object, last)) return;
        for (peaks_of_a_size& each : sizes_) each.release(last);
    }
    void reallocate(const event& acquired, std::uint64_t released) {
        allocate(acquired);
        release(released, acquired.thread);
    }

    realtime_fit best() const {
        realtime_fit best;
        for (const peaks_of_a_size& each : sizes_) {
            realtime_fit tried = each.result();
            if (tried.arenas > acre::realtime_heap::max_arenas || strictest_ > tried.arena_bytes) continue;
            if (best.arena_bytes == 0 || tried.total_bytes < best.total_bytes) best = std::move(tried);
        }
        if (best.arena_bytes == 0) {
            best.impossible = strictest_ > layout::max_arena_bytes
                                  ? "an alignment is stricter than the 65,536 bytes of the largest arena"
                                  : "it would need more than 262,144 arenas of 65,536 bytes";
        }
        return best;
    }

private:
    std::vector<peaks_of_a_size> sizes_;
    live_array<std::uint64_t> live_;
    std::uint64_t strictest_ = 1;
};

}  // namespace

realtime_fit fit_realtime_heap(const event_source& source) {
    realtime_counter counter;
    play(source, counter);
    return counter.best();
}

}  // namespace acre::tool
