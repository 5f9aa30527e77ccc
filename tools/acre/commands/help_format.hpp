// How `--help` shows the options, and the words for an option that the man pages share with it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "option_values.hpp"

namespace acre::tool {

/// What is written without a name: files, mostly.
std::vector<const CLI::Option*> arguments_of(const CLI::App& command);

/// Whether the option is followed by a value.
bool takes_value(const CLI::Option& option);

/// The value as it is written behind the option: "N", "FILE", "BEFORE AFTER"; empty of a flag.
std::string value_text(const CLI::Option& option, const option_values& values);

/// What is said about the option; behind it in brackets what holds without it, and what it goes with.
std::string option_text(const CLI::Option& option);

/// What follows "acre record [OPTIONS]" where the program to run comes behind the options; empty of other commands.
std::string program_usage(const CLI::App& command);

class help_format : public CLI::Formatter {
public:
    /// The values must outlive it.
    explicit help_format(const option_values& values) : values_{values} { column_width(32); }

    std::string make_option_opts(const CLI::Option* option) const override;
    std::string make_option_desc(const CLI::Option* option) const override;
    std::string make_usage(const CLI::App* command, std::string name) const override;

private:
    const option_values& values_;
};

}  // namespace acre::tool
