// Pools of one slot size each, for a trace of mixed sizes: what a program with a pool a type does.
#pragma once

#include <acre/pools/pool.hpp>
#include <cstddef>
#include <utility>

#include "metered_upstream.hpp"

namespace acre::tool {

/// A pool for each multiple of 16 bytes up to 512; larger requests go to upstream, as a pool's own do.
class pool_set {
public:
    explicit pool_set(metered_upstream& upstream) : upstream_{upstream}, pools_{upstream} {}

    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        if (!has_pool(bytes, alignment)) return upstream_.try_allocate(bytes, alignment);
        void* p = nullptr;
        with_pool(bytes, [&](auto& pool) { p = pool.try_allocate(); });
        return p;
    }

    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (!has_pool(bytes, alignment)) return upstream_.deallocate(p, bytes, alignment);
        with_pool(bytes, [&](auto& pool) { pool.deallocate(p); });
    }

private:
    static constexpr std::size_t step = 16;
    static constexpr std::size_t pools = 32;
    using pool_numbers = std::make_index_sequence<pools>;

    /// Makes a distinct base of each pool, so that the upstream can be handed to all of them.
    template <std::size_t Number>
    struct numbered {
        acre::pool<(Number + 1) * step> pool;
    };
    template <typename Numbers>
    struct all_pools;
    template <std::size_t... Number>
    struct all_pools<std::index_sequence<Number...>> : numbered<Number>... {
        explicit all_pools(metered_upstream& upstream)
            : numbered<Number>{acre::pool<(Number + 1) * step>{resource_ref{upstream}}}... {}
    };

    static bool has_pool(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= step * pools && alignment <= step;
    }

    /// The compiler makes a jump table of it.
    template <typename Use>
    [[gnu::always_inline]] void with_pool(std::size_t bytes, Use use) noexcept {
        const std::size_t wanted = bytes == 0 ? 0 : (bytes - 1) / step;
        [&]<std::size_t... Number>(std::index_sequence<Number...>) {
            (void)((wanted == Number && (use(static_cast<numbered<Number>&>(pools_).pool), true)) || ...);
        }(pool_numbers{});
    }

    metered_upstream& upstream_;
    all_pools<pool_numbers> pools_;
};

}  // namespace acre::tool
