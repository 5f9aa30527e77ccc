// An object that counts itself, knows its address, and whose constructor throws when a test asks for it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace acre_test {

/// What the constructor of a probe throws.
struct refused_object {};

class probe {
public:
    probe() : probe(0) {}
    explicit probe(std::uint64_t value) : value_(value) { begin(); }
    probe(const probe& other) : value_(other.value()) { begin(); }
    probe& operator=(const probe& other) {
        value_ = other.value();
        return *this;
    }
    ~probe() {
        EXPECT_EQ(self_, this) << "destroyed twice, or moved by copying bytes";
        self_ = nullptr;
        --alive_;
    }

    std::uint64_t value() const {
        EXPECT_EQ(self_, this) << "not alive, or moved by copying bytes";
        return value_;
    }

    static std::size_t alive() noexcept { return alive_; }
    /// The n-th construction from now on throws, counted from 1, and no later one; 0: none does.
    static void throw_at(std::size_t n) noexcept { throw_in_ = n; }
    /// Whether the construction that throw_at() chose has not come yet.
    static bool throws_later() noexcept { return throw_in_ != 0; }

private:
    void begin() {
#if defined(__cpp_exceptions)
        if (throw_in_ != 0 && --throw_in_ == 0) throw refused_object{};
#endif
        self_ = this;
        ++alive_;
    }

    const probe* self_ = nullptr;
    std::uint64_t value_;
    static inline std::size_t alive_ = 0;
    static inline std::size_t throw_in_ = 0;
};

}  // namespace acre_test
