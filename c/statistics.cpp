// acre_statistics: with or without a map of what is live, with or without a lock.
#include <acre/combine/synchronized.hpp>
#include <acre/core/locks.hpp>
#include <acre/observe/statistics.hpp>
#include <cstdio>
#include <mutex>
#include <string>

#include "resource.hpp"

struct acre_statistics : acre_c::handle<acre_c::handle_kind::statistics> {
    virtual acre_counts counts() const noexcept = 0;
    virtual void reset_counts() noexcept = 0;
    virtual std::string report() const = 0;
    virtual std::size_t live(acre_live_allocation* to, std::size_t count) const = 0;
};

namespace acre_c {
namespace {

/// The resource below, as one that the library counts.
class counted {
public:
    static constexpr const char* name = "acre_statistics";

    explicit counted(acre_resource& below) noexcept : below_(&below) {}

    void* allocate(std::size_t bytes, std::size_t alignment) { return below_->allocate(bytes, alignment); }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        return below_->try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        below_->deallocate(p, bytes, alignment);
    }
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
        return below_->try_resize(p, old_bytes, new_bytes);
    }
    bool owns(const void* p) const noexcept { return below_->owns(p); }

private:
    acre_resource* below_;
};

acre_counter counter_of(const acre::statistics_counter& from) noexcept {
    return {from.value, from.peak, from.total};
}

template <acre::statistics_options Options, class Lock>
struct statistics_of final : acre_statistics {
    using watched = acre::statistics<counted, Options>;

    explicit statistics_of(acre_resource& under) : below(&under), held(under) {}

    void* allocate(std::size_t bytes, std::size_t alignment) override { return held.allocate(bytes, alignment); }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept override {
        return held.try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept override {
        held.deallocate(p, bytes, alignment);
    }
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept override {
        return held.try_resize(p, old_bytes, new_bytes);
    }
    bool owns(const void* p) const noexcept override { return held.owns(p); }
    void explain_refusal(std::size_t bytes, std::size_t alignment) override {
        below.used()->explain_refusal(bytes, alignment);
    }
    acre_usage usage() const noexcept override {
        const acre_counts now = counts();
        return {ACRE_UNKNOWN, static_cast<std::size_t>(now.bytes.value),
                static_cast<std::size_t>(now.allocations.value)};
    }

    acre_counts counts() const noexcept override {
        const acre::statistics_counts now = held.counts();
        return {counter_of(now.allocations), counter_of(now.bytes), now.failures, now.largest};
    }
    void reset_counts() noexcept override { held.reset_counts(); }
    std::string report() const override { return held.report(); }
    std::size_t live([[maybe_unused]] acre_live_allocation* to, [[maybe_unused]] std::size_t count) const override {
        if constexpr (Options.live_map) {
            const auto all = held.live_allocations();
            for (std::size_t i = 0; i < all.size() && i < count; ++i) to[i] = {all[i].address, all[i].bytes};
            return all.size();
        } else {
            return 0;
        }
    }

    upstream_use below;
    acre::synchronized<watched, Lock> held;
};

constexpr acre::statistics_options with_map{.live_map = true};
constexpr acre::statistics_options without_map{};

// Throws bad_option for null that is said to have room.
void require_room(const void* to, std::size_t count) {
    acre::require_option(to != nullptr || count == 0, counted::name, "to", 0, "a pointer that is not null");
}

acre_statistics* make_statistics(acre_resource& below, const acre_statistics_options& asked) {
    require_reserved_are_zero(counted::name, asked.reserved);
    if (asked.for_threads) {
        if (asked.live_map) return new statistics_of<with_map, std::mutex>(below);
        return new statistics_of<without_map, std::mutex>(below);
    }
    if (asked.live_map) return new statistics_of<with_map, acre::no_lock>(below);
    return new statistics_of<without_map, acre::no_lock>(below);
}

}  // namespace
}  // namespace acre_c

acre_statistics* acre_statistics_create(acre_resource* below, const acre_statistics_options* options) {
    if (acre_c::is_null(below)) return nullptr;
    return acre_c::guarded([=] { return acre_c::make_statistics(*below, acre_c::given(options)); });
}

void acre_statistics_destroy(acre_statistics* statistics) {
    acre_c::destroy(statistics);
}

acre_counts acre_statistics_counts(const acre_statistics* statistics) {
    return acre_c::is_null(statistics) ? acre_counts{} : statistics->counts();
}

void acre_statistics_reset_counts(acre_statistics* statistics) {
    if (!acre_c::is_null(statistics)) statistics->reset_counts();
}

std::size_t acre_statistics_report(const acre_statistics* statistics, char* to, std::size_t bytes) {
    if (acre_c::is_null(statistics)) return 0;
    return acre_c::guarded([=] {
        acre_c::require_room(to, bytes);
        const std::string text = statistics->report();
        if (bytes != 0) std::snprintf(to, bytes, "%s", text.c_str());
        return text.size();
    });
}

std::size_t acre_statistics_live(const acre_statistics* statistics, acre_live_allocation* to, std::size_t count) {
    if (acre_c::is_null(statistics)) return 0;
    return acre_c::guarded([=] {
        acre_c::require_room(to, count);
        return statistics->live(to, count);
    });
}

acre_resource* acre_statistics_resource(acre_statistics* statistics) {
    return acre_c::resource_of(statistics);
}
