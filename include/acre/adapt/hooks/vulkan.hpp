// Vulkan's host memory: VkAllocationCallbacks over acre's resources.
//
// acre::vulkan_memory serves Vulkan's scopes: allocations of the scope COMMAND, which end with the command, come from a
// few arenas that are reused when their count of live allocations reaches zero (acre::concurrent_multi_arena); all
// others, and those that fit no arena, come from pools (acre::concurrent_multi_pool). acre::vulkan_callbacks(r) serves
// all scopes from one resource that threads share.
//
// Vulkan does not say the size or scope of what it frees, so that each block has 16 bytes in front, or as many as its
// alignment. Null where there is no memory: Vulkan returns VK_ERROR_OUT_OF_HOST_MEMORY. An object is destroyed with the
// callbacks that it was created with. Cost: that of the resource and about 10 instructions. Thread rules: any thread;
// the memory outlives all objects.
//
//     #include <vulkan/vulkan.h>
//     acre::vulkan_memory memory;
//     VkInstanceCreateInfo info{};
//     info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
//     VkInstance instance;
//     vkCreateInstance(&info, memory.callbacks(), &instance);
//     vkDestroyInstance(instance, memory.callbacks());
#pragma once

#include <vulkan/vulkan_core.h>
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/literals.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace acre {

namespace detail {

/// Vulkan's functions over a Memory. Serve says which of its resources serves a request of a scope, as a number:
///   static void* try_allocate(Memory&, bytes, alignment, scope, std::uint32_t& origin) noexcept
///   static void deallocate(Memory&, p, bytes, alignment, origin) noexcept
template <class Memory, class Serve>
struct vulkan_functions {
    static VkAllocationCallbacks over(Memory& memory) noexcept {
        return {&memory, &allocate, &reallocate, &free, nullptr, nullptr};
    }

private:
    struct header {
        std::size_t bytes;     // in front and behind it
        std::uint32_t origin;  // which resource of the memory, and live_mark
        std::uint32_t front;   // bytes in front of the block, and the alignment
    };
    static constexpr std::size_t header_bytes = 16;
    static_assert(sizeof(header) <= header_bytes);
    static constexpr std::uint32_t live_mark = 0xac3e'0000;
    static constexpr std::uint32_t mark_bits = 0xffff'0000;
    static constexpr std::size_t max_alignment = std::size_t{1} << 30;

    static header* header_of(void* p) noexcept { return static_cast<header*>(p) - 1; }

    static VKAPI_ATTR void* VKAPI_CALL allocate(void* memory, std::size_t bytes, std::size_t alignment,
                                                VkSystemAllocationScope scope) noexcept {
        if (bytes == 0 || !is_alignment(alignment) || alignment > max_alignment) return nullptr;
        const std::size_t front = alignment < header_bytes ? header_bytes : alignment;
        if (bytes > max_request - front) return nullptr;
        std::uint32_t origin = 0;
        void* start = Serve::try_allocate(*static_cast<Memory*>(memory), bytes + front, front, scope, origin);
        if (start == nullptr) return nullptr;
        void* p = static_cast<std::byte*>(start) + front;
        *header_of(p) = {bytes + front, live_mark | origin, static_cast<std::uint32_t>(front)};
        return p;
    }

    static VKAPI_ATTR void* VKAPI_CALL reallocate(void* memory, void* p, std::size_t bytes, std::size_t alignment,
                                                  VkSystemAllocationScope scope) noexcept {
        if (p == nullptr) return allocate(memory, bytes, alignment, scope);
        if (bytes == 0) return free(memory, p), nullptr;
        const header block = checked(p);
        const std::size_t before = block.bytes - block.front;
        // A block that shrinks by less than half stays.
        if (bytes <= before && bytes >= before / 2) return p;
        void* moved = allocate(memory, bytes, alignment, scope);
        if (moved == nullptr) return nullptr;
        std::memcpy(moved, p, bytes < before ? bytes : before);
        free(memory, p);
        return moved;
    }

    static VKAPI_ATTR void VKAPI_CALL free(void* memory, void* p) noexcept {
        if (p == nullptr) return;
        const header block = checked(p);
        header_of(p)->origin = 0;
        Serve::deallocate(*static_cast<Memory*>(memory), static_cast<std::byte*>(p) - block.front, block.bytes,
                          block.front, block.origin & ~mark_bits);
    }

    static header checked(void* p) noexcept {
        const header block = *header_of(p);
        if ((block.origin & mark_bits) != live_mark) [[unlikely]]
            refuse(p, block.origin == 0 ? mistake::double_free : mistake::foreign_pointer);
        return block;
    }
    [[noreturn, gnu::noinline, gnu::cold]] static void refuse(const void* p, const char* what) noexcept {
        abort_on_misuse("acre::vulkan_memory", what, p);
    }
};

/// One resource for all scopes.
struct vulkan_all_scopes {
    template <class R>
    static void* try_allocate(R& from, std::size_t bytes, std::size_t alignment, VkSystemAllocationScope,
                              std::uint32_t&) noexcept {
        return from.try_allocate(bytes, alignment);
    }
    template <class R>
    static void deallocate(R& to, void* p, std::size_t bytes, std::size_t alignment, std::uint32_t) noexcept {
        to.deallocate(p, bytes, alignment);
    }
};

}  // namespace detail

/// The arenas and pools of an acre::vulkan_memory.
struct vulkan_memory_options {
    std::size_t command_arenas = 16;        // for what ends with its command
    std::size_t command_bytes = 16 * 1024;  // of each of these arenas; all are taken at construction
    std::size_t limit_bytes = SIZE_MAX;     // of the pools
};

/// Memory for Vulkan's objects: arenas for the scope COMMAND, pools for the others.
class vulkan_memory {
    // Commands in arenas, all else in pools.
    struct by_scope {
        static void* try_allocate(vulkan_memory& from, std::size_t bytes, std::size_t alignment,
                                  VkSystemAllocationScope scope, std::uint32_t& origin) noexcept {
            if (scope == VK_SYSTEM_ALLOCATION_SCOPE_COMMAND) {
                origin = from_commands;
                if (void* p = from.commands_.try_allocate(bytes, alignment)) return p;
            }
            origin = from_objects;
            return from.objects_.try_allocate(bytes, alignment);
        }
        static void deallocate(vulkan_memory& to, void* p, std::size_t bytes, std::size_t alignment,
                               std::uint32_t origin) noexcept {
            if (origin == from_commands) return to.commands_.deallocate(p, bytes, alignment);
            to.objects_.deallocate(p, bytes, alignment);
        }
    };
    static constexpr std::uint32_t from_objects = 0;
    static constexpr std::uint32_t from_commands = 1;

public:
    /// Takes the arenas' memory. Throws bad_option and what upstream throws. Threads may use `upstream` of the arenas
    /// only here and at the end, and that of the pools one at a time.
    vulkan_memory() : vulkan_memory(vulkan_memory_options{}) {}
    explicit vulkan_memory(const vulkan_memory_options& options, resource_ref upstream = heap{})
        : commands_({.arenas = options.command_arenas, .bytes = options.command_bytes}, upstream),
          objects_({.limit_bytes = options.limit_bytes}, upstream),
          callbacks_(detail::vulkan_functions<vulkan_memory, by_scope>::over(*this)) {}
    vulkan_memory(const vulkan_memory&) = delete;
    vulkan_memory& operator=(const vulkan_memory&) = delete;

    /// What vkCreate..., vkAllocate... and vkDestroy... take.
    const VkAllocationCallbacks* callbacks() const noexcept { return &callbacks_; }

    /// Where allocations of the scope COMMAND come from.
    const concurrent_multi_arena& commands() const noexcept { return commands_; }
    /// Where all others come from.
    concurrent_multi_pool& objects() noexcept { return objects_; }

private:
    concurrent_multi_arena commands_;
    concurrent_multi_pool objects_;
    VkAllocationCallbacks callbacks_;
};

/// Callbacks that serve all scopes from `shared`, which must outlive all objects.
template <resource R>
VkAllocationCallbacks vulkan_callbacks(R& shared) noexcept {
    static_assert(
        shared_resource<R>,
        "acre: Vulkan calls from any thread: use acre::vulkan_callbacks over a resource that threads share, such as "
        "acre::concurrent_multi_pool or acre::synchronized<...>");
    return detail::vulkan_functions<R, detail::vulkan_all_scopes>::over(shared);
}

}  // namespace acre
