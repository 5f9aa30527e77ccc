// The errors of acre. Each derives from acre::allocation_error, itself a std::bad_alloc. The message says which
// resource failed, what was asked and what was available. It lies in the error object, so throwing allocates nothing.
//
// Without exceptions (-fno-exceptions) `allocate` returns null where it would throw, and an option out of range prints
// the same message on standard error and aborts.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace acre {

/// True when this translation unit is compiled with exceptions.
#if defined(__cpp_exceptions)
inline constexpr bool exceptions_enabled = true;
#else
inline constexpr bool exceptions_enabled = false;
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

    template <class... Values>
    void describe(const char* format, Values... values) noexcept {
        // The message may be cut, but never overruns.
        if (std::snprintf(message_, sizeof message_, format, resource_, values...) < 0) message_[0] = '\0';
    }

private:
    const char* resource_;
    char message_[192] = {};
};

/// The upstream (or the system) had no memory left.
class out_of_memory : public allocation_error {
public:
    out_of_memory(const char* resource, std::size_t bytes, std::size_t alignment) noexcept
        : allocation_error(resource), bytes_needed_(bytes) {
        describe("%s: out of memory: %zu bytes aligned to %zu were asked for and upstream had none left", bytes,
                 alignment);
    }

    /// Bytes asked for.
    std::size_t bytes_needed() const noexcept { return bytes_needed_; }

private:
    std::size_t bytes_needed_;
};

/// The request can never be served by this resource, however empty it is.
class request_too_large : public allocation_error {
public:
    request_too_large(const char* resource, std::size_t needed, std::size_t available) noexcept
        : allocation_error(resource), bytes_needed_(needed), bytes_available_(available) {
        describe("%s: request too large: %zu bytes were asked for, at most %zu can be served", needed, available);
    }

    /// Bytes asked for; SIZE_MAX when count * size overflowed.
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
    limit_exceeded(const char* resource, std::size_t needed, std::size_t held, std::size_t limit) noexcept
        : allocation_error(resource), bytes_needed_(needed), bytes_available_(limit > held ? limit - held : 0) {
        describe("%s: limit exceeded: %zu bytes more were needed, %zu of the limit of %zu bytes are held", needed, held,
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
    out_of_arenas(const char* resource, std::size_t bytes, std::size_t arenas) noexcept
        : allocation_error(resource), bytes_needed_(bytes), arenas_(arenas) {
        describe("%s: out of arenas: %zu bytes were asked for and none of the %zu arenas has room", bytes, arenas);
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
    bad_alignment(const char* resource, std::size_t alignment) noexcept
        : allocation_error(resource), alignment_(alignment) {
        describe("%s: bad alignment: %zu is not a power of two that can be honoured", alignment);
    }

    /// The alignment asked for, in bytes.
    std::size_t alignment() const noexcept { return alignment_; }

private:
    std::size_t alignment_;
};

/// An option at construction is out of range.
class bad_option : public allocation_error {
public:
    bad_option(const char* resource, const char* option, std::size_t value, const char* allowed) noexcept
        : allocation_error(resource), option_(option) {
        describe("%s: bad option: .%s = %zu, allowed is %s", option, value, allowed);
    }

    /// Name of the option.
    const char* option() const noexcept { return option_; }

private:
    const char* option_;
};

/// Throws `error`; without exceptions returns null, for `allocate` to return. Out of line and cold.
template <class Error>
[[gnu::noinline, gnu::cold]] inline std::nullptr_t raise(const Error& error) {
#if defined(__cpp_exceptions)
    throw error;
#else
    (void)error;
    return nullptr;
#endif
}

/// Prints the sentence of `error` and aborts.
[[noreturn, gnu::noinline, gnu::cold]] inline void abort_with(const allocation_error& error) noexcept {
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
}

/// Throws bad_option unless `valid`; without exceptions prints its message and aborts, since a constructor cannot fail
/// otherwise. Checked in release builds, too.
inline void require_option(bool valid, const char* resource, const char* option, std::size_t value,
                           const char* allowed) {
    if (valid) return;
    const bad_option error{resource, option, value, allowed};
    raise(error);
    abort_with(error);
}

/// As require_option, for an option that must be at least `min`.
inline void require_at_least(std::size_t min, const char* resource, const char* option, std::size_t value) {
    if (value >= min) return;
    char allowed[48];
    std::snprintf(allowed, sizeof allowed, "%zu or more", min);
    require_option(false, resource, option, value, allowed);
}

/// Prints a sentence about a misuse that would corrupt memory (a double free, a pointer of another pool) and aborts,
/// since deallocation cannot throw.
[[noreturn, gnu::noinline, gnu::cold]] inline void abort_on_misuse(const char* resource, const char* what,
                                                                   const void* pointer) noexcept {
    std::fprintf(stderr, "%s: %s (pointer %p)\n", resource, what, pointer);
    std::abort();
}

}  // namespace acre
