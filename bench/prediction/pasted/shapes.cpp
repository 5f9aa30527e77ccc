// A scene of shapes of a class hierarchy, made and removed one by one. FOLLOWED: with the code of its advices.
#ifdef FOLLOWED
#include <acre/acre.hpp>
#include <acre/adapt/pooled.hpp>
#endif
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

namespace {

struct shape {
    virtual ~shape() = default;
    virtual std::uint64_t area() const = 0;
};

#ifdef FOLLOWED
#define POOLED(type) , acre::pooled<type>
#else
#define POOLED(type)
#endif

struct circle : shape POOLED(circle) {
    explicit circle(std::uint64_t r) : radius{r} {}
    std::uint64_t area() const override { return 3 * radius * radius; }
    std::uint64_t radius;
    std::uint64_t colour[3] = {};
};

struct box : shape POOLED(box) {
    box(std::uint64_t w, std::uint64_t h) : width{w}, height{h} {}
    std::uint64_t area() const override { return width * height; }
    std::uint64_t width;
    std::uint64_t height;
    std::uint64_t colour[6] = {};
};

}  // namespace

int main() {
    std::mt19937 random{1};
    std::vector<std::unique_ptr<shape>> scene(5'000);
    std::uint64_t sum = 0;
    for (int i = 0; i < 8'000'000; ++i) {
        std::unique_ptr<shape>& place = scene[random() % scene.size()];
        if (place != nullptr) sum += place->area();
        if (random() % 2 == 0) {
            place = std::make_unique<circle>(random() % 100);
        } else {
            place = std::make_unique<box>(random() % 100, random() % 100);
        }
    }
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
