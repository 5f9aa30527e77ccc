// Allocates before, in and after a pause, which the way that its first argument names begins and ends; or very often,
// to be sampled.
#include <signal.h>
#include <unistd.h>
#include <acre/observe/recording.hpp>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using blocks = std::vector<void*>;

/// Each allocating function is called from a different place.
[[gnu::noinline]] blocks allocate(std::size_t size) {
    blocks made;
    for (int i = 0; i < 10; ++i) made.push_back(std::malloc(size));
    return made;
}

void release(const blocks& of) {
    for (void* each : of) std::free(each);
}

/// Makes the recording process send the signal to this one, and waits for it.
void toggle_from_outside() {
    sigset_t toggling;
    sigset_t before;
    sigemptyset(&toggling);
    sigaddset(&toggling, SIGUSR2);
    sigprocmask(SIG_BLOCK, &toggling, &before);
    kill(getppid(), SIGUSR2);
    sigsuspend(&before);
    sigprocmask(SIG_SETMASK, &before, nullptr);
}

void pause_by(const std::string& way, bool begins) {
    if (way == "signal") {
        raise(SIGUSR2);
    } else if (way == "outside") {
        toggle_from_outside();
    } else if (begins) {
        acre::pause_recording();
    } else {
        acre::resume_recording();
    }
}

void often() {
    blocks live(1000);
    for (std::size_t i = 0; i < 200'000; ++i) {
        void*& block = live[i * 7919 % live.size()];
        if (i % 3 == 0) {
            block = std::realloc(block, 4321);
        } else {
            std::free(block);
            block = std::malloc(4321);
        }
    }
    release(live);
}

}  // namespace

int main(int count, char** arguments) {
    const std::string way = count > 1 ? arguments[1] : "";
    if (way == "often") {
        often();
        return 0;
    }
    if (way == "often in threads") {
        std::thread other{often};
        often();
        other.join();
        return 0;
    }
    const blocks before = allocate(1001);
    pause_by(way, true);
    const blocks meanwhile = allocate(1002);
    const blocks moved = [&] {
        blocks grown = allocate(1004);
        for (void*& each : grown) each = std::realloc(each, 1005);
        return grown;
    }();
    release(before);
    pause_by(way, false);
    release(allocate(1003));
    release(meanwhile);
    release(moved);
}
