// A handle that owns a resource and can be moved, for resources that cannot: acre::arena, acre::multi_arena and the
// types for threads.
//
// Use it to return such a resource from a function, or to keep it in a std::vector or in a class that moves. The
// resource itself stays where it is, so containers, allocators and scratches that point to it stay good. Made of the
// handle they refer to the resource, *handle, too. A handle is no acre::resource: none is a template argument of
// acre::allocator. Use the resource itself where it never moves.
//
// The handle has the resource's members. Using one that was moved from aborts with a sentence.
//
// Cost: the resource lies in the heap, or in the upstream that is given to it; a call loads its address and compares it
// with null. Three words. Thread rules: those of the resource; a move must not race with calls.
//
//     using namespace acre::literals;
//     acre::unique_resource<acre::arena> load_level() {
//         acre::unique_resource<acre::arena> level{{.first_block_bytes = 64_KiB}};
//         level.create<Orc>("URG");
//         return level;
//     }
//     acre::unique_resource<acre::arena> level = load_level();
//     acre::scratch temp{level};
#pragma once

#include <acre/core/detail/construct.hpp>
#include <acre/core/detail/forwarding.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <concepts>
#include <type_traits>
#include <utility>

namespace acre {

/// The owner of an R, which stays where it is while the owner moves.
template <resource R>
class unique_resource : public detail::forwarded_queries<unique_resource<R>, R>,
                        public detail::has_options<R>,
                        public detail::has_values<R>,
                        public detail::has_slots<R> {
    friend detail::forwarded_requests<unique_resource, R>;

public:
    /// Says that this is a handle and no resource: allocators and wrappers take what it refers to.
    using handle_of = R;
    static constexpr const char* name = "acre::unique_resource";

    /// R without arguments, in the heap. Throws out_of_memory.
    unique_resource()
        requires std::default_initializable<R>
        : unique_resource(made_in{heap{}}) {}
    /// R is constructed from `arguments`, in the heap.
    template <class First, class... Rest>
        requires std::is_constructible_v<R, First, Rest...> &&
                 (!std::derived_from<std::remove_cvref_t<First>, unique_resource>)
    explicit unique_resource(First&& first, Rest&&... rest)
        : unique_resource(made_in{heap{}}, std::forward<First>(first), std::forward<Rest>(rest)...) {}
    /// R is constructed from its options, in storage of its upstream: unique_resource<R> r{{.name = value}}.
    explicit unique_resource(const detail::options_of<R>& chosen, resource_ref upstream = heap{})
        requires std::is_constructible_v<R, const detail::options_of<R>&, resource_ref>
        : unique_resource(made_in{upstream}, chosen, upstream) {}

    unique_resource(const unique_resource&) = delete;  // acre: a handle is not copied: move it, or refer to *handle
    /// Takes over the R of `other`, which is left without one.
    unique_resource(unique_resource&& other) noexcept
        : where_(other.where_), owned_(std::exchange(other.owned_, nullptr)) {}
    /// As above; the R owned before ends.
    unique_resource& operator=(unique_resource&& other) noexcept {
        if (this == &other) return *this;
        end();
        where_ = other.where_;
        owned_ = std::exchange(other.owned_, nullptr);
        return *this;
    }
    ~unique_resource() { end(); }

    /// False after a move from it, and without exceptions when there was no memory.
    explicit operator bool() const noexcept { return owned_ != nullptr; }

    /// The resource. Aborts after a move from the handle.
    R& operator*() const noexcept { return owned(); }
    R* operator->() const noexcept { return &owned(); }

    /// R's mark, for rewind().
    auto mark() const
        requires requires(const R& r) { r.mark(); }
    {
        return owned().mark();
    }
    template <class Mark>
        requires requires(R& r, const Mark& where) { r.rewind(where); }
    void rewind(const Mark& where) noexcept {
        owned().rewind(where);
    }

private:
    struct made_in {
        resource_ref where;
    };

    template <class... Arguments>
    explicit unique_resource(made_in storage, Arguments&&... arguments)
        : where_(storage.where), owned_(make(storage.where, std::forward<Arguments>(arguments)...)) {}

    template <class... Arguments>
    static R* make(resource_ref where, Arguments&&... arguments) {
        void* storage = where.allocate(sizeof(R), alignof(R));
        return detail::construct_at_or<R>(
            storage, [&]() noexcept { where.deallocate(storage, sizeof(R), alignof(R)); },
            std::forward<Arguments>(arguments)...);
    }

    void end() noexcept {
        if (owned_ == nullptr) return;
        detail::destroy_at(owned_);
        where_.deallocate(owned_, sizeof(R), alignof(R));
    }

    R& owned() const noexcept {
        if (owned_ == nullptr) [[unlikely]]
            abort_on_misuse(name, "used after it was moved from, or without memory for its resource", this);
        return *owned_;
    }

    template <class Call, class Function>
    auto around(const Call&, Function&& function) const {
        return std::forward<Function>(function)(owned());
    }

    resource_ref where_;
    R* owned_;
};

}  // namespace acre
