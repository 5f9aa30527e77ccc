#include "fit_wording.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "text/text.hpp"

namespace acre::tool {

namespace {

constexpr double few = 0.01;              // of the objects
constexpr std::uint64_t much_larger = 4;  // times as large as the others

/// A size that all but a few of the objects stay below, if the largest are much larger; else 0.
std::uint64_t bulk_bytes(const census& of, std::uint64_t& beyond) {
    beyond = 0;
    std::uint64_t bound = 0;
    for (std::size_t i = census::size_classes; i-- > 1;) {
        const std::uint64_t more = beyond + of.objects_of_class[i];
        if (static_cast<double>(more) > static_cast<double>(of.objects) * few) {
            bound = i == census::size_classes - 1 ? 0 : std::uint64_t{1} << i;
            break;
        }
        beyond = more;
    }
    return beyond != 0 && bound != 0 && of.largest / much_larger >= bound ? bound : 0;
}

std::string site_text(const call_paths& paths, std::uint32_t stack) {
    return paths.site_text(paths.site(stack));
}

constexpr double max_outside_generations = 0.1;
constexpr const char* opening =
    "#include <acre/acre.hpp>\n"
    "using namespace acre::literals;\n";

std::string open_option(const acre::multi_arena_fit& pair) {
    return pair.open == 0 ? "" : fmt::format(", .open = {}", pair.open);
}

}  // namespace

std::vector<std::string> selection_notes(const census& of, const call_paths& paths) {
    std::vector<std::string> notes;
    if (of.threads > 1) {
        notes.push_back(fmt::format(
            "{} threads allocate: wrap one arena or multi_arena for all of them in acre::synchronized; --thread says "
            "what one thread needs for itself.",
            of.threads));
    }
    if (of.never_freed != 0) {
        notes.push_back(fmt::format("{} never freed in this run.", plural(of.never_freed, "object is", "objects are")));
    }
    std::uint64_t beyond = 0;
    if (const std::uint64_t bulk = bulk_bytes(of, beyond)) {
        notes.push_back(fmt::format(
            "Few are large: {} of {} bytes or more, up to {} bytes at {}. An arena must hold the largest; --sizes ..{} "
            "leaves them out.",
            plural(beyond, "allocation is", "allocations are"), count_text(bulk), count_text(of.largest),
            site_text(paths, of.largest_stack), bulk - 1));
    }
    return notes;
}

std::string impossible_text(const multi_arena_front& front, const call_paths& paths) {
    if (front.impossible.empty()) return {};
    return fmt::format("No arena size can serve these: {} ({}); --without leaves a site out.", front.impossible,
                       site_text(paths, front.culprit));
}

std::string blockers_text(const blocker_figures& of, const call_paths& paths) {
    if (of.sites.empty()) return {};
    std::vector<std::string> names;
    names.reserve(of.sites.size());
    for (const blocking_site& each : of.sites) {
        names.push_back(fmt::format("{} ({})", paths.site_text(each.site), plural(each.objects, "object", "objects")));
    }
    return fmt::format(
        "A few objects live long and keep arenas busy, those of {}. Without {}, {} of {} bytes would do instead of {}, "
        "and the smallest total is {} of {} bytes; --without leaves a site out.",
        fmt::join(names, ", "), of.sites.size() == 1 ? "that site" : "these sites",
        plural(of.without.arenas, "arena", "arenas"), count_text(of.without.bytes), count_text(of.with.arenas),
        plural(of.front.best().arenas, "arena", "arenas"), count_text(of.front.best().bytes));
}

std::string check_text(const size_check& of, const std::string& size, const std::string& one_less) {
    if (!of.failure.empty()) return fmt::format("Not checked by a replay: {}.", of.failure);
    if (!of.suffices)
        return fmt::format("A replay with {} ran out of memory, which is a defect of acre: please report it.", size);
    if (!of.one_less_fails) return fmt::format("Checked by a replay: {} served everything.", size);
    return fmt::format("Checked by a replay: {} served everything, {} did{}.", size, one_less,
                       *of.one_less_fails ? " not" : " too");
}

bool dies_together(const census& of) {
    const auto inside = static_cast<double>(of.generations.objects);
    return of.generations.count > 1 && inside >= static_cast<double>(of.objects) * (1 - max_outside_generations);
}

std::uint64_t arena_block_bytes(const census& of) {
    return dies_together(of) ? of.generations.max_bytes : of.arena_bytes;
}

std::string multi_arena_code(const acre::multi_arena_fit& pair, bool several_threads) {
    return fmt::format(
        "{}{} arenas{{{{.arenas = {}, .bytes = {}{}}}}};\n"
        "void* p = arenas.allocate(bytes);  // for malloc\n"
        "arenas.deallocate(p, bytes);       // for free\n"
        "// without a heap, in static storage: acre::inline_multi_arena<{}, {}{}>\n",
        opening, several_threads ? "acre::synchronized<acre::multi_arena>" : "acre::multi_arena", pair.arenas,
        bytes_literal(pair.bytes), open_option(pair), pair.arenas, pair.bytes,
        pair.open == 0 ? "" : fmt::format(", {}", pair.open));
}

std::string concurrent_multi_arena_code(const acre::multi_arena_fit& pair) {
    return fmt::format(
        "{}acre::concurrent_multi_arena arenas{{{{.arenas = {}, .bytes = {}}}}};\n"
        "void* p = arenas.allocate(bytes);  // for malloc, in any thread\n"
        "arenas.deallocate(p, bytes);       // for free, in any thread\n",
        opening, pair.arenas, bytes_literal(pair.bytes));
}

std::string arena_code(const census& of) {
    const std::uint64_t block = arena_block_bytes(of);
    return fmt::format(
        "{}acre::arena arena{{{{.first_block_bytes = {}, .max_block_bytes = {}}}}};\n"
        "void* p = arena.allocate(bytes);  // for malloc; no free\n{}",
        opening, bytes_literal(block), bytes_literal(std::max<std::uint64_t>(block, 1 << 20)),
        dies_together(of) ? "arena.reset();                    // where the last of it is freed now\n" : "");
}

std::string pool_code(const size_use& of) {
    const std::uint64_t slot = std::max<std::uint64_t>(of.bytes, 1);
    return fmt::format(
        "#include <acre/acre.hpp>\n"
        "acre::pool<{0}> slots{{{{.limit_bytes = acre::pool<{0}>::required_bytes({1})}}}};\n"
        "void* p = slots.allocate();  // for malloc; acre::object_pool<T> for objects of a type T\n"
        "slots.deallocate(p);         // for free\n",
        slot, of.peak_objects);
}

std::string typed_arena_code(const size_use& of) {
    return fmt::format(
        "#include <acre/acre.hpp>\n"
        "// T: the type of {} bytes\n"
        "static constinit acre::typed_arena<T, {}, acre::typed_arena_options{{.reuse = true}}> objects;\n"
        "T* p = objects.create();  // for new T\n"
        "objects.destroy(p);       // for delete p\n",
        of.bytes, of.peak_objects);
}

std::string realtime_heap_code(const realtime_fit& found, bool several_threads) {
    return fmt::format(
        "{}{} heap{{{{.arenas = {}, .bytes = {}}}}};\n"
        "void* p = heap.try_allocate(bytes);  // for malloc\n"
        "heap.deallocate(p, bytes);           // for free\n",
        opening,
        several_threads ? "acre::synchronized<acre::realtime_heap, acre::priority_inheritance_mutex>"
                        : "acre::realtime_heap",
        found.arenas, bytes_literal(found.arena_bytes));
}

}  // namespace acre::tool
