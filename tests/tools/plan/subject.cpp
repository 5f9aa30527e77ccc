// A program whose sites are planned.
//
// Usage: plan-subject [near | new | wrapped | work | usable | evicted | aligned | MODULE | exchange MODULE OTHER |
// hazards MODULE OTHER] near: two sites allocate in turns: how many of 1000 pairs lie in one unit of 16 KiB? new: the
// same with operator new. wrapped: the same through functions that pass memory on. work: a sum over what several
// threads write into blocks that they resize and free for each other. usable: the usable size of 24 bytes, or of so
// many. evicted: how many blocks of a site that is not planned come from the malloc below. aligned: how many addresses
// are not aligned as was asked for. MODULE: as near, but the second site is in that module, which is loaded first.
// exchange: modules that are opened and closed in turns and take each other's addresses. hazards: a module that is
// bound deeply, an exchange, a fork, and this program again by exec.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

namespace {

#ifdef ACRE_REBUILT
// Moves all that follows.
[[gnu::noinline, gnu::used]] int unrelated(int a, int b) {
    return a % (b | 1) * 17 + b;
}
#endif

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

// Known by their names as functions that pass memory on.
[[gnu::noinline]] void* xmalloc(std::size_t bytes) {
    void* volatile p = std::malloc(bytes);
    if (p == nullptr) std::abort();
    return p;
}
[[gnu::noinline]] void* xcalloc(std::size_t bytes) {
    void* volatile p = xmalloc(bytes);
    std::memset(p, 0, bytes);
    return p;
}
[[gnu::noinline]] void* wrapped_orc(std::size_t bytes) {
    void* volatile p = xcalloc(bytes);
    return p;
}
[[gnu::noinline]] void* wrapped_elf(std::size_t bytes) {
    void* volatile p = xcalloc(bytes);
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

// Of 1000 blocks of another site, those that the malloc of malloc_below.cpp serves, after the first site's slabs were
// full and are sparse.
int served_below_after_eviction() {
    for (int round = 0; round < 4; ++round) {
        std::vector<void*> orcs;
        for (int i = 0; i < 20'000; ++i) orcs.push_back(request_orc(48));
        for (void* each : orcs) std::free(each);
    }
    int below = 0;
    for (int i = 0; i < 1000; ++i) {
        void* const elf = request_elf(48);
        below += ::malloc_usable_size(elf) == 4321;
        std::free(elf);
    }
    return below;
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

int misaligned() {
    constexpr std::size_t alignment = 256;
    int wrong = 0;
    const auto look_at = [&wrong](void* p) {
        if (reinterpret_cast<std::uintptr_t>(p) % alignment != 0) ++wrong;
    };
    for (std::size_t bytes = 0; bytes < 40; ++bytes) {
        // Nothing is freed: each address is another one.
        void* p = nullptr;
        if (::posix_memalign(&p, alignment, bytes % 4) == 0) look_at(p);
        look_at(::aligned_alloc(alignment, bytes % 4));
        look_at(::memalign(alignment, bytes % 4));
        look_at(::operator new(bytes % 4, std::align_val_t{alignment}));
    }
    return wrong;
}

void expect(bool is_right, const char* what) {
    if (is_right) return;
    std::printf("%s: wrong\n", what);
    std::fflush(stdout);
    std::_Exit(4);
}

template <class Function>
Function find(void* module, const char* name) {
    return reinterpret_cast<Function>(::dlsym(module, name));
}

void use(requesting request, void (*release)(void*)) {
    std::vector<void*> blocks;
    for (const std::size_t bytes : {10U, 100U, 3000U, 50'000U}) {
        for (int i = 0; i < 100; ++i) blocks.push_back(std::memset(request(bytes), i, bytes));
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        expect(*static_cast<unsigned char*>(blocks[i]) == i % 100, "contents");
        release(blocks[i]);
    }
}

void bind_deeply(const char* file) {
    void* module = ::dlopen(file, RTLD_NOW | RTLD_DEEPBIND);
    expect(module != nullptr, "dlopen");
    use(find<requesting>(module, "request_of_module"), &std::free);
    use(&request_orc, find<void (*)(void*)>(module, "release_of_module"));
    auto* early = *find<char**>(module, "block_of_constructor");
    expect(::malloc_usable_size(early) >= 6 && std::strcmp(early, "early") == 0, "early block");
    early = static_cast<char*>(std::realloc(early, 5000));
    expect(std::strcmp(early, "early") == 0, "resized early block");
    std::free(early);
    ::dlclose(module);
}

void exchange(const char* file, const char* other) {
    for (int round = 0; round < 20; ++round) {
        void* module = ::dlopen(round % 2 == 0 ? file : other, RTLD_NOW);
        expect(module != nullptr, "dlopen");
        const auto request = find<requesting>(module, "request_of_module");
        use(request, &std::free);
        void* kept = std::memset(request(48), 7, 48);
        std::free(*find<void**>(module, "block_of_constructor"));
        ::dlclose(module);
        // Sees the change, of which the heap looks now and then.
        use(&request_elf, &std::free);
        expect(static_cast<char*>(kept)[47] == 7, "block of a closed module");
        std::free(kept);
    }
}

void fork_with_blocks() {
    std::vector<void*> blocks;
    for (int i = 0; i < 500; ++i) blocks.push_back(request_orc(100));
    const pid_t child = ::fork();
    if (child == 0) {
        for (void* each : blocks) std::free(each);
        use(&request_orc, &std::free);
        std::thread{[] { use(&request_elf, &std::free); }}.join();
        std::_Exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    expect(status == 0, "fork");
    for (void* each : blocks) std::free(each);
}

}  // namespace

int main(int count, char** arguments) {
    const std::string_view what = count > 1 ? arguments[1] : "near";
    if (what == "work") {
        std::printf("sum %u\n", work());
        return 0;
    }
    if (what == "usable") {
        const std::size_t bytes = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 24;
        void* volatile p = std::malloc(bytes);
        std::printf("usable %zu\n", ::malloc_usable_size(p));
        p = std::realloc(p, 2 * bytes);
        std::memset(p, 1, 2 * bytes);
        std::free(p);
        return 0;
    }
    if (what == "evicted") {
        std::printf("below %d\n", served_below_after_eviction());
        return 0;
    }
    if (what == "aligned") {
        std::printf("misaligned %d\n", misaligned());
        return 0;
    }
    if (what == "exchange" && count == 4) {
        exchange(arguments[2], arguments[3]);
        std::puts("exchanged");
        return 0;
    }
    if (what == "hazards" && count == 4) {
        bind_deeply(arguments[2]);
        exchange(arguments[2], arguments[3]);
        fork_with_blocks();
        char near[] = "near";
        char* next[] = {arguments[0], near, nullptr};
        ::execv(arguments[0], next);
        return 5;
    }
    if (what == "wrapped") {
        std::printf("near %d\n", near_pairs(&wrapped_orc, &wrapped_elf));
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
