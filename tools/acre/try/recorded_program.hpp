// A recorded program that is run again: whether it does what it did, and how far its runs are to be believed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace acre::tool {

/// The file of the program. Throws tool_error if the trace does not name one, or no malloc can be preloaded into it.
/// `verb`: what is to be done with it.
std::filesystem::path recorded_program(const std::vector<std::string>& command, const char* verb = "run");

/// The seconds after which a run does other work than the recorded one, which took so many nanoseconds from start to
/// end: ten times as long, and at least ten seconds.
double longest_run(std::uint64_t recorded_duration);

/// Throws tool_error if it took much less CPU time now than when it was recorded, in nanoseconds: a program that finds
/// no input ends at once, and the same each time.
void check_same_work(std::uint64_t recorded, std::uint64_t now);

/// What few rounds may be off on each side, as a share of the CPU time, beyond their interval, which is their range
/// with fewer than four: so far beyond it lay at most nine in ten medians of a second measurement (`obtained.py` prints
/// it: of 2 programs with one round, 9 with two, 4 with three to five, whose interval was the range then).
double share_of_doubt(std::size_t rounds);

}  // namespace acre::tool
