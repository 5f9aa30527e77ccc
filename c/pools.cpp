// Pools of slots of one size, which the library knows at compile time: a pool for each of 17 sizes, and a multi-pool
// that is asked for one size only where slots are larger.
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/pool.hpp>
#include <cstddef>
#include <iterator>
#include <utility>

#include "pool_options.hpp"
#include "resource.hpp"

namespace acre_c {

/// Pools of slots of any size.
struct slots : acre_resource {
    using acre_resource::acre_resource;

    virtual void* take() = 0;
    virtual void give(void* slot) noexcept = 0;
    virtual void reset() noexcept = 0;
    virtual std::size_t release_unused() noexcept = 0;
    virtual std::size_t slot_bytes() const noexcept = 0;
};

}  // namespace acre_c

struct acre_pool : acre_c::handle<acre_c::handle_kind::pool, acre_c::slots> {};
struct acre_concurrent_pool : acre_c::handle<acre_c::handle_kind::concurrent_pool, acre_c::slots> {};

namespace acre_c {
namespace {

/// `Pool`, of slots of `Slot` bytes, as a Handle.
template <class Handle, class Pool, std::size_t Slot>
struct pool_of_size final : holding<Handle, Pool> {
    using holding<Handle, Pool>::holding;

    // Flat: so many pools are more than a compiler inlines by itself, and with the size known they take half as long.
    [[gnu::flatten]] void* take() override { return this->held.allocate(); }
    [[gnu::flatten]] void give(void* slot) noexcept override { this->held.deallocate(slot); }
    void reset() noexcept override { this->held.reset(); }
    std::size_t release_unused() noexcept override { return this->held.release_unused(); }
    std::size_t slot_bytes() const noexcept override { return Slot; }
};

/// `Pool`, a multi-pool, as a Handle for slots of `slot_bytes` bytes.
template <class Handle, class Pool>
struct pool_of_large_slots final : holding<Handle, Pool> {
    template <class Options>
    pool_of_large_slots(acre_resource* upstream, const Options& options, std::size_t slot_bytes)
        : holding<Handle, Pool>(upstream, options), slot_bytes_(slot_bytes) {}

    void* take() override { return this->held.allocate(slot_bytes_, acre::default_alignment); }
    void give(void* slot) noexcept override { this->held.deallocate(slot, slot_bytes_, acre::default_alignment); }
    void reset() noexcept override { this->held.reset(); }
    std::size_t release_unused() noexcept override { return this->held.release_unused(); }
    std::size_t slot_bytes() const noexcept override { return slot_bytes_; }

private:
    std::size_t slot_bytes_;
};

/// 8, the multiples of 16 up to 128, and four sizes for each doubling up to 512.
constexpr std::size_t slot_sizes[] = {8, 16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512};

/// Makes a Handle for slots of at least a size: of a Pool, or of a MultiPool where they are large.
template <class Handle, template <std::size_t, std::size_t> class Pool, class MultiPool>
class pool_maker {
    using options_type = typename MultiPool::options_type;
    static constexpr const char* name = Pool<16, 16>::name;

public:
    static Handle* make(std::size_t slot_bytes, const acre_pool_options& asked) {
        acre::require_option(slot_bytes != 0 && slot_bytes <= acre::max_request / 4, name, "slot_bytes", slot_bytes,
                             "1 to an eighth of the address space");
        const auto options = pool_options_of<options_type>(name, asked);
        Handle* made = nullptr;
        const auto make_where_it_fits = [&]<std::size_t Slot>() {
            if (made == nullptr && slot_bytes <= Slot) made = make_of_size<Slot>(options, asked.upstream);
        };
        [&]<std::size_t... Indices>(std::index_sequence<Indices...>) {
            (make_where_it_fits.template operator()<slot_sizes[Indices]>(), ...);
        }(std::make_index_sequence<std::size(slot_sizes)>{});
        if (made != nullptr) return made;
        return new pool_of_large_slots<Handle, MultiPool>(asked.upstream, options,
                                                          acre::align_up(slot_bytes, acre::default_alignment));
    }

private:
    template <std::size_t Slot>
    static Handle* make_of_size(const options_type& options, acre_resource* upstream) {
        return new pool_of_size<Handle, Pool<Slot, acre::natural_alignment(Slot)>, Slot>(upstream, options);
    }
};

template <class Handle>
void* take(Handle* from) noexcept {
    if (is_null(from)) return nullptr;
    return guarded([=] { return from->take(); });
}

template <class Handle>
void give(Handle* to, void* slot) noexcept {
    if (slot == nullptr) return;
    if (to == nullptr) acre::abort_on_misuse("acre_pool", "freed to a null handle", slot);
    require_handle(*to);
    to->give(slot);
}

template <class Handle>
void reset_slots(Handle* of) noexcept {
    if (is_null(of)) return;
    require_unused(*of, "reset while another resource takes memory from it");
    of->reset();
}

}  // namespace
}  // namespace acre_c

acre_pool* acre_pool_create(std::size_t slot_bytes, const acre_pool_options* options) {
    using maker = acre_c::pool_maker<acre_pool, acre::pool, acre::multi_pool>;
    return acre_c::guarded([=] { return maker::make(slot_bytes, acre_c::given(options)); });
}

void acre_pool_destroy(acre_pool* pool) {
    acre_c::destroy(pool);
}

void* acre_pool_allocate(acre_pool* pool) {
    return acre_c::take(pool);
}

void acre_pool_free(acre_pool* pool, void* slot) {
    acre_c::give(pool, slot);
}

std::size_t acre_pool_slot_bytes(const acre_pool* pool) {
    return acre_c::is_null(pool) ? 0 : pool->slot_bytes();
}

void acre_pool_reset(acre_pool* pool) {
    acre_c::reset_slots(pool);
}

std::size_t acre_pool_release_unused(acre_pool* pool) {
    return acre_c::is_null(pool) ? 0 : pool->release_unused();
}

acre_resource* acre_pool_resource(acre_pool* pool) {
    return acre_c::resource_of(pool);
}

acre_concurrent_pool* acre_concurrent_pool_create(std::size_t slot_bytes, const acre_pool_options* options) {
    using maker = acre_c::pool_maker<acre_concurrent_pool, acre::concurrent_pool, acre::concurrent_multi_pool>;
    return acre_c::guarded([=] { return maker::make(slot_bytes, acre_c::given(options)); });
}

void acre_concurrent_pool_destroy(acre_concurrent_pool* pool) {
    acre_c::destroy(pool);
}

void* acre_concurrent_pool_allocate(acre_concurrent_pool* pool) {
    return acre_c::take(pool);
}

void acre_concurrent_pool_free(acre_concurrent_pool* pool, void* slot) {
    acre_c::give(pool, slot);
}

std::size_t acre_concurrent_pool_slot_bytes(const acre_concurrent_pool* pool) {
    return acre_c::is_null(pool) ? 0 : pool->slot_bytes();
}

void acre_concurrent_pool_reset(acre_concurrent_pool* pool) {
    acre_c::reset_slots(pool);
}

std::size_t acre_concurrent_pool_release_unused(acre_concurrent_pool* pool) {
    return acre_c::is_null(pool) ? 0 : pool->release_unused();
}

acre_resource* acre_concurrent_pool_resource(acre_concurrent_pool* pool) {
    return acre_c::resource_of(pool);
}
