// Allocates from all kinds of stacks, each time a different size, and prints for each size the result of glibc's
// backtrace just before: "SIZE OFFSET OFFSET ...", from the caller of probe() outwards, as offsets in the modules'
// files.
#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <vector>

#include "probe.hpp"

namespace {

struct taken {
    std::size_t size;
    int count;
    std::uintptr_t offsets[600];
};

constexpr std::size_t first_size = 1'000'000;
constexpr int most = 4000;
taken* all;  // mapped, so that taking notes allocates nothing
int used = 0;

}  // namespace

[[gnu::noinline]] void probe() {
    void* frames[600];
    const int count = backtrace(frames, 600);
    taken& here = all[used];
    here.size = first_size + static_cast<std::size_t>(used++);
    for (int i = 1; i < count; ++i) {
        Dl_info found{};
        const auto address = reinterpret_cast<std::uintptr_t>(frames[i]);
        const bool known = dladdr(reinterpret_cast<void*>(address - 1), &found) != 0;
        here.offsets[here.count++] = address - 1 - (known ? reinterpret_cast<std::uintptr_t>(found.dli_fbase) : 0);
    }
    void* p = std::malloc(here.size);
    asm volatile("" : "+r"(p));
    std::free(p);
    asm volatile("");
}

namespace {

template <typename T>
[[gnu::always_inline]] inline void keep(T& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

[[gnu::noinline]] void plain(int depth) {
    if (depth > 0) plain(depth - 1);
    probe();
    keep(depth);
}

[[gnu::noinline]] void mutual_b(int depth);
[[gnu::noinline]] void mutual_a(int depth) {
    if (depth > 0) mutual_b(depth - 1);
    if (depth % 7 == 0) probe();
    keep(depth);
}
[[gnu::noinline]] void mutual_b(int depth) {
    char room[40];
    keep(room);
    if (depth > 0) mutual_a(depth - 1);
    if (depth % 5 == 0) probe();
    keep(depth);
}

[[gnu::noinline]] void variable_frame(std::size_t bytes) {
    auto* room = static_cast<char*>(alloca(bytes));
    std::memset(room, 1, bytes);
    keep(*room);
    probe();
    keep(*room);
}

[[gnu::noinline]] void aligned_frame(int depth) {
    alignas(128) char room[256];
    std::memset(room, depth, sizeof room);
    keep(room);
    if (depth > 0) aligned_frame(depth - 1);
    variable_frame(100 + static_cast<std::size_t>(depth) * 33);
    keep(room);
}

[[gnu::noinline]] void aligned_variable_frame(std::size_t bytes) {
    alignas(64) char room[64];
    auto* more = static_cast<char*>(alloca(bytes));
    std::memset(more, 1, bytes);
    keep(room);
    keep(*more);
    probe();
    keep(room);
}

[[gnu::noinline]] void large_frame() {
    char room[3 << 20];
    std::memset(room, 1, sizeof room);
    keep(room);
    probe();
    keep(room);
}

struct probes_when_destroyed {
    ~probes_when_destroyed() { probe(); }
};

[[gnu::noinline]] void throwing(int depth) {
    const probes_when_destroyed at_end;
    if (depth == 0) throw std::runtime_error{"thrown"};
    throwing(depth - 1);
    keep(depth);
}

[[gnu::noinline]] void catching() {
    try {
        throwing(3);
    } catch (const std::exception&) {
        probe();
    }
    probe();
}

jmp_buf jump_target;

[[gnu::noinline]] void jumping(int depth) {
    bool always = true;
    asm volatile("" : "+r"(always));
    if (depth == 0 && always) longjmp(jump_target, 1);
    if (depth == 0) return;
    probe();
    jumping(depth - 1);
    keep(depth);
}

[[gnu::noinline]] void jumped() {
    if (setjmp(jump_target) == 0) jumping(4);
    probe();
}

void handle(int) {
    probe();
}

[[gnu::noinline]] void signalled(int flags) {
    struct sigaction action{};
    action.sa_handler = handle;
    action.sa_flags = flags;
    sigaction(SIGUSR1, &action, nullptr);
    raise(SIGUSR1);
    probe();
}

ucontext_t main_context;
ucontext_t coroutines[2];

void coroutine(int number) {
    for (int i = 0; i < 3; ++i) {
        plain(number + 1);
        swapcontext(&coroutines[number], &main_context);
    }
}

[[gnu::noinline]] void run_coroutines() {
    std::vector<std::vector<char>> stacks(2, std::vector<char>(256 << 10));
    for (int i = 0; i < 2; ++i) {
        getcontext(&coroutines[i]);
        coroutines[i].uc_stack.ss_sp = stacks[static_cast<std::size_t>(i)].data();
        coroutines[i].uc_stack.ss_size = stacks[static_cast<std::size_t>(i)].size();
        coroutines[i].uc_link = &main_context;
        makecontext(&coroutines[i], reinterpret_cast<void (*)()>(coroutine), 1, i);
    }
    for (int turn = 0; turn < 3; ++turn) {
        for (auto& each : coroutines) swapcontext(&main_context, &each);
        probe();
    }
}

int compare(const void* a, const void* b) {
    probe();
    return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

void* in_thread(void*) {
    plain(3);
    aligned_frame(2);
    return nullptr;
}

void run_plugin(const char* path) {
    void* library = dlopen(path, RTLD_NOW);
    if (library == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::exit(2);
    }
    const auto function = reinterpret_cast<void (*)(void (*)(), int)>(dlsym(library, "plugin_run"));
    function(probe, 3);
    dlclose(library);
}

void print_all() {
    for (int i = 0; i < used; ++i) {
        std::printf("%zu", all[i].size);
        for (int frame = 0; frame < all[i].count; ++frame) std::printf(" %jx", std::uintmax_t{all[i].offsets[frame]});
        std::printf("\n");
    }
}

}  // namespace

int main(int count, char** arguments) {
    all = static_cast<taken*>(
        mmap(nullptr, most * sizeof(taken), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    plain(0);
    for (int i = 0; i < 3; ++i) plain(4);
    plain(200);
    mutual_a(50);
    for (std::size_t bytes = 16; bytes < 5000; bytes *= 3) {
        variable_frame(bytes);
        aligned_variable_frame(bytes);
    }
    aligned_frame(5);
    large_frame();
    catching();
    jumped();
    signalled(0);
    stack_t alternate{};
    alternate.ss_size = 256 << 10;
    alternate.ss_sp = std::malloc(alternate.ss_size);
    sigaltstack(&alternate, nullptr);
    signalled(SA_ONSTACK);
    signalled(SA_ONSTACK);
    run_coroutines();
    int numbers[] = {3, 1, 2, 5, 4};
    std::qsort(numbers, 5, sizeof *numbers, compare);
    const std::function<void()> function = [] { plain(1); };
    function();
    pthread_t thread{};
    pthread_create(&thread, nullptr, in_thread, nullptr);
    pthread_join(thread, nullptr);
    for (int i = 1; i < count; ++i) run_plugin(arguments[i]);
    for (int i = 1; i < count; ++i) run_plugin(arguments[i]);
    for (int i = 0; i < 3; ++i) plain(4);
    print_all();
}
