// Reads batches of orders, "customer: count item, count item", and says what each customer ordered.
#include <acre/acre.hpp>
#include <acre/adapt/containers.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

struct item {
    std::string_view name;
    int count;
    item* next;
};

struct order {
    std::string_view customer;
    item* items = nullptr;
};

using orders = acre::arena_vector<order*>;
using in_arena = acre::containers_in<acre::arena>;
using customers = in_arena::map<std::string_view, acre::arena_vector<const order*>>;

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
    return memory.create<item>(memory.copy(text), count, next);
}

order* parse_order(std::string_view line, acre::arena& memory) {
    order* made = memory.create<order>(memory.copy(cut(line, ':')));
    while (!line.empty()) made->items = parse_item(cut(line, ','), made->items, memory);
    return made;
}

orders parse(std::string_view text, acre::arena& memory) {
    orders all{memory};
    all.reserve(500);
    while (!text.empty()) all.push_back(parse_order(cut(text, '\n'), memory));
    return all;
}

customers by_customer(const orders& all, acre::arena& memory) {
    customers groups{memory};
    for (const order* each : all) groups.try_emplace(each->customer, memory).first->second.push_back(each);
    return groups;
}

int count_items(std::span<const order* const> group) {
    int sum = 0;
    for (const order* each : group) {
        for (const item* one = each->items; one != nullptr; one = one->next) sum += one->count;
    }
    return sum;
}

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
    acre::arena memory;
    for (int round = 0; round < rounds; ++round) {
        {
            const orders all = parse(text, memory);
            for (const auto& [name, group] : by_customer(all, memory)) sum += count_items(group);
        }
        memory.reset();
    }
    std::printf("%ld items\n", sum);
}
