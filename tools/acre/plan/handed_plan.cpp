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
        case site_policy::heap:
            return plan_policy::heap;
        case site_policy::leave:
            break;
    }
    return plan_policy::leave;
}

/// The files that the system loads when a program starts.
struct start_files {
    std::set<std::string> build_ids{};
    std::map<std::string, std::filesystem::path> by_name{};
};

/// A library that only the program's own search paths find is looked for where the plan's is.
start_files files_at_start(const std::filesystem::path& program, const site_plan& plan) {
    std::map<std::string, std::filesystem::path> planned;
    for (const planned_module& each : plan.modules) planned[std::filesystem::path{each.path}.filename()] = each.path;
    start_files files;
    std::set<std::string> seen;
    std::vector<std::filesystem::path> waiting{executed_file(program)};
    while (!waiting.empty()) {
        const std::filesystem::path file = waiting.back();
        waiting.pop_back();
        std::error_code error;
        const std::filesystem::path target = std::filesystem::canonical(file, error);
        files.build_ids.insert(build_id_of(file));
        files.by_name.emplace((error ? file : target).filename(), file);
        for (const std::string& name : needed_libraries(file)) {
            if (!seen.insert(name).second) continue;
            const std::string_view names[] = {name};
            if (const auto known = planned.find(name); known != planned.end()) waiting.push_back(known->second);
            if (const std::string found = find_library(names); !found.empty()) waiting.emplace_back(found);
        }
    }
    return files;
}

bool is_in(const planned_site& site, std::size_t module) {
    return site.module == module ||
           std::ranges::any_of(site.callers, [=](const planned_caller& each) { return each.module == module; });
}

/// Finds addresses of a file again in another build of it: by their functions, where these have a call at the same
/// place.
class other_build {
public:
    other_build(std::size_t module, std::filesystem::path file)
        : module_{module}, file_{std::move(file)}, functions_{file_} {}

    /// False if one of the site's addresses is not there.
    bool find(planned_site& site) const {
        if (!find_address(site)) return false;
        const planned_address* inner = &site;
        for (planned_caller& each : site.callers) {
            if (!find_address(each)) return false;
            if (inner->module == module_) {
                const auto bytes = frame_bytes_at(file_, inner->offset);
                if (!bytes || *bytes > site_plan::max_frame_bytes || *bytes % 8 != 0) return false;
                each.frame_bytes = *bytes;
            }
            inner = &each;
        }
        return true;
    }

private:
    bool find_address(planned_address& address) const {
        if (address.module != module_) return true;
        if (address.symbol.empty()) return false;
        const auto found = functions_.address_of({address.symbol, address.symbol_offset});
        if (!found || call_before(file_, *found).kind == call_kind::none) return false;
        address.offset = *found;
        return true;
    }

    std::size_t module_;
    std::filesystem::path file_;
    function_table functions_;
};

/// The plan for this program, and what became of its files.
struct module_check {
    site_plan plan;
    std::size_t routed_modules = 0;
    std::size_t own_modules = 0;  // of them those that are no run-time libraries, which all programs share
    std::size_t at_start = 0;     // of the program's own those that the system loads when it starts
    std::size_t lost = 0;         // of the program's own those without a site left
    std::vector<std::string> losses{};
};

/// Looks for the sites of a module whose file is not the one that was recorded.
void find_sites_again(module_check& check, std::size_t module, const start_files& files) {
    planned_module& of = check.plan.modules[module];
    const std::filesystem::path recorded{of.path};
    const auto at_start = files.by_name.find(recorded.filename());
    const std::filesystem::path file = at_start != files.by_name.end() ? at_start->second : recorded;
    const std::string build_id = build_id_of(file);
    const other_build other{module, file};
    std::size_t sites = 0;
    std::size_t found = 0;
    for (planned_site& each : check.plan.sites) {
        if (!check.plan.routes(each) || !is_in(each, module)) continue;
        ++sites;
        if (!build_id.empty() && other.find(each)) {
            ++found;
        } else {
            each.policy = site_policy::leave;
        }
    }
    const std::string lost = fmt::format("{} in it {} not planned", plural(sites - found, "site", "sites"),
                                         sites - found == 1 ? "is" : "are");
    if (found == 0) {
        if (!is_runtime_library(of.path)) ++check.lost;
        check.losses.push_back(fmt::format("'{}' is not the file that was recorded: {}", file.string(), lost));
        return;
    }
    of.build_id = build_id;
    if (at_start != files.by_name.end() && !is_runtime_library(of.path)) ++check.at_start;
    check.losses.push_back(fmt::format("'{}' is another build than the recorded one: {} found again by {}{}",
                                       file.string(), plural(found, "site was", "sites were"),
                                       found == 1 ? "its function" : "their functions",
                                       found == sites ? "" : ", and " + lost));
}

module_check check_modules(const site_plan& plan, const std::filesystem::path& program) {
    module_check result{.plan = plan};
    const start_files files = files_at_start(program, plan);
    for (std::size_t i = 0; i < plan.modules.size(); ++i) {
        const planned_module& module = plan.modules[i];
        if (std::ranges::none_of(plan.sites,
                                 [=](const planned_site& each) { return plan.routes(each) && is_in(each, i); }))
            continue;
        ++result.routed_modules;
        if (!is_runtime_library(module.path)) ++result.own_modules;
        if (files.build_ids.contains(module.build_id)) {
            if (!is_runtime_library(module.path)) ++result.at_start;
        } else if (files.by_name.contains(std::filesystem::path{module.path}.filename()) ||
                   build_id_of(module.path) != module.build_id) {
            find_sites_again(result, i, files);
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

/// Writes the table: numbers groups and wrappers.
class table_writer {
public:
    explicit table_writer(const site_plan& plan) {
        std::memcpy(head_.magic, plan_table::right_magic, sizeof head_.magic);
        head_.version = plan_table::right_version;
        head_.leaves_to_malloc_below = plan.leaves_to_malloc_below ? 1 : 0;
        for (const planned_site& each : plan.sites) {
            if (plan.routes(each)) add(each);
        }
        for (const auto& [at, number] : wrappers_) {
            if (const auto direct = direct_.find(at); direct != direct_.end()) {
                head_.wrappers[number].otherwise = static_cast<std::uint16_t>(direct->second);
                direct_.erase(direct);
            }
        }
    }

    std::string text(const site_plan& plan) {
        std::string modules;
        std::string sites;
        for (std::size_t i = 0; i < plan.modules.size(); ++i) {
            plan_table::module_entry entry = module_entry_of(plan.modules[i]);
            entry.first_site = head_.sites;
            for (const auto* table : {&wrappers_, &direct_}) {
                for (const auto& [at, group] : *table) {
                    if (at.module != i) continue;
                    append(sites, plan_table::site_entry{at.offset, group, at.within});
                    ++entry.sites;
                }
            }
            if (entry.sites == 0) continue;
            head_.sites += entry.sites;
            ++head_.modules;
            append(modules, entry);
        }
        head_.bytes = static_cast<std::uint32_t>(sizeof head_ + modules.size() + sites.size());
        std::string bytes;
        append(bytes, head_);
        return bytes + modules + sites;
    }

private:
    struct place {
        std::uint32_t within = 0;
        std::size_t module = 0;
        std::uint64_t offset = 0;
        auto operator<=>(const place&) const = default;
    };

    std::uint32_t new_group(plan_policy policy) {
        head_.policies[++groups_] = policy;
        return groups_;
    }

    void add(const planned_site& site) {
        place at{0, site.module, site.offset};
        for (const planned_caller& each : site.callers) {
            const auto [wrapper, is_new] = wrappers_.try_emplace(at, 0);
            if (is_new) {
                wrapper->second = new_group(plan_policy::caller);
                head_.wrappers[wrapper->second].frame_bytes = static_cast<std::uint16_t>(each.frame_bytes);
            }
            at = {wrapper->second, each.module, each.offset};
        }
        const auto [group, is_new] = numbers_.try_emplace({site.policy, site.group}, 0);
        if (is_new) group->second = new_group(policy_in_table(site.policy));
        direct_.try_emplace(at, group->second);
    }

    plan_table head_{};
    std::uint32_t groups_ = 0;
    std::map<std::pair<site_policy, std::string>, std::uint32_t> numbers_;
    std::map<place, std::uint32_t> wrappers_;
    std::map<place, std::uint32_t> direct_;
};

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

tool_error recording_of_another_program(const std::string& trace, const std::filesystem::path& program) {
    return tool_error{
        fmt::format("'{}' was recorded of another program than '{}', or of another build of it: record it again", trace,
                    program.string())};
}

handed_plan::handed_plan(const site_plan& plan, const std::string& name, const std::filesystem::path& program,
                         part of) {
    module_check check = check_modules(plan, program);
    if (plan.modules.size() > plan_table::max_modules) {
        throw tool_error{fmt::format("cannot use the plan '{}': it names {} files, and there can be {}", name,
                                     plan.modules.size(), plan_table::max_modules)};
    }
    // The recorded command may start the program that was recorded, as env and shells do; and all sites may be in
    // run-time libraries.
    const bool is_recorded_command =
        !plan.command.empty() && std::filesystem::path{plan.command.front()}.filename() == program.filename();
    const bool is_for_others = of != part::group && check.routed_modules != 0 && check.at_start == 0;
    const bool may_start_them = is_recorded_command || of == part::launched;
    const bool is_lost = check.own_modules != 0 && check.lost == check.own_modules;
    if (is_for_others && (!may_start_them || is_lost)) {
        throw plan_of_another_program{fmt::format(
            "cannot use the plan '{}': it is of another program, or of another build: no file of it is part of '{}'",
            name, program.string())};
    }
    losses_ = std::move(check.losses);
    if (is_for_others && !is_recorded_command) {
        losses_.push_back(fmt::format(
            "no file of the plan is part of '{}': it serves the programs that this one starts", program.string()));
    }
    is_needed_ = check.plan.leaves_to_malloc_below || !groups_of(check.plan).empty();
    const std::string table = table_writer{check.plan}.text(check.plan);
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
