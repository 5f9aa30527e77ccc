// A trace as tables: events, sites and stacks. docs/export.md lists the columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run_identity.hpp"
#include "table.hpp"
#include "trace/call_paths.hpp"
#include "trace/reader.hpp"
#include "usage.hpp"

namespace acre::tool {

enum class trace_table : std::uint8_t { events, sites, stacks };

std::string_view name_of(trace_table table);

/// Makes the rows of all tables. The columns point into its lists of words, so it must outlive the writers.
class trace_rows {
public:
    /// Reader and paths must outlive it.
    trace_rows(const trace_reader& reader, const call_paths& paths, run_identity run);

    std::vector<column> columns(trace_table table) const;

    /// Facts about the whole table.
    table_notes notes(trace_table table) const;

    /// `site`: where the object was allocated. `lifetime`: of a freed object, in nanoseconds.
    void put_event(table_writer& to, std::uint64_t number, const event& e, std::uint32_t site,
                   std::optional<std::uint64_t> lifetime) const;
    void put_sites(table_writer& to, const usage_table& by_site) const;
    void put_stacks(table_writer& to) const;

private:
    std::vector<column> event_columns() const;
    std::vector<column> site_columns() const;
    std::vector<column> stack_columns() const;
    void put_run(table_writer& to) const;
    void put_usage(table_writer& to, const usage& used, const tally& all) const;
    void put_frame(table_writer& to, std::uint32_t stack, std::size_t inlined) const;

    const trace_reader& reader_;
    const call_paths& paths_;
    run_identity run_;
    std::vector<std::string> run_ids_;  // a single one
    std::vector<std::string> operations_;
    std::vector<std::string> functions_;  // by number
    std::vector<std::string> files_;
    std::vector<std::uint32_t> file_of_site_;  // in files_
};

}  // namespace acre::tool
