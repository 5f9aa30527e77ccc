// The command line of `acre` with all its subcommands: turns words into what is to be done, or refuses them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"

namespace acre::tool {

class whole_command {
public:
    /// `context` must live as long; the options that concern it are written there.
    explicit whole_command(command_context& context);
    ~whole_command();
    whole_command(const whole_command&) = delete;
    whole_command& operator=(const whole_command&) = delete;

    /// What the words behind "acre" ask for; a call returns the exit status. Throws usage_error, as the call may, too.
    std::function<int()> action_of(const std::vector<std::string>& words);

    /// The declared subcommands and options.
    const command_line& line() const;

    /// The sentence for a mistake, with where to read on.
    std::string sentence_about(const std::string& mistake) const;

private:
    struct parts;
    command_context& context_;
    std::unique_ptr<parts> parts_;
};

/// The named subcommand, or empty. Does not allocate.
template <typename Words>
std::string_view subcommand_of(const Words& words) {
    for (const std::string_view each : words) {
        if (!each.starts_with('-')) return each;
    }
    return {};
}

}  // namespace acre::tool
