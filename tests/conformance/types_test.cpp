// Properties of the types: owning resources are not copied, pools move without throwing, each type meets its concepts,
// and every member of every template compiles.
#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <acre/memory/virtual_memory.hpp>
#include <acre/pools/hardened_multi_pool.hpp>
#include <acre/pools/hardened_object_pool.hpp>
#include <acre/pools/hardened_pool.hpp>
#include <iterator>
#include <memory>
#include <type_traits>

namespace {

struct plain {
    int value = 0;
};

constexpr acre::statistics_options everything{.live_map = true, .leak_report = true, .histogram = true, .scopes = true};

// Hazards M7, X16: copy deleted.
template <class... R>
constexpr bool none_copied = ((!std::is_copy_constructible_v<R> && !std::is_copy_assignable_v<R>) && ...);
static_assert(
    none_copied<
        acre::buffer, acre::inline_buffer<64>, acre::arena, acre::inline_arena<64>, acre::scratch, acre::pool<64>,
        acre::object_pool<plain>, acre::multi_pool, acre::pmr<acre::arena>, acre::pmr<acre::heap>,
        acre::pmr<acre::arena&>, acre::statistics<acre::arena>, acre::statistics<acre::multi_pool>,
        acre::statistics<acre::object_pool<plain>>, acre::statistics<acre::pool<8>, everything>,
        acre::synchronized<acre::pool<8>>, acre::synchronized<acre::resource_ref>, acre::limited<acre::resource_ref>,
        acre::fallback<acre::pool<8>, acre::heap>, acre::segregate<8, acre::pool<8>, acre::heap>, acre::multi_arena,
        acre::inline_multi_arena<4, 64>, acre::concurrent_multi_arena, acre::inline_concurrent_multi_arena<4, 64>,
        acre::concurrent_object_pool<plain>, acre::wait_free_object_pool<plain>, acre::chunk_pool<4, 16, 64>,
        acre::typed_arena<plain, 4>, acre::realtime_heap>);

// Hazards A3, A4, A7: resources that others point to cannot move.
template <class... R>
constexpr bool none_moved = ((!std::is_move_constructible_v<R> && !std::is_move_assignable_v<R>) && ...);
static_assert(none_moved<acre::buffer, acre::inline_buffer<64>, acre::arena, acre::inline_arena<64>,
                         acre::logged<acre::arena>, acre::multi_pool, acre::pmr<acre::arena>,
                         acre::statistics<acre::arena>, acre::statistics<acre::arena, everything>,
                         acre::synchronized<acre::arena>, acre::limited<acre::multi_pool>,
                         acre::fallback<acre::arena, acre::heap>, acre::segregate<8, acre::pool<8>, acre::arena>,
                         acre::multi_arena, acre::inline_multi_arena<4, 64>, acre::concurrent_object_pool<plain>,
                         acre::chunk_pool<4, 16, 64>, acre::typed_arena<plain, 4>, acre::realtime_heap>);

// Hazard P5.
template <class... R>
constexpr bool all_moved_safely =
    ((std::is_nothrow_move_constructible_v<R> && std::is_nothrow_move_assignable_v<R>) && ...);
static_assert(
    all_moved_safely<acre::pool<64>, acre::pool<1>, acre::object_pool<plain>, acre::object_pool<std::string>,
                     acre::synchronized<acre::pool<8>>, acre::synchronized<acre::statistics<acre::pool<8>, everything>>,
                     acre::limited<acre::pool<8>>, acre::fallback<acre::pool<8>, acre::heap>,
                     acre::segregate<8, acre::pool<8>, acre::heap>, acre::logged<acre::pool<8>>,
                     acre::unique_resource<acre::arena>, acre::unique_resource<acre::multi_arena>>);

// Handles are copyable.
static_assert(std::is_trivially_copyable_v<acre::resource_ref>);
static_assert(std::is_nothrow_copy_constructible_v<acre::allocator<int, acre::arena>>);

template <class... R>
constexpr bool all_resources = (acre::resource<R> && ...);
static_assert(
    all_resources<acre::heap, acre::buffer, acre::inline_buffer<64>, acre::no_memory, acre::pmr_upstream,
                  acre::resource_ref, acre::arena, acre::inline_arena<64>, acre::scratch, acre::pool<1>,
                  acre::object_pool<plain>, acre::multi_pool, acre::statistics<acre::heap>,
                  acre::statistics<acre::resource_ref>, acre::statistics<acre::pool<8>>, acre::synchronized<acre::heap>,
                  acre::limited<acre::heap>, acre::fallback<acre::buffer&, acre::heap>,
                  acre::segregate<8, acre::pool<8>, acre::heap>, acre::synchronized<acre::statistics<acre::pool<64>>>,
                  acre::multi_arena, acre::inline_multi_arena<4, 64>, acre::concurrent_multi_arena,
                  acre::inline_concurrent_multi_arena<4, 64>, acre::concurrent_object_pool<plain>,
                  acre::wait_free_object_pool<plain>, acre::traced<acre::wait_free_object_pool<plain>>,
                  acre::chunk_pool<4, 16, 64>, acre::statistics<acre::chunk_pool<4, 16, 64>>,
                  acre::typed_arena<plain, 4>, acre::statistics<acre::typed_arena<plain, 4>>>);

template <class... R>
constexpr bool all_owning = (acre::owning_resource<R> && ...);
static_assert(
    all_owning<acre::buffer, acre::inline_buffer<64>, acre::arena, acre::inline_arena<64>, acre::multi_arena,
               acre::inline_multi_arena<4, 64>, acre::concurrent_arena, acre::concurrent_multi_arena,
               acre::inline_concurrent_multi_arena<4, 64>, acre::pool<64>, acre::object_pool<plain>, acre::multi_pool,
               acre::concurrent_pool<64>, acre::concurrent_object_pool<plain>, acre::concurrent_multi_pool,
               acre::wait_free_pool<64, 64>, acre::wait_free_object_pool<plain>, acre::chunk_pool<1, 16>>);
static_assert(!acre::owning_resource<acre::static_pool<64>> &&
                  !acre::owning_resource<acre::logged<acre::static_pool<64>>>,
              "it does not know what its upstream owns");

template <class... R>
constexpr bool all_resettable = (acre::resettable_resource<R> && ...);
static_assert(
    all_resettable<acre::buffer, acre::inline_buffer<64>, acre::arena, acre::inline_arena<64>, acre::multi_arena,
                   acre::inline_multi_arena<4, 64>, acre::concurrent_arena, acre::concurrent_multi_arena,
                   acre::inline_concurrent_multi_arena<4, 64>, acre::pool<64>, acre::object_pool<plain>,
                   acre::multi_pool, acre::concurrent_object_pool<plain>, acre::concurrent_multi_pool,
                   acre::wait_free_pool<64, 64>, acre::wait_free_object_pool<plain>>);

template <class... R>
constexpr bool all_resizable = (acre::resizable_resource<R> && ...);
static_assert(all_resizable<acre::arena, acre::scratch, acre::multi_arena, acre::concurrent_multi_arena>);

// Loops over live objects suit the standard's algorithms.
static_assert(std::forward_iterator<acre::object_pool<plain>::iterator> &&
              std::forward_iterator<acre::object_pool<plain>::const_iterator>);
static_assert(std::is_same_v<std::iterator_traits<acre::object_pool<plain>::iterator>::iterator_category,
                             std::forward_iterator_tag>);

// Hazard X17: several numbers are never positional. slips.* has the types that refuse a number by a sentence.
static_assert(!std::is_constructible_v<acre::arena, std::size_t, std::size_t>);
static_assert(!std::is_constructible_v<acre::pool<64>, std::size_t>);
static_assert(!std::is_constructible_v<acre::multi_pool, std::size_t>);
static_assert(!std::is_constructible_v<acre::virtual_memory, std::size_t>);
static_assert(!std::is_constructible_v<acre::hardened_multi_pool, std::size_t>);

// A resource_ref does not bind to a temporary with state.
static_assert(!std::is_constructible_v<acre::resource_ref, acre::arena&&>);
static_assert(!std::is_constructible_v<acre::resource_ref, acre::buffer&&>);
static_assert(std::is_constructible_v<acre::resource_ref, acre::heap>);

// deallocate never throws (hazards M15, P3).
static_assert(noexcept(std::declval<acre::pool<64>&>().deallocate(nullptr)));
static_assert(noexcept(std::declval<acre::object_pool<plain>&>().destroy(nullptr)));
static_assert(noexcept(std::declval<acre::concurrent_object_pool<plain>&>().destroy(nullptr)));
static_assert(noexcept(std::declval<acre::wait_free_object_pool<plain>&>().destroy(nullptr)));
static_assert(noexcept(acre::static_pool<64>::deallocate(nullptr)));

// Values for sizing storage are constant expressions, and static resources need no run-time initialisation.
static_assert(std::is_same_v<decltype(*std::declval<const acre::object_pool<plain>&>().begin()), const plain&>);
static_assert(acre::arena::required_bytes(100, 24) >= 2400);
static_assert(acre::pool<64>::required_bytes(100) >= 6400);
static_assert(acre::multi_pool::required_bytes(100, 64) >= 6400);
static_assert(acre::buffer::required_bytes(100, 24, 8) == 2400 || acre::poisoning);
static_assert(acre::inline_buffer<64>::capacity() == 64);

}  // namespace

// Hazards N0, P6: every member of every template compiles.
template class acre::pool<1>;
template class acre::pool<64, 64>;
template class acre::object_pool<plain>;
template class acre::object_pool<std::string>;
template class acre::concurrent_pool<24, 4>;
template class acre::concurrent_object_pool<plain>;
template class acre::concurrent_object_pool<std::string>;
template class acre::wait_free_pool<24, 4>;
template class acre::wait_free_object_pool<plain>;
template class acre::wait_free_object_pool<std::string>;
template class acre::hardened_pool<24, 4>;
template class acre::hardened_object_pool<plain>;
template class acre::hardened_object_pool<std::string>;
template class acre::static_pool<64>;
template class acre::static_pool<20000, plain>;
template class acre::detail::live_iterator<acre::detail::pool_walk<acre::object_pool<plain>>, plain>;
template class acre::detail::live_iterator<acre::detail::pool_walk<acre::object_pool<plain>>, const plain>;
template class acre::inline_buffer<64>;
template class acre::inline_arena<64>;
template class acre::allocator<plain, acre::arena>;
template class acre::allocator<plain, acre::heap>;
template class acre::resource_delete<plain, acre::arena>;
template class acre::resource_delete<plain[], acre::arena>;
template class acre::unique_resource<acre::arena>;
template class acre::unique_resource<acre::object_pool<plain>>;
template class acre::unique_resource<acre::statistics<acre::multi_pool, everything>>;
template class acre::logged<acre::arena>;
template class acre::logged<acre::object_pool<plain>>;
template class acre::synchronized<acre::logged<acre::pool<64>>>;
template class acre::pmr<acre::multi_pool>;
template class acre::pmr<acre::multi_pool&>;
template class acre::statistics<acre::heap>;
template class acre::statistics<acre::arena>;
template class acre::statistics<acre::multi_pool>;
template class acre::statistics<acre::object_pool<plain>, everything>;
template class acre::synchronized<acre::statistics<acre::arena, everything>>;
template class acre::synchronized<acre::heap>;
template class acre::synchronized<acre::arena, acre::spin_lock>;
template class acre::synchronized<acre::object_pool<plain>, acre::no_lock>;
template class acre::synchronized<acre::statistics<acre::multi_pool, everything>>;
template class acre::limited<acre::heap>;
template class acre::limited<acre::arena>;
template class acre::limited<acre::object_pool<plain>>;
template class acre::synchronized<acre::limited<acre::pool<64>>>;
template class acre::fallback<acre::arena, acre::multi_pool>;
template class acre::fallback<acre::pool<64>, acre::heap>;
template class acre::segregate<64, acre::pool<64>, acre::heap>;
template class acre::segregate<64, acre::arena, acre::multi_pool>;

// Hazards X16, M7, A4, P5, N0, P6, X17, M15.
TEST(types, hold_at_compile_time) {
    SUCCEED();
}
