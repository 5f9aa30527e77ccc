// Hands the events that one thread reads to another, so that two passes over a trace run side by side.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "model.hpp"

namespace acre::tool {

class event_relay {
public:
    using visitor = std::function<void(const event&)>;
    using reading = std::function<void(const visitor&)>;

    /// Calls `read` in a thread of its own, and `visit` in this one, for each event that `read` passes on, in order. An
    /// exception of either ends both and is thrown here. Where the system refuses a thread, both run in this one.
    static void run(const reading& read, const visitor& visit) {
        event_relay relay;
        std::thread producer;
        try {
            producer = std::thread{[&] { relay.produce(read); }};
        } catch (const std::system_error&) {
            return read(visit);
        }
        relay.consume(visit);
        producer.join();
        if (relay.failure_) std::rethrow_exception(relay.failure_);
    }

private:
    using batch = std::vector<event>;
    static constexpr std::size_t batch_events = 4096;

    /// Ends `read` when nobody visits any more.
    struct stopped {};

    void produce(const reading& read) {
        try {
            read([this](const event& e) {
                filling_.push_back(e);
                if (filling_.size() == batch_events) hand_over();
            });
            hand_over();
        } catch (const stopped&) {
        } catch (...) {
            fail();
        }
        const std::lock_guard lock{mutex_};
        ended_ = true;
        changed_.notify_one();
    }

    void hand_over() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return full_.empty() || stopped_; });
        if (stopped_) throw stopped{};
        full_.swap(filling_);
        filling_.clear();
        changed_.notify_one();
    }

    void consume(const visitor& visit) {
        try {
            for (batch events; take(events); events.clear()) {
                for (const event& each : events) visit(each);
            }
        } catch (...) {
            fail();
        }
    }

    /// False after the last batch.
    bool take(batch& events) {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return !full_.empty() || ended_; });
        events.swap(full_);
        changed_.notify_one();
        return !events.empty();
    }

    void fail() {
        const std::lock_guard lock{mutex_};
        if (!failure_) failure_ = std::current_exception();
        stopped_ = true;
        changed_.notify_one();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    batch filling_;  // of the thread that reads
    batch full_;     // between both
    bool ended_ = false;
    bool stopped_ = false;
    std::exception_ptr failure_;
};

}  // namespace acre::tool
