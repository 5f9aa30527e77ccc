// Pools of one slot size each, alone or as a set for a trace of mixed sizes: what a program with a pool a type does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "metered_upstream.hpp"

namespace acre::tool {

/// Slots: constructed from (metered_upstream&), with take() and give(void*), for slots of `bytes` bytes. What they
/// cannot serve goes to upstream.
template <typename Slots>
class single_pool {
public:
    explicit single_pool(metered_upstream& upstream) : upstream_{upstream}, slots_{upstream} {}

    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        return serves(bytes, alignment) ? slots_.take() : upstream_.try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (serves(bytes, alignment)) return slots_.give(p);
        upstream_.deallocate(p, bytes, alignment);
    }

private:
    static bool serves(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= Slots::bytes && alignment <= malloc_alignment;
    }

    metered_upstream& upstream_;
    Slots slots_;
};

/// Slots of Family for each multiple of 16 bytes up to 512; what is larger goes to upstream, as a pool's own do.
template <template <std::size_t> class Slots>
class pool_set {
public:
    explicit pool_set(metered_upstream& upstream) : upstream_{upstream}, pools_{upstream} {}

    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        if (!has_pool(bytes, alignment)) return upstream_.try_allocate(bytes, alignment);
        void* p = nullptr;
        with_pool(bytes, [&](auto& pool) { p = pool.take(); });
        return p;
    }

    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (!has_pool(bytes, alignment)) return upstream_.deallocate(p, bytes, alignment);
        with_pool(bytes, [&](auto& pool) { pool.give(p); });
    }

private:
    static constexpr std::size_t step = 16;
    static constexpr std::size_t pools = 32;
    using pool_numbers = std::make_index_sequence<pools>;

    /// Makes a distinct base of each pool, so that the upstream can be handed to all of them.
    template <std::size_t Number>
    struct numbered {
        Slots<(Number + 1) * step> pool;
    };
    template <typename Numbers>
    struct all_pools;
    template <std::size_t... Number>
    struct all_pools<std::index_sequence<Number...>> : numbered<Number>... {
        explicit all_pools(metered_upstream& upstream) : numbered<Number>{Slots<(Number + 1) * step>{upstream}}... {}
    };

    static bool has_pool(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= step * pools && alignment <= step;
    }

    template <typename Use>
    [[gnu::always_inline]] void with_pool(std::size_t bytes, Use use) noexcept {
        with_pool_of<0, pools>(bytes == 0 ? 0 : (bytes - 1) / step, use);
    }

    /// Halves the pools until one is left: a few branches, of which a program of few sizes takes the same ones each
    /// time.
    template <std::size_t First, std::size_t Count, typename Use>
    [[gnu::always_inline]] void with_pool_of(std::size_t wanted, Use& use) noexcept {
        if constexpr (Count == 1) {
            use(static_cast<numbered<First>&>(pools_).pool);
        } else if (wanted < First + Count / 2) {
            with_pool_of<First, Count / 2>(wanted, use);
        } else {
            with_pool_of<First + Count / 2, Count - Count / 2>(wanted, use);
        }
    }

    metered_upstream& upstream_;
    all_pools<pool_numbers> pools_;
};

}  // namespace acre::tool
