// Raw logs with a valid head and chunks of any bytes, mostly in valid places: each gives either a trace or one
// sentence about what is wrong.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz/choices.hpp"
#include "record/raw_events.hpp"
#include "record/raw_log.hpp"
#include "record/raw_reader.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/error.hpp"
#include "trace/event_sections.hpp"
#include "trace/made_sections.hpp"
#include "trace/writer.hpp"

namespace {

using namespace acre;
using namespace acre::tool;

template <typename Number>
void put(std::string& bytes, std::size_t offset, Number value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
}

std::string head_of(acre_test::choices& choose) {
    std::string head(raw::page_bytes, '\0');
    std::memcpy(head.data() + offsetof(raw::file_head, magic), raw::file_magic, sizeof raw::file_magic);
    put(head, offsetof(raw::file_head, version), raw::file_version);
    put(head, offsetof(raw::file_head, flags), choose() % 16);
    put(head, offsetof(raw::file_head, start), raw::clock_pair{choose(), choose()});
    put(head, offsetof(raw::file_head, stopped), choose() % 12);
    put(head, offsetof(raw::file_head, stacks), choose() % 4);
    put(head, offsetof(raw::file_head, sampling_period), choose() % 4);
    put(head, offsetof(raw::file_head, own_ticks), std::uint64_t{choose()} << 32);
    put(head, offsetof(raw::file_head, own_nanoseconds), std::uint64_t{choose()} << 32);
    return head;
}

/// The first sequence number: mostly where the last chunk of its kind ended.
std::uint64_t first_of(acre_test::choices& choose, std::uint64_t next) {
    const std::uint32_t chosen = choose();
    return chosen % 8 != 0 ? next : chosen % 16 == 0 ? chosen / 16 % 64 : ~std::uint64_t{0} - chosen;
}

std::string file_of(acre_test::choices& choose) {
    std::string bytes = head_of(choose);
    std::uint64_t next[2] = {0, 1};  // row, node
    while (!choose.empty()) {
        const auto kind = static_cast<raw::chunk_kind>(choose() % 10);
        const bool numbered = kind == raw::chunk_kind::rows || kind == raw::chunk_kind::nodes;
        const std::size_t entry = kind == raw::chunk_kind::rows    ? sizeof(raw::row)
                                  : kind == raw::chunk_kind::nodes ? sizeof(raw::node)
                                                                   : 1;
        std::uint64_t& expected = next[kind == raw::chunk_kind::nodes ? 1 : 0];
        const auto content = choose.take(choose() % 512);
        const std::uint32_t chosen = choose();
        const std::uint64_t count = chosen % 16 == 0 ? chosen : content.size() / entry;
        std::string head(sizeof(raw::chunk_head), '\0');
        put(head, offsetof(raw::chunk_head, magic), raw::chunk_magic);
        put(head, offsetof(raw::chunk_head, kind), kind);
        put(head, offsetof(raw::chunk_head, thread), chosen % 16 == 1 ? chosen << 8 : chosen / 16 % 4);
        put(head, offsetof(raw::chunk_head, capacity),
            static_cast<std::uint32_t>(chosen % 32 == 16 ? chosen : content.size()));
        put(head, offsetof(raw::chunk_head, first), numbered ? first_of(choose, expected) : 0);
        put(head, offsetof(raw::chunk_head, count), count);
        put(head, offsetof(raw::chunk_head, clock), raw::clock_pair{choose(), choose()});
        if (numbered) expected += count;
        bytes += head;
        bytes.append(reinterpret_cast<const char*>(content.data()), content.size());
        bytes.resize((bytes.size() + raw::chunk_alignment - 1) / raw::chunk_alignment * raw::chunk_alignment);
    }
    return bytes;
}

/// What `acre record` makes of a log, except for function names, which come from other files.
void convert(const std::filesystem::path& log_file, const std::filesystem::path& output) {
    const raw_reader log{log_file};
    trace_tables tables;
    for (const raw_module& each : log.modules()) tables.modules.push_back({each.path, each.build_id, each.load_bias});
    tables.frames.resize(1);
    for (const raw::node& each : log.nodes()) tables.call_tree.push_back({each.parent, 0});
    trace_header header;
    header.sampling_period = log.sampling_period();
    header.stacks = static_cast<stack_method>(log.stacks());
    raw_events events{log, tick_clock{log.start(), log.last_clock()}};
    made_sections sections;
    event_sections encoder{[&](std::span<const std::uint8_t> section) { sections.add(section); },
                           tables.call_tree.size(), tables.scope_names.size(), 0};
    events.for_each([&](const placed_event& each) { encoder.add(each.what, each.place); },
                    [&](const mark& each) { encoder.add(each); });
    encoder.finish();
    trace_writer writer{output, header, tables};
    writer.finish(sections);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    static const acre::test::temporary_directory directory;
    const std::filesystem::path path = directory / "a.raw";
    acre_test::choices choose{{data, bytes}};
    std::ofstream{path, std::ios::binary} << file_of(choose);
    try {
        convert(path, directory / "a.acre");
    } catch (const tool_error& error) {
        if (std::strlen(error.what()) < 10 || std::strchr(error.what(), '\n') != nullptr) std::abort();
    }
    return 0;
}
