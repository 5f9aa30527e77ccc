#include "handed_plan.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "plan_table.hpp"
#include "programs/elf_file.hpp"
#include "programs/preloadable_library.hpp"
#include "programs/program.hpp"
#include "text/text.hpp"
#include "trace/error.hpp"
#include "trace/function_name.hpp"

namespace acre::tool {

namespace {

using preload::plan_policy;
using preload::plan_table;

plan_policy policy_in_table(site_policy policy) {
    switch (policy) {
        case site_policy::pool:
            return plan_policy::pool;
        case site_policy::counted:
            return plan_policy::counted;
        case site_policy::separate:
            return plan_policy::separate;
        case site_policy::leave:
            break;
    }
    return plan_policy::leave;
}

/// The build ids of the files that the system loads when the program starts. A library that only the program's own
/// search paths find is looked for where the plan's is.
std::set<std::string> build_ids_at_start(const std::filesystem::path& program, const site_plan& plan) {
    std::map<std::string, std::filesystem::path> planned;
    for (const planned_module& each : plan.modules) planned[std::filesystem::path{each.path}.filename()] = each.path;
    std::set<std::string> ids;
    std::set<std::string> seen;
    std::vector<std::filesystem::path> waiting{executed_file(program)};
    while (!waiting.empty()) {
        const std::filesystem::path file = waiting.back();
        waiting.pop_back();
        ids.insert(build_id_of(file));
        for (const std::string& name : needed_libraries(file)) {
            if (!seen.insert(name).second) continue;
            const std::string_view names[] = {name};
            if (const auto known = planned.find(name); known != planned.end()) waiting.push_back(known->second);
            if (const std::string found = find_library(names); !found.empty()) waiting.emplace_back(found);
        }
    }
    return ids;
}

/// What becomes of the plan's modules in this program.
struct module_check {
    std::size_t routed_modules = 0;
    std::size_t at_start = 0;  // of them those that the system loads when the program starts, without the
                               // run-time libraries, which all programs share
    std::vector<std::string> losses{};
};

module_check check_modules(const site_plan& plan, const std::filesystem::path& program) {
    module_check result;
    const std::set<std::string> ids = build_ids_at_start(program, plan);
    for (std::size_t i = 0; i < plan.modules.size(); ++i) {
        const planned_module& module = plan.modules[i];
        const std::size_t sites = plan.routed_sites_of(i);
        if (sites == 0) continue;
        ++result.routed_modules;
        if (ids.contains(module.build_id)) {
            if (!is_runtime_library(module.path)) ++result.at_start;
        } else if (build_id_of(module.path) != module.build_id) {
            result.losses.push_back(fmt::format("'{}' is not the file that was recorded: {} in it {} not planned",
                                                module.path, plural(sites, "site", "sites"),
                                                sites == 1 ? "is" : "are"));
        }
    }
    return result;
}

void append(std::string& bytes, const auto& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

plan_table::module_entry module_entry_of(const planned_module& module) {
    plan_table::module_entry entry{};
    entry.build_id_bytes = static_cast<std::uint8_t>(module.build_id.size() / 2);
    for (std::size_t i = 0; i < entry.build_id_bytes; ++i)
        entry.build_id[i] = static_cast<std::uint8_t>(std::stoul(module.build_id.substr(2 * i, 2), nullptr, 16));
    return entry;
}

std::string table_of(const site_plan& plan) {
    std::map<std::pair<site_policy, std::string>, std::uint64_t> groups;
    plan_table head{};
    std::memcpy(head.magic, plan_table::right_magic, sizeof head.magic);
    head.version = plan_table::right_version;
    std::string modules;
    std::string sites;
    for (std::size_t i = 0; i < plan.modules.size(); ++i) {
        plan_table::module_entry entry = module_entry_of(plan.modules[i]);
        entry.first_site = head.sites;
        for (const planned_site& each : plan.sites) {
            if (each.module != i || each.policy == site_policy::leave) continue;
            const auto [group, is_new] = groups.try_emplace({each.policy, each.group}, groups.size() + 1);
            head.policies[group->second] = policy_in_table(each.policy);
            append(sites, plan_table::site_entry{each.offset, group->second});
            ++entry.sites;
        }
        if (entry.sites == 0) continue;
        head.sites += entry.sites;
        ++head.modules;
        append(modules, entry);
    }
    head.bytes = static_cast<std::uint32_t>(sizeof head + modules.size() + sites.size());
    std::string bytes;
    append(bytes, head);
    return bytes + modules + sites;
}

/// A descriptor that programs rarely use or close, if the limits allow such a one.
int out_of_the_way(int descriptor) {
    for (const int wanted : {1000, 200, 50}) {
        const int high = ::fcntl(descriptor, F_DUPFD, wanted);
        if (high < 0) continue;
        ::close(descriptor);
        return high;
    }
    return descriptor;
}

}  // namespace

handed_plan::handed_plan(const site_plan& plan, const std::string& name, const std::filesystem::path& program,
                         part of) {
    module_check check = of == part::whole ? check_modules(plan, program) : module_check{};
    if (plan.modules.size() > plan_table::most_modules) {
        throw tool_error{fmt::format("cannot use the plan '{}': it names {} files, and there can be {}", name,
                                     plan.modules.size(), plan_table::most_modules)};
    }
    // The recorded command may start the program that was recorded, as env and shells do; and all sites may be in
    // run-time libraries.
    const bool is_recorded_command =
        !plan.command.empty() && std::filesystem::path{plan.command.front()}.filename() == program.filename();
    if (check.routed_modules != 0 && check.at_start == 0 &&
        (!is_recorded_command || check.losses.size() == check.routed_modules)) {
        throw tool_error{fmt::format(
            "cannot use the plan '{}': it is of another program, or of another build: no file of it is part of '{}'",
            name, program.string())};
    }
    losses_ = std::move(check.losses);
    const std::string table = table_of(plan);
    const int made = ::memfd_create("acre-plan", 0);
    if (made < 0) throw tool_error{"cannot hand the plan over: " + reason_of(errno)};
    descriptor_ = out_of_the_way(made);
    if (::write(descriptor_, table.data(), table.size()) != static_cast<ssize_t>(table.size())) {
        const int error = errno;
        ::close(descriptor_);
        throw tool_error{"cannot hand the plan over: " + reason_of(error)};
    }
}

handed_plan::~handed_plan() {
    ::close(descriptor_);
}

std::pair<std::string, std::string> handed_plan::variable() const {
    return {plan_table::variable, std::to_string(descriptor_)};
}

}  // namespace acre::tool
