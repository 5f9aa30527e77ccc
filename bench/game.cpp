// A small game, once with new and delete and once more for each step of docs/migrating.md, "From new and delete": each
// step has those before it. Entities of components that are made and deleted, particles, events, and the strings and
// tables of a frame. All of them compute the same, which is checked.
//
// Usage: acre-game [ROUNDS [STEP]]. Prints the time of a frame for each step, the least of the rounds in turns, and its
// ratio to new and delete. With STEP: plays that step alone, for callgrind.
#include <acre/acre.hpp>
#include <acre/adapt/containers.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace {

enum step { new_and_delete, pooled_classes, pool_and_table, object_pool, frame_arena, arena_lists, event_pool, steps };
constexpr const char* titles[] = {"new and delete",
                                  "classes derive from pooled",
                                  "particles in an object_pool, a table of them",
                                  "the same without the table, by for_each",
                                  "what a frame makes in an arena",
                                  "its lists and texts grow in place",
                                  "events in a multi_pool"};

struct nothing {};
template <step At, class T>
using base = std::conditional_t<(At >= pooled_classes), acre::pooled<T>, nothing>;

template <step At>
struct entity;

template <step At>
struct component {
    virtual ~component() = default;
    virtual void update(entity<At>& of) = 0;
};
template <step At>
struct mover : component<At>, base<At, mover<At>> {
    int dx = 0, dy = 0;
    void update(entity<At>& of) override {
        of.x = (of.x + dx) & 1023;
        of.y = (of.y + dy) & 1023;
    }
};
template <step At>
struct health : component<At>, base<At, health<At>> {
    int points = 100;
    int regained = 0;
    void update(entity<At>&) override {
        if (points < 100) ++points, ++regained;
    }
};
template <step At>
struct brain : component<At>, base<At, brain<At>> {
    int memory[8] = {};
    int next = 0;
    void update(entity<At>& of) override { memory[next++ & 7] = of.x; }
};

template <step At>
struct entity : base<At, entity<At>> {
    int id = 0, x = 0, y = 0;
    health<At>* life = nullptr;
    std::vector<std::unique_ptr<component<At>>> components;
};

struct particle_data {
    int x, y, dx, dy, left;
};
template <step At>
struct particle : particle_data, base<At, particle<At>> {
    particle(int at_x, int at_y, int speed, int frames_left) : particle_data{at_x, at_y, speed, 1, frames_left} {}
};

struct drawn {
    int x, y;
    const char* label;
};

class random_numbers {
public:
    std::uint32_t below(std::uint32_t bound) {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<std::uint32_t>(state_ >> 33) % bound;
    }

private:
    std::uint64_t state_ = 88172645463325252;
};

template <step At>
class game {
    using in_arena = acre::containers_in<acre::arena>;
    using in_pool = acre::containers_in<acre::multi_pool>;
    static constexpr bool has_arena = At >= frame_arena;

    template <class T>
    using frame_vector = std::conditional_t<(At >= arena_lists), acre::arena_vector<T>,
                                            std::conditional_t<has_arena, in_arena::vector<T>, std::vector<T>>>;
    using frame_text = std::conditional_t<(At >= arena_lists), acre::arena_string,
                                          std::conditional_t<has_arena, in_arena::string, std::string>>;
    template <class T>
    using cell = std::conditional_t<has_arena, in_arena::vector<T>, std::vector<T>>;
    template <class T>
    using frame_map = std::conditional_t<has_arena, in_arena::unordered_map<int, T>, std::unordered_map<int, T>>;

    using event_text = std::conditional_t<(At >= event_pool), in_pool::string, std::string>;
    struct event {
        using allocator_type = acre::allocator<event, acre::multi_pool>;
        event(int id, const char* text) : who(id), what(text) {}
        event(int id, const char* text, const allocator_type& in)
            requires(At >= event_pool)
            : who(id), what(text, in) {}
        int who;
        event_text what;
    };
    struct plain_event {
        int who;
        std::string what;
    };
    using event_list = std::conditional_t<(At >= event_pool), in_pool::list<event>, std::list<plain_event>>;

    template <class T, class R>
    static T made_in(R& resource) {
        if constexpr (std::is_constructible_v<T, R&>) {
            return T(resource);
        } else {
            return T();
        }
    }

public:
    game() {
        for (int i = 0; i < 1000; ++i) spawn();
    }
    ~game() {
        for (particle<At>* each : particles_) remove(*each);
    }

    std::uint64_t play(int frames) {
        for (int i = 0; i < frames; ++i) frame();
        return sum_;
    }

private:
    void frame() {
        for (const auto& each : entities_) {
            for (const auto& part : each->components) part->update(*each);
        }
        meet();
        move_particles();
        draw();
        handle_events();
        for (int i = 0; i < 20; ++i) replace_one();
        if constexpr (has_arena) arena_.reset();
    }

    // Entities in the same cell hurt each other.
    void meet() {
        auto cells = made_in<frame_map<cell<entity<At>*>>>(arena_);
        for (const auto& each : entities_) cells[(each->y >> 5) * 32 + (each->x >> 5)].push_back(each.get());
        for (auto& [place, inside] : cells) {
            if (inside.size() < 3) continue;
            entity<At>& hurt = *inside[inside.size() / 2];
            hurt.life->points -= 3;
            add_event(hurt.id, "was hurt by somebody nearby");
            for (int i = 0; i < 4; ++i) add_particle(hurt.x, hurt.y);
        }
    }

    void add_event(int who, const char* what) {
        if constexpr (At >= event_pool) {
            events_.emplace_back(who, what);
        } else {
            events_.push_back({who, what});
        }
    }

    void add_particle(int x, int y) {
        const int dx = static_cast<int>(random_.below(9)) - 4;
        const int left = 5 + static_cast<int>(random_.below(20));
        if constexpr (At >= object_pool) {
            pool_.create(x, y, dx, left);
        } else if constexpr (At == pool_and_table) {
            particles_.push_back(pool_.create(x, y, dx, left));
        } else {
            particles_.push_back(new particle<At>(x, y, dx, left));
        }
    }
    void remove(particle<At>& dead) {
        if constexpr (At >= pool_and_table) {
            pool_.destroy(&dead);
        } else {
            delete &dead;
        }
    }
    bool is_dead_after_a_move(particle<At>& moved) {
        moved.x += moved.dx;
        moved.y += moved.dy;
        if (--moved.left > 0) return false;
        sum_ += static_cast<std::uint64_t>(moved.x);
        return true;
    }
    void move_particles() {
        if constexpr (At >= object_pool) {
            pool_.for_each([this](particle<At>& each) {
                if (is_dead_after_a_move(each)) remove(each);
            });
        } else {
            for (std::size_t i = 0; i < particles_.size();) {
                if (!is_dead_after_a_move(*particles_[i])) {
                    ++i;
                    continue;
                }
                remove(*particles_[i]);
                particles_[i] = particles_.back();
                particles_.pop_back();
            }
        }
    }
    void for_each_particle(auto visit) {
        if constexpr (At >= object_pool) {
            pool_.for_each(visit);
        } else {
            for (const particle<At>* each : particles_) visit(*each);
        }
    }

    void draw() {
        auto list = made_in<frame_vector<drawn>>(arena_);
        auto labels = made_in<frame_vector<frame_text>>(arena_);
        for (const auto& each : entities_) {
            if (each->x < 512 && each->id % 4 == 0) {
                auto label = made_in<frame_text>(arena_);
                label += "entity number ";
                append_number(label, each->id);
                label += ", points ";
                append_number(label, each->life->points);
                labels.push_back(std::move(label));
            }
            list.push_back({each->x, each->y, nullptr});
        }
        for_each_particle([&list](const particle<At>& each) { list.push_back({each.x, each.y, nullptr}); });
        for (const auto& each : labels) sum_ += each.size() + static_cast<unsigned char>(each[each.size() - 1]);
        for (const drawn& each : list) sum_ += static_cast<std::uint64_t>(each.x ^ each.y);
    }
    static void append_number(auto& to, int number) {
        char digits[16];
        const int count = std::snprintf(digits, sizeof digits, "%d", number);
        to += std::string_view(digits, static_cast<std::size_t>(count));
    }

    void handle_events() {
        while (!events_.empty()) {
            sum_ += events_.front().what.size() * static_cast<std::uint64_t>(events_.front().who);
            events_.pop_front();
        }
    }

    void spawn() {
        auto made = std::make_unique<entity<At>>();
        made->id = ++last_id_;
        made->x = static_cast<int>(random_.below(1024));
        made->y = static_cast<int>(random_.below(1024));
        auto moves = std::make_unique<mover<At>>();
        moves->dx = static_cast<int>(random_.below(7)) - 3;
        moves->dy = static_cast<int>(random_.below(7)) - 3;
        auto lives = std::make_unique<health<At>>();
        made->life = lives.get();
        made->components.push_back(std::move(moves));
        made->components.push_back(std::move(lives));
        if (made->id % 2 == 0) made->components.push_back(std::make_unique<brain<At>>());
        entities_.push_back(std::move(made));
    }
    void replace_one() {
        const std::size_t gone = random_.below(static_cast<std::uint32_t>(entities_.size()));
        std::swap(entities_[gone], entities_.back());
        entities_.pop_back();
        spawn();
    }

    random_numbers random_;
    std::uint64_t sum_ = 0;
    int last_id_ = 0;
    acre::arena arena_;
    acre::multi_pool nodes_;
    acre::object_pool<particle<At>> pool_;
    std::vector<std::unique_ptr<entity<At>>> entities_;
    std::vector<particle<At>*> particles_;
    event_list events_ = made_in<event_list>(nodes_);
};

template <step At>
std::uint64_t played(int frames) {
    return game<At>{}.play(frames);
}
constexpr std::uint64_t (*all[])(int) = {played<new_and_delete>, played<pooled_classes>, played<pool_and_table>,
                                         played<object_pool>,    played<frame_arena>,    played<arena_lists>,
                                         played<event_pool>};
constexpr int frames = 300;

}  // namespace

int main(int count, char** arguments) {
    const int rounds = count > 1 ? std::atoi(arguments[1]) : 15;
    if (count > 2) return all[std::atoi(arguments[2])](frames * rounds) == 0;
    double least[steps];
    std::fill(least, least + steps, 1e30);
    const std::uint64_t expected = all[0](frames);
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < steps; ++i) {
            const auto begun = std::chrono::steady_clock::now();
            if (all[i](frames) != expected) return std::puts("a step computes something else"), 1;
            const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begun;
            least[i] = std::min(least[i], took.count() / frames);
        }
    }
    for (int i = 0; i < steps; ++i)
        std::printf("%-46s %7.1f us a frame  %.2f\n", titles[i], least[i], least[i] / least[0]);
}
