// A program that replaces some of the operators new and delete: the others call these, as the standard's defaults do.
// FORMS says which: 1 new, 2 delete, 4 new[], 8 delete[], 16 aligned new, 32 aligned delete. Where it replaces both of
// a kind, its blocks begin 64 bytes behind the heap's, so that any other free of one ends the program. Hazard Y24.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

constexpr bool pairs_only = (FORMS & 21) * 2 == (FORMS & 42);
constexpr std::size_t head = pairs_only ? 64 : 0;
bool fails = false;
int made = 0;
int freed = 0;

[[maybe_unused]] void* make(std::size_t bytes) {
    if (fails) throw std::bad_alloc{};
    ++made;
    return static_cast<char*>(std::malloc(bytes + head)) + head;
}
[[maybe_unused]] void take_back(void* p) noexcept {
    if (p == nullptr) return;
    ++freed;
    std::free(static_cast<char*>(p) - head);
}

[[maybe_unused]] constexpr bool replaces(int form) {
    return (FORMS & form) != 0;
}

int failures = 0;
void expect(int now, int wanted, const char* what) {
    if (now == wanted) return;
    std::printf("%s: %d calls of the program's own, not %d\n", what, now, wanted);
    ++failures;
}

template <class Make, class Delete>
void pair(const char* what, int makes, int deletes, Make make_one, Delete delete_one) {
    made = freed = 0;
    void* volatile p = make_one();
    delete_one(p);
    expect(made, makes, what);
    expect(freed, deletes, what);
}

}  // namespace

#if FORMS & 1
void* operator new(std::size_t bytes) {
    return make(bytes);
}
#endif
#if FORMS & 2
void operator delete(void* p) noexcept {
    take_back(p);
}
#endif
#if FORMS & 4
void* operator new[](std::size_t bytes) {
    return make(bytes);
}
#endif
#if FORMS & 8
void operator delete[](void* p) noexcept {
    take_back(p);
}
#endif
#if FORMS & 16
void* operator new(std::size_t bytes, std::align_val_t) {
    return make(bytes);
}
#endif
#if FORMS & 32
void operator delete(void* p, std::align_val_t) noexcept {
    take_back(p);
}
#endif

int main() {
    using std::size_t;
    constexpr size_t n = 40;
    constexpr std::align_val_t much{32};
    const std::nothrow_t& no = std::nothrow;
    constexpr int new_single = replaces(1), delete_single = replaces(2);
    constexpr int new_array = replaces(1 | 4), delete_array = replaces(2 | 8);
    constexpr int new_aligned = replaces(16), delete_aligned = replaces(32);
    pair("new", new_single, delete_single, [] { return ::operator new(n); }, [](void* p) { ::operator delete(p); });
    pair(
        "sized", new_single, delete_single, [] { return ::operator new(n); }, [](void* p) { ::operator delete(p, n); });
    pair(
        "nothrow", new_single, delete_single, [&] { return ::operator new(n, no); },
        [&](void* p) { ::operator delete(p, no); });
    pair("array", new_array, delete_array, [] { return ::operator new[](n); }, [](void* p) { ::operator delete[](p); });
    pair(
        "sized array", new_array, delete_array, [] { return ::operator new[](n); },
        [](void* p) { ::operator delete[](p, n); });
    pair(
        "nothrow array", new_array, delete_array, [&] { return ::operator new[](n, no); },
        [&](void* p) { ::operator delete[](p, no); });
    pair(
        "aligned", new_aligned, delete_aligned, [] { return ::operator new(n, much); },
        [](void* p) { ::operator delete(p, much); });
    pair(
        "sized aligned", new_aligned, delete_aligned, [] { return ::operator new(n, much); },
        [](void* p) { ::operator delete(p, n, much); });
    pair(
        "nothrow aligned", new_aligned, delete_aligned, [&] { return ::operator new(n, much, no); },
        [&](void* p) { ::operator delete(p, much, no); });
    pair(
        "aligned array", new_aligned, delete_aligned, [] { return ::operator new[](n, much); },
        [](void* p) { ::operator delete[](p, much); });
    pair(
        "sized aligned array", new_aligned, delete_aligned, [] { return ::operator new[](n, much); },
        [](void* p) { ::operator delete[](p, n, much); });
    pair(
        "nothrow aligned array", new_aligned, delete_aligned, [&] { return ::operator new[](n, much, no); },
        [&](void* p) { ::operator delete[](p, much, no); });
    fails = true;
    const auto expect_null = [](bool wanted, void* p, const char* what) {
        if (wanted == (p == nullptr)) return;
        std::printf("%s: it does not return null where the program's own throws\n", what);
        ++failures;
    };
    expect_null(new_single != 0, ::operator new(n, no), "nothrow");
    expect_null(new_array != 0, ::operator new[](n, no), "nothrow array");
    expect_null(new_aligned != 0, ::operator new(n, much, no), "nothrow aligned");
    expect_null(new_aligned != 0, ::operator new[](n, much, no), "nothrow aligned array");
    return failures == 0 ? 0 : 1;
}
