// The ELF note by which a file with the recorder in it is known.
#pragma once

#include <cstdint>

namespace acre::raw {

/// Version of the raw log (record/raw_log.hpp), which the note holds.
inline constexpr std::uint32_t file_version = 6;

/// Name of the ELF note in each program or library that contains the recorder.
inline constexpr char note_name[] = "acre";
inline constexpr std::uint32_t note_type = 1;

}  // namespace acre::raw
