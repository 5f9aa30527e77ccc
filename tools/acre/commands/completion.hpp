// What can be written next on the command line: `acre complete` answers the shells with it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "option_values.hpp"

namespace acre::tool {

/// The answer to a shell whose line has these words behind "acre", the last of them not yet whole and perhaps empty.
/// The first line says what can be written in place of the last word:
///     words      one of the words that follow
///     list       the same, but it may go on behind the word: separated by a comma
///     trace      the name of a file, first of all of a trace
///     file       the name of a file
///     program    what the program to record takes: its name, or an argument of it
/// Then the words, a line each: the word, a tabulator, what it means. What of them fits the last word, the shell sees.
std::string completion_text(const CLI::App& app, const option_values& values, const std::vector<std::string>& words);

}  // namespace acre::tool
