// The calls in the machine code of a file.
#pragma once

#include <gelf.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "use_kind.hpp"

namespace acre::tool {

/// The machine code of a file, as far as calls are concerned. Addresses are those of the file.
class call_code {
public:
    call_code() = default;
    explicit call_code(Elf* file);

    /// Where a direct call that returns to this address goes.
    std::optional<std::uint64_t> target(std::uint64_t return_address) const;

    /// Where the direct jump that ends at this address goes, conditional or not.
    std::optional<std::uint64_t> jump_target(std::uint64_t end) const;

    /// Whether the code at an address jumps through a pointer in the file, as to a function of another file.
    bool jumps_through_table(std::uint64_t address) const;

    /// The number that the code puts into the first argument of that call, if it is a constant.
    std::optional<std::uint64_t> first_argument(std::uint64_t return_address) const;

    struct direct_call {
        std::uint64_t target;
        std::uint64_t return_address;
    };

    /// Direct calls that may follow: the code is searched for them without being decoded, so not all are real.
    std::vector<direct_call> next_calls(std::uint64_t return_address) const;

    /// Whether there may be a call in this code, as above; true if the code is not known.
    bool may_call(std::uint64_t begin, std::uint64_t end) const;

    /// Whether the code visibly moves what one call returned into the first argument of a later one.
    bool passes_result(std::uint64_t return_address, std::uint64_t later_return_address) const;

    /// The name of the function of another file that a call to this address ends up in; null if it is none.
    const char* imported(std::uint64_t target) const;

    struct import_use {
        std::uint64_t end;  // of the instruction
        const char* name;
        use_kind kind;
    };

    /// The uses of functions of other files with these names, but for calls through a pointer that the program may set:
    /// searched for as above, and real but for numbers that happen to look like one.
    std::vector<import_use> uses_of(std::span<const std::string_view> names) const;

private:
    struct segment {
        std::uint64_t begin;
        std::uint64_t bytes;
        const unsigned char* code;
    };

    void add_segments(Elf* file);
    void add_imports(Elf* file);
    const unsigned char* at(std::uint64_t address, std::uint64_t before, std::uint64_t after) const;
    std::optional<std::uint64_t> table_entry_of(std::uint64_t address) const;
    const char* imported_at(std::uint64_t pointer) const;

    std::vector<segment> segments_;
    std::map<std::uint64_t, const char*> imports_;  // by the address of the pointer that the loader sets
};

}  // namespace acre::tool
