// The fixture of the conformance suite. Every test runs over all_subjects().
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "conformance/live_model.hpp"
#include "conformance/operations.hpp"
#include "conformance/refusal.hpp"
#include "conformance/subject.hpp"

namespace acre_test {

/// A test of one resource.
class conformance : public testing::TestWithParam<subject_case> {
protected:
    std::unique_ptr<subject> tested_ = GetParam().make();

    subject& tested() { return *tested_; }

    bool take(live_model& model, std::size_t bytes, std::size_t alignment) {
        return acre_test::take(tested(), model, bytes, alignment);
    }
    void give_back(live_model& model, live_block block) { acre_test::give_back(tested(), model, block); }
    void give_all_back(live_model& model) { acre_test::give_all_back(tested(), model); }

    /// True where a refused request ends the program: std::pmr's new_delete_resource under sanitizers, and any std::pmr
    /// resource in builds without exceptions.
    bool refusal_ends_the_program() {
        const subject_traits traits = tested().traits();
        return !traits.can_fail || (traits.std_pmr && (sanitized || !acre::exceptions_enabled));
    }

    /// Expects that it still serves an ordinary request.
    void expect_still_works() {
        if (tested().traits().refuses_all) return;
        void* p = tested().try_allocate(8, 8);
        ASSERT_NE(p, nullptr);
        EXPECT_TRUE(acre::is_aligned(p, 8));
        tested().deallocate(p, 8, 8);
    }
};

/// The subjects that a test applies to.
template <class Predicate>
std::vector<subject_case> subjects_where(Predicate applies) {
    std::vector<subject_case> chosen;
    for (const subject_case& each : all_subjects()) {
        if (applies(*each.make())) chosen.push_back(each);
    }
    return chosen;
}

inline std::string name_of(const testing::TestParamInfo<subject_case>& info) {
    return info.param.name;
}

}  // namespace acre_test
