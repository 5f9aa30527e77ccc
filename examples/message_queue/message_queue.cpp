// A queue of messages between two threads: one makes them, the other deletes them, and all come from static pools.
//
// It shows that one thread may free what another allocated, for the cost of storing a pointer: there is no queue of
// returned messages and no lock for each one. Messages of two sizes use two pools, chosen by the size of their class.
// When a thread ends, it returns the slots it kept. Copy it where a thread hands work, events or log lines to another.
#include <acre/adapt/pooled.hpp>
#include <acre/pools/static_pool.hpp>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace {

/// A message. Each class of messages uses the pool of its own size.
class message {
public:
    explicit message(long number) : number_(number) {}
    message(const message&) = delete;
    message& operator=(const message&) = delete;
    virtual ~message() = default;
    /// Adds the message's value to the sum.
    virtual void read(long& sum) const { sum += number_; }

    std::unique_ptr<message> next;  // in the queue
    ACRE_POOLED(message);

private:
    long number_;
};

class samples : public message {
public:
    explicit samples(long number) : message(number) { values_.fill(static_cast<short>(number % 100)); }
    void read(long& sum) const override {
        for (const short each : values_) sum += each;
    }
    ACRE_POOLED(samples);

private:
    std::array<short, 64> values_{};
};

/// First in, first out. The messages themselves form the list, so sending one allocates nothing more.
class message_queue {
public:
    void send(std::unique_ptr<message> sent) {
        const std::lock_guard lock{mutex_};
        message* last = sent.get();
        (last_ == nullptr ? first_ : last_->next) = std::move(sent);
        last_ = last;
        arrived_.notify_one();
    }
    /// Returns the oldest message, or null when the queue is closed and empty.
    std::unique_ptr<message> receive() {
        std::unique_lock lock{mutex_};
        arrived_.wait(lock, [this] { return first_ != nullptr || closed_; });
        std::unique_ptr<message> received = std::move(first_);
        if (received != nullptr) first_ = std::move(received->next);
        if (first_ == nullptr) last_ = nullptr;
        return received;
    }
    void close() {
        const std::lock_guard lock{mutex_};
        closed_ = true;
        arrived_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::unique_ptr<message> first_;
    message* last_ = nullptr;
    bool closed_ = false;
};

}  // namespace

int main() {
    constexpr long messages = 100'000;
    message_queue queue;
    long sum = 0;
    std::thread reader{[&] {
        while (auto received = queue.receive()) received->read(sum);
    }};
    std::thread writer{[&] {
        for (long i = 0; i < messages; ++i) {
            if (i % 10 == 0) {
                queue.send(std::make_unique<samples>(i));
            } else {
                queue.send(std::make_unique<message>(i));
            }
        }
        queue.close();
    }};
    writer.join();
    reader.join();
    using message_pool = acre::static_pool<sizeof(message)>;
    using samples_pool = acre::static_pool<sizeof(samples)>;
    std::printf("%ld messages, their sum is %ld\n", messages, sum);
    std::printf("live afterwards: %zu messages, %zu samples\n", message_pool::live(), samples_pool::live());
    message_pool::release_unused();
    samples_pool::release_unused();
    std::printf("held afterwards: %zu bytes\n", message_pool::capacity() + samples_pool::capacity());
    return 0;
}
