#include "trace/function_name.hpp"

#include <gtest/gtest.h>

namespace {

using namespace acre::tool;

TEST(function_name, short_names_have_no_types_and_arguments) {
    const std::pair<const char*, const char*> expected[] = {
        {"main", "main"},
        {"game::battle::step(int)", "game::battle::step"},
        {"void store<Orc>::add<int>(int, std::vector<int, std::allocator<int> > const&)", "store::add"},
        {"std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector::push_back"},
        {"(anonymous namespace)::helper(char)", "helper"},
        {"a::(anonymous namespace)::helper(char)", "a::helper"},
        {"operator new(unsigned long)", "operator new"},
        {"operator delete[](void*, unsigned long)", "operator delete[]"},
        {"grid::operator()(int, int) const", "grid::operator()"},
        {"bool operator< <int>(a<int> const&, a<int> const&)", "operator<"},
        {"std::ostream& operator<<(std::ostream&, point)", "operator<<"},
        {"run(int)::{lambda(int)#1}::operator()(int) const", "run::{lambda}::operator()"},
        {"table::size() const::{lambda()#1}::operator()() const", "table::size::{lambda}::operator()"},
        {"(anonymous namespace)::table::{lambda#2}::operator()", "table::{lambda}::operator()"},
        {"std::string std::operator+<char, std::allocator<char> >(char const*, std::string&&)", "std::operator+"},
        {"bool operator==<int>(a<int> const&, a<int> const&)", "operator=="},
        {"auto operator<=><int>(a<int> const&, a<int> const&)", "operator<=>"},
        {"smart<int>::operator->() const", "smart::operator->"},
        {"decltype (::new ((void*)(0)) pub((declval<int&>)())) std::construct_at<pub, int&>(pub*, int&)",
         "std::construct_at"},
        {"decltype(auto) visit<f>(f&&)", "visit"},
        {"decltype (((a)->b)()) call<decltype (((a)->b)())>(a*)", "call"},
        {"sqlite3_step", "sqlite3_step"},
        {"libz.so.1+0x1234", "libz.so.1+0x1234"},
    };
    for (const auto& [name, wanted] : expected) EXPECT_EQ(short_name(name), wanted) << name;
}

TEST(function_name, of_names_that_cannot_be_demangled_is_what_can_be_read) {
    const char* pair =
        "_ZNSt4pairIKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt10shared_ptrIN12_GLOBAL__N_"
        "15ValueEEEC2IJRS6_"
        "EJLm0EEJETpTnmJEEERSt5tupleIJDpT_EERSE_IJDpT1_EESt12_Index_tupleIJXspT0_EEESN_IJXspT2_EEE";
    EXPECT_EQ(short_name(pair), "std::pair::pair");
    EXPECT_TRUE(passes_memory_on(pair));
    EXPECT_EQ(short_name("_ZN4game12_GLOBAL__N_15store3putITpTnmEEvv"), "game::store::put");
    EXPECT_EQ(short_name("_Z5parseITpTnmEvv"), "parse");
    EXPECT_EQ(short_name("_ZN99orc"), "_ZN99orc");
    EXPECT_EQ(short_name("_Zorc"), "_Zorc");
}

TEST(function_name, never_fails_on_odd_names) {
    for (const char* odd : {"", "<", ">", "(", ")", "a<b", "operator", "operator(", "{", "{lambda", " ", "a b c("}) {
        EXPECT_NO_THROW(short_name(odd)) << odd;
    }
}

TEST(function_name, long_ones_lose_arguments_and_keep_the_functions_own_name) {
    std::string type = "int";
    for (int i = 0; i < 30; ++i) type = "std::map<" + type + ">";
    EXPECT_EQ(shortened_name("cache<" + type + ">::find(" + type + " const&)::{lambda()#1}::operator()() const", 90),
              "cache<std::map<…>>::find(std::map<…> const&)::{lambda()#1}::operator()() const");
    EXPECT_EQ(shortened_name("std::ostream& operator<< <" + type + ">(std::ostream&)", 60),
              "std::ostream& operator<< <std::map<…>>(std::ostream&)");
    EXPECT_EQ(shortened_name("short_one<int>::f()", 60), "short_one<int>::f()");
    EXPECT_EQ(shortened_name(std::string(100, 'a') + "<int>" + std::string(100, 'b'), 10), "aaaaa … bbbbb");
    for (const char* odd : {"<", ">>>", "operator", "((((", "a->b->"}) EXPECT_NO_THROW(shortened_name(odd, 1)) << odd;
}

TEST(function_name, wrappers_of_malloc_pass_memory_on) {
    for (const char* name :
         {"operator new(unsigned long)", "std::string::_M_create(unsigned long&, unsigned long)",
          "void std::vector<int>::_M_realloc_insert<int>(int*)", "xmalloc", "sqlite3DbMallocRawNN", "jv_mem_alloc",
          "g_strdup", "__gnu_cxx::new_allocator<int>::allocate(unsigned long)", "my::buffer::allocate(int)",
          "Orc* acre::detail::instrumented<acre::arena, acre::detail::trace_meter>::create<Orc>()"}) {
        EXPECT_TRUE(passes_memory_on(name)) << name;
    }
}

TEST(function_name, functions_that_decide_to_allocate_do_not) {
    for (const char* name :
         {"main", "allocateCursor", "game::battle::step(std::vector<int, std::allocator<int> >)", "stdio_open",
          "newton(double)", "mystd::thing()", "acre::tool::record(acre::tool::record_options const&)"}) {
        EXPECT_FALSE(passes_memory_on(name)) << name;
    }
}

TEST(function_name, allocation_functions_are_told_from_their_callers_in_libraries) {
    for (const char* name : {"malloc", "operator new(unsigned long)", "std::allocator<int>::allocate(unsigned long)"}) {
        EXPECT_TRUE(only_allocates(name)) << name;
    }
    for (const char* name : {"qsort", "std::locale::classic()", "operator delete(void*)", "_dl_init"}) {
        EXPECT_FALSE(only_allocates(name)) << name;
    }
}

// Found by the fuzzer `text`: tests/fuzz/corpus/text/function-of-the-command.
TEST(function_name, functions_of_the_command_decide_themselves_whatever_their_names_are) {
    for (const char* name : {"acre::tool::copy_of_strdup(char const*)", "acre::tool::event_list::allocate()"}) {
        EXPECT_FALSE(passes_memory_on(name)) << name;
        EXPECT_FALSE(only_allocates(name)) << name;
    }
}

TEST(function_name, runtime_libraries_are_known_by_their_file) {
    EXPECT_TRUE(is_runtime_library("/lib/x86_64-linux-gnu/libc.so.6"));
    EXPECT_TRUE(is_runtime_library("/usr/lib/libstdc++.so.6.0.30"));
    EXPECT_TRUE(is_runtime_library("/build/lib/libacre-record.so"));
    EXPECT_FALSE(is_runtime_library("/usr/lib/libcurl.so.4"));
    EXPECT_FALSE(is_runtime_library("/opt/libc.so.6/program"));
}

}  // namespace
