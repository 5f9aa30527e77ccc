#include "recording_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string_view>
#include <system_error>

namespace acre::tool {

namespace {

/// The file size limit also applies to memory, so it is raised as far as it may be.
class raised_file_size_limit {
public:
    raised_file_size_limit() {
        if (::getrlimit(RLIMIT_FSIZE, &before_) != 0) return;
        const rlimit raised{before_.rlim_max, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &raised);
    }
    ~raised_file_size_limit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
    raised_file_size_limit(const raised_file_size_limit&) = delete;
    raised_file_size_limit& operator=(const raised_file_size_limit&) = delete;

    std::uint64_t bytes() const { return before_.rlim_max; }

private:
    rlimit before_{};
};

/// A sealed file in memory of as many regions as the system allows; -1 if not even two are possible.
int make_memory(std::uint32_t& regions) {
    const raised_file_size_limit limit;
    regions = static_cast<std::uint32_t>(std::min<std::uint64_t>(raw::max_regions, limit.bytes() / raw::region_bytes));
    if (regions < 2) return -1;
    const int file = ::memfd_create("acre-recording", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    const auto bytes = static_cast<off_t>(regions * std::uint64_t{raw::region_bytes});
    if (::ftruncate(file, bytes) == 0 && ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return file;
    ::close(file);
    return -1;
}

/// While an object of this class lives, writing beyond the file size limit fails with an error.
class ignored_file_size_signal {
public:
    ignored_file_size_signal() : before_{std::signal(SIGXFSZ, SIG_IGN)} {}
    ~ignored_file_size_signal() { std::signal(SIGXFSZ, before_); }
    ignored_file_size_signal(const ignored_file_size_signal&) = delete;
    ignored_file_size_signal& operator=(const ignored_file_size_signal&) = delete;

private:
    void (*before_)(int);
};

/// A region while it is mapped.
class mapped_region {
public:
    mapped_region(int file, std::uint64_t number)
        : at_{::mmap(nullptr, raw::region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                     static_cast<off_t>(number * raw::region_bytes))} {}
    ~mapped_region() {
        if (head() != nullptr) ::munmap(at_, raw::region_bytes);
    }
    mapped_region(const mapped_region&) = delete;
    mapped_region& operator=(const mapped_region&) = delete;

    raw::region_head* head() const { return at_ == MAP_FAILED ? nullptr : static_cast<raw::region_head*>(at_); }

private:
    void* at_;
};

/// The name of a region's log; empty if the region has none.
std::string log_name(const raw::region_head& region) {
    const std::string_view all{region.file, sizeof region.file};
    const std::string_view name = all.substr(0, all.find('\0'));
    const bool plain = name.ends_with(".raw") && name.find('/') == std::string_view::npos;
    return plain ? std::string{name} : std::string{};
}

bool write_all_at(int file, std::uint64_t offset, const void* data, std::size_t bytes) {
    const char* at = static_cast<const char*>(data);
    while (bytes > 0) {
        const ssize_t written = ::pwrite(file, at, bytes, static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        at += written;
        offset += static_cast<std::uint64_t>(written);
        bytes -= static_cast<std::size_t>(written);
    }
    return true;
}

/// False if the log is gone. Has no effect on a region that is not in use.
bool write_region(raw::region_head& region, const std::filesystem::path& directory) {
    const std::string name = log_name(region);
    if (name.empty()) return true;
    const int file = ::open((directory / name).c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return false;
    region.log.waiting_written = 1;
    raw::write_waiting(region, [&](std::uint64_t at, const void* data, std::size_t bytes) {
        return write_all_at(file, at, data, bytes);
    });
    ::close(file);
    return true;
}

/// The number of the process comes from this process's PID namespace, or it is not known whether the process has ended.
bool is_of_ended_process(const raw::region_head& region) {
    struct stat own{};
    const bool is_known = region.log.process.number != 0 && ::stat("/proc/self/ns/pid", &own) == 0 &&
                          region.log.process.pid_namespace == own.st_ino;
    return is_known && ::kill(static_cast<pid_t>(region.log.process.number), 0) != 0 && errno == ESRCH;
}

std::uint32_t blocks_of(const raw::region_head& region) {
    std::uint32_t count = 0;
    for (const auto& place : region.places) count += place != 0 ? 1 : 0;
    return count;
}

process_report copy_of(const raw::process_report& report) {
    return {report.kind.load(std::memory_order_acquire), report.process,
            std::string{report.name, ::strnlen(report.name, sizeof report.name)}, report.error};
}

}  // namespace

std::vector<process_report> reports_in(const std::filesystem::path& directory) {
    std::vector<process_report> found;
    std::error_code error;
    // Opening a pipe would wait for its writer.
    if (!std::filesystem::is_regular_file(directory / raw::reports_name, error)) return found;
    std::ifstream file{directory / raw::reports_name, std::ios::binary};
    raw::process_report each{};
    while (file.read(reinterpret_cast<char*>(&each), sizeof each)) found.push_back(copy_of(each));
    return found;
}

recording_memory::recording_memory(std::uint64_t log_limit) {
    std::uint32_t regions = 0;
    file_ = make_memory(regions);
    if (file_ < 0) return;
    void* mapped = ::mmap(nullptr, raw::region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (mapped == MAP_FAILED || ::fallocate(file_, 0, 0, raw::region_bytes) != 0) return;
    head_ = static_cast<raw::memory_head*>(mapped);
    head_->version = raw::memory_version;
    head_->regions = regions;
    head_->next_region = 1;
    head_->log_limit = log_limit;
    // Not by getpid(): /proc may be that of another PID namespace.
    std::error_code error;
    const std::string own = std::filesystem::read_symlink("/proc/self", error).string();
    if (!error) path_ = "/proc/" + own + "/fd/" + std::to_string(file_);
}

recording_memory::~recording_memory() {
    if (head_ != nullptr) ::munmap(head_, raw::region_bytes);
    if (file_ >= 0) ::close(file_);
}

std::uint32_t recording_memory::regions() const noexcept {
    return head_ == nullptr ? 0 : std::min(head_->next_region.load(), head_->regions);
}

std::string recording_memory::log_of(std::uint32_t number, bool& is_first) const {
    const mapped_region region{file_, number};
    if (region.head() == nullptr) return {};
    is_first = std::atomic_ref{region.head()->has_log}.load(std::memory_order_acquire) != 0;
    return log_name(*region.head());
}

void recording_memory::end() {
    if (head_ != nullptr) head_->ended = 1;
}

std::vector<raw::process_identity> recording_memory::write_waiting(const std::filesystem::path& directory) const {
    const ignored_file_size_signal ignored;
    std::vector<raw::process_identity> lost;
    const std::uint32_t regions = head_ == nullptr ? 0 : std::min(head_->next_region.load(), head_->regions);
    for (std::uint32_t number = 1; number < regions; ++number) {
        const mapped_region region{file_, number};
        if (region.head() != nullptr && !write_region(*region.head(), directory) && region.head()->has_log != 0)
            lost.push_back(region.head()->log.process);
    }
    return lost;
}

void recording_memory::give_back(const std::filesystem::path& directory) {
    constexpr std::uint32_t many_blocks = raw::max_blocks / 8;
    if (head_ == nullptr || head_->blocks < many_blocks) return;
    const ignored_file_size_signal ignored;
    const std::uint32_t regions = std::min(head_->next_region.load(), head_->regions);
    bool all_before = true;
    for (std::uint32_t number = given_back_; number < regions; ++number) {
        const mapped_region region{file_, number};
        const bool done = region.head() != nullptr && is_of_ended_process(*region.head());
        if (done) {
            write_region(*region.head(), directory);
            head_->blocks -= blocks_of(*region.head());
            ::madvise(region.head(), raw::region_bytes, MADV_REMOVE);
        }
        all_before = all_before && (done || (region.head() != nullptr && region.head()->file[0] == 0));
        if (all_before) given_back_ = number + 1;
    }
}

memory_keeper::memory_keeper(recording_memory& memory, const std::filesystem::path& directory) {
    const auto work = [&memory, directory](const std::stop_token& stop) {
        std::mutex mutex;
        std::condition_variable_any stopped;
        std::unique_lock lock{mutex};
        while (!stopped.wait_for(lock, stop, std::chrono::milliseconds{200}, [&] { return stop.stop_requested(); }))
            memory.give_back(directory);
    };
    try {
        thread_ = std::jthread{work};
    } catch (const std::system_error&) {
        // Without a thread, under a memory limit say, the memory is given back at the end.
    }
}

process_reports recording_memory::reports(const std::filesystem::path& directory) const {
    process_reports found;
    if (head_ != nullptr) {
        const std::uint32_t made = head_->reports;
        const std::uint32_t kept = std::min(made, raw::memory_head::max_reports);
        for (std::uint32_t i = 0; i < kept; ++i) found.all.push_back(copy_of(head_->report[i]));
        found.more = made - kept;
    }
    const std::vector<process_report> written = reports_in(directory);
    found.all.insert(found.all.end(), written.begin(), written.end());
    return found;
}

}  // namespace acre::tool
