// Allocates in four threads, and in as many ways as count_calls.cpp counts.
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

void work(unsigned seed) {
    std::map<unsigned, std::string> kept;
    void* grown = nullptr;
    for (unsigned i = 0; i < 100'000; ++i) {
        seed = seed * 1'664'525 + 1'013'904'223;
        kept[seed % 500] = std::string(seed >> 24, 'x');
        if (i % 7 == 0) grown = std::realloc(grown, 1 + seed % 1000);
        if (i % 11 == 0) std::free(std::calloc(3, seed % 100));
    }
    std::free(grown);
}

}  // namespace

int main() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i) threads.emplace_back(work, i);
    for (auto& each : threads) each.join();
}
