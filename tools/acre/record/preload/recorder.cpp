#include "recorder.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allocator_family.hpp"
#include "small_text.hpp"

namespace acre::recorder {

constinit thread_local thread_words this_thread{};

namespace {

/// The configuration from `acre record`; read once and inherited by forked children.
struct configuration {
    bool known;
    bool wanted;
    bool restricted;  // the program restricted its system calls, so the recorder makes none
    bool children;
    bool stacks_at_free;
    std::atomic<bool> paused;  // current state, which a forked child inherits
    raw::stack_method stacks;
    std::uint32_t sampling_period;
    int toggle_signal;
    size_limit limit;
    raw::process_identity started;   // the process that `acre record` started
    std::uint32_t recorded_process;  // the process that last recorded with this memory
    char directory[4096 - 64];
    given_environment given;
    shared_memory memory;
};

configuration config;
std::atomic<process_state*> the_process;
pthread_key_t ending_key;
bool ending_key_made;
bool program_begun;  // constructors run

const char* variable(const char* name) {
    const std::size_t bytes = std::strlen(name);
    for (char** each = environ; *each != nullptr; ++each) {
        if (std::strncmp(*each, name, bytes) == 0 && (*each)[bytes] == '=') return *each + bytes + 1;
    }
    return nullptr;
}

void read_options(const char* options) {
    config.stacks_at_free = true;
    config.sampling_period = 1;
    config.limit.reason = raw::stop_reason::limit_reached;
    while (*options != 0) {
        const char letter = *options++;
        if (letter == raw::option_children) config.children = true;
        if (letter == raw::option_no_free_stacks) config.stacks_at_free = false;
        if (letter == raw::option_paused) config.paused = true;
        if (letter == raw::option_limit) config.limit.bytes = parse_number(options);
        if (letter == raw::option_disk_share) config.limit.reason = raw::stop_reason::disk_share_used;
        if (letter == raw::option_stacks) config.stacks = static_cast<raw::stack_method>(parse_number(options));
        if (letter == raw::option_sampling) config.sampling_period = static_cast<std::uint32_t>(parse_number(options));
        if (letter == raw::option_toggle_signal) config.toggle_signal = static_cast<int>(parse_number(options));
    }
}

/// NUMBER:START:NAMESPACE
raw::process_identity parse_identity(const char* text) {
    raw::process_identity identity{};
    identity.number = static_cast<std::uint32_t>(parse_number(text));
    if (*text == ':') identity.start = parse_number(++text);
    if (*text == ':') identity.pid_namespace = parse_number(++text);
    return identity;
}

void read_configuration() {
    config.known = true;
    const char* directory = variable(raw::directory_variable);
    const char* process = variable(raw::process_variable);
    const char* options = variable(raw::options_variable);
    if (directory == nullptr || process == nullptr || options == nullptr) return;
    const std::size_t bytes = std::strlen(directory);
    if (*directory != '/' || bytes >= sizeof config.directory) return;
    std::memcpy(config.directory, directory, bytes + 1);
    config.started = parse_identity(process);
    read_options(options);
    config.given.keep(environ);
    if (const char* memory = config.given.memory_path()) config.memory.open(memory);
    // What the program executes by itself, as system() does, is not recorded then and gets its own environment.
    if (!config.children) config.given.remove_from(environ);
    config.wanted = true;
}

/// Field 22 of /proc/self/stat, the process's start since boot; 0 without /proc.
std::uint64_t start_of_process() {
    char text[512];
    const long file = system_call(__NR_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC, 0);
    if (file < 0) return 0;
    const long bytes = system_call(__NR_read, file, text, sizeof text - 1);
    system_call(__NR_close, file);
    text[bytes > 0 ? bytes : 0] = 0;
    const char* at = std::strrchr(text, ')');  // the program's name, in parentheses, may contain anything
    for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
    return at != nullptr ? parse_number(++at) : 0;
}

std::uint64_t namespace_of_process() {
    struct stat status{};
    const long failed = system_call(__NR_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &status, 0);
    return failed == 0 ? status.st_ino : 0;
}

raw::process_identity own_identity() {
    return {static_cast<std::uint32_t>(system_call(__NR_getpid)), start_of_process(), namespace_of_process()};
}

void log_command_line(log_file& log) {
    const long file = system_call(__NR_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
    if (file < 0) return;
    static char text[16 * 1024];
    const long bytes = system_call(__NR_read, file, text, sizeof text);
    system_call(__NR_close, file);
    const log_file::piece piece{text, bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
    log.append(raw::chunk_kind::command, &piece, 1);
}

void log_allocator(log_file& log) {
    const char* path = path_of_allocator();
    const log_file::piece piece{path, std::strlen(path)};
    log.append(raw::chunk_kind::allocator, &piece, 1);
}

/// The state of this process if it is recording, else null.
process_state* current_process() {
    process_state* process = the_process.load(std::memory_order_acquire);
    const bool records =
        process != nullptr && process->is.load(std::memory_order_acquire) == process_state::mode::recording;
    return records ? process : nullptr;
}

void park(thread_state* state) {
    const int error = errno;
    process_state& process = *state->process;
    this_thread.rows += state->chunk->count.load(std::memory_order_relaxed);
    const bool kept = process.log.flush(state->chunk, sizeof(raw::row));
    errno = error;
    if (!kept) return;  // the rows stay in the mapped chunk
    const lock_guard guard{process.parking};
    state->next = process.parked;
    process.parked = state;
}

/// Called in several rounds while the key is set again. The state is parked in the last one, so that the frees by
/// destructors of other keys are recorded.
void thread_ends(void*) {
    thread_words& thread = this_thread;
    constexpr int rounds = 4;  // PTHREAD_DESTRUCTOR_ITERATIONS of the C library
    if (++thread.endings < rounds && pthread_setspecific(ending_key, &thread) == 0) return;
    thread.ended = true;
    const activity before = thread.busy;
    thread.busy = activity::recording;
    if (thread_state* state = thread.state; state != nullptr && state->chunk != nullptr) park(state);
    thread.state = nullptr;
    thread.busy = before;
}

void toggle_on_signal(int) {
    if (const process_state* process = current_process(); process != nullptr)
        pause_recording(!process->filter.paused());
}

/// The program may replace this handler later.
void listen_for_signal() {
    struct sigaction action{};
    action.sa_handler = toggle_on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(config.toggle_signal, &action, nullptr);
}

/// The counter advances in steps of dozens, so the mean of a round is used; the minimum over rounds excludes
/// interrupted ones.
std::uint64_t time_nothing() {
    constexpr std::uint64_t pairs = 32;
    std::uint64_t least = ~std::uint64_t{0};
    for (int round = 0; round < 8; ++round) {
        std::uint64_t all = 0;
        for (std::uint64_t i = 0; i < pairs; ++i) {
            const std::uint64_t begin = ticks();
            all += ticks() - begin;
        }
        if (all < least) least = all;
    }
    return least / pairs;
}

void make_ending_key() {
    if (ending_key_made) return;
    const own_calls marked;
    ending_key_made = pthread_key_create(&ending_key, thread_ends) == 0;
}

/// 0 matches everything: without /proc it is not known.
bool is_same_process(const raw::process_identity& a, const raw::process_identity& b) {
    const auto same = [](std::uint64_t x, std::uint64_t y) { return x == y || x == 0 || y == 0; };
    return a.number == b.number && same(a.start, b.start) && same(a.pid_namespace, b.pid_namespace);
}

bool begin_log(process_state& process) {
    const raw::process_identity own = own_identity();
    const bool forked = config.recorded_process != 0 && config.recorded_process != own.number;
    const bool paused = config.paused;
    log_file::description what{};
    what.process = own;
    what.flags = (config.stacks_at_free ? raw::flag_stacks_at_free : 0) | (forked ? raw::flag_forked : 0) |
                 (is_same_process(own, config.started) ? raw::flag_started : 0) | (paused ? raw::flag_paused : 0) |
                 (config.children ? raw::flag_children : 0);
    what.stacks = config.stacks;
    what.sampling_period = config.sampling_period;
    if (!process.log.open(config.directory, config.memory, config.limit, what, is_static_program())) return false;
    config.recorded_process = own.number;
    process.stacks_at_free = config.stacks_at_free;
    process.stacks = config.stacks;
    process.empty_time = time_nothing();
    if (config.stacks == raw::stack_method::frame_pointers) process.rules.use_frame_pointers();
    process.filter.begin(paused, config.sampling_period);
    if (config.toggle_signal != 0) listen_for_signal();
    make_ending_key();
    log_command_line(process.log);
    log_allocator(process.log);
    return true;
}

/// False while the C library starts and must not be called; a static one also allocates while it sets up unwinding.
bool library_is_ready() {
    if (environ == nullptr) return false;
    return program_begun || !is_static_program();
}

process_state::mode begin(process_state& process) {
    using mode = process_state::mode;
    if (!library_is_ready()) return mode::not_begun;
    if (!config.known) read_configuration();
    if (!config.wanted) return mode::off;
    const auto own = static_cast<std::uint32_t>(system_call(__NR_getpid));
    if (!config.children && own != config.started.number) {
        report_process(raw::report_kind::unwanted_child, own, "");
        return mode::off;
    }
    find_allocator_family();
    if (program_has_own_malloc()) {
        report_process(raw::report_kind::own_malloc, own, program_invocation_name);
        return mode::off;
    }
    if (!begin_log(process)) {
        report_process(raw::report_kind::lost_child, own, program_invocation_name, process.log.error());
        return mode::off;
    }
    return mode::recording;
}

process_state* find_process() {
    process_state* process = the_process.load(std::memory_order_acquire);
    if (process != nullptr) return process;
    process = static_cast<process_state*>(take_pages_of_process(sizeof(process_state)));
    if (process == nullptr) return nullptr;
    process_state* other = nullptr;
    if (the_process.compare_exchange_strong(other, process)) return process;
    system_call(__NR_munmap, process, sizeof(process_state));
    return other;
}

/// The state of this process if it is recording, else null; begins the recording on the first call.
process_state* recording_process() {
    using mode = process_state::mode;
    process_state* process = find_process();
    if (process == nullptr) return nullptr;
    mode now = process->is.load(std::memory_order_acquire);
    if (now == mode::not_begun && process->is.compare_exchange_strong(now, mode::beginning)) {
        now = begin(*process);
        process->is.store(now, std::memory_order_release);
    }
    return now == mode::recording ? process : nullptr;
}

void begin_rows(thread_state& state) {
    state.cursor = reinterpret_cast<raw::row*>(state.chunk + 1);
    state.end = state.cursor + raw::rows_in_chunk;
}

thread_state* make_thread_state(process_state& process) {
    raw::chunk_head* chunk = process.log.take_chunk();
    if (chunk == nullptr) return nullptr;
    void* pages = take_pages_of_process(sizeof(thread_state));
    if (pages == nullptr) return nullptr;
    auto* state = static_cast<thread_state*>(pages);
    state->chunk = chunk;
    state->process = &process;
    state->older = process.newest.load(std::memory_order_relaxed);
    while (!process.newest.compare_exchange_weak(state->older, state, std::memory_order_release)) {
    }
    return state;
}

thread_state* unpark(process_state& process) {
    const lock_guard guard{process.parking};
    thread_state* state = process.parked;
    if (state != nullptr) process.parked = state->next;
    return state;
}

/// A state for this thread, which gets its number with its first one.
thread_state* take_state(process_state& process) {
    thread_words& thread = this_thread;
    if (process.log.stopped()) return nullptr;
    thread_state* state = unpark(process);
    if (state != nullptr) {
        state->walker.forget_all();
    } else {
        state = make_thread_state(process);
    }
    if (state == nullptr) return nullptr;
    if (thread.number_plus_one == 0) thread.number_plus_one = process.log.number_thread() + 1;
    if (thread.random == 0) thread.random = spread(thread.number_plus_one);
    log_file::begin_chunk(state->chunk, raw::chunk_kind::rows, thread.number_plus_one - 1, thread.rows);
    begin_rows(*state);
    state->of_ended_thread = thread.ended;
    state->leaves_slow = thread.ended;
    return state;
}

thread_state* enter_recording(process_state& process) {
    thread_words& thread = this_thread;
    thread_state* state = thread.state;
    if (state != nullptr && state->chunk == nullptr) {  // the parent's state, zeroed by the fork
        const thread_words parents = thread;
        thread = {};
        thread.busy = parents.busy;
        thread.inside_resource = parents.inside_resource;
        state = nullptr;
    }
    if (state != nullptr) return make_room(state) ? state : nullptr;
    state = take_state(process);
    if (state == nullptr || thread.ended) return state;
    thread.state = state;
    if (ending_key_made) {
        const own_calls marked;
        pthread_setspecific(ending_key, &thread);
    }
    return state;
}

/// For a process without the shared memory.
void append_report(raw::report_kind kind, std::uint32_t process, const char* program, int error) {
    if (config.directory[0] == 0 || file_size_limit() < raw::page_bytes) return;
    const long directory = system_call(__NR_openat, AT_FDCWD, config.directory, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    if (directory < 0) return;
    const long file =
        system_call(__NR_openat, directory, raw::reports_name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    system_call(__NR_close, directory);
    if (file < 0) return;
    raw::process_report report{};
    write_report(report, kind, process, program, error);
    system_call(__NR_write, file, &report, sizeof report);
    system_call(__NR_close, file);
}

}  // namespace

void report_process(raw::report_kind kind, std::uint32_t process, const char* program, int error) {
    const int before = errno;
    if (program == nullptr) program = "";
    if (!config.memory.report(kind, process, program, error)) append_report(kind, process, program, error);
    errno = before;
}

exec_policy exec_policy_of_this_process() {
    if (config.wanted && config.restricted) return exec_policy::restricted;
    const bool started = static_cast<std::uint64_t>(system_call(__NR_getpid)) == config.started.number;
    return config.wanted && started ? exec_policy::recorded : exec_policy_of_a_child();
}

exec_policy exec_policy_of_a_child() {
    if (!config.wanted) return exec_policy::none;
    if (config.restricted) return exec_policy::restricted;
    return config.children ? exec_policy::recorded : exec_policy::unrecorded;
}

const given_environment& kept_environment() {
    return config.given;
}

void write_waiting_rows() {
    process_state* process = current_process();
    if (process == nullptr || config.restricted) return;
    if (static_cast<std::uint32_t>(system_call(__NR_getpid)) != config.recorded_process) return;
    const int error = errno;
    process->log.write_waiting();
    errno = error;
}

void before_losing_rights() {
    process_state* process = current_process();
    if (process == nullptr || config.restricted || process->log.stopped()) return;
    // A vfork child shares the memory, but not the descriptors.
    if (static_cast<std::uint32_t>(system_call(__NR_getpid)) == config.recorded_process) process->log.pin();
}

void before_restriction() {
    write_waiting_rows();
    config.restricted = true;
    if (process_state* process = current_process()) process->log.stop(raw::stop_reason::restricted);
    // Not even the time stamp counter may be readable then, which the hooks of this thread read for every row.
    if (thread_state* state = this_thread.state; state != nullptr && state->chunk != nullptr)
        state->end = state->cursor;
}

void after_restriction(bool restricted) {
    if (restricted) return;
    config.restricted = false;
    if (process_state* process = current_process()) process->log.go_on(raw::stop_reason::restricted);
}

thread_state* enter_slow() {
    if (config.known && (!config.wanted || config.restricted)) return nullptr;
    const int error = errno;
    this_thread.busy = activity::recording;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    process_state* process = recording_process();
    thread_state* state = process != nullptr ? enter_recording(*process) : nullptr;
    if (state == nullptr) this_thread.busy = activity::none;
    errno = error;
    return state;
}

thread_state* enter_busy() {
    process_state* process = this_thread.busy == activity::recording ? current_process() : nullptr;
    if (process != nullptr && !process->filter.paused() && !process->log.stopped()) process->log.add_lost();
    return nullptr;
}

bool make_room(thread_state* state) {
    const int error = errno;
    log_file& log = state->process->log;
    const std::uint64_t rows = state->chunk->count.load(std::memory_order_relaxed);
    const bool made = !log.stopped() && log.flush(state->chunk, sizeof(raw::row));
    if (made) {
        this_thread.rows += rows;
        begin_rows(*state);
    }
    errno = error;
    return made;
}

namespace {

// A prime, so that in a loop all calls are timed equally often.
constexpr std::uint32_t events_a_sample = 61;
// Events of a thread that are all timed: the first ones are slower, and in short programs they are most of all events.
constexpr std::uint32_t all_timed_at_first = 256;
// Ticks, about ten microseconds. A longer event was interrupted: it counts as this long, and stands for no other
// events.
constexpr std::uint64_t longest_usual_event = 1 << 15;

/// Adds the time of a timed event and of the events that it stands for. An event that wrote to the file is not
/// representative: the next one is timed instead.
void end_timing(process_state& process) {
    thread_words& thread = this_thread;
    const std::uint64_t since = thread.timed_since;
    if (since == 0) return;
    const std::uint64_t all = ticks() - since;
    const std::uint64_t took = all > process.empty_time ? all - process.empty_time : 0;
    thread.timed_since = 0;
    const bool at_first = thread.events_timed < all_timed_at_first;
    if (at_first) ++thread.events_timed;
    thread.events_untimed = at_first ? 0 : events_a_sample - 1;
    if (took > longest_usual_event) {
        process.log.add_own_ticks(longest_usual_event);
    } else {
        process.log.add_own_ticks(at_first ? took : took * events_a_sample);
    }
}

}  // namespace

void leave_slow(thread_state* state) {
    state->leaves_slow = state->of_ended_thread;
    end_timing(*state->process);
    if (state->of_ended_thread) park(state);
}

void pause_recording(bool paused) {
    process_state* process = current_process();
    if (process == nullptr) return;
    const int error = errno;
    const raw::pause_record record{ticks(), this_thread.number_plus_one, paused ? 1u : 0u};
    if (process->filter.set_paused(paused)) {
        config.paused = paused;
        const log_file::piece piece{&record, sizeof record};
        process->log.append(raw::chunk_kind::pause, &piece, 1);
    }
    errno = error;
}

void memory_gone(const void* at, std::size_t bytes) {
    process_state* process = current_process();
    if (process == nullptr) return;
    for (thread_state* each = process->newest.load(std::memory_order_acquire); each != nullptr; each = each->older) {
        if (each->walker.relies_on(reinterpret_cast<std::uintptr_t>(at), bytes)) return process->rules.memory_gone();
    }
}

void block_may_go(const void* p) {
    if (p == nullptr) return;
    const auto begin = reinterpret_cast<std::uintptr_t>(p);
    if (begin % raw::page_bytes == 0) {
        // Many such blocks are not mapped, so only this thread's stack is considered. Where the mapping of an aligned
        // block begins is not known.
        constexpr std::uintptr_t before = std::uintptr_t{64} << 10;
        thread_state* state = this_thread.state;
        if (state != nullptr && state->process != nullptr && state->walker.relies_on(begin - before, before + 1))
            state->process->rules.memory_gone();
        return;
    }
    // The word before a block has its size and three bits, of which the second is that it is mapped.
    constexpr std::uintptr_t mapped = 2;
    const std::uintptr_t size = static_cast<const std::uintptr_t*>(p)[-1];
    if ((size & mapped) != 0) memory_gone(p, size);
}

void libraries_unloaded() {
    if (process_state* process = current_process(); process != nullptr) process->rules.forget_unloaded();
}

namespace {

/// Runs before the program's own constructors where possible, so that programs that never allocate leave a log as well.
[[gnu::constructor(101)]] void begin_with_program() {
    program_begun = true;
    if (thread_state* state = enter()) leave(state);
}

/// Runs when the program ends normally, after most of its own destructors.
[[gnu::destructor(101)]] void end_with_program() {
    write_waiting_rows();
}

}  // namespace

/// An ELF note, by which `acre record` recognises a program that the recorder is linked into, stripped or not.
struct recorder_note {
    std::uint32_t name_bytes;
    std::uint32_t content_bytes;
    std::uint32_t type;
    char name[(sizeof raw::note_name + 3) & ~std::size_t{3}];
    std::uint32_t version;
};

[[gnu::used, gnu::section(".note.acre"), gnu::aligned(4)]] extern constexpr recorder_note note_of_recorder{
    sizeof raw::note_name, sizeof(std::uint32_t), raw::note_type, {'a', 'c', 'r', 'e'}, raw::file_version};

}  // namespace acre::recorder
