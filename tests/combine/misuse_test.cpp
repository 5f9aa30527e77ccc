// Hazards Y1 to Y3: what combines resources passes a misuse on to the resource that notices it, in every build. Each
// refused call has a twin with the right arguments.
#include <gtest/gtest.h>

#include <acre/arenas/multi_arena.hpp>
#include <acre/combine/fallback.hpp>
#include <acre/combine/limited.hpp>
#include <acre/combine/segregate.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/memory/heap.hpp>
#include <acre/observe/statistics.hpp>
#include <type_traits>

namespace {

using arenas = acre::inline_multi_arena<8, 1024>;

template <class Combined>
Combined made() {
    if constexpr (std::is_default_constructible_v<Combined>) {
        return Combined{};
    } else {
        return Combined{{.limit_bytes = 4096}};
    }
}

template <class Combined>
class misuse_through : public testing::Test {};
using all_combined = testing::Types<acre::synchronized<arenas>, acre::limited<arenas>, acre::statistics<arenas>,
                                    acre::fallback<arenas, acre::heap>, acre::segregate<512, arenas, acre::heap>>;
TYPED_TEST_SUITE(misuse_through, all_combined);

TYPED_TEST(misuse_through, is_noticed) {
    static TypeParam tested = made<TypeParam>();
    auto* a = static_cast<char*>(tested.allocate(64));
    void* b = tested.allocate(64);
    void* kept = tested.allocate(64);
    EXPECT_DEATH(tested.deallocate(a + 16, 48), "acre::inline_multi_arena: a pointer into the middle");
    EXPECT_DEATH(tested.deallocate(a, 128), "acre::inline_multi_arena: freed with another size");
    tested.deallocate(a, 64);
    tested.deallocate(b, 64);
    EXPECT_DEATH(tested.deallocate(a, 64), "acre::inline_multi_arena: double free");
    tested.deallocate(kept, 64);
}

// A size of the other part sends the pointer there.
TEST(segregate_misuse, a_size_of_the_other_part) {
    static acre::segregate<64, arenas, arenas> tested;
    void* small = tested.allocate(64);
    void* large = tested.allocate(65);
    EXPECT_DEATH(tested.deallocate(small, 65), "a pointer of another resource was freed");
    EXPECT_DEATH(tested.deallocate(large, 64), "a pointer of another resource was freed");
    tested.deallocate(small, 64);
    tested.deallocate(large, 65);
}

}  // namespace
