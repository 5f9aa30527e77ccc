// Worlds: a resource with its upstreams, for the suite and for the tests of the rooms.
#pragma once

#include <acre/adapt/pmr.hpp>
#include <acre/core/alignment.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/memory/no_memory.hpp>
#include <cstddef>
#include <memory_resource>
#include <new>
#include <span>
#include <type_traits>

#include "conformance/checking_upstream.hpp"
#include "conformance/subject.hpp"

namespace acre_test {

/// Zeroed storage aligned to a page, outside every resource.
class raw_storage {
public:
    explicit raw_storage(std::size_t bytes, std::size_t alignment = 4096)
        : bytes_(bytes), alignment_(alignment), p_(::operator new(bytes, std::align_val_t{alignment})) {
        std::memset(p_, 0, bytes);
    }
    raw_storage(const raw_storage&) = delete;
    raw_storage& operator=(const raw_storage&) = delete;
    ~raw_storage() { ::operator delete(p_, std::align_val_t{alignment_}); }

    std::span<std::byte> span() const noexcept { return {static_cast<std::byte*>(p_), bytes_}; }

private:
    std::size_t bytes_;
    std::size_t alignment_;
    void* p_;
};

/// A resource without an upstream, or with its default one.
template <class R, subject_traits Traits = {}>
struct alone {
    static constexpr subject_traits traits = Traits;
    R tested{};
    R& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

/// A resource over the checking upstream.
template <class R>
struct over_checking {
    static constexpr subject_traits traits{.direct = true};
    checking_upstream below;
    R tested{below};
    R& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return &below; }
};

/// The same with options.
template <class R, auto Options, subject_traits Traits = subject_traits{.direct = true}>
struct over_checking_with {
    static constexpr subject_traits traits = Traits;
    checking_upstream below;
    R tested{Options, below};
    R& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return &below; }
};

/// A resource over the checking upstream as a std::pmr::memory_resource.
template <class R, subject_traits Traits = subject_traits{.can_fail = acre::exceptions_enabled}>
struct over_pmr {
    static constexpr subject_traits traits = Traits;
    checking_upstream below;
    acre::pmr<checking_upstream&> face{below};
    R tested{&face};
    R& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return &below; }
};

/// A resource over a buffer of `Bytes` bytes.
template <class R, std::size_t Bytes>
struct over_buffer {
    static constexpr subject_traits traits{.bounded = true};
    raw_storage storage{Bytes};
    acre::buffer below{storage.span()};
    R tested{below};
    R& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

/// A resource over another one, which is over the checking upstream.
template <class R, class Below>
struct over_resource {
    // An arena that is refused a block takes smaller ones, which the pool below may still have.
    static constexpr subject_traits traits{.falls_back = std::is_same_v<R, acre::arena>};
    checking_upstream deepest;
    Below below{deepest};
    R tested{acre::resource_ref{below}};
    R& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return &deepest; }
};

}  // namespace acre_test
