// The floor: memory that costs nothing, so that only the loop around it remains. Not usable for anything else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <utility>

#include "../seeds/camera.hpp"

namespace bench {

/// Storage for each of a camera's images, chosen in advance and used in rotation. With one location an image, the new
/// image overwrites the old one that was just read and is in the nearest cache. No allocator can do that for images of
/// changing sizes, so this is the strict floor. With two locations it does not happen.
template <std::size_t SlotBytes, std::size_t Turns = 1>
class costless_resource final : public std::pmr::memory_resource {
private:
    void* do_allocate(std::size_t, std::size_t) override {
        if constexpr (Turns == 1) return slots_[image_at_hand].bytes;
        return slots_[image_at_hand * Turns + turns_[image_at_hand]++ % Turns].bytes;
    }
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

    struct alignas(64) slot {
        std::byte bytes[SlotBytes];
    };
    std::unique_ptr<slot[]> slots_{new slot[camera_images * Turns]};
    std::array<std::uint8_t, camera_images> turns_{};
};

/// Ascending memory without a limit check.
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
