// Plays a sequence over a resource once or several times and measures either the time or the memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "play.hpp"
#include "sequence.hpp"
#include "step_window.hpp"
#include "system_resource.hpp"
#include "this_process.hpp"
#include "trial.hpp"

namespace acre::tool {

/// A resource of any type. Trials that are not timed call the functions of direct_calls, which are virtual here. Timed
/// trials use a player with inlined calls.
class played_resource {
public:
    using player_user = std::function<void(step_player&)>;

    played_resource() = default;
    virtual ~played_resource() = default;
    played_resource(const played_resource&) = delete;
    played_resource& operator=(const played_resource&) = delete;

    virtual void* allocate(const shape& wanted) = 0;
    virtual void deallocate(void* object, const shape& had) = 0;
    virtual void* reallocate(void* object, const shape& had, const shape& wanted, const realloc_limits& limits) = 0;
    virtual void reset() = 0;

    /// Calls `use` with a timed player for the only thread, or for one of several.
    virtual void with_timed_player(const sequence_view& sequence, const trial_request& request, own_slots& slots,
                                   const player_user& use) = 0;
    virtual void with_timed_player(const sequence_view& sequence, const trial_request& request,
                                   shared_slots::lane& slots, const player_user& use) = 0;
};

/// How to make a resource, and facts about all resources of its type.
struct resource_factory {
    std::unique_ptr<played_resource> (*make)(metered_upstream&, const resource_parameters&);
    thread_rule threads;
    bool takes_from_upstream;  // else the upstream does not know what the resource holds
};

trial_result play_trial(const resource_factory& factory, const sequence_view& sequence, const trial_request& request);

/// Plays all lanes of a sequence once, each in a thread of its own. If the steps lie in a file, about `window_steps` of
/// them are in memory at a time, and at least one run of each lane.
void play_lanes(played_resource& resource, const sequence_view& sequence, const trial_request& request,
                shared_slots& slots, footprint_meter& meter, trial_result& result,
                std::uint64_t window_steps = step_window::usual_steps);

/// Arrangement: constructed from (metered_upstream&, const resource_parameters&). `resource` is to be played over,
/// `threads` says who may use it, and `takes_from_upstream` is as in resource_factory.
template <typename Arrangement>
class arranged_resource final : public played_resource {
public:
    arranged_resource(metered_upstream& upstream, const resource_parameters& parameters)
        : arrangement_{upstream, parameters} {}

    void* allocate(const shape& wanted) override { return calls().allocate(wanted); }
    void deallocate(void* object, const shape& had) override { calls().deallocate(object, had); }
    void* reallocate(void* object, const shape& had, const shape& wanted, const realloc_limits& limits) override {
        return calls().reallocate(object, had, wanted, limits);
    }
    void reset() override { calls().reset(); }

    void with_timed_player(const sequence_view& sequence, const trial_request& request, own_slots& slots,
                           const player_user& use) override {
        player<direct, own_slots, true> timed{calls(), sequence, request, slots};
        use(timed);
    }
    void with_timed_player([[maybe_unused]] const sequence_view& sequence,
                           [[maybe_unused]] const trial_request& request, [[maybe_unused]] shared_slots::lane& slots,
                           [[maybe_unused]] const player_user& use) override {
        if constexpr (Arrangement::threads == thread_rule::any) {
            player<direct, shared_slots::lane, true> timed{calls(), sequence, request, slots};
            use(timed);
        }
    }

private:
    using direct = direct_calls<decltype(Arrangement::resource)>;

    direct calls() { return direct{arrangement_.resource}; }

    Arrangement arrangement_;
};

}  // namespace acre::tool
