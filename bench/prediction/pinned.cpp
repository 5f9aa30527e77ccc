// Programs in which a few long-lived objects keep pages that are otherwise free; pinned.py measures them. Compiled with
// SEPARATE=1 (nodes), 2 (names), 4 (lists of them) or a sum of these they follow the advice: that has memory of its
// own.
//
// Usage: pinned PROGRAM. Prints the bytes resident at most and at the end, without those of the start.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#ifndef SEPARATE
#define SEPARATE 0
#endif
#if SEPARATE
#include <acre/acre.hpp>
#include <acre/memory/virtual_memory.hpp>
#endif

namespace {

std::mt19937 random_numbers{2026};

std::size_t between(std::size_t least, std::size_t most) {
    return least + random_numbers() % (most - least + 1);
}

void* filled(void* p, std::size_t bytes) {
    return std::memset(p, 1, bytes);
}

#if SEPARATE
acre::multi_pool& long_lived() {
    static acre::virtual_memory pages;
    static acre::multi_pool pool{pages};
    return pool;
}
#endif

// Which of the objects that live long are separated.
constexpr int separate_nodes = 1;
constexpr int separate_names = 2;
constexpr int separate_lists = 4;

template <int Kind>
[[gnu::always_inline]] inline void* malloc_long_lived(std::size_t bytes) {
#if SEPARATE
    if constexpr ((SEPARATE & Kind) != 0) return filled(long_lived().allocate(bytes), bytes);
#endif
    return filled(std::malloc(bytes), bytes);
}

void free_node(void* p, [[maybe_unused]] std::size_t bytes) {
#if SEPARATE
    if constexpr ((SEPARATE & separate_nodes) != 0) return long_lived().deallocate(p, bytes);
#endif
    std::free(p);
}

#if SEPARATE & 4
template <typename T>
using kept_vector = std::vector<T, acre::allocator<T, acre::multi_pool>>;
template <typename T>
kept_vector<T> make_kept_vector() {
    return kept_vector<T>{long_lived()};
}
#else
template <typename T>
using kept_vector = std::vector<T>;
template <typename T>
kept_vector<T> make_kept_vector() {
    return {};
}
#endif

struct block {
    void* p;
    std::size_t bytes;
};

[[gnu::noinline]] block make_node(std::size_t bytes) {
    return {malloc_long_lived<separate_nodes>(bytes), bytes};
}
[[gnu::noinline]] block make_buffer(std::size_t bytes) {
    return {filled(std::malloc(bytes), bytes), bytes};
}
[[gnu::noinline]] block make_name(std::size_t bytes) {
    asm volatile("");  // otherwise it is the same function as make_node
    return {malloc_long_lived<separate_names>(bytes), bytes};
}
void free_all(std::vector<block>& blocks) {
    for (const block& each : blocks) std::free(each.p);
    blocks.clear();
}

/// Fragments by design: a node after every second buffer; all buffers are freed.
void nodes_between_buffers() {
    static auto nodes = make_kept_vector<block>();
    std::vector<block> buffers;
    for (int i = 0; i < 60'000; ++i) {
        buffers.push_back(make_buffer(2'000));
        if (i % 2 == 0) nodes.push_back(make_node(64));
    }
    free_all(buffers);
}

/// A server: requests allocate and free objects of many sizes, and one in ten leaves a session, a tenth of which ends.
void sessions() {
    static auto sessions = make_kept_vector<block>();
    std::vector<block> request;
    for (int i = 0; i < 4'000; ++i) {
        const std::size_t objects = i % 400 == 0 ? 20'000 : 60;
        for (std::size_t k = 0; k < objects; ++k) request.push_back(make_buffer(between(20, 900)));
        if (i % 10 == 0 || objects > 60) {
            for (int k = 0; k < 40; ++k) {
                for (int other = 0; other < 8; ++other) request.push_back(make_buffer(between(20, 900)));
                sessions.push_back(make_node(between(150, 250)));
            }
        }
        free_all(request);
        if (i % 10 == 5 && !sessions.empty()) {
            const std::size_t which = between(0, sessions.size() - 1);
            free_node(sessions[which].p, sessions[which].bytes);
            sessions[which] = sessions.back();
            sessions.pop_back();
        }
    }
}

/// A compiler: tokens and trees of a file are freed after it, the names in it stay; then code is made, which is large.
void interned_names() {
    static auto names = make_kept_vector<block>();
    std::vector<block> tree;
    for (int file = 0; file < 12; ++file) {
        for (int token = 0; token < 30'000; ++token) {
            tree.push_back(make_buffer(between(24, 120)));
            if (token % 8 == 0) names.push_back(make_name(between(40, 200)));
        }
        free_all(tree);
        names.push_back(make_node(4'000));
    }
    std::vector<block> code;
    for (int i = 0; i < 900; ++i) code.push_back(make_buffer(between(8'000, 20'000)));
    free_all(code);
}

/// Reads large texts and keeps an index of them, which has two kinds of small objects.
void index_of_texts() {
    static auto index = make_kept_vector<std::pair<block, block>>();
    std::vector<block> texts;
    for (int i = 0; i < 3'000; ++i) {
        texts.push_back(make_buffer(between(3'000, 16'000)));
        index.emplace_back(make_node(160), make_name(between(40, 120)));
        if (texts.size() == 1'500) free_all(texts);
    }
    free_all(texts);
}

/// Nothing to gain: the long-lived objects come first.
void long_lived_first() {
    static auto nodes = make_kept_vector<block>();
    std::vector<block> buffers;
    for (int i = 0; i < 160'000; ++i) nodes.push_back(make_node(200));
    for (int i = 0; i < 160'000; ++i) buffers.push_back(make_buffer(between(20, 900)));
    free_all(buffers);
}

/// The kilobytes in a line of a file of the system's about this process.
std::size_t kilobytes(const char* file_name, std::string_view line) {
    std::FILE* file = std::fopen(file_name, "r");
    char text[256];
    std::size_t found = 0;
    while (file != nullptr && std::fgets(text, sizeof text, file) != nullptr) {
        if (std::string_view{text}.starts_with(line)) found = std::strtoull(text + line.size(), nullptr, 10);
    }
    if (file != nullptr) std::fclose(file);
    return found;
}

constexpr const char* status = "/proc/self/status";

/// Bytes, without those of files.
std::size_t resident() {
    return kilobytes(status, "RssAnon:") * 1024;
}

/// Likewise, since the start: of files this program has no more at its end than before.
std::size_t most_resident() {
    return (kilobytes(status, "VmHWM:") - kilobytes(status, "RssFile:")) * 1024;
}

}  // namespace

int main(int count, char** arguments) {
    const std::map<std::string_view, void (*)()> programs{{"nodes_between_buffers", nodes_between_buffers},
                                                          {"sessions", sessions},
                                                          {"interned_names", interned_names},
                                                          {"index_of_texts", index_of_texts},
                                                          {"long_lived_first", long_lived_first}};
    const auto found = programs.find(count == 2 ? arguments[1] : "");
    if (found == programs.end()) return 2;
    const std::size_t base = resident();
    found->second();
    const std::size_t end = resident();
    const std::size_t most = most_resident();
    std::printf("{\"most\": %zu, \"end\": %zu}\n", most - base, end - base);
}
