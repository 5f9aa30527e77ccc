// Defines the arenas. Linked between two files that use them.
#include "arenas/typed_arena_statics.hpp"

#include <acre/arenas/typed_arena.hpp>
#include <cstdio>
#include <cstdlib>

namespace acre_test {
namespace {

constinit acre::typed_arena<static_orc, 100> orcs;
constinit int elf_count = 0;

auto& elves() {
    static constinit acre::typed_arena<static_elf, 100, acre::typed_arena_options{.reuse = true}> all;
    return all;
}

}  // namespace

void* static_orc::operator new(std::size_t bytes) {
    return orcs.class_new(bytes);
}
void static_orc::operator delete(void* p, std::size_t bytes) noexcept {
    orcs.class_delete(p, bytes);
}

static_elf::static_elf() {
    ++elf_count;
}
static_elf::~static_elf() {
    --elf_count;
}
void* static_elf::operator new(std::size_t bytes) {
    return elves().class_new(bytes);
}
void static_elf::operator delete(void* p, std::size_t bytes) noexcept {
    elves().class_delete(p, bytes);
}
void* static_elf::operator new[](std::size_t bytes) {
    return elves().class_new_array(bytes);
}
void static_elf::operator delete[](void* p, std::size_t bytes) noexcept {
    elves().class_delete_array(p, bytes);
}

bool owned_by_an_arena(const static_orc* orc) noexcept {
    return orcs.owns(orc);
}
bool owned_by_an_arena(const static_elf* elf) noexcept {
    return elves().owns(elf);
}
int live_elves() noexcept {
    return elf_count;
}

void expect_no_elves_left() noexcept {
    if (elf_count == 0 && elves().used() == 0) return;
    std::fprintf(stderr, "%d elves are left, %zu bytes are in use\n", elf_count, elves().used());
    std::_Exit(7);
}

}  // namespace acre_test
