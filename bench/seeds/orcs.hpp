// W1: a million orcs created and deleted, in a fresh process each time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../harness.hpp"

namespace bench {

inline constexpr std::size_t orc_count = 1'000'000;

/// What an orc is; where it lives is for the derived types to say, with class-level operators new and delete.
struct orc {
    char name[4] = {'U', 'R', 'G', '\0'};
    int strength = 100;
    double smell = 1000.0;
};
static_assert(sizeof(orc) == 16);

template <class Orc>
std::vector<double> create_and_delete(std::vector<Orc*>& orcs) {
    const double start = cpu_seconds();
    for (std::size_t i = 0; i < orc_count; ++i) orcs.push_back(new Orc);
    const double created = cpu_seconds();
    escape(orcs.data());
    const double deleting = cpu_seconds();
    for (Orc* each : orcs) delete each;
    const double done = cpu_seconds();
    orcs.clear();
    return {created - start, done - deleting};
}

struct orc_options {
    bool thread_started;           // glibc skips its atomics until the process has had a second thread
    bool prefaulted;               // the second pass over the same memory counts, not the first
    bool littered;                 // malloc's heap is not empty
    bool at_construction = false;  // an arena that can touches its pages before the clock starts, as new/delete cannot
};

/// `Orc::all_deleted()` is called between passes, and `Orc::prefault()`, where there is one, as the options say.
template <class Orc>
std::vector<double> run_orcs(const orc_options& options) {
    if (options.thread_started) std::thread([] {}).join();
    std::optional<littered_heap> heap;
    if (options.littered) heap.emplace();
    std::vector<Orc*> orcs;
    orcs.reserve(orc_count);
    if constexpr (requires { Orc::prefault(); }) {
        if (options.at_construction) Orc::prefault();
    }
    std::vector<double> seconds = create_and_delete(orcs);
    if (options.prefaulted) {
        Orc::all_deleted();
        seconds = create_and_delete(orcs);
    }
    return seconds;
}

template <class Orc>
void enter_orcs(suite& entries, const std::string& name) {
    const auto enter = [&](const std::string& how, const orc_options& options) {
        entries.enter_isolated({"1,000,000 orcs of 16 B" + how, {"W1 new" + how, "W1 delete" + how}, orc_count, {}},
                               name, [options] { return run_orcs<Orc>(options); });
    };
    enter(", first touch", {.thread_started = false, .prefaulted = false, .littered = false});
    enter(", first touch, a thread was started", {.thread_started = true, .prefaulted = false, .littered = false});
    enter(", prefaulted at construction",
          {.thread_started = false, .prefaulted = false, .littered = false, .at_construction = true});
    enter(", prefaulted at construction, a thread was started",
          {.thread_started = true, .prefaulted = false, .littered = false, .at_construction = true});
    enter(", prefaulted", {.thread_started = false, .prefaulted = true, .littered = false});
    enter(", prefaulted, a thread was started", {.thread_started = true, .prefaulted = true, .littered = false});
    enter(", first touch" + littered, {.thread_started = false, .prefaulted = false, .littered = true});
    enter(", prefaulted" + littered, {.thread_started = false, .prefaulted = true, .littered = true});
}

}  // namespace bench
