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

/// The members of an orc. Derived types choose the storage by class-level operators new and delete.
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
    bool prefaulted;               // measures the second pass over the same memory, not the first
    bool fragmented;               // malloc's heap is not empty
    bool at_construction = false;  // an arena touches its pages before the clock starts; new/delete cannot
};

/// Calls `Orc::all_deleted()` between passes, and `Orc::prefault()`, if it exists, as the options say.
template <class Orc>
std::vector<double> run_orcs(const orc_options& options) {
    if (options.thread_started) std::thread([] {}).join();
    std::optional<fragmented_heap> heap;
    if (options.fragmented) heap.emplace();
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
void add_orcs(suite& entries, const std::string& name) {
    const auto add = [&](const std::string& how, const orc_options& options) {
        entries.add_isolated({"1,000,000 orcs of 16 B" + how, {"W1 new" + how, "W1 delete" + how}, orc_count, {}}, name,
                             [options] { return run_orcs<Orc>(options); });
    };
    add(", first touch", {.thread_started = false, .prefaulted = false, .fragmented = false});
    add(", first touch, a thread was started", {.thread_started = true, .prefaulted = false, .fragmented = false});
    add(", prefaulted at construction",
        {.thread_started = false, .prefaulted = false, .fragmented = false, .at_construction = true});
    add(", prefaulted at construction, a thread was started",
        {.thread_started = true, .prefaulted = false, .fragmented = false, .at_construction = true});
    add(", prefaulted", {.thread_started = false, .prefaulted = true, .fragmented = false});
    add(", prefaulted, a thread was started", {.thread_started = true, .prefaulted = true, .fragmented = false});
    add(", first touch" + fragmented, {.thread_started = false, .prefaulted = false, .fragmented = true});
    add(", prefaulted" + fragmented, {.thread_started = false, .prefaulted = true, .fragmented = true});
}

}  // namespace bench
