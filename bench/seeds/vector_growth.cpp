// W6 (c): push_back without reserve. Compiled twice, because libstdc++ relocates by memmove only for std::allocator,
// and the benefit depends on the level of optimisation. The element type is local to this file; otherwise the linker
// would keep only one of the two compilations.
#include <acre/adapt/allocator.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/arena_vector.hpp>
#include <acre/arenas/scratch.hpp>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

#include "../contestants/contestants.hpp"
#include "../contestants/costless.hpp"
#include "../contestants/handwritten.hpp"

namespace bench {
namespace {

enum class item : long long {};

template <class Allocator>
auto empty_vector(const Allocator& allocator) {
    using item_allocator = typename std::allocator_traits<Allocator>::template rebind_alloc<item>;
    return std::vector<item, item_allocator>((item_allocator(allocator)));
}

/// Not a std::vector: it grows in place.
acre::arena_vector<item> empty_vector(acre::arena& arena) {
    return acre::arena_vector<item>{arena};
}

/// A `Source` has `scoped(f)`: it calls f with an allocator, or an arena, whose memory is freed after the call.
template <class Source>
class growing_vector {
public:
    explicit growing_vector(std::size_t count) : count_{count} {}

    void operator()() {
        source_.scoped([this](auto&& memory) { this->push_all(memory); });
    }

private:
    template <class Memory>
    void push_all(Memory& memory) {
        auto items = empty_vector(memory);
        for (std::size_t i = 0; i < count_; ++i) items.push_back(static_cast<item>(i));
        escape(items.data());
    }

    Source source_;
    std::size_t count_;
};

struct standard_source {
    template <class Function>
    void scoped(const Function& function) {
        function(std::allocator<std::byte>{});
    }
};

struct monotonic_source {
    template <class Function>
    void scoped(const Function& function) {
        function(std::pmr::polymorphic_allocator<std::byte>{&resource});
        resource.release();
    }
    std::pmr::monotonic_buffer_resource resource;
};

struct blog_source {
    template <class Function>
    void scoped(const Function& function) {
        function(blog_allocator<std::byte>{arena});
        arena.reset();
    }
    blog_arena arena;
};

struct acre_source {
    template <class Function>
    void scoped(const Function& function) {
        acre::scratch temp{arena};
        function(acre::allocator<std::byte, acre::arena>{arena});
    }
    acre::arena arena;
};

/// The first block holds everything that is pushed, so the vector never moves.
template <std::size_t FirstBlockBytes>
struct arena_vector_source {
    template <class Function>
    void scoped(const Function& function) {
        acre::scratch temp{arena};
        function(arena);
    }
    acre::arena arena{acre::arena_options{.first_block_bytes = FirstBlockBytes}};
};

template <class Source>
void add_vectors(suite& entries, const std::string& name) {
    const auto add = [&](const std::string& id, std::size_t count) {
        entries.add({.id = id + " " ACRE_BENCH_LEVEL,
                     .title = "std::vector<8 B>, push_back without reserve, " ACRE_BENCH_LEVEL,
                     .operations = count,
                     .in_fresh_processes = true},
                    name, [count] { return make_round<growing_vector<Source>>(count); });
    };
    add("W6 c 100", 100);
    add("W6 c 1,000", 1000);
    add("W6 c 10,000", 10'000);
}

}  // namespace

void ACRE_BENCH_ADD_VECTOR_GROWTH(suite& entries) {
    add_vectors<standard_source>(entries, "new/delete");
    add_vectors<monotonic_source>(entries, "std::pmr monotonic");
    add_vectors<blog_source>(entries, "blog arena");
    add_vectors<costless_source>(entries, "the loop alone");
    add_vectors<acre_source>(entries, "acre::arena + scratch");
    add_vectors<arena_vector_source<0>>(entries, "acre::arena_vector");
    add_vectors<arena_vector_source<128 << 10>>(entries, "acre::arena_vector, one block");
}

}  // namespace bench
