// A scope in an arena: what it allocated is gone, destructors included, when the scope ends.
//
// Use it for the temporary part of a function's work inside a longer-lived arena. Do not return what a scratch
// allocated, and do not allocate results from the arena itself while a scratch of it lives: they would go with it.
//
// Cost: beginning and ending one is constant time (about ten instructions) plus the destructors due; allocating costs
// what the arena's allocating costs. Not thread-safe. Scratches end in reverse order; one that ends too early takes the
// inner ones with it, a reset of the arena ends all, and using an ended scratch aborts with a sentence.
//
//     acre::scratch temp{level};
//     std::span<Step> path = temp.allocate<Step>(n);
#pragma once

#include <acre/arenas/arena.hpp>
#include <cstdarg>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace acre {

namespace detail {
struct thread_scratch_access;
}

/// What is allocated through it, or from its arena while it lives, is taken back at its end.
class scratch {
public:
    static constexpr const char* name = "acre::scratch";

    /// Begins a scope in `parent`, which must live longer.
    explicit scratch(arena& parent) noexcept : scope_{&parent, parent.innermost_}, begin_(parent.mark()) {
        parent.innermost_ = &scope_;
    }

    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;

    /// Destroys what was created since the beginning, newest first, and takes its storage back.
    ~scratch() { end(); }

    /// Ends the scope before the object does; a second end is a no-op.
    void end() noexcept {
        if (scope_.owner == nullptr) return;
        arena& parent = *scope_.owner;
        parent.end_scopes(&scope_);
        parent.innermost_ = scope_.outer;
        parent.rewind(begin_);
        scope_.owner = nullptr;
        if (releases_ && parent.innermost_ == nullptr) [[unlikely]]
            parent.reset(release);
    }

    /// True until the scope ended, by end(), by an outer scratch's end or by a reset of the arena.
    bool active() const noexcept { return scope_.owner != nullptr; }

    /// The arena that this is a scope of. Aborts when the scope has ended.
    arena& parent() const noexcept {
        if (scope_.owner == nullptr) [[unlikely]]
            abort_on_misuse(name, "used after it ended", this);
        return *scope_.owner;
    }

    // As the arena's members of the same names.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        return parent().allocate(bytes, alignment);
    }
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        return parent().try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        parent().deallocate(p, bytes, alignment);
    }
    void deallocate_moved(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        parent().deallocate_moved(p, bytes, alignment);
    }
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
        return parent().try_resize(p, old_bytes, new_bytes);
    }
    template <class T>
    std::span<T> allocate(std::size_t count) {
        return parent().template allocate<T>(count);
    }
    template <class T>
    std::span<T> try_allocate(std::size_t count) noexcept {
        return parent().template try_allocate<T>(count);
    }
    template <class T, class... Arguments>
    T* create(Arguments&&... arguments) {
        return parent().template create<T>(std::forward<Arguments>(arguments)...);
    }
    template <class T, class... Arguments>
    T* try_create(Arguments&&... arguments) {
        return parent().template try_create<T>(std::forward<Arguments>(arguments)...);
    }
    template <class T>
    std::span<T> create_array(std::size_t count) {
        return parent().template create_array<T>(count);
    }
    template <class T>
    std::span<T> try_create_array(std::size_t count) {
        return parent().template try_create_array<T>(count);
    }
    std::string_view copy(std::string_view text) { return parent().copy(text); }
    std::string_view try_copy(std::string_view text) noexcept { return parent().try_copy(text); }
    template <class T>
    std::span<T> copy(std::span<const T> values) {
        return parent().copy(values);
    }
    template <class T>
    std::span<T> try_copy(std::span<const T> values) noexcept {
        return parent().try_copy(values);
    }
    [[gnu::format(printf, 2, 3)]] std::string_view format(const char* pattern, ...) {
        std::va_list arguments;
        va_start(arguments, pattern);
        const std::string_view result = parent().format_list(pattern, arguments);
        va_end(arguments);
        return result;
    }

    [[gnu::format(printf, 2, 3)]] std::string_view try_format(const char* pattern, ...) noexcept {
        std::va_list arguments;
        va_start(arguments, pattern);
        const std::string_view result = parent().try_format_list(pattern, arguments);
        va_end(arguments);
        return result;
    }

private:
    friend detail::thread_scratch_access;

    // With `releases`, the arena keeps no memory beyond its outermost scratch.
    scratch(arena& parent, bool releases) noexcept : scratch(parent) { releases_ = releases; }

    arena::scope scope_;
    arena::mark_type begin_;
    bool releases_ = false;
};

static_assert(resizable_resource<scratch>);

}  // namespace acre
