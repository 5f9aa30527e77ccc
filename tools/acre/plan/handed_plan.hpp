// A plan on its way to libacre-plan.so: checked against the program, and compiled into a table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "site_plan.hpp"
#include "trace/error.hpp"

namespace acre::tool {

/// The file names of the library with which `acre run` runs a program, and of the one that routes a program's sites.
inline constexpr std::string_view run_library = "libacre-malloc.so";
inline constexpr std::string_view plan_library = "libacre-plan.so";

/// No file of the program is one that the plan was made for.
class plan_of_another_program : public tool_error {
    using tool_error::tool_error;
};

/// The same for a plan that was made just now, of a recording: its user does not know of a plan's file.
tool_error recording_of_another_program(const std::string& trace, const std::filesystem::path& program);

/// The table is in a file without a name, which the program and those that it starts inherit while this object lives.
class handed_plan {
public:
    /// A plan as a whole; the same where the program may only start the one that was recorded; a group of it.
    enum class part : std::uint8_t { whole, launched, group };

    /// Throws plan_of_another_program if no file of the program is the one that was recorded; not for a launched one
    /// whose files are as they were, nor for a group of a plan that was checked as a whole. `name` is that of the plan.
    handed_plan(const site_plan& plan, const std::string& name, const std::filesystem::path& program,
                part of = part::whole);
    ~handed_plan();
    handed_plan(const handed_plan&) = delete;
    handed_plan& operator=(const handed_plan&) = delete;

    /// To be set in the program's environment.
    std::pair<std::string, std::string> variable() const;

    /// The library to preload. One that routes nothing would only cost time.
    std::string_view library() const noexcept { return is_needed_ ? plan_library : run_library; }

    /// A sentence for each file that is not the one that was recorded, so that the plan loses its sites.
    const std::vector<std::string>& losses() const noexcept { return losses_; }

private:
    int descriptor_ = -1;
    bool is_needed_ = true;
    std::vector<std::string> losses_;
};

}  // namespace acre::tool
