// The program that the examples in the headers' first comments are from: its types, variables and functions.
// scripts/check-docs compiles the examples with these names; nothing is linked or run.
#pragma once

#include <acre/arenas/arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/pools/multi_pool.hpp>
#include <cstddef>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace example_program {

struct Monster {
    virtual ~Monster() = default;
};

struct Orc : Monster {
    Orc() = default;
    explicit Orc(std::string_view name);
    void hit();
};

struct Bullet {
    float position;
    float speed;
    void step();
};

struct Node {
    int key;
    Node* next = nullptr;
};

struct Message {
    explicit Message(std::string_view text);
};

struct Session {
    Session(std::string_view user, std::string_view key);
};

struct Sample {
    double time;
};

struct Point {
    float x, y;
};

struct Packet {
    std::byte bytes[1500];
};

struct Particle {
    Point position, speed;
};

struct Step {
    int x, y;
};

struct Token {
    std::string_view text;
};

struct Request {
    std::string_view text;
};

struct Map {
    std::size_t size() const;
};

extern acre::arena level;
extern acre::multi_pool pool;
extern std::vector<Request> requests;
extern std::vector<std::string_view> parts;
extern std::string_view header, key, text, user;
extern float position, speed;
extern std::size_t n;

bool good_enough(std::span<const Step> path);
bool next(Token& token);
double now();
void open(const char* path);
void parse(std::span<const Token> tokens);
void run_camera(acre::multi_arena& arenas, int frames);
void serve(const Request& request);
void show(std::string_view line);
void warn(const char* sentence);
void write_to_log(const char* resource, const char* what, const void* pointer);

}  // namespace example_program
