// A server that answers requests in turn. It parses each into a table of texts and a list of numbers, looks values up,
// and answers. All of that data lives until the answer is sent. One result in a hundred goes into a cache.
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

/// The data that requests ask for. Made once, with malloc in both builds.
std::vector<std::string> make_requests(std::size_t count) {
    std::mt19937 random{20'26};
    std::vector<std::string> requests;
    for (std::size_t i = 0; i < count; ++i) {
        std::string request = "user=" + std::to_string(random() % 100'000);
        for (unsigned field = 0; field < 12 + random() % 20; ++field) {
            request += "&a_field_of_some_length_" + std::to_string(field) + "=";
            for (unsigned part = 0; part < 1 + random() % 6; ++part) request += std::to_string(random()) + ",";
        }
        requests.push_back(std::move(request));
    }
    return requests;
}

class server {
public:
    std::uint64_t answer(std::string_view request) {
        const std::uint64_t sum = answer_in_memory(request);
        memory_.end_of_round();
        return sum;
    }

private:
    std::uint64_t answer_in_memory(std::string_view request) {
        typename round_memory::template kept<table<text, text>> fields{memory_, parse(request)};
        typename round_memory::template kept<list<std::uint64_t>> numbers{memory_, numbers_of(*fields)};
        typename round_memory::template kept<text> reply{memory_, render(*fields, *numbers)};
        std::uint64_t sum = (*reply).size();
        for (const std::uint64_t number : *numbers) sum += number;
        if (sum % 100 == 0) remember(*reply);
        return sum;
    }

    text copy(std::string_view of) {
        text made = memory_.make<text>();
        made.assign(of);
        return made;
    }

    table<text, text> parse(std::string_view request) {
        auto fields = memory_.make<table<text, text>>();
        while (!request.empty()) {
            const std::string_view field = request.substr(0, request.find('&'));
            request.remove_prefix(field.size() == request.size() ? field.size() : field.size() + 1);
            const std::size_t equal = field.find('=');
            fields.emplace(copy(field.substr(0, equal)), copy(field.substr(equal + 1)));
        }
        return fields;
    }

    list<std::uint64_t> numbers_of(const table<text, text>& fields) {
        auto numbers = memory_.make<list<std::uint64_t>>();
        for (const auto& [name, value] : fields) {
            for (std::size_t at = 0; at < value.size(); at = value.find(',', at) + 1) {
                numbers.push_back(std::strtoull(value.c_str() + at, nullptr, 10));
                if (value.find(',', at) == text::npos) break;
            }
        }
        return numbers;
    }

    text render(const table<text, text>& fields, const list<std::uint64_t>& numbers) {
        text reply = memory_.make<text>();
        for (const auto& [name, value] : fields) {
            reply += name;
            reply += ": ";
            reply += value;
            reply += '\n';
        }
        reply += std::to_string(numbers.size());
        return reply;
    }

    // What outlives the request comes from malloc in both builds.
    void remember(const text& reply) {
        if (cache_.size() == 1000) cache_.erase(cache_.begin(), cache_.begin() + 500);
        cache_.emplace_back(reply.data(), reply.size());
    }

    round_memory memory_;
    std::vector<std::string> cache_;
};

}  // namespace

int main(int count, char** arguments) {
    const std::size_t rounds = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 40'000;
    const std::vector<std::string> requests = make_requests(1000);
    server only;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < rounds; ++i) sum += only.answer(requests[i % requests.size()]);
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
