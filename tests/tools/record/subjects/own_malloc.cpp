// Has a malloc of its own, as a program that an allocator is linked into. Its free refuses what its malloc did not
// make.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

alignas(16) char memory[16 << 20];
std::size_t used = 0;

bool is_mine(const void* p) {
    return p >= memory && p < memory + sizeof memory;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) noexcept {
    const std::size_t room = (size + 31) / 16 * 16;
    if (room > sizeof memory - used) return nullptr;
    char* p = memory + used + 16;
    used += room;
    std::memcpy(p - 16, &size, sizeof size);
    return p;
}

void free(void* p) noexcept {
    if (p != nullptr && !is_mine(p)) std::_Exit(4);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    return malloc(count * size);  // each block is used once
}

void* realloc(void* p, std::size_t size) noexcept {
    void* q = malloc(size);
    if (p == nullptr || q == nullptr) return q;
    if (!is_mine(p)) std::_Exit(5);
    std::size_t before = 0;
    std::memcpy(&before, static_cast<char*>(p) - 16, sizeof before);
    return std::memcpy(q, p, before < size ? before : size);
}

}  // extern "C"

int main() {
    for (int i = 0; i < 100; ++i) {
        std::free(::strdup("by the C library, with this malloc"));
        std::free(new int[10]);
        delete new std::string(100, 'x');
        void* p = std::realloc(std::malloc(10), 1000);
        std::free(p);
    }
    return 9;
}
