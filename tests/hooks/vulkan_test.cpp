// Vulkan's callbacks: what the specification asks of them, and a real driver on them where one is installed.
#include <gtest/gtest.h>

#include <vulkan/vulkan.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif
#include <acre/adapt/hooks/vulkan.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "conformance/checking_upstream.hpp"

namespace {

constexpr VkSystemAllocationScope scopes[] = {VK_SYSTEM_ALLOCATION_SCOPE_COMMAND, VK_SYSTEM_ALLOCATION_SCOPE_OBJECT,
                                              VK_SYSTEM_ALLOCATION_SCOPE_CACHE, VK_SYSTEM_ALLOCATION_SCOPE_DEVICE,
                                              VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE};

void* take(const VkAllocationCallbacks& calls, std::size_t bytes, std::size_t alignment,
           VkSystemAllocationScope scope = VK_SYSTEM_ALLOCATION_SCOPE_OBJECT) {
    return calls.pfnAllocation(calls.pUserData, bytes, alignment, scope);
}
void* resize(const VkAllocationCallbacks& calls, void* p, std::size_t bytes) {
    return calls.pfnReallocation(calls.pUserData, p, bytes, 16, VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
}
void give_back(const VkAllocationCallbacks& calls, void* p) {
    calls.pfnFree(calls.pUserData, p);
}

TEST(vulkan_memory, serves_each_scope_and_alignment) {
    acre::vulkan_memory memory;
    const VkAllocationCallbacks& calls = *memory.callbacks();
    std::vector<void*> blocks;
    for (const auto scope : scopes) {
        for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
            void* p = take(calls, 100, alignment, scope);
            ASSERT_NE(p, nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignment, 0u);
            std::memset(p, 0x5A, 100);
            blocks.push_back(p);
        }
    }
    EXPECT_GT(memory.commands().busy_arenas(), 0u);
    std::thread{[&] {
        for (void* p : blocks) give_back(calls, p);
    }}.join();
    EXPECT_EQ(memory.commands().busy_arenas(), 0u);
    EXPECT_EQ(memory.objects().live(), 0u);
    give_back(calls, nullptr);
}

TEST(vulkan_memory, a_command_that_fits_no_arena_comes_from_the_pools) {
    acre::vulkan_memory memory{{.command_arenas = 2, .command_bytes = 1024}};
    const VkAllocationCallbacks& calls = *memory.callbacks();
    void* large = take(calls, 100'000, 8, VK_SYSTEM_ALLOCATION_SCOPE_COMMAND);
    ASSERT_NE(large, nullptr);
    EXPECT_EQ(memory.commands().busy_arenas(), 0u);
    give_back(calls, large);
    EXPECT_EQ(memory.objects().live(), 0u);
}

TEST(vulkan_memory, reallocates_as_the_specification_says) {
    acre::vulkan_memory memory;
    const VkAllocationCallbacks& calls = *memory.callbacks();
    auto* p = static_cast<char*>(resize(calls, nullptr, 64));
    std::strcpy(p, "kept");
    p = static_cast<char*>(resize(calls, p, 10'000));
    EXPECT_STREQ(p, "kept");
    p = static_cast<char*>(resize(calls, p, 5));
    EXPECT_STREQ(p, "kept");
    EXPECT_EQ(resize(calls, p, 0), nullptr) << "zero bytes free the block";
    EXPECT_EQ(memory.objects().live(), 0u);
    EXPECT_EQ(take(calls, 10, 3), nullptr);
    EXPECT_EQ(take(calls, SIZE_MAX, 16), nullptr);
}

TEST(vulkan_memory, without_memory_a_block_stays_as_it_was) {
    acre_test::checking_upstream below;
    acre::vulkan_memory memory{{.command_arenas = 2, .command_bytes = 1024}, below};
    const VkAllocationCallbacks& calls = *memory.callbacks();
    void* p = take(calls, 100, 16);
    below.fail_from(1);
    EXPECT_EQ(resize(calls, p, 100'000), nullptr);
    EXPECT_EQ(take(calls, 100'000, 16), nullptr);
    give_back(calls, p);
}

TEST(vulkan_memory_death, misuse_aborts_with_a_sentence) {
    acre::concurrent_multi_pool pool;
    const VkAllocationCallbacks calls = acre::vulkan_callbacks(pool);
    alignas(16) char foreign[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    EXPECT_DEATH(give_back(calls, foreign + 16), "another resource");
}

// The loader and a driver create and destroy objects of all scopes. False where there is no driver.
enum class outcome { done, no_driver, no_memory, other };
outcome of(VkResult result) {
    if (result == VK_SUCCESS) return outcome::done;
    return result == VK_ERROR_OUT_OF_HOST_MEMORY ? outcome::no_memory : outcome::other;
}

outcome use_device(VkPhysicalDevice physical, const VkAllocationCallbacks* calls) {
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    VkDevice device;
    if (const outcome made = of(vkCreateDevice(physical, &info, calls, &device)); made != outcome::done) return made;
    outcome worst = outcome::done;
    for (int i = 0; i < 20; ++i) {
        VkBufferCreateInfo buffer_info{};
        buffer_info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
        buffer_info.size = 1024;
        buffer_info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
        VkBuffer buffer;
        const outcome made = of(vkCreateBuffer(device, &buffer_info, calls, &buffer));
        if (made == outcome::done) vkDestroyBuffer(device, buffer, calls);
        if (made != outcome::done) worst = made;
        VkCommandPoolCreateInfo pool_info{};
        pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        VkCommandPool pool;
        if (const outcome pooled = of(vkCreateCommandPool(device, &pool_info, calls, &pool)); pooled != outcome::done) {
            worst = pooled;
            continue;
        }
        VkCommandBufferAllocateInfo commands_info{};
        commands_info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        commands_info.commandPool = pool;
        commands_info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        commands_info.commandBufferCount = 1;
        VkCommandBuffer commands;
        const outcome allocated = of(vkAllocateCommandBuffers(device, &commands_info, &commands));
        if (allocated != outcome::done) worst = allocated;
        vkDestroyCommandPool(device, pool, calls);
    }
    vkDestroyDevice(device, calls);
    return worst;
}

outcome use_driver(const VkAllocationCallbacks* calls) {
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    VkInstance instance;
    const VkResult created = vkCreateInstance(&info, calls, &instance);
    if (created == VK_ERROR_INCOMPATIBLE_DRIVER) return outcome::no_driver;
    if (created != VK_SUCCESS) return of(created);
    std::uint32_t count = 1;
    VkPhysicalDevice physical;
    const VkResult listed = vkEnumeratePhysicalDevices(instance, &count, &physical);
    outcome result = outcome::no_driver;
    if (listed == VK_ERROR_OUT_OF_HOST_MEMORY) result = outcome::no_memory;
    if (listed >= 0 && count == 1) result = use_device(physical, calls);
    vkDestroyInstance(instance, calls);
    return result;
}

TEST(vulkan_memory, a_driver_works_on_it_and_gives_all_back) {
#if defined(__SANITIZE_ADDRESS__)
    // What the driver leaks of malloc's own is no fault of the callbacks.
    const __lsan::ScopedDisabler ignored;
#endif
    acre::vulkan_memory memory;
    const outcome result = use_driver(memory.callbacks());
    EXPECT_EQ(memory.objects().live(), 0u);
    EXPECT_EQ(memory.commands().busy_arenas(), 0u);
    if (result == outcome::no_driver) GTEST_SKIP() << "no Vulkan driver is installed: apt install mesa-vulkan-drivers";
    EXPECT_EQ(result, outcome::done);
}

// A resource that threads share, whose request number `failing` finds no memory.
struct failing_pool {
    static constexpr bool shared_by_threads = true;
    acre::concurrent_multi_pool below;
    std::size_t failing = 0;
    std::atomic<std::size_t> requests = 0;

    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        return ++requests == failing ? nullptr : below.try_allocate(bytes, alignment);
    }
    void* allocate(std::size_t bytes, std::size_t alignment) { return below.allocate(bytes, alignment); }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        below.deallocate(p, bytes, alignment);
    }
};

// The steps grow, because the driver takes long to start under a sanitizer.
TEST(vulkan_memory, a_driver_comes_through_failed_requests) {
#if defined(__SANITIZE_ADDRESS__)
    const __lsan::ScopedDisabler ignored;
#endif
    for (std::size_t failing = 1;; failing += failing / 2 + 1) {
        failing_pool memory;
        memory.failing = failing;
        const VkAllocationCallbacks calls = acre::vulkan_callbacks(memory);
        if (use_driver(&calls) == outcome::no_driver && failing == 1) GTEST_SKIP() << "no Vulkan driver is installed";
        EXPECT_EQ(memory.below.live(), 0u) << "when request " << failing << " failed";
        if (memory.requests < failing) break;
    }
}

}  // namespace
