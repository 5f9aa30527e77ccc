// The start of a program for a Cortex-M without an operating system: the vector table, static initialisation, and
// semihosting, by which QEMU or a debugger prints and ends the program.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tour.hpp"

extern "C" {
extern char data_begin, data_end, data_load, bss_begin, bss_end, stack_end;
extern void (*init_begin[])();
extern void (*init_end[])();

// What the start-up code of a C library would have.
void* __dso_handle = nullptr;
int __aeabi_atexit(void*, void (*)(void*), void*) {
    return 0;  // the program never ends, so no static object does
}
}

namespace {

constexpr unsigned write_text = 4, end_of_program = 0x20;
constexpr std::uint32_t ended_well = 0x20026;

void semihost(unsigned operation, const void* argument) {
    register unsigned r0 asm("r0") = operation;
    register const void* r1 asm("r1") = argument;
    asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void print(const char* text) {
    semihost(write_text, text);
}

[[noreturn]] void end(std::uint32_t status) {
    const std::uint32_t arguments[] = {ended_well, status};
    semihost(end_of_program, arguments);
    for (;;) continue;
}

[[noreturn]] void fault() {
    print("a fault ended the program\n");
    end(1);
}

[[noreturn]] void reset() {
    std::memcpy(&data_begin, &data_load, static_cast<std::size_t>(&data_end - &data_begin));
    std::memset(&bss_begin, 0, static_cast<std::size_t>(&bss_end - &bss_begin));
    for (auto each = init_begin; each != init_end; ++each) (*each)();
    end(static_cast<std::uint32_t>(acre_test::run_tour(&print)));
}

using handler = void (*)();
struct vector_table {
    void* stack;
    handler handlers[15];
};
[[gnu::section(".vectors"), gnu::used]] const vector_table vectors{
    &stack_end, {&reset, &fault, &fault, &fault, &fault, &fault, &fault}};

}  // namespace

// Where acre's sentence about a misuse goes: no header of acre links it, so a program may leave it out.
extern "C" int _write(int, const char* text, int bytes) {
    print(text);  // a zero byte ends it
    return bytes;
}
