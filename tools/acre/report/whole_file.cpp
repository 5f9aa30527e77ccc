#include "whole_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>

#include "trace/error.hpp"

namespace acre::tool {

namespace {

void write_to(const std::filesystem::path& path, const std::filesystem::path& named, std::string_view text) {
    std::FILE* file = std::fopen(path.c_str(), "we");
    if (file == nullptr) throw tool_error{"cannot write '" + named.string() + "': " + std::strerror(errno)};
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const int problem = errno;
    if (std::fclose(file) == 0 && written) return;
    throw tool_error{"cannot write '" + named.string() + "': " + std::strerror(written ? errno : problem)};
}

}  // namespace

void write_whole_file(const std::filesystem::path& path, std::string_view text) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        write_to(path, path, text);
        return;
    }
    std::filesystem::path partial = path;
    partial += ".partial-" + std::to_string(::getpid());
    try {
        write_to(partial, path, text);
        std::filesystem::rename(partial, path);
    } catch (const std::filesystem::filesystem_error& error) {
        std::filesystem::remove(partial, ignored);
        throw tool_error{"cannot write '" + path.string() + "': " + error.code().message()};
    } catch (const tool_error&) {
        std::filesystem::remove(partial, ignored);
        throw;
    }
}

}  // namespace acre::tool
