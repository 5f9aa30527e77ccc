#include "take.hpp"

void* xmalloc(std::size_t bytes) {
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) std::abort();
    return memory;
}

void xfree(void* memory) {
    std::free(memory);
}

void* get_block(std::size_t bytes) {
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) std::abort();
    return memory;
}

void put_block(void* memory) {
    std::free(memory);
}
