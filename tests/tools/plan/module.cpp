// A module that plan-subject loads while it runs: it has sites of its own. Built twice, differently.
#include <cstddef>
#include <cstdlib>
#include <cstring>

extern "C" void* request_of_module(std::size_t bytes) {
#ifdef ACRE_OTHER_MODULE
    void* volatile p = std::calloc(bytes, 1);
#else
    void* volatile p = std::malloc(bytes);
#endif
    return p;
}

extern "C" void release_of_module(void* p) {
    std::free(p);
}

extern "C" {
char* block_of_constructor;
}

[[gnu::constructor]] static void take_block() {
    block_of_constructor = static_cast<char*>(std::malloc(6));
    std::strcpy(block_of_constructor, "early");
}
