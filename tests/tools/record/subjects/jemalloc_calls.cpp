// Mixes malloc with jemalloc's own functions, which a program with jemalloc may do. Without jemalloc it asks for each
// function, as such programs do, and uses those that are there.
#include <malloc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
[[gnu::weak]] void* mallocx(std::size_t, int);
[[gnu::weak]] void* rallocx(void*, std::size_t, int);
[[gnu::weak]] std::size_t xallocx(void*, std::size_t, std::size_t, int);
[[gnu::weak]] std::size_t sallocx(const void*, int);
[[gnu::weak]] void dallocx(void*, int);
[[gnu::weak]] void sdallocx(void*, std::size_t, int);
[[gnu::weak]] std::size_t nallocx(std::size_t, int);
[[gnu::weak]] int mallctl(const char*, void*, std::size_t*, void*, std::size_t);
}

namespace {

constexpr int zero = 0x40;
constexpr int align_to_4096 = 12;

void must(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "wrong: %s\n", what);
    std::_Exit(3);
}

bool is_zero(const void* p, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        if (static_cast<const char*>(p)[i] != 0) return false;
    }
    return true;
}

void* filled(void* p, std::size_t size) {
    return std::memset(p, 1, size);
}

void mixed() {
    std::free(filled(mallocx(7001, 0), 7001));
    void* p = filled(std::malloc(7002), 7002);
    must(malloc_usable_size(p) >= 7002, "malloc_usable_size");
    p = rallocx(p, 70'020, 0);
    must(static_cast<char*>(p)[7001] == 1, "rallocx keeps the contents");
    dallocx(p, 0);
    sdallocx(filled(std::malloc(7003), 7003), 7003, 0);
    p = mallocx(7004, zero | align_to_4096);
    must(reinterpret_cast<std::uintptr_t>(p) % 4096 == 0 && is_zero(p, 7004), "mallocx with flags");
    p = rallocx(p, 17'004, zero | align_to_4096);
    must(reinterpret_cast<std::uintptr_t>(p) % 4096 == 0 && is_zero(p, 17'004), "rallocx with flags");
    dallocx(p, align_to_4096);
    p = std::malloc(7005);
    must(xallocx(p, 8'000, 0, 0) >= 7005, "xallocx");
    std::free(p);
}

}  // namespace

int main() {
    // What folly asks before it believes in jemalloc.
    const bool all = mallocx && rallocx && xallocx && sallocx && dallocx && sdallocx && nallocx && mallctl;
    if (mallocx && rallocx && xallocx && dallocx && sdallocx) {
        for (int i = 0; i < 10; ++i) mixed();
    }
    return all ? 9 : 8;
}
