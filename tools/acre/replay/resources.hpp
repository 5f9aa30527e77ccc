// The resources that a trace can be replayed over, by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sequence.hpp"
#include "trial.hpp"

namespace acre::tool {

/// A parameter that a resource takes, as in multi_arena:count=64,bytes=16K.
struct parameter_entry {
    std::string_view name;
    std::string_view description;
    std::uint64_t resource_parameters::* member;
    std::uint64_t min;
    std::uint64_t max;
};

/// How the process that plays a resource is started.
struct resource_start {
    std::span<const std::string_view> libraries{};  // names of one library; the first one installed is preloaded
    std::string_view tunable{};                     // of glibc; it is set to the parameter `count`
    bool is_acres = false;                          // the library is installed with this command

    /// False: the resource is played in a fork of this program.
    bool anew() const noexcept { return !libraries.empty() || !tunable.empty(); }
};

/// The families that resources are listed and named by.
enum class resource_group : std::uint8_t { system, standard, preload, acre };

/// A resource under its name.
struct resource_entry {
    std::string_view name;
    std::string_view description;
    resource_group group = resource_group::acre;
    thread_rule threads = thread_rule::one;
    bool takes_all_back = false;  // at once, so a program can leave out the frees
    std::span<const parameter_entry> parameters{};
    trial_result (*play)(const sequence_view&, const trial_request&) = nullptr;

    /// Fills in for the sequence the parameters that were not given. After a failure the next attempt gives larger
    /// ones; attempt 0 is the smallest.
    resource_parameters (*complete)(const resource_parameters&, const sequence_view&, unsigned attempt) = nullptr;

    /// Why the resource cannot play the sequence; empty if it can.
    std::string (*refuse)(const resource_parameters&, const sequence_view&) = nullptr;
    resource_start start{};
};

/// All resources; the first is the system's malloc, the second the empty loop.
std::span<const resource_entry> resources();

inline constexpr std::uint32_t system_number = 0;
inline constexpr std::uint32_t loop_number = 1;

/// Name of the resource that plays over acre's preloaded heap.
inline constexpr std::string_view preloaded_acre = "acre_malloc";

/// Number of the resource with that name. Throws tool_error with the known names if there is none.
std::uint32_t resource_number(std::string_view name);

/// Path of the library to preload for a resource; empty if it needs none or none is installed.
std::string library_of(const resource_entry& entry);

/// Whether the resource can be played on this machine.
bool is_installed(const resource_entry& entry);

/// Whether this process has loaded the library.
bool is_loaded(std::string_view path);

}  // namespace acre::tool
