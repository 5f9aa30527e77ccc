// A script in an embedded CPython. The argument names the memory of its objects.
#include <acre/adapt/hooks/cpython.hpp>
//
#include <acre/acre.hpp>

#include "measure.hpp"

int main(int, char** arguments) {
    const std::string_view memory = arguments[1];
    static acre::multi_pool objects;
    static acre::malloc_face face{objects};
    if (memory == "multi_pool") {
        acre::set_cpython_memory<PYMEM_DOMAIN_MEM>(face);
        acre::set_cpython_memory<PYMEM_DOMAIN_OBJ>(face);
    } else if (memory != "default") {
        acre_bench::unknown(memory);
    }
    Py_InitializeEx(0);
    return acre_bench::measure([] {
        PyRun_SimpleString(R"(
people = [{"name": f"person {i}", "age": i % 90, "friends": []} for i in range(20000)]
for a, b in zip(people, people[1:]): a["friends"].append(b)
text = " ".join(p["name"] for p in people)
counts = {}
for word in text.split(): counts[word] = counts.get(word, 0) + 1
assert counts["person"] == 20000
del people, text, counts
)");
    });
}
