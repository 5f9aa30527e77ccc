// Camera frames: one thread allocates frames of varying sizes and hands them through a queue to 16 worker threads. Each
// worker reads a frame and frees it.
//
// It shows acre::synchronized over acre::multi_arena: all memory taken once, constant-time allocation and free from any
// thread, and enough arenas that no frame is ever refused. Copy it where one thread makes blocks of varying sizes,
// other threads consume them, and they end in roughly the order they were made: frames, packets, messages, jobs.
#include <acre/arenas/multi_arena.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/core/literals.hpp>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <vector>

namespace {

using namespace acre::literals;

constexpr unsigned frames_shot = 3000;
constexpr std::size_t workers = 16;
constexpr std::size_t frames_waiting = 24;  // the queue's capacity
constexpr std::size_t largest_frame = 16_KiB;

// The most frames live at once: those in the queue, one with each worker, and one with the camera.
constexpr std::size_t max_frames = frames_waiting + workers + 1;

// Every busy arena holds at least one live frame, so with as many arenas as frames one always has room. Real programs
// use fewer and larger arenas: acre::fit_multi_arena finds how many suffice.
constexpr acre::multi_arena_options arenas_for_any_order{.arenas = max_frames, .bytes = largest_frame};

using frame_memory = acre::synchronized<acre::multi_arena>;

struct frame {
    unsigned number;
    std::span<unsigned char> pixels;
};

// A byte that depends on the frame and on the position, so that a worker detects overwritten frames.
unsigned char pixel(unsigned frame_number, std::size_t index) {
    return static_cast<unsigned char>(frame_number * 31 + index * 7 + index / 251);
}

// The queue of frames. The camera waits while it is full, workers wait while it is empty.
class frame_queue {
public:
    void push(frame pushed) {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return count_ < frames_waiting; });
        ring_[(first_ + count_++) % frames_waiting] = pushed;
        changed_.notify_all();
    }
    // Empty when the camera has stopped and the queue is drained.
    std::optional<frame> pop() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return count_ > 0 || closed_; });
        if (count_ == 0) return std::nullopt;
        const frame popped = ring_[first_];
        first_ = (first_ + 1) % frames_waiting;
        --count_;
        changed_.notify_all();
        return popped;
    }
    void close() {
        const std::lock_guard lock{mutex_};
        closed_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::array<frame, frames_waiting> ring_{};
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    bool closed_ = false;
};

void shoot(frame_memory& memory, frame_queue& to_workers) {
    std::mt19937 random{1954};
    for (unsigned number = 0; number < frames_shot; ++number) {
        const std::size_t bytes = 1 + random() % largest_frame;
        const frame shot{number, {static_cast<unsigned char*>(memory.allocate(bytes)), bytes}};
        for (std::size_t i = 0; i < bytes; ++i) shot.pixels[i] = pixel(number, i);
        to_workers.push(shot);
    }
    to_workers.close();
}

struct totals {
    std::atomic<std::size_t> frames = 0;
    std::atomic<std::size_t> bytes = 0;
    std::atomic<std::size_t> damaged = 0;
};

void work(frame_memory& memory, frame_queue& from_camera, totals& seen) {
    while (const std::optional<frame> got = from_camera.pop()) {
        std::size_t damaged = 0;
        for (std::size_t i = 0; i < got->pixels.size(); ++i) damaged += got->pixels[i] != pixel(got->number, i);
        ++seen.frames;
        seen.bytes += got->pixels.size();
        seen.damaged += damaged;
        memory.deallocate(got->pixels.data(), got->pixels.size());
    }
}

}  // namespace

int main() {
    frame_memory memory{arenas_for_any_order};  // takes all its memory here
    frame_queue queue;
    totals seen;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < workers; ++i) threads.emplace_back([&] { work(memory, queue, seen); });
    shoot(memory, queue);
    for (std::thread& each : threads) each.join();
    std::printf("%zu frames of %zu bytes in all, %zu bytes damaged\n", seen.frames.load(), seen.bytes.load(),
                seen.damaged.load());
    std::printf("%zu frames not freed, %zu arenas busy of %zu\n", memory.allocations(), memory.busy_arenas(),
                memory.arenas());
    return 0;
}
