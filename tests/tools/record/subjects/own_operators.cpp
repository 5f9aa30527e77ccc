// Two operators over a pool, which end the program when they are called with memory that is not the pool's. The other
// forms are the C++ library's, which call these two. OWN_POOL: with the operators; ONLY_POOL: without the program.
#include <cstdio>
#include <cstdlib>
#include <new>

bool pool_is_empty();

#ifdef OWN_POOL

namespace {

alignas(16) char memory[1 << 20];
std::size_t used = 0;
int live = 0;

}  // namespace

void* operator new(std::size_t size) {
    const std::size_t room = (size + 15) / 16 * 16;
    if (size > sizeof memory) throw std::bad_alloc{};
    if (room > sizeof memory - used) used = 0;
    std::free(std::malloc(1));  // as for the pool's own use
    void* p = memory + used;
    used += room;
    ++live;
    return p;
}

void operator delete(void* p) noexcept {
    if (p == nullptr) return;
    if (p < memory || p >= memory + sizeof memory) std::_Exit(4);
    --live;
}

bool pool_is_empty() {
    return live == 0;
}

#endif

#ifndef ONLY_POOL

namespace {

template <typename T>
T* seen(T* p) {
    asm volatile("" : "+r"(p) : : "memory");
    return p;
}

bool refuses_too_much() {
    try {
        seen(::operator new(2 << 20));
    } catch (const std::bad_alloc&) {
        return seen(::operator new(2 << 20, std::nothrow)) == nullptr;
    }
    return false;
}

}  // namespace

int main() {
    for (int i = 0; i < 100; ++i) {
        ::operator delete(seen(::operator new(5001)));
        ::operator delete(seen(::operator new(5002)), std::size_t{5002});
        ::operator delete[](seen(::operator new[](5003)));
        ::operator delete[](seen(::operator new[](5004)), std::size_t{5004});
        ::operator delete(seen(::operator new(5005, std::nothrow)), std::nothrow);
        ::operator delete[](seen(::operator new[](5006, std::nothrow)), std::nothrow);
        ::operator delete(seen(::operator new(5007, std::align_val_t{64})), std::align_val_t{64});
        if (!refuses_too_much()) return 5;
        std::free(seen(std::malloc(6001)));
    }
    return pool_is_empty() ? 9 : 6;
}

#endif
