#include "symbols.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <gelf.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <unordered_map>
#include <utility>

#include "function_names.hpp"
#include "made_types.hpp"
#include "tail_calls.hpp"
#include "trace/call_paths.hpp"
#include "trace/function_name.hpp"

namespace acre::tool {

namespace {

/// The first bytes of the table: its version and the encodings of its fields (Linux Standard Base, "The .eh_frame_hdr
/// section").
constexpr std::array<unsigned char, 4> usual_form{1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
                                                  DW_EH_PE_datarel | DW_EH_PE_sdata4};

struct table_head {
    std::array<unsigned char, 4> form;
    std::int32_t frames;  // where .eh_frame is
    std::uint32_t entries;
};

/// Both relative to the table.
struct table_entry {
    std::int32_t function;
    std::int32_t description;
};

std::optional<GElf_Phdr> segment_of_table(Elf* file) {
    std::size_t segments = 0;
    if (elf_getphdrnum(file, &segments) != 0) return std::nullopt;
    for (int i = 0; i < static_cast<int>(segments); ++i) {
        GElf_Phdr segment;
        if (gelf_getphdr(file, i, &segment) != nullptr && segment.p_type == PT_GNU_EH_FRAME) return segment;
    }
    return std::nullopt;
}

/// Where the functions of a file begin, by its unwind information, which stripped files keep. So addresses in the same
/// function are known to be, although it has no name.
class function_starts {
public:
    function_starts() = default;

    /// Reads the table of .eh_frame_hdr. Empty if the file has none, or one in a form that linkers do not write.
    explicit function_starts(Elf* file) {
        const auto segment = segment_of_table(file);
        if (!segment) return;
        const Elf_Data* data =
            elf_getdata_rawchunk(file, static_cast<std::int64_t>(segment->p_offset), segment->p_filesz, ELF_T_BYTE);
        table_head head{};
        if (data == nullptr || data->d_buf == nullptr || data->d_size < sizeof head) return;
        const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
        std::memcpy(&head, bytes, sizeof head);
        if (head.form != usual_form) return;
        const std::size_t entries =
            std::min<std::size_t>(head.entries, (data->d_size - sizeof head) / sizeof(table_entry));
        starts_.reserve(entries);
        for (std::size_t i = 0; i < entries; ++i) {
            table_entry entry;
            std::memcpy(&entry, bytes + sizeof head + i * sizeof entry, sizeof entry);
            starts_.push_back(segment->p_vaddr + static_cast<std::uint64_t>(std::int64_t{entry.function}));
        }
        std::sort(starts_.begin(), starts_.end());
    }

    /// The start of the function that contains an address, both as in the file; O(log n).
    std::optional<std::uint64_t> find(std::uint64_t address) const {
        const auto after = std::upper_bound(starts_.begin(), starts_.end(), address);
        if (after == starts_.begin()) return std::nullopt;
        return *(after - 1);
    }

private:
    std::vector<std::uint64_t> starts_;  // ascending
};

std::string text(const char* of) {
    return of != nullptr ? of : std::string{};
}

bool is_gone(const std::string& path) {
    return ::access(path.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

/// Whether a file may be the one that was loaded, as far as that one is known.
bool may_be(const std::string& path, const raw::file_identity& loaded) {
    struct stat status{};
    if (loaded == raw::file_identity{} || ::stat(path.c_str(), &status) != 0) return true;
    return loaded == raw::file_identity{status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
                                        status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
}

std::string hexadecimal(const unsigned char* bytes, int count) {
    constexpr char digits[] = "0123456789abcdef";
    std::string result;
    for (int i = 0; i < count; ++i) {
        result += digits[bytes[i] >> 4];
        result += digits[bytes[i] & 15];
    }
    return result;
}

bool asks_debug_servers() {
    const char* servers = std::getenv("DEBUGINFOD_URLS");
    return servers != nullptr && *servers != '\0';
}

/// Whether a file of that name is in one of the folders where libdwfl searches for the debug information of a file.
bool may_have_debug_file(const std::filesystem::path& file, const std::string& name) {
    const std::filesystem::path system{"/usr/lib/debug"};
    std::error_code error;
    for (const auto& of : {file, std::filesystem::canonical(file, error)}) {
        const std::filesystem::path folder = of.parent_path();
        for (const auto& each : {folder, folder / ".debug", system, system / folder.relative_path()}) {
            if (std::filesystem::exists(each / name, error)) return true;
        }
    }
    return false;
}

/// libdwfl's own search, but it does not go on to debug servers where none are named: it would load the client's
/// library first, which needs 25 others.
int find_debug_information(Dwfl_Module* module, void** user_data, const char* module_name, Dwarf_Addr base,
                           const char* file, const char* link, GElf_Word checksum, char** found) {
    if (!asks_debug_servers()) {
        const int by_build_id =
            dwfl_build_id_find_debuginfo(module, user_data, module_name, base, file, link, checksum, found);
        if (by_build_id >= 0 || file == nullptr) return by_build_id;
        const std::filesystem::path path{file};
        if (!may_have_debug_file(path, link != nullptr ? link : path.filename().string() + ".debug")) return -1;
    }
    return dwfl_standard_find_debuginfo(module, user_data, module_name, base, file, link, checksum, found);
}

/// Separate debug information is searched in the system's standard places.
const Dwfl_Callbacks callbacks = {nullptr, find_debug_information, dwfl_offline_section_address, nullptr};

/// The C library and the loader: whoever reads a stack is not interested in their lines, and to decompress their debug
/// information takes as long as to convert half a million events. Their functions have names nevertheless.
bool is_c_library(const std::string& name) {
    return name.starts_with("libc.so.") || name.starts_with("ld-linux");
}

/// The symbols of a module by the addresses that they cover. libdwfl goes through all symbols for each address, which
/// takes seconds where a module has 100,000 of them.
class symbol_index {
public:
    explicit symbol_index(Dwfl_Module* module) {
        const int count = std::max(dwfl_module_getsymtab(module), 0);
        // Symbol 0 stands for none.
        for (int i = 1; i < count; ++i) add(module, i);
        std::sort(symbols_.begin(), symbols_.end(), [](const symbol& a, const symbol& b) {
            return std::pair{a.begin, a.number} < std::pair{b.begin, b.number};
        });
        std::uint64_t end = 0;
        for (symbol& each : symbols_) each.end_before = std::exchange(end, std::max(end, each.end));
    }

    /// The name of the symbol that covers an address, of several the one that begins last; null if there is none.
    const char* find(std::uint64_t address) const {
        auto at = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                   [](std::uint64_t wanted, const symbol& each) { return wanted < each.begin; });
        while (at != symbols_.begin()) {
            --at;
            if (address < at->end) return strongest(at)->name;
            if (address >= at->end_before) return nullptr;
        }
        return nullptr;
    }

    /// Whether a symbol begins at an address.
    bool begins_at(std::uint64_t address) const {
        return std::ranges::binary_search(symbols_, address, {}, &symbol::begin);
    }

private:
    struct symbol {
        std::uint64_t begin;
        std::uint64_t end;
        std::uint64_t end_before;  // of all symbols that come before this one
        const char* name;
        int number;
        int strength;
    };
    using position = std::vector<symbol>::const_iterator;

    /// Symbols without a size are left out, since the nearest symbol is often a wrong one.
    void add(Dwfl_Module* module, int number) {
        GElf_Sym found{};
        GElf_Addr address = 0;
        GElf_Word section = SHN_UNDEF;
        const char* name = dwfl_module_getsym_info(module, number, &found, &address, &section, nullptr, nullptr);
        const int type = GELF_ST_TYPE(found.st_info);
        const bool has_code_or_data = type != STT_SECTION && type != STT_FILE && type != STT_TLS;
        if (name == nullptr || *name == '\0' || section == SHN_UNDEF || found.st_size == 0 || !has_code_or_data) return;
        symbols_.push_back(
            {address, address + found.st_size, 0, name, number, strength_of(GELF_ST_BIND(found.st_info))});
    }

    static int strength_of(int binding) { return binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0; }

    /// Of the symbols that cover the same range, the first global one, else the first weak one, else the first.
    position strongest(position of) const {
        const auto first = std::lower_bound(symbols_.begin(), of, of->begin,
                                            [](const symbol& each, std::uint64_t begin) { return each.begin < begin; });
        return std::max_element(first, of + 1, [&](const symbol& a, const symbol& b) {
            return std::pair{a.end == of->end, a.strength} < std::pair{b.end == of->end, b.strength};
        });
    }

    std::vector<symbol> symbols_;  // ascending by their beginnings, then by their numbers
};

std::uint32_t attribute_number(Dwarf_Die& die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_formudata(dwarf_attr(&die, name, &attribute), &value) != 0) return 0;
    return static_cast<std::uint32_t>(std::min<Dwarf_Word>(value, 0xffff'ffff));
}

/// Entries of the debug information by the addresses that they cover.
class address_index {
public:
    void add(Dwarf_Die& entry) {
        Dwarf_Addr base = 0;
        Dwarf_Addr begin = 0;
        Dwarf_Addr end = 0;
        for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&entry, at, &base, &begin, &end)) > 0;) {
            ranges_.push_back({begin, end, dwarf_dieoffset(&entry)});
        }
    }

    /// Adds the functions of a unit, which lie in it, in its namespaces and classes, and in local classes of functions.
    void add_functions(Dwarf_Die& parent, int depth) {
        Dwarf_Die child;
        if (depth == 0 || dwarf_child(&parent, &child) != 0) return;
        do {
            switch (dwarf_tag(&child)) {
                case DW_TAG_subprogram:
                    add(child);
                    add_functions(child, depth - 1);
                    break;
                case DW_TAG_lexical_block:
                case DW_TAG_namespace:
                case DW_TAG_module:
                case DW_TAG_class_type:
                case DW_TAG_structure_type:
                    add_functions(child, depth - 1);
                    break;
                default:
                    break;
            }
        } while (dwarf_siblingof(&child, &child) == 0);
    }

    void sort() {
        std::sort(ranges_.begin(), ranges_.end(), [](const range& a, const range& b) { return a.begin < b.begin; });
    }

    /// The entry that covers an address.
    std::optional<Dwarf_Off> find(std::uint64_t address) const {
        auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                      [](std::uint64_t wanted, const range& each) { return wanted < each.begin; });
        if (after == ranges_.begin()) return std::nullopt;
        --after;
        return address < after->end ? std::optional{after->entry} : std::nullopt;
    }

private:
    struct range {
        std::uint64_t begin;
        std::uint64_t end;
        Dwarf_Off entry;
    };
    std::vector<range> ranges_;
};

/// The inlined calls around an address in `parent`, outermost first.
void find_inlined(Dwarf_Die& parent, std::uint64_t address, std::vector<Dwarf_Die>& found) {
    Dwarf_Die child;
    if (found.size() > 200 || dwarf_child(&parent, &child) != 0) return;
    do {
        const int tag = dwarf_tag(&child);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) continue;
        if (dwarf_haspc(&child, address) != 1) continue;
        if (tag == DW_TAG_inlined_subroutine) found.push_back(child);
        return find_inlined(child, address, found);
    } while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace

struct symbol_source::state {
    std::unique_ptr<Dwfl, decltype(&dwfl_end)> dwfl{nullptr, &dwfl_end};
    Dwfl_Module* module = nullptr;
    Elf* elf = nullptr;
    std::uint64_t shift = 0;  // address as libdwfl counts minus address in the file
    Dwarf* debug = nullptr;   // null: none
    std::uint64_t debug_shift = 0;
    std::string module_name;
    function_names names;
    function_starts starts;
    call_code code;
    std::optional<symbol_index> symbols;  // made when the first name is asked for
    address_index units;
    std::unordered_map<Dwarf_Off, address_index> functions;  // by unit

    bool open(const std::string& path);
    std::string build_id() const;
    void read();
    void open_debug_information();
    const address_index& functions_of(Dwarf_Die& unit);
    void add_functions(std::uint64_t address, std::vector<source_location>& into);
    void set_places(Dwarf_Die& unit, std::uint64_t address, std::vector<Dwarf_Die>& scopes,
                    std::vector<source_location>& into);
    std::string name_at(std::uint64_t address);
    const char* symbol_at(std::uint64_t address);
    bool calls_operator_new(std::uint64_t return_address);
    std::optional<Dwarf_Die> function_at(std::uint64_t address, Dwarf_Die* unit = nullptr);
    std::optional<Dwarf_Die> class_of_next_constructor(Dwarf_Die scope, const call_of_new& call);
    void add_made_type(std::uint64_t address, Dwarf_Die scope, std::vector<source_location>& into);

    /// Functions that were left by jumps, innermost first, and whether that ended in a recorded function.
    struct left_functions {
        std::vector<source_location> locations;
        bool may_be = false;
    };
    std::unordered_map<std::uint64_t, left_functions> left;  // by the function that is called first

    bool begins_function(std::uint64_t address);
    const left_functions& left_from(std::uint64_t function, int depth);
    left_functions find_left(std::uint64_t function, int depth);
    left_functions after_jump(const tail_call& jump, int depth);
    source_location declaration_of(Dwarf_Die function, std::uint64_t address);
    bool is_part_of(std::uint64_t function, std::uint64_t address);
    std::vector<source_location> left_before(std::uint64_t function, std::uint64_t reached);
};

bool symbol_source::state::open(const std::string& path) {
    dwfl.reset(dwfl_begin(&callbacks));
    if (!dwfl) return false;
    dwfl_report_begin(dwfl.get());
    module = dwfl_report_offline(dwfl.get(), path.c_str(), path.c_str(), -1);
    dwfl_report_end(dwfl.get(), nullptr, nullptr);
    if (module == nullptr) return false;
    module_name = file_name(path);
    GElf_Addr bias = 0;
    elf = dwfl_module_getelf(module, &bias);
    shift = bias;
    return elf != nullptr;
}

/// Empty if the file has none.
std::string symbol_source::state::build_id() const {
    const unsigned char* id = nullptr;
    GElf_Addr at = 0;
    const int bytes = dwfl_module_build_id(module, &id, &at);
    return bytes > 0 ? hexadecimal(id, bytes) : std::string{};
}

void symbol_source::state::read() {
    starts = function_starts{elf};
    if (is_c_library(module_name)) return;
    code = call_code{elf};
    open_debug_information();
}

/// Indexes the units by address. libdw needs an index from the compiler for that, which g++ writes and clang++ does
/// not.
void symbol_source::state::open_debug_information() {
    debug = dwfl_module_getdwarf(module, &debug_shift);
    Dwarf_Off next = 0;
    std::size_t head = 0;
    for (Dwarf_Off at = 0; debug != nullptr && dwarf_nextcu(debug, at, &next, &head, nullptr, nullptr, nullptr) == 0;
         at = next) {
        Dwarf_Die unit;
        if (dwarf_offdie(debug, at + head, &unit) != nullptr) units.add(unit);
    }
    units.sort();
}

const address_index& symbol_source::state::functions_of(Dwarf_Die& unit) {
    const auto [entry, is_new] = functions.try_emplace(dwarf_dieoffset(&unit));
    if (is_new) {
        entry->second.add_functions(unit, 32);
        entry->second.sort();
    }
    return entry->second;
}

/// Appends the function at an address and the calls inlined there, innermost first.
void symbol_source::state::add_functions(std::uint64_t address, std::vector<source_location>& into) {
    Dwarf_Die unit;
    const std::optional<Dwarf_Die> function = function_at(address, &unit);
    if (!function) return;
    std::vector<Dwarf_Die> scopes{*function};
    find_inlined(scopes[0], address - debug_shift, scopes);
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) into.push_back({names.of(*scope), {}, 0});
    set_places(unit, address - debug_shift, scopes, into);
    add_made_type(address, scopes.back(), into);
}

/// The function that covers an address, and its unit.
std::optional<Dwarf_Die> symbol_source::state::function_at(std::uint64_t address, Dwarf_Die* unit) {
    if (debug == nullptr) return std::nullopt;
    address -= debug_shift;
    const auto unit_entry = units.find(address);
    Dwarf_Die in;
    if (!unit_entry || dwarf_offdie(debug, *unit_entry, &in) == nullptr) return std::nullopt;
    const auto function_entry = functions_of(in).find(address);
    Dwarf_Die function;
    if (!function_entry || dwarf_offdie(debug, *function_entry, &function) == nullptr) return std::nullopt;
    if (unit != nullptr) *unit = in;
    return function;
}

bool symbol_source::state::calls_operator_new(std::uint64_t return_address) {
    const std::optional<std::uint64_t> target = code.target(return_address);
    if (!target) return false;
    return is_operator_new(code.imported(*target)) || is_operator_new(symbol_at(*target + shift));
}

/// The class of the constructor of the `new` expression, by the code: code that is not optimised has no entries for its
/// calls.
std::optional<Dwarf_Die> symbol_source::state::class_of_next_constructor(Dwarf_Die scope, const call_of_new& call) {
    if (!call.size) return std::nullopt;
    Dwarf_Die unit;
    if (dwarf_diecu(&scope, &unit, nullptr, nullptr) == nullptr) return std::nullopt;
    for (const auto& [target, return_address] : code.next_calls(call.address_in_file)) {
        const std::optional<Dwarf_Die> function = function_at(target + shift);
        Dwarf_Addr begin = 0;
        if (!function || dwarf_entrypc(const_cast<Dwarf_Die*>(&*function), &begin) != 0) continue;
        if (begin != target + shift - debug_shift) continue;
        const std::optional<Dwarf_Die> type = constructed_class(*function);
        if (!type || !has_size(*type, call.size)) continue;
        const source_place place = place_of(unit, return_address + shift - debug_shift - 1);
        const bool gets_result = code.passes_result(call.address_in_file, return_address);
        if (call.is_constructed_at(place) || (gets_result && call.may_be_constructed_at(place))) return type;
    }
    return std::nullopt;
}

/// Puts "operator new<T>" in front where a `new` expression makes a T at the address.
void symbol_source::state::add_made_type(std::uint64_t address, Dwarf_Die scope, std::vector<source_location>& into) {
    const std::uint64_t return_address = address - shift + 1;
    if (passes_memory_on(into.front().function) || !calls_operator_new(return_address)) return;
    const call_of_new call{scope, code, address - debug_shift + 1, return_address};
    std::optional<Dwarf_Die> type = made_class(scope, call);
    if (!type) type = class_of_next_constructor(scope, call);
    if (!type) return;
    const source_location here = into.front();
    into.insert(into.begin(), {"operator new<" + names.of_type(*type) + ">", here.file, here.line});
}

/// Sets files and lines. The line table has the place in the innermost function; each inlined call has the place of the
/// call in the function around it.
void symbol_source::state::set_places(Dwarf_Die& unit, std::uint64_t address, std::vector<Dwarf_Die>& scopes,
                                      std::vector<source_location>& into) {
    if (Dwarf_Line* line = dwarf_getsrc_die(&unit, address)) {
        int number = 0;
        into.front().file = text(dwarf_linesrc(line, nullptr, nullptr));
        into.front().line = dwarf_lineno(line, &number) == 0 && number > 0 ? static_cast<std::uint32_t>(number) : 0;
    }
    Dwarf_Files* files = nullptr;
    std::size_t file_count = 0;
    if (dwarf_getsrcfiles(&unit, &files, &file_count) != 0) return;
    for (std::size_t i = 0; i + 1 < scopes.size(); ++i) {
        Dwarf_Die& inlined = scopes[scopes.size() - 1 - i];
        const std::uint32_t file = attribute_number(inlined, DW_AT_call_file);
        if (file < file_count) into[i + 1].file = text(dwarf_filesrc(files, file, nullptr, nullptr));
        into[i + 1].line = attribute_number(inlined, DW_AT_call_line);
    }
}

const char* symbol_source::state::symbol_at(std::uint64_t address) {
    if (!symbols) symbols.emplace(module);
    return symbols->find(address);
}

/// A function without a symbol is named by its start.
std::string symbol_source::state::name_at(std::uint64_t address) {
    if (const char* name = symbol_at(address)) return demangled(name);
    const auto start = starts.find(address - shift);
    return start ? fmt::format("{}+{:#x}", module_name, *start) : std::string{};
}

/// Whether a function of the module begins at an address of the file; tables of jumps to other modules have no symbols.
bool symbol_source::state::begins_function(std::uint64_t address) {
    if (!symbols) symbols.emplace(module);
    if (symbols->begins_at(address + shift)) return true;
    const bool is_unnamed = symbols->find(address + shift) == nullptr && starts.find(address) == address;
    return is_unnamed && !code.jumps_through_table(address);
}

source_location symbol_source::state::declaration_of(Dwarf_Die function, std::uint64_t address) {
    int line = 0;
    if (dwarf_decl_line(&function, &line) != 0 || line < 0) line = 0;
    source_location place{names.of(function), text(dwarf_decl_file(&function)), static_cast<std::uint32_t>(line)};
    if (place.function.empty()) place.function = name_at(address);
    return place;
}

const symbol_source::state::left_functions& symbol_source::state::left_from(std::uint64_t function, int depth) {
    // Functions that jump to each other in a circle find that nothing is known yet.
    const auto [entry, is_new] = left.try_emplace(function);
    left_functions& known = entry->second;  // stays where it is when others are added
    if (is_new) known = find_left(function, depth);
    return known;
}

/// What may have been left after a jump.
symbol_source::state::left_functions symbol_source::state::after_jump(const tail_call& jump, int depth) {
    if (!jump.target) return {{}, true};
    if (const char* name = code.imported(*jump.target)) return {{}, is_recorded_function(name)};
    if (is_recorded_function(symbol_at(*jump.target + shift))) return {{}, true};
    if (!begins_function(*jump.target) && code.jumps_through_table(*jump.target)) return {{}, true};
    return depth > 1 ? left_from(*jump.target, depth - 1) : left_functions{};
}

/// `function`: in the file.
symbol_source::state::left_functions symbol_source::state::find_left(std::uint64_t function, int depth) {
    const std::uint64_t address = function + shift;
    if (!begins_function(function) || is_recorded_function(symbol_at(address))) return {};
    const std::optional<Dwarf_Die> entry = function_at(address);
    if (!entry) return {{{name_at(address), {}, 0}}, true};
    std::vector<std::vector<source_location>> ways;  // what was left after the function
    std::uint64_t place = 0;
    for (const tail_call& jump : tail_calls_of(*entry, code, shift - debug_shift)) {
        left_functions way = after_jump(jump, depth);
        if (!way.may_be) continue;
        ways.push_back(std::move(way.locations));
        place = jump.place + debug_shift;
    }
    std::vector<source_location> locations;
    // Of several ways it is known only what all of them have in common.
    if (!ways.empty() && std::ranges::all_of(ways, [&](const auto& each) { return each == ways.front(); }))
        locations = ways.front();
    std::vector<source_location> own;
    if (ways.size() == 1) add_functions(place, own);
    if (own.empty()) own.push_back(declaration_of(*entry, address));
    locations.insert(locations.end(), own.begin(), own.end());
    return {std::move(locations), !ways.empty()};
}

/// Whether an address is in a part of a function, such as the one that is seldom executed; compilers put them apart.
bool symbol_source::state::is_part_of(std::uint64_t function, std::uint64_t address) {
    const std::optional<Dwarf_Die> whole = function_at(function + shift);
    const std::optional<Dwarf_Die> around = function_at(address + shift);
    if (whole && around) {
        Dwarf_Die one = *whole;
        Dwarf_Die other = *around;
        return one.addr == other.addr || names.of(one) == names.of(other);
    }
    const std::string name = text(symbol_at(function + shift));
    const std::string other = text(symbol_at(address + shift));
    return name == other || other.starts_with(name + ".");
}

std::vector<source_location> symbol_source::state::left_before(std::uint64_t function, std::uint64_t reached) {
    const std::uint64_t address = function + shift;
    if (!begins_function(function) || is_recorded_function(symbol_at(address))) return {};
    if (reached != 0 && is_part_of(function, reached)) return {};
    const std::optional<Dwarf_Die> entry = function_at(address);
    if (!entry) return {{name_at(address), {}, 0}};
    const std::optional<std::uint64_t> next = reached != 0 ? starts.find(reached) : std::nullopt;
    std::vector<tail_call> jumps = tail_calls_of(*entry, code, shift - debug_shift);
    const auto leads_there = [&](const tail_call& each) { return each.target && each.target == next; };
    if (std::ranges::any_of(jumps, leads_there)) {
        std::erase_if(jumps, [&](const tail_call& each) { return !leads_there(each); });
    } else {
        std::erase_if(jumps, [&](const tail_call& each) { return each.target && begins_function(*each.target); });
    }
    std::vector<source_location> locations;
    if (jumps.size() == 1) add_functions(jumps.front().place + debug_shift, locations);
    if (locations.empty()) locations.push_back(declaration_of(*entry, address));
    return locations;
}

symbol_source::symbol_source(const std::string& path, const std::string& build_id, const raw::file_identity& loaded) {
    // A file in memory has the path "/memfd:name".
    if (!path.starts_with('/') || path.starts_with("/memfd:")) return;
    auto opened = std::make_unique<state>();
    const bool is_open = opened->open(path);
    is_replaced_ = is_gone(path) || (is_open && build_id.empty() && !may_be(path, loaded)) ||
                   (is_open && !build_id.empty() && opened->build_id() != build_id);
    if (!is_open || is_replaced_) return;
    opened->read();
    state_ = std::move(opened);
}

symbol_source::~symbol_source() = default;

const std::vector<source_location>& symbol_source::locate(std::uint64_t address) {
    const auto [entry, is_new] = known_.try_emplace(address);
    if (is_new) entry->second = find(address);
    return entry->second;
}

std::vector<source_location> symbol_source::find(std::uint64_t address) {
    std::vector<source_location> found;
    if (!state_) return found;
    address += state_->shift;
    state_->add_functions(address, found);
    if (found.empty()) found.push_back({state_->name_at(address), {}, 0});
    if (found.back().function.empty()) found.back().function = state_->name_at(address);
    if (found.size() == 1 && found.front().function.empty() && found.front().file.empty()) found.clear();
    return found;
}

std::vector<source_location> symbol_source::locate_left(std::uint64_t address) {
    constexpr int deepest = 4;
    if (!state_) return {};
    const std::optional<std::uint64_t> function = state_->code.target(address + 1);
    return function ? state_->left_from(*function, deepest).locations : std::vector<source_location>{};
}

std::optional<std::uint64_t> symbol_source::called_function(std::uint64_t address) const {
    const auto called = state_ ? state_->code.target(address + 1) : std::nullopt;
    if (!called || state_->starts.find(*called) != called || state_->code.jumps_through_table(*called))
        return std::nullopt;
    return called;
}

std::optional<std::uint64_t> symbol_source::function_around(std::uint64_t address) const {
    return state_ ? state_->starts.find(address) : std::nullopt;
}

std::vector<source_location> symbol_source::locate_left_before(std::uint64_t called, std::uint64_t reached) {
    return state_ ? state_->left_before(called, reached) : std::vector<source_location>{};
}

/// Each source has a descriptor.
std::size_t symbol_sources::max_open() {
    constexpr std::size_t most = 256;
    rlimit files{};
    return ::getrlimit(RLIMIT_NOFILE, &files) == 0 ? std::min<std::size_t>(most, files.rlim_cur / 4 + 1) : most;
}

symbol_source& symbol_sources::of(const raw_module& module) {
    const key wanted{module.path, module.build_id, module.file.device, module.file.inode};
    if (sources_.size() >= max_open() && !sources_.contains(wanted)) sources_.clear();
    std::unique_ptr<symbol_source>& source = sources_[wanted];
    if (!source) source = std::make_unique<symbol_source>(module.path, module.build_id, module.file);
    return *source;
}

}  // namespace acre::tool
