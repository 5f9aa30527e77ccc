// A fuzzer's bytes as a sequence of steps of one length. Mutations insert, remove, repeat and exchange whole steps, so
// the rest of a sequence keeps its meaning and long sequences are reached soon.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace acre_test {

/// Bytes of a step: four numbers.
inline constexpr std::size_t record_bytes = 8;
/// Bytes before the first step.
inline constexpr std::size_t record_head_bytes = 2;

/// The numbers of one step: the bytes' own at first, then others that depend on all of them.
class record_choices {
public:
    explicit record_choices(const std::uint8_t* record) noexcept { std::memcpy(own_, record, record_bytes); }

    std::uint32_t operator()() noexcept {
        if (next_ < std::size(own_)) return own_[next_++];
        for (const std::uint16_t each : own_) further_ = (further_ ^ each) * 0x9E37'79B9'7F4A'7C15;
        return static_cast<std::uint32_t>(further_ >> 40) & 0xFFFF;
    }

private:
    std::uint16_t own_[record_bytes / sizeof(std::uint16_t)];
    std::size_t next_ = 0;
    std::uint64_t further_ = 1;
};

/// Calls `step` with the choices of each record behind the head, at most `max_steps` times.
template <class Step>
void for_each_record(std::span<const std::uint8_t> bytes, std::size_t max_steps, Step step) {
    for (std::size_t at = record_head_bytes; at + record_bytes <= bytes.size() && max_steps > 0; at += record_bytes) {
        record_choices choose{bytes.data() + at};
        step(choose);
        --max_steps;
    }
}

/// A number that selects what is tested.
inline std::size_t record_head(std::span<const std::uint8_t> bytes) noexcept {
    return bytes.size() < record_head_bytes ? 0 : bytes[0] + std::size_t{256} * bytes[1];
}

/// A sequence of records in libFuzzer's buffer, while it is changed.
class record_mutation {
public:
    record_mutation(std::uint8_t* data, std::size_t size, std::size_t max_size, std::uint32_t seed)
        : data_(data),
          max_count_(max_size < record_head_bytes ? 0 : (max_size - record_head_bytes) / record_bytes),
          random_(seed) {
        if (size < record_head_bytes) std::memset(data, 0, std::min(max_size, record_head_bytes));
        count_ = std::min(size < record_head_bytes ? 0 : (size - record_head_bytes) / record_bytes, max_count_);
    }

    /// Returns the new size.
    std::size_t run() {
        if (max_count_ == 0) return record_head_bytes;
        switch (count_ == 0 ? 0 : random_() % 10) {
            case 0:
            case 1:
                insert_new(std::size_t{1} << random_() % 6);
                break;
            case 2:
                remove(below(count_), 1 + below(8));
                break;
            case 3:
                repeat(below(count_), 1 + below(8), 1 + below(16));
                break;
            case 4:
                std::rotate(at(0), at(below(count_)), at(count_));
                break;
            case 5:
                LLVMFuzzerMutate(data_, record_head_bytes, record_head_bytes);
                break;
            default:
                LLVMFuzzerMutate(at(below(count_)), record_bytes, record_bytes);
                break;
        }
        return record_head_bytes + count_ * record_bytes;
    }

private:
    std::uint8_t* at(std::size_t number) noexcept { return data_ + record_head_bytes + number * record_bytes; }
    std::size_t below(std::size_t end) { return random_() % end; }

    /// Makes room for `count` records at `where`, as far as there is any; returns how many.
    std::size_t open(std::size_t where, std::size_t count) {
        count = std::min(count, max_count_ - count_);
        std::memmove(at(where + count), at(where), (count_ - where) * record_bytes);
        count_ += count;
        return count;
    }

    void insert_new(std::size_t count) {
        const std::size_t where = below(count_ + 1);
        count = open(where, count);
        std::generate(at(where), at(where + count), [this] { return static_cast<std::uint8_t>(random_()); });
    }

    void remove(std::size_t where, std::size_t count) {
        count = std::min(count, count_ - where);
        std::memmove(at(where), at(where + count), (count_ - where - count) * record_bytes);
        count_ -= count;
    }

    /// Appends copies of some records to them.
    void repeat(std::size_t where, std::size_t count, std::size_t times) {
        count = std::min(count, count_ - where);
        const std::size_t added = open(where + count, count * times);
        for (std::size_t i = 0; i < added; ++i) std::memcpy(at(where + count + i), at(where + i), record_bytes);
    }

    std::uint8_t* data_;
    std::size_t max_count_;
    std::size_t count_ = 0;
    std::minstd_rand random_;
};

}  // namespace acre_test
