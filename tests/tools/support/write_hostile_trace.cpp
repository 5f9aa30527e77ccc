// Writes a trace of about 10 MB that costs its readers as much as the format permits, for measuring by hand.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/support/hostile_trace.hpp"

namespace {

using namespace acre::test;

constexpr std::uint64_t bytes_wanted = 10'000'000;

/// Adds allocations and frees; the file grows by at least an eighth of a byte for each.
class hostile_events {
public:
    explicit hostile_events(trace_writer& writer) : writer_{writer} {}

    std::uint64_t allocate(std::uint64_t size, std::uint32_t stack = 0, std::uint32_t thread = 0) {
        writer_.add(event{.object = objects_, .size = size, .thread = thread, .stack = stack});
        ++events;
        return objects_++;
    }
    void release(std::uint64_t object, std::uint32_t stack = 0, std::uint32_t thread = 0) {
        writer_.add(
            event{.object = object, .thread = thread, .stack = stack, .op = operation::free, .allocates = false});
        ++events;
    }
    bool goes_on() const { return events < bytes_wanted * 8; }

    std::uint64_t events = 0;

private:
    trace_writer& writer_;
    std::uint64_t objects_ = 0;
};

/// Nothing but pairs.
void pairs(hostile_events& to) {
    while (to.goes_on()) to.release(to.allocate(10));
}

/// As many live objects as the file may have, then pairs.
void live(hostile_events& to) {
    for (int i = 0; i < 5'500'000; ++i) to.allocate(4000);
    // Each live object has taken two bytes of the file.
}

/// Each allocation has another size, and another thread.
void sizes(hostile_events& to, bool threads) {
    std::uint32_t thread = 0;
    for (std::uint64_t size = 0; size < 2'000'000; ++size) {
        to.release(to.allocate(size * 17, 0, thread), 0, thread);
        if (threads) ++thread;
    }
}

int write(const std::string& kind, const std::filesystem::path& output) {
    hostile_trace made;
    std::uint32_t stacks = 1;
    if (kind == "stacks") {
        // A tree of all paths through 22 pairs of functions.
        std::vector<std::uint32_t> level{0};
        while (made.tables.call_tree.size() < 4'000'000) {
            const std::uint32_t a = made.frame(1);
            const std::uint32_t b = made.frame(1);
            std::vector<std::uint32_t> next;
            for (const std::uint32_t each : level) {
                next.push_back(made.call(each, a));
                next.push_back(made.call(each, b));
            }
            level = std::move(next);
        }
    } else if (kind == "names") {
        for (std::uint32_t i = 0; i < 600'000; ++i) made.call(0, made.frame(1));
    } else if (kind == "inlined") {
        const std::uint32_t shared = made.frame(1'000);
        for (std::uint32_t i = 0; i < 20'000; ++i) made.call(made.call(0, made.frame(1)), shared);
    }
    stacks = static_cast<std::uint32_t>(made.tables.call_tree.size());
    trace_writer writer{output, {}, made.tables};
    hostile_events to{writer};
    if (kind == "pairs") pairs(to);
    if (kind == "live") live(to);
    if (kind == "sizes" || kind == "threads") sizes(to, kind == "threads");
    if (stacks > 1) {
        for (std::uint32_t i = 1; i < stacks; ++i) to.release(to.allocate(i % 64, i), i);
    }
    writer.finish();
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::puts("usage: acre_hostile_trace OUTPUT pairs|live|sizes|threads|stacks|names|inlined");
        return 1;
    }
    return write(arguments[2], arguments[1]);
}
