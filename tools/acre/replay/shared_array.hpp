// An array that grows and that other processes can map: what is built in it needs no copy to be handed over.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "trace/error.hpp"

namespace acre::tool {

/// Elements in a memory file of their own, which is there from the first element on.
template <typename T>
class shared_array {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    shared_array() = default;
    shared_array(shared_array&& other) noexcept
        : file_{std::exchange(other.file_, -1)},
          elements_{std::exchange(other.elements_, nullptr)},
          size_{std::exchange(other.size_, 0)},
          room_{std::exchange(other.room_, 0)} {}
    shared_array& operator=(shared_array&& other) noexcept {
        std::swap(file_, other.file_);
        std::swap(elements_, other.elements_);
        std::swap(size_, other.size_);
        std::swap(room_, other.room_);
        return *this;
    }
    ~shared_array() {
        if (elements_ != nullptr) ::munmap(elements_, room_ * sizeof(T));
        if (file_ >= 0) ::close(file_);
    }

    template <typename... Arguments>
    T& emplace_back(Arguments&&... arguments) {
        return append(T(std::forward<Arguments>(arguments)...));
    }
    void push_back(const T& element) { append(element); }

    /// New elements are zero.
    void resize(std::size_t size) {
        if (size > room_) grow(size);
        size_ = size;
    }

    std::size_t size() const noexcept { return size_; }
    T* begin() noexcept { return elements_; }
    T* end() noexcept { return elements_ + size_; }
    const T* begin() const noexcept { return elements_; }
    const T* end() const noexcept { return elements_ + size_; }
    T& operator[](std::size_t i) noexcept { return elements_[i]; }
    const T& operator[](std::size_t i) const noexcept { return elements_[i]; }
    std::span<const T> view() const noexcept { return {elements_, size_}; }

    /// The descriptor of the file, which stays this object's; -1 while there was never an element.
    int file() const noexcept { return file_; }

private:
    T& append(const T& element) {
        if (size_ == room_) grow(size_ + 1);
        return elements_[size_++] = element;
    }

    // By half, for the file has pages only where elements were written.
    void grow(std::size_t wanted) {
        const std::size_t room = std::max({wanted, room_ + room_ / 2, std::size_t{4096} / sizeof(T)});
        if (file_ < 0) file_ = ::memfd_create("acre-replay", MFD_CLOEXEC);
        if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(room * sizeof(T))) != 0) fail();
        void* mapped =
            elements_ == nullptr
                ? ::mmap(nullptr, room * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0)
                : ::mremap(static_cast<void*>(elements_), room_ * sizeof(T), room * sizeof(T), MREMAP_MAYMOVE);
        if (mapped == MAP_FAILED) fail();
        elements_ = static_cast<T*>(mapped);
        room_ = room;
    }

    [[noreturn]] static void fail() {
        throw tool_error{std::string{"cannot get memory for the replay: "} + std::strerror(errno)};
    }

    int file_ = -1;
    T* elements_ = nullptr;
    std::size_t size_ = 0;
    std::size_t room_ = 0;
};

}  // namespace acre::tool
