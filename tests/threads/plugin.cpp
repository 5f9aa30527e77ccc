// Hazard Y17: what plugin_host.cpp loads, uses and unloads.
#include "plugin_types.hpp"

namespace {
struct plugin {
    static constexpr int ints = 30;
};
}  // namespace

extern "C" {
[[gnu::visibility("default")]] acre::concurrent_pool<64>* use_in_plugin() {
    plugin_types::use_all<plugin>();
    auto* pool = new acre::concurrent_pool<64>;
    plugin_types::use(*pool);
    return pool;
}
[[gnu::visibility("default")]] void end_in_plugin(acre::concurrent_pool<64>* pool) {
    delete pool;
}
}
