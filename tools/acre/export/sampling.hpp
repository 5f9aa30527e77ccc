// Figures of a sampled trace as those of the whole run.
#pragma once

#include <cstdint>

#include "trace/model.hpp"

namespace acre::tool {

/// Of a trace that has one allocation in n, each counts n times.
class scale {
public:
    explicit scale(const trace_header& header) : factor_{header.is_sampled() ? header.sampling_period : 1} {}

    /// As far as the numbers go.
    std::uint64_t operator()(std::uint64_t recorded) const noexcept {
        std::uint64_t all = 0;
        return __builtin_mul_overflow(recorded, factor_, &all) ? ~std::uint64_t{0} : all;
    }

private:
    std::uint64_t factor_;
};

}  // namespace acre::tool
