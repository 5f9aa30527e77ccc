// The memory that `acre record` shares with this process; ../raw_memory.hpp describes its contents.
#pragma once

#include "../raw_memory.hpp"
#include "system.hpp"

namespace acre::recorder {

/// `report` must be zeroed.
void write_report(raw::process_report& report, raw::report_kind kind, std::uint32_t process, const char* name,
                  int error);

/// Zeroed memory has not been opened, so all regions are private. A forked child inherits the mapping of the head,
/// which it can use even after it lost the right to open files.
class shared_memory {
public:
    /// Without effect if the memory cannot be reached.
    void open(const char* path);

    /// A new region, of which a forked child has no copy; null if out of memory.
    raw::region_head* take_region() const;

    /// Makes the pages of a block safe to store to; false if out of memory.
    bool populate(raw::region_head* region, std::size_t block) const;

    /// Whether acre has ended the recording.
    bool recording_has_ended() const { return head_ != nullptr && head_->ended.load(std::memory_order_relaxed) != 0; }

    /// Counts bytes of this process's log; false if the limit of all logs together is reached.
    bool count_log_bytes(std::size_t bytes) const;

    /// False without the memory.
    bool report(raw::report_kind kind, std::uint32_t process, const char* name, int error) const;

private:
    raw::region_head* take_shared_region() const;

    raw::memory_head* head_;
    const char* path_;
};

}  // namespace acre::recorder
