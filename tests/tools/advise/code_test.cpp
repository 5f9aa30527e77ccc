// The texts of every verdict, and that its code compiles against the real headers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "advise/advice_code.hpp"
#include "advise/wording.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"

namespace {

using namespace acre::test;

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
    for (const verdict which : all_verdicts) {
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
    for (const verdict which : all_verdicts) {
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

TEST_F(code, in_c_it_is_c) {
    use_c();
    const call_paths paths{made_.tables};
    for (const verdict which : all_verdicts) {
        if (which == verdict::leave) continue;
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

TEST_F(code, in_c_what_a_thread_has_ends_with_it) {
    use_c();
    const call_paths paths{made_.tables};
    for (const verdict which :
         {verdict::arena, verdict::scratch, verdict::object_pool, verdict::multi_pool, verdict::multi_arena}) {
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

TEST_F(code, variables_have_no_tags_of_an_abi) {
    EXPECT_EQ(variable_name("make_body[abi:cxx11]"), "make_body");
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
    for (const verdict which : all_verdicts) {
        if (which == verdict::leave) continue;
        for (const std::uint64_t threads : {1U, 4U}) {
            advice each = advice_of(which, threads, stack_);
            each.figures.reallocated = threads > 1;
            EXPECT_EQ(code_of(each, paths).find("memset"), std::string::npos) << name_of(which);
            each.figures.zeroed = true;
            const std::string pasted = code_of(each, paths);
            EXPECT_NE(pasted.find(", 0, "), std::string::npos) << pasted;
            compile_c(pasted);
        }
    }
}

TEST_F(code, in_c_a_caution_names_the_functions_that_there_are) {
    use_c();
    const call_paths paths{made_.tables};
    advice each = advice_of(verdict::scratch, 1, stack_);
    EXPECT_NE(cautions_of(each, paths).back().find("in place of malloc and free"), std::string::npos);
    each.figures.reallocated = true;
    EXPECT_NE(cautions_of(each, paths).back().find("in place of malloc, realloc and free"), std::string::npos);
    each.figures.zeroed = true;
    EXPECT_NE(cautions_of(each, paths).back().find("malloc, realloc, calloc and free"), std::string::npos);
    EXPECT_NE(cautions_of(each, paths).back().find("libacre.a -lstdc++ -lm -pthread"), std::string::npos);
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
