// Each misuse of each pool that frees singly is noticed in every build, with its own sentence (docs/misuse.md has the
// table). AddressSanitizer also reports what is written outside of an allocation, and after its end.
#include <gtest/gtest.h>

#include <acre/adapt/pool_resource.hpp>
#include <acre/adapt/pooled.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/hardened_object_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <acre/pools/wait_free_object_pool.hpp>
#include <acre/pools/wait_free_pool.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "conformance/refusal.hpp"

namespace {

struct of_64_bytes {
    char bytes[64];
};

// A pool `one`, another one of the same kind, and the size of the allocations. `Other` differs from `Pool` only where
// the type is the pool.
template <class Pool, std::size_t Bytes, class Other = Pool>
struct kind {
    static constexpr std::size_t bytes = Bytes;
    static constexpr bool ends = !std::is_empty_v<Pool>;
    using other_type = Other;

    static Pool make() {
        if constexpr (requires { Pool{acre::wait_free_pool_options{.slots = 1000}}; }) {
            return Pool{acre::wait_free_pool_options{.slots = 1000}};
        } else {
            return Pool{};
        }
    }

    Pool one = make();
    std::optional<Other> other;
};

// The class-level operators of acre::pooled with the interface of a resource.
struct pooled_class : acre::pooled<pooled_class> {
    char bytes[72];
};
struct operators_of_pooled {
    static void* allocate(std::size_t) { return pooled_class::operator new(sizeof(pooled_class)); }
    static void deallocate(void* p, std::size_t bytes) {
        // Compilers warn of such misuse when they see the pointer.
        void* volatile hidden = p;
        pooled_class::operator delete(hidden, bytes);
    }
};

// The size is not known when compiling.
template <class Pool>
struct sized_at_run_time : Pool {
    [[gnu::noinline]] void* allocate(std::size_t bytes) { return Pool::allocate(bytes); }
    [[gnu::noinline]] void deallocate(void* p, std::size_t bytes) { Pool::deallocate(p, bytes); }
};

struct here;
struct elsewhere;

template <class Kind>
class misuse_of : public testing::Test {
protected:
    static constexpr std::size_t bytes = Kind::bytes;

    misuse_of() { other(); }

    auto& other() {
        if (!tested.other) make_other();
        return *tested.other;
    }
    void make_other() {
        using other_type = typename Kind::other_type;
        if constexpr (requires { other_type{acre::wait_free_pool_options{.slots = 1000}}; }) {
            tested.other.emplace(acre::wait_free_pool_options{.slots = 1000});
        } else {
            tested.other.emplace();
        }
    }
    void* allocate() { return tested.one.allocate(bytes); }
    void free(void* p) { tested.one.deallocate(p, bytes); }

    Kind tested;
};

using kinds =
    testing::Types<kind<acre::pool<64>, 64>, kind<acre::pool<80>, 80>, kind<acre::object_pool<of_64_bytes>, 64>,
                   kind<acre::multi_pool, 100>, kind<sized_at_run_time<acre::multi_pool>, 100>,
                   kind<acre::multi_pool, 5000>, kind<acre::concurrent_pool<64>, 64>,
                   kind<acre::concurrent_pool<80>, 80>, kind<acre::concurrent_object_pool<of_64_bytes>, 64>,
                   kind<acre::concurrent_multi_pool, 100>, kind<sized_at_run_time<acre::concurrent_multi_pool>, 100>,
                   kind<acre::concurrent_multi_pool, 5000>,
                   kind<acre::static_pool<96>, 96, acre::static_pool<96, acre::shared_group<elsewhere>>>,
                   kind<acre::static_pool<96, here>, 96, acre::static_pool<96, elsewhere>>,
                   kind<operators_of_pooled, 72, acre::static_pool<72, acre::shared_group<elsewhere>>>,
                   kind<acre::wait_free_pool<64>, 64>, kind<acre::wait_free_object_pool<of_64_bytes>, 64>,
                   kind<acre::chunk_pool<1000, 64, 512>, 64>, kind<acre::unsynchronized_pool_resource, 100>,
                   kind<acre::synchronized_pool_resource, 100>>;
TYPED_TEST_SUITE(misuse_of, kinds);

// Hazard Y1: glibc aborts on exactly this.
TYPED_TEST(misuse_of, double_free_with_another_free_between) {
    void* a = this->allocate();
    void* b = this->allocate();
    this->free(a);
    EXPECT_DEATH(this->free(a), "acre::[a-z_]+: double free");
    this->free(b);
    EXPECT_DEATH(this->free(a), "acre::[a-z_]+: double free");
}

// More than a magazine holds.
TYPED_TEST(misuse_of, double_free_with_600_others_between) {
    void* a = this->allocate();
    std::vector<void*> others(600);
    for (void*& each : others) each = this->allocate();
    this->free(a);
    for (void* each : others) this->free(each);
    EXPECT_DEATH(this->free(a), "acre::[a-z_]+: double free");
}

TYPED_TEST(misuse_of, double_free_by_two_threads) {
    void* a = this->allocate();
    void* b = this->allocate();
    const auto in_another_thread = [&] {
        this->free(a);
        std::thread{[&] { this->free(a); }}.join();
    };
    EXPECT_DEATH(in_another_thread(), "acre::[a-z_]+: double free");
    const auto by_one_that_ended = [&] {
        std::thread{[&] { this->free(a); }}.join();
        this->free(a);
    };
    EXPECT_DEATH(by_one_that_ended(), "acre::[a-z_]+: double free");
    this->free(a);
    this->free(b);
}

// A destructor that runs twice writes the first word: the pointer to the virtual functions.
TYPED_TEST(misuse_of, double_free_after_a_write_to_the_first_word) {
    auto* a = static_cast<std::uint64_t*>(this->allocate());
    void* b = this->allocate();
    this->free(a);
    this->free(b);
#if !defined(ACRE_HAS_ADDRESS_SANITIZER)  // which reports the write
    *const_cast<volatile std::uint64_t*>(a) = 1;
#endif
    EXPECT_DEATH(this->free(a), "acre::[a-z_]+: double free");
}

// A slot that nothing was written to may hold what a free slot held.
TYPED_TEST(misuse_of, frees_of_slots_that_were_not_written_to_are_right) {
    for (int round = 0; round < 3; ++round) {
        void* a = this->allocate();
        void* b = this->allocate();
        this->free(a);
        this->free(b);
    }
}

// A slot that was handed out again is live: its next free is none too many.
TYPED_TEST(misuse_of, frees_of_slots_that_were_handed_out_again_are_right) {
    for (int round = 0; round < 3; ++round) {
        std::vector<void*> all(1000);
        for (void*& each : all) each = this->allocate();
        for (void* each : all) this->free(each);
    }
}

// Hazard Y2.
TYPED_TEST(misuse_of, a_pointer_into_the_middle) {
    auto* p = static_cast<char*>(this->allocate());
    for (const std::size_t offset : {std::size_t{1}, std::size_t{8}, std::size_t{32}}) {
        EXPECT_DEATH(this->free(p + offset), "acre::[a-z_]+: a pointer into the middle of a slot was freed") << offset;
    }
    this->free(p);
    EXPECT_DEATH(this->free(p + 8), "acre::[a-z_]+: a pointer into the middle of a slot was freed");
}

// Hazards Y4, Y6.
TYPED_TEST(misuse_of, a_pointer_of_another_pool) {
    void* mine = this->allocate();
    void* p = this->other().allocate(this->bytes);
    EXPECT_DEATH(this->free(p), "acre::[a-z_]+: a pointer of another resource was freed");
    this->other().deallocate(p, this->bytes);
    this->free(mine);
}

// Hazard Y4. The memory that held the slot may be reused, but this process has it mapped.
// The header of a slab that went back to the heap is still readable, but the sanitizers' heaps give large blocks back
// to the system.
constexpr const char* of_a_former_slab =
    acre_test::sanitized ? "acre::[a-z_]+: a pointer of another resource was freed|SEGV on unknown address"
                         : "acre::[a-z_]+: a pointer of another resource was freed";

TYPED_TEST(misuse_of, a_pointer_of_a_pool_that_ended) {
    if constexpr (TypeParam::ends) {
        void* mine = this->allocate();
        void* p = this->other().allocate(this->bytes);
        this->tested.other.reset();
        EXPECT_DEATH(this->free(p), of_a_former_slab);
        this->free(mine);
    }
}

TYPED_TEST(misuse_of, a_pointer_from_before_release) {
    if constexpr (requires { this->tested.one.release(); }) {
        void* p = this->allocate();
        this->tested.one.release();
        EXPECT_DEATH(this->free(p), of_a_former_slab);
    }
}

TYPED_TEST(misuse_of, a_pointer_from_before_reset) {
    if constexpr (requires { this->tested.one.reset(); }) {
        void* p = this->allocate();
        this->tested.one.reset();
        EXPECT_DEATH(this->free(p), "acre::[a-z_]+: (double free|slots were freed that were never handed out)");
    }
}

TYPED_TEST(misuse_of, a_pointer_to_the_stack_or_the_heap) {
    void* mine = this->allocate();
    alignas(64) char on_the_stack[128] = {};
    EXPECT_DEATH(this->free(on_the_stack), "acre::[a-z_]+: a pointer of another resource was freed");
    // Its middle: a slab that began at the block's first 16 KiB would begin in it.
    const auto on_the_heap = std::make_unique<char[]>(1 << 20);
    EXPECT_DEATH(this->free(on_the_heap.get() + (1 << 19)), "acre::[a-z_]+: a pointer of another resource was freed");
    this->free(mine);
}

// A stack is full of the pool's addresses, which a slab's header must not be taken for.
TYPED_TEST(misuse_of, a_pointer_into_memory_that_holds_the_pools_address) {
    constexpr std::size_t all = 1 << 20, most = 512;
    void* mine = this->allocate();
    struct give_back {
        void operator()(std::uintptr_t* words) const { ::operator delete(words, std::align_val_t{all}); }
    };
    const std::unique_ptr<std::uintptr_t[], give_back> words{
        static_cast<std::uintptr_t*>(::operator new(all, std::align_val_t{all}))};
    // At a place where a slab of the pool has a slot.
    char* p = reinterpret_cast<char*>(words.get()) + reinterpret_cast<std::uintptr_t>(mine) % all;
    const auto begin = reinterpret_cast<std::uintptr_t>(&this->tested.one);
    for (std::size_t offset = 0; offset < std::min(sizeof(this->tested.one), most); offset += sizeof(void*)) {
        std::fill_n(words.get(), all / sizeof(void*), begin + offset);
        EXPECT_DEATH(this->free(p), "acre::[a-z_]+: a pointer of another resource was freed") << offset;
    }
    this->free(mine);
}

// Compilers warn of such misuse when they see the pointer.
template <class Pool>
[[gnu::noinline]] void free_of_another_size(Pool& pool, void* p) {
    void* volatile hidden = p;
    pool.deallocate(hidden, 300);
}

// Hazards Y3, Y6.
TYPED_TEST(misuse_of, another_size) {
    if constexpr (!TypeParam::ends) {
        // Other sizes go to the heap. It would take the whole slab back with the first slot, which begins where the
        // slab does; of other slots it says itself what it finds.
        using pool = acre::static_pool<TypeParam::bytes>;
        std::vector<void*> all;
        for (int i = 0; i < 2000; ++i) all.push_back(this->allocate());
        int first_slots = 0;
        for (void* p : all) {
            if (reinterpret_cast<std::uintptr_t>(p) % (16 * 1024) != 0) continue;
            ++first_slots;
            EXPECT_DEATH(free_of_another_size(this->tested.one, p), "acre::static_pool: freed with another size");
            break;
        }
        EXPECT_EQ(first_slots, 1) << pool::slot_bytes();
        for (void* p : all) this->free(p);
    } else {
        void* p = this->allocate();
        for (const std::size_t size : {std::size_t{300}, std::size_t{20'000}}) {
            // With a slab, or a block, of that size, too.
            if constexpr (requires { this->tested.one.upstream_resource(); }) {
                (void)this->tested.one.allocate(size);
            } else {
                (void)this->tested.one.try_allocate(size);
            }
            EXPECT_DEATH(this->tested.one.deallocate(p, size), "acre::[a-z_]+: freed with another size or alignment")
                << size;
        }
        this->free(p);
    }
}

#if defined(ACRE_HAS_ADDRESS_SANITIZER)

}  // namespace

// Naming the functions in each report would take most of the time.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
    return "symbolize=0";
}

namespace {

void write(void* p, std::ptrdiff_t offset) {
    static_cast<volatile char*>(p)[offset] = 1;
}

// Hazard Y5.
TYPED_TEST(misuse_of, a_write_beyond_either_end_is_reported) {
    constexpr auto size = static_cast<std::ptrdiff_t>(TypeParam::bytes);
    for (int i = 0; i < 70; ++i) {
        void* p = this->allocate();
        for (std::ptrdiff_t offset = 0; offset < size; ++offset) write(p, offset);
        if (i != 0 && i != 69) continue;
        EXPECT_DEATH(write(p, size), "use-after-poison|heap-buffer-overflow");
        EXPECT_DEATH(write(p, -1), "use-after-poison|heap-buffer-overflow");
    }
}

// 60 bytes of 64.
TYPED_TEST(misuse_of, a_write_beyond_the_requested_bytes_is_reported) {
    if constexpr (TypeParam::ends) {
        void* p = this->tested.one.allocate(TypeParam::bytes - 4);
        write(p, static_cast<std::ptrdiff_t>(TypeParam::bytes) - 5);
        EXPECT_DEATH(write(p, static_cast<std::ptrdiff_t>(TypeParam::bytes) - 4), "use-after-poison");
    }
}

TYPED_TEST(misuse_of, a_write_after_free_is_reported) {
    void* p = this->allocate();
    void* q = this->allocate();
    write(p, 0);
    this->free(p);
    EXPECT_DEATH(write(p, 0), "use-after-poison");
    EXPECT_DEATH(write(p, static_cast<std::ptrdiff_t>(TypeParam::bytes) - 1), "use-after-poison");
    this->free(q);
    EXPECT_DEATH(write(p, 0), "use-after-poison");
}

// Hazard Y5.
TEST(misuse_of_large_blocks, a_write_beyond_either_end_is_reported) {
    acre::multi_pool sizes;
    acre::concurrent_multi_pool shared_sizes;
    for (void* p : {sizes.allocate(100'001), shared_sizes.allocate(100'001), sizes.allocate(100'001, 4096)}) {
        write(p, 0);
        write(p, 100'000);
        EXPECT_DEATH(write(p, 100'001), "use-after-poison|heap-buffer-overflow");
        EXPECT_DEATH(write(p, -1), "use-after-poison");
    }
}

#endif

// Hazard Y6.
TEST(misuse_of_large_blocks, each_mistake_has_its_sentence) {
    acre::multi_pool sizes;
    acre::multi_pool others;
    auto* p = static_cast<char*>(sizes.allocate(20'000));
    void* other = others.allocate(20'000);
    void* small = sizes.allocate(100);
    EXPECT_DEATH(sizes.deallocate(p, 30'000), "acre::multi_pool: freed with another size or alignment");
    EXPECT_DEATH(sizes.deallocate(p, 100), "acre::multi_pool: freed with another size or alignment");
    EXPECT_DEATH(sizes.deallocate(small, 20'000), "acre::multi_pool: freed with another size or alignment");
    EXPECT_DEATH(sizes.deallocate(p + 64, 20'000), "acre::multi_pool: a pointer into the middle of an allocation");
    EXPECT_DEATH(sizes.deallocate(other, 20'000), "acre::multi_pool: a pointer of another resource was freed");
    void* q = sizes.allocate(20'000);
    sizes.deallocate(p, 20'000);
    EXPECT_DEATH(sizes.deallocate(p, 20'000), "acre::multi_pool: double free");
    sizes.deallocate(q, 20'000);
    EXPECT_DEATH(sizes.deallocate(q, 20'000), "acre::multi_pool: double free");
}

// The heap writes to the beginning of free memory.
TEST(misuse_of_large_blocks, a_double_free_with_others_between) {
    acre::multi_pool sizes;
    std::vector<void*> blocks(8);
    for (void*& each : blocks) each = sizes.allocate(20'000);
    void* const kept = sizes.allocate(20'000);
    for (std::size_t i = 0; i < blocks.size(); i += 2) sizes.deallocate(blocks[i], 20'000);
    EXPECT_DEATH(sizes.deallocate(blocks[2], 20'000), "acre::multi_pool: double free");
    sizes.deallocate(blocks[1], 20'000);
    sizes.deallocate(blocks[5], 20'000);
    EXPECT_DEATH(sizes.deallocate(blocks[6], 20'000), "acre::multi_pool: double free");
    EXPECT_DEATH(sizes.deallocate(blocks[0], 20'000), acre_test::sanitized ? "" : "acre::multi_pool: double free");
    sizes.deallocate(kept, 20'000);
    for (const std::size_t i : {3u, 7u}) sizes.deallocate(blocks[i], 20'000);
    EXPECT_DEATH(sizes.deallocate(blocks[5], 20'000), "acre::multi_pool: double free");
}

template <class Pool>
void slots_and_blocks_are_told_apart() {
    Pool tested;
    Pool others;
    void* slot = tested.allocate();
    void* block = tested.allocate(20'000);
    void* other = others.allocate(20'000);
    EXPECT_DEATH(tested.deallocate(block), "freed with another size or alignment");
    EXPECT_DEATH(tested.deallocate(slot, 20'000), "freed with another size or alignment");
    EXPECT_DEATH(tested.deallocate(other, 20'000), "a pointer of another resource was freed");
    tested.deallocate(block, 20'000);
    others.deallocate(other, 20'000);
    tested.deallocate(slot);
}
TEST(misuse_of_large_blocks, slots_and_blocks_of_a_pool_are_told_apart) {
    slots_and_blocks_are_told_apart<acre::pool<64>>();
    slots_and_blocks_are_told_apart<acre::concurrent_pool<64>>();
}

// Destroys an object of another pool while its own pool ends.
template <template <class> class Pool>
struct destroyer {
    using pool_type = Pool<destroyer>;
    destroyer(pool_type& home, destroyer* foreign) : home_(home), foreign_(foreign) {}
    ~destroyer() {
        if (foreign_ != nullptr) home_.destroy(foreign_);
    }
    destroyer(const destroyer&) = delete;
    destroyer& operator=(const destroyer&) = delete;

private:
    pool_type& home_;
    destroyer* foreign_;
};
template <template <class> class Pool>
void an_object_of_another_pool_is_noticed() {
    using type = destroyer<Pool>;
    const auto mistake = [] {
        typename type::pool_type tested;
        typename type::pool_type others;
        tested.create(tested, others.create(others, nullptr));
        tested.release();
    };
    EXPECT_DEATH(mistake(), "a pointer of another resource was freed");
}
template <class T>
using concurrent_object_pool_of = acre::concurrent_object_pool<T>;
TEST(misuse_of_an_object_pool, an_object_of_another_pool_destroyed_by_a_destructor) {
    an_object_of_another_pool_is_noticed<acre::object_pool>();
    an_object_of_another_pool_is_noticed<concurrent_object_pool_of>();
    an_object_of_another_pool_is_noticed<acre::hardened_object_pool>();
}

// The first slab is shorter than the alignment of slabs, so what lies behind it has the same header's address.
TEST(misuse_of_a_pool, storage_behind_the_short_first_slab_is_not_the_pools) {
    alignas(16 * 1024) static std::byte storage[16 * 1024];
    acre::buffer below{storage};
    acre::pool<64> tested{below};
    void* p = tested.allocate();
    ASSERT_LT(static_cast<std::byte*>(p), storage + 4096);
    for (std::size_t offset = 4096; offset < sizeof storage; offset += 64) {
        acre::unpoison(storage + offset, 64);
    }
    EXPECT_DEATH(tested.deallocate(storage + 8192), "acre::pool: a pointer of another resource was freed");
    EXPECT_DEATH(tested.deallocate(storage + 16384 - 64), "acre::pool: a pointer of another resource was freed");
}

// A slot that a slab's header covers was never handed out, and no other resource has it.
TEST(misuse_of_a_pool, an_address_under_the_header_of_a_slab) {
    alignas(16 * 1024) static std::byte storage[16 * 1024];
    acre::buffer below{storage};
    acre::pool<64> tested{below};
    const auto header = tested.geometry.header_address(reinterpret_cast<std::uintptr_t>(tested.allocate()));
    EXPECT_DEATH(tested.deallocate(reinterpret_cast<void*>(header)),
                 "acre::pool: a pointer was freed that was never handed out");
}

// What an object's own destructor or constructor does to its pool, or to the object.
template <template <class> class Pool>
struct ends_itself {
    using pool_type = Pool<ends_itself>;
    pool_type* pool;
    int what;
    ends_itself(pool_type* home, int done) : pool(home), what(done < 6 ? done : 0) {
        // This object's storage is poisoned from then on.
        if (done == 6) home->destroy(this);
        if (done == 7) home->deallocate(static_cast<void*>(this));
        if (done == 3) home->reset();
        if constexpr (requires { home->release(); }) {
            if (done == 4) home->release();
        }
    }
    ends_itself(const ends_itself&) = delete;
    ends_itself& operator=(const ends_itself&) = delete;
    ~ends_itself() {
        const int done = std::exchange(what, 0);
        if (done == 5) pool->reset();
        if (done == 1) pool->destroy(this);
        if (done == 2) pool->deallocate(static_cast<void*>(this));
    }
};
template <class Pool>
class misuse_by_an_object : public testing::Test {};
template <template <class> class Pool>
struct pool_of {
    using type = Pool<ends_itself<Pool>>;
};
template <class T>
using object_pool_of = acre::object_pool<T>;
template <class T>
using shared_object_pool_of = acre::concurrent_object_pool<T>;
template <class T>
using hardened_object_pool_of = acre::hardened_object_pool<T>;
template <class T>
struct wait_free_object_pool_of : acre::wait_free_object_pool<T> {
    wait_free_object_pool_of() : acre::wait_free_object_pool<T>({.slots = 8}) {}
};
using object_pools = testing::Types<pool_of<object_pool_of>, pool_of<shared_object_pool_of>,
                                    pool_of<hardened_object_pool_of>, pool_of<wait_free_object_pool_of>>;
template <class Pool>
constexpr bool marks_destroying = true;
template <class T>
constexpr bool marks_destroying<wait_free_object_pool_of<T>> = false;
TYPED_TEST_SUITE(misuse_by_an_object, object_pools);

TYPED_TEST(misuse_by_an_object, its_destructor_frees_it) {
    for (const int what : {1, 2}) {
        typename TypeParam::type tested;
        auto* object = tested.create(&tested, what);
        // Where nothing marks the slot, a free of it alone is the first of two.
        const bool is_first = what == 2 && !marks_destroying<typename TypeParam::type>;
        const char* sentence = is_first ? "double free" : "an object was freed by its own destructor";
        EXPECT_DEATH(tested.destroy(object), sentence) << what;
        EXPECT_DEATH(tested.reset(), sentence) << what;
        object->what = 5;
        EXPECT_DEATH(tested.destroy(object), "reset or released by a destructor that it is running");
        object->what = 0;
        tested.destroy(object);
        EXPECT_EQ(tested.live(), 0u);
    }
}

TYPED_TEST(misuse_by_an_object, its_constructor_resets_the_pool) {
    typename TypeParam::type tested;
    (void)tested.create(&tested, 0);
    EXPECT_DEATH(tested.create(&tested, 3), "reset or released by a constructor that it is running");
    if constexpr (requires { tested.release(); }) {
        EXPECT_DEATH(tested.create(&tested, 4), "reset or released by a constructor that it is running");
    }
}
TYPED_TEST(misuse_by_an_object, its_constructor_frees_it) {
    typename TypeParam::type tested;
    EXPECT_DEATH(tested.create(&tested, 6), "an object was freed by its own constructor");
    EXPECT_DEATH(tested.create(&tested, 7), "an object was freed by its own constructor");
    EXPECT_EQ(tested.live(), 0u);
    tested.destroy(tested.create(&tested, 0));
}
TEST(misuse_of_an_object_pool, wait_free_and_reset_by_a_constructor) {
    struct resets {
        acre::wait_free_object_pool<resets>* pool;
        explicit resets(acre::wait_free_object_pool<resets>* home) : pool(home) { pool->reset(); }
    };
    acre::wait_free_object_pool<resets> tested{{.slots = 4}};
    EXPECT_DEATH(tested.create(&tested), "reset or released by a constructor that it is running");
}

struct in_object_pool {
    acre::object_pool<in_object_pool>* pool;
    ~in_object_pool() { pool->reset(); }
};
struct in_concurrent_pool {
    acre::concurrent_object_pool<in_concurrent_pool>* pool;
    ~in_concurrent_pool() { pool->release(); }
};
struct in_wait_free_pool {
    acre::wait_free_object_pool<in_wait_free_pool>* pool;
    ~in_wait_free_pool() { pool->reset(); }
};

// Hazard Y10.
TEST(misuse_of_an_object_pool, reset_by_a_destructor_that_reset_runs) {
    EXPECT_DEATH(
        {
            acre::object_pool<in_object_pool> pool;
            pool.create(&pool);
            pool.reset();
        },
        "acre::object_pool: reset or released by a destructor that it is running");
    EXPECT_DEATH(
        {
            acre::concurrent_object_pool<in_concurrent_pool> pool;
            pool.create(&pool);
        },
        "acre::concurrent_object_pool: reset or released by a destructor that it is running");
    EXPECT_DEATH(
        {
            acre::wait_free_object_pool<in_wait_free_pool> pool{{.slots = 4}};
            pool.create(&pool);
            pool.reset();
        },
        "acre::wait_free_object_pool: reset or released by a destructor that it is running");
}

// Hazards M8, C6: the destructor would free the string's storage a second time.
TEST(misuse_of_an_object_pool, is_noticed_before_a_destructor_runs) {
    const char* const text = "a text that is too long to lie in the string itself";
    acre::concurrent_object_pool<std::string> tested;
    acre::concurrent_object_pool<std::string> other;
    std::string* a = tested.create(text);
    std::string* b = tested.create(text);
    std::string* foreign = other.create(text);
    tested.destroy(a);
    tested.destroy(b);
    EXPECT_DEATH(tested.destroy(a), "acre::concurrent_object_pool: double free");
    EXPECT_DEATH(tested.destroy(foreign), "acre::concurrent_object_pool: a pointer of another resource was freed");
}

}  // namespace
