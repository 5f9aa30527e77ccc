// A parser that builds a tree of each document, sums up its values, and discards it.
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include PREDICTION_MEMORY

namespace {

using namespace prediction;

std::string make_document(std::mt19937& random, unsigned depth) {
    if (depth == 0 || random() % 4 == 0) {
        if (random() % 2 == 0) return std::to_string(random() % 1'000'000);
        return '"' + std::string(1 + random() % 40, static_cast<char>('a' + random() % 26)) + '"';
    }
    std::string made = "[";
    for (unsigned i = 0; i < 2 + random() % 7; ++i) made += (i == 0 ? "" : ",") + make_document(random, depth - 1);
    return made + "]";
}

/// A number, a text or a list.
struct value {
    explicit value(round_memory& memory) : characters{memory.make<text>()}, parts{memory.make<list<value>>()} {}

    std::uint64_t number = 0;
    text characters;
    list<value> parts;
};

class parser {
public:
    parser(round_memory& memory, std::string_view source) : memory_{memory}, source_{source} {}

    value parse() {
        value made{memory_};
        if (source_[at_] == '[') {
            parse_list(made);
        } else if (source_[at_] == '"') {
            const std::size_t end = source_.find('"', at_ + 1);
            made.characters.assign(source_.substr(at_ + 1, end - at_ - 1));
            at_ = end + 1;
        } else {
            while (at_ < source_.size() && std::isdigit(static_cast<unsigned char>(source_[at_])) != 0) {
                made.number = made.number * 10 + static_cast<std::uint64_t>(source_[at_++] - '0');
            }
        }
        return made;
    }

private:
    void parse_list(value& into) {
        while (source_[at_] != ']') {
            ++at_;  // '[' or ','
            into.parts.push_back(parse());
        }
        ++at_;
    }

    round_memory& memory_;
    std::string_view source_;
    std::size_t at_ = 0;
};

std::uint64_t sum_of(const value& all) {
    std::uint64_t sum = all.number + all.characters.size();
    for (const value& each : all.parts) sum += sum_of(each);
    return sum;
}

std::uint64_t read_document(round_memory& memory, std::string_view source) {
    std::uint64_t sum = 0;
    {
        typename round_memory::template kept<value> document{memory, parser{memory, source}.parse()};
        sum = sum_of(*document);
    }
    memory.end_of_round();
    return sum;
}

}  // namespace

int main(int count, char** arguments) {
    const std::size_t rounds = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 8'000;
    std::mt19937 random{20'26};
    std::vector<std::string> documents;
    for (int i = 0; i < 100; ++i)
        documents.push_back("[" + make_document(random, 4) + "," + make_document(random, 4) + "]");
    round_memory memory;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < rounds; ++i) sum += read_document(memory, documents[i % documents.size()]);
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
