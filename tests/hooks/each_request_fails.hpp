// A library's calls, run again and again, while each request for memory in turn finds none.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <type_traits>

#include "conformance/checking_upstream.hpp"

namespace acre_test {

/// Calls `run(memory)` with a resource whose n-th request fails, and with one where all from the n-th on do, for each n
/// until there is no n-th request. `run` frees everything: the resource reports leaks. Past the first 100 requests n
/// grows by a tenth, so that the test stays short; with ACRE_EVERY_REQUEST in the environment by one. A
/// `run(memory, begin)` calls begin() where requests begin to count. The property "requests" says how many there are.
template <class Run>
void each_request_fails(Run run) {
    const bool every_one = std::getenv("ACRE_EVERY_REQUEST") != nullptr;
    for (const std::size_t failures : {std::size_t{1}, checking_upstream::never}) {
        for (std::size_t n = 1;; n += every_one || n < 100 ? 1 : n / 10) {
            checking_upstream memory;
            const auto begin = [&] { memory.fail_from(n, failures); };
            if constexpr (std::is_invocable_v<Run, checking_upstream&, decltype(begin)>) {
                run(memory, begin);
            } else {
                begin();
                run(memory);
            }
            if (testing::Test::HasFailure()) FAIL() << "when request " << n << " failed";
            if (memory.failures() == 0) {
                testing::Test::RecordProperty("requests", static_cast<int>(n) - 1);
                break;
            }
        }
    }
}

}  // namespace acre_test
