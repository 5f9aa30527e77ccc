// The functions that the headers of acre/observe call; declared in include/acre/observe/detail/recorder_interface.hpp.
#include "recorder.hpp"

namespace acre::recorder {
namespace {

using raw::row_kind;

std::atomic<std::uint64_t> resources;  // numbered so far; a forked child continues its parent's numbers

/// Adds a resource row unless the thread's last one names that resource.
void name_resource(thread_state* state, std::uint64_t resource) {
    if (this_thread.resource == resource) return;
    this_thread.resource = resource;
    add_row(state, raw::pack(resource, row_kind::resource, 0), 0, 0);
}

/// Records that one object of the resource, all of them or those since a moment are freed.
[[gnu::noinline]] void gone(hook_frame frame, std::uint64_t resource, std::uint64_t which, row_kind kind) {
    thread_state* state = enter();
    if (state == nullptr) return;
    if (state->process->filter.has_recorded()) {
        name_resource(state, resource);
        add_released(state, frame, which, kind);
    }
    leave(state);
}

[[gnu::noinline]] void given(hook_frame frame, std::uint64_t resource, const void* p, std::size_t bytes,
                             std::size_t alignment) {
    thread_state* state = enter();
    if (state == nullptr) return;
    if (state->process->filter.takes_forgotten(this_thread.random)) {
        name_resource(state, resource);
        add_acquired(state, frame, p, bytes, row_kind::resource_allocate, alignment_log2(alignment));
    }
    leave(state);
}

}  // namespace
}  // namespace acre::recorder

using namespace acre::recorder;

#pragma GCC visibility push(default)

extern "C" {

void acre_record_pause() noexcept {
    pause_recording(true);
}

void acre_record_resume() noexcept {
    pause_recording(false);
}

void acre_record_scope_begin(const char* name) noexcept {
    thread_state* state = enter();
    if (state == nullptr) return;
    process_state& process = *state->process;
    add_row(state, acre::raw::pack(0, acre::raw::row_kind::scope_begin, 0), 0,
            process.scopes.number_of(name == nullptr ? "" : name, process.log));
    leave(state);
}

void acre_record_scope_end() noexcept {
    thread_state* state = enter();
    if (state == nullptr) return;
    add_row(state, acre::raw::pack(0, acre::raw::row_kind::scope_end, 0), 0, 0);
    leave(state);
}

std::uint64_t acre_record_new_resource() noexcept {
    return resources.fetch_add(1, std::memory_order_relaxed) + 1;
}

void acre_record_allocated(std::uint64_t resource, const void* p, std::size_t bytes, std::size_t alignment) noexcept {
    given(this_frame(), resource, p, bytes, alignment);
}

void acre_record_deallocated(std::uint64_t resource, const void* p) noexcept {
    gone(this_frame(), resource, reinterpret_cast<std::uintptr_t>(p), row_kind::resource_deallocate);
}

void acre_record_reset(std::uint64_t resource) noexcept {
    gone(this_frame(), resource, 0, row_kind::resource_reset);
}

std::uint64_t acre_record_moment() noexcept {
    return ticks();
}

void acre_record_rewound(std::uint64_t resource, std::uint64_t moment) noexcept {
    gone(this_frame(), resource, moment, row_kind::resource_rewind);
}

bool acre_record_inside_resource(bool inside) noexcept {
    const bool before = this_thread.inside_resource;
    this_thread.inside_resource = inside;
    return before;
}

}  // extern "C"

#pragma GCC visibility pop
