// Any resource as a boost::container::pmr::memory_resource, for Boost.Container's pmr containers and Boost.JSON.
//
// As acre::pmr for the standard's: boost_pmr<R> holds its resource, boost_pmr<R&> refers to one that lives longer.
// operator-> reaches the resource's own interface. Use acre::allocator where the container's type may name the
// resource: its calls are inline. Cost: a virtual call, and that of the resource; blocks are aligned to
// 16 bytes, except in arenas. Thread rules: those of the resource.
// Two are equal only when they are the same object, so create one for each resource.
//
//     #include <boost/container/pmr/vector.hpp>
//     acre::arena request;
//     acre::boost_pmr memory{request};
//     boost::container::pmr::vector<int> numbers{&memory};
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <boost/container/pmr/memory_resource.hpp>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace acre {

/// A memory_resource of Boost's that holds an R, or refers to one when R is a reference.
template <class R>
    requires resource<std::remove_reference_t<R>>
class boost_pmr final : public boost::container::pmr::memory_resource {
    using held = std::remove_reference_t<R>;

public:
    /// Constructs the resource from `arguments`; boost_pmr<R&> takes the resource to refer to.
    template <class... Arguments>
        requires std::is_constructible_v<R, Arguments...>
    explicit boost_pmr(Arguments&&... arguments) : resource_(std::forward<Arguments>(arguments)...) {}

    boost_pmr(const boost_pmr&) = delete;
    boost_pmr& operator=(const boost_pmr&) = delete;

    /// The resource.
    held& get() noexcept { return resource_; }
    const held& get() const noexcept { return resource_; }
    held* operator->() noexcept { return detail::address_of(resource_); }
    const held* operator->() const noexcept { return detail::address_of(resource_); }
    held& operator*() noexcept { return resource_; }
    const held& operator*() const noexcept { return resource_; }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        void* p = resource_.allocate(bytes, served(alignment));
        // Boost's interface never returns null.
        if (!exceptions_enabled && p == nullptr)
            abort_on_misuse("acre::boost_pmr", detail::mistake::out_of_memory, this);
        return p;
    }
    void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
        resource_.deallocate(p, bytes, served(alignment));
    }
    bool do_is_equal(const boost::container::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    // Boost.JSON 1.81 allocates keys with an alignment of 1 and frees some with the default one, so both are the same
    // here; an arena needs no alignment when it frees.
    static constexpr std::size_t served(std::size_t alignment) noexcept {
        return alignment < default_alignment && !std::is_base_of_v<arena, held> ? default_alignment : alignment;
    }

    R resource_;
};

template <class R>
boost_pmr(R&) -> boost_pmr<R&>;

}  // namespace acre
