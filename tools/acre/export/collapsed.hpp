// Collapsed stacks, as flame graph tools read them: "main;parse;read_line 1234", a line a stack.
#pragma once

#include <cstdint>

#include "byte_output.hpp"
#include "trace/call_paths.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

/// What the number of a line counts.
enum class stack_weight : std::uint8_t {
    bytes,  // allocated
    allocations,
    peak,      // bytes alive when most were
    lifetime,  // microseconds, of all objects together
};

void write_collapsed(trace_reader& reader, const call_paths& paths, stack_weight weight, byte_output& output);

}  // namespace acre::tool
