// What acre reads of a program's file, by this test's own.
#include "programs/elf_file.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace {

using namespace acre::tool;

[[gnu::noinline]] const void* where_it_is_called() {
    return __builtin_return_address(0);
}

const void* (*volatile writable)() = where_it_is_called;

call_kind kind_of_call_before(const void* address) {
    Dl_info file{};
    EXPECT_NE(::dladdr(address, &file), 0);
    const auto* begin = static_cast<const char*>(file.dli_fbase);
    return call_before("/proc/self/exe", static_cast<std::uint64_t>(static_cast<const char*>(address) - begin));
}

TEST(elf_file, tells_calls_by_a_pointer_from_others) {
    EXPECT_EQ(kind_of_call_before(where_it_is_called()), call_kind::direct);
    EXPECT_EQ(kind_of_call_before(writable()), call_kind::by_pointer);
    const void* (*volatile in_memory)() = where_it_is_called;
    EXPECT_EQ(kind_of_call_before(in_memory()), call_kind::by_pointer);
}

TEST(elf_file, finds_no_call_where_there_is_none) {
    EXPECT_EQ(call_before("/proc/self/exe", 8), call_kind::none);
    EXPECT_EQ(call_before("/proc/self/exe", ~std::uint64_t{0}), call_kind::none);
    EXPECT_EQ(call_before("/no/such/file", 4096), call_kind::none);
}

}  // namespace
