// A growing array that other processes can map without a copy. While it is short it is in a memory file, beyond that in
// a temporary file on disk.
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
#include "trace/unnamed_file.hpp"

namespace acre::tool {

template <typename T>
class shared_array {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    static constexpr std::size_t usual_memory = std::size_t{256} << 20;  // bytes

    explicit shared_array(std::size_t max_memory = usual_memory) : max_memory_{max_memory} {}
    shared_array(shared_array&& other) noexcept { swap(other); }
    shared_array& operator=(shared_array&& other) noexcept {
        swap(other);
        return *this;
    }
    ~shared_array() {
        if (elements_ != nullptr) ::munmap(elements_, room_ * sizeof(T));
        if (memory_file_ >= 0) ::close(memory_file_);
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

    bool is_in_memory() const noexcept { return disk_file_.descriptor() < 0; }

    /// The descriptor of the file, owned by this object; -1 before the first element.
    int file() const noexcept { return is_in_memory() ? memory_file_ : disk_file_.descriptor(); }

private:
    // Elements by which a file on disk grows; about that much of it is in memory while it is written.
    static constexpr std::size_t piece = (std::size_t{32} << 20) / sizeof(T);

    void swap(shared_array& other) noexcept {
        std::swap(max_memory_, other.max_memory_);
        std::swap(memory_file_, other.memory_file_);
        disk_file_.swap(other.disk_file_);
        std::swap(elements_, other.elements_);
        std::swap(size_, other.size_);
        std::swap(room_, other.room_);
    }

    T& append(const T& element) {
        if (size_ == room_) grow(size_ + 1);
        return elements_[size_++] = element;
    }

    void grow(std::size_t wanted) {
        if (is_in_memory() && wanted * sizeof(T) <= max_memory_) return grow_in_memory(wanted);
        if (is_in_memory()) move_to_disk();
        const std::size_t room = std::max(wanted, room_ + piece);
        disk_file_.reserve(room * sizeof(T));
        if (elements_ == nullptr) {
            elements_ = map(room);
            room_ = room;
            return;
        }
        // Written elements are in the file, so their pages can be dropped from this process.
        ::madvise(elements_, room_ * sizeof(T), MADV_DONTNEED);
        remap(room);
    }

    // Grows by half: unwritten pages of the file take no memory.
    void grow_in_memory(std::size_t wanted) {
        const std::size_t room = std::max({wanted, room_ + room_ / 2, std::size_t{4096} / sizeof(T)});
        if (memory_file_ < 0) memory_file_ = ::memfd_create("acre-replay", MFD_CLOEXEC);
        if (memory_file_ < 0 || ::ftruncate(memory_file_, static_cast<off_t>(room * sizeof(T))) != 0) fail();
        if (elements_ != nullptr) return remap(room);
        elements_ = map(room);
        room_ = room;
    }

    void move_to_disk() {
        disk_file_.write(std::as_bytes(std::span{elements_, size_}));
        if (elements_ == nullptr) return;
        ::munmap(std::exchange(elements_, nullptr), std::exchange(room_, size_) * sizeof(T));
        ::close(std::exchange(memory_file_, -1));
    }

    T* map(std::size_t room) const {
        void* const mapped = ::mmap(nullptr, room * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, file(), 0);
        if (mapped == MAP_FAILED) fail();
        return static_cast<T*>(mapped);
    }

    void remap(std::size_t room) {
        void* const mapped =
            ::mremap(static_cast<void*>(elements_), room_ * sizeof(T), room * sizeof(T), MREMAP_MAYMOVE);
        if (mapped == MAP_FAILED) fail();
        elements_ = static_cast<T*>(mapped);
        room_ = room;
    }

    [[noreturn]] static void fail() {
        throw tool_error{std::string{"cannot get memory for the replay: "} + reason_of(errno)};
    }

    std::size_t max_memory_ = usual_memory;
    int memory_file_ = -1;
    unnamed_file disk_file_;
    T* elements_ = nullptr;
    std::size_t size_ = 0;
    std::size_t room_ = 0;
};

}  // namespace acre::tool
