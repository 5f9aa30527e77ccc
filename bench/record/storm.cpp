// A server that mostly allocates: functions that call each other some fifteen deep parse each request into texts, lists
// and tables, and discard them. One request in a hundred leaves a text that outlives it. Usage: storm [THREADS
// [REQUESTS]]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

class random_numbers {
public:
    explicit random_numbers(std::uint32_t seed) : state_{seed} {}
    std::uint32_t operator()(std::uint32_t end) {
        state_ = state_ * 1'664'525 + 1'013'904'223;
        return (state_ >> 8) % end;
    }

private:
    std::uint32_t state_;
};

struct item {
    std::string name;
    std::vector<int> numbers;
    std::vector<std::unique_ptr<item>> parts;
};

struct request {
    std::map<std::string, std::string> fields;
    std::unique_ptr<item> root;
};

[[gnu::noinline]] std::string make_text(random_numbers& random) {
    return std::string(16 + random(48), static_cast<char>('a' + random(26)));
}

[[gnu::noinline]] std::unique_ptr<item> parse_item(random_numbers& random, unsigned depth) {
    auto made = std::make_unique<item>();
    made->name = make_text(random);
    for (unsigned i = 0; i < 1 + random(6); ++i) made->numbers.push_back(static_cast<int>(i));
    if (depth == 0) return made;
    for (unsigned i = 0; i < 2; ++i) made->parts.push_back(parse_item(random, depth - 1));
    return made;
}

[[gnu::noinline]] void parse_fields(request& of, random_numbers& random) {
    for (unsigned i = 0; i < 10; ++i) of.fields[make_text(random)] = make_text(random);
}

[[gnu::noinline]] std::uint64_t sum_of(const item& of) {
    std::uint64_t sum = of.name.size() + of.numbers.size();
    for (const auto& part : of.parts) sum += sum_of(*part);
    return sum;
}

[[gnu::noinline]] std::uint64_t answer(random_numbers& random, std::vector<std::string>& cache) {
    request asked;
    parse_fields(asked, random);
    asked.root = parse_item(random, 3);
    std::string reply;
    for (const auto& [name, value] : asked.fields) reply += name + value;
    if (random(100) == 0) cache.push_back(reply);
    return reply.size() + sum_of(*asked.root);
}

[[gnu::noinline]] void serve(std::uint32_t seed, unsigned requests, std::uint64_t& sum) {
    random_numbers random{seed};
    std::vector<std::string> cache;
    for (unsigned i = 0; i < requests; ++i) sum += answer(random, cache);
}

}  // namespace

int main(int count, char** arguments) {
    const unsigned threads = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 1;
    const unsigned requests = count > 2 ? static_cast<unsigned>(std::atoi(arguments[2])) : 20'000;
    std::vector<std::uint64_t> sums(threads * 64);  // at least a cache line apart
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back(serve, i, requests / threads, std::ref(sums[i * 64]));
    serve(0, requests / threads, sums[0]);
    for (auto& each : others) each.join();
    std::uint64_t sum = 0;
    for (const std::uint64_t each : sums) sum += each;
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
