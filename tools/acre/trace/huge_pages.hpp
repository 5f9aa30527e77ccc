// Memory for large tables that are used in no order. On huge pages such a table takes few page faults and few misses of
// the address translation, which cost more than the table's own work where a program is recorded in a virtual machine.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace acre::tool {

/// For containers whose memory is worth huge pages once it has some megabytes. The system decides whether there are
/// any.
template <typename T>
struct huge_page_allocator {
    using value_type = T;

    static constexpr std::size_t page_bytes = std::size_t{2} << 20;

    huge_page_allocator() = default;
    template <typename Other>
    huge_page_allocator(const huge_page_allocator<Other>&) noexcept {}

    T* allocate(std::size_t count) {
        if (count > ~std::size_t{0} / 2 / sizeof(T)) throw std::bad_array_new_length{};
        const bool is_large = count * sizeof(T) >= page_bytes;
        const std::size_t bytes = is_large ? (count * sizeof(T) + page_bytes - 1) / page_bytes * page_bytes : 0;
        void* made = is_large ? std::aligned_alloc(page_bytes, bytes) : std::malloc(count * sizeof(T));
        if (made == nullptr) throw std::bad_alloc{};
        if (is_large) ::madvise(made, bytes, MADV_HUGEPAGE);
        return static_cast<T*>(made);
    }
    void deallocate(T* made, std::size_t) noexcept { std::free(made); }

    friend bool operator==(const huge_page_allocator&, const huge_page_allocator&) noexcept { return true; }
};

/// Values whose bytes are 0 at first. The system backs only what is touched, behind the first 2 MiB by huge pages, so a
/// table may have room for many more values than it will get.
template <typename T>
class untouched_table {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    explicit untouched_table(std::size_t count) : values_{reserve(count * sizeof(T)), give_back{count * sizeof(T)}} {}

    T& operator[](std::size_t at) noexcept { return values_.get()[at]; }
    const T& operator[](std::size_t at) const noexcept { return values_.get()[at]; }

private:
    struct give_back {
        std::size_t bytes;
        void operator()(T* values) const noexcept { ::munmap(values, bytes); }
    };

    static T* reserve(std::size_t bytes) {
        constexpr std::size_t page = huge_page_allocator<T>::page_bytes;
        void* const made =
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (made == MAP_FAILED) throw std::bad_alloc{};
        if (bytes > page) ::madvise(static_cast<std::byte*>(made) + page, bytes - page, MADV_HUGEPAGE);
        return static_cast<T*>(made);
    }

    std::unique_ptr<T, give_back> values_;
};

}  // namespace acre::tool
