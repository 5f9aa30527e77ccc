#include "convert.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "raw_memory.hpp"
#include "running_conversion.hpp"
#include "text/text.hpp"
#include "trace/function_name.hpp"
#include "trace/seeded_hash.hpp"
#include "trace/table_fit.hpp"
#include "trace/writer.hpp"

namespace acre::tool {

namespace {

/// The progress at the end of the first stage of a conversion.
constexpr double symbols_done = 0.2;

/// Nodes that the recorder keeps at least; see recorder::call_tree.
constexpr std::size_t max_recorded_nodes = (1 << 24) - 2;

class progress_report {
public:
    explicit progress_report(const std::function<void(double)>& tell) : tell_{tell} {}
    void at(double done) const {
        if (tell_) tell_(done);
    }
    void part(double begin, double end, std::uint64_t done, std::uint64_t all) const {
        if ((done & 0xffff) == 0 && all != 0)
            at(begin + (end - begin) * static_cast<double>(done) / static_cast<double>(all));
    }

private:
    const std::function<void(double)>& tell_;
};

std::string utc_date(std::uint64_t nanoseconds) {
    const auto seconds = static_cast<time_t>(nanoseconds / 1'000'000'000);
    tm fields{};
    char text[32] = "";
    if (gmtime_r(&seconds, &fields) != nullptr) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &fields);
    return text;
}

std::string machine_in_words() {
    std::string processor = "x86-64";
    std::ifstream information{"/proc/cpuinfo"};
    for (std::string line; std::getline(information, line);) {
        const std::size_t colon = line.find(": ");
        if (line.rfind("model name", 0) != 0 || colon == std::string::npos) continue;
        processor = line.substr(colon + 2);
        break;
    }
    utsname system{};
    return ::uname(&system) == 0 ? processor + ", " + system.sysname + " " + system.release : processor;
}

/// The system adds a word to the path of a file that is gone, or was never in a folder.
std::string path_of(const raw_module& module) {
    constexpr std::string_view added = " (deleted)";
    std::error_code error;
    if (!module.path.ends_with(added) || std::filesystem::exists(module.path, error)) return module.path;
    return module.path.substr(0, module.path.size() - added.size());
}

/// The loaded files whose functions have no names, since the files are gone or others have their paths.
std::string note_of_replaced(const std::set<std::string>& paths) {
    const std::string which = paths.size() == 1 ? "'" + *paths.begin() + "'"
                                                : count_text(paths.size()) + " files, '" + *paths.begin() + "' first,";
    return "The functions of " + which +
           " have no names here: the file of that name is gone, or is not the one that the program loaded.";
}

/// Makes the frames of a recording: one for each address, and more for addresses that functions belong to which were
/// left by a jump as their last step. Their own frames are in no stack.
class frame_maker {
public:
    frame_maker(const raw_reader& log, const std::vector<raw_module>& modules, symbol_sources& symbols,
                trace_tables& tables)
        : modules_{modules}, symbols_{symbols}, tables_{tables}, known_(modules.size() + 1) {
        // Otherwise frames are missing for other reasons, too.
        finds_callers_ = log.stacks() == raw::stack_method::unwind_tables;
        for (const raw_module& each : modules) in_runtime_library_.push_back(is_runtime_library(each.path));
    }

    /// The number of a node's frame; that of its caller is known.
    std::uint32_t frame_of(const raw::node& node) {
        const std::uint32_t recorded = raw::module_of(node);
        const std::uint32_t module = recorded <= modules_.size() ? recorded : 0;
        const std::uint32_t plain = plain_frame(module, node.address);
        const bool is_innermost = module != 0 && raw::is_innermost(node);
        const bool has_caller = module != 0 && node.parent != no_stack && finds_callers_;
        const std::uint32_t caller = has_caller ? tables_.call_tree[node.parent].frame : plain;
        const bool may_be_left = has_caller && is_called_elsewhere(caller, plain);
        return is_innermost || may_be_left ? completed_frame(plain, may_be_left ? caller : plain, is_innermost) : plain;
    }

    const std::set<std::string>& replaced() const { return replaced_; }

private:
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    /// Where functions begin in the file.
    struct call_info {
        std::uint64_t called = none;  // directly
        std::uint64_t around = none;
    };

    std::uint32_t plain_frame(std::uint32_t module, std::uint64_t address) {
        const auto [entry, is_new] =
            known_[module].try_emplace(address, static_cast<std::uint32_t>(tables_.frames.size()));
        if (is_new) add_frame(module, address);
        return entry->second;
    }

    void add_frame(std::uint32_t module, std::uint64_t address) {
        frame_info& frame = tables_.frames.emplace_back();
        frame.module = frame_info::no_module;
        frame.module_offset = address - 1;
        calls_.resize(tables_.frames.size());
        if (module == 0) return;
        const module_info& in = tables_.modules[module - 1];
        frame.module = module - 1;
        frame.module_offset -= in.load_bias;
        symbol_source& source = source_of(frame);
        frame.locations = source.locate(frame.module_offset);
        calls_.back() = {.called = source.called_function(frame.module_offset).value_or(none),
                         .around = source.function_around(frame.module_offset).value_or(none)};
        if (source.is_replaced()) replaced_.insert(in.path);
    }

    symbol_source& source_of(const frame_info& frame) { return symbols_.of(modules_[frame.module]); }

    /// Whether the call at a frame is that of another function than the one it got to. What a frame has counts as of
    /// its module, so functions of the program do not go to frames of the run-time libraries, nor the other way around.
    bool is_called_elsewhere(std::uint32_t caller, std::uint32_t reached) const {
        if (calls_[caller].called == none) return false;
        const std::uint32_t from = tables_.frames[caller].module;
        const std::uint32_t to = tables_.frames[reached].module;
        if (in_runtime_library_[from] || in_runtime_library_[to]) return false;
        return from != to || calls_[caller].called != calls_[reached].around;
    }

    /// The frame with the functions that were left. `caller`: the same frame if none was left on the way to it.
    std::uint32_t completed_frame(std::uint32_t plain, std::uint32_t caller, bool is_innermost) {
        const std::uint64_t called = caller == plain ? none : calls_[caller].called;
        const std::uint32_t from = tables_.frames[caller].module;
        const auto [entry, is_new] = completed_.try_emplace({plain, from, called, is_innermost}, plain);
        if (!is_new) return entry->second;
        const frame_info& frame = tables_.frames[plain];
        std::vector<source_location> inside;
        std::vector<source_location> outside;
        if (is_innermost) inside = source_of(frame).locate_left(frame.module_offset);
        if (called != none) {
            const std::uint64_t reached = frame.module == from ? frame.module_offset : 0;
            outside = source_of(tables_.frames[caller]).locate_left_before(called, reached);
        }
        if (inside.empty() && outside.empty()) return plain;
        entry->second = static_cast<std::uint32_t>(tables_.frames.size());
        frame_info made = frame;
        made.locations.insert(made.locations.begin(), inside.begin(), inside.end());
        made.locations.insert(made.locations.end(), outside.begin(), outside.end());
        calls_.push_back(call_info{calls_[plain]});
        tables_.frames.push_back(std::move(made));
        return entry->second;
    }

    const std::vector<raw_module>& modules_;
    symbol_sources& symbols_;
    trace_tables& tables_;
    bool finds_callers_ = false;
    std::vector<bool> in_runtime_library_;
    std::vector<std::unordered_map<std::uint64_t, std::uint32_t, seeded_hash>> known_;  // by module and address
    std::vector<call_info> calls_;                                                      // by frame
    /// By frame, its caller's module and called function, and whether it is the innermost.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, bool>, std::uint32_t> completed_;
    std::set<std::string> replaced_;
};

trace_tables make_tables(const raw_reader& log, symbol_sources& symbols, const progress_report& progress,
                         std::vector<std::string>& notes) {
    trace_tables tables;
    std::vector<raw_module> modules = log.modules();
    for (raw_module& each : modules) {
        each.path = path_of(each);
        tables.modules.push_back({each.path, each.build_id, each.load_bias});
    }
    frame_maker frames{log, modules, symbols, tables};
    tables.call_tree.resize(log.nodes().size());
    tables.scope_names = log.scope_names();
    for (std::size_t i = 1; i < log.nodes().size(); ++i) {
        progress.part(0, symbols_done, i, log.nodes().size());
        const raw::node& node = log.nodes()[i];
        tables.call_tree[i] = {node.parent, frames.frame_of(node)};
    }
    if (!frames.replaced().empty()) notes.push_back(note_of_replaced(frames.replaced()));
    return tables;
}

/// Whose malloc is in a file.
std::string allocator_in_words(const std::filesystem::path& path) {
    std::string file = path.filename().string();
    if (file.empty() || file.rfind("libc.so", 0) == 0 || file.rfind("libc-", 0) == 0)
        return std::string{trace_header::glibc};
    for (const std::string known : {"jemalloc", "tcmalloc", "mimalloc"}) {
        if (file.find(known) != std::string::npos) return std::string{known}.append(" (").append(file).append(")");
    }
    return file;
}

std::string note_of_pauses(const raw_events& events) {
    std::string note = "The recording was paused " +
                       (events.pauses() == 1 ? "once" : std::to_string(events.pauses()) + " times") +
                       "; allocations made meanwhile are not in the trace";
    if (events.unrecorded_frees() > 0)
        note += ", nor are " + std::to_string(events.unrecorded_frees()) + " frees of such objects";
    return note + ".";
}

void add_notes_of_log(const raw_reader& log, const raw_events& events, std::vector<std::string>& notes) {
    if (log.has_flag(raw::flag_forked)) {
        notes.emplace_back("This process was forked from another; its frees of inherited objects count as unmatched.");
    }
    if (const stop_cause cause = cause_of(log.stopped(), log.folder()); !cause.what.empty()) {
        notes.push_back(std::string{trace_header::stopped_note} + cause.what +
                        "; what the program did after that is missing (" + cause.remedy + ").");
    }
    if (!log.is_whole()) {
        notes.push_back("This process was killed or still runs, so up to " + std::to_string(raw::rows_in_chunk) +
                        " of the last events of each thread are missing.");
    }
    if (log.stacks() == raw::stack_method::frame_pointers) {
        notes.emplace_back(
            "Stacks were found by frame pointers: functions compiled without them, and the callers of those, are "
            "missing. Compile with -fno-omit-frame-pointer to keep them.");
    }
    if (log.nodes().size() > max_recorded_nodes) {
        notes.push_back("There were more different stacks than a recording holds: after the first " +
                        count_text(max_recorded_nodes) +
                        " places in them, what is done at others counts for their callers.");
    }
    if (events.pauses() > 0) notes.push_back(note_of_pauses(events));
    if (log.lost() > 0) {
        notes.push_back(std::to_string(log.lost()) +
                        (log.lost() == 1
                             ? " allocation or free by a signal handler that interrupted the recorder is missing."
                             : " allocations and frees by signal handlers that interrupted the recorder are missing."));
    }
    if (log.damaged()) notes.emplace_back("Parts of the raw log are damaged and missing here.");
    if (events.missed_frees() > 0) {
        notes.push_back("The frees of " + std::to_string(events.missed_frees()) +
                        " objects were not seen; each counts as freed when its address was allocated again.");
    }
}

/// Leaves out what a trace does not hold, with a note, and moves events and marks to what stays.
class trace_fit {
public:
    trace_fit(const raw_reader& log, trace_tables& tables, trace_header& header) : nodes_{log.nodes()} {
        const table_fit fit{tables};
        for (std::string& note : fit.cut(tables)) header.notes.push_back(std::move(note));
        kept_nodes_ = tables.call_tree.size();
        kept_scopes_ = tables.scope_names.size();
        if (fit_command(header))
            header.notes.emplace_back("The command line was longer than a trace holds: its end is missing here.");
    }

    /// The event at the nearest caller that stays.
    event operator()(event of) const {
        while (of.stack >= kept_nodes_) of.stack = nodes_[of.stack].parent;
        return of;
    }

    /// Names that do not stay become number 0, which stands for scopes without a name.
    mark operator()(mark of) const {
        if (of.name >= kept_scopes_) of.name = 0;
        return of;
    }

    /// Whether no stack moves.
    bool keeps_all() const { return kept_nodes_ == nodes_.size(); }

private:
    const std::vector<raw::node>& nodes_;
    std::size_t kept_nodes_ = 0;
    std::size_t kept_scopes_ = 0;
};

/// All of a log, converted at once.
struct whole_conversion {
    whole_conversion(const raw_reader& log, raw::clock_pair end, const trace_tables& tables, const trace_fit& fit,
                     const progress_report& progress)
        : events{log, tick_clock{log.start(), end}} {
        if (!log.pauses().empty() || !log.scope_names().empty())
            events.for_each([](const placed_event&) {}, [](const mark&) {});
        event_sections encoder{[&](std::span<const std::uint8_t> section) { sections.add(section); },
                               tables.call_tree.size(), tables.scope_names.size(), 0};
        std::uint64_t done = 0;
        events.for_each(
            [&](const placed_event& each) {
                events.prepare(each, encoder);
                if (fit.keeps_all()) {
                    encoder.add(each.what, each.place);
                } else {
                    encoder.add(fit(each.what), each.place);
                }
                progress.part(symbols_done, 1, ++done, log.row_count());
            },
            [&](const mark& each) { encoder.add(fit(each)); });
        encoder.finish();
    }

    raw_events events;
    made_sections sections;
};

}  // namespace

stop_cause cause_of(raw::stop_reason reason, const std::filesystem::path& folder) {
    switch (reason) {
        case raw::stop_reason::none:
            return {};
        case raw::stop_reason::limit_reached:
            return {"its size limit was reached", "give it a larger --limit"};
        case raw::stop_reason::disk_full:
            return {"the disk of '" + folder.string() + "' was full or could not be written",
                    "free space there, or name another disk with -o"};
        case raw::stop_reason::disk_share_used:
            return {"half of the free space on the disk of '" + folder.string() + "' was used up",
                    "free space there, name another disk with -o, or allow more with --limit"};
        case raw::stop_reason::file_size_limit:
            return {"the system's file size limit was reached", "raise it with 'ulimit -f unlimited'"};
        case raw::stop_reason::log_lost:
            return {"the program could no longer reach the recording's file", "name another directory with -o"};
        case raw::stop_reason::restricted:
            return {"the program restricted its system calls (seccomp), which could kill it for those of the recorder",
                    "record a run without the restriction"};
        case raw::stop_reason::no_descriptor:
            return {
                "the program left no file descriptor for the recording's file, and 256 MiB of events waited for one",
                "raise the limit with 'ulimit -n'"};
        case raw::stop_reason::no_memory:
        case raw::stop_reason::end:
            break;
    }
    return {"memory ran out",
            "close other programs, or raise the limits with 'ulimit -v unlimited' and 'ulimit -d unlimited'"};
}

std::uint64_t recording_microseconds(const raw_reader& log, raw::clock_pair end) {
    const std::uint64_t in_hooks = tick_clock{log.start(), end}.nanoseconds_in(log.own_ticks());
    // What lies outside of a timed event, and what the recorder pushes out of the program's caches: 1 to 18 ns an event
    // (bench/results/recording.md).
    constexpr std::uint64_t unseen_by_event = 3;
    const std::uint64_t unseen = std::min(unseen_by_event * log.row_count(), in_hooks / 10);
    return in_hooks / 1000 + unseen / 1000 + log.own_nanoseconds() / 1000;
}

conversion convert(const raw_reader& log, symbol_sources& symbols, trace_header header, raw::clock_pair end,
                   const std::filesystem::path& output, const std::function<void(double)>& tell, converted_part* part) {
    // So that a write beyond the file size limit fails with an error instead of killing this process.
    std::signal(SIGXFSZ, SIG_IGN);
    const progress_report progress{tell};
    trace_tables tables = make_tables(log, symbols, progress, header.notes);
    if (header.command.empty()) header.command = log.command();
    const trace_fit fit{log, tables, header};
    std::optional<whole_conversion> whole;
    const bool goes_on = part != nullptr && part->is_of(log) && fit.keeps_all();
    const std::uint64_t converted_early = goes_on ? part->events_early() : 0;
    if (goes_on) {
        part->finish(log, end);
    } else {
        whole.emplace(log, end, tables, fit, progress);
    }
    const raw_events& events = goes_on ? part->events() : whole->events;
    header.date = utc_date(log.start_of_day());
    header.machine = machine_in_words();
    header.duration = events.last_time();
    header.unmatched_frees = events.unmatched_frees();
    header.stacks_at_free = log.has_flag(raw::flag_stacks_at_free);
    header.stacks = static_cast<stack_method>(log.stacks());
    header.sampling_period = log.sampling_period();
    header.allocator = allocator_in_words(log.allocator());
    add_notes_of_log(log, events, header.notes);
    trace_writer writer{output, header, tables};
    writer.finish(goes_on ? part->sections() : whole->sections);
    progress.at(1);
    return {events.events(), events.unmatched_frees(), converted_early, std::move(header.notes)};
}

}  // namespace acre::tool
