// A std::pmr::memory_resource as a resource type of acre.
//
// Use it where a resource is a template argument: acre::statistics<acre::pmr_upstream>. An upstream argument takes a
// memory_resource* directly.
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

    /// Storage of the memory resource. Throws out_of_memory, request_too_large, bad_alignment, or other errors of it.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        return referred_.allocate(bytes, alignment);
    }

    /// As allocate, but null when it cannot.
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        return referred_.try_allocate(bytes, alignment);
    }

    /// Takes back what allocate gave; null is a no-op.
    void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        referred_.deallocate(p, bytes, alignment);
    }

    friend bool operator==(const pmr_upstream&, const pmr_upstream&) noexcept = default;

private:
    resource_ref referred_;
};

static_assert(resource<pmr_upstream>);

}  // namespace acre
