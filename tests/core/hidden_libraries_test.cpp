// Resources that threads share, made in one and used in another of three parts of a program that have each their own
// copy of acre's variables: the program and two shared libraries, all with hidden visibility.
#include "hidden_library.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <thread>
#include <vector>

namespace {

namespace parts = hidden_libraries;

template <class R>
class HiddenLibraries : public testing::Test {
protected:
    using calls = parts::calls<R>;
    const calls program_{};
    const calls first_ = parts::first_library();
    const calls second_ = parts::second_library();
    const std::vector<calls> all_{program_, first_, second_};
};

using resources =
    testing::Types<acre::concurrent_arena, acre::concurrent_multi_arena, acre::concurrent_pool<sizeof(parts::item)>,
                   acre::concurrent_object_pool<parts::item>, acre::concurrent_multi_pool>;
TYPED_TEST_SUITE(HiddenLibraries, resources);

TYPED_TEST(HiddenLibraries, HaveTheirOwnCode) {
    EXPECT_NE(this->program_.take, this->first_.take);
    EXPECT_NE(this->first_.take, this->second_.take);
}

// Of resources with the same number in the tables of their parts each serves its own requests.
TYPED_TEST(HiddenLibraries, AResourceServesTheRequestsMadeOfIt) {
    std::vector<TypeParam*> made;
    for (const auto& each : this->all_) made.push_back(each.make());
    for (int round = 0; round < 3; ++round) {
        for (const auto& user : this->all_) {
            for (TypeParam* asked : made) {
                void* p = user.take(*asked);
                for (const TypeParam* each : made) EXPECT_EQ(each->owns(p), each == asked);
                user.give(*asked, p);
            }
        }
    }
    for (std::size_t i = 0; i < made.size(); ++i) this->all_[i].end(made[i]);
}

// Used in turns, they do not push each other out of the thread's table.
TYPED_TEST(HiddenLibraries, AThreadKeepsOneStateOfEachResource) {
    std::vector<TypeParam*> made;
    for (const auto& each : this->all_) made.push_back(each.make());
    for (int round = 0; round < 1000; ++round) {
        for (const auto& user : this->all_) {
            for (TypeParam* asked : made) user.give(*asked, user.take(*asked));
        }
    }
    // Arenas take nothing back: 3,000 requests of 64 bytes and redzones, in blocks that double.
    for (const TypeParam* each : made) EXPECT_LT(each->capacity(), 1'100'000u);
    for (std::size_t i = 0; i < made.size(); ++i) this->all_[i].end(made[i]);
}

TYPED_TEST(HiddenLibraries, WhatOnePartTookAnotherGivesBack) {
    for (const auto& maker : this->all_) {
        TypeParam* made = maker.make();
        for (const auto& taker : this->all_) {
            for (const auto& giver : this->all_) {
                std::vector<void*> taken;
                for (int i = 0; i < 50; ++i) taken.push_back(taker.take(*made));
                for (void* p : taken) giver.give(*made, p);
                std::thread([&] {
                    void* p = taker.take(*made);
                    std::thread([&] { giver.give(*made, p); }).join();
                }).join();
            }
        }
        maker.end(made);
    }
}

// What an ended thread kept serves the next one. (40 windows of an arena would be 40 KiB, 40 magazines of slots more.)
TYPED_TEST(HiddenLibraries, AThreadThatEndsHandsOverWhatItKept) {
    for (const auto& maker : this->all_) {
        for (const auto& user : this->all_) {
            TypeParam* made = maker.make();
            user.give(*made, user.take(*made));
            std::thread([&] { user.give(*made, user.take(*made)); }).join();
            const std::size_t capacity = made->capacity();
            for (int i = 0; i < 40; ++i) std::thread([&] { user.give(*made, user.take(*made)); }).join();
            EXPECT_LE(made->capacity(), capacity + 16'384);
            maker.end(made);
        }
    }
}

// Its end concerns only itself, wherever it happens and whichever threads kept something.
TYPED_TEST(HiddenLibraries, AResourceEndsInAnyPart) {
    for (const auto& maker : this->all_) {
        for (const auto& ender : this->all_) {
            std::vector<TypeParam*> others;
            for (const auto& each : this->all_) others.push_back(each.make());
            TypeParam* made = maker.make();
            std::thread([&] {
                for (const auto& each : this->all_) {
                    each.give(*made, each.take(*made));
                    for (TypeParam* other : others) each.give(*other, each.take(*other));
                }
                std::thread([&] { ender.end(made); }).join();
                TypeParam* next = maker.make();
                for (const auto& each : this->all_) {
                    void* p = each.take(*next);
                    EXPECT_TRUE(next->owns(p));
                    each.give(*next, p);
                }
                ender.end(next);
            }).join();
            for (TypeParam* other : others) {
                for (const auto& each : this->all_) {
                    void* p = each.take(*other);
                    EXPECT_TRUE(other->owns(p));
                    each.give(*other, p);
                }
            }
            for (TypeParam* other : others) ender.end(other);
        }
    }
}

}  // namespace
