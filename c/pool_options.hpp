// The options of the C interface's pools as those of the library's.
#pragma once

#include <acre/pools/pool_options.hpp>

#include "resource.hpp"

namespace acre_c {

/// `Options` is acre::pool_options or acre::concurrent_pool_options. Throws bad_option.
template <class Options>
Options pool_options_of(const char* name, const acre_pool_options& asked) {
    require_reserved_are_zero(name, asked.reserved);
    Options chosen;
    chosen.limit_bytes = limit_or_none(asked.limit_bytes);
    chosen.report_live = asked.report_live;
    if constexpr (requires { chosen.thread_bytes; }) {
        if (asked.thread_bytes != 0) chosen.thread_bytes = asked.thread_bytes;
    } else {
        acre::require_option(asked.thread_bytes == 0, name, "thread_bytes", asked.thread_bytes,
                             "0 for a pool of one thread");
    }
    return chosen;
}

}  // namespace acre_c
