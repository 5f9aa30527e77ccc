// A progress bar that a reader of a trace moves for as long as the bar is there.
#pragma once

#include <utility>

#include "command.hpp"
#include "text/terminal.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

class reading_progress {
public:
    reading_progress(std::string label, trace_reader& reader, const command_context& context)
        : reader_{reader}, bar_{std::move(label), !context.quiet} {
        reader_.on_progress([this](double done) { show(done); });
    }
    ~reading_progress() { reader_.on_progress({}); }
    reading_progress(const reading_progress&) = delete;
    reading_progress& operator=(const reading_progress&) = delete;

    void show(double done) { bar_.show(done); }

private:
    trace_reader& reader_;
    progress_bar bar_;
};

}  // namespace acre::tool
