// A published allocator of chunks, written anew for measuring (W2) from its description: nothing is copied. Its defects
// are in docs/hazards.md (C1 to C8); here they are left as they are. Not for use.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace bench::published {

/// One buffer from malloc for each size, rounded up to a power of two, of which a pointer moves through: what was freed is
/// not used again. A full class spills to the next one, and the last one to the heap.
template <std::size_t N, std::size_t... Sizes>
class chunk_allocator {
public:
    chunk_allocator() {
        for (std::size_t i = 0; i < classes_.size(); ++i) {
            auto* start = static_cast<std::byte*>(std::malloc(N * sizes[i]));
            if (start == nullptr) std::abort();
            classes_[i] = {start, start, start + N * sizes[i]};
        }
    }
    chunk_allocator(const chunk_allocator&) = delete;
    chunk_allocator& operator=(const chunk_allocator&) = delete;
    ~chunk_allocator() {
        for (const buffer& each : classes_) std::free(each.start);
    }

    void* allocate(std::size_t bytes) {
        for (std::size_t i = 0; i < classes_.size(); ++i) {
            buffer& each = classes_[i];
            if (bytes >= sizes[i] || each.at == each.end) continue;
            void* p = each.at;
            each.at += sizes[i];
            return p;
        }
        return ::operator new(bytes);
    }

    void deallocate(void* p) noexcept {
        for (const buffer& each : classes_) {
            if (p >= each.start && p < each.end) return;
        }
        ::operator delete(p);
    }

private:
    struct buffer {
        std::byte* start;
        std::byte* at;
        std::byte* end;
    };

    static constexpr std::array<std::size_t, sizeof...(Sizes)> sizes{std::bit_ceil(Sizes)...};

    std::array<buffer, sizeof...(Sizes)> classes_;
};

}  // namespace bench::published
