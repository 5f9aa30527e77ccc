#include "byte_output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <string>

#include "text/terminal.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

constexpr int gzip_window_bits = 15 + 16;  // 16 makes zlib write gzip's header and trailer
constexpr int default_memory_level = 8;
constexpr std::size_t piece_bytes = 1 << 16;

[[noreturn]] void cannot_write() {
    throw tool_error{std::string{"cannot write to standard output: "} + reason_of(errno)};
}

}  // namespace

void standard_output::write(std::span<const std::uint8_t> bytes) {
    clear_progress();
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) cannot_write();
}

void standard_output::finish() {
    if (std::fflush(stdout) != 0) cannot_write();
}

gzip_output::gzip_output(byte_output& to) : to_{to}, compressed_(piece_bytes) {
    const int result = ::deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window_bits,
                                      default_memory_level, Z_DEFAULT_STRATEGY);
    if (result != Z_OK) throw std::bad_alloc{};
}

gzip_output::~gzip_output() {
    ::deflateEnd(&stream_);
}

void gzip_output::write(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const std::size_t part = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
        stream_.next_in = const_cast<Bytef*>(bytes.data());
        stream_.avail_in = static_cast<uInt>(part);
        deflate_with(Z_NO_FLUSH);
        bytes = bytes.subspan(part);
    }
}

void gzip_output::finish() {
    deflate_with(Z_FINISH);
    to_.finish();
}

/// Runs until zlib has taken all input; with Z_FINISH, until it has also given all output.
void gzip_output::deflate_with(int flush) {
    do {
        stream_.next_out = compressed_.data();
        stream_.avail_out = static_cast<uInt>(compressed_.size());
        ::deflate(&stream_, flush);
        to_.write(std::span{compressed_}.first(compressed_.size() - stream_.avail_out));
    } while (stream_.avail_out == 0);
}

}  // namespace acre::tool
