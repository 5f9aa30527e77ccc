// The generations of the scopes for which an arena is advised: from the first allocation after nothing was left to the
// free in the scope that leaves nothing again, in each thread.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "advise/advice.hpp"
#include "advise/history.hpp"
#include "bands.hpp"
#include "trace/call_paths.hpp"
#include "trace/model.hpp"

namespace acre::tool {

class generation_bands {
public:
    /// The advices and the paths must live longer.
    generation_bands(const std::vector<advice>& advices, const history& run, const call_paths& paths);

    void allocate(const event& e);

    /// `birth_stack` and `birth_thread` are those of the object's allocation.
    void release(const event& e, std::uint32_t birth_stack, std::uint32_t birth_thread);

    /// To be called once.
    lane_list finish();

private:
    static constexpr std::uint32_t no_scope = 0xffff'ffff;

    /// What lives of a scope in a thread.
    struct open_lane {
        std::uint64_t live_objects = 0;
        std::uint64_t begin = 0;
        std::uint64_t bytes = 0;
        bool running = false;
        band_lane lane;
    };

    bool owns(std::uint32_t scope, std::uint32_t birth_stack, std::uint32_t free_stack) const;

    const std::vector<advice>& advices_;
    const call_paths& paths_;
    std::vector<std::uint32_t> scope_of_stack_;                           // position of the advice
    std::map<std::pair<std::uint32_t, std::uint32_t>, open_lane> lanes_;  // by scope and thread
};

}  // namespace acre::tool
