// A program whose sites are planned.
//
// Usage: plan-subject [near | new | work | MODULE]
// near: two sites allocate in turns: how many of 1000 pairs lie in one unit of 16 KiB? new: the same with operator new.
// work: a sum over what several threads write into blocks that they resize and free for each other. MODULE: as near,
// but the second site is in that module, which is loaded first.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

namespace {

// The results are volatile, so that no call is the last thing that a function does: then it would be a jump.
[[gnu::noinline]] void* request_orc(std::size_t bytes) {
    void* volatile p = std::malloc(bytes);
    return p;
}
[[gnu::noinline]] void* request_elf(std::size_t bytes) {
    void* volatile p = std::calloc(1, bytes);
    return p;
}
[[gnu::noinline]] void* new_orc(std::size_t bytes) {
    void* volatile p = ::operator new(bytes);
    return p;
}
[[gnu::noinline]] void* new_elf(std::size_t bytes) {
    void* volatile p = ::operator new[](bytes);
    return p;
}

using requesting = void* (*)(std::size_t);

// The first pairs give the heap time to see a module that was loaded.
int near_pairs(requesting first, requesting second) {
    int near = 0;
    for (int pair = 0; pair < 100'000; ++pair) {
        auto one = reinterpret_cast<std::uintptr_t>(first(48));
        auto other = reinterpret_cast<std::uintptr_t>(second(48));
        if (pair >= 99'000 && one >> 14 == other >> 14) ++near;
    }
    return near;
}

unsigned sum_of(const unsigned char* p, std::size_t bytes) {
    unsigned sum = 0;
    for (std::size_t at = 0; at < bytes; ++at) sum = sum * 31 + p[at];
    return sum;
}

struct piece {
    unsigned char* p = nullptr;
    std::size_t bytes = 0;
};

void work_in(unsigned number, std::vector<piece>& pieces, unsigned& sum) {
    std::uint64_t random = number + 1;
    const auto next = [&random](std::size_t end) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::size_t>(random >> 33) % end;
    };
    constexpr requesting sites[] = {&request_orc, &request_elf};
    for (int step = 0; step < 60'000; ++step) {
        piece& each = pieces[next(pieces.size())];
        if (each.p != nullptr) sum += sum_of(each.p, each.bytes);
        const std::size_t bytes = 1 + next(step % 500 == 0 ? 50'000 : 400);
        if (each.p != nullptr && next(4) == 0) {
            each.p = static_cast<unsigned char*>(std::realloc(each.p, bytes));
        } else {
            std::free(each.p);
            each.p = static_cast<unsigned char*>(sites[next(2)](bytes));
        }
        each.bytes = bytes;
        std::memset(each.p, static_cast<int>(next(256)), bytes);
    }
}

unsigned work() {
    constexpr unsigned threads = 3;
    std::vector<piece> pieces[threads];
    for (auto& each : pieces) each.resize(2000);
    unsigned sum = 0;
    // In the second round each thread goes on with the blocks of another, whose thread has ended.
    for (unsigned round = 0; round < 2; ++round) {
        unsigned sums[threads] = {};
        std::vector<std::thread> running;
        for (unsigned number = 0; number < threads; ++number)
            running.emplace_back(work_in, number, std::ref(pieces[(number + round) % threads]), std::ref(sums[number]));
        for (std::thread& each : running) each.join();
        for (const unsigned each : sums) sum = sum * 7 + each;
    }
    for (auto& each : pieces) {
        for (const piece& last : each) std::free(last.p);
    }
    return sum;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string_view what = count > 1 ? arguments[1] : "near";
    if (what == "work") {
        std::printf("sum %u\n", work());
        return 0;
    }
    requesting second = &request_elf;
    if (what.find('/') != std::string_view::npos) {
        void* module = ::dlopen(arguments[1], RTLD_NOW);
        if (module == nullptr) return 3;
        second = reinterpret_cast<requesting>(::dlsym(module, "request_of_module"));
    }
    std::printf("near %d\n", what == "new" ? near_pairs(&new_orc, &new_elf) : near_pairs(&request_orc, second));
    return 0;
}
