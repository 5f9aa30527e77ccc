#include "shared_memory.hpp"

#include <fcntl.h>

namespace acre::recorder {
namespace {

constexpr int populate_for_writing = 23;  // MADV_POPULATE_WRITE, Linux 5.14

void* map_part(const char* path, std::uint64_t offset, std::size_t bytes, long& file) {
    file = system_call(__NR_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOCTTY, 0);
    if (file < 0) return nullptr;
    void* mapped = map_pages(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<int>(file), offset);
    if (mapped == nullptr) system_call(__NR_close, file);
    return mapped;
}

/// Maps a region by the mapping of the head, for a process that cannot open the memory: it has no descriptor left, or
/// lost the right. mremap of nothing maps the same memory once more, and more of it.
void* map_beyond(void* head, std::uint64_t offset) {
    const long mapped = system_call(__NR_mremap, head, 0, offset + raw::region_bytes, MREMAP_MAYMOVE);
    if (mapped < 0) return nullptr;
    system_call(__NR_munmap, mapped, offset);
    return reinterpret_cast<void*>(mapped + static_cast<long>(offset));
}

bool populate_pages(void* pages, std::size_t bytes) {
    return system_call(__NR_madvise, pages, bytes, populate_for_writing) == 0;
}

raw::region_head* take_private_region() {
    auto* region = static_cast<raw::region_head*>(take_pages(raw::region_bytes));
    if (region != nullptr) region->is_private = 1;
    return region;
}

}  // namespace

void shared_memory::open(const char* path) {
    long file = -1;
    void* mapped = map_part(path, 0, raw::region_bytes, file);
    if (mapped == nullptr) return;
    system_call(__NR_close, file);
    auto* head = static_cast<raw::memory_head*>(mapped);
    if (head->version != raw::memory_version) {
        system_call(__NR_munmap, mapped, raw::region_bytes);
        return;
    }
    head_ = head;
    path_ = path;
}

raw::region_head* shared_memory::take_shared_region() const {
    if (head_ == nullptr || head_->blocks.load(std::memory_order_relaxed) >= raw::max_blocks) return nullptr;
    const std::uint32_t number = head_->next_region.fetch_add(1, std::memory_order_relaxed);
    if (number >= head_->regions) return nullptr;
    const std::uint64_t offset = number * std::uint64_t{raw::region_bytes};
    long file = -1;
    void* mapped = map_part(path_, offset, raw::region_bytes, file);
    if (mapped == nullptr) mapped = map_beyond(head_, offset);
    if (mapped == nullptr) return nullptr;
    bool usable = populate_pages(mapped, raw::page_bytes);
    const bool is_populated = !usable;  // an older kernel can populate by the file only
    if (!usable && file >= 0) usable = system_call(__NR_fallocate, file, 0, offset, raw::region_bytes) == 0;
    if (file >= 0) system_call(__NR_close, file);
    if (!usable) {
        system_call(__NR_munmap, mapped, raw::region_bytes);
        return nullptr;
    }
    auto* region = static_cast<raw::region_head*>(mapped);
    region->is_populated = is_populated ? 1 : 0;
    return region;
}

raw::region_head* shared_memory::take_region() const {
    raw::region_head* region = take_shared_region();
    if (region == nullptr) region = take_private_region();
    if (region != nullptr) system_call(__NR_madvise, region, raw::region_bytes, MADV_DONTFORK);
    return region;
}

bool shared_memory::populate(raw::region_head* region, std::size_t block) const {
    if (region->is_private != 0) return true;
    head_->blocks.fetch_add(1, std::memory_order_relaxed);
    return region->is_populated != 0 || populate_pages(raw::chunk_in(*region, block), raw::block_bytes);
}

bool shared_memory::count_log_bytes(std::size_t bytes) const {
    if (head_ == nullptr || head_->log_limit == 0) return true;
    return head_->log_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes <= head_->log_limit;
}

bool shared_memory::report(raw::report_kind kind, std::uint32_t process, const char* name, int error) const {
    if (head_ == nullptr) return false;
    const std::uint32_t number = head_->reports.fetch_add(1, std::memory_order_relaxed);
    if (number < raw::memory_head::max_reports) write_report(head_->report[number], kind, process, name, error);
    return true;
}

void write_report(raw::process_report& report, raw::report_kind kind, std::uint32_t process, const char* name,
                  int error) {
    constexpr std::size_t most = sizeof report.name - 1;
    const std::size_t bytes = std::strlen(name);
    report.process = process;
    report.error = error;
    std::memcpy(report.name, bytes > most ? name + (bytes - most) : name, bytes > most ? most : bytes);
    report.kind.store(kind, std::memory_order_release);
}

}  // namespace acre::recorder
