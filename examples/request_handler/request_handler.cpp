// Several threads answer requests: results lie in an arena per request, temporaries in scratches of the thread.
//
// It shows acre::thread_scratch(results): nested functions each take temporary storage without an arena parameter for
// it, and never from the arena in which a caller's results are built. Copy it where a function returns data in its
// caller's arena and needs temporary lists or texts.
#include <acre/arenas/arena.hpp>
#include <acre/arenas/arena_string.hpp>
#include <acre/arenas/arena_vector.hpp>
#include <acre/arenas/thread_scratch.hpp>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

struct field {
    std::string_view name, value;
};

// Splits `text` at separators. The list lies in `results`; the parts point into `text`.
std::span<std::string_view> split(std::string_view text, char separator, acre::arena& results) {
    acre::scratch temp = acre::thread_scratch(results);
    acre::arena_vector<std::string_view, acre::scratch> parts{temp};  // grows here, so that results keep no old buffers
    for (;;) {
        const std::size_t end = std::min(text.find(separator), text.size());
        parts.push_back(text.substr(0, end));
        if (end == text.size()) return results.copy(std::span<const std::string_view>{parts});
        text.remove_prefix(end + 1);
    }
}

// Decodes %41 to A and + to a space.
std::string_view decoded(std::string_view text, acre::arena& results) {
    acre::arena_string plain{results};
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned char code = 0;
        if (text[i] == '%' && i + 2 < text.size() &&
            std::from_chars(text.data() + i + 1, text.data() + i + 3, code, 16).ptr == text.data() + i + 3) {
            plain += static_cast<char>(code);
            i += 2;
        } else {
            plain += text[i] == '+' ? ' ' : text[i];
        }
    }
    return plain.detach();
}

// Parses fields such as name=Ugluk&rank=captain, sorted by name.
std::span<field> parse_form(std::string_view query, acre::arena& results) {
    if (query.empty()) return {};
    acre::scratch temp = acre::thread_scratch(results);
    const std::span<std::string_view> pairs = split(query, '&', temp.parent());
    const std::span<field> form = results.allocate<field>(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const std::span<std::string_view> sides = split(pairs[i], '=', temp.parent());
        form[i] = {decoded(sides.front(), results), sides.size() > 1 ? decoded(sides[1], results) : ""};
    }
    std::ranges::sort(form, {}, &field::name);
    return form;
}

// Answers a request such as "/greet?name=Ugluk"; only the answer stays in `results`.
std::string_view answer(std::string_view request, acre::arena& results) {
    acre::scratch temp = acre::thread_scratch(results);
    const std::size_t path_length = std::min(request.find('?'), request.size());
    const std::string_view query = request.substr(std::min(path_length + 1, request.size()));
    acre::arena_string page{results};
    page.append("asked for ").append(request.substr(0, path_length)).append(":");
    for (const field& each : parse_form(query, temp.parent()))
        page.append(" ").append(each.name).append("=").append(each.value).append(";");
    return page.detach();
}

constexpr std::size_t threads = 4;
constexpr std::size_t requests_each = 1000;

// A request and its expected answer; each is longer than the one before.
std::string request_of(std::size_t number) {
    return "/greet?name=Ugluk+" + std::to_string(number) + "&army=%4frcs&cry=" + std::string(number, 'u');
}
std::string expected_answer(std::size_t number) {
    return "asked for /greet: army=Orcs; cry=" + std::string(number, 'u') + "; name=Ugluk " + std::to_string(number) +
           ";";
}

struct totals {
    std::atomic<int> answered = 0;
    std::atomic<int> wrong = 0;
    std::atomic<int> left_more_than_the_answer = 0;
};

void serve(std::size_t first, totals& seen) {
    acre::arena results;
    for (std::size_t i = first; i < first + requests_each; ++i) {
        const std::string request = request_of(i);
        const std::string_view answered = answer(request, results);
        ++seen.answered;
        seen.wrong += answered != expected_answer(i);
        // Allows for the zero byte after the text, for rounding, and for what a sanitizer adds.
        seen.left_more_than_the_answer += results.used() > answered.size() + 64;
        results.reset();  // the request is over
    }
}

}  // namespace

int main() {
    acre::arena results;
    std::puts(answer("/greet?name=Gr%69shnakh&from=Mordor+%26+Isengard", results).data());
    std::puts(answer("/status", results).data());
    totals seen;
    std::vector<std::thread> all;
    for (std::size_t i = 0; i < threads; ++i) all.emplace_back([&seen, i] { serve(i * 100, seen); });
    for (std::thread& each : all) each.join();
    std::printf("%d requests answered by %zu threads, %d of them wrong, %d left more than the answer\n",
                seen.answered.load(), threads, seen.wrong.load(), seen.left_more_than_the_answer.load());
    return 0;
}
