// What acre reads of ELF files: build id, needed libraries, functions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace acre::tool {

/// The build id of a file in lower-case hexadecimal; empty if it has none or cannot be read.
std::string build_id_of(const std::filesystem::path& file);

/// Whether a file has this build id; false for an empty one.
bool has_build_id(const std::filesystem::path& file, std::string_view build_id);

/// The names of the libraries that a file needs directly.
std::vector<std::string> needed_libraries(const std::filesystem::path& file);

/// The functions of a file by its symbol table, or by its dynamic symbols if it is stripped.
class function_table {
public:
    explicit function_table(const std::filesystem::path& file);

    struct place {
        std::string symbol;  // as the linker knows it
        std::uint64_t offset = 0;
    };
    /// The function around an address in the file; nothing if it has no symbol.
    std::optional<place> find(std::uint64_t address) const;
    /// The address of a place; nothing if there is no such function, or several, or if it is shorter.
    std::optional<std::uint64_t> address_of(const place& at) const;

private:
    struct function {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::string symbol;
    };
    std::vector<function> functions_;  // ascending
};

enum class call_kind : std::uint8_t {
    none,        // no call
    direct,      // of a function, also through the table of those of other files
    by_pointer,  // of what a register or the program's memory points to
};

struct code_call {
    call_kind kind = call_kind::none;
    std::optional<std::uint64_t> target{};  // of a direct one: where it goes in the file, if by its own address
};

/// The call that ends at an address in the file.
code_call call_before(const std::filesystem::path& file, std::uint64_t address);

/// How far above the return address of a call the one of the function around it lies, while it runs. Nothing where the
/// unwind table does not say so without the other registers, as for functions that keep a frame pointer.
std::optional<std::uint64_t> frame_bytes_at(const std::filesystem::path& file, std::uint64_t return_address);

}  // namespace acre::tool
