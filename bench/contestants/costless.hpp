// The floor: memory that costs nothing, so that what is left is the loop around it. Wrong for any other use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <utility>

#include "../seeds/camera.hpp"

namespace bench {

/// Places for each of a camera's images, chosen beforehand and used in turns. One is the strict floor: the new image
/// lies where the old one was read a moment ago, in the nearest cache, which no allocator can do for images of other
/// sizes. With two it does not.
template <std::size_t PlaceBytes, std::size_t Turns = 1>
class costless_resource final : public std::pmr::memory_resource {
private:
    void* do_allocate(std::size_t, std::size_t) override {
        if constexpr (Turns == 1) return places_[image_at_hand].bytes;
        return places_[image_at_hand * Turns + turns_[image_at_hand]++ % Turns].bytes;
    }
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

    struct alignas(64) place {
        std::byte bytes[PlaceBytes];
    };
    std::unique_ptr<place[]> places_{new place[camera_images * Turns]};
    std::array<std::uint8_t, camera_images> turns_{};
};

/// Memory in order, as if there were no end.
class costless_arena {
public:
    void* allocate(std::size_t bytes) noexcept { return std::exchange(at_, at_ + bytes); }
    void reset() noexcept { at_ = memory_.get(); }

private:
    // As much as the largest workload here uses.
    std::unique_ptr<std::byte[]> memory_{new std::byte[std::size_t{4} << 20]};
    std::byte* at_ = memory_.get();
};

template <class T>
struct costless_allocator {
    using value_type = T;

    explicit costless_allocator(costless_arena& arena) noexcept : from{&arena} {}
    template <class U>
    explicit(false) costless_allocator(const costless_allocator<U>& other) noexcept : from{other.from} {}

    T* allocate(std::size_t n) noexcept { return static_cast<T*>(from->allocate(n * sizeof(T))); }
    void deallocate(T*, std::size_t) noexcept {}
    bool operator==(const costless_allocator&) const noexcept = default;

    costless_arena* from;
};

/// A scope whose memory costs nothing.
struct costless_source {
    template <class Function>
    void scoped(const Function& function) {
        function(costless_allocator<std::byte>{arena});
        arena.reset();
    }
    costless_arena arena;
};

}  // namespace bench
