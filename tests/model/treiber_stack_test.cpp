// acre::detail::treiber_stack under every schedule: an index has one owner at a time, and the pop is synchronised with
// the push.
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

    // Pops an index and uses its element, if there is one.
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

TEST(treiber_stack_model, two_threads_take_and_give_back) {
    model::expect_holds([] {
        things<2> tested;
        const auto work = [&] { tested.end_use(tested.use()); };
        model::threads(work, work);
        tested.expect_all_there();
    });
}

// ABA: a pop is interrupted between the link and the exchange; another thread pops two and pushes the first back.
TEST(treiber_stack_model, an_index_that_came_back_is_detected) {
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

TEST(treiber_stack_model, three_threads_and_one_index) {
    model::expect_holds([] {
        things<1> tested;
        const auto work = [&] { tested.end_use(tested.use()); };
        model::threads(work, work, work);
        tested.expect_all_there();
    });
}

}  // namespace
