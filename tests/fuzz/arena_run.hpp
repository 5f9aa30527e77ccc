// Objects, arrays, scratches, marks, vectors and strings in one arena, beside a model.
#pragma once

#include <gtest/gtest.h>

#include <acre/adapt/smart_ptr.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/arena_string.hpp>
#include <acre/arenas/arena_vector.hpp>
#include <acre/arenas/cursor.hpp>
#include <acre/arenas/scratch.hpp>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "conformance/probe.hpp"
#include "fuzz/records.hpp"

namespace acre_test {

class arena_run {
public:
    arena_run(acre::arena& tested, checking_upstream& below) : tested_(tested), below_(below) {}

    void step(record_choices& choose) {
        const std::uint32_t what = choose();
        probe::throw_at(choose() % 4 == 0 ? 1 + choose() % 8 : 0);
        try {
            act(what, choose);
        } catch (const std::bad_alloc&) {
        } catch (const refused_object&) {
        }
        probe::throw_at(0);
        check();
    }

    void finish() {
        below_.recover();
        drop_containers();
        scopes_.clear();
        tested_.reset();
        objects_.clear();
        check();
        EXPECT_EQ(tested_.used(), 0u);
    }

private:
    struct scope {
        std::unique_ptr<acre::scratch> tested;
        std::size_t objects;
        std::uint64_t time;
    };
    struct place {
        acre::arena::mark_type mark;
        std::size_t objects;
        std::uint64_t time;
    };

    void act(std::uint32_t what, record_choices& choose) {
        switch (what % 24) {
            case 0:
                scopes_.push_back({std::make_unique<acre::scratch>(tested_), objects_.size(), ++now_});
                return;
            case 1:
                return end_scope(choose);
            case 2:
                return keep_scope();
            case 3:
                places_.push_back({tested_.mark(), objects_.size(), ++now_});
                return;
            case 4:
                return rewind(choose);
            case 5:
                return reset(choose);
            case 6:
                return below_.fail_from(1 + choose() % 3, 1 + choose() % 4);
            case 7:
                return use_cursor(choose);
            case 8:
                return copy(choose);
            case 9:
                (void)acre::make_unique<probe>(tested_, std::uint64_t{choose()});
                return;
            case 10:
                return create_array(choose);
            case 11:
            case 12:
            case 13:
                return change_string(choose);
            case 14:
            case 15:
            case 16:
            case 17:
                return change_vector(choose);
            default:
                return create(choose);
        }
    }

    void create(record_choices& choose) {
        const std::uint64_t value = choose();
        if (const probe* made = tested_.create<probe>(value)) objects_.push_back({made, value});
    }

    /// If one constructor throws, those before it are undone.
    void create_array(record_choices& choose) {
        const std::size_t count = choose() % 64 == 0 ? SIZE_MAX / 16 - choose() : choose() % 20;
        for (const probe& each : tested_.create_array<probe>(count)) objects_.push_back({&each, 0});
    }

    void copy(record_choices& choose) {
        const std::string text(choose() % 300, 'x');
        EXPECT_EQ(tested_.copy(text), text);
    }

    void use_cursor(record_choices& choose) {
        acre::cursor building{tested_};
        std::vector<std::span<std::uint64_t>> made;
        for (std::uint32_t left = choose() % 6; left > 0; --left) {
            made.push_back(building.allocate<std::uint64_t>(choose() % 40));
            std::ranges::fill(made.back(), made.size());
        }
        for (std::size_t i = 0; i < made.size(); ++i) {
            EXPECT_TRUE(std::ranges::all_of(made[i], [=](std::uint64_t each) { return each == i + 1; }));
        }
    }

    void forget_after(std::uint64_t time, std::size_t objects) {
        while (!scopes_.empty() && scopes_.back().time > time) {
            EXPECT_FALSE(scopes_.back().tested->active());
            scopes_.pop_back();
        }
        std::erase_if(places_, [=](const place& each) { return each.time > time; });
        objects_.resize(objects);
    }

    /// Mostly the innermost, else any; those within it end, too.
    void end_scope(record_choices& choose) {
        if (scopes_.empty()) return;
        const std::uint32_t which = choose();
        const std::size_t index = which % 4 == 0 ? which / 4 % scopes_.size() : scopes_.size() - 1;
        drop_containers();
        const scope ended = std::move(scopes_[index]);
        scopes_.erase(scopes_.begin() + static_cast<std::ptrdiff_t>(index));
        ended.tested->end();
        forget_after(ended.time, ended.objects);
    }

    void keep_scope() {
        if (scopes_.empty()) return;
        scopes_.back().tested->keep();
        scopes_.pop_back();
    }

    void rewind(record_choices& choose) {
        if (places_.empty()) return;
        const place chosen = places_[choose() % places_.size()];
        drop_containers();
        tested_.rewind(chosen.mark);
        forget_after(chosen.time, chosen.objects);
    }

    void reset(record_choices& choose) {
        const std::uint32_t how = choose();
        if (how % 4 != 0) return;
        const acre::reset_policy policies[] = {acre::keep_all, acre::keep_largest, acre::release,
                                               acre::keep(choose() % 10'000)};
        drop_containers();
        tested_.reset(policies[how / 4 % 4]);
        forget_after(0, 0);
        EXPECT_EQ(tested_.used(), 0u);
    }

    void drop_containers() {
        vector_.reset();
        vector_model_.clear();
        string_.reset();
        string_model_.clear();
    }

    // A change that throws leaves the vector as it was, but for the elements that append added.
    void change_vector(record_choices& choose) {
        if (!vector_) vector_.emplace(tested_);
        const std::uint32_t what = choose() % 8;
        const std::uint64_t value = choose();
        const std::size_t at = vector_model_.empty() ? 0 : value % vector_model_.size();
        const auto place = [&] { return vector_model_.begin() + static_cast<std::ptrdiff_t>(at); };
        if (what < 3) {
            vector_->emplace_back(value);
            vector_model_.push_back(value);
        } else if (what == 3 && !vector_model_.empty()) {
            vector_->push_back((*vector_)[at]);
            vector_model_.push_back(vector_model_[at]);
        } else if (what == 4 && !vector_model_.empty()) {
            vector_->pop_back();
            vector_model_.pop_back();
        } else if (what == 5 && !vector_model_.empty()) {
            // No constructor may throw: a half-done erasure has no defined content.
            probe::throw_at(0);
            vector_->erase(vector_->begin() + static_cast<std::ptrdiff_t>(at));
            vector_model_.erase(place());
        } else if (what == 6) {
            vector_->reserve(value % 200);
        } else if (what == 7) {
            vector_->shrink_to_fit();
        }
    }

    void change_string(record_choices& choose) {
        if (!string_) string_.emplace(tested_);
        const std::uint32_t what = choose() % 8;
        const std::uint32_t value = choose();
        const std::string text(value % 50, static_cast<char>('a' + value % 26));
        if (what < 3) {
            string_->append(text);
            string_model_ += text;
        } else if (what == 3) {
            string_->push_back(static_cast<char>('a' + value % 26));
            string_model_.push_back(static_cast<char>('a' + value % 26));
        } else if (what == 4) {
            string_->append(string_->view().substr(value % (string_model_.size() + 1)));
            string_model_ += string_model_.substr(value % (string_model_.size() + 1));
        } else if (what == 5) {
            string_->truncate(std::min<std::size_t>(value % 100, string_model_.size()));
            string_model_.resize(std::min<std::size_t>(value % 100, string_model_.size()));
        } else if (what == 6) {
            string_->reserve(value % 500);
        } else if (string_->try_append(text)) {
            string_model_ += text;
        }
    }

    void check() const {
        EXPECT_EQ(probe::alive(), objects_.size() + vector_model_.size());
        for (const auto& [object, value] : objects_) EXPECT_EQ(object->value(), value) << "overwritten";
        for (std::size_t i = 0; i < vector_model_.size(); ++i) EXPECT_EQ((*vector_)[i].value(), vector_model_[i]);
        if (string_) {
            EXPECT_EQ(string_->view(), string_model_);
            EXPECT_EQ(string_->c_str()[string_->size()], '\0');
        }
        for (const scope& each : scopes_) EXPECT_TRUE(each.tested->active());
        EXPECT_GE(tested_.capacity(), tested_.used());
    }

    acre::arena& tested_;
    checking_upstream& below_;
    std::uint64_t now_ = 0;
    std::vector<std::pair<const probe*, std::uint64_t>> objects_;  // in order of creation
    std::vector<scope> scopes_;
    std::vector<place> places_;
    std::optional<acre::arena_vector<probe>> vector_;
    std::vector<std::uint64_t> vector_model_;
    std::optional<acre::arena_string> string_;
    std::string string_model_;
};

}  // namespace acre_test
