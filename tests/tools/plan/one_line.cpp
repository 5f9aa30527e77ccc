// A program that makes objects of two classes in one line, which are two sites of a plan.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace crowd {

struct orc {
    long values[20];
};
struct elf {
    long values[2];
};
struct couple {
    orc* one = nullptr;
    elf* other = nullptr;
};

// clang-format off
[[gnu::noinline]] static couple make(long value) { auto* one = new orc; auto* other = new elf; one->values[0] = other->values[0] = value; return {one, other}; }
// clang-format on

}  // namespace crowd

int main() {
    std::vector<crowd::couple> couples(2'000);
    std::uint32_t random = 1;
    long sum = 0;
    for (long i = 0; i < 100'000; ++i) {
        random = random * 1'664'525 + 1'013'904'223;
        crowd::couple& each = couples[(random >> 8) % couples.size()];
        if (each.one != nullptr) sum += each.one->values[0] + each.other->values[0];
        delete each.one;
        delete each.other;
        each = crowd::make(i);
    }
    for (const crowd::couple& each : couples) {
        delete each.one;
        delete each.other;
    }
    std::printf("%ld\n", sum);
}
