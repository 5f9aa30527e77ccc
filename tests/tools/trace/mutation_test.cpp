// Changed traces, with and without valid checksums: each is read and analysed, or refused with one sentence, within
// 1 GiB of memory and 10 seconds. ACRE_MUTATIONS in the environment sets how many of each kind are tried.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>

#include "fuzz/analyses.hpp"
#include "tools/support/random_trace.hpp"
#include "tools/support/section.hpp"
#include "tools/support/temporary_directory.hpp"

namespace {

using namespace acre::test;

constexpr rlim_t memory_limit = rlim_t{1} << 30;
constexpr rlim_t seconds_limit = 10;

std::string read_bytes(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

/// A section of a trace, decompressed.
struct plain_section {
    format::section_kind kind{};
    std::string payload;
};

std::vector<plain_section> sections_of(const std::string& bytes) {
    std::vector<plain_section> sections;
    for (std::size_t at = format::file_head_bytes; at < bytes.size();) {
        std::uint64_t compressed = 0;
        std::uint64_t raw = 0;
        plain_section& made = sections.emplace_back();
        std::memcpy(&made.kind, bytes.data() + at, 4);
        std::memcpy(&compressed, bytes.data() + at + 8, 8);
        std::memcpy(&raw, bytes.data() + at + 16, 8);
        made.payload.resize(raw);
        at += format::section_head_bytes;
        ZSTD_decompress(made.payload.data(), raw, bytes.data() + at, compressed);
        at += compressed;
    }
    return sections;
}

void change(std::string& bytes, std::mt19937& random) {
    if (bytes.empty()) return;
    for (unsigned left = random() % 4; left < 4; ++left) {
        const std::size_t at = random() % bytes.size();
        switch (random() % 5) {
            case 0:
                bytes[at] = static_cast<char>(bytes[at] ^ 1 << random() % 8);
                break;
            case 1:
                bytes[at] = static_cast<char>(random());
                break;
            case 2:  // a large number
                bytes.insert(at, std::string(random() % 9, '\xff') + '\x01');
                break;
            case 3:  // the same, very often
                bytes.insert(at, std::string(std::size_t{1} << random() % 22, bytes[at]));
                break;
            default:
                bytes.erase(at, random() % 8);
        }
        if (bytes.empty()) return;
    }
}

std::string random_mutation(const std::string& whole, std::mt19937& random) {
    std::string bytes = whole;
    change(bytes, random);
    return bytes;
}

std::string valid_mutation(const std::string& whole, std::mt19937& random) {
    std::vector<plain_section> sections = sections_of(whole);
    change(sections[random() % sections.size()].payload, random);
    std::string bytes = whole.substr(0, format::file_head_bytes);
    for (const plain_section& each : sections) bytes += section(each.kind, each.payload);
    return bytes;
}

/// 0: read and analysed; 1: refused with a sentence.
int analyse_file(const std::filesystem::path& path) {
    try {
        trace_reader reader{path};
        reader.for_each_mark([](const mark&) {});
        acre_test::analyse(reader);
    } catch (const tool_error& error) {
        acre_test::check_sentence(error);
        return 1;
    }
    return 0;
}

struct outcomes {
    std::uint64_t analysed = 0;
    std::uint64_t refused = 0;
    long max_kibibytes = 0;
    double max_seconds = 0;
};

void analyse_in_child(const std::filesystem::path& path, outcomes& all) {
    const pid_t child = ::fork();
    if (child == 0) {
        const rlimit memory{memory_limit, memory_limit};
        const rlimit seconds{seconds_limit, seconds_limit};
        ::setrlimit(RLIMIT_DATA, &memory);
        ::setrlimit(RLIMIT_CPU, &seconds);
        ::_exit(analyse_file(path));
    }
    int status = -1;
    rusage usage{};
    ASSERT_EQ(::wait4(child, &status, 0, &usage), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
        const std::filesystem::path kept = std::filesystem::current_path() / "failed_mutation.acre";
        std::filesystem::copy_file(path, kept, std::filesystem::copy_options::overwrite_existing);
        FAIL() << "status " << status << " with " << kept;
    }
    ++(WEXITSTATUS(status) == 0 ? all.analysed : all.refused);
    all.max_kibibytes = std::max(all.max_kibibytes, usage.ru_maxrss);
    all.max_seconds = std::max(all.max_seconds, static_cast<double>(usage.ru_utime.tv_sec) +
                                                    static_cast<double>(usage.ru_utime.tv_usec) / 1e6);
}

template <typename Mutate>
void expect_bounded(const char* kind, Mutate mutate) {
    const temporary_directory directory;
    const char* wanted = std::getenv("ACRE_MUTATIONS");
    const int mutations = wanted == nullptr ? 150 : std::atoi(wanted);
    std::mt19937 random{16};
    outcomes all;
    for (int i = 0; i < mutations; ++i) {
        const std::uint32_t seed = static_cast<std::uint32_t>(i) % 20;
        const std::string whole = read_bytes(random_trace(seed, 50 + seed * 40).write(directory / "whole.acre"));
        std::ofstream{directory / "a.acre", std::ios::binary} << mutate(whole, random);
        analyse_in_child(directory / "a.acre", all);
        if (testing::Test::HasFatalFailure()) return;
    }
    std::printf("%s: %llu analysed, %llu refused, at most %ld MiB and %.1f s of CPU time\n", kind,
                static_cast<unsigned long long>(all.analysed), static_cast<unsigned long long>(all.refused),
                all.max_kibibytes / 1024, all.max_seconds);
}

TEST(mutations, random_ones_are_read_within_bounds) {
    expect_bounded("random", random_mutation);
}

TEST(mutations, those_with_valid_checksums_are_read_within_bounds) {
    expect_bounded("checksum-valid", valid_mutation);
}

}  // namespace
