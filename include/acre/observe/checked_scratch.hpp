// A scope in a checked arena, as acre::scratch in an arena, whose requests know their places in the source.
//
// Use it where acre::scratch is used, with an acre::checked arena. It does what acre::scratch does, and one that ends
// before a scratch that began within it is a misuse. Cost: that of acre::checked's rewind, linear in the records.
// Thread rules: those of the arena.
//
//     acre::checked<acre::arena> level;
//     acre::checked_scratch temp{level};
//     temp.allocate<int>(100);
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/forwarding.hpp>
#include <acre/core/detail/referred.hpp>
#include <acre/core/misuse.hpp>
#include <acre/observe/checked.hpp>
#include <cstddef>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>

namespace acre {

/// A scope in a checked arena, as acre::scratch in an arena: at its end its objects are destroyed and its storage goes
/// back. One that ends before a scratch that began within it is a misuse here.
template <class R>
class checked_scratch : public detail::forwarded_requests<checked_scratch<R>, checked<R>> {
    using base = detail::forwarded_requests<checked_scratch, checked<R>>;
    using place = std::source_location;
    friend base;

public:
    static constexpr const char* name = "acre::checked_scratch";

    /// Begins a scope in `parent`, which must live longer.
    [[nodiscard("this scratch ends in the same statement: give it a name")]] explicit checked_scratch(
        checked<R>& parent, place where = place::current()) noexcept
        : scope_{&parent, parent.innermost_, parent.scopes_begun_, where},
          begin_(parent.mark()),
          arena_(&parent),
          link_(parent.records_.link()) {
        parent.innermost_ = &scope_;
        ++parent.scopes_begun_;
    }
    /// Of a pointer to the arena, or of a handle. Throws bad_option for null.
    template <detail::leads_to<checked<R>> From>
    [[nodiscard("this scratch ends in the same statement: give it a name")]] explicit checked_scratch(
        From&& from, place where = place::current())
        : checked_scratch(detail::referred<checked<R>>(name, std::forward<From>(from)), where) {}
    /// Takes over the scope of `other`, which has ended then.
    checked_scratch(checked_scratch&& other) noexcept
        : scope_(other.scope_), begin_(other.begin_), arena_(other.arena_), link_(other.link_) {
        if (link_ != nullptr) link_->add_reference();
        if (scope_.owner == nullptr) return;
        scope_.owner->link_to(other.scope_) = &scope_;
        other.scope_.owner = nullptr;
    }
    checked_scratch& operator=(const checked_scratch&) = delete;
    /// Destroys the objects of the scope, newest first, and takes its storage back.
    ~checked_scratch() {
        end(place{});
        if (link_ != nullptr) link_->drop_reference();
    }

    /// Uninitialised storage for a T. `where`, here and below, is the caller's place, which a report of misuse names.
    /// Throws what R throws.
    template <class T>
    T* allocate(place where = place::current()) {
        return parent(where).template allocate<T>(where);
    }
    /// As allocate, but null where that would throw.
    template <class T>
    T* try_allocate(place where = place::current()) noexcept {
        return parent(where).template try_allocate<T>(where);
    }
    /// Uninitialised storage for `count` objects. Throws what R throws.
    template <class T>
    std::span<T> allocate(std::size_t count, place where = place::current()) {
        return parent(where).template allocate<T>(count, where);
    }
    /// As allocate, but empty where that would throw.
    template <class T>
    std::span<T> try_allocate(std::size_t count, place where = place::current()) noexcept {
        return parent(where).template try_allocate<T>(count, where);
    }
    /// `bytes` bytes aligned to `alignment`. Throws what R throws.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment, place where = place::current()) {
        return parent(where).allocate(bytes, alignment, where);
    }
    /// As allocate, but null where that would throw.
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment,
                       place where = place::current()) noexcept {
        return parent(where).try_allocate(bytes, alignment, where);
    }
    /// As checked::deallocate: reports what is not live, or has another size. Null is a no-op.
    void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment,
                    place where = place::current()) noexcept {
        parent(where).deallocate(p, bytes, alignment, where);
    }
    /// As checked::here.
    checked_scratch& here(place where = place::current()) noexcept {
        parent(where).here(where);
        return *this;
    }

    /// Ends the scope early; a second call is a no-op.
    void end(place where = place::current()) noexcept {
        if (scope_.owner == nullptr) return;
        checked<R>& owner = *scope_.owner;
        if (owner.innermost_ != &scope_)
            owner.records_.report_scratch(this, scope_.began, owner.innermost_->began, where);
        owner.rewind(begin_, where);
    }
    /// Ends the scope and keeps what was allocated in it: it belongs to the outer scratch now, or to the arena.
    void keep() noexcept {
        if (scope_.owner == nullptr) return;
        scope_.owner->link_to(scope_) = scope_.outer;
        scope_.owner = nullptr;
    }
    /// False once the scope has ended.
    bool active() const noexcept { return scope_.owner != nullptr; }
    /// The arena of this scope. A misuse when the scope has ended: the arena's handler is asked, and may return, or the
    /// program's, where the arena has ended, too.
    checked<R>& parent(place where = place::current()) const noexcept {
        if (scope_.owner == nullptr) [[unlikely]]
            report_late_use(where);
        return *arena_;
    }

private:
    [[gnu::noinline, gnu::cold]] void report_late_use(const place& where) const noexcept {
        if (link_ == nullptr || link_->records == nullptr) abort_on_misuse(name, detail::mistake::used_after_end, this);
        link_->records->report_late_scratch(this, scope_.began, where);
    }

    template <class Call, class Function>
    auto around(const Call&, Function&& function) const {
        return function(parent(place{}));
    }

    typename checked<R>::scope scope_;
    decltype(std::declval<const checked<R>&>().mark()) begin_;
    checked<R>* arena_;           // also after the end of the scope
    detail::checked_link* link_;  // tells whether the arena has ended; null when there was no memory
};
template <class R>
checked_scratch(checked<R>&) -> checked_scratch<R>;
template <class R>
checked_scratch(checked<R>*) -> checked_scratch<R>;

}  // namespace acre
