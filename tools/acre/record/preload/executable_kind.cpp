#include "executable_kind.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "small_text.hpp"
#include "system.hpp"

namespace acre::recorder {
namespace {

using raw::report_kind;

class open_file {
public:
    explicit open_file(const char* path)
        : file_{system_call(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0)} {}
    ~open_file() {
        if (file_ >= 0) system_call(__NR_close, file_);
    }
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;

    bool is_open() const { return file_ >= 0; }
    bool stat(struct stat& status) const { return system_call(__NR_fstat, file_, &status) == 0; }
    bool has_capabilities() const { return system_call(__NR_fgetxattr, file_, "security.capability", 0, 0) > 0; }

    /// The number of bytes read.
    std::size_t read(std::uint64_t offset, void* bytes, std::size_t count) const {
        const long got = system_call(__NR_pread64, file_, bytes, count, offset);
        return got > 0 ? static_cast<std::size_t>(got) : 0;
    }

private:
    long file_;
};

bool gains_privileges(const open_file& file) {
    struct stat status{};
    if (!file.stat(status)) return false;
    const bool other_user =
        (status.st_mode & S_ISUID) != 0 && status.st_uid != static_cast<uid_t>(system_call(__NR_geteuid));
    const bool other_group = (status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 &&
                             status.st_gid != static_cast<gid_t>(system_call(__NR_getegid));
    return other_user || other_group || (system_call(__NR_geteuid) != 0 && file.has_capabilities());
}

/// Calls `visit` for each program header until it returns false.
template <typename Visit>
void for_each_segment(const open_file& file, const Elf64_Ehdr& head, Visit visit) {
    for (unsigned i = 0; i < head.e_phnum; ++i) {
        Elf64_Phdr segment;
        const std::uint64_t offset = head.e_phoff + i * sizeof segment;
        if (file.read(offset, &segment, sizeof segment) != sizeof segment || !visit(segment)) return;
    }
}

bool has_recorder(const open_file& file, const Elf64_Phdr& notes) {
    char bytes[256];
    const std::size_t got =
        file.read(notes.p_offset, bytes, notes.p_filesz < sizeof bytes ? notes.p_filesz : sizeof bytes);
    constexpr char wanted[] = {
        sizeof raw::note_name, 0, 0, 0, sizeof(std::uint32_t), 0, 0, 0, raw::note_type, 0, 0, 0, 'a', 'c', 'r', 'e', 0};
    return memmem(bytes, got, wanted, sizeof wanted) != nullptr;
}

/// Where an address of the program lies in its file; 0 if nowhere.
std::uint64_t offset_of(const open_file& file, const Elf64_Ehdr& head, std::uint64_t address) {
    std::uint64_t offset = 0;
    for_each_segment(file, head, [&](const Elf64_Phdr& segment) {
        if (segment.p_type != PT_LOAD || address - segment.p_vaddr >= segment.p_filesz) return true;
        offset = segment.p_offset + (address - segment.p_vaddr);
        return false;
    });
    return offset;
}

bool names_sanitizer(const char* bytes, std::size_t count) {
    for (const char* name : {"__asan_init", "__hwasan_init", "__lsan_init", "__msan_init", "__tsan_init"}) {
        if (memmem(bytes, count, name, std::strlen(name) + 1) != nullptr) return true;
    }
    return false;
}

/// Whether the names of the dynamic symbols contain a sanitizer's initialisation.
bool has_sanitizer(const open_file& file, const Elf64_Ehdr& head, const Elf64_Phdr& dynamic) {
    std::uint64_t names = 0;
    std::uint64_t bytes = 0;
    constexpr std::uint64_t max_entries = 1024;
    for (std::uint64_t i = 0; i < dynamic.p_filesz / sizeof(Elf64_Dyn) && i < max_entries; ++i) {
        Elf64_Dyn entry;
        if (file.read(dynamic.p_offset + i * sizeof entry, &entry, sizeof entry) != sizeof entry) return false;
        if (entry.d_tag == DT_STRTAB) names = offset_of(file, head, entry.d_un.d_ptr);
        if (entry.d_tag == DT_STRSZ) bytes = entry.d_un.d_val;
        if (entry.d_tag == DT_NULL) break;
    }
    constexpr std::uint64_t max_bytes = 64 << 20;
    constexpr std::size_t longest = 16;  // a name may span two reads
    char part[768];
    if (names == 0 || bytes > max_bytes) return false;
    for (std::uint64_t at = 0; at < bytes; at += sizeof part - longest) {
        if (names_sanitizer(part, file.read(names + at, part, sizeof part))) return true;
    }
    return false;
}

report_kind kind_of_elf(const open_file& file) {
    Elf64_Ehdr head;
    if (file.read(0, &head, sizeof head) != sizeof head) return report_kind::executes_foreign;
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != EM_X86_64) return report_kind::executes_foreign;
    bool is_linked_with_recorder = false;
    bool is_dynamic = false;
    bool is_sanitized = false;
    char loader[256] = {};
    for_each_segment(file, head, [&](const Elf64_Phdr& segment) {
        if (segment.p_type == PT_NOTE && has_recorder(file, segment)) is_linked_with_recorder = true;
        if (segment.p_type == PT_DYNAMIC) is_sanitized = has_sanitizer(file, head, segment);
        if (segment.p_type == PT_INTERP) {
            is_dynamic = true;
            file.read(segment.p_offset, loader,
                      segment.p_filesz < sizeof loader ? segment.p_filesz : sizeof loader - 1);
        }
        return true;
    });
    if (is_linked_with_recorder) return report_kind::executes;
    if (!is_dynamic) return report_kind::executes_static;
    if (std::strstr(loader, "ld-linux-x86-64") == nullptr) return report_kind::executes_foreign;
    return is_sanitized ? report_kind::executes_sanitized : report_kind::executes;
}

report_kind kind_of_file(const char* path, int scripts_left);

/// `line` follows "#!".
report_kind kind_of_script(char* line, int scripts_left) {
    while (*line == ' ' || *line == '\t') ++line;
    line[std::strcspn(line, " \t\n")] = 0;
    return scripts_left == 0 ? report_kind::executes : kind_of_file(line, scripts_left - 1);
}

report_kind kind_of_file(const char* path, int scripts_left) {
    char start[256] = {};
    {
        const open_file file{path};
        if (!file.is_open()) return report_kind::executes;
        file.read(0, start, sizeof start - 1);
        const bool is_script = start[0] == '#' && start[1] == '!';
        if (!is_script && gains_privileges(file)) return report_kind::executes_privileged;
        if (std::memcmp(start, ELFMAG, SELFMAG) == 0) return kind_of_elf(file);
        if (!is_script) return report_kind::executes;  // execvp has a shell run it
    }
    return kind_of_script(start + 2, scripts_left);
}

}  // namespace

report_kind kind_of_execution(const char* path) {
    constexpr int max_scripts = 4;  // as in the kernel
    return path == nullptr ? report_kind::executes : kind_of_file(path, max_scripts);
}

report_kind kind_of_search(const char* name, char* const* environment) {
    if (name == nullptr || std::strchr(name, '/') != nullptr) return kind_of_execution(name);
    const char* folders = "/bin:/usr/bin";
    for (char* const* each = environment; each != nullptr && *each != nullptr; ++each) {
        if (std::strncmp(*each, "PATH=", 5) == 0) folders = *each + 5;
    }
    while (true) {
        char path[768];
        const std::size_t bytes = std::strcspn(folders, ":");
        if (bytes + std::strlen(name) + 2 < sizeof path) {
            std::memcpy(path, folders, bytes);
            path[bytes] = '/';
            std::strcpy(path + bytes + (bytes != 0 ? 1 : 0), name);
            if (system_call(__NR_faccessat, AT_FDCWD, path, X_OK, 0) == 0) return kind_of_execution(path);
        }
        if (folders[bytes] == 0) return report_kind::executes;
        folders += bytes + 1;
    }
}

}  // namespace acre::recorder
