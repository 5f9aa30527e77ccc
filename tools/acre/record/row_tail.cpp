#include "row_tail.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace acre::tool {

namespace {

// Of a process whose memory does not say so many, the log is damaged.
constexpr std::uint32_t max_followed_threads = 1 << 16;

constexpr std::uint64_t rounded_up(std::uint64_t value, std::uint64_t to) {
    return (value + to - 1) / to * to;
}

bool read_at(int file, std::uint64_t offset, void* data, std::size_t bytes) {
    auto* at = static_cast<char*>(data);
    while (bytes > 0) {
        const ssize_t got = ::pread(file, at, bytes, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        offset += static_cast<std::uint64_t>(got);
        bytes -= static_cast<std::size_t>(got);
    }
    return true;
}

}  // namespace

row_tail::row_tail(int memory, const std::filesystem::path& directory, const std::string& log, std::uint32_t region)
    : memory_{memory}, file_{::open((directory / log).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)}, log_{log} {
    lost_ = file_ < 0;
    add_region(region);
}

row_tail::~row_tail() {
    for (raw::region_head* each : regions_) ::munmap(each, raw::region_bytes);
    if (file_ >= 0) ::close(file_);
}

raw::clock_pair row_tail::start() const noexcept {
    return regions_.empty() ? raw::clock_pair{} : regions_.front()->log.start;
}

std::uint32_t row_tail::sampling_period() const noexcept {
    return regions_.empty() ? 1 : regions_.front()->log.sampling_period;
}

bool row_tail::begins_paused() const noexcept {
    return !regions_.empty() && (regions_.front()->log.flags & raw::flag_paused) != 0;
}

void row_tail::add_region(std::uint32_t number) {
    void* at = ::mmap(nullptr, raw::region_bytes, PROT_READ, MAP_SHARED, memory_,
                      static_cast<off_t>(std::uint64_t{number} * raw::region_bytes));
    if (at == MAP_FAILED) {
        lost_ = true;
    } else {
        regions_.push_back(static_cast<raw::region_head*>(at));
    }
}

/// The blocks of rows, those of a thread in the order of their rows.
std::vector<row_tail::block_state> row_tail::blocks_now() const {
    std::vector<block_state> blocks;
    for (raw::region_head* region : regions_) {
        for (std::size_t i = 1; i < raw::blocks_in_region; ++i) {
            if (region->places[i].load(std::memory_order_acquire) == 0) continue;
            const raw::chunk_head* chunk = raw::chunk_in(*region, i);
            if (raw::detail::load(chunk->magic) != raw::chunk_magic) continue;
            if (raw::detail::load(chunk->kind) != raw::chunk_kind::rows) continue;
            block_state state{raw::look_at(*chunk), chunk};
            state.count = std::min<std::uint64_t>(state.count, raw::rows_in_chunk);
            blocks.push_back(state);
        }
    }
    std::ranges::sort(blocks, {}, &block_state::first);
    return blocks;
}

bool row_tail::poll(const append_rows& append) {
    if (lost_) return false;
    // Chunks that leave the memory meanwhile are in the file when it is read again.
    constexpr int most = 8;
    for (int i = 0; i < most; ++i) {
        const std::vector<block_state> blocks = blocks_now();
        if (!read_file(append)) return false;
        const bool complete =
            std::ranges::all_of(blocks, [&](const block_state& each) { return read_memory(append, each); });
        if (lost_) return false;
        if (complete) return true;
    }
    return false;
}

/// The end of the place of a block whose place may begin at the offset, behind zeros.
std::optional<std::uint64_t> row_tail::place_at(std::uint64_t offset) const {
    const std::uint64_t begin = rounded_up(offset, raw::page_bytes);
    for (const raw::region_head* region : regions_) {
        for (std::size_t i = 1; i < raw::blocks_in_region; ++i) {
            if (region->places[i].load(std::memory_order_acquire) == begin) return begin + raw::block_bytes;
        }
    }
    return std::nullopt;
}

/// A chunk is in the file when its rows have left the memory.
bool row_tail::is_being_written(const raw::chunk_head& head) const {
    for (const block_state& each : blocks_now()) {
        if (each.thread == head.thread && each.first == head.first) return true;
    }
    return false;
}

/// Where the next rows may be, after zeros: in front of them may be a small chunk that was not written yet. Rows begin
/// at pages.
std::optional<std::uint64_t> row_tail::next_page(std::uint64_t offset) const {
    const std::uint64_t page = rounded_up(offset, raw::page_bytes);
    std::uint32_t magic = 0;
    if (page == offset || !read_at(file_, page, &magic, sizeof magic) || magic != raw::chunk_magic) return std::nullopt;
    return page;
}

/// Reads the chunks that are complete. False if the file is not as expected.
bool row_tail::read_file(const append_rows& append) {
    while (true) {
        if (offset_ % raw::page_bytes == 0) {
            if (const auto end = place_at(offset_)) {
                offset_ = *end;
                continue;
            }
        }
        // A chunk_head cannot be copied, because of its atomic.
        alignas(raw::chunk_head) std::byte bytes[sizeof(raw::chunk_head)];
        if (!read_at(file_, offset_, bytes, sizeof bytes)) return true;  // nothing more was written
        const auto& head = *reinterpret_cast<const raw::chunk_head*>(bytes);
        if (head.magic != raw::chunk_magic) {
            lost_ = head.magic != 0;
            if (lost_) return false;
            auto next = place_at(offset_);
            if (!next) next = next_page(offset_);
            if (!next) return true;
            offset_ = *next;
            continue;
        }
        const std::uint64_t count = head.count.load(std::memory_order_relaxed);
        if (head.kind == raw::chunk_kind::rows) {
            if (head.thread >= max_followed_threads || count > head.capacity / sizeof(raw::row) ||
                count > raw::rows_in_chunk) {
                lost_ = true;
                return false;
            }
            if (is_being_written(head)) return true;
            take(append, head.thread, head.first,
                 {.rows = {}, .own = nullptr, .count = count, .file = file_, .offset = offset_ + sizeof head});
        }
        offset_ = rounded_up(offset_ + sizeof head + head.capacity, raw::chunk_alignment);
    }
}

/// Takes what was in a block. False if it has left the memory meanwhile.
bool row_tail::read_memory(const append_rows& append, const block_state& block) {
    if (block.thread >= max_followed_threads) {
        lost_ = true;
        return false;
    }
    const std::uint64_t taken = block.thread < taken_.size() ? taken_[block.thread] : 0;
    const std::uint64_t end = block.first + block.count;
    if (end <= taken) return true;
    const std::uint64_t skipped = taken - std::min(taken, block.first);
    const std::uint64_t count = block.count - skipped;
    auto rows = std::make_unique_for_overwrite<raw::row[]>(count);
    if (!raw::copy_rows(*block.chunk, block, skipped, count, rows.get())) return false;
    const raw_rows all{rows.get(), count};
    take(append, block.thread, block.first + skipped, {.rows = all, .own = std::move(rows)});
    return true;
}

/// Appends the rows that the thread has not had yet.
void row_tail::take(const append_rows& append, std::uint32_t thread, std::uint64_t first, row_segment rows) {
    if (thread >= taken_.size()) taken_.resize(std::size_t{thread} + 1);
    std::uint64_t& taken = taken_[thread];
    const std::uint64_t end = first + rows.count;
    if (end <= taken) return;
    if (first > taken) {
        lost_ = true;
        return;
    }
    const auto skipped = static_cast<std::size_t>(taken - first);
    rows.count -= skipped;
    rows.offset += skipped * sizeof(raw::row);
    if (!rows.rows.empty()) rows.rows = rows.rows.subspan(skipped);
    taken = end;
    rows_ += rows.count;
    append(thread, std::move(rows));
}

}  // namespace acre::tool
