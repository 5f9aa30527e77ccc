// The last error of each thread, and the misuse handler.
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>

#include "resource.hpp"

namespace acre_c {
namespace {

// glibc keeps some 1.6 KB for the thread-local data of a library that is loaded late, and the heap needs most of them.
struct last_error {
    acre_status status = ACRE_OK;
    char sentence[128] = {};
};
thread_local constinit last_error last;

constinit std::atomic<acre_misuse_handler> handler_of_c = nullptr;

void call_handler_of_c(const acre::misuse& noticed) {
    const acre_misuse same{noticed.resource, noticed.what, noticed.pointer, noticed.details};
    if (const acre_misuse_handler handler = handler_of_c.load()) handler(&same);
}

}  // namespace

std::nullptr_t note(acre_status status, const char* sentence) noexcept {
    last.status = status;
    const std::size_t length = std::min(std::strlen(sentence), sizeof last.sentence - 1);
    std::memcpy(last.sentence, sentence, length);
    last.sentence[length] = '\0';
    return nullptr;
}

std::nullptr_t note_null_handle() noexcept {
    return note(ACRE_NULL_HANDLE, "acre: a null pointer was given in place of a handle");
}

std::nullptr_t note_exception() noexcept {
    try {
        throw;
    } catch (const acre::out_of_memory& error) {
        return note(ACRE_OUT_OF_MEMORY, error.what());
    } catch (const acre::request_too_large& error) {
        return note(ACRE_REQUEST_TOO_LARGE, error.what());
    } catch (const acre::limit_exceeded& error) {
        return note(ACRE_LIMIT_EXCEEDED, error.what());
    } catch (const acre::out_of_arenas& error) {
        return note(ACRE_OUT_OF_ARENAS, error.what());
    } catch (const acre::bad_alignment& error) {
        return note(ACRE_BAD_ALIGNMENT, error.what());
    } catch (const acre::bad_option& error) {
        return note(ACRE_BAD_OPTION, error.what());
    } catch (const std::bad_alloc&) {
        return note(ACRE_OUT_OF_MEMORY, "acre: the heap had no memory left");
    } catch (const std::exception& error) {
        return note(ACRE_FAILED, error.what());
    } catch (...) {
        return note(ACRE_FAILED, "acre: a function of the program threw an exception");
    }
}

void refuse_handle(const acre_resource& given) noexcept {
    const char* what = "a pointer was given that is no handle";
    if (is_living(given.kind)) what = "a handle of another kind was given than the function takes";
    if (given.kind == handle_kind::destroyed) what = "a handle was used after it was destroyed";
    acre::abort_on_misuse("acre_resource", what, &given);
}

}  // namespace acre_c

acre_status acre_last_status() {
    return acre_c::last.status;
}

const char* acre_last_error() {
    return acre_c::last.sentence;
}

void acre_clear_error() {
    acre_c::note(ACRE_OK, "");
}

const char* acre_version() {
    return ACRE_VERSION;
}

acre_misuse_handler acre_set_misuse_handler(acre_misuse_handler handler) {
    const acre_misuse_handler before = acre_c::handler_of_c.exchange(handler);
    acre::set_misuse_handler(handler == nullptr ? nullptr : acre_c::call_handler_of_c);
    return before;
}
