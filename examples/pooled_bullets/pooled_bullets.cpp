// Bullets whose class takes them from a pool: `new bullet` and `delete` stay the same everywhere else.
//
// It shows acre::pooled as a base class, derived classes of the same and of another size behind a virtual destructor,
// smart pointers and containers that need no change, and what the registry of pools reports and frees. Copy it where a
// program makes and deletes objects of a few classes all over, and you do not want to pass a pool around.
#include <acre/adapt/pooled.hpp>
#include <acre/pools/static_pool.hpp>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <vector>

namespace {

class bullet : public acre::pooled<bullet> {
public:
    bullet(int position, int speed) : position_(position), speed_(speed) {}
    bullet(const bullet&) = delete;
    bullet& operator=(const bullet&) = delete;
    virtual ~bullet() = default;

    /// Flies for one turn; false when it has hit something.
    virtual bool step() {
        position_ += speed_;
        return position_ < 100;
    }

private:
    int position_;
    int speed_;
};

// Same size as bullet: it shares the pool of bullets.
class ricochet : public bullet {
public:
    using bullet::bullet;
    bool step() override { return bullet::step() || ++bounces_total < 50; }

private:
    static inline int bounces_total = 0;
};

// Larger: its objects come from the heap, and the same `delete` returns them there.
class guided_missile : public bullet {
public:
    using bullet::bullet;
    bool step() override {
        track_[flown_ % 16] = flown_;
        return ++flown_ < 40;
    }

private:
    int flown_ = 0;
    int track_[16] = {};
};

using bullets = std::vector<std::unique_ptr<bullet>>;
using bullet_pool = acre::static_pool<sizeof(bullet)>;

void fire(bullets& flying, int turn) {
    for (int i = 0; i < 20; ++i) flying.push_back(std::make_unique<bullet>(i, 1 + (i + turn) % 7));
    for (int i = 0; i < 5; ++i) flying.push_back(std::make_unique<ricochet>(i, 2 + i));
    flying.push_back(std::make_unique<guided_missile>(0, 1));
}

}  // namespace

int main() {
    bullets flying;
    std::size_t fired = 0;
    for (int turn = 0; turn < 200; ++turn) {
        const std::size_t before = flying.size();
        if (turn < 150) fire(flying, turn);
        fired += flying.size() - before;
        std::erase_if(flying, [](const auto& each) { return !each->step(); });
        if (turn % 50 != 49) continue;
        std::printf("turn %d: %zu flying, %zu of them in the pool\n", turn + 1, flying.size(), bullet_pool::live());
    }
    std::printf("%zu were fired, %zu are flying.\n", fired, flying.size());
    flying.clear();
    acre::pool_registry::recycle();
    acre::pool_registry::for_each([](const acre::pool_registry::entry& each) {
        std::printf("slots of %zu bytes: %zu live, %zu bytes held\n", each.slot_bytes, each.live, each.held_bytes);
    });
    return 0;
}
