// The resources of include/acre/memory.
#include <acre/core/resource_ref.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/memory/no_memory.hpp>
#include <acre/memory/pmr_upstream.hpp>
#include <acre/memory/virtual_memory.hpp>
#include <memory_resource>

#include "conformance/worlds.hpp"

namespace acre_test {
namespace {

constexpr subject_traits bounded{.bounded = true};

struct whole_buffer {
    static constexpr subject_traits traits = bounded;
    raw_storage storage{1 << 20};
    acre::buffer tested{storage.span()};
    acre::buffer& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

// A buffer's storage need not be aligned.
struct odd_buffer {
    static constexpr subject_traits traits = bounded;
    raw_storage storage{1 << 16};
    acre::buffer tested{storage.span().subspan(3, 50'001)};
    acre::buffer& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

struct empty_buffer {
    static constexpr subject_traits traits{.bounded = true, .refuses_all = true};
    acre::buffer tested{std::span<std::byte>{}};
    acre::buffer& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

struct upstream_of_std {
    static constexpr subject_traits traits{.std_pmr = true};
    acre::pmr_upstream tested{std::pmr::new_delete_resource()};
    acre::pmr_upstream& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

struct upstream_of_std_pool {
    static constexpr subject_traits traits{.std_pmr = true};
    std::pmr::unsynchronized_pool_resource below;
    acre::pmr_upstream tested{&below};
    acre::pmr_upstream& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

struct reference_to_std {
    static constexpr subject_traits traits{.std_pmr = true};
    acre::resource_ref tested{std::pmr::new_delete_resource()};
    acre::resource_ref& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

struct reference_to_heap {
    static constexpr subject_traits traits{};
    acre::resource_ref tested{acre::heap{}};
    acre::resource_ref& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

template <acre::virtual_memory_options Options>
struct pages_with {
    static constexpr subject_traits traits = bounded;
    acre::virtual_memory tested{Options};
    acre::virtual_memory& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

}  // namespace

std::vector<subject_case> memory_subjects() {
    using acre::virtual_memory_options;
    constexpr std::size_t few = std::size_t{1} << 26;
    return {
        make_case<alone<acre::heap>>("heap"),
        make_case<whole_buffer>("buffer"),
        make_case<odd_buffer>("buffer_misaligned"),
        make_case<empty_buffer>("buffer_empty"),
        make_case<alone<acre::inline_buffer<65536, 64>, bounded>>("inline_buffer"),
        make_case<alone<acre::no_memory, subject_traits{.bounded = true, .refuses_all = true}>>("no_memory"),
        make_case<upstream_of_std>("pmr_upstream_new_delete"),
        make_case<upstream_of_std_pool>("pmr_upstream_pool"),
        make_case<over_pmr<acre::pmr_upstream, subject_traits{.std_pmr = true, .can_fail = acre::exceptions_enabled}>>(
            "pmr_upstream_checking"),
        make_case<pages_with<virtual_memory_options{}>>("virtual_memory"),
        make_case<pages_with<virtual_memory_options{.reserve_bytes = few, .keep_bytes = 0, .guard_pages = 1}>>(
            "virtual_memory_guarded"),
        make_case<pages_with<virtual_memory_options{
            .reserve_bytes = few, .huge = acre::huge_pages::transparent, .if_possible = true}>>("virtual_memory_huge"),
        make_case<reference_to_heap>("resource_ref_heap"),
        make_case<reference_to_std>("resource_ref_new_delete"),
    };
}

}  // namespace acre_test
