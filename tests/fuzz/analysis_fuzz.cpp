// Valid traces of arbitrary functions, stacks, sizes, threads and lifetimes: the commands' results must not contradict
// each other.
#include <filesystem>

#include "fuzz/analyses.hpp"
#include "fuzz/choices.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"

namespace {

using namespace acre::test;

/// Names of functions, a few of which only pass memory on.
std::string function_name(std::uint32_t choice) {
    constexpr const char* special[] = {"malloc", "operator new(unsigned long)", "std::vector<int>::push_back(int&&)",
                                       ""};
    if (choice % 16 < 4) return special[choice % 16];
    return "f" + std::to_string(choice % 11) + ":" + std::to_string(choice / 16 % 7);
}

std::vector<std::uint32_t> stacks_of(acre_test::choices& choose, made_trace& made) {
    std::vector<std::uint32_t> stacks{no_stack};
    for (std::uint32_t left = choose() % 40; left > 0; --left) {
        const std::string names[] = {function_name(choose()), function_name(choose()), function_name(choose())};
        stacks.push_back(made.stack({names[0], names[1], names[2]}));
    }
    return stacks;
}

made_trace trace_of(acre_test::choices& choose) {
    made_trace made;
    const std::vector<std::uint32_t> stacks = stacks_of(choose, made);
    std::vector<std::uint64_t> live;
    std::uint32_t threads = 0;
    while (!choose.empty()) {
        const std::uint32_t what = choose();
        const std::uint32_t place = choose();
        const std::uint32_t stack = stacks[place % stacks.size()];
        const std::uint32_t thread = std::min(place / 256 % 8, threads);
        threads = std::max(threads, thread + 1);
        const operation realloc_or = what / 4 % 5 == 0 ? operation::realloc : operation::malloc;
        if (what % 4 < 2 || live.empty()) {
            // Mostly small; some of every magnitude, up to the largest that can be written.
            const std::uint64_t size =
                what / 32 % 8 == 0 ? (~std::uint64_t{0} >> (what / 256 % 64)) - 1 : what / 256 % 64;
            live.push_back(made.allocate(stack, size, thread, realloc_or));
        } else {
            const std::size_t which = what % 4 == 2 ? live.size() - 1 : what / 32 % live.size();
            made.release(live[which], stack, thread, realloc_or == operation::realloc ? realloc_or : operation::free);
            live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
        }
    }
    return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    static const temporary_directory directory;
    acre_test::choices choose{{data, bytes}};
    trace_reader reader{trace_of(choose).write(directory / "a.acre")};
    try {
        acre_test::analyse(reader);
    } catch (const tool_error& error) {
        // Sizes that no program can have.
        acre_test::check_sentence(error);
    }
    return 0;
}
