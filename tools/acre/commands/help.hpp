// How the options are shown: `--help`, and the man pages that are made from the same declarations.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <string>
#include <vector>

#include "options.hpp"

namespace acre::tool {

/// The subcommands that help and man pages list; the hidden ones serve shell completion.
std::vector<const CLI::App*> shown_subcommands(const CLI::App& app);

/// The options of `acre` itself, which may also follow a subcommand.
std::vector<const CLI::Option*> common_options(const CLI::App& app);

/// The arguments without a name, mostly files.
std::vector<const CLI::Option*> arguments_of(const CLI::App& command);

/// Whether a value follows the option.
bool takes_value(const CLI::Option& option);
/// Whether it takes any number of values.
bool may_be_repeated(const CLI::Option& option);

/// The subcommands of the first page of help. `acre help --all` lists all.
inline constexpr std::array<const char*, 6> front_subcommands{"record", "try", "advise", "report", "run", "diff"};

class help_format : public CLI::Formatter {
public:
    /// The rules must outlive it. `all`: of all subcommands, not those of the first page.
    explicit help_format(const option_rules& rules, bool all = false) : rules_{rules}, all_{all} { column_width(32); }

    std::string make_option_opts(const CLI::Option* option) const override;
    std::string make_option_desc(const CLI::Option* option) const override;
    std::string make_usage(const CLI::App* command, std::string name) const override;
    std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;

private:
    const option_rules& rules_;
    bool all_;
};

}  // namespace acre::tool
