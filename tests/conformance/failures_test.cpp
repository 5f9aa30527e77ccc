// Promise 3 over every resource: each upstream call fails in turn, once or permanently; nothing is lost or corrupted,
// and the resource goes on working (the allocation-limit loop of BDE). Hazards A12, B9, P3.
#include "conformance/suite.hpp"

namespace acre_test {
namespace {

/// Deterministic work: requests of many sizes, some frees, and a reset in between.
class some_work {
public:
    explicit some_work(std::uint32_t seed) : random_(seed) {}

    template <class Take, class GiveBack>
    std::size_t run(live_model& model, Take take, GiveBack give_back) {
        std::size_t refused = 0;
        for (int i = 0; i < 150; ++i) {
            const std::size_t bytes = usual_size(random_) % 20'000;
            const std::size_t alignment = usual_alignment(random_);
            if (!take(bytes, alignment)) ++refused;
            if (random_() % 3 == 0 && !model.empty()) give_back(model.any(random_()));
        }
        model.verify_all();
        return refused;
    }

private:
    std::mt19937 random_;
};

class upstream_failure : public conformance {
protected:
    std::size_t work(live_model& model) {
        return some_work{11}.run(
            model, [&](std::size_t bytes, std::size_t alignment) { return take(model, bytes, alignment); },
            [&](const live_block& block) { give_back(model, block); });
    }

    /// Makes a new subject whose upstream fails `count` requests from the n-th on; true when that many were made.
    bool fails_and_goes_on(std::size_t n, std::size_t count) {
        tested_ = GetParam().make();
        checking_upstream& upstream = *tested().upstream();
        upstream.fail_from(n, count);
        live_model model;
        const std::size_t refused = work(model);
        const bool failed = upstream.failures() != 0;
        // A resource may retry with a smaller request, so one failure may not show; a permanent one must.
        const bool may_serve_all = tested().traits().bounded || tested().traits().falls_back;
        if (failed && count == checking_upstream::never && !may_serve_all) {
            EXPECT_GT(refused, 0u) << "from call " << n;
        }
        upstream.recover();
        const std::size_t refused_later = work(model);
        EXPECT_TRUE(refused_later == 0 || tested().traits().bounded) << "after failing at call " << n;
        give_all_back(model);
        return failed;
    }
};

class upstream_failure_of_sized : public upstream_failure {};

const auto can_fail = [](subject& each) { return each.upstream() != nullptr && each.traits().can_fail; };
const auto can_fail_and_has_size = [](subject& each) { return can_fail(each) && each.used(); };
INSTANTIATE_TEST_SUITE_P(every, upstream_failure, testing::ValuesIn(subjects_where(can_fail)), name_of);
INSTANTIATE_TEST_SUITE_P(every, upstream_failure_of_sized, testing::ValuesIn(subjects_where(can_fail_and_has_size)),
                         name_of);

// Promise 3; hazards B9, P3.
TEST_P(upstream_failure, once_at_each_call) {
    std::size_t n = 1;
    while (!HasFailure() && fails_and_goes_on(n, 1)) ++n;
    EXPECT_GT(n, 1u);
}

// Promise 3; hazard B9.
TEST_P(upstream_failure, for_good_from_each_call) {
    std::size_t n = 1;
    while (!HasFailure() && fails_and_goes_on(n, checking_upstream::never)) ++n;
    EXPECT_GT(n, 1u);
}

// A request that cannot be served takes nothing.
// Promise 3; hazard A12.
TEST_P(upstream_failure_of_sized, a_failed_request_uses_nothing) {
    live_model model;
    take(model, 8, 8);
    const std::size_t used = *tested().used();
    tested().upstream()->fail_from(1);
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(tested().try_allocate(100'000, 16), nullptr);
        EXPECT_EQ(outcome_of([&] { return tested().allocate(100'000, 64); }),
                  refused_as(tested().traits().bounded ? outcome::limit_exceeded : outcome::out_of_memory));
    }
    EXPECT_EQ(*tested().used(), used);
    tested().upstream()->recover();
    give_all_back(model);
}

}  // namespace
}  // namespace acre_test
