// A plan: which sites of a program get memory of their own, and of what kind. Kept as JSON, which people may change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan_table.hpp"
#include "replay/interval.hpp"

namespace acre::tool {

/// What becomes of a site's requests.
enum class site_policy : std::uint8_t {
    leave,     // as without a plan
    pool,      // slabs of the group's own
    counted,   // blocks that are used again when nothing in them is live
    separate,  // slabs apart from short-lived objects
    heap       // what acre's heap gives; apart from the rest where that is left to the malloc below, else as leave
};

/// "pool"
std::string_view name_of(site_policy policy);

/// A file of the program.
struct planned_module {
    std::string path;
    std::string build_id;  // lower-case hexadecimal
};

/// A return address.
struct planned_address {
    std::size_t module = 0;    // index into the plan's modules
    std::uint64_t offset = 0;  // in the module's file
    std::string symbol{};      // of the function around it; empty: not known
    std::uint64_t symbol_offset = 0;
};

/// The caller of a function through which many sites allocate.
struct planned_caller : planned_address {
    std::uint64_t frame_bytes = 0;  // its return address lies so far above the one before
};

/// A call of an allocation function, or a call of a wrapper around one.
struct planned_site : planned_address {
    std::vector<planned_caller> callers;  // outwards; empty: all of them
    std::string place;                    // for people: function, file and line
    std::uint64_t allocations = 0;        // in the recording
    site_policy policy = site_policy::leave;
    std::string group;  // sites with the same group and policy share their memory
};

/// What one group of a plan brought, or some small ones together, beside the same malloc without a plan.
struct measured_group {
    std::string name;
    std::string policy;
    std::uint64_t allocations = 0;  // in the recording
    bool is_kept = false;
    std::string finding;                  // "saves alone": why it was kept or left
    std::optional<interval> cpu_ratio{};  // missing: it took no part
    double cpu_seconds_saved = 0;
    double peak_ratio = 0;  // of the peak memory
};

/// What runs showed from which a plan was made.
struct plan_measurement {
    std::string compared_with;  // "acre"
    std::size_t rounds = 0;     // with each group alone
    double seconds = 0;         // that all runs took
    std::vector<measured_group> groups{};
    // Of what is kept, all together, in rounds of its own; missing: nothing is.
    std::optional<interval> cpu_ratio{};
    double peak_ratio = 0;
    std::size_t rounds_together = 0;
};

struct site_plan {
    std::string recording;                // file name of the trace that it was made from
    std::vector<std::string> command;     // that was recorded
    std::string date;                     // of the recording
    std::string made_by;                  // how the policies were chosen
    bool leaves_to_malloc_below = false;  // what is not planned: to the malloc that the program has without acre
    std::vector<planned_module> modules;
    std::vector<planned_site> sites;
    std::optional<plan_measurement> measured{};  // written, and not read

    /// The most sites that may have another policy than `leave`, groups of them, and files.
    static constexpr std::size_t max_sites = preload::plan_table::max_sites;
    static constexpr std::size_t max_groups = preload::plan_table::max_groups;  // wrappers count, each with its callers
    static constexpr std::size_t max_modules = preload::plan_table::max_modules;
    /// The most return addresses that name a site, and bytes between two of them.
    static constexpr std::size_t max_frames = preload::plan_table::max_frames;
    static constexpr std::uint64_t max_frame_bytes = preload::plan_table::max_frame_bytes;

    /// Whether a site of this plan gets other memory than the rest.
    bool routes(const planned_site& site) const noexcept {
        return site.policy != site_policy::leave && (site.policy != site_policy::heap || leaves_to_malloc_below);
    }
    /// Number of routed sites of a module.
    std::size_t routed_sites_of(std::size_t module) const;
    /// Number of wrappers of such sites, by which their callers are told apart.
    std::size_t routed_wrappers() const;
};

/// Sites that share their memory.
struct plan_group {
    std::string name;
    site_policy policy = site_policy::leave;
    std::uint64_t allocations = 0;     // in the recording
    std::vector<std::size_t> sites{};  // indices into the plan's sites
};

/// The groups of a plan, of the sites that it routes. Most allocations first.
std::vector<plan_group> groups_of(const site_plan& plan);

/// The plan in which only the sites of these groups keep their policies.
site_plan plan_of(std::span<const plan_group> groups, site_plan plan);

/// The plan in a JSON text. Throws tool_error, one sentence that begins with the name, if it is not one.
site_plan plan_in(std::string_view text, const std::string& name);

/// Throws tool_error as well if the file cannot be read.
site_plan read_plan(const std::filesystem::path& file);

/// The JSON text.
std::string plan_text(const site_plan& plan);

}  // namespace acre::tool
