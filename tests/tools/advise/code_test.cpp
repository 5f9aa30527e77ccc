// The texts of every verdict, and that its code compiles against the real headers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "advise/advice_code.hpp"
#include "advise/wording.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"

namespace {

using namespace acre::test;

/// The verdicts whose code is made of types of acre.
std::vector<verdict> other_allocators() {
    std::vector<verdict> found;
    for (const verdict which : all_verdicts) {
        if (!traits_of(which).allocates_less) found.push_back(which);
    }
    return found;
}

class code : public testing::Test {
protected:
    code()
        : stack_{made_.stack({"main", "server::handle_request:5"})},
          lambda_{made_.stack({"main", "work(int)::{lambda()#1}::operator()() const"})},
          odd_{made_.stack({"main", "odd\nname"})},
          paths_{made_.tables} {}

    advice advice_of(verdict which, std::uint64_t threads, std::uint32_t stack) const {
        advice each;
        each.candidate = each.decision = which;
        each.site = paths_.site(stack);
        each.function = paths_.sites()[each.site].function;
        each.figures.threads = threads;
        each.block_bytes = 10'240;
        each.slot_bytes = 48;
        each.buffer_bytes = 224;
        each.arenas = 12;
        each.arena_bytes = 4096;
        return each;
    }

    std::string code_for(verdict which, std::uint64_t threads) const {
        return code_of(advice_of(which, threads, stack_), paths_);
    }
    std::string code_in(std::uint32_t stack, verdict which) const {
        return code_of(advice_of(which, 1, stack), paths_);
    }

    /// A function that declares the names of the code, with the code pasted into it, after the code's headers.
    static std::string function_around(const std::string& code, int number) {
        std::istringstream lines{code};
        std::string headers;
        std::string body;
        for (std::string line; std::getline(lines, line);) {
            (line.starts_with("#include") ? headers : body) += line + "\n";
        }
        return headers + "template <typename T, typename... Arguments>\nvoid pasted_" + std::to_string(number) +
               "([[maybe_unused]] std::size_t n, [[maybe_unused]] std::size_t bytes, "
               "[[maybe_unused]] std::size_t alignment, [[maybe_unused]] Arguments... arguments) {\n" +
               body + "}\ntemplate void pasted_" + std::to_string(number) +
               "<thing>(std::size_t, std::size_t, std::size_t);\ntemplate void pasted_" + std::to_string(number) +
               "<derived>(std::size_t, std::size_t, std::size_t);\n";
    }

    void use_c() {
        for (frame_info& frame : made_.tables.frames) frame.locations[0].file = "made.c";
    }

    std::string c_code_for(verdict which, bool reallocated) {
        use_c();
        const call_paths paths{made_.tables};
        advice each = advice_of(which, 1, stack_);
        each.figures.objects = 100;
        each.figures.reallocated = reallocated;
        return code_of(each, paths);
    }

    /// Statements are pasted into a function, everything else at the top of a file.
    void compile_c(const std::string& pasted) const {
        const std::filesystem::path file = directory_ / "pasted.c";
        const std::size_t after_includes = pasted.find('\n', pasted.rfind("#include")) + 1;
        const bool is_statements = pasted.find("static") == std::string::npos;
        std::ofstream{file} << pasted.substr(0, after_includes)
                            << (is_statements ? "void pasted(size_t bytes);\nvoid pasted(size_t bytes) {\n" : "")
                            << pasted.substr(after_includes) << (is_statements ? "}\n" : "");
        const std::string compile = C_COMMAND " '" + file.string() + "' 2>&1";
        EXPECT_EQ(std::system(compile.c_str()), 0) << pasted;
    }

    static std::string cautions_text(const advice& each, const call_paths& paths) {
        std::string text;
        for (const std::string& caution : cautions_of(each, paths)) text += caution + "\n";
        return text;
    }

    void write_file(const char* name, const std::string& text) const { std::ofstream{directory_ / name} << text; }

    /// Compiles a.c and b.c, or a.cpp and b.cpp, into one object.
    int join(const std::string& command, const std::string& extension) const {
        const std::string path = "'" + directory_.path().string() + "/";
        return std::system((command + " -o " + path + "joined.o' " + path + "a." + extension + "' " + path + "b." +
                            extension + "' 2>&1")
                               .c_str());
    }

    temporary_directory directory_;
    made_trace made_;
    std::uint32_t stack_;
    std::uint32_t lambda_;
    std::uint32_t odd_;
    call_paths paths_;
};

TEST_F(code, all_of_it_compiles) {
    std::ofstream source{directory_ / "pasted.cpp"};
    source << "struct thing { long value[6]; };\n"
              "struct base { virtual ~base() = default; long value[4]; };\nstruct derived : base { long more; };\n";
    int number = 0;
    for (const verdict which : other_allocators()) {
        if (which == verdict::leave) continue;
        for (const std::uint64_t threads : {1U, 4U}) {
            const std::string pasted = code_for(which, threads);
            EXPECT_TRUE(pasted.starts_with("#include <acre/acre.hpp>\n")) << name_of(which);
            source << function_around(pasted, ++number);
        }
    }
    source.close();
    const std::string compile = CXX_COMMAND " '" + (directory_ / "pasted.cpp").string() + "' 2>&1";
    EXPECT_EQ(std::system(compile.c_str()), 0);
}

TEST_F(code, of_the_places_of_a_program_compiles) {
    std::ofstream source{directory_ / "pasted.cpp"};
    for (const char* header : {"deque", "forward_list", "list", "map", "memory", "memory_resource", "set", "string",
                               "string_view", "unordered_map", "unordered_set", "vector"})
        source << "#include <" << header << ">\n";
    source << "struct thing { long value[6]; };\nstruct derived : thing {};\n"
              "namespace game { struct orc { int n = 0; bool operator<(const orc&) const; }; }\n"
              "namespace { struct hidden { int n = 0; }; }\n"
              "struct backwards { bool operator()(int a, int b) const { return a > b; } };\n";
    std::vector<change_place> places;
    for (const char* container : {"std::vector<int>",
                                  "std::string",
                                  "std::basic_string<wchar_t>",
                                  "std::deque<game::orc*>",
                                  "std::list<std::pair<int, std::string>>",
                                  "std::forward_list<long>",
                                  "std::set<game::orc>",
                                  "std::set<int, backwards>",
                                  "std::map<std::string, std::vector<int>>",
                                  "std::multimap<int, long>",
                                  "std::unordered_set<std::string>",
                                  "std::unordered_map<int, std::vector<std::string>>",
                                  "std::_Vector_base<(anonymous namespace)::hidden>",
                                  "std::_Rb_tree<int, int>",
                                  "std::vector<std::_Vector_base<(anonymous namespace)::hidden>>",
                                  "std::vector<work(int)::{lambda()#1}>",
                                  "std::vector<main()::local>",
                                  "std::pmr::map<std::pmr::string, int>",
                                  "std::pmr::monotonic_buffer_resource",
                                  "std::vector<std::unique_ptr<game::orc>>",
                                  "std::map<int, std::unique_ptr<game::orc>>"})
        places.push_back({.kind = place_kind::container, .name = container});
    places.push_back({.kind = place_kind::type, .name = "game::orc"});
    places.push_back({.kind = place_kind::type, .name = "(anonymous namespace)::hidden"});
    places.push_back({.kind = place_kind::type, .name = "game::orc", .by_new = true, .by_make_unique = true});
    places.push_back({.shared = "game::orc"});
    places.push_back({.by_new = true});
    places.push_back({.kind = place_kind::hook, .name = "xmalloc"});
    int number = 0;
    for (const verdict which : other_allocators()) {
        if (which == verdict::leave) continue;
        for (std::size_t first = 0; first < places.size(); first += 4) {
            advice each = advice_of(which, 1, stack_);
            each.places.assign(places.begin() + static_cast<std::ptrdiff_t>(first),
                               places.begin() + static_cast<std::ptrdiff_t>(std::min(first + 6, places.size())));
            source << function_around(code_of(each, paths_), ++number);
        }
    }
    source.close();
    const std::string compile = CXX_COMMAND " '" + (directory_ / "pasted.cpp").string() + "' 2>&1";
    EXPECT_EQ(std::system(compile.c_str()), 0);
}

TEST_F(code, has_the_lines_of_what_allocates) {
    const auto written = [&](verdict which, change_place place) {
        advice each = advice_of(which, 1, stack_);
        each.places = {std::move(place)};
        return code_of(each, paths_);
    };
    EXPECT_EQ(
        written(verdict::multi_pool, {.kind = place_kind::container, .name = "std::map<int, long>"}),
        "#include <acre/acre.hpp>\nstatic acre::multi_pool handle_request_pool;\n"
        "using handle_request_map = std::map<int, long, std::less<int>, acre::allocator<std::pair<int const, long>, "
        "acre::multi_pool>>;\n"
        "handle_request_map container{handle_request_pool};  // for std::map<int, long>\n");
    EXPECT_EQ(written(verdict::multi_pool, {.shared = "session"}),
              "#include <acre/acre.hpp>\n#include <acre/adapt/smart_ptr.hpp>\n"
              "static acre::multi_pool handle_request_pool;\n"
              "auto object = acre::make_shared<session>(handle_request_pool, arguments...);  // for "
              "std::make_shared<session>\n");
    EXPECT_EQ(written(verdict::multi_pool, {.kind = place_kind::hook, .name = "xmalloc"}),
              "#include <acre/acre.hpp>\nstatic acre::multi_pool handle_request_pool;\n"
              "void* p = handle_request_pool.allocate(bytes, alignment);  // for malloc\n"
              "handle_request_pool.deallocate(p, bytes, alignment);  // for free\n");
}

TEST_F(code, has_make_unique_where_the_program_has_it) {
    advice each = advice_of(verdict::arena, 1, stack_);
    each.places = {{.kind = place_kind::type, .name = "orc", .by_make_unique = true}};
    const std::string only = code_of(each, paths_);
    EXPECT_NE(only.find("orc* object = handle_request_memory.create<orc>(arguments...);  // for std::make_unique<orc>; "
                        "a plain pointer in place of std::unique_ptr\n"),
              std::string::npos)
        << only;
    EXPECT_EQ(only.find("new orc"), std::string::npos) << only;
    each.places[0].by_new = true;
    const std::string both = code_of(each, paths_);
    EXPECT_NE(both.find("for std::make_unique<orc>; a plain pointer"), std::string::npos) << both;
    EXPECT_NE(both.find("for new orc(arguments...); no delete, no smart pointer\n"), std::string::npos) << both;
}

// A std::unique_ptr would delete what the arena has.
TEST_F(code, containers_own_objects_as_the_lines_of_objects_do) {
    const auto written = [&](verdict which, bool makes_objects) {
        advice each = advice_of(which, 1, stack_);
        each.places = {
            {.kind = place_kind::container, .name = "std::vector<std::unique_ptr<node>>"},
            {.kind = place_kind::container, .name = "std::map<int, std::unique_ptr<node, std::default_delete<node>>>"}};
        if (makes_objects) each.places.push_back({.kind = place_kind::type, .name = "leaf", .by_make_unique = true});
        std::string text = code_of(each, paths_);
        for (const std::string& caution : cautions_of(each, paths_)) text += caution + "\n";
        return text;
    };
    const std::string arena = written(verdict::arena, true);
    EXPECT_NE(arena.find("= std::vector<node*, acre::allocator<node*, acre::arena>>;"), std::string::npos) << arena;
    EXPECT_NE(arena.find("= std::map<int, node*, std::less<int>, acre::allocator<std::pair<int const, node*>, "),
              std::string::npos)
        << arena;
    EXPECT_NE(arena.find("that are std::unique_ptr of these objects change their type as well, to T*;"),
              std::string::npos)
        << arena;
    const std::string pool = written(verdict::multi_pool, true);
    EXPECT_NE(
        pool.find("= std::vector<acre::unique_ptr<node, acre::multi_pool>, acre::allocator<acre::unique_ptr<node, "
                  "acre::multi_pool>, acre::multi_pool>>;"),
        std::string::npos)
        << pool;
    EXPECT_NE(pool.find("held by acre::unique_ptr<leaf or its base, acre::multi_pool>"), std::string::npos) << pool;
    EXPECT_NE(pool.find("change their type as well, to acre::unique_ptr<T, acre::multi_pool>;"), std::string::npos)
        << pool;
    // The objects stay where they are.
    const std::string only = written(verdict::arena, false);
    EXPECT_NE(only.find("= std::vector<std::unique_ptr<node>, acre::allocator<std::unique_ptr<node>, acre::arena>>;"),
              std::string::npos)
        << only;
    EXPECT_EQ(only.find("change their type"), std::string::npos) << only;
}

// Their types stay; only the memory resource is another.
TEST_F(code, of_containers_with_a_memory_resource_is_a_resource_for_them) {
    const auto written = [&](verdict which, const char* container) {
        advice each = advice_of(which, 1, stack_);
        each.places = {{.kind = place_kind::container, .name = container}};
        return code_of(each, paths_);
    };
    const std::string map = written(verdict::scratch, "std::pmr::map<std::pmr::string, std::pmr::string>");
    EXPECT_NE(map.find("acre::pmr<acre::scratch&> container_memory{temp};\n"
                       "std::pmr::map<std::pmr::string, std::pmr::string> container{&container_memory};\n"),
              std::string::npos)
        << map;
    const std::string resource = written(verdict::multi_pool, "std::pmr::monotonic_buffer_resource");
    EXPECT_NE(resource.find("\nacre::pmr<acre::multi_pool&> memory_resource{handle_request_pool};  // in place of the "
                            "std::pmr::monotonic_buffer_resource, or as its upstream;"),
              std::string::npos)
        << resource;
}

TEST_F(code, names_what_it_has_no_lines_for) {
    advice each = advice_of(verdict::arena, 1, stack_);
    for (char name = 'a'; name < 'k'; ++name) each.places.push_back({.kind = place_kind::type, .name = {name}});
    const std::string written = code_of(each, paths_);
    EXPECT_NE(written.find("h* object_8 ="), std::string::npos) << written;
    EXPECT_EQ(written.find("i* "), std::string::npos) << written;
    EXPECT_NE(written.find("// likewise for i, j\n"), std::string::npos) << written;
}

TEST_F(code, of_a_container_converts_those_in_it_that_are_also_advised) {
    advice each = advice_of(verdict::arena, 1, stack_);
    each.places = {{.kind = place_kind::container, .name = "std::vector<std::string>"}};
    EXPECT_NE(code_of(each, paths_).find("std::vector<std::string, acre::allocator<std::string, acre::arena>>;"),
              std::string::npos);
    each.places.push_back({.kind = place_kind::container, .name = "std::string"});
    const std::string written = code_of(each, paths_);
    const std::size_t inner = written.find("using handle_request_string = std::basic_string<char,");
    const std::size_t outer = written.find(
        "using handle_request_vector = std::vector<handle_request_string, acre::allocator<handle_request_string, "
        "acre::arena>>;");
    EXPECT_LT(inner, outer) << written;
    EXPECT_NE(outer, std::string::npos) << written;
}

// Also where the map itself stays as it is.
TEST_F(code, of_a_string_serves_as_the_key_of_an_unordered_map) {
    advice each = advice_of(verdict::multi_pool, 1, stack_);
    each.places = {{.kind = place_kind::container, .name = "std::string"}};
    std::ofstream source{directory_ / "pasted.cpp"};
    source << "#include <list>\n#include <string>\n#include <unordered_map>\n#include <unordered_set>\n"
           << code_of(each, paths_) << "std::unordered_map<handle_request_string, std::list<int>::iterator> places;\n"
           << "std::unordered_set<handle_request_string> names;\n";
    source.close();
    const std::string compile = CXX_COMMAND " '" + (directory_ / "pasted.cpp").string() + "' 2>&1";
    EXPECT_EQ(std::system(compile.c_str()), 0);
}

// A key made for each look-up made a cache 20 % slower.
TEST_F(code, a_caution_tells_what_finds_a_string_by_another_text) {
    const auto says = [&](const char* container) {
        advice each = advice_of(verdict::multi_pool, 1, stack_);
        each.places = {{.kind = place_kind::container, .name = container}};
        return std::ranges::any_of(cautions_of(each, paths_), [](const std::string& one) {
            return one.find("use those of acre::containers_in") != std::string::npos;
        });
    };
    EXPECT_TRUE(says("std::string"));
    EXPECT_FALSE(says("std::vector<int>"));
}

TEST_F(code, in_c_it_is_c) {
    use_c();
    const call_paths paths{made_.tables};
    for (const verdict which : other_allocators()) {
        if (which == verdict::leave || in_c(which) != which) continue;
        for (const std::uint64_t threads : {1U, 4U}) {
            compile_c(code_of(advice_of(which, threads, stack_), paths));
        }
    }
}

// In an arena nothing is freed one by one: acre_malloc's headers would take memory for nothing.
TEST_F(code, in_c_an_arena_has_no_headers) {
    for (const verdict which : {verdict::arena, verdict::scratch, verdict::monotonic_arena, verdict::phase_arena}) {
        const std::string pasted = c_code_for(which, false);
        EXPECT_EQ(pasted.find("acre_malloc"), std::string::npos) << pasted;
        EXPECT_NE(pasted.find("acre_arena_allocate(handle_request_arena, bytes, 0)"), std::string::npos) << pasted;
    }
}

TEST_F(code, in_c_it_has_a_realloc_where_the_program_reallocates) {
    for (const verdict which :
         {verdict::arena, verdict::scratch, verdict::multi_arena, verdict::monotonic_arena, verdict::phase_arena}) {
        EXPECT_EQ(c_code_for(which, false).find("realloc"), std::string::npos) << name_of(which);
        const std::string pasted = c_code_for(which, true);
        EXPECT_NE(pasted.find("\nstatic void* handle_request_realloc(void* "), std::string::npos) << pasted;
        EXPECT_EQ(pasted.find("size_t old_bytes, size_t bytes)") == std::string::npos, which == verdict::multi_arena)
            << pasted;
        compile_c(pasted);
    }
}

// libyaml frees all by one function: emptied, it leaked what the arena does not have.
TEST_F(code, in_c_an_arena_has_a_free_for_lines_that_free_others_too) {
    use_c();
    const call_paths paths{made_.tables};
    for (const verdict which : {verdict::arena, verdict::phase_arena}) {
        for (const std::uint32_t threads : {1U, 4U}) {
            advice each = advice_of(which, threads, stack_);
            each.freed_at = {{.site = each.site, .objects = 100}};
            EXPECT_EQ(code_of(each, paths).find("_free("), std::string::npos);
            each.freed_at[0].others = 1;
            const std::string pasted = code_of(each, paths);
            EXPECT_NE(pasted.find("handle_request_free(void* p) {  // in place of free at lines that"),
                      std::string::npos)
                << pasted;
            compile_c(pasted);
            // With another input a line of it grew what outlives the reset.
            EXPECT_EQ(cautions_text(each, paths).find("With other input these lines may allocate") == std::string::npos,
                      which == verdict::phase_arena);
        }
    }
}

TEST_F(code, in_c_what_a_thread_has_ends_with_it) {
    use_c();
    const call_paths paths{made_.tables};
    for (const verdict which : {verdict::arena, verdict::scratch, verdict::object_pool, verdict::multi_arena}) {
        advice each = advice_of(which, 4, stack_);
        const std::string pasted = code_of(each, paths);
        EXPECT_NE(pasted.find("_destroy(ended); }"), std::string::npos) << pasted;
        compile_c(pasted);
        EXPECT_EQ(code_of(advice_of(which, 1, stack_), paths).find("_of_thread"), std::string::npos);
        each.figures.never_freed = 1;
        EXPECT_EQ(code_of(each, paths).find("_of_thread"), std::string::npos);
    }
}

TEST_F(code, a_caution_tells_what_ends_with_its_thread) {
    const auto says = [&](std::uint64_t threads, std::uint64_t never_freed) {
        advice each = advice_of(verdict::multi_pool, threads, stack_);
        each.figures.never_freed = never_freed;
        const std::vector<std::string> cautions = cautions_of(each, paths_);
        return std::ranges::any_of(
            cautions, [](const std::string& one) { return one.find("end with the thread") != std::string::npos; });
    };
    EXPECT_TRUE(says(4, 7));
    EXPECT_FALSE(says(4, 0));
    EXPECT_FALSE(says(1, 7));
}

TEST_F(code, a_pool_that_threads_share_is_static) {
    EXPECT_NE(code_for(verdict::concurrent_multi_pool, 4).find("\nstatic acre::concurrent_multi_pool "),
              std::string::npos);
}

class code_of_files : public code {
protected:
    code_of_files() {
        sets_ = made_.stack({"main", "process", "parse", "set"});
        processes_ = made_.stack({"main", "process"});
        frees_ = made_.stack({"main", "collect"});
    }

    std::uint32_t function(const call_paths& paths, const std::string& name) const {
        const auto found = std::ranges::find(paths.functions(), name, &function_info::name);
        return static_cast<std::uint32_t>(found - paths.functions().begin());
    }

    /// The files of functions; those of others are made.cpp.
    call_paths paths_with(const std::map<std::string, std::string>& files) {
        for (frame_info& frame : made_.tables.frames) {
            const auto found = files.find(frame.locations[0].function);
            if (found != files.end()) frame.locations[0].file = found->second;
        }
        return call_paths{made_.tables};
    }

    /// Of objects that `set` allocates.
    advice advice_in(const call_paths& paths, verdict which, std::uint64_t threads) const {
        advice each = advice_of(which, threads, stack_);
        each.stack = sets_;
        each.site = paths.site(sets_);
        each.function = function(paths, "process");
        each.of_scope = which == verdict::arena;
        each.sites = {{each.site, 20}};
        each.figures.objects = 20;
        return each;
    }

    std::uint32_t sets_ = 0;
    std::uint32_t processes_ = 0;
    std::uint32_t frees_ = 0;
};

TEST_F(code_of_files, of_several_files_is_for_a_header_that_they_include) {
    const call_paths paths =
        paths_with({{"set", "src/parse.cpp"}, {"process", "src/main.cpp"}, {"collect", "src/gc.cpp"}});
    std::string header = "#pragma once\n#include <string>\n#include <vector>\nstruct thing { long value[6]; };\n";
    std::string uses;
    int number = 0;
    for (const verdict which : other_allocators()) {
        if (which == verdict::leave || which == verdict::stack_buffer) continue;
        for (const std::uint64_t threads : {1U, 4U}) {
            if (which == verdict::scratch && threads == 1) continue;  // would have the same name
            advice each = advice_in(paths, which, threads);
            each.variable = "owner_" + std::to_string(++number);
            each.places = {{.kind = place_kind::type, .name = "thing", .by_new = true},
                           {.kind = place_kind::container, .name = "std::vector<int>"}};
            each.freed_at = {{.site = paths.site(frees_), .objects = 20}};
            const std::string pasted = code_of(each, paths);
            const bool resets = which == verdict::arena || which == verdict::scratch;
            if (traits_of(which).freed_as_whole && !resets) continue;  // the other file does not use it
            EXPECT_EQ(pasted.find("static "), std::string::npos) << pasted;
            EXPECT_TRUE(pasted.starts_with(
                std::string{"// in a header that parse.cpp and "} + (resets ? "main.cpp" : "gc.cpp") +
                " include: the lines with #include, using and inline, behind the declarations of "
                "the types that these name\n"))
                << pasted;
            std::istringstream lines{pasted};
            std::string body;
            for (std::string line; std::getline(lines, line);) {
                const bool is_shared =
                    line.starts_with("#include") || line.starts_with("using ") || line.starts_with("inline ");
                (is_shared ? header : body) += line + "\n";
            }
            uses += function_around(body, number);
        }
    }
    write_file("header.hpp", header);
    for (const char* source : {"a", "b"}) {
        write_file((source + std::string{".cpp"}).c_str(),
                   "#include \"header.hpp\"\nstruct derived : thing {};\nnamespace " + std::string{source} + " {\n" +
                       uses + "}\n");
    }
    EXPECT_EQ(join(CXX_JOIN_COMMAND, "cpp"), 0) << header << uses;
}

TEST_F(code_of_files, of_one_file_is_for_that_file) {
    const call_paths paths = paths_with({});
    advice each = advice_in(paths, verdict::arena, 1);
    each.freed_at = {{.site = paths.site(frees_), .objects = 20}};
    EXPECT_NE(code_of(each, paths).find("\nstatic acre::arena "), std::string::npos);
    each = advice_in(paths, verdict::multi_pool, 4);
    EXPECT_NE(code_of(each, paths).find("\nthread_local acre::multi_pool "), std::string::npos);
    // Of a grammar the compiler sees one file.
    const call_paths grammar = paths_with({{"set", "grammar.y"}});
    EXPECT_NE(code_of(advice_in(grammar, verdict::multi_pool, 1), grammar).find("\nstatic "), std::string::npos);
}

TEST_F(code_of_files, of_a_header_is_for_that_header) {
    const call_paths paths = paths_with({{"set", "include/store.hpp"}});
    advice each = advice_in(paths, verdict::multi_pool, 1);
    EXPECT_TRUE(code_of(each, paths).starts_with("// in store.hpp, or in a header that it includes: the lines with "))
        << code_of(each, paths);
    EXPECT_NE(code_of(each, paths).find("\ninline acre::multi_pool "), std::string::npos);
    each = advice_in(paths, verdict::scratch, 1);
    EXPECT_NE(code_of(each, paths).find("\ninline thread_local acre::arena scratch_memory"), std::string::npos);
}

// Nothing else of the program names an arena that is freed as a whole.
TEST_F(code_of_files, frees_count_where_they_use_the_code) {
    const call_paths paths = paths_with({{"collect", "gc.cpp"}});
    const auto written = [&](verdict which) {
        advice each = advice_in(paths, which, 1);
        each.freed_at = {{.site = paths.site(frees_), .objects = 20}};
        return code_of(each, paths);
    };
    EXPECT_NE(written(verdict::multi_pool).find("inline acre::multi_pool"), std::string::npos);
    EXPECT_NE(written(verdict::arena).find("static acre::arena"), std::string::npos);
}

TEST_F(code_of_files, in_c_has_declarations_and_definitions) {
    const call_paths paths = paths_with({{"set", "src/set.c"}, {"process", "src/main.c"}, {"collect", "src/gc.c"}});
    for (const verdict which : other_allocators()) {
        if (which == verdict::leave || which == verdict::stack_buffer || in_c(which) != which) continue;
        for (const std::uint64_t threads : {1U, 4U}) {
            advice each = advice_in(paths, which, threads);
            each.variable = "set";
            each.figures.reallocated = each.figures.zeroed = true;
            each.c_functions = {"strdup"};
            each.sites.push_back({paths.site(processes_), 5});
            each.freed_at = {{.site = paths.site(frees_), .objects = 20}};
            const std::string pasted = code_of(each, paths);
            const std::string begin = traits_of(which).freed_as_whole
                                          ? "// in a header that set.c and main.c include:\n"
                                          : "// in a header that set.c, main.c and gc.c include:\n";
            EXPECT_TRUE(pasted.starts_with(begin)) << pasted;
            const std::size_t source = pasted.find("// in set.c, behind its own #include lines:\n");
            ASSERT_NE(source, std::string::npos) << pasted;
            const std::string header = pasted.substr(0, source);
            const bool is_pool = header.find("_allocate(void);") != std::string::npos;
            EXPECT_TRUE(is_pool || header.find("\nvoid* set_malloc(size_t bytes);\n") != std::string::npos) << pasted;
            EXPECT_EQ(pasted.find('@'), std::string::npos) << pasted;
            EXPECT_EQ(header.find("static"), std::string::npos) << pasted;
            write_file("set.h", "#pragma once\n" + header);
            write_file("a.c", "#include \"set.h\"\n" + pasted.substr(source));
            write_file("b.c", "#include \"set.h\"\nvoid* use(void);\nvoid* use(void) { return " +
                                  std::string{is_pool ? "set_allocate()" : "set_malloc(8)"} + "; }\n");
            EXPECT_EQ(join(C_JOIN_COMMAND, "c"), 0) << pasted;
            EXPECT_NE(cautions_text(each, paths).find("set.c is C: put the code into the files that it names, call"),
                      std::string::npos);
        }
    }
}

// Its blocks have nothing in front, and one line may free what malloc allocated as well.
TEST_F(code, in_c_several_sizes_are_of_the_general_heap) {
    EXPECT_EQ(in_c(verdict::multi_pool), verdict::general_heap);
    EXPECT_EQ(in_c(verdict::concurrent_multi_pool), verdict::general_heap);
    EXPECT_EQ(in_c(verdict::object_pool), verdict::object_pool);
    EXPECT_EQ(c_code_for(verdict::general_heap, false).find("realloc"), std::string::npos);
    const std::string pasted = c_code_for(verdict::general_heap, true);
    EXPECT_NE(pasted.find("if (acre_general_heap_owns(p)) acre_general_heap_free(p);\n    else free(p);"),
              std::string::npos)
        << pasted;
    EXPECT_NE(pasted.find("acre_general_heap_realloc(p, bytes) : realloc(p, bytes);"), std::string::npos) << pasted;
    compile_c(pasted);
}

TEST_F(code, in_c_strdup_has_a_function_in_its_place) {
    use_c();
    const call_paths paths{made_.tables};
    advice each = advice_of(verdict::general_heap, 1, stack_);
    each.c_functions = {"getline", "strdup"};
    const std::string pasted = code_of(each, paths);
    EXPECT_NE(pasted.find("\nstatic char* handle_request_strdup(const char* text) {"), std::string::npos) << pasted;
    compile_c(pasted);
    EXPECT_NE(cautions_text(each, paths)
                  .find("Some are allocated in strdup: call handle_request_strdup in place of it there. Others are "
                        "allocated in getline: write functions in place of these, too."),
              std::string::npos)
        << cautions_text(each, paths);
    each = advice_of(verdict::object_pool, 1, stack_);
    each.c_functions = {"strdup"};
    EXPECT_NE(cautions_text(each, paths).find("Some are allocated in strdup: write functions"), std::string::npos);
}

TEST_F(code, in_c_a_caution_says_that_other_lines_may_free) {
    use_c();
    const call_paths paths{made_.tables};
    for (const verdict which : other_allocators()) {
        if (which == verdict::leave || in_c(which) != which) continue;
        const std::string text = cautions_text(advice_of(which, 1, stack_), paths);
        EXPECT_EQ(text.find("was not reached in this run") != std::string::npos, which != verdict::stack_buffer)
            << text;
        EXPECT_EQ(text.find("new T"), std::string::npos) << text;
    }
    EXPECT_NE(cautions_text(advice_of(verdict::object_pool, 1, stack_), paths_).find("create() without arguments"),
              std::string::npos);
}

TEST_F(code, a_caution_names_the_classes_of_nested_types) {
    made_.stack({"main", "exch::book::book(int)", "book::book()"});
    const call_paths paths{made_.tables};
    advice each = advice_of(verdict::multi_pool, 1, stack_);
    each.places = {{.kind = place_kind::container, .name = "std::unordered_map<unsigned long, exch::book::place>"}};
    const std::string text = cautions_text(each, paths);
    EXPECT_NE(text.find("The code names members of exch::book: where these are private, put the lines with using, "
                        "static or inline that name them into class exch::book, a variable as static inline."),
              std::string::npos)
        << text;
    each.places = {{.kind = place_kind::container, .name = "std::vector<exch::order>"}};
    EXPECT_EQ(cautions_text(each, paths).find("names members"), std::string::npos);
}

TEST_F(code, has_no_malloc_where_a_function_has_operator_new_alone) {
    advice each = advice_of(verdict::arena, 1, stack_);
    each.places = {{.kind = place_kind::hook, .name = "add", .all_by_new = true},
                   {.kind = place_kind::container, .name = "std::vector<int>"}};
    EXPECT_EQ(code_of(each, paths_).find("for malloc"), std::string::npos) << code_of(each, paths_);
    each.places.pop_back();
    EXPECT_NE(code_of(each, paths_).find("T* object ="), std::string::npos) << code_of(each, paths_);
}

TEST_F(code, variables_have_no_tags_of_an_abi) {
    EXPECT_EQ(variable_name("make_body[abi:cxx11]"), "make_body");
}

TEST_F(code, variables_of_a_lambda_are_named_after_the_function_around_it) {
    EXPECT_EQ(variable_name("net::serve::{lambda(int)#2}::operator()"), "serve");
    EXPECT_EQ(variable_name("main::{lambda}::operator()"), "main");
}

TEST_F(code, in_c_the_place_of_a_reset_has_its_lines) {
    use_c();
    const call_paths paths{made_.tables};
    advice each = advice_of(verdict::arena, 1, stack_);
    each.lines = {8, 20};
    EXPECT_NE(code_of(each, paths)
                  .find("call it in server::handle_request (lines 8 to 20), after the last use; in the "
                        "loop, if any"),
              std::string::npos)
        << code_of(each, paths);
}

TEST_F(code, a_caution_says_how_a_container_makes_a_string_of_a_literal) {
    advice each = advice_of(verdict::arena, 1, stack_);
    each.places = {{.kind = place_kind::container, .name = std::string{string_name}}};
    EXPECT_EQ(cautions_text(each, paths_).find("emplace_back"), std::string::npos);
    each.places.push_back({.kind = place_kind::container, .name = "std::vector<std::string>"});
    EXPECT_NE(cautions_text(each, paths_).find("emplace_back(\"...\") does that"), std::string::npos)
        << cautions_text(each, paths_);
}

// Objects may outlive the thread that made them.
TEST_F(code, in_c_threads_share_an_arena_that_is_not_reset) {
    use_c();
    const call_paths paths{made_.tables};
    for (const verdict which : {verdict::monotonic_arena, verdict::phase_arena}) {
        const std::string pasted = code_of(advice_of(which, 4, stack_), paths);
        EXPECT_NE(pasted.find("static acre_concurrent_arena* "), std::string::npos) << pasted;
        EXPECT_EQ(pasted.find("_Thread_local"), std::string::npos) << pasted;
    }
}

TEST_F(code, in_c_it_has_a_calloc_where_the_program_calls_that) {
    use_c();
    const call_paths paths{made_.tables};
    for (const verdict which : other_allocators()) {
        if (which == verdict::leave || in_c(which) != which) continue;
        for (const std::uint64_t threads : {1U, 4U}) {
            advice each = advice_of(which, threads, stack_);
            each.figures.reallocated = threads > 1;
            EXPECT_EQ(code_of(each, paths).find("memset"), std::string::npos) << name_of(which);
            each.figures.zeroed = true;
            const std::string pasted = code_of(each, paths);
            const bool is_zeroed_by_heap = which == verdict::general_heap;
            EXPECT_NE(pasted.find(is_zeroed_by_heap ? "acre_general_heap_calloc(" : ", 0, "), std::string::npos)
                << pasted;
            compile_c(pasted);
        }
    }
}

TEST_F(code, in_c_a_caution_names_the_functions_that_there_are) {
    use_c();
    const call_paths paths{made_.tables};
    advice each = advice_of(verdict::scratch, 1, stack_);
    EXPECT_NE(cautions_text(each, paths).find("in place of malloc and free"), std::string::npos);
    each.figures.reallocated = true;
    EXPECT_NE(cautions_text(each, paths).find("in place of malloc, realloc and free"), std::string::npos);
    each.figures.zeroed = true;
    EXPECT_NE(cautions_text(each, paths).find("malloc, realloc, calloc and free"), std::string::npos);
    EXPECT_NE(cautions_text(each, paths).find("libacre.a -lstdc++ -lm -pthread"), std::string::npos);
    each = advice_of(verdict::stack_buffer, 1, stack_);
    EXPECT_EQ(cautions_of(each, paths).back(), "made.c is C: the code stands in place of malloc and free.");
}

// The sizes of a run say the alignment; a size that the run did not have is aligned to 16 if it may need that.
TEST_F(code, in_c_an_arena_aligns_to_8_where_no_size_needs_16) {
    use_c();
    const call_paths paths{made_.tables};
    advice each = advice_of(verdict::phase_arena, 1, stack_);
    each.figures.objects = each.figures.aligned_to_8 = 100;
    const std::string pasted = code_of(each, paths);
    EXPECT_NE(pasted.find("bytes, bytes % 16 == 0 ? 16 : 8);"), std::string::npos) << pasted;
    compile_c(pasted);
    each.figures.aligned_to_8 = 99;
    EXPECT_NE(code_of(each, paths).find("bytes, 0);"), std::string::npos);
}

TEST_F(code, a_caution_names_calloc_where_the_code_does_not_set_to_zero) {
    advice each = advice_of(verdict::multi_pool, 1, stack_);
    EXPECT_EQ(cautions_of(each, paths_).back().find("calloc"), std::string::npos);
    each.figures.zeroed = true;
    EXPECT_NE(cautions_of(each, paths_).back().find("calloc"), std::string::npos);
}

TEST_F(code, in_c_no_caution_is_about_containers) {
    const auto cautions_in = [&](const char* file) {
        for (frame_info& frame : made_.tables.frames) frame.locations[0].file = file;
        const call_paths paths{made_.tables};
        std::string text;
        for (const std::string& each : cautions_of(advice_of(verdict::arena, 1, stack_), paths)) text += each + "\n";
        return text;
    };
    EXPECT_NE(cautions_in("made.cpp").find("Containers in the arena"), std::string::npos);
    EXPECT_EQ(cautions_in("made.c").find("Containers in the arena"), std::string::npos);
}

TEST_F(code, an_arena_per_lifetime_has_room_and_the_heap_behind_it) {
    const std::string pasted = code_for(verdict::multi_arena, 1);
    EXPECT_NE(pasted.find("static acre::fallback handle_request_memory{handle_request_arenas, acre::heap{}};"),
              std::string::npos)
        << pasted;
}

TEST_F(code, every_text_of_every_verdict_can_be_filled) {
    for (const verdict which : all_verdicts) {
        for (const std::uint64_t threads : {1U, 4U}) {
            const advice each = advice_of(which, threads, stack_);
            EXPECT_NE(title_of(each, paths_).find("handle_request"), std::string::npos) << name_of(which);
            EXPECT_EQ((evidence_of(each, paths_) + title_of(each, paths_)).find_first_of("{}"), std::string::npos);
            EXPECT_EQ(cautions_of(each, paths_).empty(), which == verdict::leave) << name_of(which);
        }
    }
}

// main ends once: what stands first in it is reset at the end of the program.
TEST_F(code, an_arena_of_main_is_reset_in_a_loop) {
    const auto in_main = made_.stack({"main:9"});
    const call_paths paths{made_.tables};
    advice each = advice_of(verdict::arena, 1, stack_);
    EXPECT_NE(code_of(each, paths).find("first in server::handle_request, or in its loop around"), std::string::npos);
    each.site = paths.site(in_main);
    each.function = paths.sites()[each.site].function;
    const std::string pasted = code_of(each, paths);
    EXPECT_NE(pasted.find("in the loop of main around these objects"), std::string::npos) << pasted;
    EXPECT_EQ(pasted.find("first in"), std::string::npos) << pasted;
}

TEST_F(code, sites_of_one_text_are_named_once) {
    const auto one = made_.stack({"main", "store<int>::put:17", "operator new(unsigned long)"});
    const auto other = made_.stack({"main", "store<long>::put:17", "operator new(unsigned long)"});
    const call_paths paths{made_.tables};
    advice each = advice_of(verdict::arena, 1, stack_);
    each.blockers = {{paths.site(one), 20}, {paths.site(other), 5}};
    EXPECT_EQ(cautions_of(each, paths).front(),
              "Leave these on malloc, as they outlive the reset: store::put (made.cpp:17) (25 objects).");
}

TEST_F(code, the_size_tells_sites_without_lines_apart) {
    advice each = advice_of(verdict::leave, 1, stack_);
    each.figures.sizes = 1;
    each.figures.top_size = 72;
    EXPECT_EQ(title_of(each, paths_), "leave server::handle_request as it is");
    for (frame_info& frame : made_.tables.frames) frame.locations[0].file.clear();
    const call_paths paths{made_.tables};
    EXPECT_EQ(title_of(each, paths), "leave server::handle_request (72 B) as it is");
    each.figures.sizes = 2;
    EXPECT_EQ(title_of(each, paths), "leave server::handle_request as it is");
}

TEST_F(code, leave_has_none) {
    EXPECT_EQ(code_for(verdict::leave, 1), "");
}

TEST_F(code, names_the_function_even_if_that_gives_no_variable_name) {
    for (const verdict which : {verdict::arena, verdict::scratch, verdict::stack_buffer}) {
        EXPECT_NE(code_in(lambda_, which).find(" work::{lambda}::operator()"), std::string::npos) << name_of(which);
        EXPECT_NE(code_in(odd_, which).find(" odd?name"), std::string::npos) << name_of(which);
    }
}

TEST_F(code, an_arena_shared_by_threads_is_concurrent) {
    for (const verdict which : {verdict::monotonic_arena, verdict::phase_arena}) {
        EXPECT_NE(code_for(which, 1).find("static acre::arena "), std::string::npos) << name_of(which);
        EXPECT_NE(code_for(which, 2).find("static acre::concurrent_arena "), std::string::npos) << name_of(which);
        EXPECT_NE(code_for(which, 2).find("acre::allocator<T, acre::concurrent_arena>"), std::string::npos);
    }
}

TEST_F(code, a_pool_of_each_thread_is_thread_local) {
    EXPECT_NE(code_for(verdict::object_pool, 2).find("thread_local acre::object_pool<T>"), std::string::npos);
    EXPECT_EQ(code_for(verdict::concurrent_object_pool, 2).find("thread_local"), std::string::npos);
}

}  // namespace
