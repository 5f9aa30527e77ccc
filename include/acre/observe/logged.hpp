// An R that writes each allocation and each release as a line of text: a trace to read while debugging.
//
// Use it where a program without a recorder is to show what it allocates, line by line, in order. Use acre::statistics
// for counts, and acre::traced with `acre record` for traces of whole programs. logged<R> is an R with R's interface;
// it sees the calls that acre::statistics sees.
//
// A line has the resource's name or the name given, what happened, the address, the bytes and the alignment:
//   frames: allocated 0x5581c0 100 bytes aligned to 16
//   frames: resized 0x5581c0 from 100 to 200 bytes
//   frames: freed 0x5581c0 200 bytes
//   frames: refused 5000 bytes
//   frames: freed everything
// "refused" is said of an object whose constructor threw, too.
//
// Cost: two words, and a formatted line for each call, written at once. No memory of its own. Thread rules: those of R;
// lines of several threads do not mix. log_to{nullptr} writes nothing.
//
//     using namespace acre::literals;
//     acre::logged<acre::multi_arena> frames{acre::log_to{stderr, "frames"}, {.arenas = 16, .bytes = 1_KiB}};
//     frames.deallocate(frames.allocate(100), 100);
#pragma once

#include <acre/core/detail/forwarding.hpp>
#include <acre/core/detail/instrumented.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <cstddef>
#include <cstdio>
#include <type_traits>
#include <utility>

namespace acre {

/// Where acre::logged writes: the first argument of its constructor.
struct log_to {
    std::FILE* file = stderr;    // null: nowhere
    const char* name = nullptr;  // of the resource, at the front of each line; null: that of its type
};

namespace detail {

/// Writes R's events.
template <class R>
class log_meter {
public:
    static constexpr bool shared_by_threads = true;

    struct mark_type {};

    log_meter() noexcept = default;
    explicit log_meter(const log_to& where) noexcept : where_(where) {}

    static constexpr bool reserve(std::size_t) noexcept { return true; }
    static constexpr void refuse(std::size_t) noexcept {}
    static constexpr void unreserve(std::size_t) noexcept {}

    void failed(std::size_t bytes) const noexcept { write("refused % bytes", bytes); }
    void served(const R&, const void* p, std::size_t bytes, std::size_t alignment) const noexcept {
        write("allocated % % bytes aligned to %", p, bytes, alignment);
    }
    void freed(const void* p, std::size_t bytes) const noexcept { write("freed % % bytes", p, bytes); }
    void resized(const void* p, std::size_t old_bytes, std::size_t new_bytes) const noexcept {
        write("resized % from % to % bytes", p, old_bytes, new_bytes);
    }
    void all_freed() const noexcept { write("freed everything"); }
    mark_type mark() const noexcept { return {}; }
    void rewind(const mark_type&) const noexcept { write("freed everything since a mark"); }

private:
    const char* name() const noexcept {
        if (where_.name != nullptr) return where_.name;
        if constexpr (requires { R::name; }) {
            return R::name;
        } else {
            return "resource";
        }
    }

    // One call of the C library a line, so that lines of several threads do not mix; and not its formats for sizes,
    // which some C libraries lack.
    template <class... Values>
    [[gnu::noinline]] void write(const char* pattern, Values... values) const noexcept {
        if (where_.file == nullptr) return;
        char event[128];
        const word words[] = {word{""}, values...};
        sentence::write(event, sizeof event, pattern, words + 1);
        std::fprintf(where_.file, "%s: %s\n", name(), event);
    }

    log_to where_;
};

}  // namespace detail

/// An R whose every allocation and release is written as a line.
template <resource R>
class logged : public detail::instrumented<R, detail::log_meter<R>> {
    using meter_type = detail::log_meter<R>;
    using base = detail::instrumented<R, meter_type>;

public:
    using base::base;
    /// Writes to standard error.
    logged() = default;
    /// Writes to `where`; R is constructed from `arguments`.
    template <class... Arguments>
        requires std::is_constructible_v<R, Arguments...>
    explicit logged(const log_to& where, Arguments&&... arguments)
        : base(meter_type{where}, std::forward<Arguments>(arguments)...) {}
    /// As above, with R's options: logged<R> l{log_to{stderr, "frames"}, {.name = value}}.
    explicit logged(const log_to& where, const detail::options_of<R>& given, resource_ref upstream = heap{})
        requires std::is_constructible_v<R, const detail::options_of<R>&, resource_ref>
        : base(meter_type{where}, given, upstream) {}
};

}  // namespace acre
