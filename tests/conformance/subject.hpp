// A type-erased resource under test, so that the tests of the promises are compiled once. A world holds a resource and
// its upstreams; only subject_of<World> is compiled for each resource.
#pragma once

#include <acre/adapt/allocator.hpp>
#include <acre/adapt/pmr.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/core/at_least.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/observe/describe.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "conformance/checking_upstream.hpp"

namespace acre_test {

/// What the tests have to know about a resource.
struct subject_traits {
    bool bounded = false;      // has limited storage, so it may refuse requests
    bool direct = false;       // capacity() is the bytes that it holds from the checking upstream
    bool std_pmr = false;      // a std::pmr resource, which throws errors of its own
    bool can_fail = true;      // its upstream may refuse; false where null would end the program
    bool refuses_all = false;  // serves no request
    bool shrinks = true;       // try_resize never refuses to shrink
    bool falls_back = false;   // another resource may serve what its upstream refuses
    bool holds_back = false;   // keeps freed storage in use, and gives it up when a request is refused
};

/// The resource under test.
class subject {
public:
    virtual ~subject() = default;

    virtual void* allocate(std::size_t bytes, std::size_t alignment) = 0;
    virtual void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept = 0;
    virtual void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept = 0;
    /// What acre::allocate_at_least asks for.
    virtual std::size_t bytes_given(std::size_t bytes, std::size_t alignment) const noexcept = 0;
    /// Gives null back in every way that the resource, and what stands before it, takes a pointer back.
    virtual void give_null_back() noexcept = 0;

    // Empty or false where the resource has no such member.
    virtual std::optional<bool> owns(const void* p) const = 0;
    virtual std::optional<std::size_t> capacity() const = 0;
    virtual std::optional<std::size_t> used() const = 0;
    virtual bool reset() = 0;
    virtual bool release() = 0;
    virtual bool release_unused() = 0;
    virtual bool deallocate_all() = 0;
    /// Moves the resource away and back. What it was moved from must refuse or serve as a new one does.
    virtual bool move_there_and_back() = 0;
    virtual bool resizes() const = 0;
    virtual bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) = 0;
    /// Sets a mark and returns its number.
    virtual std::optional<std::size_t> mark() = 0;
    virtual void rewind(std::size_t mark_number) = 0;

    /// The line of acre::describe.
    virtual std::string description() const = 0;
    /// The sentence of acre::broken_invariant, or null.
    virtual const char* broken_invariant() const = 0;
    /// Its checking_upstream, or null.
    virtual checking_upstream* upstream() = 0;
    virtual subject_traits traits() const = 0;
};

// libstdc++ declares that null is not passed, but containers pass it.
__attribute__((noinline, no_sanitize("undefined"))) inline void give_back_to_face(std::pmr::memory_resource& face,
                                                                                  void* p, std::size_t bytes) {
    face.deallocate(p, bytes, 8);
}

// The sizes given with null do not matter.
template <class R>
void give_null_back(R& r) noexcept {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{100'000}, SIZE_MAX}) {
        r.deallocate(nullptr, bytes, 8);
        acre::resource_ref{r}.deallocate(nullptr, bytes, 8);
        if constexpr (requires { r.deallocate_moved(nullptr, bytes, 8); }) r.deallocate_moved(nullptr, bytes, 8);
        if constexpr (requires { r.deallocate_separately(nullptr, bytes, 8); })
            r.deallocate_separately(nullptr, bytes, 8);
        acre::allocator<std::max_align_t, R> typed{r};
        typed.deallocate(nullptr, 0);
        typed.deallocate(nullptr, bytes);
        if constexpr (!acre::detail::holds_one_class<R>) {
            acre::pmr<R&> face{r};
            give_back_to_face(face, nullptr, bytes);
        }
    }
    r.deallocate(nullptr, 100'000, 4096);
    void* const null = nullptr;
    if constexpr (requires { r.deallocate(null); }) r.deallocate(null);
    if constexpr (requires { r.deallocate_unsized(null); }) r.deallocate_unsized(null);
    if constexpr (requires { typename R::value_type; }) {
        typename R::value_type* const object = nullptr;
        if constexpr (requires { r.destroy(object); }) r.destroy(object);
        if constexpr (requires { r.deallocate_one(object); }) r.deallocate_one(object);
        if constexpr (requires { r.deallocate_n(object, 3); }) r.deallocate_n(object, 3);
    } else if constexpr (requires(int* object) { r.destroy(object); }) {
        r.destroy(static_cast<int*>(nullptr));
        if constexpr (requires(int* first) { r.destroy_array(first); }) r.destroy_array(static_cast<int*>(nullptr));
    }
}

/// True when `R` has marks.
template <class R>
concept rewindable = requires(R& r) { r.rewind(r.mark()); };

template <rewindable R>
auto marks_of(const R&) -> std::vector<decltype(std::declval<const R&>().mark())>;
auto marks_of(...) -> std::vector<int>;

/// The subject of a World, which has resource(), upstream() and traits.
template <class World>
class subject_of final : public subject {
    using tested = std::remove_reference_t<decltype(std::declval<World&>().resource())>;

public:
    void* allocate(std::size_t bytes, std::size_t alignment) override { return resource().allocate(bytes, alignment); }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept override {
        return resource().try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept override {
        resource().deallocate(p, bytes, alignment);
    }
    std::size_t bytes_given(std::size_t bytes, std::size_t alignment) const noexcept override {
        return acre::detail::bytes_given(constant(), bytes, alignment);
    }
    void give_null_back() noexcept override { acre_test::give_null_back(resource()); }

    std::optional<bool> owns(const void* p) const override {
        if constexpr (acre::owning_resource<tested>) return constant().owns(p);
        return (void)p, std::nullopt;
    }
    std::optional<std::size_t> capacity() const override {
        if constexpr (requires(const tested& r) { r.capacity(); }) return constant().capacity();
        return std::nullopt;
    }
    std::optional<std::size_t> used() const override {
        if constexpr (requires(const tested& r) { r.used(); }) return constant().used();
        return std::nullopt;
    }
    bool reset() override {
        if constexpr (acre::resettable_resource<tested>) {
            resource().reset();
            marks_.clear();
        }
        return acre::resettable_resource<tested>;
    }
    bool release() override {
        constexpr bool by_policy = requires(tested& r) { r.reset(acre::release); };
        constexpr bool by_name = requires(tested& r) { r.release(); };
        marks_.clear();
        if constexpr (by_name) {
            resource().release();
        } else if constexpr (by_policy) {
            resource().reset(acre::release);
        }
        return by_name || by_policy;
    }
    bool release_unused() override {
        constexpr bool has = requires(tested& r) { r.release_unused(); };
        if constexpr (has) resource().release_unused();
        return has;
    }
    bool deallocate_all() override {
        constexpr bool has = requires(tested& r) { r.deallocate_all(); };
        if constexpr (has) resource().deallocate_all();
        return has;
    }
    bool move_there_and_back() override {
        constexpr bool moves = std::is_move_constructible_v<tested> && std::is_move_assignable_v<tested>;
        if constexpr (moves) {
            tested elsewhere{std::move(resource())};
            void* p = resource().try_allocate(16, 8);
            resource().deallocate(p, 16, 8);
            resource() = std::move(elsewhere);
        }
        return moves;
    }
    bool resizes() const override { return acre::resizable_resource<tested>; }
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) override {
        if constexpr (acre::resizable_resource<tested>) return resource().try_resize(p, old_bytes, new_bytes);
        return (void)p, (void)old_bytes, (void)new_bytes, false;
    }
    std::optional<std::size_t> mark() override {
        if constexpr (rewindable<tested>) {
            marks_.push_back(resource().mark());
            return marks_.size() - 1;
        }
        return std::nullopt;
    }
    void rewind(std::size_t mark_number) override {
        if constexpr (rewindable<tested>) {
            resource().rewind(marks_.at(mark_number));
            marks_.resize(mark_number + 1);
        }
        (void)mark_number;
    }

    std::string description() const override {
        std::string text;
        acre::describe(constant(), [&text](std::string_view line) { text = line; });
        return text;
    }
    const char* broken_invariant() const override { return acre::broken_invariant(constant()); }
    checking_upstream* upstream() override { return world_.upstream(); }
    subject_traits traits() const override { return World::traits; }

private:
    tested& resource() noexcept { return world_.resource(); }
    const tested& constant() const noexcept { return const_cast<World&>(world_).resource(); }

    World world_;
    decltype(marks_of(std::declval<const tested&>())) marks_;
};

/// A resource of the suite: its name in the tests and how to make one.
struct subject_case {
    std::string name;
    std::function<std::unique_ptr<subject>()> make;
};

inline void PrintTo(const subject_case& printed, std::ostream* out) {
    *out << printed.name;
}

template <class World>
subject_case make_case(std::string name) {
    return {std::move(name), [] { return std::make_unique<subject_of<World>>(); }};
}

/// The subjects of each room, in a file each, so that they compile in parallel.
std::vector<subject_case> memory_subjects();
std::vector<subject_case> heap_subjects();
std::vector<subject_case> arena_subjects();
std::vector<subject_case> pool_subjects();
std::vector<subject_case> nested_subjects();
std::vector<subject_case> combine_subjects();
std::vector<subject_case> traced_subjects();
std::vector<subject_case> checked_subjects();

/// The subjects of all rooms.
std::vector<subject_case> all_subjects();

}  // namespace acre_test
