// Adds the re-implemented published designs: see published.hpp.
#include "published.hpp"

#include "../seeds/camera.hpp"
#include "../seeds/chunks.hpp"
#include "../seeds/fitting.hpp"
#include "../seeds/orcs.hpp"
#include "../seeds/pinning.hpp"
#include "contestants.hpp"

namespace bench {
namespace published {

namespace {
constexpr std::size_t granule = 16;
constexpr std::size_t rounded(std::size_t bytes) noexcept {
    return (bytes + granule - 1) & ~(granule - 1);
}
}  // namespace

multi_arena::multi_arena(std::size_t count, std::size_t bytes)
    : bytes_{bytes}, buffer_{new std::byte[count * bytes]}, arenas_(count), active_{0} {
    empty_.reserve(count);
    for (std::size_t index = count; index > 1; --index) empty_.push_back(index - 1);
}

void* multi_arena::do_allocate(std::size_t bytes, std::size_t) {
    const std::size_t needed = rounded(bytes);
    if (needed > bytes_) throw too_large{};
    if (needed > bytes_ - arenas_[active_].position) activate_empty();
    arena& from = arenas_[active_];
    std::byte* p = buffer_.get() + active_ * bytes_ + from.position;
    from.position += static_cast<std::uint32_t>(needed);
    ++from.live;
    return p;
}

void multi_arena::activate_empty() {
    if (empty_.empty()) throw out_of_arenas{};
    active_ = empty_.back();
    empty_.pop_back();
}

void multi_arena::do_deallocate(void* p, std::size_t, std::size_t) {
    const std::size_t index = static_cast<std::size_t>(static_cast<std::byte*>(p) - buffer_.get()) / bytes_;
    arena& home = arenas_[index];
    if (--home.live != 0) return;
    home.position = 0;
    if (index != active_) empty_.push_back(index);
}

synchronized_multi_arena::synchronized_multi_arena(std::size_t count, std::size_t bytes)
    : bytes_{bytes}, buffer_{new std::byte[count * bytes]}, arenas_(count), active_{0} {
    empty_.reserve(count);
    for (std::size_t index = count; index > 1; --index) {
        empty_.push_back(index - 1);
        arenas_[index - 1].is_empty = true;
    }
}

/// Returns null when the active arena lacks the room. The addition to its position is not undone, as in the published
/// design.
void* synchronized_multi_arena::take(std::size_t bytes) noexcept {
    arena& from = arenas_[active_];
    const std::size_t position = from.position.fetch_add(static_cast<std::uint32_t>(bytes), std::memory_order_relaxed);
    if (position + bytes > bytes_) return nullptr;
    from.live.fetch_add(1, std::memory_order_relaxed);
    return buffer_.get() + active_ * bytes_ + position;
}

void* synchronized_multi_arena::do_allocate(std::size_t bytes, std::size_t) {
    const std::size_t needed = rounded(bytes);
    if (needed > bytes_) throw too_large{};
    {
        const std::shared_lock guard{changing_arenas_};
        if (void* p = take(needed)) return p;
    }
    const std::unique_lock guard{changing_arenas_};
    if (void* p = take(needed)) return p;  // another thread changed the active arena first
    if (empty_.empty()) throw out_of_arenas{};
    const std::size_t closed = std::exchange(active_, empty_.back());
    empty_.pop_back();
    arenas_[active_].is_empty = false;
    reclaim(closed);
    return take(needed);
}

void synchronized_multi_arena::do_deallocate(void* p, std::size_t, std::size_t) {
    const std::size_t index = static_cast<std::size_t>(static_cast<std::byte*>(p) - buffer_.get()) / bytes_;
    if (arenas_[index].live.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    const std::unique_lock guard{changing_arenas_};
    reclaim(index);
}

/// Called with the exclusive lock held. Resets an arena with a count of zero, unless another thread already did.
void synchronized_multi_arena::reclaim(std::size_t index) {
    arena& home = arenas_[index];
    if (home.live.load(std::memory_order_acquire) != 0 || home.is_empty) return;
    home.position.store(0, std::memory_order_relaxed);
    if (index == active_) return;
    home.is_empty = true;
    empty_.push_back(index);
}

}  // namespace published

// A named namespace: see bench/README.md.
namespace published_contestants {

const std::string counted = "published multi-arena, re-implemented";

struct namespace_home {
    static published::size_based_arena& get() noexcept { return arena; }
    static inline published::size_based_arena arena{orc_count, sizeof(orc)};
};

struct function_home {
    static published::size_based_arena& get() {
        static published::size_based_arena arena{orc_count, sizeof(orc)};
        return arena;
    }
};

template <class Home>
struct book_orc : orc {
    static void* operator new(std::size_t) { return Home::get().allocate(); }
    static void operator delete(void*) noexcept {}
    static void all_deleted() { Home::get().reset(); }
};

struct book_chunks {
    template <class T>
    T* create() {
        return new (chunks.allocate(sizeof(T))) T;
    }
    template <class T>
    void destroy(T* object) noexcept {
        object->~T();
        chunks.deallocate(object);
    }
    published::chunk_allocator<chunk_count, 32, 62, 128> chunks;
};

template <class Arenas>
struct arenas_home {
    std::pmr::memory_resource* get() noexcept { return &arenas; }
    Arenas arenas{camera_arenas, camera_arena_bytes};
};

/// As its documentation says: begin small, enlarge the arenas when a request is too large, add arenas when they run
/// out.
figure fit_by_doubling() {
    std::size_t arenas = 32;
    std::size_t bytes = 32;
    for (;;) {
        try {
            published::multi_arena tried{arenas, bytes};
            lone_camera{&tried, 0, 1}.run(camera_iterations);
            return fitted(arenas, bytes, "32 x 32 at first, doubled when refused");
        } catch (const published::too_large&) {
            bytes *= 2;
        } catch (const published::out_of_arenas&) {
            arenas *= 2;
        }
    }
}

}  // namespace published_contestants
using namespace published_contestants;

void add_published(suite& entries) {
    entries.add_peer("published designs",
                     "a book's arena and chunks, the counted multi-arena: re-implemented in this repository");
    add_orcs<book_orc<namespace_home>>(entries, "the book's arena, at namespace scope");
    add_orcs<book_orc<function_home>>(entries, "the book's arena, local to a function");
    add_chunks<book_chunks>(entries, "the book's chunks");
    add_camera<arenas_home<published::multi_arena>>(entries, counted);
    add_shared_camera<arenas_home<published::synchronized_multi_arena>>(entries, counted);
    add_fit(entries, counted, fit_by_doubling);
    add_pinning<arenas_home<published::multi_arena>>(entries, counted);
}

}  // namespace bench
