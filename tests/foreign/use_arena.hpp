// Included in front of a foreign test of std::pmr::monotonic_buffer_resource (g++ -include): the test then tests an
// acre::arena with that interface.
//
// scripts/foreign-tests lists the tests that ask for more than this interface promises, and why acre answers otherwise.
#pragma once

#include <acre/arenas/arena.hpp>
#include <acre/core/alignment.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>

namespace std::pmr {

/// The interface of [mem.res.monotonic.buffer] over an arena.
class acre_monotonic_buffer_resource : public memory_resource {
    /// An arena that begins in a buffer, as an inline_arena does.
    struct arena_in : acre::arena {
        arena_in(const acre::arena_options& options, memory_resource* upstream) : arena(options, upstream) {}
        ~arena_in() { end(); }
        arena_in(std::span<std::byte> buffer, memory_resource* upstream)
            : arena(buffer, acre::arena_options{}, upstream) {}
    };

public:
    explicit acre_monotonic_buffer_resource(memory_resource* upstream) : upstream_(upstream) {
        arena_.emplace(acre::arena_options{}, upstream);
    }
    acre_monotonic_buffer_resource(std::size_t first, memory_resource* upstream) : upstream_(upstream) {
        arena_.emplace(acre::arena_options{.first_block_bytes = std::clamp<std::size_t>(first, 128, 1 << 20)},
                       upstream);
    }
    acre_monotonic_buffer_resource(void* buffer, std::size_t bytes, memory_resource* upstream) : upstream_(upstream) {
        // Smaller ones have no room for the header of a block.
        if (std::align(acre::default_alignment, 64, buffer, bytes) != nullptr) {
            arena_.emplace(std::span{static_cast<std::byte*>(buffer), bytes}, upstream);
        } else {
            arena_.emplace(acre::arena_options{}, upstream);
        }
    }

    acre_monotonic_buffer_resource() : acre_monotonic_buffer_resource(get_default_resource()) {}
    explicit acre_monotonic_buffer_resource(std::size_t first)
        : acre_monotonic_buffer_resource(first, get_default_resource()) {}
    acre_monotonic_buffer_resource(void* buffer, std::size_t bytes)
        : acre_monotonic_buffer_resource(buffer, bytes, get_default_resource()) {}

    acre_monotonic_buffer_resource(const acre_monotonic_buffer_resource&) = delete;
    acre_monotonic_buffer_resource& operator=(const acre_monotonic_buffer_resource&) = delete;
    ~acre_monotonic_buffer_resource() override = default;

    void release() { arena_->reset(acre::release); }
    memory_resource* upstream_resource() const { return upstream_; }

protected:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override { return arena_->allocate(bytes, alignment); }
    // An arena would take the last allocation back; this interface promises not to.
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

private:
    memory_resource* upstream_;
    optional<arena_in> arena_;
};

}  // namespace std::pmr

#define monotonic_buffer_resource acre_monotonic_buffer_resource
