// W6 (c): push_back without reserve. Compiled twice, because libstdc++ relocates by memmove only for std::allocator,
// and what that is worth depends on the level of optimisation. The element is a type of this file alone: otherwise the
// linker would keep one of the two compilations for both.
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

/// Not a std::vector: it grows where it is.
acre::arena_vector<item> empty_vector(acre::arena& arena) {
    return acre::arena_vector<item>{arena};
}

/// A `Source` has `scoped(f)`: it calls f with an allocator, or an arena, whose memory ends with the call.
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

/// Where the first block holds all that is pushed, the vector never moves.
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
void enter_vectors(suite& entries, const std::string& name) {
    const auto enter = [&](const std::string& id, std::size_t count) {
        entries.enter({.id = id + " " ACRE_BENCH_LEVEL,
                       .title = "std::vector<8 B>, push_back without reserve, " ACRE_BENCH_LEVEL,
                       .operations = count,
                       .in_fresh_processes = true},
                      name, [count] { return make_round<growing_vector<Source>>(count); });
    };
    enter("W6 c 100", 100);
    enter("W6 c 1,000", 1000);
    enter("W6 c 10,000", 10'000);
}

}  // namespace

void ACRE_BENCH_ENTER_VECTOR_GROWTH(suite& entries) {
    enter_vectors<standard_source>(entries, "new/delete");
    enter_vectors<monotonic_source>(entries, "std::pmr monotonic");
    enter_vectors<blog_source>(entries, "blog arena");
    enter_vectors<costless_source>(entries, "the loop alone");
    enter_vectors<acre_source>(entries, "acre::arena + scratch");
    enter_vectors<arena_vector_source<0>>(entries, "acre::arena_vector");
    enter_vectors<arena_vector_source<128 << 10>>(entries, "acre::arena_vector, one block");
}

}  // namespace bench
