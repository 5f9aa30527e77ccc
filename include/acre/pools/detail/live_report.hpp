// The line that a pool with the option report_live writes when it ends while something of it is live.
#pragma once

#include <cstddef>
#include <cstdio>
#include <utility>

namespace acre::detail {

/// Whether the end of a pool is to be reported.
class live_report {
public:
    constexpr live_report() noexcept = default;
    constexpr explicit live_report(bool wanted) noexcept : wanted_(wanted) {}

    /// Writes the line to stderr when it is wanted, was not written before and anything is live: `count()` allocations,
    /// which is asked only then. It is then not wanted any more.
    template <class Count>
    void write(const char* name, Count count) noexcept {
        if (!std::exchange(wanted_, false)) return;
        const std::size_t live = count();
        if (live != 0) std::fprintf(stderr, "%s: %zu still live when it ended\n", name, live);
    }

private:
    bool wanted_ = false;
};

}  // namespace acre::detail
