// Modules that are loaded with RTLD_DEEPBIND: they would take the C library's malloc, while the program frees their
// blocks here, and they free the program's there. Their references are bound to this library's functions, and what
// their constructors got before that goes back to where it came from.
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "below.hpp"
#include "malloc.hpp"

extern "C" void cfree(void*);

namespace acre::preload {

bool find_malloc_below() noexcept {
    if (whose_blocks_may_come() != nullptr) return true;
    const auto find = [](auto& function, const char* name) {
        const auto found = reinterpret_cast<std::uintptr_t>(dlsym(RTLD_NEXT, name));
        __atomic_store_n(reinterpret_cast<std::uintptr_t*>(&function), found, __ATOMIC_RELEASE);
        return found != 0;
    };
    // The last one says that all are there.
    return find(below.malloc, "malloc") && find(below.calloc, "calloc") && find(below.realloc, "realloc") &&
           find(below.memalign, "memalign") && find(below.usable_size, "malloc_usable_size") &&
           find(below.free, "free");
}

#if defined(RTLD_DEEPBIND) && defined(__GLIBC__) && defined(__x86_64__) && __GLIBC_PREREQ(2, 34)

namespace {

struct bound_function {
    const char* name;
    std::uintptr_t address;
};

template <class Function>
bound_function bound(const char* name, Function* function) noexcept {
    return {name, reinterpret_cast<std::uintptr_t>(function)};
}

/// The address of this library's function of that name; 0: it has none.
std::uintptr_t own_function(const char* name) noexcept {
    const bound_function functions[] = {bound("malloc", &malloc),
                                        bound("free", &free),
                                        bound("calloc", &calloc),
                                        bound("realloc", &realloc),
                                        bound("reallocarray", &reallocarray),
                                        bound("posix_memalign", &posix_memalign),
                                        bound("aligned_alloc", &aligned_alloc),
                                        bound("memalign", &memalign),
                                        bound("valloc", &valloc),
                                        bound("pvalloc", &pvalloc),
                                        bound("cfree", &cfree),
                                        bound("malloc_usable_size", &malloc_usable_size)};
    for (const bound_function& each : functions) {
        if (std::strcmp(each.name, name) == 0) return each.address;
    }
    return 0;
}

/// The tables of a loaded file that relocations need. glibc has put their addresses in place.
struct dynamic_tables {
    const ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
    const ElfW(Rela) * relocations[2] = {};
    std::size_t bytes[2] = {};

    explicit dynamic_tables(const ElfW(Dyn) * entry) noexcept {
        for (; entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_JMPREL) relocations[0] = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_PLTRELSZ) bytes[0] = entry->d_un.d_val;
            if (entry->d_tag == DT_RELA) relocations[1] = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_RELASZ) bytes[1] = entry->d_un.d_val;
        }
    }
};

void write_slot(std::uintptr_t slot, std::uintptr_t address, bool is_read_only) noexcept {
    const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    void* const page = reinterpret_cast<void*>(slot & ~(page_bytes - 1));
    if (is_read_only && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return;
    __atomic_store_n(reinterpret_cast<std::uintptr_t*>(slot), address, __ATOMIC_RELAXED);
    if (is_read_only) mprotect(page, page_bytes, PROT_READ);
}

/// Binds what a loaded file takes of malloc's family from elsewhere to this library. All files but those that were
/// loaded with RTLD_DEEPBIND are bound so already.
int bind_to_this_library(dl_phdr_info* of, std::size_t, void*) noexcept {
    const ElfW(Phdr)* dynamic = nullptr;
    const ElfW(Phdr)* read_only = nullptr;
    for (int i = 0; i < of->dlpi_phnum; ++i) {
        if (of->dlpi_phdr[i].p_type == PT_DYNAMIC) dynamic = of->dlpi_phdr + i;
        if (of->dlpi_phdr[i].p_type == PT_GNU_RELRO) read_only = of->dlpi_phdr + i;
    }
    // The system's own file has no name, nor has the program.
    if (dynamic == nullptr || of->dlpi_name == nullptr || *of->dlpi_name == 0) return 0;
    const dynamic_tables tables{reinterpret_cast<const ElfW(Dyn)*>(of->dlpi_addr + dynamic->p_vaddr)};
    if (tables.symbols == nullptr || tables.names == nullptr ||
        reinterpret_cast<std::uintptr_t>(tables.symbols) < of->dlpi_addr)
        return 0;
    for (int table = 0; table < 2; ++table) {
        const ElfW(Rela)* const begin = tables.relocations[table];
        const ElfW(Rela)* const end = begin + tables.bytes[table] / sizeof(ElfW(Rela));
        for (const ElfW(Rela)* each = begin; begin != nullptr && each != end; ++each) {
            const auto type = ELF64_R_TYPE(each->r_info);
            if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
            const ElfW(Sym)& symbol = tables.symbols[ELF64_R_SYM(each->r_info)];
            if (symbol.st_shndx != SHN_UNDEF) continue;  // a malloc of its own
            const std::uintptr_t own = own_function(tables.names + symbol.st_name);
            const std::uintptr_t slot = of->dlpi_addr + each->r_offset;
            if (own == 0 || __atomic_load_n(reinterpret_cast<std::uintptr_t*>(slot), __ATOMIC_RELAXED) == own) continue;
            const bool is_in_relro = read_only != nullptr && each->r_offset >= read_only->p_vaddr &&
                                     each->r_offset < read_only->p_vaddr + read_only->p_memsz;
            write_slot(slot, own, is_in_relro);
        }
    }
    return 0;
}

using opening = void* (*)(const char*, int);

[[gnu::noinline, gnu::cold]] void* open_bound_deeply(opening open, const char* file, int mode) noexcept {
    // Before its constructors run.
    find_malloc_below();
    void* const opened = open(file, mode);
    if (opened != nullptr) dl_iterate_phdr(&bind_to_this_library, nullptr);
    return opened;
}

}  // namespace

// The C library looks for the file where the caller's own are, so it has to be called by a jump.
extern "C" ACRE_EXPORTED void* dlopen(const char* file, int mode) {
    static opening found = nullptr;
    opening open = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (open == nullptr) {
        open = reinterpret_cast<opening>(dlsym(RTLD_NEXT, "dlopen"));
        __atomic_store_n(&found, open, __ATOMIC_RELAXED);
    }
    if ((mode & RTLD_DEEPBIND) != 0) [[unlikely]] {
        if (void* opened = open_bound_deeply(open, file, mode)) return opened;
    }
    return open(file, mode);
}

#endif

}  // namespace acre::preload
