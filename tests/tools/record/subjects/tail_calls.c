// Functions that end with a jump to another one, so that their own frames are in no stack. The lines of the jumps are
// asked for.
#include <stdlib.h>

#define SEPARATE __attribute__((noinline))

volatile int calls;

SEPARATE void* get(size_t bytes) {
    ++calls;
    return malloc(bytes);  // line 11
}

SEPARATE void give_back(void* p) {
    ++calls;
    free(p);  // line 16
}

SEPARATE void give_back_later(void* p) {
    calls += 2;
    give_back(p);  // line 21
}

SEPARATE void end(void* part, void* whole) {
    free(part);   // line 25
    free(whole);  // line 26
}

SEPARATE void* make(size_t bytes) {
    void* p = malloc(bytes);  // line 30
    ++calls;
    return p;
}

void* (*volatile make_by_pointer)(size_t) = make;

SEPARATE void* make_elsewhere(size_t bytes) {
    calls += 3;
    return make_by_pointer(bytes);  // line 39
}

SEPARATE void give_back_one_way(void* p) {
    if (calls > 1000) {
        calls = 5;
        free(p);
    } else {
        calls += 6;
        give_back(p);
    }
}

int main(void) {
    void* direct = get(1001);
    void* chained = get(1002);
    void* part = get(1003);
    void* whole = get(1004);
    void* made = make_elsewhere(1005);
    give_back(direct);
    give_back_later(chained);
    end(part, whole);
    give_back_one_way(made);
    return calls == 0;
}
