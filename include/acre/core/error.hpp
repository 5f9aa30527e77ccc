// The errors of acre. Each derives from acre::allocation_error, itself a std::bad_alloc. The message says which
// resource failed, what was asked and what was available. It lies in the error object, so throwing allocates nothing.
//
// Without exceptions (-fno-exceptions) `allocate` returns null where it would throw, and an option out of range prints
// the same message on standard error and aborts. Without an operating system the message goes to `_write`, if the
// program has that function, and the program ends in a trap: nothing of <cstdio> and nothing of the heap is linked.
//
//     acre::multi_pool messages{{.limit_bytes = 1'000'000}};
//     try {
//         void* p = messages.allocate(n);
//     } catch (const acre::limit_exceeded& error) {
//         std::puts(error.what());
//     }
#pragma once

#include <acre/core/detail/target.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#if ACRE_HAS_STANDARD_ERROR
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#else
extern "C" [[gnu::weak]] int _write(int file, const char* text, int bytes);  // the C library's way out
#endif

namespace acre {

#if defined(__cpp_exceptions)
/// True when this translation unit is compiled with exceptions.
inline constexpr bool exceptions_enabled = true;
#else
/// True when this translation unit is compiled with exceptions.
inline constexpr bool exceptions_enabled = false;
#endif

namespace detail {

/// A word of a sentence: text, a number, or a pointer.
class word {
public:
    word(const char* text) noexcept : text_(text) {}
    word(std::size_t number) noexcept : number_(number) {}
    word(const void* pointer) noexcept : number_(reinterpret_cast<std::uintptr_t>(pointer)), base_(16) {}

private:
    friend class sentence;

    const char* text_ = nullptr;
    std::size_t number_ = 0;
    unsigned base_ = 10;
};

/// Writes text into storage of the caller, cuts it at the end, and never overruns. In place of std::snprintf, which
/// takes memory from the heap in some C libraries, and 20 KB of code where there is no operating system.
class sentence {
public:
    /// Writes `pattern` to `to`, with a word in place of each '%'. `bytes` is at least 1: a zero byte ends the text.
    [[gnu::noinline, gnu::cold]] static void write(char* to, std::size_t bytes, const char* pattern,
                                                   const word* words) noexcept {
        sentence written{to, bytes};
        for (; *pattern != '\0'; ++pattern) {
            if (*pattern == '%') {
                written.add(*words++);
            } else {
                written.add(*pattern);
            }
        }
        *written.next_ = '\0';
    }

private:
    sentence(char* to, std::size_t bytes) noexcept : next_(to), last_(to + bytes - 1) {}

    void add(char each) noexcept {
        if (next_ != last_) *next_++ = each;
    }
    void add(const char* text) noexcept {
        while (*text != '\0') add(*text++);
    }
    void add(const word& each) noexcept {
        if (each.text_ != nullptr) return add(each.text_);
        if (each.base_ == 16) add("0x");
        char digits[20 + 1];
        char* first = digits + sizeof digits - 1;
        *first = '\0';
        std::size_t rest = each.number_;
        do {
            *--first = "0123456789abcdef"[rest % each.base_];
            rest /= each.base_;
        } while (rest != 0);
        add(first);
    }

    char* next_;
    char* last_;
};

#if defined(__unix__) || defined(__APPLE__)
// As <unistd.h> declares it, without its other names.
extern "C" std::ptrdiff_t write(int file, const void* text, std::size_t bytes);
#endif

/// Prints `text` on standard error: by the system call where there is one, because stdio may take a buffer from the
/// heap that reports a misuse.
inline void print_text(const char* text) noexcept {
#if defined(__unix__) || defined(__APPLE__)
    for (std::size_t left = std::strlen(text); left != 0;) {
        const std::ptrdiff_t written = write(2, text, left);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text += written;
        left -= static_cast<std::size_t>(written);
    }
#elif ACRE_HAS_STANDARD_ERROR
    std::fputs(text, stderr);
#else
    if (_write != nullptr) (void)_write(2, text, static_cast<int>(std::strlen(text)));
#endif
}

/// Prints a line on standard error.
[[gnu::noinline, gnu::cold]] inline void print_line(const char* pattern, const word* words) noexcept {
    char line[256];
    sentence::write(line, sizeof line - 1, pattern, words);
    const std::size_t length = std::strlen(line);
    line[length] = '\n';
    line[length + 1] = '\0';
    print_text(line);
}

/// Ends the program without a further word.
[[noreturn]] inline void abort_silently() noexcept {
#if ACRE_HAS_STANDARD_ERROR
    std::abort();
#else
    __builtin_trap();  // the C library's abort() links the heap
#endif
}

[[noreturn, gnu::noinline, gnu::cold]] inline void abort_with(const char* pattern, const word* words) noexcept {
    print_line(pattern, words);
    abort_silently();
}

}  // namespace detail

#if defined(__clang__)
#pragma clang diagnostic push
// Only headers: no source is there to have the one vtable.
#pragma clang diagnostic ignored "-Wweak-vtables"
// Not so without exceptions, and a program may be linked of sources with and without.
#pragma clang diagnostic ignored "-Wmissing-noreturn"
#endif

/// Base of all errors of acre.
class allocation_error : public std::bad_alloc {
public:
    /// One sentence: which resource, what was asked, what was available.
    const char* what() const noexcept override { return message_; }

    /// The type that failed, for example "acre::arena".
    const char* resource() const noexcept { return resource_; }

protected:
    explicit allocation_error(const char* resource) noexcept : resource_(resource) {}

    /// Writes the message: `pattern` with the resource, then the values, in place of each '%'.
    template <class... Values>
    void describe(const char* pattern, Values... values) noexcept {
        const detail::word words[] = {resource_, values...};
        detail::sentence::write(message_, sizeof message_, pattern, words);
    }

private:
    const char* resource_;
    char message_[192] = {};
};

/// The upstream (or the system) had no memory left.
class out_of_memory : public allocation_error {
public:
    /// `resource` is the name of the resource that failed: a string literal, as in all errors.
    out_of_memory(const char* resource, std::size_t bytes, std::size_t alignment) noexcept
        : allocation_error(resource), bytes_needed_(bytes) {
        describe("%: out of memory: % bytes aligned to % were asked for and upstream had none left", bytes, alignment);
    }

    /// Bytes asked for.
    std::size_t bytes_needed() const noexcept { return bytes_needed_; }

private:
    std::size_t bytes_needed_;
};

/// The request can never be served by this resource, however empty it is.
class request_too_large : public allocation_error {
public:
    /// `needed` bytes were asked for, and at most `available` can be served.
    request_too_large(const char* resource, std::size_t needed, std::size_t available) noexcept
        : allocation_error(resource), bytes_needed_(needed), bytes_available_(available) {
        if (needed == SIZE_MAX) {
            describe("%: request too large: more bytes than a number can count were asked for, at most % can be served",
                     available);
        } else {
            describe("%: request too large: % bytes were asked for, at most % can be served", needed, available);
        }
    }
    /// `bytes` bytes aligned to `alignment` were asked for, for which `needed` may be used up.
    request_too_large(const char* resource, std::size_t bytes, std::size_t alignment, std::size_t needed,
                      std::size_t available) noexcept
        : request_too_large(resource, needed, available) {
        if (needed == bytes || needed == SIZE_MAX) return;
        describe("%: request too large: % bytes aligned to % were asked for, which may take %, at most % can be served",
                 bytes, alignment, needed, available);
    }

    /// Bytes asked for, with what their alignment may take; SIZE_MAX when count * size overflowed.
    std::size_t bytes_needed() const noexcept { return bytes_needed_; }
    /// Largest request in bytes that this resource can serve.
    std::size_t bytes_available() const noexcept { return bytes_available_; }

private:
    std::size_t bytes_needed_;
    std::size_t bytes_available_;
};

/// Serving the request would go beyond a limit set by the user.
class limit_exceeded : public allocation_error {
public:
    /// `needed` bytes more were asked for while `held` of `limit` bytes were held.
    limit_exceeded(const char* resource, std::size_t needed, std::size_t held, std::size_t limit) noexcept
        : allocation_error(resource), bytes_needed_(needed), bytes_available_(limit > held ? limit - held : 0) {
        describe("%: limit exceeded: % bytes more were needed, % of the limit of % bytes are held", needed, held,
                 limit);
    }

    /// Bytes that were needed from upstream.
    std::size_t bytes_needed() const noexcept { return bytes_needed_; }
    /// Bytes left below the limit.
    std::size_t bytes_available() const noexcept { return bytes_available_; }

private:
    std::size_t bytes_needed_;
    std::size_t bytes_available_;
};

/// Every arena of a multi_arena is in use.
class out_of_arenas : public allocation_error {
public:
    /// `bytes` bytes were asked for, and none of `arenas` arenas has room.
    out_of_arenas(const char* resource, std::size_t bytes, std::size_t arenas) noexcept
        : allocation_error(resource), bytes_needed_(bytes), arenas_(arenas) {
        describe("%: out of arenas: % bytes were asked for and none of the % arenas has room", bytes, arenas);
    }

    /// Bytes asked for.
    std::size_t bytes_needed() const noexcept { return bytes_needed_; }
    /// Number of arenas there are.
    std::size_t arenas() const noexcept { return arenas_; }

private:
    std::size_t bytes_needed_;
    std::size_t arenas_;
};

/// The alignment asked for is no power of two, or more than the resource can honour.
class bad_alignment : public allocation_error {
public:
    /// `alignment` bytes were asked for.
    bad_alignment(const char* resource, std::size_t alignment) noexcept
        : allocation_error(resource), alignment_(alignment) {
        describe("%: bad alignment: % is not a power of two that can be honoured", alignment);
    }

    /// The alignment asked for, in bytes.
    std::size_t alignment() const noexcept { return alignment_; }

private:
    std::size_t alignment_;
};

/// An option at construction is out of range.
class bad_option : public allocation_error {
public:
    /// Option `.option` has `value`; `allowed` says in words what it may be. All three texts are string literals.
    bad_option(const char* resource, const char* option, std::size_t value, const char* allowed) noexcept
        : allocation_error(resource), option_(option) {
        describe(pattern, option, value, allowed);
    }

    /// Name of the option.
    const char* option() const noexcept { return option_; }

    /// The sentence of what(), with a place for each of the four.
    static constexpr const char* pattern = "%: bad option: .% = %; allowed: %";

private:
    const char* option_;
};

/// Throws an Error constructed from `arguments`; without exceptions returns null, for `allocate` to return. Out of line
/// and cold.
template <class Error, class... Arguments>
[[gnu::noinline, gnu::cold]] inline std::nullptr_t raise([[maybe_unused]] Arguments... arguments) {
#if defined(__cpp_exceptions)
    throw Error{arguments...};
#else
    return nullptr;
#endif
}

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// Prints the sentence of `error` and aborts.
[[noreturn, gnu::noinline, gnu::cold]] inline void abort_with(const allocation_error& error) noexcept {
    const detail::word words[] = {error.what()};
    detail::abort_with("%", words);
}

/// Throws bad_option unless `valid`; without exceptions prints its message and aborts, since a constructor cannot fail
/// otherwise. Checked in release builds, too.
inline void require_option(bool valid, const char* resource, const char* option, std::size_t value,
                           const char* allowed) {
    if (valid) [[likely]]
        return;
    raise<bad_option>(resource, option, value, allowed);
    const detail::word words[] = {resource, option, value, allowed};
    detail::abort_with(bad_option::pattern, words);
}

/// As require_option, for an option that must be at least `min`.
inline void require_at_least(std::size_t min, const char* resource, const char* option, std::size_t value) {
    if (value >= min) return;
    char allowed[48];
    const detail::word words[] = {min};
    detail::sentence::write(allowed, sizeof allowed, "% or more", words);
    require_option(false, resource, option, value, allowed);
}

}  // namespace acre
