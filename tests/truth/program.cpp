// The truth program: each function named in `sites` allocates in a way for which truth_test.cpp knows the right answer.
// How it takes memory is chosen at compile time (TAKE, GIVE). What disturbs the pattern is chosen on the command line:
//
//     truth [WORD...]    survivors   one object in a hundred outlives the others
//                        noise       one size in twenty is another
//                        threads     two threads each do everything
//                        recursion   everything runs deep in a recursion
//                        only=SITE   only this site, with more rounds
//                        slow        much other work besides
#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "take.hpp"

namespace {

struct variant {
    bool survivors = false;
    bool noise = false;
    bool threads = false;
    bool recursion = false;
    bool slow = false;
    std::string_view only;

    int rounds(int usual) const { return only.empty() ? usual : 30 * usual; }
};

variant chosen;

/// This thread's random numbers, the same in each run.
thread_local std::mt19937 engine;

std::size_t random_below(std::size_t bound) {
    return engine() % bound;
}

std::size_t size_between(std::size_t min, std::size_t max) {
    return min + random_below(max - min + 1);
}

bool survives() {
    return chosen.survivors && random_below(100) == 0;
}

std::size_t noisy(std::size_t size) {
    return chosen.noise && random_below(20) == 0 ? size + 8 : size;
}

/// Uses the memory, so that no compiler removes the allocation.
void use(void* memory, std::size_t bytes) {
    std::memset(memory, 1, std::min<std::size_t>(bytes, 64));
    asm volatile("" : : "r"(memory) : "memory");
}

using objects = std::vector<void*>;

void* remove_at(objects& from, std::size_t index) {
    void* const taken = from[index];
    from[index] = from.back();
    from.pop_back();
    return taken;
}

// An arena: what a request allocates dies with it, in any order.

void* copy_text() {
    const std::size_t bytes = size_between(20, 400);
    void* const text = TAKE(bytes);
    use(text, bytes);
    return text;
}

void* insert_node() {
    void* const node = TAKE(48);
    use(node, 48);
    return node;
}

void* remember() {
    void* const entry = TAKE(100);
    use(entry, 100);
    return entry;
}

void request(objects& cache) {
    objects allocated;
    allocated.reserve(24);
    for (int i = 0; i < 12; ++i) allocated.push_back(copy_text());
    for (int i = 0; i < 10; ++i) allocated.push_back(insert_node());
    if (chosen.survivors && random_below(4) == 0) cache.push_back(remember());
    if (cache.size() > 8) GIVE(remove_at(cache, 0));
    std::shuffle(allocated.begin(), allocated.end(), engine);
    for (void* each : allocated) GIVE(each);
}

void serve() {
    objects cache;
    cache.reserve(16);
    for (int i = 0; i < chosen.rounds(300); ++i) request(cache);
    for (void* each : cache) GIVE(each);
}

// An object pool: one type, created and destroyed in any order.

void* spawn() {
    const std::size_t bytes = noisy(64);
    void* const orc = TAKE(bytes);
    use(orc, bytes);
    return orc;
}

void bury(void* orc) {
    if (!survives()) GIVE(orc);
}

void battle() {
    objects orcs;
    orcs.reserve(100);
    for (int i = 0; i < chosen.rounds(6000); ++i) {
        orcs.push_back(spawn());
        if (orcs.size() == 100) bury(remove_at(orcs, random_below(orcs.size())));
    }
    for (void* each : orcs) bury(each);
}

// A multi_pool: texts of any size, replaced in any order.

void* load_text() {
    const std::size_t bytes = size_between(8, 900);
    void* const text = TAKE(bytes);
    use(text, bytes);
    return text;
}

void drop_text(void* text) {
    if (!survives()) GIVE(text);
}

void edit() {
    objects texts;
    texts.reserve(100);
    for (int i = 0; i < chosen.rounds(6000); ++i) {
        texts.push_back(load_text());
        if (texts.size() == 100) drop_text(remove_at(texts, random_below(texts.size())));
    }
    for (void* each : texts) drop_text(each);
}

// A buffer on the stack: small, and freed before its function returns.

void format_number(int number) {
    const std::size_t bytes = size_between(20, 200);
    char* const text = static_cast<char*>(TAKE(bytes));
    std::snprintf(text, bytes, "%d", number);
    use(text, bytes);
    GIVE(text);
}

void print_numbers() {
    for (int i = 0; i < chosen.rounds(4000); ++i) format_number(i);
}

// A scratch: several buffers, freed youngest first.

void solve() {
    std::array<void*, 4> buffers{};
    for (void*& each : buffers) {
        const std::size_t bytes = size_between(500, 4000);
        each = TAKE(bytes);
        use(each, bytes);
    }
    for (std::size_t i = buffers.size(); i > 0; --i) GIVE(buffers[i - 1]);
}

void solve_all() {
    for (int i = 0; i < chosen.rounds(1000); ++i) solve();
}

// A concurrent pool: messages from one thread to another.

class mailbox {
public:
    void put(void* message) {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return count_ < messages_.size(); });
        messages_[(first_ + count_++) % messages_.size()] = message;
        changed_.notify_all();
    }
    void* take() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return count_ > 0; });
        void* const message = messages_[first_];
        first_ = (first_ + 1) % messages_.size();
        --count_;
        changed_.notify_all();
        return message;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::array<void*, 64> messages_{};
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

void* produce() {
    const std::size_t bytes = noisy(96);
    void* const message = TAKE(bytes);
    use(message, bytes);
    return message;
}

void consume(mailbox& box, bool keep_some) {
    int taken = 0;
    for (void* message = nullptr; (message = box.take()) != nullptr;) {
        if (!keep_some || ++taken % 100 != 0) GIVE(message);
    }
}

void talk() {
    mailbox box;
    std::thread consumer{[&] { consume(box, chosen.survivors); }};
    for (int i = 0; i < chosen.rounds(3000); ++i) box.put(produce());
    box.put(nullptr);
    consumer.join();
}

// A multi_arena: packets of any size that live about equally long.

void* capture() {
    const std::size_t bytes = size_between(64, 1400);
    void* const packet = TAKE(bytes);
    use(packet, bytes);
    return packet;
}

void forget(void* packet) {
    if (!survives()) GIVE(packet);
}

void stream() {
    objects packets;
    packets.reserve(64);
    for (int i = 0; i < chosen.rounds(5000); ++i) {
        packets.push_back(capture());
        if (packets.size() < 64) continue;
        // One of the oldest four.
        const auto old = packets.begin() + static_cast<std::ptrdiff_t>(random_below(4));
        void* const oldest = *old;
        packets.erase(old);
        forget(oldest);
    }
    for (void* each : packets) forget(each);
}

// An arena without reset: names that live until the end.

void* intern() {
    const std::size_t bytes = size_between(10, 60);
    void* const name = TAKE(bytes);
    use(name, bytes);
    return name;
}

void read_names() {
    for (int i = 0; i < chosen.rounds(3000); ++i) {
        void* const name = intern();
        if (survives()) GIVE(name);  // the reverse: one in a hundred is freed
    }
}

// A phase: an index is built, used and dropped as a whole.

void* index_node() {
    const std::size_t bytes = size_between(24, 200);
    void* const node = TAKE(bytes);
    use(node, bytes);
    return node;
}

void drop_index(objects& index) {
    for (void* each : index) {
        if (!survives()) GIVE(each);
    }
}

void with_index() {
    objects index;
    const int count = chosen.rounds(3000);
    index.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) index.push_back(index_node());
    std::shuffle(index.begin(), index.end(), engine);
    drop_index(index);
}

// For a multi_pool, though only four times as many in all as are ever live at a time: no pattern.

void* keep_page() {
    const std::size_t bytes = size_between(100, 900);
    void* const page = TAKE(bytes);
    use(page, bytes);
    return page;
}

void drop_page(void* page) {
    if (!survives()) GIVE(page);
}

void browse() {
    objects pages;
    pages.reserve(600);
    for (int i = 0; i < chosen.rounds(2400); ++i) {
        pages.push_back(keep_page());
        if (pages.size() < 600) continue;
        while (pages.size() > 50) drop_page(remove_at(pages, random_below(pages.size())));
    }
    for (void* each : pages) drop_page(each);
}

// To be left: too few to matter.

void* open_file() {
    void* const file = TAKE(500);
    use(file, 500);
    return file;
}

void open_files() {
    for (int i = 0; i < 40; ++i) GIVE(open_file());
}

// To be left, though it looks like a scratch: large arrays allocated at entry and freed at exit (lfortran #9367).

void transform() {
    const std::size_t bytes = size_between(48 * 1024, 64 * 1024);
    void* const from = TAKE(bytes);
    void* const to = TAKE(bytes);
    std::memset(from, 1, bytes);
    std::memcpy(to, from, bytes);
    use(to, bytes);
    GIVE(to);
    GIVE(from);
}

void transform_all() {
    for (int i = 0; i < chosen.rounds(900); ++i) transform();
}

// A scratch in a recursion: each call keeps its own buffer until its callees have returned.

void walk(int depth) {
    const std::size_t bytes = size_between(200, 3000);
    void* const room = TAKE(bytes);
    use(room, bytes);
    if (depth > 0) walk(depth - 1);
    if (depth > 6) walk(depth - 2);
    use(room, 1);
    GIVE(room);
}

void walk_all() {
    for (int i = 0; i < chosen.rounds(100); ++i) walk(10);
}

// An arena: the strings and containers of a function.

void join_words(int number) {
    std::map<std::string, std::vector<int>> places;
    for (int i = 0; i < 8; ++i) {
        const std::string word = "a word that is too long for the string itself " + std::to_string(number + i);
        places[word].push_back(i);
    }
    use(&places, 1);
}

void join_all() {
    for (int i = 0; i < chosen.rounds(200); ++i) join_words(i);
}

// A scratch: one buffer that grows by realloc.

void append_lines() {
    std::size_t bytes = 64;
    void* text = TAKE(bytes);
    for (; bytes <= 8192; bytes *= 2) {
        text = std::realloc(text, bytes);
        if (text == nullptr) std::abort();
        use(text, bytes);
    }
    GIVE(text);
}

void append_all() {
    for (int i = 0; i < chosen.rounds(400); ++i) append_lines();
}

struct site {
    std::string_view name;
    void (*run)();
};

constexpr std::array sites{
    site{"arena", serve},
    site{"object_pool", battle},
    site{"multi_pool", edit},
    site{"stack_buffer", print_numbers},
    site{"scratch", solve_all},
    site{"concurrent_object_pool", talk},
    site{"multi_arena", stream},
    site{"monotonic_arena", read_names},
    site{"phase_arena", with_index},
    site{"no_pattern", browse},
    site{"few", open_files},
    site{"large", transform_all},
    site{"recursion", walk_all},
    site{"containers", join_all},
    site{"realloc", append_all},
};

void run_sites(unsigned seed) {
    engine.seed(seed);
    for (const site& each : sites) {
        if (chosen.only.empty() || chosen.only == each.name) each.run();
    }
}

/// Keeps the compiler from turning the recursion into a loop.
void descend(int depth, unsigned seed) {
    if (depth > 0) {
        descend(depth - 1, seed);
    } else {
        run_sites(seed);
    }
    asm volatile("");
}

/// Work without any allocation.
void compute() {
    unsigned value = 1;
    for (int i = 0; i < 400'000'000; ++i) {
        value = value * 1664525 + 1013904223;
        asm volatile("" : "+r"(value));
    }
}

void run_variant(unsigned seed) {
    descend(chosen.recursion ? 60 : 0, seed);
}

bool choose(std::string_view word) {
    constexpr std::string_view only = "only=";
    const std::array<std::pair<std::string_view, bool*>, 5> flags{{{"survivors", &chosen.survivors},
                                                                   {"noise", &chosen.noise},
                                                                   {"threads", &chosen.threads},
                                                                   {"recursion", &chosen.recursion},
                                                                   {"slow", &chosen.slow}}};
    for (const auto& [name, flag] : flags) {
        if (word == name) return *flag = true;
    }
    if (!word.starts_with(only)) return false;
    chosen.only = word.substr(only.size());
    return std::any_of(sites.begin(), sites.end(), [](const site& each) { return each.name == chosen.only; });
}

}  // namespace

int main(int count, char** arguments) {
    for (int i = 1; i < count; ++i) {
        if (choose(arguments[i])) continue;
        std::fprintf(stderr, "truth: there is no '%s'\n", arguments[i]);
        return 2;
    }
    if (chosen.slow) compute();
    if (chosen.threads) {
        std::thread other{run_variant, 2U};
        run_variant(1);
        other.join();
    } else {
        run_variant(1);
    }
}
