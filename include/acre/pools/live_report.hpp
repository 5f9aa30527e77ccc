// The line that a pool with the option report_live writes when it ends while something of it is live.
#pragma once

#include <cstddef>
#include <cstdio>
#include <utility>

namespace acre {

/// Whether the end of a pool is to be reported.
class live_report {
public:
    constexpr live_report() noexcept = default;
    constexpr explicit live_report(bool wanted) noexcept : wanted_(wanted) {}

    /// Writes the line to stderr when it is wanted, was not written before and `pool`, which has live() and used(), holds
    /// anything. It is then not wanted any more.
    template <class Pool>
    void write(const char* name, const Pool& pool) noexcept {
        if (!std::exchange(wanted_, false)) return;
        const std::size_t count = pool.live();
        const std::size_t bytes = pool.used();
        if (bytes == 0) return;
        std::fprintf(stderr, "%s: %zu still live when it ended, in %zu bytes\n", name, count, bytes);
    }

private:
    bool wanted_ = false;
};

}  // namespace acre
