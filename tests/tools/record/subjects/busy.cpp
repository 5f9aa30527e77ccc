// Allocates in three threads for a while. Each object is freed by the thread after the one that made it; some grow by
// realloc before.
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#ifdef MARKS_A_SCOPE
#include <acre/observe/recording.hpp>
#endif

namespace {

constexpr int threads = 3;
constexpr int rounds = 60;
constexpr int objects_a_round = 500;

struct mailbox {
    std::mutex mutex;
    std::vector<void*> objects;
};

mailbox boxes[threads];

void free_all_of(mailbox& box) {
    std::vector<void*> objects;
    {
        const std::lock_guard lock{box.mutex};
        objects.swap(box.objects);
    }
    for (void* each : objects) std::free(each);
}

void work(int self) {
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < objects_a_round; ++i) {
            void* p = std::malloc(i % 10 == 0 ? 7010 : 7001);
            if (i % 10 == 0) p = std::realloc(p, 7020);
            mailbox& next = boxes[(self + 1) % threads];
            const std::lock_guard lock{next.mutex};
            next.objects.push_back(p);
        }
        free_all_of(boxes[self]);
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
}

}  // namespace

int main() {
    std::vector<std::thread> workers;
    for (int i = 0; i < threads; ++i) workers.emplace_back(work, i);
    for (std::thread& each : workers) each.join();
    for (mailbox& each : boxes) free_all_of(each);
#ifdef MARKS_A_SCOPE
    acre::trace_scope last{"last"};
    std::free(std::malloc(7030));
#endif
    return 0;
}
