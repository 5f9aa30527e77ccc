// A cache of the entries used last: a list in the order of use, and a table to find them. FOLLOWED: with the code of
// its advices.
#ifdef FOLLOWED
#include <acre/acre.hpp>
#endif
#include <cstdint>
#include <cstdio>
#include <list>
#include <random>
#include <unordered_map>
#include <utility>

namespace {

struct entry {
    std::uint64_t key = 0;
    std::uint64_t value[4] = {};
};

#ifdef FOLLOWED
static acre::multi_pool get_pool;
using get_unordered_map = std::unordered_map<
    long unsigned int, std::_List_iterator<entry>, std::hash<long unsigned int>, std::equal_to<long unsigned int>,
    acre::allocator<std::pair<long unsigned int const, std::_List_iterator<entry>>, acre::multi_pool>>;
static acre::multi_pool get_2_pool;
using get_2_list = std::list<entry, acre::allocator<entry, acre::multi_pool>>;
#endif

class cache {
public:
    std::uint64_t get(std::uint64_t key) {
        if (const auto found = by_key_.find(key); found != by_key_.end()) {
            entries_.splice(entries_.begin(), entries_, found->second);
            return entries_.front().value[0];
        }
        entries_.push_front({key, {key * 3, 0, 0, 0}});
        by_key_.emplace(key, entries_.begin());
        if (entries_.size() > capacity) {
            by_key_.erase(entries_.back().key);
            entries_.pop_back();
        }
        return key;
    }

private:
    static constexpr std::size_t capacity = 10'000;
#ifdef FOLLOWED
    get_2_list entries_{get_2_pool};
    get_unordered_map by_key_{get_pool};
#else
    std::list<entry> entries_;
    std::unordered_map<std::uint64_t, std::list<entry>::iterator> by_key_;
#endif
};

}  // namespace

int main() {
    std::mt19937 random{1};
    cache all;
    std::uint64_t sum = 0;
    for (int i = 0; i < 3'000'000; ++i) sum += all.get(random() % (random() % 4 == 0 ? 200'000 : 12'000));
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
