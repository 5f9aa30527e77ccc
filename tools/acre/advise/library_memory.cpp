#include "library_memory.hpp"

#include <algorithm>
#include <iterator>

#include "function_names.hpp"

namespace acre::tool {

namespace {

constexpr library_memory of_function{
    "std::function", "in libstdc++ a callable of at most 16 bytes that can be copied byte by byte needs none"};
constexpr library_memory of_any{"std::any", "in libstdc++ an object of at most 8 bytes needs none"};
constexpr library_memory of_shared_ptr{"the counts of std::shared_ptr",
                                       "std::make_shared allocates them together with the object"};
constexpr library_memory of_algorithm{"the buffer of a standard algorithm",
                                      "std::sort, std::merge and std::partition need none"};
constexpr library_memory of_std_thread{"std::thread"};
constexpr library_memory of_exception{"an exception"};
constexpr library_memory of_exception_text{"the text of an exception", "", true};
constexpr library_memory of_future{"the state of a future", "std::promise takes an allocator", true};
constexpr library_memory of_regex{"std::regex", "an expression that is made once is not compiled again", true};
constexpr library_memory of_stream{"a stream of the standard library", "std::to_chars and std::format_to need none",
                                   true};
constexpr library_memory of_path{"std::filesystem", "", true};
constexpr library_memory of_locale{"std::locale", "", true};
constexpr library_memory of_c_library{"the C library", "", true};
constexpr library_memory of_nlohmann_json{
    "nlohmann::json", "", true,
    "#include <acre/adapt/hooks/nlohmann.hpp>\n"
    "using json = acre::pooled_json;  // in place of nlohmann::json; acre::arena_json where documents die with a "
    "request\n",
    "It is a nlohmann::json whose strings are not std::string: get<std::string>() copies one, texts still serve as "
    "keys, "
    "and dump() is taken by auto. docs/hooks/nlohmann.md says more."};

constexpr library_memory of_rapidjson{
    "RapidJSON", "", true,
    "#include <acre/adapt/hooks/rapidjson.hpp>\n"
    "#include <acre/heaps/general_heap.hpp>\n"
    "using json_memory = acre::rapidjson_allocator<acre::general_heap>;  // over acre::arena where documents die with "
    "a request\n"
    "using document = rapidjson::GenericDocument<rapidjson::UTF8<>, json_memory>;  // in place of "
    "rapidjson::Document\n"
    "using value = rapidjson::GenericValue<rapidjson::UTF8<>, json_memory>;  // in place of rapidjson::Value\n",
    "Functions that take a rapidjson::Value or Document take these types. docs/hooks/rapidjson.md says more."};
constexpr library_memory of_boost_json{
    "Boost.JSON", "", true,
    "#include <acre/adapt/hooks/boost_json.hpp>\n"
    "#include <acre/heaps/general_heap.hpp>\n"
    "inline acre::general_heap json_heap;\n"
    "inline acre::boost_pmr json_memory{json_heap};  // over acre::arena where values die with a request\n"
    "boost::json::value v = boost::json::parse(text, &json_memory);  // or value(&json_memory), and so for objects and "
    "arrays\n",
    "A value keeps the memory that it was made with, and gives it to its parts; one that is made without is not there. "
    "docs/hooks/boost_json.md says more."};
constexpr library_memory of_sqlite{
    "SQLite", "", true,
    "#include <acre/adapt/hooks/sqlite.hpp>\n"
    "#include <acre/heaps/general_heap.hpp>\n"
    "const sqlite3_mem_methods sqlite_heap = acre::sqlite_memory<acre::general_heap>();\n"
    "sqlite3_config(SQLITE_CONFIG_MALLOC, &sqlite_heap);  // first in main, before all other functions of SQLite\n",
    "The code is C++. SQLite's statistics of memory take a lock each time: sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) "
    "there leaves them out. docs/hooks/sqlite.md says more."};
constexpr library_memory of_expat{
    "Expat", "", true,
    "#include <acre/adapt/hooks/expat.hpp>\n"
    "#include <acre/heaps/general_heap.hpp>\n"
    "const XML_Memory_Handling_Suite xml_heap = acre::expat_memory<acre::general_heap>();\n"
    "XML_Parser parser = XML_ParserCreate_MM(encoding, &xml_heap, nullptr);  // in place of "
    "XML_ParserCreate(encoding)\n",
    "The code is C++. docs/hooks/expat.md says more."};

/// How the functions of a library begin that acre has a hook for; those without a name, by the file.
struct hooked_library {
    std::string_view begin;
    const library_memory* memory = nullptr;
};
constexpr hooked_library hooked[] = {
    {"nlohmann::", &of_nlohmann_json}, {"rapidjson::", &of_rapidjson}, {"boost::json::", &of_boost_json},
    {"sqlite3", &of_sqlite},           {"libsqlite3.so", &of_sqlite},  {"XML_Parse", &of_expat},
    {"libexpat.so", &of_expat},
};

/// Of the name of a function or of the class or namespace that it is in.
const library_memory* hooked_memory(std::string_view name) {
    const auto is_of = [&](const hooked_library& each) {
        constexpr std::string_view scope = "::";
        if (name.starts_with(each.begin)) return true;
        return each.begin.ends_with(scope) && name == each.begin.substr(0, each.begin.size() - scope.size());
    };
    const auto found = std::ranges::find_if(hooked, is_of);
    return found == std::end(hooked) ? nullptr : found->memory;
}

struct named_memory {
    std::string_view name;
    const library_memory* memory = nullptr;
};

// Classes and namespaces in std, without template arguments.
constexpr named_memory std_classes[] = {
    {"function", &of_function},
    {"_Function_base", &of_function},
    {"__function", &of_function},
    {"move_only_function", &of_function},
    {"_Mofunc_base", &of_function},
    {"any", &of_any},
    {"_Temporary_buffer", &of_algorithm},
    {"thread", &of_std_thread},
    {"jthread", &of_std_thread},
    {"__future_base", &of_future},
    {"promise", &of_future},
    {"packaged_task", &of_future},
    {"basic_regex", &of_regex},
    {"basic_stringbuf", &of_stream},
    {"basic_stringstream", &of_stream},
    {"basic_istringstream", &of_stream},
    {"basic_ostringstream", &of_stream},
    {"basic_filebuf", &of_stream},
    {"filesystem", &of_path},
    {"locale", &of_locale},
    {"runtime_error", &of_exception_text},
    {"logic_error", &of_exception_text},
    {"domain_error", &of_exception_text},
    {"invalid_argument", &of_exception_text},
    {"length_error", &of_exception_text},
    {"out_of_range", &of_exception_text},
    {"range_error", &of_exception_text},
    {"overflow_error", &of_exception_text},
    {"underflow_error", &of_exception_text},
    {"system_error", &of_exception_text},
};

// Classes and functions in std::__detail, which has parts of containers as well.
constexpr named_memory details[] = {
    {"_NFA", &of_regex},      {"_NFA_base", &of_regex},       {"_Compiler", &of_regex},
    {"_Scanner", &of_regex},  {"_Executor", &of_regex},       {"_RegexTranslator", &of_regex},
    {"_StateSeq", &of_regex}, {"_BracketMatcher", &of_regex}, {"__regex_algo_impl", &of_regex},
};

// Functions in std that are no members.
constexpr named_memory std_functions[] = {
    {"stable_sort", &of_algorithm},
    {"__stable_sort", &of_algorithm},
    {"stable_partition", &of_algorithm},
    {"__stable_partition", &of_algorithm},
    {"inplace_merge", &of_algorithm},
    {"__inplace_merge", &of_algorithm},
    {"get_temporary_buffer", &of_algorithm},
    {"async", &of_future},
    {"regex_match", &of_regex},
    {"regex_search", &of_regex},
    {"regex_replace", &of_regex},
};

// Functions of C, also as the libraries call them within.
constexpr named_memory functions_of_c[] = {
    {"__cxa_allocate_exception", &of_exception},
    {"__cxa_allocate_dependent_exception", &of_exception},
    {"fopen", &of_c_library},
    {"fopen64", &of_c_library},
    {"__fopen_internal", &of_c_library},
    {"fdopen", &of_c_library},
    {"_IO_file_doallocate", &of_c_library},
    {"opendir", &of_c_library},
    {"fdopendir", &of_c_library},
    {"__alloc_dir", &of_c_library},
    {"qsort", &of_c_library},
    {"qsort_r", &of_c_library},
    {"__qsort_r", &of_c_library},
    {"regcomp", &of_c_library},
    {"regexec", &of_c_library},
    {"getaddrinfo", &of_c_library},
    {"setlocale", &of_c_library},
    {"newlocale", &of_c_library},
    {"iconv_open", &of_c_library},
    {"glob", &of_c_library},
};

// Also as the library calls them within.
constexpr std::string_view allocating_functions_of_c[][2] = {
    {"strdup", "strdup"},
    {"__strdup", "strdup"},
    {"strndup", "strndup"},
    {"__strndup", "strndup"},
    {"wcsdup", "wcsdup"},
    {"asprintf", "asprintf"},
    {"__asprintf", "asprintf"},
    {"vasprintf", "vasprintf"},
    {"__vasprintf_internal", "vasprintf"},
    {"getline", "getline"},
    {"getdelim", "getdelim"},
    {"_IO_getdelim", "getdelim"},
    {"open_memstream", "open_memstream"},
    {"realpath", "realpath"},
    {"getcwd", "getcwd"},
};

const library_memory* find_in(const auto& table, std::string_view name) {
    const auto found = std::ranges::find(table, name, &named_memory::name);
    return found == std::end(table) ? nullptr : found->memory;
}

/// "vector" of "vector<a::b>::push_back".
std::string_view first_part(std::string_view name) {
    return name.substr(0, name.find_first_of("<:( @"));
}

std::string_view without(std::string_view name, std::string_view prefix) {
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

/// Whether std::shared_ptr's constructor takes the object by a pointer, which a program has allocated.
bool takes_pointer(std::string_view member) {
    const std::string_view parameters = member.substr(std::min(member.find('('), member.size()));
    return parameters.substr(0, parameters.find_first_of(",)")).ends_with('*');
}

}  // namespace

std::string_view allocating_c_function(std::string_view function) {
    const std::string_view name = first_part(function);
    for (const auto& [called, known] : allocating_functions_of_c) {
        if (called == name) return known;
    }
    return {};
}

bool is_of_library_with_hook(std::string_view function) {
    return hooked_memory(function) != nullptr;
}

const library_memory* library_memory_of(std::string_view function) {
    const std::string_view of = class_in(function);
    const std::string_view member = function_in(function);
    const std::string_view name_of_call = of.empty() ? member : of;
    if (const library_memory* with_hook = hooked_memory(name_of_call)) return with_hook;
    if (of.empty()) return find_in(functions_of_c, first_part(member));
    if (of == "std" || of == "std::__1" || of == "std::_V2") return find_in(std_functions, first_part(member));
    if (!of.starts_with("std::")) return nullptr;
    std::string_view rest = of.substr(5);
    for (const std::string_view inner : {"__1::", "__cxx11::", "_V2::"}) rest = without(rest, inner);
    if (rest == "__detail") return find_in(details, first_part(member));
    if (rest.starts_with("__detail::")) return find_in(details, first_part(rest.substr(10)));
    const std::string_view name = first_part(rest);
    if (name == "__shared_count" || (name == "shared_ptr" && first_part(member) == name))
        return takes_pointer(function.substr(function.find(member))) ? &of_shared_ptr : nullptr;
    // Copies a callable. The other members call it, and what it allocates is the program's.
    if (name == "_Function_handler") return member == "_M_manager" ? &of_function : nullptr;
    return member.starts_with("operator()") ? nullptr : find_in(std_classes, name);
}

}  // namespace acre::tool
