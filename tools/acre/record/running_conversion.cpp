#include "running_conversion.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <system_error>
#include <utility>

namespace acre::tool {

namespace {

// The encoder's memory grows with the nodes it expects, so they double.
constexpr std::size_t min_nodes = 1024;

bool has_another_processor() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return ::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

}  // namespace

converted_part::converted_part(int memory, const std::filesystem::path& directory, const std::string& log,
                               std::uint32_t region)
    : tail_{memory, directory, log, region},
      events_{tick_clock{tail_.start()}, tail_.sampling_period()},
      encoder_{[this](std::span<const std::uint8_t> section) { sections_.add(section); }, min_nodes, 0, 0},
      nodes_{min_nodes},
      has_failed_{tail_.begins_paused()} {}

void converted_part::add(const placed_event& each) {
    if (each.what.stack >= nodes_) {
        nodes_ = std::max<std::size_t>(nodes_ * 2, std::size_t{each.what.stack} + 1);
        encoder_.grow(nodes_);
    }
    events_.prepare(each, encoder_);
    encoder_.add(each.what, each.place);
}

std::uint64_t converted_part::go_on(raw::clock_pair now, const std::stop_token& stop) {
    if (has_failed_) return 0;
    const std::uint64_t before = tail_.rows();
    try {
        if (!tail_.poll([&](std::uint32_t thread, row_segment rows) { events_.append(thread, std::move(rows)); }))
            return tail_.rows() - before;
        events_.extend_clock(now);
        while (!stop.stop_requested() && events_.drain(now.ticks, [&](const placed_event& each) { add(each); })) {
        }
    } catch (const std::exception&) {
        has_failed_ = true;  // for lack of memory, say
    }
    has_failed_ = has_failed_ || events_.has_marks();
    return tail_.rows() - before;
}

void converted_part::catch_up(raw::clock_pair now) {
    events_early_ = events_.events();
    go_on(now, {});
}

bool converted_part::is_of(const raw_reader& log) const {
    const bool is_whole = !has_failed_ && !events_.is_lacking() && !log.damaged();
    const bool has_marks = events_.has_marks() || !log.pauses().empty() || !log.scope_names().empty();
    return log.name() == tail_.log() && is_whole && !has_marks && events_.node_bound() <= log.nodes().size();
}

void converted_part::finish(const raw_reader& log, raw::clock_pair end) {
    events_.extend_clock(end);
    events_.take_log(log);
    events_.finish([&](const placed_event& each) { add(each); }, [](const mark&) {});
    encoder_.finish();
}

running_conversion::running_conversion(const recording_memory& memory, const std::filesystem::path& directory,
                                       pid_t process)
    : memory_{memory}, directory_{directory}, prefix_{std::to_string(process) + "."} {
    if (memory.descriptor() < 0 || !has_another_processor()) return;
    try {
        thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
    } catch (const std::system_error&) {
        // Without a thread, under a memory limit say, all is converted at the end.
    }
}

std::unique_ptr<converted_part> running_conversion::end() {
    if (thread_.joinable()) {
        thread_.request_stop();
        thread_.join();
    }
    const raw::clock_pair now = read_clocks();
    if (part_ != nullptr && has_found_logs()) part_->catch_up(now);
    return std::move(part_);
}

void running_conversion::find_logs() {
    for (; next_region_ < memory_.regions(); ++next_region_) {
        bool is_first = false;
        const std::string log = memory_.log_of(next_region_, is_first);
        if (log.empty()) return;  // its process has only begun
        if (!log.starts_with(prefix_)) continue;
        if (part_ != nullptr && part_->tail().log() == log) {
            part_->tail().add_region(next_region_);
        } else if (is_first) {
            part_ = std::make_unique<converted_part>(memory_.descriptor(), directory_, log, next_region_);
        } else {
            return;  // its head comes
        }
    }
}

/// False if memory ran out.
bool running_conversion::has_found_logs() {
    try {
        find_logs();
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

void running_conversion::run(const std::stop_token& stop) {
    using std::chrono::milliseconds;
    constexpr milliseconds shortest{10};  // each turn costs some microseconds
    constexpr milliseconds longest{40};
    constexpr std::uint64_t many = 1 << 14;  // rows
    // Signals are for the main thread, and a write beyond the file size limit is to fail with an error.
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::condition_variable_any stopped;
    std::unique_lock lock{waiting_};
    milliseconds pause = shortest;
    while (!stopped.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) {
        const raw::clock_pair now = read_clocks();
        if (!has_found_logs()) return;
        const std::uint64_t rows = part_ == nullptr ? 0 : part_->go_on(now, stop);
        pause = rows > many ? shortest : std::min(pause * 2, longest);
    }
}

}  // namespace acre::tool
