// A module of the tests: allocates when it is loaded, in threads, and when it is unloaded.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {
struct kept {
    std::vector<std::string> texts = std::vector<std::string>(100, std::string(100, 'x'));
    ~kept() { texts.push_back(std::string(10'000, 'y')); }
};
kept from_load_to_unload;
}  // namespace

extern "C" void* acre_test_module_block(std::size_t bytes) {
    static thread_local kept of_the_thread;
    void* p = std::malloc(bytes);
    std::memset(p, static_cast<int>(of_the_thread.texts.size() + from_load_to_unload.texts.size()), bytes);
    return p;
}
