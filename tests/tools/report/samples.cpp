// Writes traces for the tests of the page; each has something that is hard to show.
//
// Usage: report-samples DIRECTORY [EVENTS]     EVENTS: of the large one
#include <cstdio>
#include <deque>
#include <exception>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tools/support/made_trace.hpp"
#include "tools/support/random_trace.hpp"

namespace {

using namespace acre::test;

/// Requests in two threads, each a scope that the program names, orcs that come and go, and a pause.
made_trace server() {
    made_trace made;
    const auto spawn = made.stack({"main", "play:3", "spawn:14", "operator new(unsigned long)"});
    const auto die = made.stack({"main", "play:4", "bury:20", "operator delete(void*)"});
    const auto text = made.stack({"main", "serve:30", "request:5", "copy_text:7", "malloc"});
    const auto node = made.stack({"main", "serve:30", "request:6", "std::map<int, std::string>::insert(int)"});
    const auto end = made.stack({"main", "serve:30", "request:8"});
    std::deque<std::uint64_t> orcs;
    for (std::uint64_t i = 0; i < 3000; ++i) {
        const std::uint32_t thread = i % 3 == 0 ? 1 : 0;
        orcs.push_back(made.allocate(spawn, 64));
        if (orcs.size() > 50 + i % 200) {
            made.release(orcs.front(), die);
            orcs.pop_front();
        }
        made.mark_here(mark_kind::scope_begin, "request", thread);
        std::vector<std::uint64_t> objects;
        for (std::uint64_t n = 0; n < 6 + i % 5; ++n) {
            objects.push_back(made.allocate(text, 20 + 13 * n, thread));
            objects.push_back(made.allocate(node, 48, thread));
        }
        for (const std::uint64_t object : objects) made.release(object, end, thread);
        made.mark_here(mark_kind::scope_end, "request", thread);
        if (i == 1000) made.mark_here(mark_kind::recording_paused);
        if (i == 1100) made.mark_here(mark_kind::recording_resumed);
    }
    made.header.user_time = 4000;
    return made;
}

/// Names that would be harmful if the page took them for markup.
made_trace hostile() {
    made_trace made;
    const std::string image = "<img src=x onerror=document.title='taken'>";
    const std::string script = "</script><script>document.title='taken'</script>";
    const auto site = made.stack({"main", image, script, "<!--", "\u2028'\"&lt;\xff\xfe", "${1}"});
    made.tables.frames[1].locations[0].file = "/tmp/" + script + image;
    made.tables.frames[2].locations[0].file = image;
    made.mark_here(mark_kind::scope_begin, image);
    for (int i = 0; i < 500; ++i) made.release(made.allocate(site, 32), site);
    made.mark_here(mark_kind::scope_end, image);
    made.header.command = {"/bin/" + script, image, "]]>"};
    made.header.machine = image;
    made.header.date = script;
    made.header.notes = {image + script};
    made.tables.modules[0].path = image;
    return made;
}

made_trace one_event() {
    made_trace made;
    made.allocate(made.stack({"main:1"}), 8);
    return made;
}

/// Nothing is ever freed.
made_trace no_frees() {
    made_trace made;
    const auto keep =
        made.stack({"main", "load:12", "std::vector<entry>::push_back(entry)", "operator new(unsigned long)"});
    for (std::uint64_t i = 0; i < 4000; ++i) made.allocate(keep, 24 + 8 * (i % 3));
    return made;
}

/// Two hundred threads that work one after the other, each in scopes of its own names.
made_trace many_threads() {
    made_trace made;
    const auto put = made.stack({"start_thread", "worker:9", "handle:21", "malloc"});
    const auto end = made.stack({"start_thread", "worker:9", "handle:25"});
    for (std::uint32_t thread = 0; thread < 200; ++thread) {
        const std::string scope = "job of worker " + std::to_string(thread);
        for (int turn = 0; turn < 12; ++turn) {
            made.mark_here(mark_kind::scope_begin, scope, thread);
            std::vector<std::uint64_t> objects;
            for (std::uint64_t n = 0; n < 6; ++n) objects.push_back(made.allocate(put, 32 * (n + 1), thread));
            for (const std::uint64_t object : objects) made.release(object, end, thread);
            made.mark_here(mark_kind::scope_end, scope, thread);
        }
    }
    return made;
}

/// Long template names, files in deep folders, a command line with many arguments.
made_trace long_names() {
    made_trace made;
    std::string type = "unsigned long";
    for (int depth = 0; depth < 7; ++depth) {
        type = "std::map<std::basic_string<char, std::char_traits<char>, std::allocator<char>>, std::vector<" + type +
               ", std::allocator<" + type + ">>>";
        if (type.size() > 20'000) break;
    }
    const std::string outer = "company::product::subsystem::handler<" + type + ">::handle(" + type + " const&)";
    const std::string inner = "void company::product::subsystem::visit_each_of_them<" + type + ">(" + type + "&&)";
    const auto put = made.stack({"main", outer, inner, "operator new(unsigned long)"});
    const auto end = made.stack({"main", outer});
    for (source_location* each : {&made.tables.frames[1].locations[0], &made.tables.frames[2].locations[0]}) {
        each->file =
            "/home/somebody/work/company/product/" + std::string(150, 'd') + "/source/handler_implementation.cpp";
        each->line = 123'456;
    }
    made.mark_here(mark_kind::scope_begin, type);
    for (int i = 0; i < 300; ++i) {
        std::vector<std::uint64_t> objects;
        for (std::uint64_t n = 0; n < 8; ++n) objects.push_back(made.allocate(put, 16 + 24 * n));
        for (const std::uint64_t object : objects) made.release(object, end);
    }
    made.mark_here(mark_kind::scope_end, type);
    for (int i = 0; i < 60; ++i) made.header.command.push_back("--option-number-" + std::to_string(i) + "=value");
    return made;
}

made_trace sampled() {
    made_trace made = random_trace(3, 5000);
    made.header.sampling_period = 512;
    return made;
}

made_trace without_free_stacks() {
    made_trace made = random_trace(4, 5000);
    for (event& each : made.events) {
        if (!each.allocates) each.stack = no_stack;
    }
    made.header.stacks_at_free = false;
    return made;
}

/// More paths than a page can show, and bursts. Written while it is made, as it may have many events.
void write_large(const std::filesystem::path& path, std::uint64_t events) {
    made_trace made;
    std::mt19937_64 random{5};
    std::vector<std::uint32_t> stacks;
    for (int i = 0; i < 20'000; ++i) {
        const auto name = [&](int kinds) { return "work" + std::to_string(random() % static_cast<unsigned>(kinds)); };
        stacks.push_back(made.stack({"main", name(10), name(100), name(400), name(2000), "malloc"}));
    }
    trace_writer writer{path, made.header, made.tables};
    struct object {
        std::uint64_t number;
        std::uint64_t size;
    };
    std::vector<object> live;
    std::uint64_t objects = 0;
    event e;
    for (std::uint64_t i = 0; i < events; ++i) {
        e.time += 1000 * (1 + (random() % 1000 == 0 ? random() % 5000 : 0));
        e.thread = static_cast<std::uint32_t>(i % 4);
        e.stack = stacks[(random() % stacks.size()) * (random() % 100) / 100];
        e.allocates = live.size() < 1000 || (live.size() < 50'000 && random() % 2 == 0);
        e.op = e.allocates ? operation::malloc : operation::free;
        if (e.allocates) {
            e.object = objects++;
            e.size = 8 + random() % 50 * (random() % 50);
            live.push_back({e.object, e.size});
        } else {
            const std::size_t which = random() % live.size();
            e.object = live[which].number;
            e.size = live[which].size;
            live[which] = live.back();
            live.pop_back();
        }
        writer.add(e);
    }
    writer.finish();
}

void write_all(const std::filesystem::path& directory, std::uint64_t events) {
    server().write(directory / "server.acre");
    hostile().write(directory / "hostile.acre");
    one_event().write(directory / "one_event.acre");
    made_trace{}.write(directory / "empty.acre");
    no_frees().write(directory / "no_frees.acre");
    many_threads().write(directory / "many_threads.acre");
    long_names().write(directory / "long_names.acre");
    sampled().write(directory / "sampled.acre");
    without_free_stacks().write(directory / "without_free_stacks.acre");
    random_trace(6, 20'000).write(directory / "random.acre");
    const auto cut = random_trace(2, 100'000).write(directory / "truncated.acre");
    std::filesystem::resize_file(cut, std::filesystem::file_size(cut) * 9 / 10);
    write_large(directory / "large.acre", events);
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) {
        std::fputs("report-samples: say where to write the traces\n", stderr);
        return 2;
    }
    try {
        write_all(arguments[1], count > 2 ? std::stoull(arguments[2]) : 1'000'000);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "report-samples: %s\n", error.what());
        return 1;
    }
}
