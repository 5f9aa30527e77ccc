// The first byte chooses a resource of the conformance suite, the other bytes the operations on it.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "conformance/operations.hpp"
#include "conformance/subject.hpp"
#include "fuzz/choices.hpp"

namespace {

// A failed check of the model must end the program, or the fuzzer does not see it.
const bool failures_end_the_program = [] {
    GTEST_FLAG_SET(break_on_failure, true);
    return true;
}();

const std::vector<acre_test::subject_case>& subjects() {
    static const std::vector<acre_test::subject_case> all = acre_test::all_subjects();
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    acre_test::choices choose{{data, bytes}};
    const std::unique_ptr<acre_test::subject> tested = subjects()[choose() % subjects().size()].make();
    acre_test::operations played{*tested};
    for (int steps = 0; !choose.empty() && steps < 500; ++steps) played.step(choose);
    if (tested->upstream() != nullptr) tested->upstream()->recover();
    played.finish();
    return 0;
}
