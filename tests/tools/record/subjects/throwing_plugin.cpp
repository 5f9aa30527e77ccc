// Asks for more memory than there is, in a program that may have no C++ library itself.
#include <cstdint>
#include <new>

extern "C" int catch_bad_alloc() {
    volatile std::size_t too_much = SIZE_MAX / 2;
    try {
        ::operator delete(::operator new(too_much));
    } catch (const std::bad_alloc&) {
        return ::operator new(too_much, std::nothrow) == nullptr ? 9 : 4;
    }
    return 3;
}
