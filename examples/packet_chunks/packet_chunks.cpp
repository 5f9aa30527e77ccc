// A chunk pool of packets: three kinds wait in a router, each in a slot of its size. All packet memory exists from the
// start, and its size is known at compile time. When a burst fills a class, packets spill to the next one; when all are
// full, the packet is dropped.
#include <acre/pools/chunk_pool.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>

namespace {

/// A waiting packet; the kinds differ in size.
class packet {
public:
    packet() = default;
    packet(const packet&) = delete;
    packet& operator=(const packet&) = delete;
    virtual ~packet() = default;

    virtual std::size_t bytes_on_wire() const noexcept = 0;
};

template <std::size_t Payload>
class packet_of final : public packet {
public:
    explicit packet_of(std::uint32_t number) noexcept { payload_.fill(static_cast<std::uint8_t>(number)); }
    std::size_t bytes_on_wire() const noexcept override { return 8 + payload_.size(); }

private:
    std::array<std::uint8_t, Payload> payload_;
};

using acknowledgement = packet_of<16>;
using voice = packet_of<50>;
using data = packet_of<1460>;

using packet_chunks = acre::chunk_pool<64, sizeof(acknowledgement), sizeof(voice), sizeof(data)>;

class router {
public:
    router() = default;
    router(const router&) = delete;
    router& operator=(const router&) = delete;
    ~router() { send(waiting_.size()); }

    void receive(std::uint32_t number) {
        packet* received = nullptr;
        if (number % 8 == 0) {
            received = make<data>(number);
        } else {
            received = number % 8 < 3 ? make<voice>(number) : make<acknowledgement>(number);
        }
        if (received == nullptr) {
            ++dropped_;
        } else {
            waiting_.push_back(received);
        }
    }

    void send(std::size_t packets) {
        for (; packets > 0 && !waiting_.empty(); --packets) {
            sent_bytes_ += waiting_.front()->bytes_on_wire();
            chunks_.destroy(waiting_.front());
            waiting_.pop_front();
        }
    }

    void print(const char* when) const {
        std::printf("%-12s %3zu live (%zu acknowledgements' slots, %zu voice, %zu data), %d dropped, %zu bytes sent\n",
                    when, chunks_.live(), chunks_.live_of(0), chunks_.live_of(1), chunks_.live_of(2), dropped_,
                    sent_bytes_);
    }

private:
    // Like new (chunks_) Packet(number), but a full pool is not an error here.
    template <class Packet>
    packet* make(std::uint32_t number) {
        void* slot = chunks_.try_allocate(sizeof(Packet), alignof(Packet));
        return slot == nullptr ? nullptr : ::new (slot) Packet(number);
    }

    packet_chunks chunks_;
    std::deque<packet*> waiting_;
    int dropped_ = 0;
    std::size_t sent_bytes_ = 0;
};

}  // namespace

int main() {
    std::printf("64 packets of each kind in %zu bytes, of which %zu are waste\n", packet_chunks::capacity(),
                packet_chunks::waste_bytes());
    router here;
    for (std::uint32_t number = 1; number <= 100; ++number) here.receive(number);
    here.print("queued");
    here.send(80);
    here.print("sent some");
    for (std::uint32_t number = 101; number <= 300; ++number) here.receive(number);
    here.print("after burst");
    here.send(1000);
    here.print("drained");
}
