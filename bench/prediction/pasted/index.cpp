// Makes an index of the words of a document, and asks it: nested containers that die together. FOLLOWED: with the code
// of its advice.
#ifdef FOLLOWED
#include <acre/acre.hpp>
#endif
#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

#ifdef FOLLOWED
using namespace acre::literals;
static acre::arena index_document_memory{{.first_block_bytes = 117_KiB, .max_block_bytes = 1_MiB}};
using index_document_string = std::basic_string<char, std::char_traits<char>, acre::allocator<char, acre::arena>>;
using index_document_vector = std::vector<index_document_string, acre::allocator<index_document_string, acre::arena>>;
using index_document_map = std::map<index_document_string, int, std::less<index_document_string>,
                                    acre::allocator<std::pair<index_document_string const, int>, acre::arena>>;
using index_document_unordered_map =
    std::unordered_map<int, index_document_vector, std::hash<int>, std::equal_to<int>,
                       acre::allocator<std::pair<int const, index_document_vector>, acre::arena>>;

struct word_index {
    index_document_unordered_map by_length{index_document_memory};
    index_document_map counts{index_document_memory};
};
index_document_string begun_word() {
    return {"word-of-some-length-", index_document_memory};
}
#else
struct word_index {
    std::unordered_map<int, std::vector<std::string>> by_length;
    std::map<std::string, int> counts;
};
std::string begun_word() {
    return "word-of-some-length-";
}
#endif

std::uint64_t sum_of_document(std::mt19937& random) {
    word_index index;
    for (int i = 0; i < 400; ++i) {
        auto word = begun_word();
        for (unsigned part = 0; part < 1 + random() % 4; ++part) word += std::to_string(random() % 100);
        ++index.counts[word];
        index.by_length[static_cast<int>(word.size())].push_back(std::move(word));
    }
    std::uint64_t sum = index.counts.size();
    for (const auto& [length, words] : index.by_length) sum += static_cast<std::uint64_t>(length) * words.size();
    return sum;
}

std::uint64_t index_document(std::mt19937& random) {
#ifdef FOLLOWED
    acre::scratch index_document_scope{index_document_memory};  // first line of index_document
#endif
    return sum_of_document(random);
}

}  // namespace

int main() {
    std::mt19937 random{1};
    std::uint64_t sum = 0;
    for (int i = 0; i < 1500; ++i) sum += index_document(random);
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
