// Reads batches of orders, "customer: count item, count item", and says what each customer ordered.
#include <acre/acre.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

struct item {
    std::string name;
    int count;
    item* next;
};

struct order {
    std::string customer;
    item* items = nullptr;
};

using orders = std::vector<order*>;
using customers = std::map<std::string, std::vector<const order*>>;

// The text in front of `end`, which is taken off `rest`.
std::string_view cut(std::string_view& rest, char end) {
    const std::size_t at = rest.find(end);
    const std::string_view part = rest.substr(0, at);
    rest.remove_prefix(at == rest.npos ? rest.size() : at + 1);
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    return part;
}

item* parse_item(std::string_view text, item* next, acre::arena& memory) {
    int count = 0;
    const std::string_view number = cut(text, ' ');
    std::from_chars(number.data(), number.data() + number.size(), count);
    return memory.create<item>(std::string{text}, count, next);
}

order* parse_order(std::string_view line, acre::arena& memory) {
    order* made = memory.create<order>(std::string{cut(line, ':')});
    while (!line.empty()) made->items = parse_item(cut(line, ','), made->items, memory);
    return made;
}

orders parse(std::string_view text, acre::arena& memory) {
    orders all;
    while (!text.empty()) all.push_back(parse_order(cut(text, '\n'), memory));
    return all;
}

customers by_customer(const orders& all) {
    customers groups;
    for (const order* each : all) groups[each->customer].push_back(each);
    return groups;
}

int count_items(const std::vector<const order*>& group) {
    int sum = 0;
    for (const order* each : group) {
        for (const item* one = each->items; one != nullptr; one = one->next) sum += one->count;
    }
    return sum;
}

// A batch as it would come from the network.
std::string batch(int number) {
    std::string text;
    for (int i = 0; i < 500; ++i) {
        text += "customer of Moria, number " + std::to_string((i * 7 + number) % 50) + ":";
        for (int k = 0; k <= i % 6; ++k) text += " " + std::to_string(k + 1) + " axe of dwarven make,";
        text += '\n';
    }
    return text;
}

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
    const std::string text = batch(1);
    long sum = 0;
    for (int round = 0; round < rounds; ++round) {
        acre::arena memory;
        const orders all = parse(text, memory);
        for (const auto& [name, group] : by_customer(all)) sum += count_items(group);
    }
    std::printf("%ld items\n", sum);
}
