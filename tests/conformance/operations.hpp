// Sequences of all operations of a resource, chosen by a source of numbers (a random generator or a fuzzer's bytes),
// against a model of the contents of every live block.
#pragma once

#include <gtest/gtest.h>

#include <acre/core/alignment.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/live_model.hpp"
#include "conformance/refusal.hpp"
#include "conformance/subject.hpp"
#include "sizes.hpp"

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

/// A size that hardly any resource serves: near the end of the address space, or a few mebibytes.
template <class Choose>
std::size_t odd_size(Choose& choose) {
    const std::size_t less = choose() % 65536;
    switch (choose() % 4) {
        case 0:
            return SIZE_MAX - less;
        case 1:
            return SIZE_MAX / 2 - 32768 + less;
        case 2:
            return less << 6;
        default:
            return usual_size(choose);
    }
}

/// Any power of two up to a mebibyte or from 2^40 on, or none at all. AddressSanitizer would mark each byte in between.
template <class Choose>
std::size_t odd_alignment(Choose& choose) {
    const std::size_t chosen = choose() % 65536;
    if (chosen % 4 == 0) return chosen / 4;
    const std::size_t shift = chosen / 4 % 44;
    if (shift <= 20) return std::size_t{1} << shift;
    const bool is_refused = sizeof(std::size_t) == 8 && !commits_untouched_memory;  // that system would serve it
    return is_refused ? std::size_t{1} << (shift + 20) : usual_alignment(choose);
}

/// A subject and its model.
class operations {
public:
    explicit operations(subject& tested)
        : tested_(tested), traits_(tested.traits()), held_at_first_(tested.capacity().value_or(0)) {}

    /// Performs one operation; `choose()` returns numbers.
    template <class Choose>
    void step(Choose& choose) {
        switch (choose() % 64) {
            case 0:
            case 1:
                return reset(choose);
            case 2:
            case 3:
                return mark();
            case 4:
            case 5:
                return rewind(choose);
            case 6:
            case 7:
            case 8:
            case 9:
            case 10:
            case 11:
                return resize(choose);
            case 12:
            case 13:
                return fail_soon(choose);
            case 14:
                return odd_request(choose);
            case 15:
                return release_unused();
            case 16:
                return move();
            case 17:
                return check_sizes();
            default:
                break;
        }
        if (choose() % 5 < 2 && !model_.empty()) {
            // Half of the frees take the newest block, which arenas take back at once.
            give_back(tested_, model_, choose() % 2 == 0 ? model_.newest() : model_.any(choose()));
        } else {
            const std::size_t bytes = usual_size(choose);
            request(bytes, usual_alignment(choose));
        }
    }

    /// Verifies and frees everything.
    void finish() {
        check_sizes();
        model_.verify_all();
        give_all_back(tested_, model_);
        places_.clear();
        if (tested_.reset() && tested_.used()) {
            EXPECT_EQ(*tested_.used(), 0u);
        }
    }

    /// What a resource says about its size and its storage must agree with the model.
    void check_sizes() {
        EXPECT_EQ(tested_.broken_invariant(), nullptr) << tested_.broken_invariant();
        if (tested_.used() && tested_.capacity()) {
            EXPECT_GE(*tested_.used(), model_.live_bytes());
            EXPECT_GE(*tested_.capacity(), *tested_.used());
        }
        if (traits_.direct && tested_.capacity()) {
            EXPECT_EQ(*tested_.capacity() - held_at_first_, tested_.upstream()->live_bytes());
        }
        if (model_.empty()) return;
        const live_block newest = model_.newest();
        EXPECT_TRUE(tested_.owns(newest.p).value_or(true));
        EXPECT_TRUE(tested_.owns(newest.p + std::max<std::size_t>(newest.bytes, 1) - 1).value_or(true));
    }

private:
    struct place {
        std::size_t mark;
        std::uint64_t first_number;
    };

    /// A refused request must not change what is in use.
    bool request(std::size_t bytes, std::size_t alignment) {
        const std::optional<std::size_t> used = tested_.used();
        const bool served = take(tested_, model_, bytes, alignment);
        if (!served && !traits_.holds_back) {
            EXPECT_EQ(tested_.used(), used) << "changed by a refused request";
        }
        return served;
    }

    template <class Choose>
    void odd_request(Choose& choose) {
        if (!traits_.can_fail || traits_.std_pmr) return;  // where a refusal may end the program
        const std::size_t bytes = odd_size(choose);
        const std::size_t alignment = odd_alignment(choose);
        const bool served = request(bytes, alignment);
        EXPECT_TRUE(!served || acre::is_alignment(alignment)) << "served an alignment of " << alignment;
    }

    void forget_all() {
        model_.forget_all();
        places_.clear();
    }

    template <class Choose>
    void reset(Choose& choose) {
        const std::size_t how = choose();
        if (how % 4 != 0) return;
        model_.verify_all();
        const bool by_name = how / 4 % 4 == 0 && tested_.deallocate_all();
        if (by_name || (how / 16 % 4 == 0 ? tested_.release() : tested_.reset())) forget_all();
    }

    void release_unused() {
        if (tested_.release_unused()) model_.verify_all();
    }

    /// Live blocks stay where they are. Marks point to the resource's own storage, which a movable one does not have.
    void move() {
        if (!tested_.move_there_and_back()) return;
        places_.clear();
        model_.verify_all();
        check_sizes();
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
        } else if (traits_.shrinks) {
            EXPECT_GT(new_bytes, block.bytes) << "refused to shrink";
        }
    }

    /// The upstream fails once or a few times, at one of its next calls.
    template <class Choose>
    void fail_soon(Choose& choose) {
        if (tested_.upstream() == nullptr || !traits_.can_fail) return;
        const std::size_t how = choose();
        tested_.upstream()->fail_from(1 + how % 4, how / 4 % 8 == 0 ? 1 + how / 32 % 8 : 1);
    }

    subject& tested_;
    const subject_traits traits_;
    const std::size_t held_at_first_;
    live_model model_;
    std::vector<place> places_;
};

}  // namespace acre_test
