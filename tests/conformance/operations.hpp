// Sequences of all operations of a resource, chosen by a source of numbers (a random generator or a fuzzer's bytes),
// against a model of the contents of every live block.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conformance/live_model.hpp"
#include "conformance/refusal.hpp"
#include "conformance/subject.hpp"

namespace acre_test {

/// Allocates a block into the model, alternating between allocate and try_allocate; true when served.
inline bool take(subject& tested, live_model& model, std::size_t bytes, std::size_t alignment) {
    void* p = nullptr;
    outcome result = outcome::null;
    if (model.next_number() % 2 == 0) {
        p = tested.try_allocate(bytes, alignment);
        if (p != nullptr) result = outcome::served;
    } else {
        result = outcome_of([&] { return p = tested.allocate(bytes, alignment); });
    }
    if (p != nullptr) model.add(p, bytes, alignment);
    return result == outcome::served;
}

inline void give_back(subject& tested, live_model& model, live_block block) {
    model.remove(block.p);
    tested.deallocate(block.p, block.bytes, block.alignment);
}

inline void give_all_back(subject& tested, live_model& model) {
    while (!model.empty()) give_back(tested, model, model.blocks().begin()->second);
}

/// A typical size: mostly small, sometimes a few KiB, rarely more.
template <class Choose>
std::size_t usual_size(Choose& choose) {
    switch (choose() % 16) {
        case 0:
            return 0;
        case 1:
            return choose() % 9000;
        case 2:
            return choose() % 1000;
        case 3:
            return choose() % 64 == 0 ? choose() % 400'000 : choose() % 3000;
        default:
            return 1 + choose() % 128;
    }
}

/// An alignment: mostly small, rarely up to a page.
template <class Choose>
std::size_t usual_alignment(Choose& choose) {
    return std::size_t{1} << (choose() % 8 == 0 ? choose() % 13 : choose() % 5);
}

/// A subject and its model.
class operations {
public:
    explicit operations(subject& tested) : tested_(tested) {}

    /// Performs one operation; `choose()` returns numbers.
    template <class Choose>
    void step(Choose& choose) {
        switch (choose() % 32) {
            case 0:
                return reset(choose);
            case 1:
                return mark();
            case 2:
                return rewind(choose);
            case 3:
            case 4:
            case 5:
                return resize(choose);
            case 6:
                return fail_soon(choose);
            default:
                break;
        }
        if (choose() % 5 < 2 && !model_.empty()) {
            // Half of the frees take the newest block, which arenas take back at once.
            give_back(tested_, model_, choose() % 2 == 0 ? model_.newest() : model_.any(choose()));
        } else {
            const std::size_t bytes = usual_size(choose);
            take(tested_, model_, bytes, usual_alignment(choose));
        }
    }

    /// Verifies and frees everything.
    void finish() {
        model_.verify_all();
        give_all_back(tested_, model_);
        places_.clear();
        if (tested_.reset() && tested_.used()) {
            EXPECT_EQ(*tested_.used(), 0u);
        }
    }

private:
    struct place {
        std::size_t mark;
        std::uint64_t first_number;
    };

    template <class Choose>
    void reset(Choose& choose) {
        if (choose() % 4 != 0) return;
        model_.verify_all();
        const bool all_of_it = choose() % 4 == 0 ? tested_.release() : tested_.reset();
        if (!all_of_it) return;
        model_.forget_all();
        places_.clear();
    }

    void mark() {
        if (const auto number = tested_.mark()) places_.push_back({*number, model_.next_number()});
    }

    template <class Choose>
    void rewind(Choose& choose) {
        if (places_.empty()) return;
        const std::size_t index = choose() % places_.size();
        const place chosen = places_[index];
        model_.verify_all();
        model_.forget_from(chosen.first_number);
        tested_.rewind(chosen.mark);
        places_.resize(index + 1);
    }

    template <class Choose>
    void resize(Choose& choose) {
        if (!tested_.resizes() || model_.empty()) return;
        const live_block block = choose() % 4 == 0 ? model_.any(choose()) : model_.newest();
        // A rewind undoes growth after the mark, so only blocks newer than all marks may grow.
        const bool may_grow = places_.empty() || block.number >= places_.back().first_number;
        const std::size_t new_bytes = may_grow ? usual_size(choose) : block.bytes / 2;
        if (tested_.try_resize(block.p, block.bytes, new_bytes)) {
            model_.resize(block.p, new_bytes);
        } else if (tested_.traits().shrinks) {
            EXPECT_GT(new_bytes, block.bytes) << "refused to shrink";
        }
    }

    template <class Choose>
    void fail_soon(Choose& choose) {
        if (tested_.upstream() != nullptr && tested_.traits().can_fail) tested_.upstream()->fail_at(1 + choose() % 4);
    }

    subject& tested_;
    live_model model_;
    std::vector<place> places_;
};

}  // namespace acre_test
