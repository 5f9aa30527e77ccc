#include "trace_rows.hpp"

#include <nlohmann/json.hpp>
#include <unordered_map>

namespace acre::tool {

namespace {

using enum value_kind;

constexpr bool optional = true;
constexpr bool rises = true;

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string value_text(const nlohmann::json& value) {
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string_view name_of(trace_table table) {
    switch (table) {
        case trace_table::events:
            return "events";
        case trace_table::sites:
            return "sites";
        case trace_table::stacks:
            break;
    }
    return "stacks";
}

trace_rows::trace_rows(const trace_reader& reader, const call_paths& paths, run_identity run)
    : reader_{reader}, paths_{paths}, run_{std::move(run)}, run_ids_{run_.id} {
    for (int i = 0; i <= static_cast<int>(operation::deallocate); ++i) {
        operations_.emplace_back(name_of(static_cast<operation>(i)));
    }
    for (const function_info& each : paths.functions()) functions_.push_back(each.name);
    std::unordered_map<std::string, std::uint32_t> numbers;
    for (const site_info& each : paths.sites()) {
        const auto [entry, added] = numbers.try_emplace(each.file, static_cast<std::uint32_t>(files_.size()));
        if (added) files_.push_back(each.file);
        file_of_site_.push_back(entry->second);
    }
}

std::vector<column> trace_rows::columns(trace_table table) const {
    switch (table) {
        case trace_table::events:
            return event_columns();
        case trace_table::sites:
            return site_columns();
        case trace_table::stacks:
            break;
    }
    return stack_columns();
}

std::vector<column> trace_rows::event_columns() const {
    return {{"run", word, false, false, &run_ids_},
            {"event", number64, false, rises},
            {"time_ns", number64, false, rises},
            {"thread", number32},
            {"op", word, false, false, &operations_},
            {"allocates", truth},
            {"object", number64, false, rises},
            {"size", number64},
            {"alignment", number64, optional},
            {"stack", number32, optional},
            {"site", number32},
            {"function", word, optional, false, &functions_},
            {"file", word, optional, false, &files_},
            {"line", number32, optional},
            {"lifetime_ns", number64, optional}};
}

std::vector<column> trace_rows::site_columns() const {
    return {{"run", word, false, false, &run_ids_},
            {"host", text, optional},
            {"program", text},
            {"command", text},
            {"build_id", text, optional},
            {"machine", text},
            {"recorded_at", moment, optional},
            {"duration_ns", number64},
            {"sampling_period", number64},
            {"complete", truth},
            {"site", number32},
            {"function", text, optional},
            {"file", text, optional},
            {"line", number32, optional},
            {"path", text, optional},
            {"allocations", number64},
            {"share", real},
            {"bytes", number64},
            {"share_of_bytes", real},
            {"smallest", number64},
            {"largest", number64},
            {"peak_bytes", number64},
            {"peak_objects", number64},
            {"at_peak_bytes", number64},
            {"at_peak_objects", number64},
            {"freed", number64},
            {"freed_by_other_thread", number64},
            {"mean_lifetime_ns", real, optional},
            {"never_freed", number64},
            {"never_freed_bytes", number64}};
}

std::vector<column> trace_rows::stack_columns() const {
    return {{"run", word, false, false, &run_ids_},
            {"stack", number32, false, rises},
            {"parent", number32, optional, rises},
            {"inlined", number32},
            {"function", text},
            {"file", text, optional},
            {"line", number32, optional},
            {"module", text, optional},
            {"build_id", text, optional},
            {"module_offset", number64}};
}

table_notes trace_rows::notes(trace_table table) const {
    const trace_header& header = reader_.header();
    table_notes notes{{"acre.table", std::string{name_of(table)}},
                      {"acre.run", run_.id},
                      {"acre.command", value_text(header.command)},
                      {"acre.date", header.date},
                      {"acre.machine", header.machine},
                      {"acre.duration_ns", std::to_string(header.duration)},
                      {"acre.sampling_period", std::to_string(header.sampling_period)},
                      {"acre.unmatched_frees", std::to_string(header.unmatched_frees)},
                      {"acre.missing", reader_.missing()},
                      {"acre.notes", value_text(header.notes)}};
    if (!run_.host.empty()) notes.emplace_back("acre.host", run_.host);
    return notes;
}

void trace_rows::put_event(table_writer& to, std::uint64_t number, const event& e, std::uint32_t site,
                           std::optional<std::uint64_t> lifetime) const {
    const site_info& where = paths_.sites()[site];
    to.word(0);
    to.number(number);
    to.number(e.time);
    to.number(e.thread);
    to.word(static_cast<std::uint32_t>(e.op));
    to.truth(e.allocates);
    to.number(e.object);
    to.number(e.size);
    to.number_if(e.alignment_log2 != 0, std::uint64_t{1} << e.alignment_log2);
    to.number_if(e.stack != no_stack, e.stack);
    to.number(site);
    to.word_if(site != 0, where.function);
    to.word_if(!where.file.empty(), file_of_site_[site]);
    to.number_if(where.line != 0, where.line);
    to.number_if(lifetime.has_value(), lifetime.value_or(0));
}

void trace_rows::put_run(table_writer& to) const {
    const trace_header& header = reader_.header();
    to.word(0);
    to.text_if_any(run_.host);
    to.text(run_.program);
    to.text(run_.command);
    to.text_if_any(run_.build_id);
    to.text(header.machine);
    to.moment_if(run_.recorded_at.has_value(), run_.recorded_at.value_or(0));
    to.number(header.duration);
    to.number(header.sampling_period);
    to.truth(reader_.missing().empty());
}

void trace_rows::put_sites(table_writer& to, const usage_table& by_site) const {
    for (std::uint32_t site = 0; site < by_site.by_key().size(); ++site) {
        if (by_site.of(site).allocated.count == 0) continue;
        const site_info& where = paths_.sites()[site];
        put_run(to);
        to.number(site);
        to.text_if_any(site == 0 ? std::string_view{} : functions_[where.function]);
        to.text_if_any(where.file);
        to.number_if(where.line != 0, where.line);
        to.text_if_any(paths_.path_text(where.stack, 8));
        put_usage(to, by_site.of(site), by_site.all());
    }
}

void trace_rows::put_usage(table_writer& to, const usage& used, const tally& all) const {
    const scale scaled{reader_.header()};
    to.number(scaled(used.allocated.count));
    to.real(share(used.allocated.count, all.count));
    to.number(scaled(used.allocated.bytes));
    to.real(share(used.allocated.bytes, all.bytes));
    to.number(used.smallest);
    to.number(used.largest);
    to.number(scaled(used.peak.bytes));
    to.number(scaled(used.peak.count));
    to.number(scaled(used.at_peak.bytes));
    to.number(scaled(used.at_peak.count));
    to.number(scaled(used.freed()));
    to.number(scaled(used.freed_elsewhere));
    to.real_if(used.freed() != 0, used.mean_lifetime_nanoseconds());
    to.number(scaled(used.live.count));
    to.number(scaled(used.live.bytes));
}

void trace_rows::put_stacks(table_writer& to) const {
    const trace_tables& tables = reader_.tables();
    for (std::uint32_t stack = 1; stack < tables.call_tree.size(); ++stack) {
        const std::size_t functions = paths_.functions_at(tables.call_tree[stack].frame).size();
        for (std::size_t inlined = 0; inlined < functions; ++inlined) put_frame(to, stack, inlined);
    }
}

/// `inlined`: position among the functions at the frame, 0 is the innermost inlined call.
void trace_rows::put_frame(table_writer& to, std::uint32_t stack, std::size_t inlined) const {
    static const source_location unknown;
    const trace_tables& tables = reader_.tables();
    const auto& [parent, number] = tables.call_tree[stack];
    const frame_info& frame = tables.frames[number];
    const source_location& location = frame.locations.empty() ? unknown : frame.locations[inlined];
    const bool has_module = frame.module != frame_info::no_module;
    to.word(0);
    to.number(stack);
    to.number_if(parent != no_stack, parent);
    to.number(inlined);
    to.text(functions_[paths_.functions_at(number)[inlined]]);
    to.text_if_any(location.file);
    to.number_if(location.line != 0, location.line);
    to.text_if_any(has_module ? tables.modules[frame.module].path : std::string{});
    to.text_if_any(has_module ? tables.modules[frame.module].build_id : std::string{});
    to.number(frame.module_offset);
}

}  // namespace acre::tool
