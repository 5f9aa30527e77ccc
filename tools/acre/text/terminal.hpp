// Output for a person at a terminal: colours and the progress bar.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace acre::tool {

enum class style { plain, bold, dim, green, yellow, red };

/// The text in a style if standard output is a terminal with colours, else unchanged.
std::string styled(std::string_view text, style wanted);

/// A progress line on standard error if that is a terminal; it is erased at the end. Nothing is shown in the first half
/// second.
class progress_bar {
public:
    progress_bar(std::string label, bool wanted);
    ~progress_bar();
    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;

    void show(double done);

private:
    std::string label_;
    bool wanted_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point start_;
    std::chrono::steady_clock::time_point last_;
};

}  // namespace acre::tool
