// The operators new and delete by libacre-malloc, in every form.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace {

volatile std::size_t too_much = PTRDIFF_MAX;

template <class Make, class Delete>
void expect_pair(std::size_t alignment, Make make, Delete give_back) {
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{5000}, std::size_t{200'000}}) {
        void* p = make(bytes);
        ASSERT_NE(p, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignment, 0u);
        // The C++ runtime's, over the C library's, gives 24 bytes for 0.
        EXPECT_EQ(malloc_usable_size(p) % 16, 0u);
        std::memset(p, 1, bytes);
        give_back(p, bytes);
    }
}

TEST(operators, every_form) {
    constexpr std::align_val_t much{256};
    const std::nothrow_t& no = std::nothrow;
    using std::size_t;
    expect_pair(16, [](size_t n) { return ::operator new(n); }, [](void* p, size_t) { ::operator delete(p); });
    expect_pair(16, [](size_t n) { return ::operator new[](n); }, [](void* p, size_t) { ::operator delete[](p); });
    expect_pair(
        16, [&](size_t n) { return ::operator new(n, no); }, [&](void* p, size_t) { ::operator delete(p, no); });
    expect_pair(
        16, [&](size_t n) { return ::operator new[](n, no); }, [&](void* p, size_t) { ::operator delete[](p, no); });
    expect_pair(16, [](size_t n) { return ::operator new(n); }, [](void* p, size_t n) { ::operator delete(p, n); });
    expect_pair(16, [](size_t n) { return ::operator new[](n); }, [](void* p, size_t n) { ::operator delete[](p, n); });
    expect_pair(
        256, [](size_t n) { return ::operator new(n, much); }, [](void* p, size_t) { ::operator delete(p, much); });
    expect_pair(
        256, [](size_t n) { return ::operator new[](n, much); }, [](void* p, size_t) { ::operator delete[](p, much); });
    expect_pair(
        256, [&](size_t n) { return ::operator new(n, much, no); },
        [&](void* p, size_t) { ::operator delete(p, much, no); });
    expect_pair(
        256, [&](size_t n) { return ::operator new[](n, much, no); },
        [&](void* p, size_t) { ::operator delete[](p, much, no); });
    expect_pair(
        256, [](size_t n) { return ::operator new(n, much); },
        [](void* p, size_t n) { ::operator delete(p, n, much); });
    expect_pair(
        256, [](size_t n) { return ::operator new[](n, much); },
        [](void* p, size_t n) { ::operator delete[](p, n, much); });
}

TEST(operators, without_memory_they_throw_or_return_null) {
    EXPECT_THROW((void)::operator new(too_much), std::bad_alloc);
    EXPECT_THROW((void)::operator new[](too_much), std::bad_alloc);
    EXPECT_THROW((void)::operator new(too_much, std::align_val_t{64}), std::bad_alloc);
    EXPECT_EQ(::operator new(too_much, std::nothrow), nullptr);
    EXPECT_EQ(::operator new[](too_much, std::align_val_t{64}, std::nothrow), nullptr);
    try {
        ::operator delete(::operator new(too_much));
    } catch (const std::bad_alloc& error) {
        EXPECT_STREQ(error.what(), "std::bad_alloc");
    }
}

int asked;

TEST(operators, the_new_handler_is_asked_until_it_gives_up) {
    asked = 0;
    std::set_new_handler([] {
        if (++asked == 3) std::set_new_handler(nullptr);
    });
    EXPECT_THROW((void)::operator new(too_much), std::bad_alloc);
    EXPECT_EQ(asked, 3);
    struct gave_up {};
    std::set_new_handler([] { throw gave_up{}; });
    EXPECT_THROW((void)::operator new(too_much), gave_up);
    EXPECT_EQ(::operator new(too_much, std::nothrow), nullptr);
    EXPECT_EQ(::operator new[](too_much, std::nothrow), nullptr);
    EXPECT_EQ(::operator new(too_much, std::align_val_t{64}, std::nothrow), nullptr);
    std::set_new_handler(nullptr);
}

}  // namespace
