// What refers to a resource takes the resource, a pointer to it, as std::pmr does, or a handle.
#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <acre/adapt/ambient.hpp>
#include <acre/adapt/ambient_arena.hpp>
#include <acre/adapt/containers.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <memory>
#include <memory_resource>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using in_level = acre::containers_in<acre::arena>;

class pointers : public testing::Test {
protected:
    acre::arena level_;
    acre::inline_arena<256> inside_;
    acre::unique_resource<acre::arena> handle_;
    acre::pmr<acre::arena> memory_;
    std::unique_ptr<acre::arena> owner_ = std::make_unique<acre::arena>();
    std::optional<acre::arena> perhaps_{std::in_place};
};

TEST_F(pointers, to_containers) {
    const acre::arena* const referred[] = {&level_, &inside_, &*handle_, &*memory_, owner_.get(), &*perhaps_};
    in_level::vector<int> lists[] = {
        in_level::vector<int>{&level_}, in_level::vector<int>{&inside_}, in_level::vector<int>{std::as_const(handle_)},
        in_level::vector<int>{memory_}, in_level::vector<int>{owner_},   in_level::vector<int>{perhaps_}};
    for (std::size_t i = 0; i < std::size(lists); ++i) {
        EXPECT_EQ(&lists[i].get_allocator().referred(), referred[i]);
    }
    in_level::string text{"text", &level_};
    EXPECT_EQ(&text.get_allocator().referred(), &level_);
    in_level::map<in_level::string, in_level::vector<int>> scores{&level_};
    scores["Ugluk"].push_back(7);
    EXPECT_EQ(&scores["Ugluk"].get_allocator().referred(), &level_);
}

TEST_F(pointers, to_scopes_and_cursors) {
    {
        acre::scratch a(&level_), b(&inside_), c(handle_), d(memory_), e(owner_);
        EXPECT_EQ(&a.parent(), &level_);
        EXPECT_EQ(&b.parent(), &inside_);
        EXPECT_EQ(&c.parent(), &*handle_);
        EXPECT_EQ(&d.parent(), &*memory_);
        EXPECT_EQ(&e.parent(), owner_.get());
    }
    {
        acre::cursor a(&level_), b(handle_);
        a.create<int>(1);
        b.create<int>(1);
    }
    EXPECT_GT(level_.used(), 0u);
    EXPECT_GT(handle_.used(), 0u);
}

TEST_F(pointers, to_arena_vectors_and_strings) {
    const acre::arena_vector<int> a{&level_}, b{handle_}, c{{1, 2, 3}, &level_}, d{c, handle_};
    EXPECT_EQ(&a.referred(), &level_);
    EXPECT_EQ(&b.referred(), &*handle_);
    EXPECT_EQ(&c.referred(), &level_);
    EXPECT_EQ(&d.referred(), &*handle_);
    EXPECT_EQ(d, c);
    acre::arena_string text{"text", handle_}, none{&level_};
    none = "none";
    EXPECT_TRUE(handle_.owns(text.data()) && level_.owns(none.data()));
}

TEST_F(pointers, to_conflicts_of_a_thread_scratch) {
    acre::scratch first = acre::thread_scratch(&level_, handle_, owner_);
    const acre::scratch second = acre::thread_scratch(&first);
    EXPECT_NE(&first.parent(), &second.parent());
    const acre::scratch third = acre::thread_scratch(&first.parent(), second);
    EXPECT_NE(&third.parent(), &first.parent());
    EXPECT_NE(&third.parent(), &second.parent());
    const acre::arena* const none = nullptr;
    const acre::scratch fourth = acre::thread_scratch(none);
    EXPECT_TRUE(fourth.active());
}

TEST_F(pointers, to_upstreams) {
    acre::multi_pool a{&level_}, b{handle_}, c{memory_}, d{owner_};
    for (acre::multi_pool* each : {&a, &b, &c, &d}) each->deallocate(each->allocate(10), 10);
    EXPECT_TRUE(level_.used() > 0 && handle_.used() > 0 && memory_->used() > 0 && owner_->used() > 0);
    acre::limited<acre::resource_ref> bounded{{.limit_bytes = 100}, perhaps_};
    bounded.deallocate(bounded.allocate(10, 8), 10, 8);
    EXPECT_GT(perhaps_->capacity(), 0u);
    EXPECT_EQ(acre::resource_ref{&level_}, acre::resource_ref{level_});
    const acre::allocator<int, acre::resource_ref> by_pointer(&level_), by_handle(handle_), by_memory(&memory_);
    EXPECT_EQ(by_pointer.referred(), acre::resource_ref{level_});
    EXPECT_EQ(by_handle.referred(), acre::resource_ref{*handle_});
    EXPECT_EQ(by_memory.referred(), acre::resource_ref{&memory_});
}

TEST_F(pointers, to_parts_of_two) {
    acre::fallback first{handle_, acre::heap{}};
    acre::fallback second{&level_, acre::heap{}};
    static_assert(std::is_same_v<decltype(first), acre::fallback<acre::arena&, acre::heap>>);
    static_assert(std::is_same_v<decltype(second), acre::fallback<acre::arena&, acre::heap>>);
    EXPECT_EQ(&first.primary(), &*handle_);
    EXPECT_EQ(&second.primary(), &level_);
    acre::segregate<64, acre::arena&, acre::arena&> by_size{&level_, handle_};
    EXPECT_EQ(&by_size.small(), &level_);
    EXPECT_EQ(&by_size.large(), &*handle_);
}

TEST_F(pointers, to_memory_resources_that_refer) {
    acre::pmr<acre::arena&> a{handle_}, b{&level_};
    acre::pmr c{handle_};
    acre::pmr d{&level_};
    static_assert(std::is_same_v<decltype(c), acre::pmr<acre::arena&>>);
    static_assert(std::is_same_v<decltype(d), acre::pmr<acre::arena&>>);
    EXPECT_TRUE(&*a == &*handle_ && &*b == &level_ && &*c == &*handle_ && &*d == &level_);
    // A second one is no copy, and would take its memory from the first.
    static_assert(!std::is_constructible_v<acre::pmr<acre::arena>, acre::pmr<acre::arena>&>);
    static_assert(!std::is_constructible_v<acre::pmr<acre::arena&>, acre::pmr<acre::arena&>&>);
    static_assert(!std::is_constructible_v<acre::unique_resource<acre::arena>, acre::unique_resource<acre::arena>&>);
}

TEST_F(pointers, to_what_a_thread_uses) {
    {
        acre::use_resource use{&level_};
        std::vector<int, acre::ambient_allocator<int>> numbers(10);
        acre::use_arena arena{handle_};
        std::vector<int, acre::arena_allocator<int>> others(10);
    }
    EXPECT_TRUE(level_.used() > 0 && handle_.used() > 0);
}

TEST_F(pointers, to_smart_pointers) {
    const auto a = acre::make_unique<int>(&level_, 1);
    const auto b = acre::make_unique<int>(handle_, 1);
    const auto c = acre::make_unique<int[]>(owner_, 2);
    const auto d = acre::make_shared<int>(&level_, 1);
    EXPECT_TRUE(level_.owns(a.get()) && handle_.owns(b.get()) && owner_->owns(c.get()) && level_.owns(d.get()));
    static_assert(std::is_same_v<decltype(b), const acre::unique_ptr<int, acre::arena>>);
}

// Row of docs/porting.md: what took the address of an arena takes that of its handle.
TEST_F(pointers, to_handles_lead_to_what_they_own) {
    const acre::scratch temp(&handle_);
    EXPECT_EQ(&temp.parent(), &*handle_);
    EXPECT_EQ(&in_level::vector<int>{&handle_}.get_allocator().referred(), &*handle_);
    EXPECT_EQ((acre::allocator<int, acre::resource_ref>(&handle_)).referred(), acre::resource_ref{*handle_});
    EXPECT_EQ(&acre::arena_vector<int>{&handle_}.referred(), &*handle_);
    const acre::unique_resource<acre::arena>& read_only = handle_;
    acre::pmr memory{&read_only};
    EXPECT_EQ(&*memory, &*handle_);
    const acre::use_arena used{&handle_};
    EXPECT_TRUE(handle_.owns(acre::make_unique<int>(&handle_, 1).get()));
    acre::unique_resource<acre::arena>* const none = nullptr;
    EXPECT_THROW((void)acre::scratch{none}, acre::bad_option);
    const acre::unique_resource<acre::arena> moved{std::move(handle_)};
    EXPECT_THROW((void)acre::scratch{&handle_}, acre::bad_option);
}

TEST_F(pointers, that_are_null_are_bad_options) {
    acre::arena* const none = nullptr;
    EXPECT_THROW(acre::resource_ref{none}, acre::bad_option);
    std::pmr::memory_resource* const no_resource = nullptr;
    EXPECT_THROW((acre::multi_arena{{.arenas = 1, .bytes = 16}, no_resource}), acre::bad_option);
    EXPECT_THROW((void)acre::records_in{no_resource}, acre::bad_option);
    EXPECT_THROW(in_level::vector<int>{none}, acre::bad_option);
    EXPECT_THROW(acre::arena_vector<int>{none}, acre::bad_option);
    EXPECT_THROW((void)acre::make_unique<int>(none), acre::bad_option);
    owner_.reset();
    EXPECT_THROW((void)acre::scratch{owner_}, acre::bad_option);
    EXPECT_THROW(acre::multi_pool{owner_}, acre::bad_option);
    const acre::unique_resource<acre::arena> moved{std::move(handle_)};
    EXPECT_THROW(acre::cursor{handle_}, acre::bad_option);
}

}  // namespace
