// What the scopes that a program marks allocate, each time they run, and what they leave behind.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "run_sizes.hpp"
#include "trace/live_table.hpp"
#include "trace/model.hpp"
#include "trace/tally.hpp"

namespace acre::tool {

/// The figures of the scopes of one name. What a run allocates is what its thread does, in scopes within it too. Where
/// a scope is within another of the same name, that counts as a run of its own but what it allocates counts once.
struct scope_summary {
    std::string name;
    std::uint32_t number = 0;  // in trace_tables::scope_names
    std::uint64_t runs = 0;
    std::uint64_t threads = 0;
    tally allocated;
    tally left;                      // what was live at the end of the run that allocated it
    std::uint64_t runs_leaving = 0;  // how many of the runs left something
    run_sizes bytes;                 // allocated by each run
};

/// To be told of events and marks in their order. Memory in proportion to the names, to the scopes that threads are in
/// and to the live objects of such scopes.
class scope_summariser {
public:
    explicit scope_summariser(const trace_tables& tables);

    void add(const event& e);
    void add(const mark& m);

    /// Scopes that are open end here. Those that ran, most bytes first.
    std::vector<scope_summary> finish();

private:
    /// What a scope that has not ended did so far, without the scopes that are open within it.
    struct run {
        run(std::uint32_t of_name, std::uint64_t object, bool outermost)
            : name{of_name}, first_object{object}, is_outermost{outermost} {}

        std::uint32_t name;
        std::uint64_t first_object;
        bool is_outermost;  // of its name
        tally allocated;
        tally live;
    };
    struct live_object {
        std::uint64_t size = 0;
        std::uint32_t thread = 0;
    };

    void begin(const mark& m);
    void end(std::uint32_t thread);
    static run* run_of(std::vector<run>& open, std::uint64_t object);

    std::vector<scope_summary> scopes_;
    std::unordered_map<std::uint32_t, std::vector<run>> open_;     // by thread, innermost last
    std::unordered_map<std::uint64_t, std::uint64_t> open_names_;  // how often a thread is in a name
    std::unordered_set<std::uint64_t> threads_;                    // with a name that they have been in
    live_table<live_object> live_;
    std::uint64_t objects_ = 0;
};

}  // namespace acre::tool
