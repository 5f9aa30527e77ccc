// A library to be loaded and unloaded; PLUGIN_ROOM differs between two builds of it, and with it every frame.
#include <cstring>

namespace {

[[gnu::noinline]] void deeper(void (*call)(), int depth) {
    char room[PLUGIN_ROOM];
    std::memset(room, depth, sizeof room);
    asm volatile("" : : "r"(room) : "memory");
    if (depth > 0) deeper(call, depth - 1);
    call();
    asm volatile("" : : "r"(room) : "memory");
}

}  // namespace

extern "C" void plugin_run(void (*call)(), int depth) {
    deeper(call, depth);
    call();
    asm volatile("");
}
