#include "raw_reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "raw_memory.hpp"
#include "trace/error.hpp"
#include "trace/format.hpp"

namespace acre::tool {

namespace {

constexpr std::uint32_t max_threads = 1 << 22;
constexpr std::uint32_t max_threads_of_small_file = 1 << 16;
constexpr std::uint32_t max_modules = 1 << 16;

// Bytes of the file kept mapped while it is searched for chunks; the system maps the pages around each page read.
constexpr std::size_t max_mapped = std::size_t{32} << 20;

/// A struct in the file has the same layout as in memory.
template <typename T>
T copy_of(std::span<const std::byte> bytes) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

/// One member of a head that has atomic members and so cannot be copied as a whole.
template <typename T>
T member_at(std::span<const std::byte> bytes, std::size_t offset) {
    return copy_of<T>(bytes.subspan(offset));
}

std::string hexadecimal(std::span<const std::byte> bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::byte each : bytes) {
        text += digits[std::to_integer<unsigned>(each) >> 4];
        text += digits[std::to_integer<unsigned>(each) & 15];
    }
    return text;
}

/// Threads are numbered one after the other, and each has a chunk in the file unless it was lost.
constexpr std::uint32_t max_threads_in(std::size_t file_bytes) {
    const auto chunks = std::min<std::size_t>(file_bytes / raw::chunk_alignment, max_threads);
    return std::max(max_threads_of_small_file, static_cast<std::uint32_t>(chunks));
}

}  // namespace

mapped_file::mapped_file(const std::filesystem::path& path) {
    const auto fail = [&](int error) { throw tool_error{"cannot read '" + path.string() + "': " + reason_of(error)}; };
    // O_NONBLOCK: opening a pipe must not wait for its writer.
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) fail(errno);
    struct stat status{};
    const bool regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    const auto size = static_cast<std::size_t>(status.st_size);
    void* at = regular && size > 0 ? ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0) : nullptr;
    const int error = errno;
    ::close(file);
    if (!regular) throw tool_error{"'" + path.string() + "' is not a regular file"};
    if (at == MAP_FAILED) fail(error);
    bytes_ = {static_cast<const std::byte*>(at), size};
}

mapped_file::~mapped_file() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void mapped_file::let_go(std::span<const std::byte> part) const noexcept {
    const std::uintptr_t page = raw::page_bytes;
    const auto begin = reinterpret_cast<std::uintptr_t>(part.data()) / page * page;
    const auto end = (reinterpret_cast<std::uintptr_t>(part.data() + part.size()) + page - 1) / page * page;
    if (!part.empty()) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

std::filesystem::path folder_of_recording(const std::filesystem::path& raw_directory) {
    return std::filesystem::absolute(raw_directory / "..").lexically_normal().parent_path();
}

raw_reader::raw_reader(const std::filesystem::path& path)
    : file_{path}, name_{path.filename().string()}, folder_{folder_of_recording(path.parent_path())} {
    read_head(path);
    read_chunks();
    order_nodes();
    order_rows();
    order_pauses();
}

void raw_reader::read_head(const std::filesystem::path& path) {
    const auto bytes = file_.bytes();
    const bool known =
        bytes.size() >= raw::page_bytes && std::memcmp(bytes.data(), raw::file_magic, sizeof raw::file_magic) == 0;
    if (!known)
        throw tool_error{"'" + path.string() +
                         "' is not a raw log: name the folder TRACE.raw-XXXXXX that 'acre record' left behind"};
    if (member_at<std::uint32_t>(bytes, offsetof(raw::file_head, version)) != raw::file_version) {
        throw tool_error{"'" + path.string() + "' was written by another version of acre: finish it with that version"};
    }
    flags_ = member_at<std::uint32_t>(bytes, offsetof(raw::file_head, flags));
    process_ = member_at<raw::process_identity>(bytes, offsetof(raw::file_head, process));
    waiting_written_ = member_at<std::uint32_t>(bytes, offsetof(raw::file_head, waiting_written)) != 0;
    start_ = member_at<raw::clock_pair>(bytes, offsetof(raw::file_head, start));
    last_clock_ = start_;
    start_of_day_ = member_at<std::uint64_t>(bytes, offsetof(raw::file_head, start_of_day));
    stopped_ = static_cast<raw::stop_reason>(member_at<std::uint32_t>(bytes, offsetof(raw::file_head, stopped)));
    stacks_ = static_cast<raw::stack_method>(member_at<std::uint32_t>(bytes, offsetof(raw::file_head, stacks)));
    sampling_period_ = member_at<std::uint32_t>(bytes, offsetof(raw::file_head, sampling_period));
    own_ticks_ = member_at<std::uint64_t>(bytes, offsetof(raw::file_head, own_ticks));
    own_nanoseconds_ = member_at<std::uint64_t>(bytes, offsetof(raw::file_head, own_nanoseconds));
    lost_ = member_at<std::uint64_t>(bytes, offsetof(raw::file_head, lost));
    if (stacks_ > raw::stack_method::caller || sampling_period_ == 0) {
        throw tool_error{"'" + path.string() +
                         "' is damaged: the stack method or the sampling period in its head is invalid"};
    }
}

void raw_reader::read_chunks() {
    const std::size_t end = file_.bytes().size();
    std::size_t offset = raw::page_bytes;
    std::size_t mapped_from = 0;
    while (end - offset >= sizeof(raw::chunk_head)) {
        offset += std::min(read_chunk(offset), end - offset);
        if (offset - mapped_from < max_mapped) continue;
        file_.let_go(file_.bytes().subspan(mapped_from, offset - mapped_from));
        mapped_from = offset;
    }
    file_.let_go(file_.bytes().subspan(mapped_from));
}

/// Reads the chunk at an offset; returns the distance to where the next one may begin.
std::size_t raw_reader::read_chunk(std::size_t offset) {
    const auto rest = file_.bytes().subspan(offset);
    const auto magic = member_at<std::uint32_t>(rest, offsetof(raw::chunk_head, magic));
    if (magic != raw::chunk_magic) {
        damaged_ = damaged_ || magic != 0;
        return raw::chunk_alignment;
    }
    const auto kind = member_at<raw::chunk_kind>(rest, offsetof(raw::chunk_head, kind));
    const auto thread = member_at<std::uint32_t>(rest, offsetof(raw::chunk_head, thread));
    const auto first = member_at<std::uint64_t>(rest, offsetof(raw::chunk_head, first));
    auto count = member_at<std::uint64_t>(rest, offsetof(raw::chunk_head, count));
    const std::size_t capacity = member_at<std::uint32_t>(rest, offsetof(raw::chunk_head, capacity));
    const auto body = rest.subspan(sizeof(raw::chunk_head));
    const std::uint64_t most = std::min(capacity, body.size()) / raw::entry_bytes(kind);
    const std::uint32_t threads = max_threads_in(file_.bytes().size());
    if (count > most || capacity > body.size() || thread >= threads) damaged_ = true;
    count = std::min(count, most);
    const auto clock = member_at<raw::clock_pair>(rest, offsetof(raw::chunk_head, clock));
    if (clock.ticks > last_clock_.ticks) last_clock_ = clock;
    if (kind != raw::chunk_kind::rows || thread < threads)
        take_entries(kind, thread, {first, count, offset + sizeof(raw::chunk_head)}, body);
    const std::size_t bytes = sizeof(raw::chunk_head) + capacity;
    return (bytes + raw::chunk_alignment - 1) & ~(raw::chunk_alignment - 1);
}

/// Takes the entries of a chunk, which are the segment `found` of the log, at the beginning of `body`.
void raw_reader::take_entries(raw::chunk_kind kind, std::uint32_t thread, const segment& found,
                              std::span<const std::byte> body) {
    switch (kind) {
        case raw::chunk_kind::rows:
            if (thread >= row_segments_.size()) row_segments_.resize(thread + 1);
            row_segments_[thread].push_back(found);
            return;
        case raw::chunk_kind::nodes:
            node_segments_.push_back(found);
            return;
        case raw::chunk_kind::module:
            return read_module(body.first(found.count));
        case raw::chunk_kind::command:
            return read_command(body.first(found.count));
        case raw::chunk_kind::allocator:
            return read_allocator(body.first(found.count));
        case raw::chunk_kind::scope_name:
            return read_scope_name(body.first(found.count));
        case raw::chunk_kind::pause:
            return read_pause(body.first(found.count));
        case raw::chunk_kind::none:
            break;
    }
    damaged_ = true;
}

void raw_reader::read_module(std::span<const std::byte> bytes) {
    raw::module_record record{};
    if (bytes.size() >= sizeof record) record = copy_of<raw::module_record>(bytes);
    const std::uint64_t needed = sizeof record + std::uint64_t{record.build_id_bytes} + record.path_bytes;
    if (record.number == 0 || record.number >= max_modules || needed > bytes.size()) {
        damaged_ = true;
        return;
    }
    if (record.number > modules_.size()) modules_.resize(record.number);
    raw_module& into = modules_[record.number - 1];
    const auto path = bytes.subspan(sizeof record + record.build_id_bytes, record.path_bytes);
    into.build_id = hexadecimal(bytes.subspan(sizeof record, record.build_id_bytes));
    into.path.assign(reinterpret_cast<const char*>(path.data()), path.size());
    into.load_bias = record.load_bias;
    into.file = record.file;
}

void raw_reader::read_command(std::span<const std::byte> bytes) {
    const char* at = reinterpret_cast<const char*>(bytes.data());
    const char* const end = at + bytes.size();
    command_.clear();
    while (at < end && command_.size() < format::max_header_texts) {
        const char* const stop = std::find(at, end, '\0');
        command_.emplace_back(at, stop);
        at = stop == end ? end : stop + 1;
    }
    damaged_ = damaged_ || at < end;
}

void raw_reader::read_allocator(std::span<const std::byte> bytes) {
    constexpr std::size_t longest_path = 4096;
    if (bytes.size() > longest_path) {
        damaged_ = true;
        return;
    }
    allocator_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void raw_reader::read_scope_name(std::span<const std::byte> bytes) {
    raw::scope_name_record record{};
    if (bytes.size() >= sizeof record) record = copy_of<raw::scope_name_record>(bytes);
    if (record.number == 0 || record.number > raw::max_scope_names ||
        record.text_bytes > bytes.size() - sizeof record) {
        damaged_ = true;
        return;
    }
    if (scope_names_.empty()) scope_names_.emplace_back("unnamed");
    if (record.number >= scope_names_.size()) scope_names_.resize(record.number + std::size_t{1});
    const auto text = bytes.subspan(sizeof record, record.text_bytes);
    scope_names_[record.number].assign(reinterpret_cast<const char*>(text.data()), text.size());
}

void raw_reader::read_pause(std::span<const std::byte> bytes) {
    if (bytes.size() == sizeof(raw::pause_record)) {
        pauses_.push_back(copy_of<raw::pause_record>(bytes));
    } else {
        damaged_ = true;
    }
}

/// Calls `take` for all entries in order. A mapped chunk and its copy may both be in the file; duplicates are skipped.
template <typename Take>
void raw_reader::take_in_order(std::vector<segment>& segments, std::uint64_t next, Take&& take) {
    std::sort(segments.begin(), segments.end(), [](const segment& a, const segment& b) {
        return a.first != b.first ? a.first < b.first : a.count > b.count;
    });
    for (const segment& each : segments) {
        if (each.count == 0 || each.first > ~std::uint64_t{0} - each.count) continue;
        const std::uint64_t end = each.first + each.count;
        if (end <= next) continue;
        if (each.first > next) {
            damaged_ = true;
            next = each.first;
        }
        take(next, each.offset, next - each.first, end - next);
        next = end;
    }
}

void raw_reader::order_nodes() {
    const std::uint64_t most = file_.bytes().size() / sizeof(raw::node) + 1;
    std::uint64_t expected = 1;
    for (const segment& each : node_segments_) expected += each.count;
    nodes_.reserve(static_cast<std::size_t>(std::min(expected, most)));
    nodes_.assign(1, {});
    take_in_order(node_segments_, 1,
                  [&](std::uint64_t first, std::size_t offset, std::uint64_t skip, std::uint64_t count) {
                      if (first > most || count > most) {
                          damaged_ = true;
                          return;
                      }
                      nodes_.resize(std::max<std::size_t>(nodes_.size(), first + count));
                      const std::size_t from = offset + skip * sizeof(raw::node);
                      const auto nodes = file_.bytes().subspan(from, count * sizeof(raw::node));
                      std::memcpy(nodes_.data() + first, nodes.data(), nodes.size());
                      file_.let_go(nodes);
                  });
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
        if (nodes_[i].parent < i) continue;
        damaged_ = true;
        nodes_[i].parent = 0;
    }
}

void raw_reader::order_rows() {
    threads_.resize(row_segments_.size());
    for (std::size_t thread = 0; thread < row_segments_.size(); ++thread) {
        take_in_order(row_segments_[thread], 0,
                      [&](std::uint64_t, std::size_t offset, std::uint64_t skip, std::uint64_t count) {
                          const auto* rows = reinterpret_cast<const raw::row*>(file_.bytes().data() + offset);
                          threads_[thread].emplace_back(rows + skip, count);
                          row_count_ += count;
                      });
    }
}

void raw_reader::order_pauses() {
    if (has_flag(raw::flag_paused)) pauses_.push_back({start_.ticks, 0, 1});
    std::sort(pauses_.begin(), pauses_.end(), [](const auto& a, const auto& b) {
        return std::tuple{a.ticks, a.thread_plus_one, a.paused} < std::tuple{b.ticks, b.thread_plus_one, b.paused};
    });
}

}  // namespace acre::tool
