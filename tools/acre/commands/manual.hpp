// The man pages of `acre` and its subcommands, made from what CLI11 knows of the options, so that they always agree.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "option_values.hpp"

namespace acre::tool {

/// The page of `app` itself, or of a subcommand of it, in the language of groff and mandoc.
std::string manual_page(const CLI::App& page_of, const option_values& values);

/// "acre", "acre-record".
std::string manual_name(const CLI::App& page_of);

}  // namespace acre::tool
