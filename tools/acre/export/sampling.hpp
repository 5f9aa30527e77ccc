// Figures of a sampled trace as those of the whole run.
#pragma once

#include <cstdint>

#include "trace/model.hpp"

namespace acre::tool {

/// Of a trace that has one allocation in n, each counts n times.
class scale {
public:
    explicit scale(const trace_header& header) : factor_{header.is_sampled() ? header.sampling_period : 1} {}

    std::uint64_t operator()(std::uint64_t recorded) const noexcept { return recorded * factor_; }

private:
    std::uint64_t factor_;
};

}  // namespace acre::tool
