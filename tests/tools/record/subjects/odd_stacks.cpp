// Allocates on odd stacks: small ones, ones without an end, ones that are partly unmapped later, with any frame
// pointer. The argument names the case; prints a line at the end.
#include <alloca.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

extern "C" {

/// Where run_on goes back to.
void* stack_before;

/// Calls `function` with its stack below `top`, where it finds any return address and frame pointer. The function ends
/// with come_back().
void run_on(void* top, void (*function)(), const void* return_address, const void* frame_pointer);
[[noreturn]] void come_back();

/// Calls `function` with any frame pointer.
void run_with(void (*function)(), const void* frame_pointer);
}

asm(R"(
.text
.globl run_on
run_on:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq stack_before@GOTPCREL(%rip), %rax
    movq %rsp, (%rax)
    movq %rdi, %rsp
    movq %rcx, %rbp
    pushq %rdx
    jmp *%rsi
.globl come_back
come_back:
    movq stack_before@GOTPCREL(%rip), %rax
    movq (%rax), %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.globl run_with
run_with:
    pushq %rbp
    subq $16, %rsp
    movq %rsi, %rbp
    callq *%rdi
    addq $16, %rsp
    popq %rbp
    ret
)");

namespace {

constexpr std::size_t page = 4096;

[[gnu::noinline]] void allocate(int times) {
    for (int i = 0; i < times; ++i) {
        void* p = std::malloc(100);
        asm volatile("" : "+r"(p));
        std::free(p);
    }
    asm volatile("");
}

void allocate_and_come_back() {
    allocate(5);
    come_back();
}

void* to_free;

void free_and_come_back() {
    std::free(to_free);
    allocate(5);
    come_back();
}

char* map(std::size_t bytes) {
    void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) std::exit(2);
    return static_cast<char*>(p);
}

const void* return_address;

[[gnu::noinline]] void note_return_address() {
    return_address = __builtin_return_address(0);
    asm volatile("");
}

/// Sets return_address to one in a function whose frame, the return address included, is some 2 KiB.
[[gnu::noinline]] void note_address_in_large_frame() {
    char room[2000];
    asm volatile("" : : "r"(room) : "memory");
    note_return_address();
    asm volatile("" : : "r"(room) : "memory");
}

/// Memory in which a walk finds a frame wherever it looks: every other word is a return address, and the words between
/// are frame pointers that lead 64 bytes up.
void fill_with_frames(char* memory, std::size_t bytes) {
    auto* words = reinterpret_cast<std::uintptr_t*>(memory);
    for (std::size_t i = 0; i + 8 < bytes / 8; i += 2) {
        words[i] = reinterpret_cast<std::uintptr_t>(words + i + 8);
        words[i + 1] = reinterpret_cast<std::uintptr_t>(return_address);
    }
}

/// A stack in the lower half of some memory; walks go on in the upper half.
struct endless_stack {
    static constexpr std::size_t half = 32 * page;

    explicit endless_stack(char* memory) : top(memory + half) {
        note_address_in_large_frame();
        fill_with_frames(memory, 2 * half);
    }

    void run() const { run_on(top - 16, allocate_and_come_back, return_address, top); }

    char* top;
};

void unmapped_above() {
    const endless_stack stack{map(2 * endless_stack::half)};
    for (int i = 0; i < 3; ++i) stack.run();
    ::munmap(stack.top, endless_stack::half);
    for (int i = 0; i < 3; ++i) stack.run();
}

void protected_above() {
    const endless_stack stack{map(2 * endless_stack::half)};
    for (int i = 0; i < 3; ++i) stack.run();
    ::mprotect(stack.top, endless_stack::half, PROT_NONE);
    for (int i = 0; i < 3; ++i) stack.run();
}

void remapped_above() {
    const endless_stack stack{map(2 * endless_stack::half)};
    for (int i = 0; i < 3; ++i) stack.run();
    ::mmap(stack.top, endless_stack::half, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (int i = 0; i < 3; ++i) stack.run();
}

void moved_above() {
    const endless_stack stack{map(2 * endless_stack::half)};
    for (int i = 0; i < 3; ++i) stack.run();
    ::mremap(stack.top, endless_stack::half, 2 * endless_stack::half, MREMAP_MAYMOVE);
    for (int i = 0; i < 3; ++i) stack.run();
}

/// Large blocks are mapped one below the other, and unmapped when they are freed. The one above is freed from the one
/// below.
void freed_above(std::size_t alignment) {
    note_address_in_large_frame();
    const auto allocate_stack = [&] {
        constexpr std::size_t bytes = 64 * page;
        void* p = alignment == 0 ? std::malloc(bytes) : std::aligned_alloc(alignment, bytes);
        fill_with_frames(static_cast<char*>(p), ::malloc_usable_size(p));
        return static_cast<char*>(p);
    };
    char* above = nullptr;
    char* below = allocate_stack();
    char* top = nullptr;
    // A recorder may map memory between two of them.
    int tries = 0;
    do {
        if (++tries == 50) std::exit(5);
        above = below;
        below = allocate_stack();
        top = below + ::malloc_usable_size(below);
    } while (above < top || above - top > static_cast<std::ptrdiff_t>(page));
    const auto run = [&](void (*function)()) { run_on(top - 16, function, return_address, top); };
    for (int i = 0; i < 3; ++i) run(allocate_and_come_back);
    to_free = above;
    run(free_and_come_back);
    for (int i = 0; i < 3; ++i) run(allocate_and_come_back);
}

/// A smaller stack at the place of an unmapped one.
void replaced() {
    char* const memory = map(2 * endless_stack::half);
    {
        const endless_stack stack{memory};
        for (int i = 0; i < 3; ++i) stack.run();
    }
    ::munmap(memory, 2 * endless_stack::half);
    ::mmap(memory, endless_stack::half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (int i = 0; i < 3; ++i) {
        run_on(memory + endless_stack::half - 16, allocate_and_come_back, return_address, memory + endless_stack::half);
    }
}

void with_frame_pointers() {
    char* const memory = map(4 * page);
    ::mprotect(memory + page, page, PROT_NONE);
    ::munmap(memory + 3 * page, page);
    const char on_stack[64] = {};
    for (const void* each :
         {static_cast<const void*>(nullptr), reinterpret_cast<const void*>(std::uintptr_t{8}),
          static_cast<const void*>(memory), static_cast<const void*>(memory + page - 8),
          static_cast<const void*>(memory + page), static_cast<const void*>(memory + 3 * page - 16),
          static_cast<const void*>(memory + 3 * page - 8), static_cast<const void*>(memory + 3 * page - 3),
          static_cast<const void*>(on_stack), static_cast<const void*>(on_stack + 3),
          reinterpret_cast<const void*>(~std::uintptr_t{0}), reinterpret_cast<const void*>(~std::uintptr_t{7}),
          reinterpret_cast<const void*>(std::uintptr_t{1} << 63),
          reinterpret_cast<const void*>(0x5555'5555'5555'5555)}) {
        run_with([] { allocate(4); }, each);
    }
}

/// The last return address lies in the last word before memory that cannot be read.
void with_no_end() {
    char* const memory = map(9 * page);
    ::mprotect(memory + 8 * page, page, PROT_NONE);
    note_address_in_large_frame();
    for (const std::size_t below : {0u, 8u, 16u, 24u, 2000u, 2016u, 2032u, 4096u}) {
        char* const top = memory + 8 * page - below;
        for (const void* frame_pointer : {static_cast<const void*>(top), static_cast<const void*>(top - 8),
                                          static_cast<const void*>(memory + 8 * page)}) {
            run_on(top, allocate_and_come_back, return_address, frame_pointer);
            run_on(top, allocate_and_come_back, top, frame_pointer);
        }
    }
}

ucontext_t main_context;
ucontext_t coroutine_context;

void on_small_coroutines() {
    for (const std::size_t bytes : {6u * 1024, 8u * 1024, 16u * 1024}) {
        char* const memory = map(bytes + page) + page;
        ::mprotect(memory - page, page, PROT_NONE);
        ::getcontext(&coroutine_context);
        coroutine_context.uc_stack.ss_sp = memory;
        coroutine_context.uc_stack.ss_size = bytes;
        coroutine_context.uc_link = &main_context;
        ::makecontext(&coroutine_context, [] { allocate(20); }, 0);
        ::swapcontext(&main_context, &coroutine_context);
        ::munmap(memory - page, bytes + page);
    }
}

void handle(int) {
    allocate(3);
}

/// Signal handlers on the smallest stack that the system permits, plus what malloc itself needs.
void* in_handlers(void*) {
    const auto least = static_cast<std::size_t>(::sysconf(_SC_MINSIGSTKSZ));
    const std::size_t bytes = (least + 2048 + 15) & ~std::size_t{15};
    char* const memory = map(4 * page);
    ::mprotect(memory, page, PROT_NONE);
    stack_t alternate{};
    alternate.ss_sp = memory + page;
    alternate.ss_size = bytes;
    if (::sigaltstack(&alternate, nullptr) != 0) std::exit(3);
    ::pthread_kill(::pthread_self(), SIGUSR1);  // in the thread: its first allocation
    allocate(3);
    ::pthread_kill(::pthread_self(), SIGUSR1);
    alternate.ss_flags = SS_DISABLE;
    ::sigaltstack(&alternate, nullptr);
    ::munmap(memory, 4 * page);
    allocate(3);
    return nullptr;
}

void run_in_thread(void* (*function)(void*), void* argument) {
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(::sysconf(_SC_THREAD_STACK_MIN)));
    pthread_t thread{};
    if (::pthread_create(&thread, &attributes, function, argument) != 0) std::exit(4);
    ::pthread_join(thread, nullptr);
}

void in_small_threads() {
    struct sigaction action{};
    action.sa_handler = handle;
    action.sa_flags = SA_ONSTACK;
    ::sigaction(SIGUSR1, &action, nullptr);
    in_handlers(nullptr);
    for (int i = 0; i < 10; ++i) run_in_thread(in_handlers, nullptr);
}

/// Code without unwind tables, which calls back: with a frame pointer, without one, and with any frame pointer.
void in_generated_code() {
    const unsigned char with_frame[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
    const unsigned char without[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};
    const unsigned char with_any[] = {0x55, 0x48, 0xc7, 0xc5, 0xf3, 0xff, 0xff, 0xff, 0xff, 0xd7, 0x5d, 0xc3};
    char* const memory = map(page);
    for (int round = 0; round < 3; ++round) {
        const auto run = [&](const unsigned char* code, std::size_t bytes) {
            ::mprotect(memory, page, PROT_READ | PROT_WRITE);
            std::memcpy(memory, code, bytes);
            ::mprotect(memory, page, PROT_READ | PROT_EXEC);
            reinterpret_cast<void (*)(void (*)())>(memory)([] { allocate(4); });
        };
        run(with_frame, sizeof with_frame);
        run(without, sizeof without);
        run(with_any, sizeof with_any);
    }
    ::munmap(memory, page);
}

[[gnu::noinline]] void with_variable_frames(unsigned seed, int depth) {
    auto* room = static_cast<char*>(alloca(seed % 5000 + 1));
    std::memset(room, 0x7f, seed % 5000 + 1);
    asm volatile("" : : "r"(room) : "memory");
    allocate(2);
    if (depth > 0) with_variable_frames(seed * 1103515245u + 12345u, depth - 1);
    allocate(2);
    asm volatile("" : : "r"(room) : "memory");
}

struct subject {
    const char* name;
    void (*run)();
};

constexpr subject subjects[] = {{"freed_above", [] { freed_above(0); }},
                                {"freed_above_aligned", [] { freed_above(4096); }},
                                {"unmapped_above", unmapped_above},
                                {"protected_above", protected_above},
                                {"remapped_above", remapped_above},
                                {"moved_above", moved_above},
                                {"replaced", replaced},
                                {"with_frame_pointers", with_frame_pointers},
                                {"with_no_end", with_no_end},
                                {"on_small_coroutines", on_small_coroutines},
                                {"in_small_threads", in_small_threads},
                                {"in_generated_code", in_generated_code},
                                {"with_variable_frames", [] { with_variable_frames(1, 200); }}};

}  // namespace

int main(int count, char** arguments) {
    ::mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    allocate(1);  // binds malloc and free, which takes more stack than they do
    for (const subject& each : subjects) {
        if (count == 2 && std::strcmp(each.name, arguments[1]) != 0) continue;
        each.run();
        std::printf("%s\n", each.name);
        std::fflush(stdout);
    }
}
