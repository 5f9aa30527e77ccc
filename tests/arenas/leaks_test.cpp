// LeakSanitizer and arenas: what only live storage points to is no leak, what only freed storage points to is one. In
// builds without AddressSanitizer this file is empty.
#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <cstdint>
#include <cstdlib>
#include <vector>

#if defined(ACRE_HAS_ADDRESS_SANITIZER)
#include <sanitizer/lsan_interface.h>

namespace {

struct node {
    void* block;
};

// Blocks that only nodes in a resource point to. Several, as the address of one may be left on the stack; and kept here
// in a form that is no address, so that they can be freed.
class hidden_blocks {
public:
    template <class Resource>
    [[gnu::noinline]] explicit hidden_blocks(Resource& owner) {
        for (std::uintptr_t& each : addresses_) {
            void* const block = std::malloc(100);
            ::new (owner.allocate(sizeof(node), alignof(node))) node{block};
            each = ~reinterpret_cast<std::uintptr_t>(block);
        }
    }
    hidden_blocks(const hidden_blocks&) = delete;
    hidden_blocks& operator=(const hidden_blocks&) = delete;
    ~hidden_blocks() {
        for (const std::uintptr_t each : addresses_) std::free(reinterpret_cast<void*>(~each));
    }

private:
    std::uintptr_t addresses_[20];
};

template <class Resource>
void expect_leaks_of_freed_storage_only(Resource& tested) {
    const hidden_blocks held{tested};
    EXPECT_EQ(__lsan_do_recoverable_leak_check(), 0) << "live storage points to them";
    tested.reset();
    EXPECT_NE(__lsan_do_recoverable_leak_check(), 0) << "nothing in use points to them";
}

TEST(leak_sanitizer, knows_what_arenas_hold) {
    acre::arena level;
    expect_leaks_of_freed_storage_only(level);
    acre::multi_arena arenas{{.arenas = 8, .bytes = 1024}};
    expect_leaks_of_freed_storage_only(arenas);
    static acre::inline_multi_arena<8, 1024> static_arenas;
    expect_leaks_of_freed_storage_only(static_arenas);
    acre::concurrent_multi_arena shared{{.arenas = 8, .bytes = 1024}};
    expect_leaks_of_freed_storage_only(shared);
}

}  // namespace

#endif
