// Texts that the command reads: sizes, names of functions, lists of resources, selections, and fits as JSON. The first
// byte tells which.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "fuzz/sentences.hpp"
#include "replay/contender_list.hpp"
#include "report/fits.hpp"
#include "text/text.hpp"
#include "text/valid_text.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/call_paths.hpp"
#include "trace/error.hpp"
#include "trace/function_name.hpp"
#include "trace/reader.hpp"
#include "trace/selection.hpp"

namespace {

using namespace acre::tool;
using namespace acre_test;

void read_size(const std::string& text) {
    const auto bytes = parse_bytes(text);
    if (!bytes) return;
    check(parse_bytes(fmt::format("{}", *bytes)) == bytes);
    check(!bytes_text(*bytes).empty() && !bytes_literal(*bytes).empty());
}

void read_function_name(const std::string& name) {
    check(name.empty() || !short_name(name).empty());
    // About as many letters, and a mark of three bytes for what was left out.
    for (const std::size_t letters : {8U, 40U}) check(shortened_name(name, letters).size() <= letters + 8);
    if (only_allocates(name)) check(passes_memory_on(name));
}

void show(const std::string& text) {
    check_text(text);
    check(printable(printable(text)) == printable(text));
    const std::string valid = valid_text(text);
    check(valid_text(valid) == valid && valid.find('\0') == std::string::npos);
    const std::string json = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    check(nlohmann::json::parse(printable_json(json)) == nlohmann::json::parse(json));
    (void)wrapped(valid, 2, 40);
    (void)table_text({{"head", text}, {text, "1"}}, {0});
}

/// What a command line can hold.
std::string without_zeros(std::string text) {
    std::erase(text, '\0');
    return text;
}

/// A contender is written as it is read.
void read_contenders(const std::string& list) {
    for (const named_contender& each : parse_contenders(without_zeros(list))) {
        const auto again = parse_contenders(contender_text(each.which));
        check(again.size() == 1 && again.front().which == each.which);
    }
}

void read_fit_file(const std::string& text) {
    static const acre::test::temporary_directory directory;
    const auto path = directory / "fit.json";
    std::ofstream{path, std::ios::binary} << text;
    const nlohmann::json fit = read_fit(path.string());
    check(fit.contains("allocations") && !fit.contains("advice"));
    (void)printable_json(fit.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

/// Names, one a line: functions, sites, scopes and sites to leave out, in turn.
void select(const std::string& text) {
    const std::string names = without_zeros(text);
    static const acre::test::temporary_directory directory;
    static const auto path = [] {
        acre::test::made_trace made;
        const auto stack = made.stack({"main", "serve<int>(std::string const&)", "Orc::Orc(int)"});
        made.release(made.allocate(stack, 64), stack);
        return made.write(directory / "a.acre");
    }();
    static trace_reader reader{path};
    static const call_paths paths{reader.tables()};
    selection_options options;
    std::vector<std::string>* const lists[] = {&options.functions, &options.sites, &options.scopes, &options.without};
    std::size_t next = 0;
    for (std::size_t at = 0; at < names.size();) {
        const std::size_t end = std::min(names.find('\n', at), names.size());
        lists[next++ % 4]->push_back(names.substr(at, end - at));
        at = end + 1;
    }
    check(options.text().empty() == options.empty());
    const selection selected{options, paths, reader.tables()};
    selected_events passing{selected};
    reader.for_each([&](const event& e) { passing.pass(e, [](const event&) {}); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    if (bytes == 0) return 0;
    constexpr void (*readers[])(const std::string&) = {read_size,       read_function_name, show,
                                                       read_contenders, read_fit_file,      select};
    try {
        readers[data[0] % std::size(readers)]({reinterpret_cast<const char*>(data + 1), bytes - 1});
    } catch (const tool_error& error) {
        check_message(error.what());
    }
    return 0;
}
