// Routes requests as the plan says that `acre run --plan` handed over (docs/plan.md).
//
// Whatever the plan says, each request gets storage of the heap, and each free finds by the address alone what to do.
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <acre/core/locks.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "heap.hpp"

namespace acre::preload {

namespace {

using acre::detail::counted_cursors;
using acre::detail::heap_classes;

struct plan_state {
    const plan_table* table = nullptr;
    acre::spin_lock opening;         // guards classes that are opened
    acre::spin_lock resolving;       // guards the table of sites
    unsigned long long changes = 0;  // modules loaded and unloaded since the program began
    unsigned slow_requests = 0;
};
constinit plan_state plan;

std::size_t padded(std::size_t bytes) noexcept {
    return (bytes + 3) / 4 * 4;
}

/// The plan's module with the build id that these notes hold; null: none.
const plan_table::module_entry* module_in_notes(const char* notes, std::size_t bytes) noexcept {
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        std::memcpy(&note, notes, sizeof note);
        const std::size_t content = sizeof note + padded(note.n_namesz);
        const std::size_t length = content + padded(note.n_descsz);
        if (length > bytes) return nullptr;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + sizeof note, "GNU", 4) == 0) {
            for (std::uint32_t i = 0; i < plan.table->modules; ++i) {
                const plan_table::module_entry& each = plan.table->first_module()[i];
                if (each.build_id_bytes == note.n_descsz &&
                    std::memcmp(each.build_id, notes + content, note.n_descsz) == 0)
                    return &each;
            }
            return nullptr;
        }
        notes += length;
        bytes -= length;
    }
    return nullptr;
}

int add_sites_of(dl_phdr_info* of, std::size_t, void*) noexcept {
    const plan_table::module_entry* found = nullptr;
    for (int i = 0; i < of->dlpi_phnum && found == nullptr; ++i) {
        const ElfW(Phdr)& segment = of->dlpi_phdr[i];
        if (segment.p_type == PT_NOTE)
            found = module_in_notes(reinterpret_cast<const char*>(of->dlpi_addr + segment.p_vaddr), segment.p_memsz);
    }
    if (found == nullptr) return 0;
    for (std::uint32_t i = 0; i < found->sites; ++i) {
        const plan_table::site_entry& site = plan.table->first_site()[found->first_site + i];
        const std::uintptr_t address = of->dlpi_addr + static_cast<std::uintptr_t>(site.offset);
        the_sites.add(site.within == 0 ? address : site_table::caller_key(address, site.within), site.group);
        __atomic_store_n(&the_groups[site.group].address, address, __ATOMIC_RELAXED);
    }
    return 0;
}

int note_changes(dl_phdr_info* of, std::size_t size, void* into) noexcept {
    if (size >= offsetof(dl_phdr_info, dlpi_subs) + sizeof of->dlpi_subs)
        *static_cast<unsigned long long*>(into) = of->dlpi_adds + of->dlpi_subs;
    return 1;
}

void resolve_sites() noexcept {
    // Another thread that resolves may hold a lock of the dynamic linker that this one waits for: one is enough.
    if (!plan.resolving.try_lock()) return;
    const std::lock_guard guard{plan.resolving, std::adopt_lock};
    unsigned long long changes = 0;
    dl_iterate_phdr(&note_changes, &changes);
    if (changes == plan.changes) return;
    plan.changes = changes;
    the_sites.clear(plan.table->sites);
    dl_iterate_phdr(&add_sites_of, nullptr);
}

const plan_table* handed_over() noexcept {
    const char* value = std::getenv(plan_table::variable);
    if (value == nullptr) return nullptr;
    int descriptor = 0;
    for (; *value >= '0' && *value <= '9' && descriptor < 1'000'000; ++value)
        descriptor = descriptor * 10 + (*value - '0');
    struct stat status{};
    if (*value != 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0)
        return nullptr;
    const auto length = static_cast<std::size_t>(status.st_size);
    if (length < sizeof(plan_table) || length > std::size_t{16} << 20) return nullptr;
    void* map = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (map == MAP_FAILED) return nullptr;
    if (plan_table::is_sound(map, length)) return static_cast<const plan_table*>(map);
    munmap(map, length);
    return nullptr;
}

[[gnu::constructor]] void begin_plan() noexcept {
    plan.table = handed_over();
    if (plan.table == nullptr) return;
    unsigned counted = 0;
    for (unsigned group = 1; group <= plan_table::max_groups; ++group) {
        if (plan.table->policies[group] == plan_policy::leave) continue;
        group_state& each = the_groups[group];
        each.policy = plan.table->policies[group];
        // A wrapper's requests that are not told apart go to no other wrapper.
        const auto otherwise = static_cast<std::uint8_t>(plan.table->wrappers[group].otherwise);
        if (plan.table->policies[otherwise] != plan_policy::caller) each.otherwise = otherwise;
        each.frame_words = plan.table->wrappers[group].frame_bytes / sizeof(void*);
        if (each.policy != plan_policy::counted) continue;
        if (counted == counted_cursors::count) {
            each.policy = plan_policy::leave;
        } else {
            each.counted = static_cast<std::uint8_t>(counted++);
        }
    }
    if (plan.table->leaves_to_malloc_below != 0 && find_malloc_below()) the_rest = &below;
    resolve_sites();
}

std::size_t class_of_slots(const group_state& of, std::size_t size_class) noexcept {
    return __atomic_load_n(of.by_class + size_class, __ATOMIC_RELAXED);
}

void set_class_of_slots(group_state& of, std::size_t size_class, std::size_t number) noexcept {
    const auto byte = static_cast<std::uint8_t>(number);
    __atomic_store_n(of.by_class + size_class, byte, __ATOMIC_RELAXED);
    for (std::size_t entry = 0; entry < heap_classes::fine_entries; ++entry) {
        if (heap_classes::by_entry[entry] == size_class)
            __atomic_store_n(of.by_small_entry + entry, byte, __ATOMIC_RELAXED);
    }
}

/// The class of a group's slots of one size, which gets slabs of its own when it is first asked for. 0 where no more
/// classes can be opened, and another malloc serves what is not planned.
[[gnu::noinline]] std::size_t open_class(group_state& of, std::size_t size_class) noexcept {
    const std::lock_guard guard{plan.opening};
    if (const std::size_t number = class_of_slots(of, size_class)) return number;
    const std::size_t opened = the_heap.open_private_class(size_class);
    if (opened == 0 && serves_the_rest() != nullptr) return 0;
    const std::size_t number = opened != 0 ? opened : size_class;
    set_class_of_slots(of, size_class, number);
    return number;
}

/// Leaves all further requests of a group to the malloc that serves what is not planned.
void leave(group_state& of) noexcept {
    plan_policy policy = plan_policy::leave;
    __atomic_store(&of.policy, &policy, __ATOMIC_RELAXED);
    for (std::size_t size_class = 1; size_class < heap_classes::count; ++size_class) {
        if (class_of_slots(of, size_class) != 0) set_class_of_slots(of, size_class, 0);
    }
}

/// A slot where the calling thread has none at hand; null when there is none.
[[gnu::noinline]] void* take_slot_slow(group_state& of, std::size_t size_class) noexcept {
    before_slow_request();
    std::size_t number = class_of_slots(of, size_class);
    if (number == 0) number = open_class(of, size_class);
    if (number != size_class && number != 0 && the_heap.has_joined(number)) {
        // Its slots are those of the size class now.
        number = size_class;
        set_class_of_slots(of, size_class, number);
    }
    if (number == 0) {
        leave(of);
        return nullptr;
    }
    return the_heap.take_of(number);
}

}  // namespace

void before_slow_request() noexcept {
    if (plan.table == nullptr) return;
    // One of many: asking the dynamic linker takes about as long as ten requests.
    if (__atomic_add_fetch(&plan.slow_requests, 1, __ATOMIC_RELAXED) % 32 == 0) resolve_sites();
}

void* take_planned(unsigned group, std::size_t bytes) noexcept {
    group_state& of = the_groups[group];
    if (of.policy == plan_policy::counted)
        return bytes <= acre::detail::counted_block::largest ? the_heap.take_counted(of.counted, bytes) : nullptr;
    if (of.policy == plan_policy::leave) return nullptr;
    if (bytes > heap_classes::largest) return of.policy == plan_policy::heap ? the_heap.allocate(bytes) : nullptr;
    const std::size_t size_class = heap_classes::class_of(bytes);
    if (void* p = the_heap.take_of_at_once(class_of_slots(of, size_class))) return p;
    return take_slot_slow(of, size_class);
}

}  // namespace acre::preload
