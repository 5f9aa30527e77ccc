// The destination of an export: a file, which appears only when it is complete, or standard output; optionally
// compressed.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "trace/replacing_file.hpp"

namespace acre::tool {

/// Takes bytes in order. Every failure throws tool_error.
class byte_output {
public:
    byte_output() = default;
    virtual ~byte_output() = default;
    byte_output(const byte_output&) = delete;
    byte_output& operator=(const byte_output&) = delete;

    virtual void write(std::span<const std::uint8_t> bytes) = 0;

    /// Must be called once, at the end.
    virtual void finish() = 0;

    void write(std::string_view text) {
        write(std::span{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    }
};

class file_output : public byte_output {
public:
    explicit file_output(const std::filesystem::path& path) : file_{path} {}

    using byte_output::write;
    void write(std::span<const std::uint8_t> bytes) override { file_.write(bytes); }
    void finish() override { file_.finish(); }

private:
    replacing_file file_;
};

class standard_output : public byte_output {
public:
    using byte_output::write;
    void write(std::span<const std::uint8_t> bytes) override;
    void finish() override;
};

/// Compresses with gzip and writes to another output, which must outlive this one.
class gzip_output : public byte_output {
public:
    explicit gzip_output(byte_output& to);
    ~gzip_output() override;

    using byte_output::write;
    void write(std::span<const std::uint8_t> bytes) override;
    void finish() override;

private:
    void deflate_with(int flush);

    byte_output& to_;
    z_stream stream_{};
    std::vector<std::uint8_t> compressed_;
};

}  // namespace acre::tool
