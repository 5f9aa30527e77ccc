// An acre::multi_arena for all threads: equal arenas that each count their live allocations. Any thread allocates and
// any thread frees, without a lock; an arena whose count reaches zero is reused. inline_concurrent_multi_arena holds
// its arenas in the object itself.
//
// Use it where many allocations live about equally long, end in about the order they began, and move between threads:
// frames, messages, jobs. Use acre::concurrent_multi_pool where lifetimes are mixed (one small survivor keeps a whole
// arena), acre::concurrent_arena where everything ends at one point, acre::multi_arena where one thread does all,
// acre::synchronized<acre::multi_arena> where requests are larger than an arena. Use inline_concurrent_multi_arena for
// a static object, a member or memory that threads share, where number and size are known at compile time.
//
// Each thread attaches an arena of its own and allocates in it as a single thread would; its frees there need no atomic
// operation either. Any other free is one atomic decrement. At most half of the arenas are attached; further threads
// share one arena, in which allocating is one compare-and-swap. A thread keeps its arena until it ends, so a request
// may be refused while other threads have room left in theirs, or while another thread is about to list the last free
// one.
//
// Cost: allocate 30 instructions; deallocate 32 to 35 in the thread's own arena, else 69, one of them atomic; taking
// the next arena about 190, two of them atomic (counted by bench/limits/multi_arena.cpp). Lock-free: retries only after
// another thread progressed. Memory: arenas x (bytes + bytes / 16 + 96), all at construction; and, for any number of
// concurrent resources, a table of 256 bytes in the C heap for each thread that uses one. A thread without memory for
// its table uses the shared arena, in which nothing is resized. Thread rules: allocate, deallocate, try_resize and the
// queries from any thread; reset and the destructor while no other thread uses it. A thread that ends detaches its
// arena. After a fork the child goes on; arenas that other threads had attached stay taken there until a reset. The
// constructor lists the arenas, so a static one is usable once its initialiser has run.
//
// A misuse in every build, as in acre::multi_arena. Two threads that free the same allocation at the same moment may
// both find it live; then the arena's count shows it, or nothing does.
//
//     using namespace acre::literals;
//     acre::concurrent_multi_arena frames{{.arenas = 64, .bytes = 64_KiB}};
//     void* frame = frames.allocate(n);     // in one thread
//     frames.deallocate(frame, n);          // in another
//     assert(frames.busy_arenas() == 0);
//
//     static acre::inline_concurrent_multi_arena<16, 1024> messages;   // 16 KiB inside the object
#pragma once

#include <acre/core/detail/target.hpp>
#if !ACRE_HAS_THREADS
static_assert(false,
              "acre::concurrent_multi_arena needs threads, which this target does not have: use acre::multi_arena");
#else

#include <acre/arenas/detail/lock_free_arenas.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/live_report.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/per_thread.hpp>
#include <acre/core/detail/treiber_stack.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <cstddef>
#include <type_traits>

namespace acre {

/// Number and size of the arenas of an acre::concurrent_multi_arena.
struct concurrent_multi_arena_options {
    std::size_t arenas = 0;    // 1 to 16,777,214
    std::size_t bytes = 0;     // of each arena, at least 1; rounded up to a multiple of 16
    bool report_live = false;  // write a line to stderr when the arenas end with live allocations
};

namespace detail {
/// The face of both types: lock_free_arenas whose calls find the calling thread's arena. Thread-safe, but for reset and
/// the destructor.
template <class Storage>
class concurrent_arenas : public lock_free_arenas<Storage> {
    using base = lock_free_arenas<Storage>;
    using typename base::thread_arena;

public:
    /// acre::shared_resource
    static constexpr bool shared_by_threads = true;

    /// Storage of `bytes` bytes aligned to `alignment`. Throws request_too_large, out_of_arenas or bad_alignment. Any
    /// thread may call it. Constant time; lock-free.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        void* p;
        if (place_in_own(bytes, alignment, p)) [[likely]]
            return p;
        return allocate_slow(bytes, alignment);
    }

    /// As allocate, but null when it cannot.
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        void* p;
        if (place_in_own(bytes, alignment, p)) [[likely]]
            return p;
        return try_allocate_slow(bytes, alignment);
    }

    /// Takes back storage that any thread allocated; null is a no-op. Constant time: at most one atomic operation,
    /// unless the arena becomes free. Misuses are those of multi_arena::deallocate.
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes, std::size_t = default_alignment) noexcept {
        this->give_back(attached(), p, bytes);
    }

    /// Makes the allocation at `p` `new_bytes` long where it is: possible for the last one in this thread's own arena
    /// while there is room behind it, and for any that shrinks. False, and nothing changed, when it cannot.
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
        return this->resize(attached(), p, old_bytes, new_bytes);
    }

protected:
    template <class... Arguments>
    explicit concurrent_arenas(const Arguments&... storage) : base(storage...) {}
    ~concurrent_arenas() { threads_.end(); }

private:
    [[gnu::always_inline]] thread_arena* attached() const noexcept {
        return static_cast<thread_arena*>(threads_.find());
    }

    [[gnu::always_inline]] bool place_in_own(std::size_t bytes, std::size_t alignment, void*& p) noexcept {
        thread_arena* const own = attached();
        if (own == nullptr || !base::is_ordinary(alignment)) [[unlikely]]
            return false;
        return base::place_in_own(*own, bytes, p);
    }

    // Out of line: runs once an arena, and for unusual alignments.
    [[gnu::noinline]] void* allocate_slow(std::size_t bytes, std::size_t alignment) {
        if (void* p = this->place_slow(find_or_attach(), bytes, alignment)) return p;
        return this->fail(bytes, alignment);
    }
    [[gnu::noinline]] void* try_allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
        return this->place_slow(find_or_attach(), bytes, alignment);
    }

    // Null when this thread is ending, has no memory for its table, or half of the arenas are attached.
    thread_arena* find_or_attach() noexcept {
        if (void* found = threads_.find_and_remember()) return static_cast<thread_arena*>(found);
        if (!threads_.can_keep()) return nullptr;
        thread_arena* attached = this->attach();
        if (attached != nullptr) threads_.keep(attached);
        return attached;
    }

    static void thread_ended(void* arenas, void* attached) noexcept {
        static_cast<concurrent_arenas*>(arenas)->detach(*static_cast<thread_arena*>(attached));
    }

    per_thread threads_{this, &thread_ended};
};

/// The storage of a concurrent_multi_arena, with a thread_arena for each two arenas.
class concurrent_multi_arena_storage : public upstream_storage<shared_arena_record<>, sizeof(thread_arena<>)> {
protected:
    static constexpr const char* name = "acre::concurrent_multi_arena";

    concurrent_multi_arena_storage(const concurrent_multi_arena_options& options, resource_ref upstream)
        : upstream_storage(options.arenas, options.bytes, upstream) {
        if (arenas() == 0) return;
        detail::value_construct(records(), arenas());
        detail::value_construct(thread_arenas(), max_thread_arenas());
    }

    thread_arena<>* thread_arenas() const noexcept { return reinterpret_cast<thread_arena<>*>(records() + arenas()); }
    std::size_t max_thread_arenas() const noexcept { return arenas() / 2; }
};

/// As concurrent_multi_arena_storage, but inside the object.
template <std::size_t Arenas, std::size_t Bytes>
class inline_concurrent_multi_arena_storage : public inline_storage<shared_arena_record<>, Arenas, Bytes> {
    static_assert(Arenas < treiber_stack<>::none, "acre: there are at most 16,777,214 arenas");

protected:
    static constexpr const char* name = "acre::inline_concurrent_multi_arena";

    thread_arena<>* thread_arenas() const noexcept { return const_cast<thread_arena<>*>(thread_arenas_); }
    static constexpr std::size_t max_thread_arenas() noexcept { return Arenas / 2; }

private:
    thread_arena<> thread_arenas_[detail::max<std::size_t>(Arenas / 2, 1)];
};
}  // namespace detail

/// Refcounted arenas for all threads, in memory that is taken from upstream at construction.
class concurrent_multi_arena : public detail::concurrent_arenas<detail::concurrent_multi_arena_storage> {
public:
    static constexpr const char* name = "acre::concurrent_multi_arena";
    using options_type = concurrent_multi_arena_options;

    /// Takes all its memory from `upstream`. Throws bad_option, and what upstream throws. Without exceptions and
    /// without memory it has no arena and refuses every request.
    explicit concurrent_multi_arena(const concurrent_multi_arena_options& options, resource_ref upstream = heap{})
        : concurrent_arenas(checked(options), upstream), report_(options.report_live) {}

    /// Refused by a sentence: no numbers, or numbers without their names.
    template <class... Numbers>
        requires(std::is_integral_v<Numbers> && ...)
    __attribute__((
        unavailable("acre::concurrent_multi_arena: name the numbers, {{.arenas = 16, .bytes = "
                    "1024}}"))) explicit concurrent_multi_arena(Numbers...);

    /// Gives its memory back to upstream, live allocations included. No thread may use the arenas any more.
    ~concurrent_multi_arena() {
        report_.write(name, [this] { return allocations(); });
    }

    using detail::concurrent_multi_arena_storage::upstream;

    /// Bytes taken from upstream for these options. SIZE_MAX when that exceeds half of the address space.
    static constexpr std::size_t required_bytes(const concurrent_multi_arena_options& options) noexcept {
        return required_storage(options.arenas, options.bytes);
    }

private:
    static concurrent_multi_arena_options checked(const concurrent_multi_arena_options& options) {
        require_option(options.arenas < detail::treiber_stack<>::none, name, "arenas", options.arenas,
                       "at most 16777214");
        return upstream_storage::checked(options, name);
    }

    detail::live_report report_;
};

/// `Arenas` refcounted arenas of `Bytes` bytes each, rounded up to a multiple of 16, for all threads, inside the
/// object.
template <std::size_t Arenas, std::size_t Bytes>
class inline_concurrent_multi_arena
    : public detail::concurrent_arenas<
          detail::inline_concurrent_multi_arena_storage<Arenas, align_up(Bytes, default_alignment)>> {
    using base = detail::concurrent_arenas<
        detail::inline_concurrent_multi_arena_storage<Arenas, align_up(Bytes, default_alignment)>>;

public:
    static constexpr const char* name = "acre::inline_concurrent_multi_arena";

    inline_concurrent_multi_arena() noexcept = default;

    /// Bytes of all arenas.
    static constexpr std::size_t capacity() noexcept { return base::arenas() * base::arena_bytes(); }
};

static_assert(owning_resource<concurrent_multi_arena> && resettable_resource<concurrent_multi_arena> &&
              resizable_resource<concurrent_multi_arena>);

}  // namespace acre

#endif  // ACRE_HAS_THREADS
