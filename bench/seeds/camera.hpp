// W3 and W4: a camera keeps its last images in memory, and a new one replaces a random one. W3: one thread with 64
// images of up to 1,023 pixels. W4: 16 threads (1 to 16 for the scaling table) share one resource, with four images of
// up to 63 pixels each. All contestants are a std::pmr::memory_resource here, so all run the same machine code around
// their own.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <memory_resource>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "../harness.hpp"
#include "../peers/threads.hpp"
#include "../threads_in_rounds.hpp"

namespace bench {

/// The index of the image that this thread replaces next; a contestant that costs nothing finds its storage by it.
inline constinit thread_local std::size_t image_at_hand = 0;

/// The work of one thread. `first` is the index of its first image among those of all threads.
template <std::size_t Images, std::size_t MorePixels>
class camera {
public:
    camera(std::pmr::memory_resource* memory, std::size_t first, std::uint64_t seed)
        : memory_{memory}, first_{first}, random_{seed} {
        for (std::size_t i = 0; i < Images; ++i) images_.emplace_back(memory);
    }

    [[gnu::noinline]] void run(std::size_t iterations) {
        for (std::size_t i = 0; i < iterations; ++i) {
            const std::size_t index = random_.below(Images);
            image_at_hand = first_ + index;
            image& replaced = images_[index];
            check(replaced);
            replaced = image(memory_);
            replaced.resize(random_.below(MorePixels));
            std::iota(replaced.begin(), replaced.end(), 1);
        }
    }

private:
    using image = std::pmr::vector<int>;

    static void check(const image& pixels) {
        int expected = 0;
        for (const int pixel : pixels) {
            if (pixel != ++expected) throw std::logic_error("an image was overwritten");
        }
    }

    std::pmr::memory_resource* memory_;
    std::size_t first_;
    random_numbers random_;
    std::vector<image> images_;
};

inline constexpr std::size_t camera_images = 64;  // of all threads
inline constexpr std::size_t camera_iterations = 65'536;
inline constexpr std::size_t camera_threads = max_threads;
inline constexpr std::size_t shared_iterations = 8192;  // of each thread
/// The number of arenas with which the published example ends.
inline constexpr std::size_t camera_arenas = 64;
inline constexpr std::size_t camera_arena_bytes = 4096;

using lone_camera = camera<camera_images, 1024>;
using sharing_camera = camera<camera_images / camera_threads, 64>;

/// A `Home` has `std::pmr::memory_resource* get()`.
template <class Home>
class one_camera {
public:
    void operator()() { camera_.run(camera_iterations); }

private:
    Home home_;
    lone_camera camera_{hide(home_.get()), 0, 1};
};

/// One camera for each thread; all share the home.
template <class Home>
class sharing_cameras {
public:
    explicit sharing_cameras(std::size_t threads) : threads_{works(threads)} {}

    void operator()() { threads_(); }

private:
    std::vector<std::function<void()>> works(std::size_t threads) {
        std::vector<std::function<void()>> all;
        for (std::size_t index = 0; index < threads; ++index) {
            auto own = std::make_shared<sharing_camera>(hide(home_.get()), index * (camera_images / camera_threads),
                                                        index + 1);
            all.push_back([own = std::move(own)] { own->run(shared_iterations); });
        }
        return all;
    }

    Home home_;
    threads_in_rounds threads_;
};

template <class Home>
void add_camera(suite& entries, const std::string& name) {
    entries.add({.id = "W3",
                 .title = "camera, one thread: 64 std::pmr::vector<int>, one checked and replaced by another of up to "
                          "1,023 ints; new/delete is new_delete_resource",
                 .operations = camera_iterations,
                 .in_fresh_processes = true},
                name, [] { return make_round<one_camera<Home>>(); });
}

template <class Home>
void add_shared_camera(suite& entries, const std::string& name) {
    entries.add(
        {.id = "W4",
         .title = "camera, 16 threads that share one resource, 4 vectors of up to 63 ints each; **wall time** from "
                  "first to last, and processor time of all threads, divided by the iterations of all threads",
         .operations = camera_threads * shared_iterations,
         .time = time_kind::wall,
         .in_fresh_processes = true},
        name, [] { return make_round<sharing_cameras<Home>>(camera_threads); });
    for (const std::size_t threads : scaling_threads) {
        entries.add_scaling({.workload = "W4",
                             .title = "cameras that share one resource, 4 vectors of up to 63 ints each",
                             .threads = threads,
                             .operations = threads * shared_iterations},
                            name, [threads] { return make_round<sharing_cameras<Home>>(threads); });
    }
}

/// A default-constructed resource, as a Home.
template <class Resource>
struct camera_home {
    std::pmr::memory_resource* get() noexcept { return &resource; }
    Resource resource;
};

}  // namespace bench
