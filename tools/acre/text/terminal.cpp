#include "terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace acre::tool {

namespace {

/// Whether the stream is a terminal that supports escape sequences.
bool follows_sequences(int stream) {
    const char* kind = std::getenv("TERM");
    return ::isatty(stream) != 0 && kind != nullptr && std::string_view{kind} != "dumb";
}

/// See no-color.org: NO_COLOR is set and not empty.
bool colours_are_unwanted() {
    const char* value = std::getenv("NO_COLOR");
    return value != nullptr && *value != 0;
}

const char* code_of(style wanted) {
    switch (wanted) {
        case style::plain:
            return "0";
        case style::bold:
            return "1";
        case style::dim:
            return "2";
        case style::green:
            return "32";
        case style::yellow:
            return "33";
        case style::red:
            return "31";
    }
    return "0";
}

constexpr int bar_width = 30;

bool line_is_taken = false;  // by progress, which only the main thread shows

}  // namespace

std::string styled(std::string_view text, style wanted) {
    static const bool colours = follows_sequences(STDOUT_FILENO) && !colours_are_unwanted();
    return colours ? fmt::format("\033[{}m{}\033[0m", code_of(wanted), text) : std::string{text};
}

progress_bar::progress_bar(std::string label, bool wanted)
    : label_{std::move(label)},
      wanted_{wanted && follows_sequences(STDERR_FILENO)},
      start_{std::chrono::steady_clock::now()},
      last_{start_} {}

bool progress_is_shown() {
    return line_is_taken;
}

void clear_progress() {
    if (!std::exchange(line_is_taken, false)) return;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
}

void write_message(const std::string& line) {
    clear_progress();
    // fmt::print would throw when it cannot write.
    std::fputs((line + "\n").c_str(), stderr);
}

progress_bar::~progress_bar() {
    clear_progress();
}

void progress_bar::show(double done) {
    using namespace std::chrono_literals;
    if (!wanted_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - start_ < 500ms || now - last_ < 50ms) return;
    last_ = now;
    line_is_taken = true;
    const int filled = static_cast<int>(std::clamp(done, 0.0, 1.0) * bar_width);
    // fmt::print would throw on a write error.
    const std::string line =
        fmt::format("\r{} [{:#<{}}{:.<{}}] {:3.0f} %\033[K", label_, "", filled, "", bar_width - filled, done * 100);
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
}

}  // namespace acre::tool
