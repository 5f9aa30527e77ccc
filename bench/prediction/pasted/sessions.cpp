// Sessions that come and go in any order, owned by std::shared_ptr. FOLLOWED: with the code of its advice.
#ifdef FOLLOWED
#include <acre/acre.hpp>
#include <acre/adapt/smart_ptr.hpp>
#endif
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

namespace {

struct session {
    std::uint64_t user = 0;
    std::uint64_t requests = 0;
    unsigned char key[40] = {};
};

#ifdef FOLLOWED
static acre::multi_pool open_session_pool;
#endif

std::shared_ptr<session> open_session(std::uint64_t user) {
#ifdef FOLLOWED
    auto made = acre::make_shared<session>(open_session_pool);
#else
    auto made = std::make_shared<session>();
#endif
    made->user = user;
    return made;
}

}  // namespace

int main() {
    std::mt19937 random{1};
    std::vector<std::shared_ptr<session>> open(20'000);
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < 6'000'000; ++i) {
        std::shared_ptr<session>& slot = open[random() % open.size()];
        if (slot != nullptr) sum += slot->user + slot->requests;
        slot = open_session(i);
        open[random() % 100 % open.size()] = nullptr;
    }
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
