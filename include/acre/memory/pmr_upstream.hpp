// A std::pmr::memory_resource as a resource of acre, by type. Everything in acre that takes an upstream takes a
// memory_resource* directly; use this where a resource is a template argument: acre::statistics<acre::pmr_upstream>.
//
// Cost: one virtual call. Thread rules: those of the memory resource, which must live longer.
//
//     acre::statistics<acre::pmr_upstream> counted{std::pmr::get_default_resource()};
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <cstddef>
#include <memory_resource>

namespace acre {

/// Refers to a standard memory resource.
class pmr_upstream {
public:
    static constexpr const char* name = "acre::pmr_upstream";

    /// Throws bad_option for null.
    explicit pmr_upstream(std::pmr::memory_resource* referred) : referred_(referred) {}

    /// What the memory resource gives; throws what it throws, request_too_large or bad_alignment.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        return referred_.allocate(bytes, alignment);
    }

    /// As allocate, but null when it cannot.
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        return referred_.try_allocate(bytes, alignment);
    }

    /// Gives back what allocate gave; null is a no-op.
    void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        referred_.deallocate(p, bytes, alignment);
    }

    friend bool operator==(const pmr_upstream&, const pmr_upstream&) noexcept = default;

private:
    resource_ref referred_;
};

static_assert(resource<pmr_upstream>);

}  // namespace acre
