// Objects that are created and destroyed in a pool in any order, beside a model.
#pragma once

#include <gtest/gtest.h>

#include <acre/adapt/smart_ptr.hpp>
#include <map>
#include <new>
#include <type_traits>
#include <utility>

#include "conformance/checking_upstream.hpp"
#include "conformance/probe.hpp"
#include "fuzz/records.hpp"

namespace acre_test {

/// `below` may be null: then the pool has all its storage from the start.
template <class Pool>
class object_pool_run {
public:
    object_pool_run(Pool& tested, checking_upstream* below) : tested_(tested), below_(below) {}

    void step(record_choices& choose) {
        switch (choose() % 32) {
            case 0:
                take_all_back(choose);
                break;
            case 1:
                if constexpr (requires { tested_.release_unused(); }) tested_.release_unused();
                break;
            case 2:
                move();
                break;
            case 3:
                if (below_ != nullptr) below_->fail_from(1 + choose() % 3, 1 + choose() % 4);
                break;
            case 4:
                create(choose, 1);
                break;
            case 5:
                destroy_some_in_a_loop(1 + choose() % 4);
                break;
            case 6:
                make_unique(choose);
                break;
            default:
                if (choose() % 5 < 2 && !live_.empty()) {
                    destroy(any(choose()));
                } else {
                    create(choose, 0);
                }
                break;
        }
        check();
    }

    void finish() {
        if (below_ != nullptr) below_->recover();
        while (!live_.empty()) destroy(live_.begin()->first);
        check();
    }

private:
    template <class... Arguments>
    probe* made(Arguments... arguments) {
        if constexpr (requires { tested_.create(arguments...); }) {
            return tested_.create(arguments...);
        } else {
            return tested_.template create<probe>(arguments...);
        }
    }

    void create(record_choices& choose, std::size_t throw_at) {
        const std::uint64_t value = choose();
        probe::throw_at(throw_at);
        try {
            keep(made(value), value);
            EXPECT_EQ(throw_at, 0u) << "the constructor threw nothing";
        } catch (const std::bad_alloc&) {
        } catch (const refused_object&) {
            EXPECT_EQ(throw_at, 1u);
        }
        probe::throw_at(0);
    }

    void keep(probe* created, std::uint64_t value) {
        ASSERT_NE(created, nullptr);
        EXPECT_TRUE(live_.emplace(created, value).second) << "handed out twice";
    }

    void make_unique(record_choices& choose) {
        probe::throw_at(choose() % 2);
        try {
            (void)acre::make_unique<probe>(tested_, std::uint64_t{choose()});
        } catch (const std::bad_alloc&) {
        } catch (const refused_object&) {
        }
        probe::throw_at(0);
    }

    probe* any(std::size_t number) {
        auto each = live_.begin();
        std::advance(each, static_cast<std::ptrdiff_t>(number % live_.size()));
        return each->first;
    }

    void destroy(probe* object) {
        EXPECT_EQ(object->value(), live_.at(object)) << "overwritten";
        live_.erase(object);
        tested_.destroy(object);
    }

    void take_all_back(record_choices& choose) {
        const std::uint32_t how = choose();
        if (how % 4 != 0) return;
        if constexpr (requires { tested_.deallocate_all(); }) {
            while (!live_.empty()) destroy(live_.begin()->first);
            tested_.deallocate_all();
        } else {
            release_or_reset(how / 4 % 2 == 0);
            live_.clear();
        }
    }

    void release_or_reset(bool release) {
        if constexpr (requires { tested_.release(); }) {
            if (release) return tested_.release();
        }
        tested_.reset();
    }

    void move() {
        if constexpr (std::is_move_constructible_v<Pool> && std::is_move_assignable_v<Pool>) {
            Pool elsewhere{std::move(tested_)};
            EXPECT_EQ(tested_.live(), 0u);
            tested_ = std::move(elsewhere);
        }
    }

    /// A loop over the live objects visits each once, also when it destroys some.
    void destroy_some_in_a_loop(std::size_t one_in) {
        if constexpr (requires { tested_.begin(); }) {
            std::size_t visited = 0;
            const std::size_t before = live_.size();
            for (probe& each : tested_) {
                ASSERT_TRUE(live_.contains(&each)) << "visits what is not live";
                if (visited++ % one_in == 0) destroy(&each);
            }
            EXPECT_EQ(visited, before);
        }
    }

    void check() const {
        if constexpr (requires { tested_.live(); }) EXPECT_EQ(tested_.live(), live_.size());
        EXPECT_EQ(probe::alive(), live_.size());
        for (const auto& [object, value] : live_) EXPECT_EQ(object->value(), value) << "overwritten";
    }

    Pool& tested_;
    checking_upstream* below_;
    std::map<probe*, std::uint64_t> live_;
};

}  // namespace acre_test
