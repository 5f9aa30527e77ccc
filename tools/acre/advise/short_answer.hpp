// The answer on one screen: what to do first, what it saves and how sure that is, where, and the code. Then one line
// for each other recommendation.
#pragma once

#include <cstddef>
#include <string>

#include "advice.hpp"
#include "trace/call_paths.hpp"
#include "trace/model.hpp"

namespace acre::tool {

/// Limits of the answer, for any program.
inline constexpr std::size_t answer_lines = 40;
inline constexpr std::size_t answer_words = 250;

/// The answer, within these limits. `trace` is the file's name, for the commands that tell more.
std::string short_answer(const advice_list& list, const call_paths& paths, const trace_header& header,
                         const std::string& trace);

/// "about 6 % of the CPU time, surely over 3 %". In time units where the CPU time is not known (0).
std::string saving_phrase(const interval& saved, double cpu_nanoseconds);

}  // namespace acre::tool
