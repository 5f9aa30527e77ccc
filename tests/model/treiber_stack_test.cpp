// acre::detail::treiber_stack under every schedule: a number is in one place at a time, and what was done with its
// thing before the push is seen after the pop.
#include <acre/core/detail/treiber_stack.hpp>
#include <array>
#include <cstdint>

#include "model/expect.hpp"

namespace {

using model::check;
using stack = acre::detail::treiber_stack<model::atomic>;

template <std::size_t Count>
struct things {
    std::array<model::atomic<std::uint32_t>, Count> links;
    std::array<model::plain<int>, Count> users;
    stack free;

    things() {
        for (std::uint32_t index = Count; index > 0; --index) push(index - 1);
    }
    auto links_of() {
        return [this](std::uint32_t index) -> model::atomic<std::uint32_t>& { return links[index]; };
    }
    void push(std::uint32_t index) { free.push(links_of(), index); }

    // Takes one and uses it, if there is one.
    std::uint32_t use() {
        const std::uint32_t index = free.pop(links_of());
        if (index == stack::none) return index;
        check(users[index] == 0, "nobody else has it");
        users[index] = 1;
        return index;
    }
    void end_use(std::uint32_t index) {
        if (index == stack::none) return;
        users[index] = 0;
        push(index);
    }
    void expect_all_there() {
        std::size_t count = 0;
        while (use() != stack::none) ++count;
        check(count == Count, "each is in the stack once");
    }
};

TEST(index_stack_model, two_threads_take_and_give_back) {
    model::expect_holds([] {
        things<2> tested;
        const auto work = [&] { tested.end_use(tested.use()); };
        model::threads(work, work);
        tested.expect_all_there();
    });
}

// The classic: one thread is interrupted between the link and the exchange, another takes two and gives the first back.
TEST(index_stack_model, a_number_that_came_back_deceives_nobody) {
    model::expect_holds([] {
        things<3> tested;
        model::threads([&] { tested.end_use(tested.use()); },
                       [&] {
                           const std::uint32_t first = tested.use();
                           const std::uint32_t second = tested.use();
                           tested.end_use(first);
                           tested.end_use(second);
                       });
        tested.expect_all_there();
    });
}

TEST(index_stack_model, three_threads_and_one_number) {
    model::expect_holds([] {
        things<1> tested;
        const auto work = [&] { tested.end_use(tested.use()); };
        model::threads(work, work, work);
        tested.expect_all_there();
    });
}

}  // namespace
