// Replaces a part of the operators: plain new and delete, but not those for arrays, alignments or nothrow.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "hazard.h"

static long news = 0;

void* operator new(std::size_t bytes) {
    ++news;
    char* block = static_cast<char*>(std::malloc(bytes + 16));
    if (block == nullptr) throw std::bad_alloc{};
    std::memcpy(block, "mine", 5);
    return block + 16;
}

void operator delete(void* block) noexcept {
    if (block == nullptr) return;
    if (std::memcmp(static_cast<char*>(block) - 16, "mine", 5) != 0) _exit(97);
    std::free(static_cast<char*>(block) - 16);
}

void operator delete(void* block, std::size_t) noexcept {
    operator delete(block);
}

struct alignas(64) wide {
    char bytes[64];
};

int main() {
    std::vector<std::string> texts;
    for (int i = 0; i < 1000; ++i) texts.push_back(std::string(i % 100, 'x'));
    delete[] new char[100];
    delete new (std::nothrow) int{3};
    auto aligned = std::make_unique<wide>();
    say("%d, %zu texts, %ld\n", news > 800, texts.size(), reinterpret_cast<long>(aligned.get()) % 64);
    return 0;
}
