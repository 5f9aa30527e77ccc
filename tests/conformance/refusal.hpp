// How a request was refused, for builds with and without exceptions: the type of the error thrown, or null.
#pragma once

#include <acre/core/error.hpp>
#include <new>
#include <string>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ACRE_TEST_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ACRE_TEST_SANITIZED 1
#endif

namespace acre_test {

/// True when a sanitizer replaces the heap.
#if defined(ACRE_TEST_SANITIZED)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// The outcome of a request.
enum class outcome {
    served,
    bad_alignment,
    request_too_large,
    limit_exceeded,
    out_of_arenas,
    out_of_memory,
    bad_option,
    other_bad_alloc,  // a std::bad_alloc that is no acre error: only a std::pmr resource may throw it
    other_exception,
    null,  // every refusal without exceptions
};

/// The expected outcome of a refusal; always null in builds without exceptions.
constexpr outcome refused_as(outcome with_exceptions) noexcept {
    return acre::exceptions_enabled ? with_exceptions : outcome::null;
}

/// Calls `request`, which returns a pointer, and returns the outcome.
template <class Request>
outcome outcome_of(Request request, std::string* sentence = nullptr) {
#if defined(__cpp_exceptions)
    try {
        return request() == nullptr ? outcome::null : outcome::served;
    } catch (const acre::allocation_error& error) {
        if (sentence != nullptr) *sentence = error.what();
        if (dynamic_cast<const acre::bad_alignment*>(&error)) return outcome::bad_alignment;
        if (dynamic_cast<const acre::request_too_large*>(&error)) return outcome::request_too_large;
        if (dynamic_cast<const acre::limit_exceeded*>(&error)) return outcome::limit_exceeded;
        if (dynamic_cast<const acre::out_of_arenas*>(&error)) return outcome::out_of_arenas;
        if (dynamic_cast<const acre::out_of_memory*>(&error)) return outcome::out_of_memory;
        if (dynamic_cast<const acre::bad_option*>(&error)) return outcome::bad_option;
        return outcome::other_bad_alloc;
    } catch (const std::bad_alloc&) {
        return outcome::other_bad_alloc;
    } catch (...) {
        return outcome::other_exception;
    }
#else
    (void)sentence;
    return request() == nullptr ? outcome::null : outcome::served;
#endif
}

}  // namespace acre_test
