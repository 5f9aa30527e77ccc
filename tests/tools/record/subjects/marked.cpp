// Allocates in scopes that it marks, each time a different size; its argument selects how.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <acre/observe/recording.hpp>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

void library_work();

[[gnu::noinline]] void use(unsigned long size) {
    void* p = std::malloc(size);
    asm volatile("" : "+r"(p));
    std::free(p);
}

namespace {

void nested() {
    for (int i = 0; i < 3; ++i) {
        acre::trace_scope outer{"outer"};
        use(1001);
        {
            const std::string name = i == 0 ? "inner" : "inn" + std::string{"er"};
            acre::trace_scope inner{name.c_str()};
            use(1002);
        }
        use(1003);
    }
    use(1004);
}

void recursion(unsigned long depth) {
    acre::trace_scope level{"level"};
    use(2000 + depth);
    if (depth > 0) recursion(depth - 1);
}

void threads() {
    const auto work = [] {
        for (int i = 0; i < 100; ++i) {
            acre::trace_scope mark{"worker"};
            use(3001);
        }
    };
    std::thread other{work};
    work();
    other.join();
}

/// A thread that marks and never allocates, before one that allocates; names that are too long, empty or missing.
void odd_ones() {
    pthread_t idle{};
    pthread_create(
        &idle, nullptr,
        [](void*) -> void* {
            acre::trace_scope mark{"idle"};
            return nullptr;
        },
        nullptr);
    pthread_join(idle, nullptr);
    const acre::trace_scope long_one{std::string(1000, 'x').c_str()};
    const acre::trace_scope empty{""};
    const acre::trace_scope missing{nullptr};
}

void unbalanced() {
    if (!acre::detail::is_recorded()) return;
    acre_record_scope_end();
    acre_record_scope_begin("never left");
    std::thread{[] {
        acre_record_scope_begin("left by its thread's end");
        use(5001);
    }}.join();
    use(5002);
}

void in_two_processes() {
    acre::trace_scope both{"both"};
    const pid_t child = fork();
    if (child == 0) {
        acre::trace_scope mark{"child"};
        use(6001);
        return;
    }
    int status = 0;
    waitpid(child, &status, 0);
    acre::trace_scope mark{"parent"};
    use(6002);
}

}  // namespace

int main(int count, char** arguments) {
    const std::string how = count > 1 ? arguments[1] : "run";
    if (how == "run") {
        nested();
        recursion(3);
        threads();
        library_work();
        odd_ones();
    } else if (how == "unbalanced") {
        unbalanced();
    } else if (how == "crash") {
        acre::trace_scope outer{"outer"};
        acre::trace_scope inner{"inner"};
        use(7001);
        std::abort();
    } else if (how == "fork") {
        in_two_processes();
    }
}
