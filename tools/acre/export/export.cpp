#include "export.hpp"

#include <array>
#include <iterator>
#include <memory>
#include <vector>

#include "byte_output.hpp"
#include "csv_table.hpp"
#include "parquet_table.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

namespace fs = std::filesystem;

constexpr trace_table all_tables[] = {trace_table::events, trace_table::sites, trace_table::stacks};

/// Makes a folder, and removes it again if it is still empty at the end.
class output_folder {
public:
    explicit output_folder(fs::path path) : path_{std::move(path)} {
        std::error_code error;
        made_ = fs::create_directories(path_, error);
        if (error) throw tool_error{"cannot make the folder '" + path_.string() + "': " + error.message()};
    }
    ~output_folder() {
        std::error_code ignored;
        if (made_) fs::remove(path_, ignored);  // fails unless the folder is empty
    }
    output_folder(const output_folder&) = delete;
    output_folder& operator=(const output_folder&) = delete;

    fs::path file(trace_table table) const { return path_ / (std::string{name_of(table)} + ".parquet"); }

private:
    fs::path path_;
    bool made_ = false;
};

std::unique_ptr<byte_output> open_output(const fs::path& path) {
    if (path == "-") return std::make_unique<standard_output>();
    return std::make_unique<file_output>(path);
}

/// Writes the tables in one pass over the events.
class table_export {
public:
    table_export(trace_reader& reader, const call_paths& paths, const std::string& host)
        : reader_{reader}, paths_{paths}, rows_{reader, paths, identify(reader, host)} {}

    void add(trace_table table, export_format format, std::unique_ptr<byte_output> output) {
        std::unique_ptr<table_writer>& writer = writers_[static_cast<std::size_t>(table)];
        if (format == export_format::csv) {
            writer = std::make_unique<csv_table>(rows_.columns(table), *output);
        } else {
            writer = std::make_unique<parquet_table>(rows_.columns(table), rows_.notes(table), *output);
        }
        outputs_.push_back(std::move(output));
    }

    void run() {
        table_writer* const events = writer_of(trace_table::events);
        table_writer* const sites = writer_of(trace_table::sites);
        if (events != nullptr || sites != nullptr) {
            const usage_table by_site = read_events(events);
            if (sites != nullptr) rows_.put_sites(*sites, by_site);
        }
        if (table_writer* const stacks = writer_of(trace_table::stacks)) rows_.put_stacks(*stacks);
        for (const auto& each : writers_) {
            if (each != nullptr) each->finish();
        }
        for (const auto& each : outputs_) each->finish();
    }

private:
    table_writer* writer_of(trace_table table) const { return writers_[static_cast<std::size_t>(table)].get(); }

    usage_table read_events(table_writer* events) {
        usage_table by_site;
        std::uint64_t number = 0;
        reader_.for_each([&](const event& e) {
            std::uint32_t site = paths_.site(e.stack);
            std::optional<std::uint64_t> lived;
            if (e.allocates) {
                by_site.allocate(e, site);
            } else {
                const usage_table::life gone = by_site.release(e);
                site = gone.key;
                lived = lifetime(gone.time, e.time);
            }
            if (events != nullptr) rows_.put_event(*events, number, e, site, lived);
            ++number;
        });
        by_site.finish(reader_.header().duration);
        return by_site;
    }

    trace_reader& reader_;
    const call_paths& paths_;
    trace_rows rows_;
    std::vector<std::unique_ptr<byte_output>> outputs_;
    std::array<std::unique_ptr<table_writer>, std::size(all_tables)> writers_;
};

void export_tables(trace_reader& reader, const call_paths& paths, const export_options& options) {
    std::optional<output_folder> folder;
    table_export tables{reader, paths, options.host};
    if (needs_folder(options)) {
        folder.emplace(options.output);
        for (const trace_table each : all_tables) {
            tables.add(each, options.format, open_output(folder->file(each)));
        }
    } else {
        tables.add(options.table.value_or(trace_table::sites), options.format, open_output(options.output));
    }
    tables.run();
}

}  // namespace

bool needs_folder(const export_options& options) {
    return options.format == export_format::parquet && !options.table;
}

void export_trace(trace_reader& reader, const call_paths& paths, const export_options& options) {
    switch (options.format) {
        case export_format::parquet:
        case export_format::csv:
            return export_tables(reader, paths, options);
        case export_format::pprof:
            return write_pprof(reader, paths, identify(reader, options.host), *open_output(options.output));
        case export_format::collapsed:
            return write_collapsed(reader, paths, options.weight, *open_output(options.output));
        case export_format::dhat:
            return write_dhat(reader, paths, *open_output(options.output));
    }
}

}  // namespace acre::tool
