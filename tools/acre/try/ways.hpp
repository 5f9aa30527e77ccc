// The ways to run a program: as it is, with each installed malloc, with libraries that the user names.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "advise/advice.hpp"
#include "contest.hpp"
#include "plan/handed_plan.hpp"

namespace acre::tool {

/// The name of the program on acre's heap.
inline constexpr std::string_view acre_way = preload_saving::acre_heap;

/// Names that --with takes, each with its meaning.
std::vector<std::pair<std::string, std::string>> way_names();

/// Ways, and the plan in the form that its library reads.
class way_list {
public:
    /// The way as it is.
    explicit way_list(const std::filesystem::path& program);

    /// The way as it is, then those with these names; every installed one if there are none. A name with a slash is
    /// the path of a library to preload. Throws tool_error if a name is unknown or its library is not there.
    way_list(const std::filesystem::path& program, const std::vector<std::string>& names);

    /// Adds the program on acre's heap.
    void add_acre();

    /// Adds the program on acre's heap with a plan, whose file has this name. Returns a sentence for each file whose
    /// sites the plan loses. Throws tool_error if it is of another program.
    std::vector<std::string> add_plan(const std::filesystem::path& program, const site_plan& plan,
                                      const std::string& name);

    /// Adds the program with each of the plan's largest groups alone, and with what they are compared with, unless it
    /// is there: the program on acre's heap, or with a plan for no site where the plan leaves the rest to the malloc
    /// below. Returns how many smaller groups there are.
    std::size_t add_groups(const std::filesystem::path& program, const site_plan& plan, const std::string& name);

    /// Adds the program with one group of a plan alone.
    void add_group(const std::filesystem::path& program, const site_plan& plan, const plan_group& group,
                   const std::string& name);

    /// Adds the program with a part of a plan.
    void add_part(const std::filesystem::path& program, const site_plan& part, const std::string& description,
                  const std::string& name);

    /// Adds the program with the plan's library, which routes nothing: what a group alone costs besides its memory.
    void add_library_of_plan(const std::filesystem::path& program, const site_plan& plan, const std::string& name);

    /// The way added last gets no huge pages.
    void without_huge_pages() { ways_.back().huge_pages = false; }

    /// The way added last is compared with this one.
    void compare_with(std::size_t way) { ways_.back().beside = way; }

    static constexpr std::size_t max_groups = 12;

    const std::vector<way>& ways() const noexcept { return ways_; }

private:
    void add(const std::string& name, const std::string& description, const std::filesystem::path& library);
    std::size_t base_of_groups(const std::filesystem::path& program, const site_plan& plan, const std::string& name);
    void add_planned(std::unique_ptr<handed_plan> plan, const std::string& name, const std::string& description);
    void add_named(const std::string& name);

    std::vector<way> ways_;
    std::vector<std::unique_ptr<handed_plan>> plans_;
};

}  // namespace acre::tool
