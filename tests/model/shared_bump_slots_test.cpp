// acre::detail::shared_bump_slots under every schedule: no slot has two owners or is lost.
#include <acre/core/detail/slot_policies.hpp>
#include <array>
#include <cstddef>

#include "model/expect.hpp"

namespace {

constexpr std::size_t slot_bytes = 8;

// The counter of the slots, readable by the test.
class position : public model::atomic<std::size_t> {
public:
    position(std::size_t first) : atomic(first, "position") { last_made = this; }
    static inline position* last_made = nullptr;
};

// Slots that their owner writes: two owners at once, or one after the other without synchronisation, are a race.
template <std::size_t Count>
class written_slots {
public:
    /// Takes `count` slots and counts them.
    bool take(std::size_t count) {
        std::size_t offset = 0;
        if (!slots_.take(count, slot_bytes, offset)) return false;
        for (std::size_t i = 0; i < count; ++i) write(offset / slot_bytes + i);
        taken_.fetch_add(count, std::memory_order_relaxed);
        return true;
    }

    /// Takes a slot, writes it and gives it back.
    void take_and_undo() {
        std::size_t offset = 0;
        if (!slots_.take(1, slot_bytes, offset)) return;
        write(offset / slot_bytes);
        slots_.undo("", nullptr, offset, 1);
    }

    std::size_t used() const { return slots_.used() / slot_bytes; }
    static std::size_t position_in_bytes() { return position::last_made->load(); }
    std::size_t taken() const { return taken_.load(std::memory_order_relaxed); }

private:
    void write(std::size_t slot) { contents_.at(slot).store(1); }

    acre::detail::shared_bump_slots<slot_bytes, Count, position> slots_;
    model::atomic<std::size_t> taken_{0, "taken"};
    std::array<model::plain<int>, Count> contents_;
};

// Hazard M23.
TEST(model_shared_bump_slots, refused_slots_are_undone) {
    model::expect_holds([] {
        written_slots<2> slots;
        const auto take = [&] { slots.take(1); };
        model::threads(take, take, take);
        model::check(slots.taken() == 2 && slots.used() == 2, "all slots are taken");
        model::check(!slots.take(1), "no more is");
        model::check(slots.position_in_bytes() == 2 * slot_bytes, "the position is at the end");
    });
}

// Hazard M23: a refused run takes no slot.
TEST(model_shared_bump_slots, runs_beside_slots) {
    model::expect_holds([] {
        written_slots<3> slots;
        std::array<bool, 2> runs{};
        model::threads([&] { runs[0] = slots.take(2); }, [&] { runs[1] = slots.take(2); },
                       [&] {
                           slots.take(1);
                           slots.take(1);
                       });
        model::check(slots.used() == slots.taken(), "what is used is owned");
        model::check(slots.taken() == (runs[0] || runs[1] ? 3 : 2), "nothing is refused that there is room for");
    });
}

// Hazard M20: the next owner is synchronised with writes of a constructor that threw.
TEST(model_shared_bump_slots, a_slot_that_was_given_back_is_handed_over) {
    const model::result found = model::expect_holds([] {
        written_slots<2> slots;
        model::threads([&] { slots.take_and_undo(); }, [&] { slots.take(1); });
        model::check(slots.used() == slots.taken() || slots.used() == slots.taken() + 1, "at most one is passed over");
    });
    EXPECT_EQ(found.final_states.size(), 3U);  // the undo comes before the other take, after it, or is a no-op
}

// Hazard M20: the same for a run.
TEST(model_shared_bump_slots, a_slot_that_was_given_back_is_handed_over_in_a_run) {
    model::expect_holds([] {
        written_slots<2> slots;
        bool run = false;
        model::threads([&] { slots.take_and_undo(); }, [&] { run = slots.take(2); });
        model::check(run || slots.used() == 0, "it was given back");
    });
}

// Hazard M20: the same when a refused thread changes the position in between.
TEST(model_shared_bump_slots, a_slot_that_was_given_back_is_handed_over_past_a_refusal) {
    model::expect_holds([] {
        written_slots<1> slots;
        model::threads([&] { slots.take_and_undo(); }, [&] { slots.take(1); }, [&] { slots.take(1); });
    });
}

}  // namespace
