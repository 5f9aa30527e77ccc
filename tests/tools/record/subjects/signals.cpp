// A signal handler allocates while the program calls the recorder, but never while it is in malloc. It calls malloc and
// free exactly 300 times each.
#include <signal.h>
#include <sys/time.h>

#include <acre/observe/recording.hpp>
#include <cstdio>
#include <cstdlib>

namespace {

volatile sig_atomic_t signals = 0;

void allocate(int) {
    if (signals == 300) return;  // one more signal may arrive before the timer ends
    std::free(std::malloc(7777));
    signals = signals + 1;
}

}  // namespace

int main() {
    signal(SIGALRM, allocate);
    const itimerval often{{0, 200}, {0, 200}};
    const itimerval never{};
    setitimer(ITIMER_REAL, &often, nullptr);
    while (signals < 300) const acre::trace_scope scope{"interrupted"};
    setitimer(ITIMER_REAL, &never, nullptr);
    return signals < 300 ? 1 : 0;
}
