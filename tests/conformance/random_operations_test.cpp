// Random sequences of all operations, against a model of the contents of every live block.
#include <random>
#include <string>

#include "conformance/operations.hpp"
#include "conformance/suite.hpp"

namespace acre_test {
namespace {

class random_operations : public conformance {};

INSTANTIATE_TEST_SUITE_P(every, random_operations, testing::ValuesIn(all_subjects()), name_of);

// Hazard X4.
TEST_P(random_operations, match_the_model) {
    operations played{tested()};
    for (std::uint32_t seed = 1; seed <= 4 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random{seed};
        for (int i = 0; i < 1500 && !HasFailure(); ++i) played.step(random);
        played.finish();
    }
}

}  // namespace
}  // namespace acre_test
