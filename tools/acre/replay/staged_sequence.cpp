#include "staged_sequence.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "trace/error.hpp"

namespace acre::tool {

namespace {

/// The head of the stage; runs, survivors, shapes and uses follow.
struct stage_head {
    trial_request request;
    std::uint64_t bytes = 0;  // of the stage, this included
    std::uint64_t steps = 0;
    std::uint64_t turns = 0;
    std::uint64_t runs = 0;
    std::uint64_t survivors = 0;
    std::uint64_t shapes = 0;
    std::uint64_t in_memory = 0;  // whether steps and turns are
    std::uint32_t slots = 0;
    std::uint32_t lanes = 0;
    std::uint64_t peak_bytes = 0;
    std::uint64_t peak_step = 0;
};

[[noreturn]] void fail() {
    throw tool_error{std::string{"cannot stage the replay: "} + reason_of(errno)};
}

void* map(int file, std::size_t bytes, int protection, int flags) {
    void* start = ::mmap(nullptr, bytes, protection, flags, file, 0);
    if (start == MAP_FAILED) fail();
    return start;
}

template <typename T>
std::span<const T> map_elements(int file, std::uint64_t count, bool in_memory) {
    if (count == 0) return {};
    const void* start = map(file, count * sizeof(T), PROT_READ, MAP_SHARED | (in_memory ? MAP_POPULATE : 0));
    return {static_cast<const T*>(start), static_cast<std::size_t>(count)};
}

/// Takes the next elements of the stage.
template <typename T>
std::span<const T> take(const std::byte*& from, std::uint64_t count) {
    const auto* first = reinterpret_cast<const T*>(from);
    from += count * sizeof(T);
    return {first, static_cast<std::size_t>(count)};
}

}  // namespace

void write_stage(int stage, const sequence_view& sequence) {
    // Otherwise the data would go to disk while trials are timed.
    for (const int file : {sequence.steps_file, sequence.turns_file}) {
        if (!sequence.in_memory && file >= 0 && ::fdatasync(file) != 0) fail();
    }
    stage_head head{{},
                    0,
                    sequence.steps.size(),
                    sequence.turns.size(),
                    sequence.runs.size(),
                    sequence.survivors.size(),
                    sequence.shapes.size(),
                    sequence.in_memory ? 1U : 0U,
                    sequence.slots,
                    sequence.lanes,
                    sequence.peak_bytes,
                    sequence.peak_step};
    const std::array<std::span<const std::byte>, 5> parts{
        std::as_bytes(std::span{&head, 1}), std::as_bytes(sequence.runs), std::as_bytes(sequence.survivors),
        std::as_bytes(sequence.shapes), std::as_bytes(sequence.uses)};
    for (const auto& part : parts) head.bytes += part.size();
    if (::ftruncate(stage, 0) != 0 || ::ftruncate(stage, static_cast<off_t>(head.bytes)) != 0) fail();
    void* start = map(stage, head.bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
    auto* to = static_cast<std::byte*>(start);
    for (const auto& part : parts) {
        if (!part.empty()) std::memcpy(to, part.data(), part.size());
        to += part.size();
    }
    ::munmap(start, head.bytes);
}

sequence_view map_sequence(const staged_files& files) {
    stage_head head;
    if (::pread(files.stage, &head, sizeof head, 0) != static_cast<ssize_t>(sizeof head)) fail();
    const auto* from = static_cast<const std::byte*>(
        map(files.stage, static_cast<std::size_t>(head.bytes), PROT_READ, MAP_SHARED | MAP_POPULATE));
    from += sizeof head;
    sequence_view view;
    view.in_memory = head.in_memory != 0;
    view.steps = map_elements<step>(files.steps, head.steps, view.in_memory);
    view.turns = map_elements<std::uint32_t>(files.turns, head.turns, view.in_memory);
    view.runs = take<lane_run>(from, head.runs);
    view.survivors = take<step>(from, head.survivors);
    view.shapes = take<shape>(from, head.shapes);
    view.uses = take<std::uint64_t>(from, head.shapes);
    view.slots = head.slots;
    view.lanes = head.lanes;
    view.peak_bytes = head.peak_bytes;
    view.peak_step = head.peak_step;
    return view;
}

void write_request(int stage, const trial_request& request) {
    if (::pwrite(stage, &request, sizeof request, offsetof(stage_head, request)) != sizeof request) fail();
}

trial_request read_request(int stage) {
    trial_request request;
    if (::pread(stage, &request, sizeof request, offsetof(stage_head, request)) != sizeof request) fail();
    return request;
}

}  // namespace acre::tool
