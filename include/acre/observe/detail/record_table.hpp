// A hash table of the records that acre::statistics keeps, by a number (an address or a size), with memory from an
// upstream of its own. It never throws: a record for which upstream has no memory is not kept, and the caller is told.
//
// Used by acre::statistics, not directly. Cost: constant time but for growing, which doubles it; 8 bytes and the record
// for each place, three eighths to three quarters of which are in use. Memory is taken at the first record. Not
// thread-safe.
#pragma once

#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace acre::detail {

/// Values by key; keys are less than SIZE_MAX.
template <class Value>
class record_table {
    static_assert(std::is_trivially_copyable_v<Value>);

public:
    constexpr record_table() noexcept = default;
    explicit record_table(resource_ref upstream) noexcept : upstream_(upstream) {}
    record_table(record_table&& other) noexcept
        : places_(std::exchange(other.places_, nullptr)),
          capacity_(std::exchange(other.capacity_, 0)),
          size_(std::exchange(other.size_, 0)),
          upstream_(other.upstream_) {}
    record_table& operator=(record_table&& other) noexcept {
        if (this == &other) return *this;
        std::destroy_at(this);
        return *std::construct_at(this, std::move(other));
    }
    ~record_table() {
        if (places_ != nullptr) upstream_.deallocate(places_, capacity_ * sizeof(place), alignof(place));
    }

    /// The record of `key`; null when there is none.
    const Value* find(std::size_t key) const noexcept {
        if (size_ == 0) return nullptr;
        const place& found = places_[index_of(key + 1)];
        return found.tag == 0 ? nullptr : &found.value;
    }
    Value* find(std::size_t key) noexcept { return const_cast<Value*>(std::as_const(*this).find(key)); }

    /// The record of `key`, made if there was none; null when there is no memory for it.
    Value* insert(std::size_t key) noexcept {
        if ((size_ + 1) * 4 > capacity_ * 3) [[unlikely]] {
            if (Value* found = find(key)) return found;
            // One place stays free: it ends every search.
            if (!grow() && size_ + 1 >= capacity_) return nullptr;
        }
        place& found = places_[index_of(key + 1)];
        if (found.tag == 0) {
            found = {key + 1, Value{}};
            ++size_;
        }
        return &found.value;
    }

    /// Removes the record of `key`; false when there is none.
    bool erase(std::size_t key) noexcept {
        if (size_ == 0) return false;
        const std::size_t index = index_of(key + 1);
        if (places_[index].tag == 0) return false;
        erase_at(index);
        return true;
    }

    /// Removes the records that `chosen(value)` holds for. Linear.
    template <class Predicate>
    void erase_if(Predicate chosen) noexcept {
        for (std::size_t index = 0; index < capacity_; ++index) {
            // Another record may come to lie here.
            while (places_[index].tag != 0 && chosen(std::as_const(places_[index].value))) erase_at(index);
        }
    }

    /// Removes all records and keeps the memory. Linear.
    void clear() noexcept {
        for (std::size_t index = 0; index < capacity_ && size_ != 0; ++index) places_[index].tag = 0;
        size_ = 0;
    }

    /// Calls `function(key, value)` for each record, in no order. Linear.
    template <class Function>
    void for_each(Function function) const {
        for (std::size_t index = 0; index < capacity_; ++index) {
            if (places_[index].tag != 0) function(places_[index].tag - 1, places_[index].value);
        }
    }

    std::size_t size() const noexcept { return size_; }
    resource_ref upstream() const noexcept { return upstream_; }

private:
    struct place {
        std::size_t tag = 0;  // the key and 1, so that 0 is nobody's
        Value value{};
    };

    static constexpr std::size_t first_capacity = 64;

    std::size_t home_of(std::size_t tag) const noexcept {
        return static_cast<std::size_t>((std::uint64_t{tag} * 0x9E3779B97F4A7C15u) >> 32) & (capacity_ - 1);
    }

    // Where `tag` lies, or the free place where it would.
    std::size_t index_of(std::size_t tag) const noexcept {
        std::size_t index = home_of(tag);
        while (places_[index].tag != tag && places_[index].tag != 0) index = (index + 1) & (capacity_ - 1);
        return index;
    }

    // What follows without a gap moves up, so that no search ends too early.
    void erase_at(std::size_t hole) noexcept {
        std::size_t next = hole;
        for (;;) {
            next = (next + 1) & (capacity_ - 1);
            if (places_[next].tag == 0) break;
            const std::size_t way = (next - home_of(places_[next].tag)) & (capacity_ - 1);
            if (way < ((next - hole) & (capacity_ - 1))) continue;
            places_[hole] = places_[next];
            hole = next;
        }
        places_[hole].tag = 0;
        --size_;
    }

    [[gnu::noinline]] bool grow() noexcept {
        const std::size_t wanted = capacity_ == 0 ? first_capacity : capacity_ * 2;
        void* storage = upstream_.try_allocate(wanted * sizeof(place), alignof(place));
        if (storage == nullptr) return false;
        auto* larger = static_cast<place*>(storage);
        std::uninitialized_value_construct_n(larger, wanted);
        place* const old = std::exchange(places_, larger);
        const std::size_t old_capacity = std::exchange(capacity_, wanted);
        for (std::size_t index = 0; index < old_capacity; ++index) {
            if (old[index].tag != 0) places_[index_of(old[index].tag)] = old[index];
        }
        if (old != nullptr) upstream_.deallocate(old, old_capacity * sizeof(place), alignof(place));
        return true;
    }

    place* places_ = nullptr;
    std::size_t capacity_ = 0;  // a power of two
    std::size_t size_ = 0;
    resource_ref upstream_ = heap{};
};

}  // namespace acre::detail
