// Files with valid section lengths and checksums and any contents: each is either read or refused with one sentence.
// Without valid checksums a fuzzer would never get past them.
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz/analyses.hpp"
#include "fuzz/choices.hpp"
#include "tools/support/section.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/error.hpp"
#include "trace/reader.hpp"

namespace {

using namespace acre::tool;

std::string file_of(acre_test::choices& choose) {
    std::string bytes(format::file_head_bytes, '\0');
    std::memcpy(bytes.data(), format::magic.data(), format::magic.size());
    std::memcpy(bytes.data() + format::magic.size(), &format::version, sizeof format::version);
    for (std::uint32_t expected = 1; !choose.empty(); ++expected) {
        // Mostly the section that belongs here, for as many as the next number tells.
        const std::uint32_t chosen = choose();
        const std::uint32_t kind = chosen % 8 == 0 ? chosen / 8 % 11 : std::min(expected, 9U);
        const auto raw = choose.take(choose() % 4096);
        bytes += acre::test::section(static_cast<format::section_kind>(kind),
                                     {reinterpret_cast<const char*>(raw.data()), raw.size()});
    }
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    static const acre::test::temporary_directory directory;
    const std::filesystem::path path = directory / "a.acre";
    acre_test::choices choose{{data, bytes}};
    std::ofstream{path, std::ios::binary} << file_of(choose);
    try {
        trace_reader reader{path};
        reader.for_each_mark([](const mark&) {});
        acre_test::analyse(reader);
    } catch (const tool_error& error) {
        acre_test::check_sentence(error);
    }
    return 0;
}
