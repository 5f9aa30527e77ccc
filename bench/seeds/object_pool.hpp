// W7: 1,000 created objects are pushed on a stack, then popped and destroyed. The round includes the pool's
// construction and destruction.
#pragma once

#include <cstddef>
#include <stack>
#include <string>

#include "../harness.hpp"

namespace bench {

struct one_int {
    explicit one_int(int value) noexcept : i{value} {}
    int i;
};

struct five_ints {
    explicit five_ints(int value) noexcept : i{value, value, value, value, value} {}
    int i[5];
};

inline constexpr int stacked_objects = 1000;

/// A `Pool<T>` has `T* create(int)` and `void destroy(T*)`.
template <template <class> class Pool, class T>
class stacked {
public:
    explicit stacked(int outer) : outer_{outer} {}

    void operator()() {
        Pool<T> pool;
        std::stack<T*> stack;
        for (int round = 0; round < outer_; ++round) {
            for (int i = 0; i < stacked_objects; ++i) stack.push(pool.create(i));
            escape(&stack);
            while (!stack.empty()) {
                pool.destroy(stack.top());
                stack.pop();
            }
        }
    }

private:
    int outer_;
};

template <template <class> class Pool>
void add_stacked(suite& entries, const std::string& name) {
    const auto add = [&]<class T>(const std::string& id, const std::string& title, int outer, T*) {
        entries.add({id, title, static_cast<std::size_t>(outer) * stacked_objects}, name,
                    [outer] { return make_round<stacked<Pool, T>>(outer); });
    };
    add("W7", "1,000 objects of one int through a std::stack, 100 times", 100, static_cast<one_int*>(nullptr));
    add("W7 outer 2", "the same, twice", 2, static_cast<one_int*>(nullptr));
    add("W7 outer 1", "the same, once: making and ending the pool is in it", 1, static_cast<one_int*>(nullptr));
    add("W7 five ints", "100 times, objects of five ints", 100, static_cast<five_ints*>(nullptr));
}

}  // namespace bench
