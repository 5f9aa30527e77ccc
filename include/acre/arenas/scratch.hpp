// A scope in an arena: when it ends, its objects are destroyed and its storage goes back to the arena.
//
// Use it for temporary storage of a function inside a longer-lived arena. Never return storage of a scratch, and do not
// allocate results from the arena itself while a scratch of it lives: they end with the scratch.
//
// Cost: beginning and ending are constant time (20 instructions together) plus the destructors due; allocating
// costs what it costs in the arena. Not thread-safe. Scratches end in reverse order: one that ends early ends the inner
// ones, and a reset of the arena ends all. Using an ended scratch aborts with a sentence. Moving a scratch is constant
// time, plus one step for each inner scratch. What points to the scratch itself, such as an acre::allocator of it, does
// not follow. keep() ends a scratch and leaves what it allocated in the arena.
//
//     acre::scratch temp{level};
//     std::span<Step> path = temp.allocate<Step>(n);
//     if (good_enough(path)) temp.keep();   // the path now lives as long as the level, or an outer scratch
#pragma once

#include <acre/arenas/arena.hpp>
#include <acre/core/detail/forwarding.hpp>
#include <acre/core/detail/referred.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <type_traits>
#include <utility>

namespace acre {

namespace detail {
struct thread_scratch_access;

namespace scratch_has_no_release_but {
struct keep_to_keep_what_was_allocated_and_end_to_take_it_back {};
}  // namespace scratch_has_no_release_but

template <class Other>
concept has_no_scopes = resource<Other> && !std::is_convertible_v<Other*, const arena*>;
}  // namespace detail

/// Has the arena's members that allocate and create. All that is allocated through it, or from its arena while it
/// lives, is taken back at its end.
class scratch : public detail::forwarded_requests<scratch, arena> {
public:
    static constexpr const char* name = "acre::scratch";

    /// Begins a scope in `parent`, which must live longer.
    [[nodiscard("this scratch ends in the same statement: give it a name")]] explicit scratch(arena& parent) noexcept {
        parent.begin_scope(scope_);
    }

    /// Of a pointer to the arena, as in a published arena, or of a handle. Throws bad_option for null.
    template <detail::stands_for<arena> From>
    [[nodiscard("this scratch ends in the same statement: give it a name")]] explicit scratch(From&& from)
        : scratch(detail::referred<arena>(name, std::forward<From>(from))) {}

    /// Refused by a sentence: a scratch, which copies nothing, and resources that have no scopes.
    template <class Other>
        requires(std::is_same_v<Other, scratch> || detail::has_no_scopes<Other>)
    explicit scratch(Other&) {
        static_assert(!std::is_same_v<Other, scratch>,
                      "acre: a scratch is not copied: scratch inner{temp.parent()} begins one in the same arena");
        static_assert(
            std::is_same_v<Other, scratch>,
            "acre::scratch is a scope of an acre::arena, and this is another resource: of a checked arena write "
            "acre::checked_scratch; threads that share one have no scope in it: write acre::thread_scratch()");
    }

    /// Refused by a sentence: no arena.
    __attribute__((unavailable("acre: give the scratch its arena, temp{level}, or write acre::thread_scratch()")))
    scratch();

    /// Takes over the scope of `other`, which has ended then. So a function can return a scratch.
    scratch(scratch&& other) noexcept {
        scope_.begin.owner = other.scope_.begin.owner;
        if (!active()) return;
        scope_.begin.owner->link_to(other.scope_) = &scope_;
        scope_ = other.scope_;
        other.scope_.begin.owner = nullptr;
    }
    scratch& operator=(const scratch&) = delete;

    /// Destroys the objects of the scope, newest first, and takes its storage back.
    [[gnu::always_inline]] ~scratch() { end(); }

    /// Ends the scope early; a second call is a no-op.
    [[gnu::always_inline]] void end() noexcept {
        if (scope_.begin.owner != nullptr) scope_.begin.owner->end_scope(scope_);
    }

    /// Ends the scope and keeps what was allocated in it: it belongs to the outer scratch now, or to the arena. Inner
    /// scratches go on. A second call is a no-op. Of a thread_scratch: until release_thread_scratch().
    void keep() noexcept {
        if (scope_.begin.owner == nullptr) return;
        arena::scope*& link = scope_.begin.owner->link_to(scope_);  // before `outer` is read, which it may set
        link = scope_.outer;
        scope_.begin.owner = nullptr;
    }
    /// Refused: it means the opposite in a published arena. Compilers print the parameter's type; a static_assert would
    /// also fail where code only asks whether a resource has the member.
    void release(detail::scratch_has_no_release_but::keep_to_keep_what_was_allocated_and_end_to_take_it_back =
                     {}) noexcept = delete;

    /// False once the scope has ended: by end(), by keep(), by a move, by the end of an outer scratch, or by a reset of
    /// the arena.
    bool active() const noexcept { return scope_.begin.owner != nullptr; }

    /// The arena of this scope. Aborts when the scope has ended.
    arena& parent() const noexcept {
        if (scope_.begin.owner == nullptr) [[unlikely]]
            abort_on_misuse(name, detail::mistake::used_after_end, this);
        return *scope_.begin.owner;
    }

private:
    friend detail::thread_scratch_access;
    friend detail::forwarded_requests<scratch, arena>;

    template <class Call, class Function>
    auto around(const Call&, Function&& function) const {
        return function(parent());
    }

    // With `releases`, the end of the outermost scratch releases the arena's memory.
    scratch(arena& parent, bool releases) noexcept : scratch(parent) {
        if (releases) [[unlikely]]
            parent.complete_releasing_scope(scope_);
    }

    arena::scope scope_;
};

static_assert(resizable_resource<scratch>);

}  // namespace acre
