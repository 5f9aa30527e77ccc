// The head chooses a resource of the conformance suite; each record is an operation on it.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "conformance/operations.hpp"
#include "conformance/subject.hpp"
#include "fuzz/records.hpp"

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

constexpr std::size_t max_steps = 500;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    using namespace acre_test;
    const std::span<const std::uint8_t> input{data, bytes};
    const std::unique_ptr<subject> tested = subjects()[record_head(input) % subjects().size()].make();
    operations played{*tested};
    for_each_record(input, max_steps, [&](record_choices& choose) { played.step(choose); });
    if (tested->upstream() != nullptr) tested->upstream()->recover();
    played.finish();
    return 0;
}
