// acre::detail::remote_free_set under every schedule: the owner finds each freed slot once, after everything that was
// done with it; a thread that is stopped within a free hides no slot of other threads.
#include <acre/pools/detail/remote_free_set.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "model/expect.hpp"

namespace {

using model::check;
using slots = acre::detail::remote_free_set<model::atomic>;

// A set of `Count` slots, which determines the levels of the tree; the given slots are handed out.
template <std::size_t Count>
class tested_slots {
public:
    explicit tested_slots(std::vector<std::size_t> out) : out_(std::move(out)), set_(storage_, Count) {
        check(out_.size() <= used_.size(), "there is a datum for each");
        for (std::size_t i = 0; i < out_.size(); ++i) used_[i] = 1;
    }
    ~tested_slots() {
        auto* words = reinterpret_cast<slots::word_type*>(storage_);
        for (std::size_t i = 0; i < slots::words(Count); ++i) std::destroy_at(words + i);
    }
    tested_slots(const tested_slots&) = delete;
    tested_slots& operator=(const tested_slots&) = delete;

    void give_back(std::size_t which) {
        used_[which] = 2;
        check(set_.insert(out_[which]), "it was not there");
    }
    // True when a slot came back.
    bool collect() {
        std::size_t word = 0;
        std::uint64_t bits = 0;
        if (!set_.collect(word, bits)) return false;
        check(bits != 0, "some came back");
        for (std::size_t i = 0; i < out_.size(); ++i) {
            if (out_[i] / 64 != word || (bits >> (out_[i] % 64) & 1) == 0) continue;
            check(used_[i] == 2, "it was given back, and once");
            used_[i] = 3;
            bits &= ~(std::uint64_t{1} << (out_[i] % 64));
        }
        check(bits == 0, "only what was handed out comes back");
        return true;
    }
    void expect_all_collected() {
        while (collect()) {
        }
        for (std::size_t i = 0; i < out_.size(); ++i) check(used_[i] == 3, "it was found");
    }

private:
    std::vector<std::size_t> out_;
    std::array<model::plain<int>, 3> used_;
    alignas(slots::word_type) std::byte storage_[slots::words(Count) * sizeof(slots::word_type)];
    slots set_;
};

TEST(remote_free_set_model, one_word_two_threads_give_back) {
    model::expect_holds([] {
        tested_slots<64> tested{{0, 63}};
        model::threads([&] { tested.give_back(0); }, [&] { tested.give_back(1); },
                       [&] {
                           tested.collect();
                           tested.collect();
                       });
        tested.expect_all_collected();
    });
}

TEST(remote_free_set_model, two_levels_the_same_word) {
    model::expect_holds([] {
        tested_slots<128> tested{{3, 5}};
        model::threads([&] { tested.give_back(0); }, [&] { tested.give_back(1); }, [&] { tested.collect(); });
        tested.expect_all_collected();
    });
}

TEST(remote_free_set_model, two_levels_two_words) {
    model::expect_holds([] {
        tested_slots<128> tested{{3, 100}};
        model::threads([&] { tested.give_back(0); }, [&] { tested.give_back(1); }, [&] { tested.collect(); });
        tested.expect_all_collected();
    });
}

TEST(remote_free_set_model, three_levels_beside_the_owner) {
    model::expect_holds([] {
        tested_slots<4097> tested{{64, 4096}};
        model::threads(
            [&] {
                tested.give_back(0);
                tested.give_back(1);
            },
            [&] {
                tested.collect();
                tested.collect();
            });
        tested.expect_all_collected();
    });
}

// The owner finds a slot whose free has returned, whatever another thread has begun.
TEST(remote_free_set_model, a_thread_in_the_middle_hides_nothing) {
    model::expect_holds([] {
        tested_slots<128> tested{{3, 5}};
        model::atomic<int> given{0, "given"};
        model::threads([&] { tested.give_back(0); },
                       [&] {
                           tested.give_back(1);
                           given.store(1, std::memory_order_release);
                       },
                       [&] {
                           if (given.load(std::memory_order_acquire) == 0) return;
                           check(tested.collect(), "one at least is there");
                       });
        tested.expect_all_collected();
    });
}

}  // namespace
