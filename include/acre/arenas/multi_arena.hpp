// Equal arenas that each count their live allocations: allocating moves a pointer, freeing counts down, and an arena
// whose count reaches zero is reused. All memory is taken once, at construction. inline_multi_arena holds it in the
// object itself.
//
// Use it where many allocations live about equally long and end in about the order they began: frames of a camera,
// messages, jobs. Use acre::multi_pool where lifetimes are mixed (one small survivor keeps a whole arena), acre::arena
// where everything ends at one point. Use inline_multi_arena where there is no heap, or where number and size are known
// at compile time.
//
// Cost: allocate 27 instructions, 50 when it takes the next arena, 40 and 71 for alignments over 16 bytes; deallocate
// 36 to 43; all constant time without a loop (counted by bench/limits/multi_arena.cpp, for arenas of 1 KiB). A large
// request that takes a run of arenas is linear in the number of arenas, and so are construction and reset, which list
// all arenas and clear a mark for each 16 bytes. Memory: arenas x (bytes + bytes / 16 + 32), and nothing later. Storage
// freed in an arena that is still in use comes
// back with the arena's last free, or at once if it was the arena's last allocation. An inline_multi_arena is
// constant-initialised, takes no space in the program's file, and finds a pointer's arena by a shift; the first use of
// each of its arenas costs 62 instructions. Not thread-safe: acre::synchronized<acre::multi_arena> is. Neither copied
// nor moved.
//
// A misuse in every build, each with a sentence of its own: a double free, whatever was freed between, a pointer into
// the middle of an allocation or of another resource, and another size than the one allocated (rounded up to 16 bytes,
// and modulo 2 KiB). The marks that tell it are beside the arenas.
//
//     using namespace acre::literals;
//     acre::multi_arena frames{{.arenas = 64, .bytes = 64_KiB}};
//     void* frame = frames.allocate(n);
//     frames.deallocate(frame, n);
//     assert(frames.busy_arenas() == 0);
//
//     acre::inline_multi_arena<16, 1024> messages;   // 16 KiB inside the object
#pragma once

#include <acre/arenas/detail/refcounted_arenas.hpp>
#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/live_report.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <cstddef>
#include <type_traits>

namespace acre {

/// What happens to a request larger than one arena.
enum class large_requests {
    refuse,    // request_too_large
    take_run,  // it takes as many neighbouring empty arenas as it needs: linear in the number of arenas
};

/// Number and size of the arenas of an acre::multi_arena.
struct multi_arena_options {
    std::size_t arenas = 0;  // at least 1
    std::size_t bytes = 0;   // of each arena, at least 1; rounded up to a multiple of 16
    std::size_t open = 0;    // arenas with room left that are tried besides the active one, at most 8
    large_requests large = large_requests::refuse;
    bool report_live = false;  // write a line to stderr when the arenas end with live allocations
};

namespace detail {
/// The storage and the options of a multi_arena.
class multi_arena_storage : public upstream_storage<arena_record> {
protected:
    static constexpr const char* name = "acre::multi_arena";
    static constexpr bool listed_at_once = true;

    multi_arena_storage(const multi_arena_options& options, resource_ref upstream)
        : upstream_storage(options.arenas, options.bytes, upstream),
          fast_path_max_bytes_(options.open == 0 ? options.bytes : 0),
          open_limit_(options.open),
          takes_runs_(options.large == large_requests::take_run) {}

    std::size_t fast_path_max_bytes() const noexcept { return fast_path_max_bytes_; }
    std::size_t open_limit() const noexcept { return open_limit_; }
    bool takes_runs() const noexcept { return takes_runs_; }

private:
    // Cached: the arena size, or 0 if open > 0. Saves a branch when taking the next arena.
    std::size_t fast_path_max_bytes_;
    std::size_t open_limit_;
    bool takes_runs_;
};

/// As multi_arena_storage, but inside the object.
template <std::size_t Arenas, std::size_t Bytes, std::size_t Open, large_requests Large>
class inline_multi_arena_storage : public inline_storage<arena_record, Arenas, Bytes> {
protected:
    static constexpr const char* name = "acre::inline_multi_arena";
    // Listing takes run time, and would make the storage a part of the program's file.
    static constexpr bool listed_at_once = false;

    static constexpr std::size_t fast_path_max_bytes() noexcept { return Open == 0 ? Bytes : 0; }
    static constexpr std::size_t open_limit() noexcept { return Open; }
    static constexpr bool takes_runs() noexcept { return Large == large_requests::take_run; }
};
}  // namespace detail

/// Refcounted arenas in memory that is taken from upstream at construction.
class multi_arena : public detail::refcounted_arenas<detail::multi_arena_storage> {
public:
    static constexpr const char* name = "acre::multi_arena";
    using options_type = multi_arena_options;

    /// Takes all its memory from `upstream`. Throws bad_option, and what upstream throws. Without exceptions and
    /// without memory it has no arena and refuses every request.
    explicit multi_arena(const multi_arena_options& options, resource_ref upstream = heap{})
        : refcounted_arenas(checked(options), upstream), report_(options.report_live) {}

    /// Refused by a sentence: no numbers, or numbers without their names, as in a published system.
    template <class... Numbers>
        requires(std::is_integral_v<Numbers> && ...)
    __attribute__((unavailable(
        "acre::multi_arena: name the numbers, {{.arenas = 16, .bytes = 1024}}"))) explicit multi_arena(Numbers...);

    /// Gives its memory back to upstream, live allocations included.
    ~multi_arena() {
        report_.write(name, [this] { return allocations(); });
    }

    using detail::multi_arena_storage::upstream;

    /// Bytes taken from upstream for these options. SIZE_MAX when that exceeds half of the address space.
    static constexpr std::size_t required_bytes(const multi_arena_options& options) noexcept {
        return required_storage(options.arenas, options.bytes);
    }
    /// The same with the padding for an upstream whose blocks are aligned to `upstream_alignment` only, as another
    /// multi_arena (16 always suffices): inline_multi_arena<1, multi_arena::required_bytes(options, 16)> is one. Under
    /// AddressSanitizer that one needs more, for its redzones.
    static constexpr std::size_t required_bytes(const multi_arena_options& options,
                                                std::size_t upstream_alignment) noexcept {
        const std::size_t bytes = required_bytes(options);
        const std::size_t alignment = alignment_of(align_up(options.bytes, default_alignment));
        return bytes == SIZE_MAX || alignment <= upstream_alignment ? bytes : bytes + alignment - upstream_alignment;
    }

private:
    static multi_arena_options checked(const multi_arena_options& options) {
        require_option(options.large == large_requests::refuse || options.large == large_requests::take_run, name,
                       "large", static_cast<std::size_t>(options.large), "refuse or take_run");
        require_option(options.open <= max_open, name, "open", options.open, "0 to 8");
        return upstream_storage::checked(options, name);
    }

    detail::live_report report_;
};

/// `Arenas` refcounted arenas of `Bytes` bytes each, rounded up to a multiple of 16, inside the object.
template <std::size_t Arenas, std::size_t Bytes, std::size_t Open, large_requests Large>
class inline_multi_arena
    : public detail::refcounted_arenas<
          detail::inline_multi_arena_storage<Arenas, align_up(Bytes, default_alignment), Open, Large>> {
    using base = detail::refcounted_arenas<
        detail::inline_multi_arena_storage<Arenas, align_up(Bytes, default_alignment), Open, Large>>;
    static_assert(Open <= base::max_open, "acre: at most 8 arenas are kept open");

public:
    static constexpr const char* name = "acre::inline_multi_arena";

    constexpr inline_multi_arena() noexcept = default;

    /// Bytes of all arenas.
    static constexpr std::size_t capacity() noexcept { return base::arenas() * base::arena_bytes(); }
};

static_assert(owning_resource<multi_arena> && resettable_resource<multi_arena> && resizable_resource<multi_arena>);

}  // namespace acre
