// Output for a person at a terminal: colours and the progress bar.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace acre::tool {

enum class style { plain, bold, dim, green, yellow, red };

/// The text in a style if standard output is a terminal with colours, else unchanged.
std::string styled(std::string_view text, style wanted);

/// Writes a line to standard error, in the place of a progress line that is shown there. A failure to write is ignored:
/// there is nowhere to report it.
void write_message(const std::string& line);

/// Whether a progress line is on the terminal, with the cursor at its end.
bool progress_is_shown();

/// Erases the progress line that is shown, so that other output can begin; the next progress draws it again.
void clear_progress();

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
    std::chrono::steady_clock::time_point start_;
    std::chrono::steady_clock::time_point last_;
};

}  // namespace acre::tool
