// Programs that allocate more than they need, and some that do not. The first argument says which.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

struct step {
    int x, y, cost, from;
};

int sum = 0;

// Grows from empty, and is given away.
std::vector<int> numbers_of(int turn) {
    std::vector<int> numbers;
    for (int i = 0; i < 2000; ++i) numbers.push_back(i * turn);
    return numbers;
}

std::vector<int> reserved_numbers(int turn) {
    std::vector<int> numbers;
    numbers.reserve(2000);
    for (int i = 0; i < 2000; ++i) numbers.push_back(i * turn);
    return numbers;
}

// Told an arena, it took 41 % more.
void fill_in_turns() {
    for (int turn = 0; turn < 300; ++turn) {
        std::vector<int> filled;
        for (int i = 0; i < 10'000; ++i) filled.push_back(i ^ turn);
        sum += filled[static_cast<std::size_t>(turn)];
    }
}

void cheapest_steps() {
    for (int turn = 0; turn < 3000; ++turn) {
        std::vector<step> steps(16);
        for (int i = 0; i < 16; ++i) steps[static_cast<std::size_t>(i)] = {turn, i, (turn * 31 + i * 17) % 97, i};
        sum += steps[static_cast<std::size_t>(turn % 16)].cost;
    }
}

void words_in(const std::string& text) {
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find(' ', begin);
        const std::string word = text.substr(begin, end - begin);
        sum += word.front() + static_cast<int>(word.size());
        begin = end + 1;
    }
}

void two_buffers() {
    for (int turn = 0; turn < 3000; ++turn) {
        std::vector<std::vector<int>> both(2);
        for (std::vector<int>& each : both) each.assign(100, turn);
        sum += both[0][5] + both[1][7];
    }
}

// One vector grows once, and is used in all turns.
void long_lived() {
    std::vector<std::unique_ptr<step>> steps;
    for (int turn = 0; turn < 3000; ++turn) {
        steps.push_back(std::make_unique<step>());
        if (steps.size() == 1000) steps.clear();
    }
    sum += static_cast<int>(steps.size());
}

}  // namespace

int main(int count, char** words) {
    const std::string which = count > 1 ? words[1] : "";
    for (int turn = 0; turn < 500; ++turn) {
        if (which == "grows") sum += numbers_of(turn)[7];
        if (which == "reserved") sum += reserved_numbers(turn)[7] + reserved_numbers(turn + 1)[8];
    }
    for (int turn = 0; which == "reserved" && turn < 500; ++turn) sum += reserved_numbers(turn)[9];
    if (which == "fills") fill_in_turns();
    if (which == "anew") cheapest_steps();
    if (which == "two") two_buffers();
    if (which == "long") long_lived();
    std::string text;
    for (int i = 0; which == "words" && i < 3000; ++i) text += "antidisestablishmentarianism ";
    words_in(text);
    std::printf("%d\n", sum);
}
