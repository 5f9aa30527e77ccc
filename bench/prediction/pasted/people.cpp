// Parses a list of people into a tree of nodes, some made by new and some by std::make_unique, sums it, and frees it.
// FOLLOWED: with the code of its advice.
#ifdef FOLLOWED
#include <acre/acre.hpp>
#include <acre/adapt/smart_ptr.hpp>
#endif
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

class node {
public:
    virtual ~node() = default;
    virtual double sum() const = 0;
};

#ifdef FOLLOWED
using namespace acre::literals;
static acre::arena main_memory{{.first_block_bytes = 867_KiB, .max_block_bytes = 1_MiB}};
using main_string = std::basic_string<char, std::char_traits<char>, acre::allocator<char, acre::arena>>;
using main_vector = std::vector<node*, acre::allocator<node*, acre::arena>>;
using main_vector_2 =
    std::vector<std::pair<main_string, node*>, acre::allocator<std::pair<main_string, node*>, acre::arena>>;
#else
using main_string = std::string;
using main_vector = std::vector<node*>;
using main_vector_2 = std::vector<std::pair<std::string, node*>>;
#endif

class number : public node {
public:
    explicit number(double value) : value_{value} {}
    double sum() const override { return value_; }

private:
    double value_;
};

class text : public node {
public:
    explicit text(main_string value) : value_{std::move(value)} {}
    double sum() const override { return static_cast<double>(value_.size()); }

private:
    main_string value_;
};

class array : public node {
public:
#ifdef FOLLOWED
    array() : items_{main_memory} {}
#else
    ~array() override {
        for (node* each : items_) delete each;
    }
#endif
    void add(node* item) { items_.push_back(item); }
    double sum() const override {
        double all = 0;
        for (const node* each : items_) all += each->sum();
        return all;
    }

private:
    main_vector items_;
};

class object : public node {
public:
#ifdef FOLLOWED
    object() : members_{main_memory} {}
#else
    ~object() override {
        for (const auto& each : members_) delete each.second;
    }
#endif
    void add(main_string key, node* value) { members_.emplace_back(std::move(key), value); }
    double sum() const override {
        double all = 0;
        for (const auto& each : members_) all += each.second->sum();
        return all;
    }

private:
    main_vector_2 members_;
};

class parser {
public:
    explicit parser(std::string_view from) : at_{from.data()}, end_{from.data() + from.size()} {}

    node* parse() {
        skip();
        switch (*at_) {
            case '{':
                return parse_object();
            case '[':
                return parse_array();
            case '"':
#ifdef FOLLOWED
                return main_memory.create<text>(parse_text());
#else
                return new text(parse_text());
#endif
            default:
                return parse_number();
        }
    }

private:
    void skip() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == ',' || *at_ == ':')) ++at_;
    }

    main_string parse_text() {
        const char* begin = ++at_;
        while (at_ != end_ && *at_ != '"') ++at_;
#ifdef FOLLOWED
        main_string read(begin, at_, main_memory);
#else
        main_string read(begin, at_);
#endif
        ++at_;
        return read;
    }

    node* parse_number() {
        char* after = nullptr;
        const double value = std::strtod(at_, &after);
        at_ = after;
#ifdef FOLLOWED
        return main_memory.create<number>(value);
#else
        return new number(value);
#endif
    }

    node* parse_array() {
#ifdef FOLLOWED
        auto made = acre::make_unique<array>(main_memory);
#else
        auto made = std::make_unique<array>();
#endif
        ++at_;
        for (skip(); at_ != end_ && *at_ != ']'; skip()) made->add(parse());
        ++at_;
        return made.release();
    }

    node* parse_object() {
#ifdef FOLLOWED
        auto made = acre::make_unique<object>(main_memory);
#else
        auto made = std::make_unique<object>();
#endif
        ++at_;
        for (skip(); at_ != end_ && *at_ != '}'; skip()) {
            main_string key = parse_text();
            skip();
            made->add(std::move(key), parse());
        }
        ++at_;
        return made.release();
    }

    const char* at_;
    const char* end_;
};

namespace {

std::string make_list(int people) {
    std::string list = "[";
    for (int i = 0; i < people; ++i) {
        const std::string number = std::to_string(i);
        list +=
            "{\"id\": " + number + ", \"name\": \"person number " + number +
            " of the list of people\", \"tags\": [\"a\", \"b\", \"a longer tag that a string cannot hold itself\"], "
            "\"position\": {\"x\": " +
            std::to_string(i % 17) + ".5, \"y\": " + std::to_string(i % 31) + ", \"z\": 3.25}},\n";
    }
    return list + "]";
}

}  // namespace

int main() {
    const std::string list = make_list(800);
    double total = 0;
    for (int round = 0; round < 300; ++round) {
        parser of{list};
#ifdef FOLLOWED
        const node* root = of.parse();
        total += root->sum();
        main_memory.reset();
#else
        const std::unique_ptr<node> root{of.parse()};
        total += root->sum();
#endif
    }
    std::printf("%.2f\n", total);
}
