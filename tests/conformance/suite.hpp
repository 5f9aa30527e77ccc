// The conformance suite: what its test files share. Every test runs over every resource of all_subjects().
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
#include "conformance/refusal.hpp"
#include "conformance/subject.hpp"

namespace acre_test {

/// A test of one resource.
class conformance : public testing::TestWithParam<subject_case> {
protected:
    std::unique_ptr<subject> tested_ = GetParam().make();

    subject& tested() { return *tested_; }

    /// Requests into the model, by the throwing call and the other in turn; true when served.
    bool take(live_model& model, std::size_t bytes, std::size_t alignment) {
        void* p = nullptr;
        outcome result = outcome::null;
        if (model.next_number() % 2 == 0) {
            p = tested().try_allocate(bytes, alignment);
            if (p != nullptr) result = outcome::served;
        } else {
            result = outcome_of([&] { return p = tested().allocate(bytes, alignment); });
        }
        if (p != nullptr) model.add(p, bytes, alignment);
        return result == outcome::served;
    }

    void give_back(live_model& model, live_block block) {
        model.remove(block.p);
        tested().deallocate(block.p, block.bytes, block.alignment);
    }
    void give_all_back(live_model& model) {
        while (!model.empty()) {
            const live_block block = model.blocks().begin()->second;
            give_back(model, block);
        }
    }

    /// It still serves an ordinary request.
    void expect_still_works() {
        if (tested().traits().refuses_all) return;
        void* p = tested().try_allocate(8, 8);
        ASSERT_NE(p, nullptr);
        EXPECT_TRUE(acre::is_aligned(p, 8));
        tested().deallocate(p, 8, 8);
    }
};

/// A size as programs ask for them: mostly small, sometimes a few KiB, rarely more.
inline std::size_t usual_size(std::mt19937& random) {
    switch (random() % 16) {
        case 0: return 0;
        case 1: return random() % 9000;
        case 2: return random() % 1000;
        case 3: return random() % 64 == 0 ? random() % 400'000 : random() % 3000;
        default: return 1 + random() % 128;
    }
}

/// An alignment: mostly small, rarely up to a page.
inline std::size_t usual_alignment(std::mt19937& random) {
    return std::size_t{1} << (random() % 8 == 0 ? random() % 13 : random() % 5);
}

/// The resources that a test applies to.
template <class Predicate>
std::vector<subject_case> subjects_where(Predicate applies) {
    std::vector<subject_case> chosen;
    for (const subject_case& each : all_subjects()) {
        if (applies(*each.make())) chosen.push_back(each);
    }
    return chosen;
}

inline std::string name_of(const testing::TestParamInfo<subject_case>& info) { return info.param.name; }

}  // namespace acre_test
