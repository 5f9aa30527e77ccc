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
    std::uint64_t resource_parameters::* field;
    std::uint64_t least;
    std::uint64_t most;
};

/// How the process comes about in which a resource is played.
struct resource_start {
    std::span<const std::string_view> libraries{};  // names of a library, of which the first that is there is preloaded
    std::string_view tunable{};                     // of glibc, which is set to the parameter `count`

    /// False for what is played in a fork of this program.
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
    bool takes_all_back = false;  // at once, so that a program may leave out the frees
    std::span<const parameter_entry> parameters{};
    trial_result (*play)(const sequence_view&, const trial_request&) = nullptr;

    /// The parameters with what was left open filled in for the sequence. More of them are tried after a failure, so
    /// that `attempt` 0 is the smallest.
    resource_parameters (*complete)(const resource_parameters&, const sequence_view&, unsigned attempt) = nullptr;

    /// Why it cannot play the sequence; empty when it can.
    std::string (*refuse)(const resource_parameters&, const sequence_view&) = nullptr;
    resource_start start{};
};

/// All of them; the first is the system's malloc, the second the empty loop.
std::span<const resource_entry> resources();

inline constexpr std::uint32_t system_number = 0;
inline constexpr std::uint32_t loop_number = 1;

/// Number of the resource of that name; throws tool_error with the known names where there is none.
std::uint32_t resource_number(std::string_view name);

/// The library to preload for it: its path, or empty where none is installed. Empty, too, for what needs none.
std::string library_of(const resource_entry& entry);

/// Whether it can be played on this machine at all.
bool is_installed(const resource_entry& entry);

}  // namespace acre::tool
