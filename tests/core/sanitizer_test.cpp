// Poisoning can be queried in sanitizer builds; in ordinary builds nothing is poisoned.
#include <gtest/gtest.h>

#include <acre/core/sanitizer.hpp>
#include <cstddef>
#include <vector>

namespace {

TEST(sanitizer, poisoning_is_undone) {
    // On the heap: a compiler does not check an access to a local array if it sees that it is within bounds.
    std::vector<std::byte> storage(64);
    std::byte* const bytes = storage.data();
    acre::poison(bytes, 64);
#if defined(ACRE_HAS_ADDRESS_SANITIZER)
    EXPECT_TRUE(acre::poisoning);
    EXPECT_TRUE(__asan_address_is_poisoned(bytes + 10));
    EXPECT_DEATH((void)*const_cast<volatile std::byte*>(bytes + 10), "use-after-poison");
    acre::unpoison(bytes, 16);
    EXPECT_FALSE(__asan_address_is_poisoned(bytes + 10));
    EXPECT_TRUE(__asan_address_is_poisoned(bytes + 16));
#endif
    acre::unpoison_defined(bytes, 64);
    EXPECT_EQ(bytes[10], std::byte{0});
    EXPECT_EQ(bytes[63], std::byte{0});
}

}  // namespace
