// What depends on whether a person looks at a terminal: colours and the progress bar.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace acre::tool {

enum class style { plain, bold, dim, green, yellow, red };

/// Text in a style where standard output is a terminal that shows colours; elsewhere as it is.
std::string styled(std::string_view text, style wanted);

/// Where standard error is a terminal, a line that says how far long work is; it is gone at the end. Work of less than
/// half a second shows nothing.
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
