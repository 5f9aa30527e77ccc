// Gives libFuzzer the mutations of records.hpp, and a crossover: the beginning of one sequence and the end of another.
#include "fuzz/records.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    return acre_test::record_mutation{data, size, max_size, seed}.run();
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second, std::size_t second_size,
                                                 std::uint8_t* made, std::size_t max_size, unsigned seed) {
    using namespace acre_test;
    std::minstd_rand random{seed};
    const auto records = [](std::size_t size) {
        return size < record_head_bytes ? 0 : (size - record_head_bytes) / record_bytes;
    };
    const std::size_t taken = records(first_size) == 0 ? 0 : random() % records(first_size);
    const std::size_t skipped = records(second_size) == 0 ? 0 : random() % records(second_size);
    const std::size_t begin = std::min({record_head_bytes + taken * record_bytes, first_size, max_size});
    const std::size_t from = std::min(record_head_bytes + skipped * record_bytes, second_size);
    const std::size_t rest = std::min(second_size - from, max_size - begin);
    std::memcpy(made, first, begin);
    std::memcpy(made + begin, second + from, rest);
    return begin + rest;
}
