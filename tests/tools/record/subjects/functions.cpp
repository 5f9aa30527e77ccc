// Calls every function that allocates, a known number of times with sizes of its own. The argument "pvalloc" leaves
// that function out, "too-much" each request for more than there is.
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

bool without_pvalloc = false;
bool without_too_much = false;

void must(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "wrong: %s\n", what);
    std::_Exit(3);
}

template <typename T>
T* seen(T* p) {
    asm volatile("" : "+r"(p) : : "memory");
    return p;
}

struct alignas(256) wide {
    char bytes[768];
};
struct wide_free {
    void operator()(wide* p) const { delete p; }
};

constexpr int times = 10;

void c_functions() {
    for (int i = 0; i < times; ++i) {
        std::free(seen(std::malloc(50'001)));
        auto* zeroed = static_cast<char*>(seen(std::calloc(5, 10'002)));
        must(zeroed[0] == 0 && zeroed[50'009] == 0, "calloc");
        std::free(zeroed);
        void* grown = seen(std::realloc(nullptr, 50'003));
        grown = seen(std::realloc(grown, 60'003));
        std::free(grown);
        grown = seen(reallocarray(nullptr, 4, 12'501));
        errno = 0;
        must(seen(reallocarray(grown, SIZE_MAX, 2)) == nullptr && errno != 0, "reallocarray");
        must(seen(std::realloc(grown, SIZE_MAX / 2)) == nullptr, "realloc of too much");
        std::free(grown);
        std::free(seen(memalign(64, 50'005)));
        std::free(seen(std::aligned_alloc(128, 50'048)));
        void* aligned = nullptr;
        must(posix_memalign(&aligned, 4096, 50'006) == 0, "posix_memalign");
        must(posix_memalign(&grown, 24, 50'006) == EINVAL, "posix_memalign with a wrong alignment");
        must(reinterpret_cast<std::uintptr_t>(aligned) % 4096 == 0, "alignment");
        std::free(aligned);
        std::free(seen(valloc(50'007)));
        if (!without_pvalloc) std::free(seen(pvalloc(50'008)));
        must(seen(std::malloc(SIZE_MAX / 2)) == nullptr && errno == ENOMEM, "malloc of too much");
        std::free(nullptr);
    }
}

void cpp_operators() {
    for (int i = 0; i < times; ++i) {
        ::operator delete(seen(::operator new(51'001)));
        ::operator delete(seen(::operator new(51'002)), std::size_t{51'002});
        ::operator delete[](seen(::operator new[](51'003)));
        ::operator delete(seen(::operator new(51'004, std::nothrow)), std::nothrow);
        ::operator delete[](seen(::operator new[](51'005, std::nothrow)), std::nothrow);
        ::operator delete(seen(::operator new(51'006, std::align_val_t{64})), std::align_val_t{64});
        ::operator delete[](seen(::operator new[](51'007, std::align_val_t{512})), std::size_t{51'007},
                            std::align_val_t{512});
        ::operator delete[](seen(::operator new[](51'008)), std::size_t{51'008});
        ::operator delete(seen(::operator new(51'009, std::align_val_t{64})), std::size_t{51'009},
                          std::align_val_t{64});
        ::operator delete[](seen(::operator new[](51'010, std::align_val_t{64})), std::align_val_t{64});
        ::operator delete(seen(::operator new(51'011, std::align_val_t{64}, std::nothrow)), std::align_val_t{64},
                          std::nothrow);
        ::operator delete[](seen(::operator new[](51'012, std::align_val_t{64}, std::nothrow)), std::align_val_t{64},
                            std::nothrow);
        wide_free{}(seen(new wide));
    }
}

void refusals() {
    for (int i = 0; i < times; ++i) {
        try {
            seen(::operator new(SIZE_MAX / 2));
            must(false, "new of too much");
        } catch (const std::bad_alloc&) {
        }
        must(seen(::operator new(SIZE_MAX / 2, std::nothrow)) == nullptr, "new of too much, nothrow");
        must(seen(::operator new[](SIZE_MAX / 2, std::align_val_t{64}, std::nothrow)) == nullptr,
             "aligned new of too much, nothrow");
    }
}

bool handler_called = false;

void new_handler() {
    handler_called = true;
    std::set_new_handler(nullptr);
}

void new_handler_is_called() {
    std::set_new_handler(new_handler);
    try {
        seen(::operator new(SIZE_MAX / 2));
    } catch (const std::bad_alloc&) {
    }
    must(handler_called, "the new-handler");
}

}  // namespace

int main(int count, char** arguments) {
    without_pvalloc = count > 1 && std::strcmp(arguments[1], "pvalloc") == 0;
    without_too_much = count > 1 && std::strcmp(arguments[1], "too-much") == 0;
    c_functions();
    cpp_operators();
    if (!without_too_much) {
        refusals();
        new_handler_is_called();
    }
    // More than 4 GiB, of which nothing is touched.
    void* huge = seen(std::malloc(std::size_t{5} << 30));
    if (huge != nullptr) std::free(huge);
    std::free(seen(std::malloc(0)));
}
