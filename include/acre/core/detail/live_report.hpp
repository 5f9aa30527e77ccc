// The option report_live: a line on stderr when a resource ends with live allocations.
//
// Used by the resources that have the option, not directly. Cost: a flag. Thread rules: those of the resource's end.
#pragma once

#include <acre/core/error.hpp>
#include <cstddef>
#include <utility>

namespace acre::detail {

/// Writes the line once, at the end of the resource that it is a member of.
class live_report {
public:
    constexpr live_report() noexcept = default;
    constexpr explicit live_report(bool wanted) noexcept : wanted_(wanted) {}

    /// Writes the line when it is wanted and `count()` is not 0. Calls `count` only when the line is wanted.
    template <class Count>
    void write(const char* name, Count count) noexcept {
        if (!std::exchange(wanted_, false)) return;
        const std::size_t live = count();
        if (live == 0) return;
        const word words[] = {name, live};
        print_line("%: % still live when it ended", words);
    }

private:
    bool wanted_ = false;
};

}  // namespace acre::detail
