// What Vulkan's hook refuses when it is compiled. Case 0 compiles.
#include <acre/adapt/hooks/vulkan.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/multi_pool.hpp>

VkAllocationCallbacks of_a_shared_resource(acre::concurrent_multi_pool& memory) {
    return acre::vulkan_callbacks(memory);
}

#if ACRE_TEST_CASE == 1
VkAllocationCallbacks of_a_resource_of_one_thread(acre::multi_pool& memory) {
    return acre::vulkan_callbacks(memory);
}
#endif
