// Reads the rows of a process while it runs, from its log and from the memory in which the last ones wait.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chunk_rows.hpp"
#include "raw_events.hpp"
#include "raw_memory.hpp"

namespace acre::tool {

class row_tail {
public:
    using append_rows = std::function<void(std::uint32_t thread, row_segment rows)>;

    /// `memory`: the descriptor of the shared memory, which must outlive this object. `log`: the name of a log in the
    /// raw directory; `region`: the first one of its process.
    row_tail(int memory, const std::filesystem::path& directory, const std::string& log, std::uint32_t region);
    ~row_tail();
    row_tail(const row_tail&) = delete;
    row_tail& operator=(const row_tail&) = delete;

    const std::string& log() const noexcept { return log_; }
    raw::clock_pair start() const noexcept;
    std::uint32_t sampling_period() const noexcept;
    bool begins_paused() const noexcept;

    /// Tells of a further region of the process.
    void add_region(std::uint32_t number);

    /// Appends the rows that have come. All rows that were counted before the call are appended then, or it returns
    /// false. After is_lost() it appends nothing any more.
    bool poll(const append_rows& append);

    /// Rows are missing, so what follows cannot be read before the process has ended.
    bool is_lost() const noexcept { return lost_; }

    /// Rows so far, of all threads.
    std::uint64_t rows() const noexcept { return rows_; }

private:
    struct block_state : raw::seen_rows {
        const raw::chunk_head* chunk = nullptr;
    };

    std::vector<block_state> blocks_now() const;
    bool read_file(const append_rows& append);
    std::optional<std::uint64_t> place_at(std::uint64_t offset) const;
    std::optional<std::uint64_t> next_page(std::uint64_t offset) const;
    bool is_being_written(const raw::chunk_head& head) const;
    bool read_memory(const append_rows& append, const block_state& block);
    void take(const append_rows& append, std::uint32_t thread, std::uint64_t first, row_segment rows);

    int memory_ = -1;
    int file_ = -1;
    std::string log_;
    std::vector<raw::region_head*> regions_;
    std::uint64_t offset_ = raw::page_bytes;  // of the next chunk in the file
    std::vector<std::uint64_t> taken_;        // rows, by thread
    std::uint64_t rows_ = 0;
    bool lost_ = false;
};

}  // namespace acre::tool
