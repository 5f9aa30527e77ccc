#include "log_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "../chunk_rows.hpp"
#include "small_text.hpp"
#include "thread_words.hpp"

namespace acre::recorder {
namespace {

constexpr std::size_t round_up(std::size_t bytes, std::size_t alignment) {
    return (bytes + alignment - 1) & ~(alignment - 1);
}

std::uint64_t nanoseconds(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Moves the descriptor to a high number: programs expect the lowest free ones and close those above 2.
long move_out_of_the_way(long file) {
    for (const long lowest : {1000L, 200L}) {
        const long moved = system_call(__NR_fcntl, file, F_DUPFD_CLOEXEC, lowest);
        if (moved < 0) continue;
        system_call(__NR_close, file);
        return moved;
    }
    return file;
}

}  // namespace

/// Measures the CPU time of work on the file, which is rare and long. The timing of the event in which it happens is
/// void.
class log_file::measured_work {
public:
    explicit measured_work(const log_file& log) : log_(log) {}
    ~measured_work() {
        this_thread.timed_since = 0;
        if (log_.head_ == nullptr) return;
        const std::uint64_t took = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - begin_;
        log_.head_->own_nanoseconds.fetch_add(took, std::memory_order_relaxed);
    }
    measured_work(const measured_work&) = delete;
    measured_work& operator=(const measured_work&) = delete;

private:
    const log_file& log_;
    const std::uint64_t begin_ = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
};

/// The file, open for some writes. It is not kept open: the program would find a descriptor more than it has, and could
/// open one less.
class log_file::opened_file {
public:
    explicit opened_file(log_file& log) : number_(log.pinned_.load(std::memory_order_relaxed)) {
        if (number_ >= 0 && log.is_ours(number_)) return;
        const bool stays = number_ >= 0;  // the program has closed the pinned one or reused its number
        number_ = log.open_again();
        if (number_ < 0) return;
        if (stays) {
            log.pinned_.store(static_cast<int>(number_), std::memory_order_relaxed);
        } else {
            closes_ = true;
        }
    }
    ~opened_file() {
        if (closes_) system_call(__NR_close, number_);
    }
    opened_file(const opened_file&) = delete;
    opened_file& operator=(const opened_file&) = delete;

    explicit operator bool() const { return number_ >= 0; }

    /// -errno if the file could not be opened.
    long number() const { return number_; }

private:
    long number_;
    bool closes_ = false;
};

std::uint64_t file_size_limit() {
    rlimit limit{};
    const long failed = system_call(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, &limit);
    return failed != 0 ? ~std::uint64_t{0} : limit.rlim_cur;
}

raw::clock_pair read_clocks() {
    return {ticks(), nanoseconds(CLOCK_MONOTONIC)};
}

bool log_file::create(const char* directory, std::uint32_t process) {
    long file = -EEXIST;
    for (std::uint64_t number = 0; file == -EEXIST; ++number) {
        const char* end = path_ + sizeof path_ - 1;
        char* at = append_text(path_, end, directory);
        at = append_text(at, end, "/");
        name_ = at;
        at = append_number(at, end, process);
        at = append_text(at, end, ".");
        at = append_number(at, end, number);
        at = append_text(at, end, ".raw");
        *at = 0;
        file = system_call(__NR_openat, AT_FDCWD, path_, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    }
    if (file < 0) {
        error_ = static_cast<int>(-file);
        return false;
    }
    file = move_out_of_the_way(file);
    system_call(__NR_fchmod, file, 0600);  // whatever the program's umask is
    struct stat status{};
    if (system_call(__NR_fstat, file, &status) != 0) return false;
    device_ = status.st_dev;
    inode_ = status.st_ino;
    pinned_.store(static_cast<int>(file), std::memory_order_relaxed);
    return true;
}

bool log_file::write_first_page(raw::file_head& first, const description& what) {
    std::memcpy(first.magic, raw::file_magic, sizeof first.magic);
    first.version = raw::file_version;
    first.flags = what.flags;
    first.stacks = what.stacks;
    first.sampling_period = what.sampling_period;
    first.process = what.process;
    first.parent = static_cast<std::uint32_t>(system_call(__NR_getppid));
    first.start = read_clocks();
    first.start_of_day = nanoseconds(CLOCK_REALTIME);
    first.end_of_file.store(raw::page_bytes, std::memory_order_relaxed);
    static constexpr char zeros[raw::page_bytes] = {};
    const opened_file file{*this};
    return file && write_at(file.number(), 0, zeros, sizeof zeros) && write_at(file.number(), 0, &first, sizeof first);
}

/// Writes the head to a new file, which is open.
bool log_file::begin(const description& what) {
    if (!take_region()) {
        raw::file_head failed{};
        failed.stopped.store(static_cast<std::uint32_t>(raw::stop_reason::no_memory), std::memory_order_relaxed);
        write_first_page(failed, what);
        return false;
    }
    if (!write_first_page(region_->log, what)) return false;
    region_->has_log = 1;
    head_ = &region_->log;
    return true;
}

bool log_file::open(const char* directory, const shared_memory& memory, size_limit limit, const description& what,
                    bool stays_open) {
    const measured_work work{*this};
    memory_ = &memory;
    limit_ = limit;
    pinned_.store(-1, std::memory_order_relaxed);
    const bool opened = file_size_limit() >= raw::page_bytes && create(directory, what.process.number) && begin(what);
    if (!opened || !stays_open) unpin();
    return opened;
}

void log_file::unpin() {
    const int file = pinned_.exchange(-1, std::memory_order_relaxed);
    if (file >= 0) system_call(__NR_close, file);
}

/// Takes a region for further chunks.
bool log_file::take_region() {
    if (region_count_ == max_regions) return false;
    raw::region_head* region = memory_->take_region();
    if (region == nullptr) return false;
    append_text(region->file, region->file + sizeof region->file - 1, name_);
    if (head_ != nullptr) region->log.process = head_->process;
    // A reader of regions_ must find the region.
    regions_[region_count_] = region;
    std::atomic_ref{region_count_}.store(region_count_ + 1, std::memory_order_release);
    region_ = region;
    blocks_used_ = 1;
    return true;
}

void log_file::stop(raw::stop_reason reason) {
    std::uint32_t none = 0;
    head_->stopped.compare_exchange_strong(none, static_cast<std::uint32_t>(reason));
}

void log_file::go_on(raw::stop_reason reason) {
    auto stopped = static_cast<std::uint32_t>(reason);
    head_->stopped.compare_exchange_strong(stopped, 0);
}

std::uint64_t log_file::reserve(std::size_t bytes, std::size_t alignment) {
    std::uint64_t end = head_->end_of_file.load(std::memory_order_relaxed);
    std::uint64_t begin = 0;
    do {
        if (stopped()) return no_place;
        begin = round_up(end, alignment);
        if (limit_.bytes != 0 && begin + bytes > limit_.bytes) {
            stop(limit_.reason);
            return no_place;
        }
    } while (!head_->end_of_file.compare_exchange_weak(end, begin + round_up(bytes, raw::chunk_alignment),
                                                       std::memory_order_relaxed));
    if (memory_->count_log_bytes(bytes)) return begin;
    stop(limit_.reason);
    return no_place;
}

bool log_file::is_ours(long file) const {
    struct stat status{};
    return system_call(__NR_fstat, file, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_ &&
           status.st_nlink != 0;
}

/// A descriptor of the file; -errno if it cannot be opened.
long log_file::open_again() {
    const long file = system_call(__NR_openat, AT_FDCWD, path_, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
    if (file < 0) return file;
    if (is_ours(file)) return move_out_of_the_way(file);
    system_call(__NR_close, file);
    if (head_ != nullptr) stop(raw::stop_reason::log_lost);
    return -ENOENT;
}

bool log_file::write_at(long file, std::uint64_t offset, const void* data, std::size_t bytes) {
    // The program may have lowered it meanwhile.
    if (offset + bytes > file_size_limit()) {
        if (head_ != nullptr) stop(raw::stop_reason::file_size_limit);
        return false;
    }
    const char* at = static_cast<const char*>(data);
    while (bytes > 0) {
        const long written = system_call(__NR_pwrite64, file, at, bytes, offset);
        if (written == -EINTR || written == -EAGAIN) continue;
        if (written <= 0) {
            if (head_ != nullptr) stop(raw::stop_reason::disk_full);
            return false;
        }
        at += written;
        offset += static_cast<std::uint64_t>(written);
        bytes -= static_cast<std::size_t>(written);
    }
    return true;
}

raw::chunk_head* log_file::take_block(std::uint64_t place) {
    const lock_guard guard{taking_block_};
    const bool has_room = blocks_used_ < raw::blocks_in_region || take_region();
    if (!has_room || !memory_->populate(region_, blocks_used_)) {
        stop(raw::stop_reason::no_memory);
        return nullptr;
    }
    const std::size_t block = blocks_used_++;
    region_->places[block].store(place, std::memory_order_release);
    return raw::chunk_in(*region_, block);
}

raw::chunk_head* log_file::take_chunk() {
    if (stopped()) return nullptr;
    const measured_work work{*this};
    const std::uint64_t place = reserve(chunk_bytes, raw::page_bytes);
    if (place == no_place) return nullptr;
    // Written, not just extended: the disk may be full when the chunk is written at last.
    static constexpr char zeros[raw::page_bytes] = {};
    const opened_file file{*this};
    for (std::size_t done = 0; file && done < chunk_bytes; done += sizeof zeros) {
        if (!write_at(file.number(), place + done, zeros, sizeof zeros)) return nullptr;
    }
    return stopped() ? nullptr : take_block(place);
}

/// A block for what cannot be written now; null if too much waits already. `error`: -errno of opening the file.
raw::chunk_head* log_file::take_waiting_block(long error, std::uint64_t place) {
    if (stopped() || place == no_place) return nullptr;
    if (waiting_.fetch_add(1, std::memory_order_relaxed) < max_waiting) return take_block(place);
    const bool none_left = error == -EMFILE || error == -ENFILE;
    stop(none_left ? raw::stop_reason::no_descriptor : raw::stop_reason::log_lost);
    return nullptr;
}

/// Leaves a chunk in memory and begins another one in its stead.
bool log_file::replace_waiting(raw::chunk_head*& chunk, long error) {
    if (stopped()) return false;
    raw::chunk_head* next = take_waiting_block(error, reserve(chunk_bytes, raw::page_bytes));
    if (next == nullptr) return false;
    begin_chunk(next, chunk->kind, chunk->thread, chunk->first + chunk->count.load(std::memory_order_relaxed));
    chunk = next;
    return true;
}

void log_file::pin() {
    if (pinned_.load(std::memory_order_relaxed) >= 0) return;
    const long file = open_again();
    if (file < 0) return;
    int none = -1;
    if (!pinned_.compare_exchange_strong(none, static_cast<int>(file))) system_call(__NR_close, file);
}

void log_file::write_waiting() {
    if (memory_->recording_has_ended()) return;
    const measured_work work{*this};
    const opened_file file{*this};
    if (!file) return;
    head_->waiting_written.store(1, std::memory_order_relaxed);
    const std::size_t count = std::atomic_ref{region_count_}.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
        raw::write_waiting(*regions_[i], [&](std::uint64_t at, const void* data, std::size_t bytes) {
            return write_at(file.number(), at, data, bytes);
        });
    }
}

void log_file::begin_chunk(raw::chunk_head* chunk, raw::chunk_kind kind, std::uint32_t thread, std::uint64_t first) {
    raw::begin_entries(*chunk, kind, thread, first);
    chunk->capacity = chunk_bytes - sizeof(raw::chunk_head);
    chunk->clock = read_clocks();
    std::atomic_ref{chunk->magic}.store(raw::chunk_magic, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

bool log_file::flush(raw::chunk_head*& chunk, std::size_t entry_bytes) {
    const std::uint64_t count = chunk->count.load(std::memory_order_relaxed);
    if (count == 0) return true;
    if (stopped()) return false;
    const measured_work work{*this};
    const opened_file file{*this};
    if (!file) return replace_waiting(chunk, file.number());
    const std::size_t bytes = sizeof(raw::chunk_head) + count * entry_bytes;
    // At a page of the file: the system takes a third less time to write and to read whole pages.
    const std::uint64_t offset = reserve(bytes, raw::page_bytes);
    chunk->capacity = static_cast<std::uint32_t>(bytes - sizeof(raw::chunk_head));  // the copy's
    if (offset == no_place || !write_at(file.number(), offset, chunk, bytes)) return false;
    begin_chunk(chunk, chunk->kind, chunk->thread, chunk->first + count);
    return true;
}

bool log_file::append_waiting(long error, std::uint64_t place, const raw::chunk_head& head, const piece* pieces,
                              std::size_t count) {
    if (head.capacity > chunk_bytes - sizeof head) {
        stop(raw::stop_reason::no_memory);
        return false;
    }
    raw::chunk_head* chunk = take_waiting_block(error, place);
    if (chunk == nullptr) return false;
    begin_chunk(chunk, head.kind, 0, 0);
    chunk->capacity = head.capacity;
    auto* at = reinterpret_cast<char*>(chunk + 1);
    for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(at, pieces[i].at, pieces[i].bytes);
        at += pieces[i].bytes;
    }
    chunk->count.store(head.capacity, std::memory_order_release);
    return true;
}

bool log_file::append(raw::chunk_kind kind, const piece* pieces, std::size_t count) {
    if (stopped()) return false;
    const measured_work work{*this};
    raw::chunk_head head{};
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) bytes += pieces[i].bytes;
    head.magic = raw::chunk_magic;
    head.kind = kind;
    head.capacity = static_cast<std::uint32_t>(bytes);
    head.count.store(bytes, std::memory_order_relaxed);
    head.clock = read_clocks();
    const opened_file file{*this};
    std::uint64_t offset = reserve(sizeof head + bytes, raw::chunk_alignment);
    if (!file) return append_waiting(file.number(), offset, head, pieces, count);
    if (offset == no_place || !write_at(file.number(), offset, &head, sizeof head)) return false;
    offset += sizeof head;
    for (std::size_t i = 0; i < count; ++i) {
        if (!write_at(file.number(), offset, pieces[i].at, pieces[i].bytes)) return false;
        offset += pieces[i].bytes;
    }
    return true;
}

}  // namespace acre::recorder
