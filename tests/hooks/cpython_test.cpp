// An embedded CPython on acre.
#include <acre/adapt/hooks/cpython.hpp>  // first, as Python.h asks
//
#include <gtest/gtest.h>

#include <acre/acre.hpp>

namespace {

acre::limited<acre::multi_pool>& objects() {
    // Never destroyed: CPython keeps some blocks to the program's end.
    static auto* resource = new acre::limited<acre::multi_pool>{{.limit_bytes = 64 << 20}};
    return *resource;
}

// Those objects; request number `failing`, from 1 on, finds no memory.
struct failing_objects {
    std::size_t failing = 0;
    std::size_t requests = 0;

    void* allocate(std::size_t bytes, std::size_t alignment) { return objects().allocate(bytes, alignment); }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        return ++requests == failing ? nullptr : objects().try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        objects().deallocate(p, bytes, alignment);
    }
};
failing_objects& objects_that_fail() {
    static failing_objects resource;
    return resource;
}
acre::malloc_face<failing_objects>& object_memory() {
    static acre::malloc_face memory{objects_that_fail()};
    return memory;
}
acre::malloc_face<acre::concurrent_multi_pool>& raw_memory() {
    static auto* resource = new acre::concurrent_multi_pool;
    static acre::malloc_face memory{*resource};
    return memory;
}

class cpython : public testing::Test {
    void SetUp() override {
        acre::set_cpython_memory<PYMEM_DOMAIN_RAW>(raw_memory());
        acre::set_cpython_memory<PYMEM_DOMAIN_MEM>(object_memory());
        acre::set_cpython_memory<PYMEM_DOMAIN_OBJ>(object_memory());
        Py_InitializeEx(0);
    }
    void TearDown() override { EXPECT_EQ(Py_FinalizeEx(), 0); }
};

// One test, because CPython is initialised once in a process.
TEST_F(cpython, runs_on_a_limited_pool) {
    EXPECT_GT(objects().live_bytes(), 100'000u);
    EXPECT_EQ(PyRun_SimpleString(R"(
import threading
words = {f"word {i}": [i] * (i % 50) for i in range(5000)}
assert sum(map(len, words.values())) == 122500
results = []
threads = [threading.Thread(target=lambda: results.append(sorted(words)[0])) for _ in range(4)]
for each in threads: each.start()
for each in threads: each.join()
assert results == ["word 0"] * 4
)"),
              0);
    // A program that asks for too much gets MemoryError, and goes on.
    EXPECT_EQ(PyRun_SimpleString(R"(
try:
    hoard = [bytes(1000) for _ in range(10**6)]
    raise AssertionError("the limit did not hold")
except MemoryError:
    pass
assert len([0] * 1000) == 1000
)"),
              0);
    EXPECT_LE(objects().peak_bytes(), std::size_t{64} << 20);

    // Each request fails in turn: a script gets MemoryError, or goes on where CPython can, and the interpreter does.
    const char* script = R"(
import json
try:
    assert json.loads(json.dumps([{"n": i, "s": str(i)} for i in range(10)]))[9]["n"] == 9
except MemoryError:
    pass
)";
    ASSERT_EQ(PyRun_SimpleString(script), 0);
    for (std::size_t n = 1;; n += n / 8 + 1) {
        objects_that_fail().requests = 0;
        objects_that_fail().failing = n;
        PyRun_SimpleString(script);
        PyErr_Clear();
        objects_that_fail().failing = 0;
        ASSERT_EQ(PyRun_SimpleString("assert sorted([3, 1, 2]) == [1, 2, 3]"), 0) << "after request " << n << " failed";
        if (objects_that_fail().requests < n) break;
    }
}

}  // namespace
