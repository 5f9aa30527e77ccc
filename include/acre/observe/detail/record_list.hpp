// A growing array of records, with memory from an upstream of its own. It never throws: push returns false when
// upstream has no memory.
//
// Used by acre::checked, not directly. Cost: constant time except for growing, which doubles the array. Takes memory at
// the first record. Not thread-safe.
#pragma once

#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace acre::detail {

/// Values in a row.
template <class Value>
class record_list {
    static_assert(std::is_trivially_copyable_v<Value>);

public:
    explicit record_list(resource_ref upstream) noexcept : upstream_(upstream) {}
    record_list(record_list&& other) noexcept
        : first_(std::exchange(other.first_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)),
          upstream_(other.upstream_) {}
    record_list& operator=(record_list&&) = delete;
    ~record_list() {
        if (first_ != nullptr) upstream_.deallocate(first_, capacity_ * sizeof(Value), alignof(Value));
    }

    bool push(const Value& added) noexcept {
        if (size_ == capacity_ && !reserve(size_ == 0 ? 16 : 2 * size_)) return false;
        ::new (static_cast<void*>(first_ + size_++)) Value(added);
        return true;
    }
    /// Makes room for `count` values in all.
    [[gnu::noinline]] bool reserve(std::size_t count) noexcept {
        if (count <= capacity_) return true;
        auto* larger = static_cast<Value*>(upstream_.try_allocate(count * sizeof(Value), alignof(Value)));
        if (larger == nullptr) return false;
        for (std::size_t i = 0; i < size_; ++i) ::new (static_cast<void*>(larger + i)) Value(first_[i]);
        if (first_ != nullptr) upstream_.deallocate(first_, capacity_ * sizeof(Value), alignof(Value));
        first_ = larger;
        capacity_ = count;
        return true;
    }
    void pop() noexcept { --size_; }
    void clear() noexcept { size_ = 0; }

    std::size_t size() const noexcept { return size_; }
    std::size_t capacity() const noexcept { return capacity_; }
    Value* data() noexcept { return first_; }
    const Value* data() const noexcept { return first_; }
    Value& back() noexcept { return first_[size_ - 1]; }
    const Value& back() const noexcept { return first_[size_ - 1]; }
    Value& operator[](std::size_t index) noexcept { return first_[index]; }

private:
    Value* first_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    resource_ref upstream_;
};

}  // namespace acre::detail
