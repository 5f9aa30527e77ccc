// A server that runs for an hour, to see whether the malloc under it grows: threads come and go, requests take blocks
// of 8 bytes to 4 MiB, some blocks are kept in a store that all threads replace entries of, and the load rises and
// falls. Each block's ends are written, and checked when it is freed. A child is forked each minute. bench/whole/soak
// runs it.
//
// Usage: soak SECONDS [PERIOD]     a line each PERIOD (60) seconds, with a tab between: seconds, requests, threads
// begun,
//                                  live MiB, the most resident MiB in it, and the least
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace {

using seconds = std::chrono::duration<double>;

[[noreturn]] void fail(const char* why) {
    std::fprintf(stderr, "soak: %s\n", why);
    std::_Exit(1);
}

class block {
public:
    block() = default;
    explicit block(std::size_t bytes) : first_(static_cast<unsigned char*>(std::malloc(bytes))), bytes_(bytes) {
        write();
    }
    block(block&& other) noexcept
        : first_(std::exchange(other.first_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    block& operator=(block&& other) noexcept {
        std::swap(first_, other.first_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~block() {
        if (first_ == nullptr) return;
        check();
        std::free(first_);
    }

    void resize(std::size_t bytes) {
        check();
        first_ = static_cast<unsigned char*>(std::realloc(first_, bytes));
        bytes_ = bytes;
        write();
    }
    std::size_t bytes() const { return bytes_; }

private:
    unsigned char mark() const {
        return static_cast<unsigned char>(reinterpret_cast<std::uintptr_t>(first_) >> 4 ^ bytes_);
    }
    // A byte in each page, as a program that uses its memory.
    void write() {
        if (first_ == nullptr) fail("malloc returned null");
        for (std::size_t at = 0; at < bytes_; at += 4096) first_[at] = 1;
        first_[0] = first_[bytes_ - 1] = mark();
    }
    void check() const {
        if (first_[0] != mark() || first_[bytes_ - 1] != mark()) fail("a block was changed");
    }

    unsigned char* first_ = nullptr;
    std::size_t bytes_ = 0;
};

// Small ones are frequent: a third each below 64 bytes, below 1 KiB and above, one in a thousand up to 4 MiB.
std::size_t random_size(std::mt19937& random) {
    const std::uint32_t kind = random() % 1000;
    if (kind == 0) return 64 * 1024 + random() % (4 * 1024 * 1024);
    if (kind < 333) return 8 + random() % 56;
    if (kind < 900) return 64 + random() % 960;
    return 1024 + random() % (32 * 1024);
}

// What the threads share: entries that each of them replaces, and frees for the others.
class store {
public:
    explicit store(std::size_t entries) : entries_(entries) {}

    void put(block kept, std::size_t entry) {
        entry %= entries_.size();
        const std::lock_guard guard{locks_[entry % std::size(locks_)]};
        live_ += kept.bytes() - entries_[entry].bytes();
        entries_[entry] = std::move(kept);
        // The one that lay there ends with `kept`.
    }
    std::size_t size() const { return entries_.size(); }
    std::size_t live_bytes() const { return live_; }

private:
    std::mutex locks_[64];
    std::atomic<std::size_t> live_ = 0;
    std::vector<block> entries_;
};

struct server {
    store kept{60'000};
    std::atomic<double> load = 1;  // share of the store that is in use
    std::atomic<std::uint64_t> requests = 0;
    std::atomic<bool> ends = false;
};

void serve(server& all, std::uint32_t seed) {
    std::mt19937 random{seed};
    const std::uint64_t until = 2'000 + random() % 20'000;
    for (std::uint64_t request = 0; request < until && !all.ends; ++request) {
        std::vector<block> own;
        for (std::uint32_t count = 10 + random() % 100; count > 0; --count) own.emplace_back(random_size(random));
        own[random() % own.size()].resize(random_size(random));
        for (int i = 0; i < 20; ++i) {
            const std::size_t entry = random() % all.kept.size();
            const bool in_use = static_cast<double>(entry) < all.load * static_cast<double>(all.kept.size());
            all.kept.put(in_use ? std::move(own[random() % own.size()]) : block{}, entry);
        }
        ++all.requests;
        if (request % 8 == 0) usleep(2'000);
    }
}

double resident_mib() {
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    unsigned long all = 0, resident = 0;
    if (file == nullptr || std::fscanf(file, "%lu %lu", &all, &resident) != 2) fail("it cannot read /proc/self/statm");
    std::fclose(file);
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1024 * 1024);
}

void fork_a_child() {
    const pid_t child = fork();
    if (child == 0) {
        std::mt19937 random{1};
        std::vector<block> own;
        for (int i = 0; i < 1'000; ++i) own.emplace_back(random_size(random));
        own.clear();
        std::_Exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) fail("a forked child failed");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || std::atof(argv[1]) <= 0) {
        std::fputs("usage: soak SECONDS [PERIOD]\n", stderr);
        return 2;
    }
    const double length = std::atof(argv[1]), period = argc > 2 ? std::atof(argv[2]) : 60;
    constexpr unsigned workers = 4;
    server all;
    std::vector<std::thread> threads(workers);
    std::atomic<bool> done[workers];
    for (auto& each : done) each = true;
    const auto begin = std::chrono::steady_clock::now();
    std::uint32_t begun = 0;
    double most = 0, least = 1e9, next = period;
    for (double now = 0; now < length; now = seconds(std::chrono::steady_clock::now() - begin).count()) {
        // Five periods from a full store to a nearly empty one and back.
        all.load = .55 + .45 * std::cos(now / (5 * period) * 2 * 3.14159265);
        for (unsigned i = 0; i < workers; ++i) {
            if (!done[i].exchange(false)) continue;
            if (threads[i].joinable()) threads[i].join();
            threads[i] = std::thread{[&all, &finished = done[i], seed = ++begun] {
                serve(all, seed);
                finished = true;
            }};
        }
        most = std::max(most, resident_mib());
        least = std::min(least, resident_mib());
        if (now >= next) {
            fork_a_child();
            std::printf("%.0f\t%llu\t%u\t%.1f\t%.1f\t%.1f\n", now, static_cast<unsigned long long>(all.requests), begun,
                        static_cast<double>(all.kept.live_bytes()) / (1024 * 1024), most, least);
            std::fflush(stdout);
            most = 0, least = 1e9, next += period;
        }
        usleep(50'000);
    }
    all.ends = true;
    for (auto& each : threads) each.join();
}
