// Random sequences of everything a resource can do, against a model that knows what must be in every live block.
#include <acre/core/alignment.hpp>

#include "conformance/suite.hpp"

namespace acre_test {
namespace {

class random_operations : public conformance {
protected:
    struct place {
        std::size_t mark;
        std::uint64_t first_number;
    };

    void step(std::mt19937& random) {
        switch (random() % 32) {
            case 0: return reset(random);
            case 1: return mark();
            case 2: return rewind(random);
            case 3:
            case 4:
            case 5: return resize(random);
            case 6: return fail_soon(random);
            default: break;
        }
        if (random() % 5 < 2 && !model_.empty()) {
            // Newest first as often as any: arenas take the last one back.
            give_back(model_, random() % 2 == 0 ? newest() : model_.any(random));
        } else {
            take(model_, usual_size(random), usual_alignment(random));
        }
    }

    void finish() {
        model_.verify_all();
        give_all_back(model_);
        places_.clear();
        if (tested().reset() && tested().used()) {
            EXPECT_EQ(*tested().used(), 0u);
        }
    }

private:
    void reset(std::mt19937& random) {
        if (random() % 4 != 0) return;
        model_.verify_all();
        const bool all_of_it = random() % 4 == 0 ? tested().release() : tested().reset();
        if (!all_of_it) return;
        model_.forget_all();
        places_.clear();
    }

    void mark() {
        if (const auto number = tested().mark()) places_.push_back({*number, model_.next_number()});
    }

    void rewind(std::mt19937& random) {
        if (places_.empty()) return;
        const std::size_t index = random() % places_.size();
        const place chosen = places_[index];
        model_.verify_all();
        model_.forget_from(chosen.first_number);
        tested().rewind(chosen.mark);
        places_.resize(index + 1);
    }

    void resize(std::mt19937& random) {
        if (!tested().resizes() || model_.empty()) return;
        const live_block block = random() % 4 == 0 ? model_.any(random) : newest();
        // A rewind takes back what was grown after the mark, so only what is newer than all marks grows.
        const bool may_grow = places_.empty() || block.number >= places_.back().first_number;
        const std::size_t new_bytes = may_grow ? usual_size(random) : block.bytes / 2;
        if (tested().try_resize(block.p, block.bytes, new_bytes)) {
            model_.resize(block.p, new_bytes);
        } else {
            EXPECT_GT(new_bytes, block.bytes) << "refused to shrink";
        }
    }

    void fail_soon(std::mt19937& random) {
        if (tested().upstream() != nullptr && tested().traits().can_fail) {
            tested().upstream()->fail_at(1 + random() % 4);
        }
    }

    live_block newest() const {
        const live_block* found = nullptr;
        for (const auto& [p, block] : model_.blocks()) {
            if (found == nullptr || block.number > found->number) found = &block;
        }
        return *found;
    }

    live_model model_;
    std::vector<place> places_;
};

INSTANTIATE_TEST_SUITE_P(every, random_operations, testing::ValuesIn(all_subjects()), name_of);

TEST_P(random_operations, match_the_model) {
    for (std::uint32_t seed = 1; seed <= 4 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random{seed};
        for (int i = 0; i < 1500 && !HasFailure(); ++i) step(random);
        finish();
    }
}

}  // namespace
}  // namespace acre_test
