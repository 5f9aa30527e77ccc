#include <vulkan/vulkan.h>
#include <acre/adapt/hooks/vulkan.hpp>
#include <cstdio>

int main() {
    acre::vulkan_memory memory;  // outlives all of Vulkan's objects
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    VkInstance instance;
    if (vkCreateInstance(&info, memory.callbacks(), &instance) != VK_SUCCESS) {
        std::puts("no Vulkan driver is installed");
        return 0;
    }
    std::printf("the instance has %zu allocations\n", memory.objects().live());
    vkDestroyInstance(instance, memory.callbacks());
    std::printf("%zu are left\n", memory.objects().live());
}
