// Scratches that end in order, out of order, by a reset, or never.
#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "arenas/tracked.hpp"
#include "conformance/checking_upstream.hpp"

namespace {

using acre_test::checking_upstream;
using acre_test::tracked;

struct Step {
    int x, y;
};

class scratch_scope : public testing::Test {
protected:
    checking_upstream upstream_;
    acre::arena level_{{.first_block_bytes = 256, .max_block_bytes = 1024}, upstream_};

    void SetUp() override { tracked::start(); }
    void fill(acre::scratch& in) {
        for (int i = 0; i < 40; ++i) in.create<tracked>(i);
        (void)in.allocate(3000);
    }
};

TEST_F(scratch_scope, example) {
    const std::size_t n = 100;
    acre::arena level;
    {
        acre::scratch temp{level};
        std::span<Step> path = temp.allocate<Step>(n);
        path[99] = {1, 2};
        EXPECT_EQ(temp.remaining(), level.remaining());
        EXPECT_GE(level.used(), n * sizeof(Step));
    }
    EXPECT_EQ(level.used(), 0u);
}

TEST_F(scratch_scope, takes_back_what_was_allocated_in_it) {
    level_.create<tracked>(1000);
    const std::size_t used = level_.used();
    {
        acre::scratch temp{level_};
        fill(temp);
        EXPECT_EQ(temp.copy("text"), "text");
        EXPECT_EQ(temp.format("%d", 7), "7");
        level_.create<tracked>(2000);
    }
    EXPECT_EQ(tracked::live, 1);
    EXPECT_EQ(level_.used(), used);
}

TEST_F(scratch_scope, begun_on_an_empty_arena_ends_empty) {
    acre::scratch temp{level_};
    fill(temp);
    temp.end();
    EXPECT_FALSE(temp.active());
    temp.end();
    EXPECT_EQ(level_.used(), 0u);
    EXPECT_EQ(tracked::live, 0);
}

TEST_F(scratch_scope, nest) {
    acre::scratch outer{level_};
    fill(outer);
    const std::size_t used = level_.used();
    {
        acre::scratch inner{level_};
        fill(inner);
        acre::scratch innermost{level_};
        fill(innermost);
        EXPECT_EQ(tracked::live, 120);
    }
    EXPECT_EQ(level_.used(), used);
    EXPECT_EQ(tracked::live, 40);
    EXPECT_TRUE(outer.active());
}

// Hazard A5.
TEST_F(scratch_scope, outer_before_inner_ends_both) {
    auto outer = std::make_unique<acre::scratch>(level_);
    fill(*outer);
    auto inner = std::make_unique<acre::scratch>(level_);
    fill(*inner);
    auto innermost = std::make_unique<acre::scratch>(level_);
    fill(*innermost);
    outer.reset();
    EXPECT_FALSE(inner->active());
    EXPECT_FALSE(innermost->active());
    EXPECT_EQ(tracked::live, 0);
    void* later = level_.allocate(64);
    std::memset(later, 7, 64);
    inner.reset();
    innermost.reset();
    EXPECT_EQ(static_cast<unsigned char*>(later)[63], 7);
    EXPECT_NE(level_.allocate(64), later) << "an ended scope rewound again";
}

// Hazard A3.
TEST_F(scratch_scope, reset_ends_a_living_scratch) {
    for (const auto& policy : {acre::keep_all, acre::keep_largest, acre::keep(300), acre::release}) {
        acre::scratch outer{level_};
        fill(outer);
        acre::scratch inner{level_};
        fill(inner);
        level_.reset(policy);
        EXPECT_FALSE(outer.active());
        EXPECT_FALSE(inner.active());
        EXPECT_EQ(tracked::live, 0);
        void* later = level_.allocate(64);
        inner.end();
        outer.end();
        EXPECT_NE(level_.allocate(64), later);
        acre::scratch again{level_};
        fill(again);
    }
}

// Hazard A3.
TEST_F(scratch_scope, a_rewind_past_a_living_scratch_ends_it) {
    (void)level_.allocate(8);
    const auto where = level_.mark();
    acre::scratch outer{level_};
    fill(outer);
    acre::scratch inner{level_};
    fill(inner);
    level_.rewind(where);
    EXPECT_FALSE(outer.active());
    EXPECT_FALSE(inner.active());
    void* later = level_.allocate(64);
    inner.end();
    outer.end();
    EXPECT_NE(level_.allocate(64), later);
}

TEST_F(scratch_scope, a_rewind_within_a_scratch_leaves_it) {
    acre::scratch temp{level_};
    const auto where = level_.mark();
    fill(temp);
    level_.rewind(where);
    EXPECT_TRUE(temp.active());
    EXPECT_EQ(level_.used(), 0u);
}

// Hazard A4.
TEST_F(scratch_scope, the_arena_may_die_first) {
    auto arena = std::make_unique<acre::arena>(upstream_);
    acre::scratch temp{*arena};
    temp.create<tracked>(1);
    arena.reset();
    EXPECT_FALSE(temp.active());
    EXPECT_EQ(tracked::live, 0);
}

TEST_F(scratch_scope, used_after_its_end_is_reported) {
    acre::scratch temp{level_};
    temp.end();
    EXPECT_DEATH((void)temp.allocate(8), "acre::scratch: used after it ended");
    EXPECT_DEATH((void)temp.try_allocate(8), "acre::scratch: used after it ended");
    EXPECT_DEATH((void)temp.create<int>(1), "acre::scratch: used after it ended");
    acre::scratch kept{level_};
    kept.keep();
    EXPECT_DEATH((void)kept.allocate(8), "acre::scratch: used after it ended");
}

// Hazard X9.
TEST_F(scratch_scope, results_come_from_another_arena) {
    acre::arena results;
    std::string_view name;
    {
        acre::scratch temp{level_};
        name = results.copy(temp.format("orc %d", 12));
    }
    std::memset(level_.allocate(64), 'x', 64);
    EXPECT_EQ(name, "orc 12");
}

TEST_F(scratch_scope, frames_take_nothing_from_upstream) {
    std::size_t after_first = 0;
    for (int frame = 0; frame < 1000; ++frame) {
        acre::scratch outer{level_};
        (void)outer.allocate(700);
        for (int i = 0; i < 3; ++i) {
            acre::scratch inner{level_};
            (void)inner.allocate(2000);
        }
        outer.create<tracked>(frame);
        if (frame == 1) after_first = upstream_.requests();
    }
    EXPECT_EQ(upstream_.requests(), after_first);
    EXPECT_EQ(tracked::live, 0);
}

TEST_F(scratch_scope, keeps_what_it_allocated) {
    std::string_view kept;
    {
        acre::scratch temp{level_};
        kept = temp.copy("kept");
        temp.create<tracked>(1);
        temp.keep();
        EXPECT_FALSE(temp.active());
        temp.keep();
    }
    EXPECT_EQ(tracked::live, 1);
    std::memset(level_.allocate(64), 'x', 64);
    EXPECT_EQ(kept, "kept");
    level_.reset();
    EXPECT_EQ(tracked::live, 0);
}

TEST_F(scratch_scope, what_is_kept_belongs_to_the_outer_scratch) {
    acre::scratch outer{level_};
    {
        acre::scratch inner{level_};
        inner.create<tracked>(1);
        inner.keep();
    }
    EXPECT_EQ(tracked::live, 1);
    outer.end();
    EXPECT_EQ(tracked::live, 0);
    EXPECT_EQ(level_.used(), 0u);
}

// Hazard A5.
TEST_F(scratch_scope, inner_ones_go_on_when_an_outer_one_keeps) {
    acre::scratch first{level_};
    acre::scratch second{level_};
    second.create<tracked>(2);
    const auto within = level_.mark();
    acre::scratch third{level_};
    third.create<tracked>(3);
    second.keep();
    EXPECT_TRUE(first.active() && third.active());
    // A mark outlives the scratch that it was taken in.
    level_.rewind(within);
    EXPECT_FALSE(third.active());
    EXPECT_TRUE(first.active());
    EXPECT_EQ(tracked::destroyed, (std::vector<int>{3}));
    acre::scratch fourth{level_};
    fourth.create<tracked>(4);
    level_.rewind(within);
    EXPECT_FALSE(fourth.active());
    first.end();
    EXPECT_EQ(tracked::destroyed, (std::vector<int>{3, 4, 2}));
    EXPECT_EQ(level_.used(), 0u);
}

acre::scratch begun_in(acre::arena& level) {
    acre::scratch temp{level};
    temp.create<tracked>(1);
    return temp;
}

// Hazards A5, X16.
TEST_F(scratch_scope, moves) {
    static_assert(std::is_nothrow_move_constructible_v<acre::scratch>);
    static_assert(!std::is_move_assignable_v<acre::scratch> && !std::is_copy_constructible_v<acre::scratch>);
    {
        acre::scratch from_a_function = begun_in(level_);
        std::optional<acre::scratch> held{std::move(from_a_function)};
        EXPECT_FALSE(from_a_function.active());
        EXPECT_TRUE(held->active());
        EXPECT_DEATH((void)from_a_function.allocate(8), "acre::scratch: used after it ended");
        // An outer one moves while an inner one lives.
        acre::scratch inner{level_};
        acre::scratch outer{std::move(*held)};
        held.reset();
        EXPECT_EQ(tracked::live, 1);
        EXPECT_TRUE(outer.active() && inner.active());
        outer.end();
        EXPECT_FALSE(inner.active());
        acre::scratch of_an_ended_one{std::move(outer)};
        EXPECT_FALSE(of_an_ended_one.active());
    }
    EXPECT_EQ(tracked::live, 0);
    EXPECT_EQ(level_.used(), 0u);
}

// A light scratch lies in one that is complete since the mark.
TEST_F(scratch_scope, keeping_an_inner_one_leaves_the_outer_ones) {
    acre::scratch outer{level_};
    (void)level_.mark();
    acre::scratch inner{level_};
    inner.create<tracked>(1);
    inner.keep();
    EXPECT_TRUE(outer.active());
    level_.reset();
    EXPECT_FALSE(outer.active());
    EXPECT_EQ(tracked::live, 0);
}

TEST_F(scratch_scope, a_destructor_may_reset_the_arena) {
    struct resets {
        acre::arena& of;
        ~resets() { of.reset(); }
    };
    acre::scratch temp{level_};
    temp.create<resets>(level_);
    temp.end();
    EXPECT_FALSE(temp.active());
    EXPECT_EQ(level_.used(), 0u);
}

// Random scratches, marks, objects and blocks beside a list of what must be there: what ends takes back all behind it.
class scratch_model {
public:
    scratch_model(acre::arena& level, unsigned seed) : level_(level), state_(seed) {}

    void step() {
        const unsigned kind = random(16);
        if (kind < 4) {
            level_.create<tracked>(0);
            log_.push_back({entry::an_object});
        } else if (kind < 6) {
            const std::size_t bytes = random(8) == 0 ? 2000 : 1 + random(200);
            auto* text = static_cast<unsigned char*>(level_.allocate(bytes));
            const auto fill = static_cast<unsigned char>(random(256));
            std::memset(text, fill, bytes);
            log_.push_back({.kind = entry::a_text, .fill = fill, .bytes = bytes, .text = text});
        } else if (kind < 10) {
            log_.push_back({.kind = entry::a_scope, .scope = std::make_unique<acre::scratch>(level_)});
        } else if (kind < 11) {
            log_.push_back({.kind = entry::a_mark, .mark = level_.mark()});
        } else if (kind == 15 && random(10) == 0) {
            level_.reset(random(2) == 0 ? acre::keep_all : acre::release);
            cut(0);
        } else if (!log_.empty()) {
            change(random(2) == 0 ? last_scope() : random(static_cast<unsigned>(log_.size())), kind);
        }
        check();
    }

private:
    struct entry {
        enum { an_object, a_text, a_scope, a_mark } kind;
        unsigned char fill = 0;
        std::size_t bytes = 0;
        const unsigned char* text = nullptr;
        std::unique_ptr<acre::scratch> scope = nullptr;
        acre::arena::mark_type mark = {};
    };

    unsigned random(unsigned below) {
        state_ = state_ * 1664525 + 1013904223;
        return (state_ >> 8) % below;
    }
    std::size_t last_scope() const {
        std::size_t at = log_.size() - 1;
        while (at > 0 && log_[at].kind != entry::a_scope) --at;
        return at;
    }
    void change(std::size_t at, unsigned kind) {
        entry& chosen = log_[at];
        if (chosen.kind == entry::a_mark) {
            level_.rewind(chosen.mark);
            cut(at + 1);
        } else if (chosen.kind == entry::a_scope && kind == 11) {
            chosen.scope->keep();
            EXPECT_FALSE(chosen.scope->active());
            log_.erase(log_.begin() + static_cast<std::ptrdiff_t>(at));
        } else if (chosen.kind == entry::a_scope && kind == 12) {
            chosen.scope = std::make_unique<acre::scratch>(std::move(*chosen.scope));
        } else if (chosen.kind == entry::a_scope) {
            chosen.scope->end();
            cut(at);
        }
    }
    // All from `at` on has ended. The scratches that the arena ended are destroyed after others began.
    void cut(std::size_t at) {
        ended_.clear();
        for (std::size_t i = at; i < log_.size(); ++i) {
            if (log_[i].kind == entry::a_scope) ended_.push_back(std::move(log_[i].scope));
        }
        log_.erase(log_.begin() + static_cast<std::ptrdiff_t>(at), log_.end());
    }
    void check() const {
        int objects = 0;
        for (const entry& each : log_) {
            objects += each.kind == entry::an_object;
            if (each.kind == entry::a_scope) {
                EXPECT_TRUE(each.scope->active());
            }
            for (std::size_t i = 0; i < each.bytes; ++i) ASSERT_EQ(each.text[i], each.fill);
        }
        for (const auto& each : ended_) EXPECT_FALSE(each->active());
        ASSERT_EQ(tracked::live, objects);
        if (log_.empty()) {
            ASSERT_EQ(level_.used(), 0u);
        }
    }

    acre::arena& level_;
    unsigned state_;
    std::vector<entry> log_;
    std::vector<std::unique_ptr<acre::scratch>> ended_;
};

TEST_F(scratch_scope, takes_back_what_a_model_says) {
    for (unsigned seed = 0; seed < 50 && !HasFatalFailure(); ++seed) {
        level_.reset();
        scratch_model model{level_, seed};
        for (int i = 0; i < 300 && !HasFatalFailure(); ++i) model.step();
    }
}

}  // namespace
