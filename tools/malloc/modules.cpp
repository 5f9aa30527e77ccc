// Modules that are loaded with RTLD_DEEPBIND: they would take the C library's malloc, while the program frees their
// blocks here, and they free the program's there, in their constructors already. Before the first of them is loaded,
// the C library's table of symbols is changed: whoever looks for its malloc finds this library's.
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

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

#if defined(RTLD_DEEPBIND) && defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)

namespace {

struct own_function {
    const char* name;
    std::uintptr_t address;
};

template <class Function>
own_function own(const char* name, Function* function) noexcept {
    return {name, reinterpret_cast<std::uintptr_t>(function)};
}

/// Lets a symbol of a file that lies at `base` lead to `address`. Other threads read the page, and may run code in it.
void redirect(const ElfW(Sym) & symbol, std::uintptr_t base, std::uintptr_t address, int protection) noexcept {
    const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto value = reinterpret_cast<std::uintptr_t>(&symbol.st_value);
    void* const page = reinterpret_cast<void*>(value & ~(page_bytes - 1));
    if (mprotect(page, page_bytes, protection | PROT_WRITE) != 0) return;
    // A sum with the base, which wraps.
    __atomic_store_n(reinterpret_cast<std::uintptr_t*>(value), address - base, __ATOMIC_RELAXED);
    mprotect(page, page_bytes, protection);
}

/// Called for each loaded file; does it in the C library's.
int redirect_in_c_library(dl_phdr_info* of, std::size_t, void*) noexcept {
    // The segment that an address lies in.
    const auto segment_of = [of](auto address) -> const ElfW(Phdr) * {
        const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - of->dlpi_addr;
        for (int i = 0; i < of->dlpi_phnum; ++i) {
            const ElfW(Phdr)& segment = of->dlpi_phdr[i];
            if (segment.p_type == PT_LOAD && offset - segment.p_vaddr < segment.p_memsz) return &segment;
        }
        return nullptr;
    };
    if (segment_of(&gnu_get_libc_version) == nullptr) return 0;
    const ElfW(Sym)* symbol = nullptr;
    const char* names = nullptr;
    for (int i = 0; i < of->dlpi_phnum; ++i) {
        if (of->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        // glibc has put the addresses of tables in place.
        const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(of->dlpi_addr + of->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_SYMTAB) symbol = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
        }
    }
    const ElfW(Phdr)* const of_symbols = segment_of(symbol);
    if (of_symbols == nullptr || segment_of(names) == nullptr) return 1;
    const int protection = PROT_READ | ((of_symbols->p_flags & PF_X) != 0 ? PROT_EXEC : 0);
    const own_function functions[] = {own("malloc", &malloc),
                                      own("free", &free),
                                      own("calloc", &calloc),
                                      own("realloc", &realloc),
                                      own("reallocarray", &reallocarray),
                                      own("posix_memalign", &posix_memalign),
                                      own("aligned_alloc", &aligned_alloc),
                                      own("memalign", &memalign),
                                      own("valloc", &valloc),
                                      own("pvalloc", &pvalloc),
                                      own("cfree", &cfree),
                                      own("malloc_usable_size", &malloc_usable_size)};
    // The names follow the symbols.
    for (; reinterpret_cast<std::uintptr_t>(symbol + 1) <= reinterpret_cast<std::uintptr_t>(names); ++symbol) {
        if (symbol->st_shndx == SHN_UNDEF) continue;
        for (const own_function& each : functions) {
            if (std::strcmp(each.name, names + symbol->st_name) == 0)
                redirect(*symbol, of->dlpi_addr, each.address, protection);
        }
    }
    return 1;
}

[[gnu::noinline, gnu::cold]] void before_deep_binding() noexcept {
    static bool done = false;
    if (__atomic_load_n(&done, __ATOMIC_ACQUIRE)) return;
    // First: the malloc below is the C library's own.
    find_malloc_below();
    dl_iterate_phdr(&redirect_in_c_library, nullptr);
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
}

using opening = void* (*)(const char*, int);

}  // namespace

// The C library looks for the file where the caller's own are, so it has to be called by a jump.
extern "C" ACRE_EXPORTED void* dlopen(const char* file, int mode) {
    static opening found = nullptr;
    opening open = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (open == nullptr) {
        open = reinterpret_cast<opening>(dlsym(RTLD_NEXT, "dlopen"));
        __atomic_store_n(&found, open, __ATOMIC_RELAXED);
    }
    if ((mode & RTLD_DEEPBIND) != 0) [[unlikely]]
        before_deep_binding();
    return open(file, mode);
}

#endif

}  // namespace acre::preload
