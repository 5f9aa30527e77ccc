// What acre reads of a program's file, by this test's own.
#include "programs/elf_file.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "programs/imported_uses.hpp"

namespace {

using namespace acre::tool;

[[gnu::noinline]] const void* where_it_is_called() {
    return __builtin_return_address(0);
}

const void* (*volatile writable)() = where_it_is_called;

// Code that takes the address of a function calls it through another entry of the table of jumps.
[[gnu::noinline]] auto address_of_dladdr() {
    return &::dladdr;
}

// As a compiler ends a function with `return dladdr(...)`.
asm(R"(
    .text
    .type acre_jumps_to_dladdr, @function
    acre_jumps_to_dladdr: jmp dladdr@PLT
    .size acre_jumps_to_dladdr, . - acre_jumps_to_dladdr
)");

[[gnu::used]] int (*volatile set_to_dladdr)(const void*, Dl_info*) = &::dladdr;

code_call call_before_here(const void* address) {
    Dl_info file{};
    EXPECT_NE(::dladdr(address, &file), 0);
    const auto* begin = static_cast<const char*>(file.dli_fbase);
    return call_before("/proc/self/exe", static_cast<std::uint64_t>(static_cast<const char*>(address) - begin));
}

TEST(elf_file, tells_calls_by_a_pointer_from_others) {
    const code_call direct = call_before_here(where_it_is_called());
    EXPECT_EQ(direct.kind, call_kind::direct);
    ASSERT_TRUE(direct.target.has_value());
    const auto called = function_table{"/proc/self/exe"}.find(*direct.target);
    ASSERT_TRUE(called.has_value());
    EXPECT_NE(called->symbol.find("where_it_is_called"), std::string::npos) << called->symbol;
    EXPECT_EQ(call_before_here(writable()).kind, call_kind::by_pointer);
    const void* (*volatile in_memory)() = where_it_is_called;
    EXPECT_EQ(call_before_here(in_memory()).kind, call_kind::by_pointer);
}

TEST(imported_uses, are_the_functions_and_variables_that_use_one_of_another_file) {
    constexpr std::array<std::string_view, 1> names{"dladdr"};
    ASSERT_NE(address_of_dladdr(), nullptr);
    const std::vector<imported_use> found = uses_of_imported("/proc/self/exe", names);
    const auto has = [&](const std::string& name, use_kind kind) {
        return std::ranges::any_of(found, [&](const imported_use& each) {
            return each.kind == kind && each.name.find(name) != std::string::npos && each.imported == "dladdr";
        });
    };
    EXPECT_TRUE(has("call_before_here", use_kind::call));
    EXPECT_TRUE(has("address_of_dladdr", use_kind::address));
    EXPECT_TRUE(has("set_to_dladdr", use_kind::variable));
    EXPECT_TRUE(has("acre_jumps_to_dladdr", use_kind::jump));
    EXPECT_FALSE(has("address_of_dladdr", use_kind::call));
    constexpr std::array<std::string_view, 1> others{"no_such_function"};
    EXPECT_TRUE(uses_of_imported("/proc/self/exe", others).empty());
    EXPECT_TRUE(uses_of_imported("/no/such/file", names).empty());
}

TEST(elf_file, finds_no_call_where_there_is_none) {
    EXPECT_EQ(call_before("/proc/self/exe", 8).kind, call_kind::none);
    EXPECT_EQ(call_before("/proc/self/exe", ~std::uint64_t{0}).kind, call_kind::none);
    EXPECT_EQ(call_before("/no/such/file", 4096).kind, call_kind::none);
}

}  // namespace
