// Names for files of other formats.
#pragma once

#include <string>
#include <string_view>

namespace acre::tool {

/// The text as UTF-8 without zero bytes, as most formats require: replaces each invalid byte by U+FFFD and cuts the
/// text at 1 MiB.
std::string valid_text(std::string_view text);

}  // namespace acre::tool
