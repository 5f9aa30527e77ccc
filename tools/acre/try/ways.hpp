// The ways to run a program: as it is, with each installed malloc, with libraries that the user names.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contest.hpp"
#include "plan/handed_plan.hpp"
#include "programs/preloadable_library.hpp"

namespace acre::tool {

/// The file name of the library with which `acre run` runs a program.
inline constexpr std::string_view run_library = "libacre-malloc.so";

/// Names that --with takes, each with its meaning.
std::vector<std::pair<std::string, std::string>> way_names();

/// Ways, the links to libraries whose paths LD_PRELOAD cannot hold, and the plan in the form that its library reads.
class way_list {
public:
    /// The way as it is, then those with these names; every installed one if there are none. A name with a slash is
    /// the path of a library to preload. Throws tool_error if a name is unknown or its library is not there.
    way_list(const std::filesystem::path& program, const std::vector<std::string>& names);

    /// Adds the program on acre's heap with a plan. Returns a sentence for each file whose sites the plan loses. Throws
    /// tool_error if the plan is none, or of another program.
    std::vector<std::string> add_plan(const std::filesystem::path& program, const std::string& plan);

    const std::vector<way>& ways() const noexcept { return ways_; }

private:
    void add(const std::string& name, const std::string& description, const std::filesystem::path& library);
    void add_acre();
    void add_named(const std::string& name);

    std::vector<way> ways_;
    std::vector<std::unique_ptr<preloadable_library>> libraries_;
    std::unique_ptr<handed_plan> plan_;
};

}  // namespace acre::tool
