// A scope in an arena: when it ends, its objects are destroyed and its storage goes back to the arena.
//
// Use it for temporary storage of a function inside a longer-lived arena. Never return storage of a scratch, and do not
// allocate results from the arena itself while a scratch of it lives: they end with the scratch.
//
// Cost: beginning and ending are constant time (about ten instructions) plus the destructors due; allocating costs what
// it costs in the arena. Not thread-safe. Scratches end in reverse order: one that ends early ends the inner ones, and
// a reset of the arena ends all. Using an ended scratch aborts with a sentence.
//
//     acre::scratch temp{level};
//     std::span<Step> path = temp.allocate<Step>(n);
#pragma once

#include <acre/arenas/arena.hpp>
#include <acre/core/detail/forwarding.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>

namespace acre {

namespace detail {
struct thread_scratch_access;
}

/// Has the arena's members that allocate and create. All that is allocated through it, or from its arena while it
/// lives, is taken back at its end.
class scratch : public detail::forwarded_requests<scratch, arena> {
public:
    static constexpr const char* name = "acre::scratch";

    /// Begins a scope in `parent`, which must live longer.
    explicit scratch(arena& parent) noexcept : scope_{&parent, parent.innermost_}, begin_(parent.mark()) {
        parent.innermost_ = &scope_;
    }

    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;

    /// Destroys the objects of the scope, newest first, and takes its storage back.
    ~scratch() { end(); }

    /// Ends the scope early; a second call is a no-op.
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

    /// False once the scope has ended: by end(), by the end of an outer scratch, or by a reset of the arena.
    bool active() const noexcept { return scope_.owner != nullptr; }

    /// The arena of this scope. Aborts when the scope has ended.
    arena& parent() const noexcept {
        if (scope_.owner == nullptr) [[unlikely]]
            abort_on_misuse(name, "used after it ended", this);
        return *scope_.owner;
    }

private:
    friend detail::thread_scratch_access;
    friend detail::forwarded_requests<scratch, arena>;

    template <class Call, class Function>
    auto around(const Call&, Function&& function) const {
        return function(parent());
    }

    // With `releases`, the end of the outermost scratch releases the arena's memory.
    scratch(arena& parent, bool releases) noexcept : scratch(parent) { releases_ = releases; }

    arena::scope scope_;
    arena::mark_type begin_;
    bool releases_ = false;
};

static_assert(resizable_resource<scratch>);

}  // namespace acre
