// A growing arena: allocations of any size and type that die together. A pointer moves forward through blocks taken
// from upstream; reset() takes everything back, running the destructors that are due, newest first.
//
// Use it for the allocations of a frame, a request, a level or a parse. Use acre::object_pool where objects die one by
// one, acre::scratch for a scope within an arena, acre::inline_arena where the storage should lie in the object.
//
// Cost: allocate is 5 instructions for a constant size (7 for an alignment of 16). A type with a destructor takes 16
// bytes more and two stores. A full block costs one upstream call; blocks double from 4 KiB to 1 MiB, so calls are
// rare. reset is 11 instructions with one block and nothing to end; otherwise constant time, plus the destructors due,
// plus one step a block. An empty arena holds no memory. Sizes are rounded up to 8 bytes. Not thread-safe. Neither
// copied nor moved, because containers, allocators and scratches point to it: acre::unique_resource<acre::arena> is a
// handle that moves. With the option .fixed_bytes it takes all its memory at construction, exactly as many usable
// bytes, and never more.
//
//     acre::arena level;
//     Orc* orc = level.create<Orc>("URG");                     // destroyed at reset, newest first
//     std::span<float> heights = level.allocate<float>(1024);  // uninitialised
//     std::string_view name = level.copy("Ugluk");
//     level.reset();
//
// Ideas: the pointer in the first two words and the separate slow path after upb and LLVM; oversize requests kept out
// of growth after bumpalo's issue 152; the destructor record in front of the object measured against a separate node.
#pragma once

#include <acre/arenas/arena_options.hpp>
#include <acre/arenas/detail/arena_block.hpp>
#include <acre/arenas/detail/destructor_records.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/construct.hpp>
#include <acre/core/detail/forwarding.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/nonblocking.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace acre {

class scratch;

/// Allocations of any size and type that die together.
class arena : public detail::typed_calls<arena> {
    using block = detail::arena_block;
    using destructor_node = detail::destructor_node;
    template <class T>
    using object_layout = detail::object_layout<T>;
    template <class T>
    using array_layout = detail::array_layout<T>;

    // Where a mark or a scratch rewinds to. What a light scratch writes has no neighbour that it writes, too: compilers
    // would store both at once, and reading one of them would wait for the other.
    struct place {
        std::uint64_t number;  // of the newest mark; the first mark is 2
        arena* owner;
        block* current;
        destructor_node* destructors;
        block* oversize;
        std::uintptr_t position;
    };

public:
    static constexpr const char* name = "acre::arena";
    using options_type = arena_options;
    /// Sizes are rounded up to a multiple of this, so requests aligned to no more need no padding.
    static constexpr std::size_t granule = 8;

    /// A state of the arena to rewind to: block, position and destructors as one.
    class mark_type {
        friend class arena;
        place begin{};
    };

    /// Takes no memory, except with .fixed_bytes: then that, with 32 bytes more. Throws bad_option and, with
    /// .fixed_bytes, what upstream throws; without exceptions and without memory it refuses every request.
    constexpr arena() noexcept {
        // Static ones are constants. For others g++ would write a constant, too, by an instruction that takes as long
        // as a malloc.
        if (!std::is_constant_evaluated()) asm("");
    }
    explicit arena(resource_ref upstream) noexcept : upstream_(upstream) {}
    [[gnu::always_inline]] explicit arena(const arena_options& options, resource_ref upstream = heap{})
        : arena(options, upstream, name) {}

    /// Refused by a sentence: a resource is not copied.
    template <detail::copy_of<arena> Other>
    ACRE_IS_NOT_COPIED explicit arena(Other&);
    // A handle that moves, and leaves the arena where it is: acre::unique_resource<acre::arena>.
    arena(const arena&) = delete;  // acre: an arena stays where it is: acre::unique_resource is a handle that moves
    arena& operator=(const arena&) = delete;

    /// Runs the destructors due and gives all blocks back. Ends live scratches.
    ~arena() { end(); }

    /// Uninitialised storage of `bytes` bytes aligned to `alignment`, any power of two. Throws out_of_memory,
    /// request_too_large, limit_exceeded or bad_alignment. Constant time but for a new block.
    [[nodiscard, gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        void* p;
        if (bump(bytes, alignment, p)) [[likely]]
            return p;
        return grow(bytes, alignment);
    }

    // allocate<T>(count), copy, format and their try_ forms: acre/core/detail/forwarding.hpp.
    using detail::typed_calls<arena>::allocate;
    using detail::typed_calls<arena>::try_allocate;

    /// As allocate, but null when it cannot.
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        void* p;
        if (bump(bytes, alignment, p)) [[likely]]
            return p;
        return try_grow(bytes, alignment);
    }

    /// As try_allocate, but null where the current block has no room: never asks upstream, for real-time threads.
    void* try_allocate_from_block(std::size_t bytes,
                                  std::size_t alignment = default_alignment) noexcept ACRE_NONBLOCKING {
        void* p;
        return bump(bytes, alignment, p) ? p : nullptr;
    }

    /// Gives storage back at once if it is the last allocation, otherwise at the next reset; null is a no-op.
    void deallocate(void* p, std::size_t bytes, std::size_t = default_alignment) noexcept {
        if constexpr (poisoning) {
            if (p == nullptr) return;
            detail::check_allocation(name, p, bytes);
            poison(p, bytes);
        }
        if (is_last(p, bytes) && p != nullptr) position_ = reinterpret_cast<std::uintptr_t>(p);
    }

    /// As deallocate, for storage whose contents were just moved to a later allocation. If that allocation began a new
    /// block, the storage may be the last of the block before; its room then counts as wasted() instead of used().
    void deallocate_moved(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        deallocate(p, bytes, alignment);
        block* before = current_ == nullptr ? nullptr : current_->previous;
        const auto start = reinterpret_cast<std::uintptr_t>(p);
        if (p != nullptr && before != nullptr && start + rounded(bytes) == before->filled) before->filled = start;
    }

    /// True when the `bytes` bytes at `p` are the last allocation, which can grow and be given back at once.
    bool is_last(const void* p, std::size_t bytes) const noexcept {
        return reinterpret_cast<std::uintptr_t>(p) + rounded(bytes) == position_;
    }

    /// True when `p` points into the unused end of the current block: nothing that is allocated lies there.
    bool is_unused(const void* p) const noexcept {
        return reinterpret_cast<std::uintptr_t>(p) - position_ < end_ - position_;
    }

    /// Makes the allocation at `p` `new_bytes` long where it is: possible for the last one while its block has room,
    /// and for any that shrinks. False, and nothing changed, when it cannot.
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
        detail::check_allocation(name, p, old_bytes, true);
        const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(p);
        const bool last = is_last(p, old_bytes);
        if (last ? new_bytes > end_ - start - redzone_bytes : new_bytes > old_bytes) return false;
        if (last) position_ = start + rounded(new_bytes);
        poison_resized(p, old_bytes, new_bytes);
        return true;
    }

    /// A T constructed from `arguments`; reset runs its destructor. Throws as allocate, and what the constructor
    /// throws: then nothing is registered, and the storage is free again if nothing was allocated after it.
    template <class T, class... Arguments>
    T* create(Arguments&&... arguments) {
        using layout = object_layout<T>;
        return construct<T>(allocate(layout::bytes, layout::alignment), std::forward<Arguments>(arguments)...);
    }

    /// As create, but null when there is no memory. Throws only what the constructor throws.
    template <class T, class... Arguments>
    T* try_create(Arguments&&... arguments) {
        using layout = object_layout<T>;
        void* storage = try_allocate(layout::bytes, layout::alignment);
        return storage == nullptr ? nullptr : construct<T>(storage, std::forward<Arguments>(arguments)...);
    }

    /// `count` objects of T with one destructor record, each constructed from `arguments`; without any they are
    /// value-initialised. Throws as create.
    template <class T, class... Arguments>
    std::span<T> create_array(std::size_t count, const Arguments&... arguments) {
        const std::size_t bytes = array_layout<T>::bytes(count).value_or(too_many_bytes);
        return construct_array<T>(allocate(bytes, array_layout<T>::alignment), bytes, count, arguments...);
    }

    /// As create_array, but an empty span whose data() is null when there is no memory.
    template <class T, class... Arguments>
    std::span<T> try_create_array(std::size_t count, const Arguments&... arguments) {
        const std::size_t bytes = array_layout<T>::bytes(count).value_or(too_many_bytes);
        return construct_array<T>(try_allocate(bytes, array_layout<T>::alignment), bytes, count, arguments...);
    }

    /// The state now, for rewind().
    mark_type mark() const noexcept {
        complete_scopes();
        ++marks_made_;
        mark_type result;
        result.begin = here();
        return result;
    }

    /// Back to `where`: destroys objects created since, newest first, and keeps the blocks for reuse. Makes later marks
    /// void and ends later scratches. A reset makes all marks void. Rewinding to a mark of another arena, to one from
    /// before a reset, or to one that the latest rewind past marks made void aborts with a sentence. A mark voided by
    /// an older rewind also aborts if its block or newest object is gone. Constant time, plus the destructors due, plus
    /// one step a block passed.
    void rewind(const mark_type& where) noexcept {
        if (where.begin.owner != this || where.begin.number != marks_made_) [[unlikely]]
            rewind_past_marks(where);
        end_scopes(where.begin.number);
        rewind_storage(where.begin);
    }

    /// True when a rewind to `where` would abort because of its number or its arena.
    bool is_void(const mark_type& where) const noexcept {
        const std::uint64_t number = where.begin.number;
        const bool is_rewound_past = number > rewound_to_ && number <= rewound_from_;
        return where.begin.owner != this || number <= marks_void_ || number > marks_made_ || is_rewound_past;
    }

    /// Destroys all objects, newest first, and takes all storage back; `policy` says which blocks stay. Ends live
    /// scratches. A fixed arena takes its bytes anew at the next request where the policy gave them back.
    void reset(reset_policy policy = keep_all) noexcept {
        if (!is_bare()) end_objects();
        if (only_start_ != 0) [[likely]] {
            go_back_to(only_start_);
        } else {
            take_blocks_back();
        }
        if (policy.what != reset_policy::kind::keep_all) trim_to(policy);
    }

    /// Bytes held from upstream and of the storage given at construction, block headers included.
    std::size_t capacity() const noexcept {
        return held_bytes_ + (initial_ != nullptr && !is_fixed() ? initial_->bytes : 0);
    }

    /// Bytes handed out, rounding, padding and destructor records included. Linear in the blocks in use.
    std::size_t used() const noexcept {
        std::size_t bytes = current_ == nullptr ? 0 : position_ - current_->start();
        if (current_ != nullptr) {
            for (const block* each = current_->previous; each != nullptr; each = each->previous) {
                bytes += each->filled - each->start();
            }
        }
        for (const block* each = oversize_; each != nullptr; each = each->previous)
            bytes += each->bytes - block::header_bytes;
        return bytes;
    }

    /// Bytes lost: the unused ends of full blocks, and the headers of all blocks in use. Linear in the blocks in use.
    std::size_t wasted() const noexcept {
        std::size_t bytes = current_ == nullptr ? 0 : block::header_bytes;
        if (current_ != nullptr) {
            for (const block* each = current_->previous; each != nullptr; each = each->previous) {
                bytes += each->end() - each->filled + block::header_bytes;
            }
        }
        for (const block* each = oversize_; each != nullptr; each = each->previous) bytes += block::header_bytes;
        return bytes;
    }

    /// Bytes left in the current block: what fits without an upstream call, up to an alignment of 8. Constant time. Of
    /// a fixed arena, all that is left; 0 while it has given its bytes back, or got none.
    std::size_t remaining() const noexcept {
        const std::size_t room = end_ - position_;
        return room - detail::min(room, redzone_bytes);
    }

    /// True when `p` points into a block in use. Linear in the number of blocks.
    bool owns(const void* p) const noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        return detail::lies_in(current_, address) || detail::lies_in(oversize_, address);
    }

    /// What in the arena's own data does not agree, or null (acre::check_invariants). Linear in the blocks held and in
    /// the live scratches.
    const char* broken_invariant() const noexcept {
        const bool is_inside = current_ == nullptr ? position_ == 0 && end_ == 0
                                                   : position_ >= current_->start() && end_ == current_->end();
        if (!is_inside || position_ > end_ || position_ % granule != 0)
            return "the position is not in the current block";
        std::size_t left = capacity() - (is_fixed() && initial_ != nullptr ? fixed_front - block::header_bytes : 0);
        for (const block* list : {current_, oversize_, spare_, spare_oversize_}) {
            for (const block* each = list; each != nullptr; each = each->previous) {
                if (each->bytes < block::header_bytes || each->bytes > left)
                    return "blocks hold other bytes than counted";
                left -= each->bytes;
                const bool is_full = list == current_ && each != current_;
                if (is_full && (each->filled < each->start() || each->filled > each->end()))
                    return "a full block is not filled up to a place in it";
            }
        }
        if (left != 0) return "blocks hold other bytes than counted";
        if (destructors_ != nullptr && !owns(destructors_)) return "a destructor is recorded outside of the blocks";
        const bool is_only = current_ != nullptr && current_->previous == nullptr && oversize_ == nullptr;
        if (only_start_ != (is_only ? current_->start() : 0)) return "the only block is another one";
        for (const scope* each = innermost_; each != nullptr; each = each->outer)
            if (each->begin.owner != this) return "live scratches are out of order";
        std::uint64_t newest = marks_made_;
        for (const scope* each = innermost_complete_; each != nullptr; newest = each->begin.number, each = each->outer)
            if (each->begin.owner != this || each->begin.number > newest) return "live scratches are out of order";
        return nullptr;
    }

    /// The resource that blocks come from.
    resource_ref upstream() const noexcept { return upstream_; }

    /// Bytes of one block, at any address, that holds exactly `count` allocations of `size` bytes aligned to
    /// `alignment`. As first_block_bytes, and as the size of an acre::buffer beneath, it makes one upstream call
    /// suffice. SIZE_MAX when that overflows.
    static constexpr std::size_t required_bytes(std::size_t count, std::size_t size,
                                                std::size_t alignment = default_alignment) noexcept {
        if (count == 0) return 0;
        if (size > max_request || alignment > max_request / 2) return SIZE_MAX;
        const auto all = array_bytes(count, align_up(rounded(size), alignment));
        if (!all || *all > max_request / 2) return SIZE_MAX;
        return block::header_bytes + skip_in_block(alignment) + *all - align_up(rounded(size), alignment) +
               rounded(size);
    }

protected:
    /// An arena whose first block is `storage`, aligned to 16 bytes and never given to upstream.
    arena(std::span<std::byte> storage, const arena_options& options, resource_ref upstream)
        : arena(options, upstream) {
        require_option(options.fixed_bytes == 0, name, "fixed_bytes", options.fixed_bytes,
                       "0 in storage that is given; with acre::no_memory as upstream that is all");
        initial_ = ::new (storage.data()) block{nullptr, storage.size() & ~(granule - 1), 0};
        poison(storage.data() + sizeof(block), initial_->bytes - sizeof(block));
        current_ = initial_;
        enter(initial_, initial_->start());
    }

    /// What the destructor does; nothing may be allocated afterwards. A second call is a no-op. Constant time plus the
    /// destructors due if the arena took nothing from upstream.
    void end() noexcept {
        if (!is_bare()) end_objects();
        if (held_bytes_ != 0) [[unlikely]]
            give_all_back();
    }

    // Of a block, without the redzone behind it in builds that poison.
    static constexpr std::size_t header_bytes = sizeof(block);

private:
    friend class concurrent_arena;
    friend class cursor;
    friend class scratch;

    // For the resource named `resource`, whose name an error has. Always inline: of constant options only stores are
    // left, and clang would call it otherwise.
    [[gnu::always_inline]] arena(const arena_options& options, resource_ref upstream, const char* resource)
        : options_(options.fixed_bytes != 0 ? of_fixed(options.fixed_bytes) : options.completed()),
          upstream_(upstream) {
        if (options.fixed_bytes != 0) {
            if (!may_be_fixed(options)) [[unlikely]]
                refuse_fixed(options);
            const std::size_t bytes = fixed_storage_bytes(options.fixed_bytes);
            begin_fixed(upstream_.allocate(bytes, block_alignment), options.fixed_bytes);
        } else {
            if (!may_grow(options_)) [[unlikely]]
                refuse_growing(options, resource);
            next_block_bytes_ = options_.first_block_bytes;
        }
    }

    static constexpr std::size_t block_alignment = default_alignment;
    static_assert(block::header_bytes % granule == 0);

    // Bytes that an allocation takes, without its padding.
    static constexpr std::size_t rounded(std::size_t bytes) noexcept {
        return align_up(bytes + (bytes == 0), granule) + redzone_bytes;
    }

    // The hot path. Positions and ends are multiples of the granule, so if `bytes` fits, `bytes` rounded up fits, too.
    [[gnu::always_inline]] static bool bump(std::uintptr_t& position, std::uintptr_t end, std::size_t bytes,
                                            std::size_t alignment, void*& p) noexcept {
        assert(position % granule == 0 && end % granule == 0 && position <= end);
        if (!is_alignment(alignment)) [[unlikely]]
            return false;
        std::uintptr_t start = position;
        if (__builtin_constant_p(bytes) && __builtin_constant_p(alignment) && bytes <= 4096 && alignment <= 4096) {
            // An address plus at most 8 KiB cannot wrap: one comparison decides.
            if (alignment > granule) start = align_up(start, alignment);
            if (start + rounded(bytes) > end) [[unlikely]]
                return false;
        } else {
            const std::size_t padding = alignment <= granule ? 0 : padding_to(start, alignment);
            std::size_t needed;
            if (__builtin_add_overflow(bytes + (bytes == 0), padding + redzone_bytes, &needed) || needed > end - start)
                [[unlikely]] {
                return false;
            }
            start += padding;
        }
        position = start + rounded(bytes);
        p = reinterpret_cast<void*>(start);
        unpoison(p, bytes);
        return true;
    }

    [[gnu::always_inline]] bool bump(std::size_t bytes, std::size_t alignment, void*& p) noexcept {
        return bump(position_, end_, bytes, alignment, p);
    }

    // Gives the storage back when a constructor throws.
    struct construction_guard {
        arena& owner;
        void* storage;
        std::size_t bytes;
        ~construction_guard() { owner.deallocate(storage, bytes); }
        void succeeded() noexcept { storage = nullptr; }
    };

    template <class T, class... Arguments>
    T* construct(void* storage, Arguments&&... arguments) {
        if (!exceptions_enabled && storage == nullptr) return nullptr;
        using layout = object_layout<T>;
        void* start = static_cast<std::byte*>(storage) + layout::offset;
        T* object = detail::construct_at_or<T>(
            start, [this, storage]() noexcept { deallocate(storage, layout::bytes); },
            std::forward<Arguments>(arguments)...);
        // Registered after construction: objects that the constructor created here are older and are destroyed later.
        if constexpr (layout::needs_record) {
            destructors_ = detail::record_object<T>(start, destructors_);
        }
        return object;
    }

    template <class T, class... Arguments>
    std::span<T> construct_array(void* storage, std::size_t bytes, std::size_t count, const Arguments&... arguments) {
        if (storage == nullptr) return {};
        using layout = array_layout<T>;
        std::byte* start = static_cast<std::byte*>(storage) + layout::offset;
        T* first = reinterpret_cast<T*>(start);
        construction_guard guard{*this, storage, bytes};
        detail::value_construct(first, count, arguments...);
        guard.succeeded();
        if constexpr (layout::needs_record) {
            destructors_ = detail::record_array<T>(start, count, destructors_);
        }
        return {std::launder(first), count};
    }

    [[noreturn]] void abort_on_void_mark() const noexcept { abort_on_misuse(name, detail::mistake::void_mark, this); }

    [[gnu::noinline]] void destroy_down_to(const destructor_node* oldest) noexcept {
        // Objects that a destructor creates here are registered on top, and destroyed next.
        while (destructors_ != oldest) {
            if (destructors_ == nullptr) [[unlikely]]
                abort_on_void_mark();
            destructor_node* newest = destructors_;
            unpoison_defined(newest, sizeof *newest);
            destructors_ = newest->previous;
            newest->destroy(newest);
        }
    }

    // Makes `next` the current block, with `position` as bump pointer.
    void enter(block* next, std::uintptr_t position) noexcept {
        complete_scopes();
        current_ = next;
        blocks_changed();
        if (next == nullptr) return;
        end_ = next->end();
        go_back_to(position);
    }
    // In the current block, the rest of which is unused and so poisoned.
    void go_back_to(std::uintptr_t position) noexcept {
        position_ = position;
        poison(reinterpret_cast<void*>(position), end_ - position);
    }
    void blocks_changed() noexcept {
        const bool is_only = current_ != nullptr && current_->previous == nullptr && oversize_ == nullptr;
        only_start_ = is_only ? current_->start() : 0;
    }

    static constexpr std::uint64_t never = 0;
    // True when a reset has neither an object nor a scratch to end, nor a mark to make void.
    bool is_bare() const noexcept {
        return destructors_ == nullptr && innermost_ == nullptr && marks_made_ == bare_at_;
    }
    // Out of line: what most resets and destructors do not find.
    [[gnu::noinline]] void end_objects() noexcept {
        end_scopes(0);
        if (marks_made_ != marks_void_) marks_void_ = ++marks_made_;
        bare_at_ = marks_made_;
        destroy_down_to(nullptr);
    }
    // Of several blocks, or none.
    [[gnu::noinline]] void take_blocks_back() noexcept {
        if (oversize_ != nullptr) retire_oversize_down_to(nullptr);
        if (current_ == nullptr) return;
        while (current_->previous != nullptr) retire_current();
        enter(current_, current_->start());
    }

    // Puts the current block into the spare list; its predecessor becomes the current one.
    void retire_current() noexcept {
        block* retired = current_;
        current_ = retired->previous;
        poison(reinterpret_cast<void*>(retired->start()), retired->end() - retired->start());
        detail::push(spare_, retired);
    }

    [[gnu::noinline]] void retire_oversize_down_to(const block* oldest) noexcept {
        while (oversize_ != oldest) {
            if (oversize_ == nullptr) [[unlikely]]
                abort_on_void_mark();
            block* retired = oversize_;
            oversize_ = retired->previous;
            poison(reinterpret_cast<void*>(retired->start()), retired->end() - retired->start());
            detail::push(spare_oversize_, retired);
        }
        blocks_changed();
    }

    // The slow paths, out of line: they run once a block.
    [[gnu::noinline]] void* grow(std::size_t bytes, std::size_t alignment) { return grow_as<true>(bytes, alignment); }
    [[gnu::noinline]] void* try_grow(std::size_t bytes, std::size_t alignment) noexcept {
        return grow_as<false>(bytes, alignment);
    }

    template <bool Throws>
    [[gnu::always_inline]] void* grow_as(std::size_t bytes, std::size_t alignment) {
        void* p = nullptr;
        if (is_alignment(alignment) && fits_a_block(bytes, alignment) && !is_fixed()) [[likely]]
            p = allocate_in_next(bytes, alignment);
        if (p == nullptr) [[unlikely]]
            p = allocate_otherwise(bytes, alignment);
        return p != nullptr || !Throws ? p : fail(bytes, alignment);
    }

    [[gnu::noinline]] void* allocate_otherwise(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment) || !fits_a_block(bytes, alignment)) return nullptr;
        if (is_fixed()) return allocate_fixed_anew(bytes, alignment);
        // Spare blocks must not be why a limit or an exhausted upstream refuses the request.
        return give_spares_back_for(block_bytes_for(bytes, alignment)) ? allocate_in_next(bytes, alignment) : nullptr;
    }

    [[gnu::noinline]] void* allocate_in_next(std::size_t bytes, std::size_t alignment) noexcept {
        const std::size_t needed = block_bytes_for(bytes, alignment);
        if (needed > next_block_bytes_ && needed > options_.max_block_bytes / 4) {
            return allocate_oversize(needed, bytes, alignment);
        }
        block* next = spare_ == nullptr ? nullptr : detail::take(spare_, needed);
        if (next == nullptr) next = acquire_for_growth(needed);
        if (next == nullptr) return nullptr;
        if (current_ != nullptr) current_->filled = position_;
        next->previous = current_;
        const std::uintptr_t start = align_up(next->start(), alignment);
        enter(next, next->start());
        position_ = start + rounded(bytes);
        assert(position_ <= end_);
        void* p = reinterpret_cast<void*>(start);
        unpoison(p, bytes);
        return p;
    }

    static constexpr bool fits_a_block(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= max_request / 2 && alignment <= max_request / 4;
    }

    // Enough for the request at any address of the block.
    static constexpr std::size_t block_bytes_for(std::size_t bytes, std::size_t alignment) noexcept {
        return block::header_bytes + rounded(bytes) + skip_in_block(alignment);
    }

    // Upper limit of the padding behind the header of a block, which is aligned to block_alignment.
    static constexpr std::size_t skip_in_block(std::size_t alignment) noexcept {
        constexpr std::size_t beyond = block::header_bytes % block_alignment;
        if (alignment <= block_alignment) return padding_to(block::header_bytes, alignment);
        return alignment - (beyond != 0 ? beyond : block_alignment);
    }

    // A block of its own for a large request: it neither ends the current block nor makes later blocks larger.
    void* allocate_oversize(std::size_t needed, std::size_t bytes, std::size_t alignment) noexcept {
        block* own = detail::take(spare_oversize_, needed);
        if (own == nullptr) {
            // All spare ones are too small. Replacing one keeps their number at the peak number in use.
            if (spare_oversize_ != nullptr) give_back(detail::take(spare_oversize_, 0));
            own = acquire(needed);
        }
        if (own == nullptr) return nullptr;
        complete_scopes();
        detail::push(oversize_, own);
        blocks_changed();
        void* p = reinterpret_cast<void*>(align_up(own->start(), alignment));
        unpoison(p, bytes);
        return p;
    }

    // Blocks double as they are taken, whatever the request; a block too small for it is made large enough.
    block* acquire_for_growth(std::size_t needed) noexcept {
        const std::size_t wanted = detail::max(next_block_bytes_, needed);
        block* next = acquire(wanted);
        if (next == nullptr) [[unlikely]]
            return acquire_less(wanted, needed);
        next_block_bytes_ = detail::min(next_block_bytes_ * 2, options_.max_block_bytes);
        return next;
    }

    // Where `wanted` bytes were refused: what the limit leaves, or the largest of 7/8, 6/8, 5/8, 4/8, 7/16 and so on
    // that upstream has, down to what the request needs. Blocks double from there again. With nothing left, later
    // requests ask once.
    [[gnu::noinline]] block* acquire_less(std::size_t wanted, std::size_t needed) noexcept {
        block* next = nullptr;
        const std::size_t left = align_down(options_.limit_bytes - held_bytes_, granule);
        std::size_t bytes = wanted;
        if (left < wanted && left > needed) {
            bytes = left;
            next = acquire(bytes);
        }
        for (std::size_t step = bytes / 8; next == nullptr && bytes > needed; next = acquire(bytes)) {
            if (bytes <= 4 * step) step = bytes / 8;
            bytes = detail::max(align_down(bytes - detail::max(step, granule), granule), needed);
        }
        next_block_bytes_ = detail::min(next_block_bytes_, bytes);
        return next;
    }

    block* acquire(std::size_t wanted) noexcept {
        const std::size_t bytes = align_up(wanted, granule);
        if (bytes > options_.limit_bytes || held_bytes_ > options_.limit_bytes - bytes) return nullptr;
        void* p = upstream_.try_allocate(bytes, block_alignment);
        if (p == nullptr) return nullptr;
        held_bytes_ += bytes;
        auto* taken = ::new (p) block{nullptr, bytes, 0};
        poison(taken + 1, bytes - sizeof(block));
        return taken;
    }

    // Gives spare blocks back if that may make room for a block of `needed` bytes. A request that cannot be served must
    // not cost spare blocks that later requests can use.
    bool give_spares_back_for(std::size_t needed) noexcept {
        const std::size_t spare = detail::bytes_of(spare_) + detail::bytes_of(spare_oversize_);
        if (spare == 0 || needed > options_.limit_bytes) return false;
        const bool beyond_limit = held_bytes_ > options_.limit_bytes - needed;
        if (beyond_limit ? held_bytes_ - spare > options_.limit_bytes - needed : spare < needed) return false;
        const auto none = [](const block*) { return false; };
        trim(spare_, none);
        trim(spare_oversize_, none);
        return true;
    }

    void give_back(block* given) noexcept {
        assert(given != initial_);
        held_bytes_ -= given->bytes;
        unpoison_defined(given, given->bytes);
        upstream_.deallocate(given, given->bytes, block_alignment);
    }

    bool is_fixed() const noexcept { return options_.fixed_bytes != 0; }

    // The header lies right in front of the usable bytes, which are aligned to 16 so that the first request needs no
    // padding.
    static constexpr std::size_t fixed_front = align_up(block::header_bytes, block_alignment);
    static void* fixed_storage(block* fixed) noexcept {
        return reinterpret_cast<std::byte*>(fixed) - (fixed_front - block::header_bytes);
    }

    // A fixed arena reads no other option.
    static constexpr arena_options of_fixed(std::size_t bytes) noexcept {
        return {.first_block_bytes = 0, .max_block_bytes = 0, .limit_bytes = 0, .fixed_bytes = bytes};
    }

    static constexpr bool is_alone(const arena_options& fixed) noexcept {
        return fixed.first_block_bytes == 0 && fixed.max_block_bytes == 0 &&
               fixed.limit_bytes == arena_options{}.limit_bytes;
    }
    static constexpr bool may_be_fixed(const arena_options& options) noexcept {
        return is_alone(options) && options.fixed_bytes <= max_request / 4 / (1 + redzone_bytes / granule);
    }
    [[gnu::noinline, gnu::cold]] static void refuse_fixed(const arena_options& options) {
        require_option(is_alone(options), name, "fixed_bytes", options.fixed_bytes,
                       "an arena that does not grow: the only option");
        require_option(may_be_fixed(options), name, "fixed_bytes", options.fixed_bytes,
                       "less than an eighth of the address space");
    }

    static constexpr std::size_t least_block_bytes = block::header_bytes + granule;
    static constexpr bool may_grow(const arena_options& completed) noexcept {
        return completed.first_block_bytes >= least_block_bytes &&
               completed.max_block_bytes >= completed.first_block_bytes && completed.max_block_bytes <= max_request / 2;
    }
    [[gnu::noinline, gnu::cold]] static void refuse_growing(const arena_options& options, const char* resource) {
        const arena_options all = options.completed();
        const auto require_block_size = [resource](const char* option, std::size_t bytes) {
            require_option(bytes <= max_request / 2, resource, option, bytes,
                           "less than a quarter of the address space");
        };
        // The default follows max_block_bytes if that is less.
        const bool is_default = options.first_block_bytes == 0;
        require_at_least(least_block_bytes, resource, is_default ? "max_block_bytes" : "first_block_bytes",
                         all.first_block_bytes);
        require_block_size("first_block_bytes", all.first_block_bytes);
        require_at_least(all.first_block_bytes, resource, "max_block_bytes", all.max_block_bytes);
        require_block_size("max_block_bytes", all.max_block_bytes);
    }

    // The usable bytes, and as many for redzones as allocations that fill those bytes can need.
    static constexpr std::size_t fixed_room(std::size_t usable) noexcept {
        const std::size_t bytes = align_up(usable, granule);
        return bytes + bytes / granule * redzone_bytes;
    }
    static constexpr std::size_t fixed_storage_bytes(std::size_t usable) noexcept {
        return fixed_room(usable) + fixed_front;
    }

    void begin_fixed(void* storage, std::size_t usable) noexcept {
        if (storage == nullptr) return;
        held_bytes_ = fixed_storage_bytes(usable);
        void* header = static_cast<std::byte*>(storage) + fixed_front - block::header_bytes;
        poison(storage, fixed_front - block::header_bytes);
        current_ = ::new (header) block{nullptr, fixed_room(usable) + block::header_bytes, 0};
        poison(current_ + 1, block::header_bytes - sizeof(block));
        initial_ = current_;
        end_ = current_->end();
        only_start_ = current_->start();
        go_back_to(only_start_);
    }

    // The bytes went back at a reset, and are taken anew.
    void* allocate_fixed_anew(std::size_t bytes, std::size_t alignment) noexcept {
        if (initial_ != nullptr || bytes > options_.fixed_bytes) return nullptr;
        complete_scopes();
        begin_fixed(upstream_.try_allocate(fixed_storage_bytes(options_.fixed_bytes), block_alignment),
                    options_.fixed_bytes);
        void* p;
        return bump(bytes, alignment, p) ? p : nullptr;
    }

    void trim_fixed_to(const reset_policy& policy) noexcept {
        const bool keeps = policy.what == reset_policy::kind::keep_largest || policy.bytes >= options_.fixed_bytes;
        if (keeps || initial_ == nullptr) return;
        give_fixed_back();
        initial_ = nullptr;
        start_anew(nullptr);
    }

    void give_fixed_back() noexcept {
        const std::size_t bytes = std::exchange(held_bytes_, 0);
        void* storage = fixed_storage(initial_);
        unpoison_defined(storage, bytes);
        upstream_.deallocate(storage, bytes, block_alignment);
    }

    // Raises the error of a request to the resource named `resource`.
    [[gnu::cold]] void* fail(std::size_t bytes, std::size_t alignment, const char* resource = name) const {
        if (!detail::can_be_honoured(alignment)) return raise<bad_alignment>(resource, alignment);
        if (is_fixed()) {
            if (bytes > options_.fixed_bytes) return raise<request_too_large>(resource, bytes, options_.fixed_bytes);
            if (initial_ == nullptr) return raise<out_of_memory>(resource, bytes, alignment);
            return raise<limit_exceeded>(resource, bytes, used(), options_.fixed_bytes);
        }
        if (!fits_a_block(bytes, alignment)) return raise<request_too_large>(resource, bytes, max_request / 2);
        const std::size_t needed = block_bytes_for(bytes, alignment);
        if (needed > options_.limit_bytes || held_bytes_ > options_.limit_bytes - needed) {
            return raise<limit_exceeded>(resource, needed, held_bytes_, options_.limit_bytes);
        }
        return raise<out_of_memory>(resource, bytes, alignment);
    }

    // Gives back the blocks of `list` for which `keeps` is false.
    template <class Predicate>
    void trim(block*& list, Predicate keeps) noexcept {
        detail::trim(list, keeps, [this](block* each) { give_back(each); });
    }

    // Out of line: an arena that never left its initial block, as most inline ones, has nothing to give back.
    [[gnu::noinline]] void give_all_back() noexcept {
        if (is_fixed()) return give_fixed_back();
        const auto is_initial = [this](const block* each) { return each == initial_; };
        const auto none = [](const block*) { return false; };
        trim(current_, is_initial);
        trim(oversize_, none);
        trim(spare_, none);
        trim(spare_oversize_, none);
        assert(held_bytes_ == 0);
    }

    // Runs when nothing is in use. Out of line: only for policies that give blocks back.
    [[gnu::noinline]] void trim_to(const reset_policy& policy) noexcept {
        if (is_fixed()) return trim_fixed_to(policy);
        if (current_ != initial_) detail::push(spare_, current_);
        current_ = initial_;
        detail::append(spare_, spare_oversize_);
        spare_oversize_ = nullptr;
        if (policy.what == reset_policy::kind::keep_largest) {
            const block* largest = detail::largest_of(spare_);
            trim(spare_, [largest](const block* each) { return each == largest; });
        } else {
            std::size_t budget = policy.bytes;
            trim(spare_, [&budget](const block* each) {
                if (each->bytes > budget) return false;
                budget -= each->bytes;
                return true;
            });
        }
        if (policy.what == reset_policy::kind::release) next_block_bytes_ = options_.first_block_bytes;
        if (current_ == nullptr) start_anew(detail::take(spare_, 0));
    }

    void start_anew(block* first) noexcept {
        position_ = 0;
        end_ = 0;
        if (first != nullptr) first->previous = nullptr;
        enter(first, first == nullptr ? 0 : first->start());
    }

    // The newest mark cannot be void: every operation that voids marks increments marks_made_.
    [[gnu::noinline]] void rewind_past_marks(const mark_type& where) noexcept {
        if (where.begin.owner != this) abort_on_misuse(name, detail::mistake::foreign_mark, this);
        if (is_void(where)) abort_on_void_mark();
        make_void_after(where.begin.number);
    }
    // Marks later than `number` become void. Only the most recent range of void numbers is remembered.
    [[gnu::noinline]] void make_void_after(std::uint64_t number) noexcept {
        if (rewound_to_ == number && rewound_from_ + 1 == marks_made_) return;
        complete_scopes();
        rewound_to_ = number;
        rewound_from_ = marks_made_++;
    }

    // As rewind, where the later scratches have ended.
    [[gnu::always_inline]] void rewind_storage(const place& where) noexcept {
        if (destructors_ != where.destructors) destroy_down_to(where.destructors);
        if (oversize_ != where.oversize) [[unlikely]]
            retire_oversize_down_to(where.oversize);
        if (current_ != where.current) [[unlikely]]
            return rewind_blocks(where);
        go_back_to(where.position);
    }
    [[gnu::noinline]] void rewind_blocks(const place& where) noexcept {
        while (current_ != where.current) {
            if (current_ == nullptr) [[unlikely]]
                abort_on_void_mark();
            if (current_->previous == nullptr && where.current == nullptr) break;
            retire_current();
        }
        enter(current_, where.current != nullptr ? where.position : current_->start());
    }

    place here() const noexcept {
        return {marks_made_, const_cast<arena*>(this), current_, destructors_, oversize_, position_};
    }

    // A live scratch. The arena clears `begin.owner` when it takes the scratch's storage back.
    //
    // Beginning and ending one writes little: until a mark is made or the blocks in use change, a scratch is light, and
    // the arena itself still has the rest of where it began. complete_scopes() writes that before such a change.
    struct scope {
        scope* outer;  // of the same list
        // All of a light one: owner, position and destructors.
        place begin;
        bool releases;  // the arena's memory, when no scratch is left. False for a light one, and not set
    };

    [[gnu::always_inline]] void begin_scope(scope& begun) noexcept {
        begun.outer = innermost_;
        begun.begin.owner = this;
        begun.begin.destructors = destructors_;
        begun.begin.position = position_;
        // Hidden: g++ would warn that the address of a local variable stays behind, which the end takes back.
        scope* self = &begun;
        asm("" : "+r"(self));
        innermost_ = self;
    }
    // One that releases the arena's memory at its end, if no scratch is left then.
    void complete_releasing_scope(scope& begun) noexcept {
        complete_scopes();
        begun.releases = true;
    }

    // Before a mark is made, or the blocks in use change. All light scratches are inside all others.
    void complete_scopes() const noexcept {
        if (innermost_ != nullptr) complete_light_scopes();
    }
    [[gnu::noinline]] void complete_light_scopes() const noexcept {
        bare_at_ = never;
        scope* each = innermost_;
        for (;; each = each->outer) {
            each->begin.number = marks_made_;
            each->begin.current = current_;
            each->begin.oversize = oversize_;
            each->releases = false;
            if (each->outer == nullptr) break;
        }
        each->outer = innermost_complete_;
        innermost_complete_ = std::exchange(innermost_, nullptr);
    }

    // Ends the scratches that began after the mark `number`; 0 for all.
    void end_scopes(std::uint64_t number) noexcept {
        for (; innermost_ != nullptr; innermost_ = innermost_->outer) innermost_->begin.owner = nullptr;
        scope*& last = innermost_complete_;
        for (; last != nullptr && last->begin.number >= number; last = last->outer) last->begin.owner = nullptr;
    }
    // Ends `ended`, a live scratch, and those inside it.
    [[gnu::always_inline]] void end_scope(scope& ended) noexcept {
        if (innermost_ != &ended) [[unlikely]]
            return end_complete_scope(ended);
        if (destructors_ != ended.begin.destructors) {
            ended.begin.owner = nullptr;
            destroy_down_to(ended.begin.destructors);
            // A destructor allocated another block, made a mark or began a scratch, or reset the arena.
            if (innermost_ != &ended) [[unlikely]]
                return end_complete_scope(ended);
        }
        innermost_ = ended.outer;
        go_back_to(ended.begin.position);
        ended.begin.owner = nullptr;
    }
    // One that is not light, or has a scratch inside it.
    [[gnu::noinline]] void end_complete_scope(scope& ended) noexcept {
        ended.begin.owner = nullptr;
        complete_scopes();
        const scope* found = innermost_complete_;
        while (found != nullptr && found != &ended) found = found->outer;
        if (found == nullptr) return;
        for (scope*& last = innermost_complete_; last != &ended; last = last->outer) last->begin.owner = nullptr;
        innermost_complete_ = ended.outer;
        if (ended.begin.number != marks_made_) make_void_after(ended.begin.number);
        rewind_storage(ended.begin);
        if (ended.releases && innermost_complete_ == nullptr && innermost_ == nullptr) reset(release);
    }
    // The link to `linked`, a live scratch. Linear in the scratches inside it.
    scope*& link_to(const scope& linked) noexcept {
        complete_scopes();
        scope** link = &innermost_complete_;
        while (*link != &linked) link = &(*link)->outer;
        return *link;
    }

    // The hot path touches position and end only. They are not neighbours: compilers would set both by one 16-byte
    // store, and store-to-load forwarding of the position would be slow for hundreds of allocations.
    std::uintptr_t position_ = 0;
    destructor_node* destructors_ = nullptr;
    std::uintptr_t end_ = 0;
    block* current_ = nullptr;            // newest block in use; older ones follow by `previous`
    block* oversize_ = nullptr;           // blocks in use of one large request each, newest first
    mutable scope* innermost_ = nullptr;  // the newest light scratch
    std::uintptr_t only_start_ = 0;       // where the current block starts if it is the only one in use, otherwise 0
    mutable std::uint64_t marks_made_ = 1;
    mutable std::uint64_t bare_at_ = 1;  // the number of marks made at which there is nothing to end, or never
    mutable scope* innermost_complete_ = nullptr;  // the newest other scratch
    block* spare_ = nullptr;                       // blocks kept for growth, oldest first
    block* spare_oversize_ = nullptr;
    block* initial_ = nullptr;  // storage given at construction, never given to upstream
    std::size_t held_bytes_ = 0;
    std::size_t next_block_bytes_ = arena_options{}.completed().first_block_bytes;
    std::uint64_t marks_void_ = 1;  // these first ones, by a reset
    std::uint64_t rewound_to_ = 0;  // the marks behind this one are void, up to rewound_from_
    std::uint64_t rewound_from_ = 0;
    arena_options options_ = arena_options{}.completed();
    resource_ref upstream_ = heap{};
};

static_assert(owning_resource<arena> && resettable_resource<arena> && resizable_resource<arena>);

}  // namespace acre
