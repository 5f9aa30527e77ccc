// The error of acre::virtual_memory: the system refused pages, or a property of pages that was asked for.
//
// It is an acre::out_of_memory, so handlers of that catch it. Its sentence names the error number and what to do.
//
//     using namespace acre::literals;
//     try {
//         acre::virtual_memory pages{{.lock = true}};
//         pages.allocate(64_MiB);
//     } catch (const acre::system_refused& error) {
//         std::puts(error.what());  // "... could not be locked (error 12): ... raise ulimit -l"
//     }
#pragma once

#include <acre/core/error.hpp>
#include <cstddef>

namespace acre {

/// What the system refused: the operation, its error number and what to do about it.
struct system_refusal {
    const char* operation = nullptr;  ///< for example "locked"; null: nothing was refused
    int code = 0;                     ///< errno, or GetLastError() on Windows
    const char* meaning = "";         ///< what it means, and what to do
};

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wweak-vtables"  // as in core/error.hpp
#endif
/// The system refused pages, or a property of pages that was asked for.
class system_refused : public out_of_memory {
public:
    /// `bytes` bytes aligned to `alignment` were asked for, and the system refused them as `refusal` says.
    system_refused(const char* resource, std::size_t bytes, std::size_t alignment,
                   const system_refusal& refusal) noexcept
        : out_of_memory(resource, bytes, alignment), refusal_(refusal) {
        describe("%: % bytes could not be % (error %): %", bytes, refusal.operation,
                 static_cast<std::size_t>(refusal.code), refusal.meaning);
    }

    /// What was refused and why.
    const system_refusal& refusal() const noexcept { return refusal_; }

private:
    system_refusal refusal_;
};
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace acre
