#include "allocator_family.hpp"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include <atomic>
#include <cstring>

#include "../raw_log.hpp"
#include "thread_words.hpp"

extern "C" {
// glibc's own malloc under other names, which a static program has as well.
[[gnu::weak]] void* __libc_malloc(std::size_t);
[[gnu::weak]] void* __libc_calloc(std::size_t, std::size_t);
[[gnu::weak]] void* __libc_realloc(void*, std::size_t);
[[gnu::weak]] void* __libc_memalign(std::size_t, std::size_t);
[[gnu::weak]] void* __libc_valloc(std::size_t);
[[gnu::weak]] void* __libc_pvalloc(std::size_t);
[[gnu::weak]] void __libc_free(void*);
}

namespace acre::recorder {
namespace {

/// Serves the allocations of the dynamic loader while it looks up the family. No block is used twice.
class early_area {
public:
    void* take(std::size_t alignment, std::size_t size) {
        const std::size_t aligned = alignment > sizeof(head) ? alignment : sizeof(head);
        const std::size_t room = size + aligned + sizeof(head);
        if (size > sizeof bytes_ || aligned > sizeof bytes_) return nullptr;
        const std::size_t begin = used_.fetch_add(room, std::memory_order_relaxed);
        if (begin + room > sizeof bytes_) return nullptr;
        const auto first = reinterpret_cast<std::uintptr_t>(bytes_ + begin + sizeof(head));
        char* block = bytes_ + begin + sizeof(head) + ((0 - first) & (aligned - 1));
        reinterpret_cast<head*>(block)[-1].size = size;
        live_.fetch_add(1, std::memory_order_relaxed);
        return block;
    }

    void give_back() { live_.fetch_sub(1, std::memory_order_relaxed); }
    bool is_used() const { return live_.load(std::memory_order_relaxed) != 0; }
    bool has(const void* p) const {
        return static_cast<const char*>(p) - bytes_ < std::ptrdiff_t{sizeof bytes_} && p >= bytes_;
    }
    static std::size_t size_of(const void* p) { return static_cast<const head*>(p)[-1].size; }

private:
    struct alignas(16) head {
        std::size_t size;
    };

    alignas(16) char bytes_[32 * 1024] = {};
    std::atomic<std::size_t> used_;
    std::atomic<std::size_t> live_;
};

constinit early_area area;
std::atomic<bool> searched;
bool found_all;

// The functions before the family is known, and while the dynamic loader looks for it.

void* first_malloc(std::size_t size) {
    find_allocator_family();
    return found_all ? family.malloc(size) : area.take(1, size);
}

void* first_calloc(std::size_t count, std::size_t size) {
    find_allocator_family();
    std::size_t bytes = 0;
    if (found_all) return family.calloc(count, size);
    return __builtin_mul_overflow(count, size, &bytes) ? nullptr : area.take(1, bytes);
}

void first_free(void* p) {
    if (area.has(p)) return area.give_back();
    find_allocator_family();
    if (found_all) family.free(p);
}

void* moved_from_area(void* p, std::size_t size) {
    void* moved = family.malloc(size);
    if (moved == nullptr) return nullptr;
    const std::size_t before = early_area::size_of(p);
    std::memcpy(moved, p, before < size ? before : size);
    area.give_back();
    return moved;
}

void* first_realloc(void* p, std::size_t size) {
    if (area.has(p)) return moved_from_area(p, size);
    find_allocator_family();
    if (found_all) return family.realloc(p, size);
    return p == nullptr ? area.take(1, size) : nullptr;
}

void* first_memalign(std::size_t alignment, std::size_t size) {
    find_allocator_family();
    return found_all ? family.memalign(alignment, size) : area.take(alignment, size);
}

void* first_aligned_alloc(std::size_t alignment, std::size_t size) {
    find_allocator_family();
    return found_all ? family.aligned_alloc(alignment, size) : area.take(alignment, size);
}

int first_posix_memalign(void** out, std::size_t alignment, std::size_t size) {
    find_allocator_family();
    if (found_all) return family.posix_memalign(out, alignment, size);
    *out = area.take(alignment, size);
    return *out != nullptr ? 0 : ENOMEM;
}

void* first_valloc(std::size_t size) {
    find_allocator_family();
    return found_all ? family.valloc(size) : area.take(raw::page_bytes, size);
}

void* first_pvalloc(std::size_t size) {
    find_allocator_family();
    return found_all ? family.pvalloc(size) : area.take(raw::page_bytes, size);
}

void* no_new_plain(std::size_t) {
    return nullptr;
}

void* no_new_aligned(std::size_t, std::size_t) {
    return nullptr;
}

void let_operators_call_malloc(allocator_family& of) {
    operators_are = operator_use::as_malloc;
    of.new_plain = of.malloc;
    of.new_aligned = of.memalign;
}

// The functions if the dynamic loader has kept a block of the area.

allocator_family unguarded;

void guarded_free(void* p) {
    if (area.has(p)) return area.give_back();
    unguarded.free(p);
}

void* guarded_realloc(void* p, std::size_t size) {
    return area.has(p) ? moved_from_area(p, size) : unguarded.realloc(p, size);
}

// In a static program the names of the C library's functions are those of the hooks.

int memalign_as_posix(void** out, std::size_t alignment, std::size_t size) {
    if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    const int error = errno;
    void* p = __libc_memalign(alignment, size);
    errno = error;
    if (p == nullptr) return ENOMEM;
    *out = p;
    return 0;
}

void find_static_family() {
    family.malloc = __libc_malloc;
    family.calloc = __libc_calloc;
    family.realloc = __libc_realloc;
    family.free = __libc_free;
    family.memalign = __libc_memalign;
    family.aligned_alloc = __libc_memalign;
    family.posix_memalign = memalign_as_posix;
    family.valloc = __libc_valloc;
    family.pvalloc = __libc_pvalloc;
    malloc_is_the_c_librarys = true;
    let_operators_call_malloc(family);
}

constexpr std::size_t operator_count = static_cast<std::size_t>(operator_form::end);

constexpr const char* operator_names[operator_count] = {
    "_Znwm",
    "_Znam",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdaPvRKSt9nothrow_t",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
    "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t",
};

void* operators[operator_count];

/// The addresses of a loaded program or library.
struct object_range {
    std::uintptr_t begin;
    std::uintptr_t end;

    bool has(std::uintptr_t address) const { return address >= begin && address < end; }
    bool has(const void* p) const { return has(reinterpret_cast<std::uintptr_t>(p)); }
};

object_range range_of(const dl_phdr_info& object) {
    object_range range{~std::uintptr_t{0}, 0};
    for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object.dlpi_phdr[i];
        if (segment.p_type != PT_LOAD) continue;
        const std::uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
        if (begin < range.begin) range.begin = begin;
        if (begin + segment.p_memsz > range.end) range.end = begin + segment.p_memsz;
    }
    return range;
}

struct loaded_object {
    object_range range;
    const char* path;
};

/// The loaded object around an address; empty if there is none.
loaded_object object_around(const void* p) {
    struct search {
        const void* p;
        loaded_object found;
    } state{p, {{}, ""}};
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* data) {
            auto& wanted = *static_cast<search*>(data);
            const object_range range = range_of(*object);
            if (!range.has(wanted.p)) return 0;
            wanted.found = {range, object->dlpi_name};
            return 1;
        },
        &state);
    return state.found;
}

object_range program_range() {
    object_range program{};
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* data) {
            *static_cast<object_range*>(data) = range_of(*object);
            return 1;  // the program comes first
        },
        &program);
    return program;
}

/// The dynamic symbols of a loaded object.
class object_symbols {
public:
    explicit object_symbols(const dl_phdr_info& object) : base_(object.dlpi_addr) {
        for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
            if (object.dlpi_phdr[i].p_type == PT_DYNAMIC) read(base_ + object.dlpi_phdr[i].p_vaddr);
        }
    }

    /// The address that the object gives to a name; null: none.
    void* find(const char* name) const {
        const std::uint32_t symbol = symbols_ == nullptr || names_ == nullptr ? 0
                                     : gnu_hash_ != nullptr                   ? find_by_hash(name)
                                     : hash_ != nullptr                       ? find_by_search(name)
                                                                              : 0;
        return symbol == 0 ? nullptr : reinterpret_cast<void*>(base_ + symbols_[symbol].st_value);
    }

    /// Whether the object is linked with a library of that path.
    bool needs(const char* path) const {
        const char* slash = std::strrchr(path, '/');
        const char* file = slash != nullptr ? slash + 1 : path;
        for (const auto* entry = dynamic_; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_NEEDED && std::strcmp(names_ + entry->d_un.d_val, file) == 0) return true;
        }
        return false;
    }

private:
    void read(std::uintptr_t dynamic) {
        dynamic_ = reinterpret_cast<const ElfW(Dyn)*>(dynamic);
        for (const auto* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_SYMTAB) symbols_ = at<ElfW(Sym)>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_STRTAB) names_ = at<char>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_GNU_HASH) gnu_hash_ = at<std::uint32_t>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_HASH) hash_ = at<std::uint32_t>(entry->d_un.d_ptr);
        }
    }

    /// The loader has made these addresses absolute, except in the kernel's object.
    template <typename T>
    const T* at(std::uintptr_t address) const {
        return reinterpret_cast<const T*>(address < base_ ? base_ + address : address);
    }

    bool is_definition(std::uint32_t symbol, const char* name) const {
        return symbols_[symbol].st_shndx != SHN_UNDEF && std::strcmp(names_ + symbols_[symbol].st_name, name) == 0;
    }

    std::uint32_t find_by_hash(const char* name) const {
        std::uint32_t hash = 5381;
        for (const char* c = name; *c != 0; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
        const std::uint32_t buckets = gnu_hash_[0];
        const std::uint32_t first = gnu_hash_[1];
        const std::uint32_t* bucket = gnu_hash_ + 4 + gnu_hash_[2] * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
        const std::uint32_t* chains = bucket + buckets;
        std::uint32_t symbol = buckets == 0 ? 0 : bucket[hash % buckets];
        if (symbol < first) return 0;
        for (;; ++symbol) {
            const std::uint32_t each = chains[symbol - first];
            if ((each | 1) == (hash | 1) && is_definition(symbol, name)) return symbol;
            if ((each & 1) != 0) return 0;
        }
    }

    std::uint32_t find_by_search(const char* name) const {
        for (std::uint32_t symbol = 0; symbol < hash_[1]; ++symbol) {
            if (is_definition(symbol, name)) return symbol;
        }
        return 0;
    }

    std::uintptr_t base_;
    const ElfW(Dyn) * dynamic_ = nullptr;
    const ElfW(Sym) * symbols_ = nullptr;
    const char* names_ = nullptr;
    const std::uint32_t* gnu_hash_ = nullptr;
    const std::uint32_t* hash_ = nullptr;
};

/// Whether an object other than the recorder's defines a name. To look up a name that nothing defines would allocate,
/// and change what dlerror() says.
bool is_defined(const char* name) {
    struct search {
        const char* name;
        bool found;
    } state{name, false};
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* data) {
            auto& wanted = *static_cast<search*>(data);
            if (range_of(*object).has(&area)) return 0;
            wanted.found = object_symbols{*object}.find(wanted.name) != nullptr;
            return wanted.found ? 1 : 0;
        },
        &state);
    return state.found;
}

void* next_of_name(const char* name) {
    return is_defined(name) ? dlsym(RTLD_NEXT, name) : nullptr;
}

/// Finds out who defines what, while the dynamic loader's allocations are served from the area.
class family_search {
public:
    void run() {
        find_functions();
        find_operators();
        const loaded_object with_malloc = object_around(reinterpret_cast<void*>(found_.malloc));
        path_ = with_malloc.path;
        malloc_is_the_c_librarys = with_malloc.range.has(reinterpret_cast<void*>(&::getauxval));
        own_malloc_ = first_is_in_program("malloc");
        operators_are = use_of_operators();
        publish();
    }

    static bool own_malloc() { return own_malloc_; }
    static const char* path() { return path_ != nullptr ? path_ : ""; }

private:
    template <typename Function>
    static void find(Function*& into, const char* name) {
        into = reinterpret_cast<Function*>(next_of_name(name));
    }

    void find_functions() {
        find(found_.malloc, "malloc");
        find(found_.calloc, "calloc");
        find(found_.realloc, "realloc");
        find(found_.free, "free");
        find(found_.memalign, "memalign");
        find(found_.aligned_alloc, "aligned_alloc");
        find(found_.posix_memalign, "posix_memalign");
        find(found_.valloc, "valloc");
        find(found_.pvalloc, "pvalloc");
        find(found_.reallocarray, "reallocarray");
        find(found_.free_sized, "free_sized");
        find(found_.free_aligned_sized, "free_aligned_sized");
        find(found_.mallocx, "mallocx");
        find(found_.rallocx, "rallocx");
        find(found_.xallocx, "xallocx");
        find(found_.sallocx, "sallocx");
        find(found_.dallocx, "dallocx");
        find(found_.sdallocx, "sdallocx");
    }

    void find_operators() {
        library_ = object_around(next_of_name("_ZSt15get_new_handlerv")).range;
        for (std::size_t i = 0; i < operator_count; ++i) operators[i] = next_of_name(operator_names[i]);
    }

    /// The first definition in the program's order is the recorder's. In a program that takes a function's address the
    /// first one may be an entry for that address, without a definition.
    bool first_is_own(const char* name) const {
        const void* first = dlsym(RTLD_DEFAULT, name);
        return own_.has(first) || (program_.has(first) && !is_definition(first));
    }

    bool first_is_in_program(const char* name) const {
        return !first_is_own(name) && program_.has(dlsym(RTLD_DEFAULT, name));
    }

    static bool is_definition(const void* p) {
        Dl_info in{};
        const ElfW(Sym)* symbol = nullptr;
        const int known = dladdr1(p, &in, const_cast<void**>(reinterpret_cast<const void**>(&symbol)), RTLD_DL_SYMENT);
        return known == 0 || symbol == nullptr || symbol->st_shndx != SHN_UNDEF;
    }

    operator_use use_of_operators() const {
        if (!first_is_own("malloc") || !first_is_own("free")) return operator_use::not_followed;
        for (const char* each : operator_names) {
            if (!first_is_own(each)) return operator_use::not_followed;
        }
        for (const void* each : operators) {
            if (each != nullptr && !library_.has(each)) return operator_use::forwarded;
        }
        return operator_use::as_malloc;
    }

    void publish() {
        found_.new_plain = no_new_plain;
        found_.new_aligned = no_new_aligned;
        if (operators_are == operator_use::as_malloc) let_operators_call_malloc(found_);
        if (area.is_used()) {
            unguarded = found_;
            found_.free = guarded_free;
            found_.realloc = guarded_realloc;
        }
        family = found_;
    }

    static inline bool own_malloc_;
    static inline const char* path_;

    allocator_family found_{};
    object_range library_{};  // with the C++ library's operators
    const object_range own_ = object_around(&area).range;
    const object_range program_ = program_range();
};

}  // namespace

constinit allocator_family family{.malloc = first_malloc,
                                  .calloc = first_calloc,
                                  .realloc = first_realloc,
                                  .free = first_free,
                                  .memalign = first_memalign,
                                  .aligned_alloc = first_aligned_alloc,
                                  .posix_memalign = first_posix_memalign,
                                  .valloc = first_valloc,
                                  .pvalloc = first_pvalloc,
                                  .new_plain = no_new_plain,
                                  .new_aligned = no_new_aligned};

constinit operator_use operators_are = operator_use::unknown;
constinit bool malloc_is_the_c_librarys = false;

void* next_operator(operator_form form) {
    return operators[static_cast<std::size_t>(form)];
}

const char* name_of_operator(operator_form form) {
    return operator_names[static_cast<std::size_t>(form)];
}

void find_allocator_family() {
    if (searched.load(std::memory_order_relaxed) || searched.exchange(true)) return;
    const own_calls marked;
    const int error = errno;
    if (is_static_program()) {
        find_static_family();
    } else {
        family_search{}.run();
    }
    found_all = true;
    errno = error;
}

bool program_has_own_malloc() {
    return family_search::own_malloc();
}

const char* path_of_allocator() {
    return family_search::path();
}

void* definition_for_caller(std::uintptr_t return_address, const char* name) {
    if (is_static_program()) return nullptr;
    struct search {
        const void* caller;
        const char* name;
        object_symbols symbols_of_caller;
        void* found;
    } state{reinterpret_cast<void*>(return_address), name, object_symbols{{}}, nullptr};
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* data) {
            auto& wanted = *static_cast<search*>(data);
            if (!range_of(*object).has(wanted.caller)) return 0;
            wanted.symbols_of_caller = object_symbols{*object};
            wanted.found = wanted.symbols_of_caller.find(wanted.name);
            return 1;
        },
        &state);
    if (state.found != nullptr) return state.found;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* data) {
            auto& wanted = *static_cast<search*>(data);
            if (!wanted.symbols_of_caller.needs(object->dlpi_name)) return 0;
            wanted.found = object_symbols{*object}.find(wanted.name);
            return wanted.found != nullptr ? 1 : 0;
        },
        &state);
    return object_around(&area).range.has(state.found) ? nullptr : state.found;
}

bool is_static_program() {
    const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR));
    const std::size_t count = getauxval(AT_PHNUM);
    for (std::size_t i = 0; segments != nullptr && i < count; ++i) {
        if (segments[i].p_type == PT_INTERP) return false;
    }
    return true;
}

}  // namespace acre::recorder
