// Equal arenas that each count their live allocations: allocating moves a pointer, freeing counts down, and an arena in
// which nothing lives any more is used again. All memory is asked for once, at construction.
//
// Use it where many allocations live about equally long and end in about the order they began: frames of a camera,
// messages, jobs. Use acre::multi_pool where lifetimes are mixed (one small survivor keeps a whole arena), acre::arena
// where everything ends at one point, acre::inline_multi_arena where the storage should lie in the object.
//
// Cost: allocate 20 instructions, 45 when it takes the next arena, 36 and 66 for alignments over 16 bytes; deallocate
// 32 to 38; all constant time without a loop (counted by bench/limits/multi_arena.cpp, for arenas of 1 KiB). The run of
// arenas of a large request is linear in the number of arenas, and so are construction and reset, which put all arenas
// into a list. Memory: arenas x (bytes + 32), and nothing later. What is freed in an arena that something still lives
// in comes back with the last of it, or at once when it was the arena's last allocation. Not thread-safe:
// acre::synchronized<acre::multi_arena> is. Neither copied nor moved.
//
//     acre::multi_arena frames{{.arenas = 64, .bytes = 64_KiB}};
//     void* frame = frames.allocate(n);
//     frames.deallocate(frame, n);
//     assert(frames.busy_arenas() == 0);
#pragma once

#include <acre/arenas/detail/refcounted_arenas.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <bit>
#include <cstddef>
#include <utility>

namespace acre {

/// What becomes of a request larger than one arena.
enum class large_requests {
    refuse,    // request_too_large
    take_run,  // it takes as many neighbouring empty arenas as it needs: linear in the number of arenas
};

/// Number and size of the arenas of an acre::multi_arena.
struct multi_arena_options {
    std::size_t arenas = 0;  // at least 1
    std::size_t bytes = 0;   // of each arena, at least 1; rounded up to a multiple of 16
    std::size_t open = 0;    // arenas with room left that are tried besides the one in use, at most 8
    large_requests large = large_requests::refuse;
};

namespace detail {
/// Arenas in one block of upstream's; their records lie behind them.
class upstream_arenas {
protected:
    static constexpr const char* name = "acre::multi_arena";
    static constexpr std::size_t max_alignment = 4096;

    /// The bytes of an arena in `options` are a multiple of 16 already.
    upstream_arenas(const multi_arena_options& options, resource_ref upstream)
        : arenas_(options.arenas),
          arena_bytes_(options.bytes),
          base_alignment_(std::min(options.bytes & (0 - options.bytes), max_alignment)),
          usual_bytes_(options.open == 0 ? options.bytes : 0),
          open_limit_(options.open),
          takes_runs_(options.large == large_requests::take_run),
          upstream_(upstream) {
        if (is_alignment(arena_bytes_)) shift_ = std::countr_zero(arena_bytes_);
        bytes_ = static_cast<std::byte*>(upstream_.allocate(total_bytes(), base_alignment_));
        if (!exceptions_enabled && bytes_ == nullptr) arenas_ = 0;
        records_ = reinterpret_cast<detail::arena_record*>(bytes_ + arenas_ * arena_bytes_);
    }
    upstream_arenas(const upstream_arenas&) = delete;
    upstream_arenas& operator=(const upstream_arenas&) = delete;
    ~upstream_arenas() {
        if (arenas_ == 0) return;
        unpoison_defined(bytes_, total_bytes());
        upstream_.deallocate(bytes_, total_bytes(), base_alignment_);
    }

public:
    std::size_t arenas() const noexcept { return arenas_; }
    std::size_t arena_bytes() const noexcept { return arena_bytes_; }
    resource_ref upstream() const noexcept { return upstream_; }

protected:
    std::byte* bytes() const noexcept { return bytes_; }
    detail::arena_record* records() const noexcept { return records_; }
    std::size_t base_alignment() const noexcept { return base_alignment_; }
    static constexpr bool listed_at_once = true;
    std::size_t fast_path_max_bytes() const noexcept { return usual_bytes_; }
    std::size_t open_limit() const noexcept { return open_limit_; }
    bool takes_runs() const noexcept { return takes_runs_; }
    std::size_t index_of(std::size_t offset) const noexcept {
        // A division takes as long as all the rest of a deallocation; sizes are mostly powers of two.
        return shift_ != 0 ? offset >> shift_ : offset / arena_bytes_;
    }

private:
    std::size_t total_bytes() const noexcept { return arenas_ * (arena_bytes_ + sizeof(detail::arena_record)); }

    std::byte* bytes_ = nullptr;
    detail::arena_record* records_ = nullptr;
    std::size_t arenas_;
    std::size_t arena_bytes_;
    int shift_ = 0;
    // These two follow from the options, and make the way to the next arena short. There a request may take the whole
    // arena, or nothing where several are kept open.
    std::size_t base_alignment_;
    std::size_t usual_bytes_;
    std::size_t open_limit_;
    bool takes_runs_;
    resource_ref upstream_;
};
}  // namespace detail

/// Arenas that count, taken from upstream at construction.
class multi_arena : public detail::refcounted_arenas<detail::upstream_arenas> {
public:
    static constexpr const char* name = "acre::multi_arena";
    using options_type = multi_arena_options;

    /// Takes all its memory from `upstream`. Throws bad_option, and what upstream throws; without exceptions it is left
    /// without an arena and refuses every request.
    explicit multi_arena(const multi_arena_options& options, resource_ref upstream = heap{})
        : refcounted_arenas(checked(options), upstream) {}

    /// The resource that all memory came from.
    using detail::upstream_arenas::upstream;

    /// Bytes asked of upstream for these options. SIZE_MAX when there cannot be so many.
    static constexpr std::size_t required_bytes(const multi_arena_options& options) noexcept {
        if (options.bytes > max_request / 2) return SIZE_MAX;
        const auto bytes = array_bytes(options.arenas, align_up(options.bytes, granule) + sizeof(detail::arena_record));
        return bytes && *bytes <= max_request / 2 ? *bytes : SIZE_MAX;
    }

private:
    static multi_arena_options checked(multi_arena_options options) {
        require_at_least(1, name, "arenas", options.arenas);
        require_at_least(1, name, "bytes", options.bytes);
        require_option(options.bytes <= max_request / 2, name, "bytes", options.bytes,
                       "less than half of the address space");
        require_option(options.large == large_requests::refuse || options.large == large_requests::take_run, name,
                       "large", static_cast<std::size_t>(options.large), "refuse or take_run");
        require_option(options.open <= max_open, name, "open", options.open, "0 to 8");
        require_option(required_bytes(options) != SIZE_MAX, name, "arenas", options.arenas,
                       "as many as fit the address space");
        options.bytes = align_up(options.bytes, granule);
        return options;
    }
};

static_assert(owning_resource<multi_arena> && resettable_resource<multi_arena> && resizable_resource<multi_arena>);

namespace detail {
/// Arenas inside the object.
template <std::size_t Arenas, std::size_t Bytes, std::size_t Open, large_requests Large>
class inline_arenas {
protected:
    static constexpr const char* name = "acre::inline_multi_arena";
    // More would make the object itself so strictly aligned, wherever it lies.
    static constexpr std::size_t max_alignment = 64;

    constexpr inline_arenas() noexcept = default;
    inline_arenas(const inline_arenas&) = delete;
    inline_arenas& operator=(const inline_arenas&) = delete;
    ~inline_arenas() { unpoison_defined(bytes(), Arenas * Bytes); }

public:
    static constexpr std::size_t arenas() noexcept { return Arenas; }
    static constexpr std::size_t arena_bytes() noexcept { return Bytes; }

protected:
    std::byte* bytes() const noexcept { return reinterpret_cast<std::byte*>(const_cast<storage*>(&storage_)); }
    detail::arena_record* records() const noexcept { return const_cast<detail::arena_record*>(records_); }
    static constexpr std::size_t base_alignment() noexcept { return std::min(Bytes & (0 - Bytes), max_alignment); }
    // Listing them takes time that no constant has, and would make the storage a part of the program's file.
    static constexpr bool listed_at_once = false;
    static constexpr std::size_t fast_path_max_bytes() noexcept { return Open == 0 ? Bytes : 0; }
    static constexpr std::size_t open_limit() noexcept { return Open; }
    static constexpr bool takes_runs() noexcept { return Large == large_requests::take_run; }
    static constexpr std::size_t index_of(std::size_t offset) noexcept { return offset / Bytes; }

private:
    // Not filled at construction, and yet a constant.
    union alignas(base_alignment()) storage {
        constexpr storage() noexcept : nothing{} {}
        char nothing;
        std::byte all[Arenas * Bytes];
    };

    storage storage_;
    detail::arena_record records_[Arenas] = {};
};
}  // namespace detail

/// `Arenas` arenas of `Bytes` bytes each, rounded up to a multiple of 16, that count.
template <std::size_t Arenas, std::size_t Bytes, std::size_t Open = 0, large_requests Large = large_requests::refuse>
class inline_multi_arena
    : public detail::refcounted_arenas<detail::inline_arenas<Arenas, align_up(Bytes, default_alignment), Open, Large>> {
    using base =
        detail::refcounted_arenas<detail::inline_arenas<Arenas, align_up(Bytes, default_alignment), Open, Large>>;

public:
    static_assert(Arenas > 0 && Bytes > 0, "an inline_multi_arena has at least one arena of at least one byte");
    static_assert(Bytes <= max_request / 2 / Arenas, "so many bytes do not fit the address space");
    static_assert(Open <= base::max_open, "at most 8 arenas are kept open");

    static constexpr const char* name = "acre::inline_multi_arena";

    constexpr inline_multi_arena() noexcept = default;

    /// Bytes of all arenas.
    static constexpr std::size_t capacity() noexcept { return base::arenas() * base::arena_bytes(); }
};

static_assert(owning_resource<inline_multi_arena<4, 64>> && resettable_resource<inline_multi_arena<4, 64>>);

}  // namespace acre
