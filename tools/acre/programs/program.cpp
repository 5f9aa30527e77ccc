#include "program.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "elf_file.hpp"
#include "opened_elf.hpp"
#include "preloadable_library.hpp"
#include "recorder_note.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

/// Recognised by the initialisation function, which both gcc and clang leave among the dynamic symbols.
std::string_view sanitizer_begun_by(std::string_view function) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> sanitizers{{
        {"__asan_init", "AddressSanitizer"},
        {"__hwasan_init", "HWAddressSanitizer"},
        {"__lsan_init", "LeakSanitizer"},
        {"__msan_init", "MemorySanitizer"},
        {"__tsan_init", "ThreadSanitizer"},
    }};
    for (const auto& [begins, name] : sanitizers) {
        if (function == begins) return name;
    }
    return {};
}

/// What the dynamic symbols of a program say about its malloc.
struct own_malloc {
    std::string sanitizer;  // that it is built with, of those with a malloc of their own
    bool is_in_it = false;  // another one is linked into it
    std::string called_of_jemalloc;
};

/// nallocx is not among them: it tells a size.
bool is_of_jemalloc(std::string_view function) {
    constexpr std::array<std::string_view, 6> functions{"mallocx", "rallocx", "xallocx",
                                                        "sallocx", "dallocx", "sdallocx"};
    return std::ranges::find(functions, function) != functions.end();
}

void find_malloc_in(Elf* file, Elf_Scn* section, own_malloc& found) {
    GElf_Shdr head{};
    if (gelf_getshdr(section, &head) == nullptr || head.sh_type != SHT_DYNSYM) return;
    Elf_Data* symbols = elf_getdata(section, nullptr);
    GElf_Sym symbol{};
    for (int i = 0; symbols != nullptr && gelf_getsym(symbols, i, &symbol) != nullptr; ++i) {
        const char* name = elf_strptr(file, head.sh_link, symbol.st_name);
        if (name == nullptr) continue;
        if (const std::string_view sanitizer = sanitizer_begun_by(name); !sanitizer.empty())
            found.sanitizer = sanitizer;
        if (std::string_view{name} == "malloc" && symbol.st_shndx != SHN_UNDEF) found.is_in_it = true;
        const bool is_needed = symbol.st_shndx == SHN_UNDEF && GELF_ST_BIND(symbol.st_info) == STB_GLOBAL;
        if (is_needed && is_of_jemalloc(name)) found.called_of_jemalloc = name;
    }
}

namespace fs = std::filesystem;

/// No preloaded library can stand in front of a malloc that is in the program.
own_malloc find_own_malloc(const fs::path& program) {
    own_malloc found;
    with_elf_file(program, [&](Elf* file) {
        for (Elf_Scn* section = nullptr; (section = elf_nextscn(file, section)) != nullptr;)
            find_malloc_in(file, section, found);
    });
    return found;
}

/// Thrown by the checks, which do not know what the program is wanted for.
struct refusal {
    fs::path program;
    std::string why;
};

[[noreturn]] void refuse(const fs::path& program, const std::string& why) {
    throw refusal{program, why};
}

/// What a library is preloaded for: the parts of the sentences that differ.
struct preload_use {
    std::string_view if_static;        // why a static program is refused, and what to do
    std::string_view if_sanitized;     // the same after "it is built with AddressSanitizer, "
    std::string_view if_malloc_in_it;  // the same after "it contains a malloc of its own, "
    bool linked_recorder_will_do = false;
};

constexpr preload_use recording{
    .if_static =
        "it is statically linked, so the recorder cannot be preloaded into it: link it with libacre-record.a, as "
        "docs/record.md shows, or dynamically",
    .if_sanitized = "whose malloc the recorder cannot replace: record a build without it",
    .if_malloc_in_it =
        "which no preloaded library can stand in front of: record a build that has its allocator as a shared library, "
        "or uses that of the C library",
    .linked_recorder_will_do = true};

constexpr preload_use another_malloc{
    .if_static = "it is statically linked, so no malloc can be preloaded into it: link it dynamically",
    .if_sanitized = "whose malloc no other can replace: take a build without it",
    .if_malloc_in_it =
        "which no preloaded library can stand in front of: take a build that has its allocator as a shared library, or "
        "uses that of the C library"};

bool is_executable_file(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

fs::path find_in_path(const std::string& name) {
    const char* variable = std::getenv("PATH");
    std::istringstream folders{variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin"};
    for (std::string folder; std::getline(folders, folder, ':');) {
        const fs::path candidate = fs::path{folder.empty() ? "." : folder} / name;
        if (is_executable_file(candidate)) return candidate;
    }
    refuse(name, "there is no such program in PATH");
}

fs::path find_program(const std::string& name) {
    if (name.empty()) refuse(name, "the name is empty");
    if (name.find('/') == std::string::npos) return find_in_path(name);
    const fs::path path{name};
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) refuse(path, "there is no such program");
    if (status.type() == fs::file_type::directory) refuse(path, "it is a directory");
    if (error) refuse(path, error.message());
    if (!is_executable_file(path)) refuse(path, "it is not an executable file");
    return path;
}

/// The system preloads nothing into a program that gains privileges when it is executed.
void check_privileges(const fs::path& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) refuse(path, reason_of(errno));
    const bool other_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != ::geteuid();
    const bool other_group =
        (status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 && status.st_gid != ::getegid();
    if (other_user || other_group) {
        refuse(path,
               "it is setuid or setgid, and the system preloads nothing into such programs; take a copy of it, "
               "or run acre as its owner");
    }
    if (::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0 && ::geteuid() != 0) {
        refuse(path, "it has file capabilities, and the system preloads nothing into such programs; take a copy of it");
    }
}

/// Bytes of a file from an offset on; fewer if the file is shorter.
std::string read_start(const fs::path& path, std::size_t offset, std::size_t bytes) {
    std::ifstream file{path, std::ios::binary};
    std::string text(bytes, '\0');
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(text.data(), static_cast<std::streamsize>(bytes));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

/// The contents of an ELF file's segments of one type, at most 64 KiB of each.
std::vector<std::string> segments_of(const fs::path& path, const Elf64_Ehdr& head, std::uint32_t type) {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < head.e_phnum; ++i) {
        const std::string bytes = read_start(path, head.e_phoff + i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
        if (bytes.size() < sizeof(Elf64_Phdr)) break;
        Elf64_Phdr segment;
        std::memcpy(&segment, bytes.data(), sizeof segment);
        if (segment.p_type != type) continue;
        found.push_back(read_start(path, segment.p_offset, std::min<std::size_t>(segment.p_filesz, 64 * 1024)));
    }
    return found;
}

/// Throws tool_error if the file ends before the parts that its head names.
void check_length(const fs::path& path, const Elf64_Ehdr& head) {
    std::error_code error;
    const std::uint64_t length = fs::file_size(path, error);
    const auto has = [=](std::uint64_t at, std::uint64_t bytes) { return at <= length && bytes <= length - at; };
    bool is_whole = !error && has(head.e_phoff, head.e_phnum * sizeof(Elf64_Phdr));
    for (std::size_t i = 0; is_whole && i < head.e_phnum; ++i) {
        const std::string bytes = read_start(path, head.e_phoff + i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
        Elf64_Phdr segment{};
        std::memcpy(&segment, bytes.data(), bytes.size());
        is_whole =
            (segment.p_type != PT_LOAD && segment.p_type != PT_INTERP) || has(segment.p_offset, segment.p_filesz);
    }
    if (!is_whole) refuse(path, "it is cut off: it ends before the parts that its ELF header names");
}

/// The dynamic loader that an ELF file names; empty if it names none.
std::string loader_of(const fs::path& path, const Elf64_Ehdr& head) {
    const std::vector<std::string> names = segments_of(path, head, PT_INTERP);
    return names.empty() ? std::string{} : names.front().c_str();
}

/// The raw log version in the note of a linked recorder; 0 if the segment has no such note.
std::uint32_t recorder_in_notes(const std::string& notes) {
    constexpr auto padded = [](std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; };
    for (std::size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
        Elf64_Nhdr note;
        std::memcpy(&note, notes.data() + at, sizeof note);
        const std::size_t name = at + sizeof note;
        const std::size_t content = name + padded(note.n_namesz);
        at = content + padded(note.n_descsz);
        if (at > notes.size()) break;
        std::uint32_t version = 0;
        if (note.n_type != raw::note_type || note.n_descsz != sizeof version) continue;
        if (notes.compare(name, note.n_namesz, raw::note_name, sizeof raw::note_name) != 0) continue;
        std::memcpy(&version, notes.data() + content, sizeof version);
        return version;
    }
    return 0;
}

/// Whether the recorder is linked into an ELF file.
bool has_recorder(const fs::path& path, const Elf64_Ehdr& head) {
    for (const std::string& notes : segments_of(path, head, PT_NOTE)) {
        const std::uint32_t version = recorder_in_notes(notes);
        if (version == 0) continue;
        if (version == raw::file_version) return true;
        refuse(path, "it is linked with the recorder of another version of acre: link it again");
    }
    return false;
}

/// Whether the recorder has to be preloaded.
bool check_elf(const fs::path& path, const preload_use& use) {
    const std::string bytes = read_start(path, 0, sizeof(Elf64_Ehdr));
    const auto machine_class = static_cast<unsigned char>(bytes.size() > EI_CLASS ? bytes[EI_CLASS] : 0);
    if (machine_class == ELFCLASS32) refuse(path, "it is a 32-bit program; acre takes only 64-bit ones");
    Elf64_Ehdr head{};
    if (bytes.size() < sizeof head) refuse(path, "its ELF header is incomplete");
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.e_machine != EM_X86_64) refuse(path, "it is made for another processor; acre takes only x86-64 programs");
    check_length(path, head);
    const std::string loader = loader_of(path, head);
    if (loader.empty() && is_preloadable(path)) refuse(path, "it is a shared library, not a program");
    if (use.linked_recorder_will_do && has_recorder(path, head)) return false;
    if (loader.empty()) refuse(path, std::string{use.if_static});
    if (loader.find("ld-linux-x86-64") == std::string::npos) {
        refuse(path, "its dynamic loader is '" + loader + "'; acre takes only programs that use glibc");
    }
    const own_malloc own = find_own_malloc(path);
    if (!own.sanitizer.empty())
        refuse(path, "it is built with " + own.sanitizer + ", " + std::string{use.if_sanitized});
    if (own.is_in_it) refuse(path, "it contains a malloc of its own, " + std::string{use.if_malloc_in_it});
    return true;
}

bool check_file(const fs::path& path, const preload_use& use, int scripts_left);

constexpr int max_scripts = 4;  // that the system follows from one to the next

/// The interpreter that a script's first line names; empty if it names none.
std::string interpreter_of(const fs::path& script) {
    std::string line = read_start(script, 2, 4096);
    line.resize(std::min(line.find('\n'), line.size()));
    std::istringstream words{line};
    std::string interpreter;
    words >> interpreter;
    return interpreter;
}

bool is_script(const fs::path& path) {
    return read_start(path, 0, 2) == "#!";
}

/// Checks the interpreter of a script, which is what will be preloaded into.
bool check_script(const fs::path& path, const preload_use& use, int scripts_left) {
    const std::string interpreter = interpreter_of(path);
    std::error_code error;
    if (interpreter.empty()) refuse(path, "its first line names no interpreter after #!");
    if (!fs::exists(interpreter, error)) refuse(path, "its interpreter '" + interpreter + "' does not exist");
    return scripts_left == 0 || check_file(interpreter, use, scripts_left - 1);
}

/// Whether the library has to be preloaded.
bool check_file(const fs::path& path, const preload_use& use, int scripts_left) {
    if (is_script(path)) return check_script(path, use, scripts_left);
    check_privileges(path);
    if (read_start(path, 0, SELFMAG) != std::string{ELFMAG, SELFMAG})
        refuse(path, "it is neither an ELF program nor a script that begins with #!");
    return check_elf(path, use);
}

recordable_program find_checked(const std::string& name, std::string_view verb, const preload_use& use) {
    try {
        const fs::path path = find_program(name);
        return {path, ::access(path.c_str(), R_OK) != 0 || check_file(path, use, max_scripts)};
    } catch (const refusal& refused) {
        throw tool_error{"cannot " + std::string{verb} + " '" + refused.program.string() + "': " + refused.why};
    }
}

}  // namespace

recordable_program find_recordable_program(const std::string& name) {
    return find_checked(name, "record", recording);
}

fs::path find_program_to_preload(const std::string& name, std::string_view verb) {
    return find_checked(name, verb, another_malloc).path;
}

fs::path executed_file(const fs::path& program) {
    fs::path path = program;
    for (int i = 0; i < max_scripts && is_script(path); ++i) path = interpreter_of(path);
    return path;
}

std::string called_of_jemalloc(const fs::path& program) {
    return find_own_malloc(executed_file(program)).called_of_jemalloc;
}

std::string linked_malloc(const fs::path& program) {
    const fs::path path = executed_file(program);
    std::string found;
    for (const std::string& library : needed_libraries(path)) {
        for (const std::string_view known :
             {"jemalloc", "mimalloc", "tcmalloc", "snmalloc", "tbbmalloc", "acre-malloc"}) {
            if (library.find(known) != std::string::npos) found = known;
        }
    }
    return found;
}

}  // namespace acre::tool
