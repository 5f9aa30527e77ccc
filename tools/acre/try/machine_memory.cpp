#include "machine_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>

#include "replay/comparison.hpp"

namespace acre::tool {

std::uint64_t touch_free_memory(std::uint64_t bytes) {
    constexpr std::size_t page = 4096;  // or a part of one
    const auto size = static_cast<std::size_t>(std::min(bytes, default_memory_limit()));
    if (size == 0) return 0;
    void* const memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return 0;
    // Free memory is kept in huge pages, and those are what a host takes back.
    ::madvise(memory, size, MADV_HUGEPAGE);
    for (std::size_t at = 0; at < size; at += page) static_cast<volatile char*>(memory)[at] = 1;
    ::munmap(memory, size);
    return size;
}

bool are_huge_pages_unasked(std::string_view setting) {
    return setting.find("[always]") != std::string_view::npos;
}

std::string huge_page_setting() {
    std::string setting;
    std::getline(std::ifstream{"/sys/kernel/mm/transparent_hugepage/enabled"}, setting);
    return setting;
}

}  // namespace acre::tool
